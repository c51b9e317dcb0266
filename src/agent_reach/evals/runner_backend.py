"""The backend that executes the calls of an attempt, put together from the run's settings.

From the inside out: the way of execution, the guard that lets only read-only tools through on live ones, planted faults.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent_reach.backends.base import Backend
from agent_reach.config.settings import ExecutionConfig
from agent_reach.errors import ConfigError
from agent_reach.records.task import Task

if TYPE_CHECKING:
    from agent_reach.catalog.catalog import Catalog


class BackendMaker:
    """Makes one backend per attempt; what is shared between attempts (`isolation: shared`) is made once and closed last."""

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
        self._shared: Backend | None = None
        self._handlers: Mapping[str, Any] | None = None

    @property
    def is_repeatable(self) -> bool:
        """The same calls get the same answers on every run."""
        return self._config.backend == "recorded" and self._custom is None

    def check(self) -> None:
        """Raise what is wrong with the settings before the first attempt."""
        if self._custom is None and self._config.backend == "python":
            self._python_handlers()
        if self._custom is None and self._config.backend in ("mcp", "http"):
            self._live()

    def for_attempt(self, task: Task, attempt: int) -> Backend:
        """The backend of one attempt; the caller closes it."""
        from agent_reach.backends.recorded import RecordedBackend

        recordings = RecordedBackend(task, on_miss=self._config.on_miss)
        if self._custom is not None:
            backend: Backend = Unclosed(self._custom)
        elif self._config.backend == "recorded":
            backend = recordings
        else:
            from agent_reach.backends.write_guard import WriteGuard

            fallback = recordings if self._config.recorded_fallback else None
            backend = WriteGuard(
                self._live_for_attempt(), allow_writes=self._config.allow_writes, recordings=fallback
            )
        if self._config.faults:
            from agent_reach.backends.faults import FaultsBackend

            backend = FaultsBackend(backend, self._config.faults, seed=self._seed + attempt)
        return backend

    def _live_for_attempt(self) -> Backend:
        if self._config.isolation == "shared" or (
            self._config.backend != "mcp" and self._config.isolation is None
        ):
            if self._shared is None:
                self._shared = self._live()
            return Unclosed(self._shared)
        return self._live()

    def _live(self) -> Backend:
        if self._config.backend == "python":
            from agent_reach.backends.python import PythonBackend

            return PythonBackend(self._python_handlers(), timeout=self._config.call_timeout)
        if self._config.backend == "mcp":
            return self._mcp()
        from agent_reach.backends.http import HttpBackend

        return HttpBackend.of_catalog(self._catalog)

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

    def _mcp(self) -> Backend:
        from agent_reach.backends.mcp import McpBackend
        from agent_reach.catalog.schema import output_problems
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
        servers = parse_servers(document, self._environment, str(where))
        return McpBackend(servers, validator=output_problems)

    async def aclose(self) -> None:
        """Close what attempts shared."""
        if self._shared is not None:
            shared, self._shared = self._shared, None
            await shared.aclose()


class Unclosed:
    """A backend lent to an attempt: closing the loan leaves it open."""

    def __init__(self, inner: Backend) -> None:
        self._inner = inner

    async def call(
        self, tool: Any, arguments: Mapping[str, Any], *, call_id: str = "", timeout: float | None = None
    ) -> Any:
        """Pass the call on."""
        return await self._inner.call(tool, arguments, call_id=call_id, timeout=timeout)

    async def aclose(self) -> None:
        """Leave it open."""
