"""The `python` agent: any agent that is a Python function, sync or async, whatever framework it uses inside.

`async def run(request) -> str` (or a plain function) reads the request, calls tools through it and returns its last
words. It is called once per turn of the user. What it does between calls is not seen.
"""

from __future__ import annotations

import asyncio
import contextvars
import importlib
import importlib.util
import inspect
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from agent_reach.backends.base import is_cancelled
from agent_reach.config.run import public_settings
from agent_reach.config.settings import AgentConfig
from agent_reach.errors import AgentReachError, ConfigError, ModelError
from agent_reach.evals.agents.base import Agent, AgentInfo, AgentSetup
from agent_reach.evals.agents.session import AttemptSession, checked_text
from agent_reach.records.context import ContextBlock
from agent_reach.records.tool import Tool
from agent_reach.records.trace import CallOutcome
from agent_reach.text.tokens import nearest_names


class AgentRequest:
    """What the function is given.

    `query` the user's words; `messages` the conversation as assembled, in the form of the chat API; `tools` the offered
    tools, `definitions` the same as function definitions; `context` the blocks; `now` the task's clock (ISO text or empty).
    `await call(name, arguments)` executes a call and never raises for a failed one; `say(text)` records words.
    """

    def __init__(self, session: AttemptSession) -> None:
        self._session = session
        self.query: str = session.query
        self.messages: list[dict[str, Any]] = session.messages()
        self.now: str = session.task.now

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The offered tools in order."""
        return self._session.tools

    @property
    def definitions(self) -> list[Mapping[str, Any]]:
        """The offered tools as function definitions, named by wire name."""
        return list(self._session.definitions)

    @property
    def context(self) -> tuple[ContextBlock, ...]:
        """Blocks given so far, results included."""
        return self._session.context

    async def call(self, name: str, arguments: Mapping[str, Any] | str | None = None) -> CallOutcome:
        """Execute one call; calls made side by side belong to one decision step."""
        return await self._session.call(name, arguments)

    def say(self, text: str, *, raw: str = "") -> None:
        """Record words of the model; `raw` is its output as received."""
        self._session.say(text, raw=raw)


class BlockingRequest(AgentRequest):
    """The same for a function that is not async: `call` waits."""

    def __init__(self, session: AttemptSession, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(session)
        self._loop = loop

    def call(  # type: ignore[override]
        self, name: str, arguments: Mapping[str, Any] | str | None = None
    ) -> CallOutcome:
        """Execute one call and wait for its outcome."""
        return asyncio.run_coroutine_threadsafe(self._session.call(name, arguments), self._loop).result()

    def say(self, text: str, *, raw: str = "") -> None:
        """Record words of the model."""
        text, raw = checked_text(text, "what is said"), checked_text(raw, "raw")
        self._loop.call_soon_threadsafe(lambda: self._session.say(text, raw=raw))


class PythonAgent:
    """Calls the function for each turn. `options: {deterministic: true}` says that it decides the same on every run."""

    def __init__(self, function: Callable[..., Any], config: AgentConfig) -> None:
        self._function = function
        self._config = config
        flagged = getattr(function, "deterministic", False)
        self._deterministic = bool(config.options.get("deterministic", flagged))

    @property
    def info(self) -> AgentInfo:
        return AgentInfo(
            name=self._config.name
            or self._config.function
            or getattr(self._function, "__qualname__", "python"),
            model=self._config.model,
            settings=public_settings(self._config),
            deterministic=self._deterministic,
            placed_by="agent",
            system_prompt=self._config.system,
        )

    async def run(self, session: AttemptSession) -> None:
        while True:
            try:
                said = await self._turn(session)
            except (AgentReachError, KeyboardInterrupt, GeneratorExit):
                raise
            except BaseException as error:
                if isinstance(error, asyncio.CancelledError) and is_cancelled():
                    raise
                raise ModelError(
                    f"the agent raised {type(error).__name__}: {error}",
                    where=self._config.function,
                    next_step="run it alone with this task's request, or catch the error inside the agent",
                ) from error
            if said is not None:
                session.say(said if isinstance(said, str) else str(said))
            if session.next_turn() is None:
                return

    async def _turn(self, session: AttemptSession) -> Any:
        if is_async(self._function):
            return self._finished(await self._function(AgentRequest(session)))
        request = BlockingRequest(session, asyncio.get_running_loop())
        said = await _in_thread(self._function, request)
        return self._finished(await said if inspect.isawaitable(said) else said)

    def _finished(self, said: Any) -> Any:
        if inspect.isgenerator(said) or inspect.isasyncgen(said):
            raise _generates(self._config.function)
        return said

    async def aclose(self) -> None:
        close = getattr(self._function, "aclose", None)
        if callable(close):
            closing = close()
            if inspect.isawaitable(closing):
                await closing


def is_async(function: Callable[..., Any]) -> bool:
    """True for an async function, or an object whose `__call__` is one."""
    call = getattr(type(function), "__call__", None)  # noqa: B004
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(call)


async def _in_thread(function: Callable[..., Any], request: BlockingRequest) -> Any:
    """Run in a daemon thread: one that never returns cannot keep the process from ending."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Any] = loop.create_future()
    context = contextvars.copy_context()

    def settle(result: Any, error: BaseException | None) -> None:
        if future.done():
            return
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(result)

    def work() -> None:
        result: Any = None
        problem: Exception | None = None
        try:
            result = context.run(function, request)
        except StopIteration as error:
            problem = RuntimeError(f"StopIteration: {error}")
        except BaseException as error:
            problem = (
                error if isinstance(error, Exception) else RuntimeError(f"{type(error).__name__}: {error}")
            )
        try:
            loop.call_soon_threadsafe(settle, result, problem)
        except RuntimeError:
            return  # the loop is closed: nobody waits any more

    threading.Thread(target=work, name="agent-reach-agent", daemon=True).start()
    return await future


def load_function(place: str, folder: str = ".") -> Callable[..., Any]:
    """The callable at `package.module:name` or `path/file.py:name`; modules beside the configuration are found.

    Raises `ConfigError` that says which half is missing, with the nearest names.
    """
    module_name, _, attribute = place.rpartition(":")
    if not module_name or not attribute:
        raise ConfigError(f"{place!r} names no function", next_step="write package.module:function")
    module = _module(module_name, folder, place)
    value: Any = module
    for part in attribute.split("."):
        if not hasattr(value, part):
            near = nearest_names(part, [name for name in dir(value) if not name.startswith("_")], limit=3)
            raise ConfigError(
                f"{module_name!r} has no {part!r}",
                where=place,
                next_step=f"did you mean {', '.join(map(repr, near))}?" if near else "check the name",
            )
        value = getattr(value, part)
    if not callable(value):
        raise ConfigError(f"{place!r} is {type(value).__name__}, not a function", where=place)
    function: Callable[..., Any] = value
    if any(test(function) for test in (inspect.isgeneratorfunction, inspect.isasyncgenfunction)):
        raise _generates(place)
    return function


def _generates(place: str) -> ConfigError:
    """A generator runs nothing when it is called: the agent would do nothing and seem to have decided so."""
    return ConfigError(
        "the function is a generator: calling it runs nothing",
        where=place,
        next_step="return the last words instead of yielding them; `await request.call(...)` makes a call",
    )


def _module(name: str, folder: str, where: str) -> Any:
    try:
        if name.endswith(".py"):
            return _module_of_file(Path(folder) / name)
        beside = str(Path(folder).resolve())
        if beside not in sys.path and _lies_beside(name, folder):
            sys.path.insert(0, beside)
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"no module named {error.name!r}",
            where=where,
            next_step="put it beside the configuration, install it, or add its folder to PYTHONPATH",
        ) from error
    except (AgentReachError, KeyboardInterrupt):
        raise
    except BaseException as error:
        raise ConfigError(
            f"importing {name!r} failed: {type(error).__name__}: {error}", where=where
        ) from error


def _lies_beside(name: str, folder: str) -> bool:
    first = Path(folder) / name.split(".")[0]
    return first.is_dir() or first.with_suffix(".py").is_file()


def _module_of_file(path: Path) -> Any:
    if not path.is_file():
        raise ConfigError("no such file", where=str(path), next_step="check the path")
    name = f"agent_reach_agent_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ConfigError("this is no Python file", where=str(path))
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def build(config: AgentConfig, setup: AgentSetup) -> Agent:
    """The `python` agent of a run."""
    return PythonAgent(load_function(config.function, setup.folder), config)
