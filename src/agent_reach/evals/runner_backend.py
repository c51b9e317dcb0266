"""The backend that executes the calls of an attempt, put together from the run's settings.

From the inside out: the way of execution in a world of its own, the guard that lets only read-only tools through on live
ones, planted faults.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from agent_reach.backends.base import Backend, failure
from agent_reach.config.settings import ExecutionConfig, HookConfig
from agent_reach.errors import ConfigError
from agent_reach.evals.agents.python import load_function
from agent_reach.records.task import Task
from agent_reach.records.tool import Tool
from agent_reach.records.trace import CallOutcome

if TYPE_CHECKING:
    from agent_reach.backends.isolation import AttemptPlace, Isolation
    from agent_reach.catalog.catalog import Catalog
    from agent_reach.wire.servers import ServerConfig


class BackendMaker:
    """Opens the backend of each attempt; what attempts share (`isolation: shared`) is made once and closed last."""

    def __init__(
        self,
        config: ExecutionConfig,
        catalog: Catalog,
        *,
        source: Any = "",
        folder: str = ".",
        environment: Mapping[str, str] | None = None,
        seed: int = 0,
        custom: Backend | None = None,
    ) -> None:
        self._config = config
        self._catalog = catalog
        self._source = source
        self._folder = folder
        self._environment = dict(environment or {})
        self._seed = seed
        self._custom = custom
        self._isolation: Isolation | None = None
        self._handlers: Mapping[str, Any] | None = None

    @property
    def is_repeatable(self) -> bool:
        """The same calls get the same answers on every run."""
        return self._config.backend == "recorded" and self._custom is None

    @property
    def has_own_limit(self) -> bool:
        """The backend keeps the time limit of calls itself, with what a server's own entry says of it."""
        return self._custom is None and self._config.backend != "recorded"

    def check(self) -> None:
        """Raise what is wrong with the settings before the first attempt."""
        if self._custom is None and self._config.backend == "python":
            self._python_handlers()
        if self._custom is None and self._config.backend == "mcp":
            self._servers()
        if self._custom is None and self._config.backend == "http":
            from agent_reach.backends.http import HttpBackend

            HttpBackend.of_catalog(self._catalog.tools)
        for hook in (self._config.setup, self._config.teardown):
            if hook.function:
                load_function(hook.function, self._folder)

    @asynccontextmanager
    async def attempt(self, task: Task, index: int) -> AsyncIterator[Backend]:
        """The backend of one attempt, from the setup of run and task to their teardown.

        A setup that fails raises `ServerError` before the attempt, a teardown that fails after it.
        """
        from agent_reach.backends.isolation import Isolation, run_hook

        setup, teardown = task_hook(task, "setup"), task_hook(task, "teardown")
        if self._is_plain and not setup and not teardown:
            yield self._wrapped(Nowhere(), task, index)
            return
        if self._isolation is None:
            self._isolation = Isolation(
                self._live,
                mode=self._mode(),
                setup=self._config.setup,
                teardown=self._config.teardown,
                environment=self._environment,
            )
        async with self._isolation.attempt(task.id, index) as opened:
            await run_hook(setup, opened.place, "setup")
            try:
                yield self._wrapped(opened.backend, task, index)
            finally:
                await run_hook(teardown, opened.place, "teardown")

    @property
    def _is_plain(self) -> bool:
        """Nothing is started and nothing is set up: recordings alone."""
        hooks = self._config.setup or self._config.teardown
        return not hooks and (self._custom is not None or self._config.backend == "recorded")

    def _mode(self) -> Literal["attempt", "shared"]:
        return self._config.isolation or ("attempt" if self._config.backend == "mcp" else "shared")

    def _wrapped(self, live: Backend, task: Task, index: int) -> Backend:
        from agent_reach.backends.recorded import RecordedBackend

        recordings = RecordedBackend(task, on_miss=self._config.on_miss)
        if self._custom is not None:
            backend: Backend = self._custom
        elif self._config.backend == "recorded":
            backend = recordings
        else:
            from agent_reach.backends.write_guard import WriteGuard

            fallback = recordings if self._config.recorded_fallback else None
            backend = WriteGuard(live, allow_writes=self._config.allow_writes, recordings=fallback)
        if self._config.faults:
            from agent_reach.backends.faults import FaultsBackend

            backend = FaultsBackend(backend, self._config.faults, seed=self._seed + index)
        return backend

    def _live(self, place: AttemptPlace) -> Backend:
        if self._custom is not None or self._config.backend == "recorded":
            return Nowhere()
        if self._config.backend == "python":
            from agent_reach.backends.python import PythonBackend

            return PythonBackend(self._python_handlers(), timeout=self._config.call_timeout)
        if self._config.backend == "mcp":
            from agent_reach.backends.isolation import in_own_folder
            from agent_reach.backends.mcp import McpBackend
            from agent_reach.catalog.schema import output_problems
            from agent_reach.wire.session import SessionOptions

            servers = self._servers()
            if self._mode() == "attempt":
                servers = in_own_folder(servers, place)
            limit = self._config.call_timeout
            options = SessionOptions(call_timeout=limit)
            if limit is None:
                options = SessionOptions(call_timeout=None, max_total=None)
            return McpBackend(servers, options=options, validator=output_problems)
        from agent_reach.backends.http import HttpBackend

        return HttpBackend.of_catalog(self._catalog.tools, timeout=self._config.call_timeout)

    def _python_handlers(self) -> Mapping[str, Any]:
        if self._handlers is not None:
            return self._handlers
        from agent_reach.catalog.sources.python import python_tools

        source = self._config.handlers or self._source
        if not source or (isinstance(source, str) and source.endswith((".json", ".jsonl", ".yaml", ".yml"))):
            raise ConfigError(
                "execution: python needs the module of the functions",
                where="execution.handlers",
                next_step="write execution: {backend: python, handlers: package.module}",
            )
        _, handlers = python_tools(source)
        known = {tool.name for tool in self._catalog.tools} | {tool.key for tool in self._catalog.tools}
        if not any(key in known for key in handlers):
            raise ConfigError(
                f"no function of {source!r} is a tool of the catalog",
                where="execution.handlers",
                next_step="name the module whose functions are the tools",
            )
        self._handlers = handlers
        return handlers

    def _servers(self) -> tuple[ServerConfig, ...]:
        from agent_reach.config.documents import read_document
        from agent_reach.wire.servers import parse_servers

        source = self._source
        if isinstance(source, str) and source and Path(source).is_file():
            document, where = read_document(Path(source), what="mcpServers file").value, source
        else:
            document, where = source, "catalog"
        if not isinstance(document, Mapping):
            raise ConfigError(
                "execution: mcp needs the servers of the tools",
                where="catalog",
                next_step="give an mcpServers file as `catalog`, or use execution: recorded",
            )
        return parse_servers(document, self._environment, str(where))

    async def aclose(self) -> None:
        """Close what attempts shared."""
        if self._isolation is not None:
            isolation, self._isolation = self._isolation, None
            await isolation.aclose()


class Nowhere:
    """The live side of a run that executes nothing; it is never asked."""

    async def call(
        self, tool: Tool, arguments: Mapping[str, Any], *, call_id: str = "", timeout: float | None = None
    ) -> CallOutcome:
        """Fail: nothing is behind it."""
        return failure("not_found", f"nothing executes {tool.key} here", sent=False)

    async def aclose(self) -> None:
        """Nothing to give back."""


def task_hook(task: Task, key: str) -> HookConfig:
    """The hook that a task names under `environment` (`setup: module:function`, or a command in words)."""
    value = task.environment.get(key)
    if value is None:
        return HookConfig()
    if isinstance(value, str) and ":" in value and " " not in value:
        return HookConfig(function=value)
    words = value.split() if isinstance(value, str) else value
    if isinstance(words, (list, tuple)) and words and all(isinstance(word, str) for word in words):
        return HookConfig(command=tuple(words))
    raise ConfigError(
        f"{key} is {value!r}",
        where=f"task {task.id!r}",
        next_step="write module:function, or a list of words",
    )
