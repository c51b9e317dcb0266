"""A fresh world for each attempt: own server processes, an own temporary folder, setup before and teardown after.

What a server keeps outside its folder (a remote service, a file named in its arguments) is shared all the same; only
setup and teardown can put that back.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import importlib
import inspect
import os
import shutil
import signal
import tempfile
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from agent_reach.backends.base import Backend, is_cancelled
from agent_reach.config.settings import HookConfig
from agent_reach.errors import ConfigError, ServerError
from agent_reach.wire.own_folder import FOLDER, settled_in
from agent_reach.wire.servers import ServerConfig

_HOOK_LIMIT = 120.0


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptPlace:
    """Where one attempt takes place; a hook function is called with it."""

    task_id: str
    attempt: int
    folder: str
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAttempt:
    """The backend and folder of a running attempt."""

    backend: Backend
    place: AttemptPlace


BackendFactory = Callable[[AttemptPlace], Backend]


class Isolation:
    """Gives each attempt its backend.

    `mode` `attempt` makes a new one with a new folder for each attempt; `shared` makes one for all at the first attempt
    (each attempt still gets a folder for its hooks). `setup` and `teardown` run in either mode, as a command (words, no
    shell, in the folder, with AGENT_REACH_TASK, AGENT_REACH_ATTEMPT and AGENT_REACH_FOLDER) or a function
    `module:name` called with the `AttemptPlace`. A setup that fails raises `ServerError`: the attempt never began.
    After a setup the teardown always runs; its failure raises after everything is closed.
    """

    def __init__(
        self,
        factory: BackendFactory,
        *,
        mode: Literal["attempt", "shared"] = "attempt",
        setup: HookConfig | None = None,
        teardown: HookConfig | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self._factory = factory
        self._mode = mode
        self._setup = setup or HookConfig()
        self._teardown = teardown or HookConfig()
        self._environment = dict(environment or {})
        self._shared: Backend | None = None

    @contextlib.asynccontextmanager
    async def attempt(self, task_id: str = "", attempt: int = 0) -> AsyncIterator[OpenAttempt]:
        """One attempt from its setup to its teardown; the folder is gone afterwards."""
        folder = await asyncio.to_thread(tempfile.mkdtemp, prefix="agent-reach-")
        place = AttemptPlace(task_id=task_id, attempt=attempt, folder=folder, environment=self._environment)
        try:
            await run_hook(self._setup, place, "setup")
            backend = self._backend(place)
            try:
                yield OpenAttempt(backend=backend, place=place)
            finally:
                try:
                    if backend is not self._shared:
                        await backend.aclose()
                finally:
                    await run_hook(self._teardown, place, "teardown")
        finally:
            await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)

    async def aclose(self) -> None:
        """Close the shared backend."""
        if self._shared is not None:
            shared, self._shared = self._shared, None
            await shared.aclose()

    def _backend(self, place: AttemptPlace) -> Backend:
        if self._mode == "attempt":
            return self._factory(place)
        if self._shared is None:
            self._shared = self._factory(place)
        return self._shared


def in_own_folder(servers: Iterable[ServerConfig], place: AttemptPlace) -> tuple[ServerConfig, ...]:
    """The servers as they are started for one attempt.

    A stdio server without `cwd` starts in the attempt's folder, has its TMPDIR there, and finds the folder wherever its
    entry says `{attempt_folder}`. Servers behind an address stay as they are.
    """
    return tuple(
        settled_in(server, place.folder) if server.transport == "stdio" else server for server in servers
    )


async def run_hook(hook: HookConfig, place: AttemptPlace, name: str) -> None:
    """Run a setup or teardown; raises `ServerError` if it fails, `ConfigError` if it cannot be found."""
    if hook.function:
        await _call_function(hook.function, place, name)
    if hook.command:
        await _run_command(hook.command, place, name)


def load_function(written: str, where: str = "") -> Callable[..., Any]:
    """The function at `module:name`; raises `ConfigError`."""
    module_name, _, path = written.partition(":")
    if not module_name or not path:
        raise ConfigError(f"{written!r} is no `module:function`", where=where)
    try:
        found: Any = importlib.import_module(module_name)
    except ImportError as error:
        raise ConfigError(
            f"the module {module_name!r} cannot be imported: {error}",
            where=where,
            next_step="run where it can be imported, or install it",
        ) from error
    except (Exception, SystemExit) as error:
        raise ConfigError(
            f"importing {module_name!r} failed: {type(error).__name__}: {error}", where=where
        ) from error
    for part in path.split("."):
        found = getattr(found, part, None)
    if not callable(found):
        raise ConfigError(f"{module_name!r} has no function {path!r}", where=where)
    return found  # type: ignore[no-any-return]


async def _call_function(written: str, place: AttemptPlace, name: str) -> None:
    """Call a hook with the place, or with nothing where it takes nothing. A plain function runs in a thread, so that it may
    block; the context variables it sets are those of the attempt, so that handlers see them."""
    function = load_function(written, where=f"execution.{name}")
    arguments = (place,) if _takes_an_argument(function) else ()
    try:
        if inspect.iscoroutinefunction(function):
            await function(*arguments)
        else:
            context = contextvars.copy_context()
            result = await asyncio.to_thread(context.run, function, *arguments)
            for variable, value in context.items():
                if variable.get(None) is not value:
                    variable.set(value)
            if inspect.isawaitable(result):
                await result
    except (Exception, SystemExit, asyncio.CancelledError) as error:
        if isinstance(error, asyncio.CancelledError) and is_cancelled():
            raise
        raise ServerError(
            f"{name} failed: {type(error).__name__}: {error}",
            where=f"{place.task_id}#{place.attempt} {written}",
            next_step="run the function alone and mend it",
        ) from error


def _takes_an_argument(function: Any) -> bool:
    try:
        kinds = [parameter.kind for parameter in inspect.signature(function).parameters.values()]
    except (TypeError, ValueError):
        return True
    keyword_only = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_KEYWORD)
    return any(kind not in keyword_only for kind in kinds)


async def _run_command(command: tuple[str, ...], place: AttemptPlace, name: str) -> None:
    where = f"{place.task_id}#{place.attempt} {command[0]}"
    environment = {
        **place.environment,
        "AGENT_REACH_TASK": place.task_id,
        "AGENT_REACH_ATTEMPT": str(place.attempt),
        "AGENT_REACH_FOLDER": place.folder,
    }
    words = [word.replace(FOLDER, place.folder) for word in command]
    try:
        process = await asyncio.create_subprocess_exec(
            *words,
            cwd=place.folder,
            env=environment,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            start_new_session=True,
        )
    except OSError as error:
        raise ServerError(f"{name} cannot be started: {error}", where=where) from error
    try:
        async with asyncio.timeout(_HOOK_LIMIT):
            output, _ = await process.communicate()
    except TimeoutError as error:
        raise ServerError(f"{name} did not end within {_HOOK_LIMIT:g} s", where=where) from error
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        if process.returncode is None:
            await process.wait()
    if process.returncode:
        said = output.decode("utf-8", "replace").strip()[-400:]
        raise ServerError(f"{name} ended with exit code {process.returncode}: {said}", where=where)
