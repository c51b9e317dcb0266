"""Calls executed by live MCP servers, over sessions that are opened when first needed.

A lost session is opened again for the next call, never for the call that lost it: that one may have happened. Only a
call that was certainly never sent, because the session had ended unnoticed, is sent again, once. What a call does on the
server's side cannot be seen here beyond its answer.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from agent_reach.backends.base import failure
from agent_reach.errors import ServerError
from agent_reach.records.finding import Finding
from agent_reach.records.tool import Tool
from agent_reach.records.trace import CallOutcome
from agent_reach.wire.failures import ConnectionLost, RequestFailure, RequestRefused
from agent_reach.wire.peer import OnProgress
from agent_reach.wire.results import OutputValidator, outcome_of_failure, outcome_of_result
from agent_reach.wire.servers import ServerConfig
from agent_reach.wire.session import ServerSession, SessionOptions
from agent_reach.wire.startup import failure_finding

OnCallProgress = Callable[[str, Mapping[str, Any]], None]
"""Told the call id and each progress report of a running call."""


@dataclass(slots=True)
class _Place:
    """One server: its session, and what was learnt from failing to start it."""

    config: ServerConfig
    session: ServerSession | None = None
    starting: asyncio.Task[ServerSession] | None = None
    failures: int = 0
    not_before: float = 0.0
    last_error: str = ""


class McpBackend:
    """Calls tools on the servers of an `mcpServers` file; a tool's `server` names its server.

    `call` never raises for a failed call. A server starts with its first call, whose limit begins when it is ready; one
    that is not ready within that limit goes on starting for the next call. A server that does not start fails its calls
    as `transport` at once, and is tried again after a growing wait (0.5 s doubling to 30 s).
    """

    def __init__(
        self,
        servers: Iterable[ServerConfig],
        *,
        options: SessionOptions | None = None,
        validator: OutputValidator | None = None,
        strict: bool = False,
        on_progress: OnCallProgress | None = None,
    ) -> None:
        self._places = {config.name: _Place(config) for config in servers}
        self._options = options or SessionOptions()
        self._validator = validator
        self._strict = strict
        self._on_progress = on_progress
        self._findings: list[Finding] = []
        self._closed = False

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What was odd about the connections, of ended sessions too."""
        live = (place.session.findings for place in self._places.values() if place.session is not None)
        return (*self._findings, *(finding for findings in live for finding in findings))

    def session_of(self, server: str) -> ServerSession | None:
        """The running session of a server."""
        place = self._place(server)
        return place.session if place is not None else None

    async def call(
        self, tool: Tool, arguments: Mapping[str, Any], *, call_id: str = "", timeout: float | None = None
    ) -> CallOutcome:
        """Call the tool on its server."""
        started = time.perf_counter()
        place = self._place(tool.server)
        if place is None:
            known = ", ".join(sorted(self._places)) or "none"
            return failure(
                "not_found", f"{tool.key}: no server {tool.server!r} is configured ({known})", sent=False
            )
        outcome, again = await self._try(place, tool, arguments, call_id, timeout, started)
        if again:
            outcome, _ = await self._try(place, tool, arguments, call_id, timeout, started)
        return outcome

    async def _try(
        self,
        place: _Place,
        tool: Tool,
        arguments: Mapping[str, Any],
        call_id: str,
        timeout: float | None,
        started: float,
    ) -> tuple[CallOutcome, bool]:
        """One try, and whether another is safe: the session had ended unnoticed, and the call was never sent."""
        try:
            async with asyncio.timeout(timeout):
                session = await self._session(place)
        except ServerError as error:
            return _not_started(error, tool, started), False
        except TimeoutError:
            elapsed = time.perf_counter() - started
            message = (
                f"{tool.key}: the server was still starting after {elapsed:.1f} s; the call was not sent"
            )
            return failure("timeout", message, sent=False, latency_ms=elapsed * 1000), False
        try:
            raw = await session.call_tool(
                tool.name, arguments, timeout=timeout, on_progress=self._progress(call_id)
            )
        except RequestFailure as error:
            outcome = outcome_of_failure(error, tool, latency_ms=(time.perf_counter() - started) * 1000)
            lost = isinstance(error, ConnectionLost)
            if lost and session.stderr_tail():
                said = " / ".join(session.stderr_tail().splitlines()[-3:])[-400:]
                outcome = replace(outcome, message=f"{outcome.message}; its last words on stderr: {said}")
            return outcome, lost and not error.sent and not session.alive
        outcome = outcome_of_result(
            raw,
            tool,
            validator=self._validator,
            strict=self._strict,
            protocol_version=session.protocol_version,
            latency_ms=(time.perf_counter() - started) * 1000,
        )
        return outcome, False

    async def start(self, servers: Iterable[str] | None = None) -> tuple[Finding, ...]:
        """Start servers side by side before they are needed (default: all); a finding for each that failed."""
        places = [self._places[name] for name in (self._places if servers is None else servers)]
        results = await asyncio.gather(*(self._session(place) for place in places), return_exceptions=True)
        findings = []
        for place, result in zip(places, results, strict=True):
            if isinstance(result, ServerError):
                findings.append(failure_finding(place.config, result))
            elif isinstance(result, BaseException):
                raise result
        return tuple(findings)

    async def aclose(self) -> None:
        """End every session and its process."""
        self._closed = True
        starting = [place.starting for place in self._places.values() if place.starting is not None]
        for task in starting:
            task.cancel()
        await asyncio.gather(*starting, return_exceptions=True)
        sessions = [place.session for place in self._places.values() if place.session is not None]
        for place in self._places.values():
            if place.session is not None:
                self._findings.extend(place.session.findings)
                place.session = None
        await asyncio.gather(*(session.close() for session in sessions))

    def _place(self, server: str) -> _Place | None:
        if server in self._places:
            return self._places[server]
        return next(iter(self._places.values())) if not server and len(self._places) == 1 else None

    def _progress(self, call_id: str) -> OnProgress | None:
        listener = self._on_progress
        if listener is None:
            return None
        return lambda report: listener(call_id, report)

    async def _session(self, place: _Place) -> ServerSession:
        session = place.session
        if session is not None and session.alive:
            return session
        if self._closed:
            raise ServerError("the backend is closed", where=place.config.label)
        if place.starting is None:
            wait = place.not_before - time.monotonic()
            if wait > 0:
                raise ServerError(
                    f"{place.last_error} (tried {place.failures} times; next try in {wait:.1f} s)",
                    where=place.config.label,
                )
            place.starting = asyncio.create_task(self._start(place))
            place.starting.add_done_callback(_seen)
        return await asyncio.shield(place.starting)  # a caller that gives up must not stop it for the others

    async def _start(self, place: _Place) -> ServerSession:
        try:
            if place.session is not None:
                lost, place.session = place.session, None
                self._findings.extend(lost.findings)
                await lost.close()
            session = ServerSession(place.config, self._options)
            try:
                await session.open()
            except ServerError as error:
                place.failures += 1
                place.last_error = error.message
                place.not_before = time.monotonic() + min(30.0, 0.5 * 2 ** (place.failures - 1))
                raise
            place.failures = 0
            place.session = session
            return session
        finally:
            place.starting = None


def _not_started(error: ServerError, tool: Tool, started: float) -> CallOutcome:
    kind: Any = "transport"
    if isinstance(error, RequestRefused) and error.http_status in (401, 403):
        kind = "permission"
    elif isinstance(error, RequestRefused) and error.http_status == 429:
        kind = "rate_limited"
    return failure(
        kind,
        f"{tool.key}: the server could not be started: {error.message}",
        sent=False,
        latency_ms=(time.perf_counter() - started) * 1000,
        retry_after=error.retry_after if isinstance(error, RequestRefused) else None,
    )


def _seen(task: asyncio.Task[ServerSession]) -> None:
    """Take note of a failed start that every caller gave up waiting for; the next call tells it."""
    if not task.cancelled():
        task.exception()
