"""One server behind the gateway: started when first needed, started again with back-off, its list kept up to date.

Calls go to it as the raw messages they are. A call that lost its connection is never sent again, for it may have
happened; one that was certainly never sent goes once to the new session. What the server asks in the middle of a call
is handed to whoever made the call.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import time
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from agent_reach.errors import ServerError
from agent_reach.records.finding import Finding
from agent_reach.wire.failures import ConnectionLost, RequestRefused
from agent_reach.wire.protocol import CLIENT_CAPABILITIES_META
from agent_reach.wire.servers import ServerConfig
from agent_reach.wire.session import ServerSession, SessionOptions
from agent_reach.wire.startup import ServerListing, failure_finding

FIRST_WAIT = 0.5
LONGEST_WAIT = 30.0
_CHANGES = {
    "notifications/tools/list_changed": "tools",
    "notifications/prompts/list_changed": "prompts",
    "notifications/resources/list_changed": "resources",
}


class Origin(Protocol):
    """The call that a question or a report of a server belongs to."""

    async def ask(self, method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """Answer a question of the server."""

    def report(self, progress: Mapping[str, Any]) -> None:
        """Take one progress report."""

    def log(self, params: Mapping[str, Any]) -> None:
        """Take one line of the server's log."""

    @property
    def owner(self) -> str:
        """Whose call it is."""

    @property
    def capabilities(self) -> Mapping[str, Any]:
        """What the client behind it declared."""


class Upstream:
    """One server and its session.

    `on_change(upstream, what)` is told when a list (`tools`, `prompts`, `resources`) may have changed, or a resource
    (`updated:URI`). `capabilities` are announced when the session opens.
    """

    def __init__(
        self,
        config: ServerConfig,
        options: SessionOptions,
        on_change: Callable[[Upstream, str], None],
        capabilities: Callable[[], Mapping[str, Any]] = dict,
    ) -> None:
        self.config = config
        self.listing: ServerListing | None = None
        self.starts = 0
        self.last_error = ""
        self._options = options
        self._on_change = on_change
        self._capabilities = capabilities
        self._session: ServerSession | None = None
        self._starting: asyncio.Task[ServerSession] | None = None
        self._failures = 0
        self._not_before = 0.0
        self._calls: dict[int, Origin] = {}
        self._next_call = 0
        self._closed = False
        self._findings: list[Finding] = []
        self._watched: dict[str, None] = {}
        self._listening: asyncio.Task[None] | None = None

    @property
    def name(self) -> str:
        """The server's name."""
        return self.config.name

    @property
    def alive(self) -> bool:
        """Whether a session is open."""
        return self._session is not None and self._session.alive

    @property
    def session(self) -> ServerSession | None:
        """The open session."""
        return self._session if self.alive else None

    @property
    def in_flight(self) -> int:
        """How many requests wait for this server."""
        return len(self._calls)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What was odd about its connections."""
        live = self._session.findings if self._session is not None else ()
        return (*self._findings, *live)

    async def ready(self) -> ServerSession:
        """The open session, started if need be; raises `ServerError`, at once while a failed start is waited out."""
        if self._session is not None and self._session.alive:
            return self._session
        if self._closed:
            raise ServerError("the gateway is closing", where=self.config.label)
        if self._starting is None:
            wait = self._not_before - time.monotonic()
            if wait > 0:
                raise ServerError(
                    f"{self.last_error} (tried {self._failures} times; next try in {wait:.1f} s)",
                    where=self.config.label,
                )
            self._starting = asyncio.create_task(self._start())
            self._starting.add_done_callback(_seen)
        return await asyncio.shield(
            self._starting
        )  # one caller that gives up must not stop it for the others

    async def _start(self) -> ServerSession:
        try:
            again = self.starts > 0
            if self._session is not None:
                lost, self._session = self._session, None
                self._findings = [*self._findings, *lost.findings][-50:]
                await lost.close()
            options = dataclasses.replace(
                self._options,
                capabilities=self._capabilities(),
                on_notification=self._notified,
                on_request=self._asked,
            )
            session = ServerSession(self.config, options)
            try:
                await session.open()
            except ServerError as error:
                self._failures += 1
                self.last_error = error.message
                self._not_before = time.monotonic() + min(
                    LONGEST_WAIT, FIRST_WAIT * 2 ** (self._failures - 1)
                )
                raise
            self._failures, self.last_error = 0, ""
            self._session = session
            self.starts += 1
            self._listen()
            if again:
                self._on_change(self, "tools")  # what comes back may be another version
            return session
        finally:
            self._starting = None

    async def list_tools(self) -> ServerListing:
        """Start and list; a failure is inside the listing, and what was listed before is kept then."""
        began = time.monotonic()
        try:
            session = await self.ready()
            tools, findings = await session.list_tools()
        except ServerError as error:
            failed = ServerListing(
                config=self.config,
                findings=(*self.findings, failure_finding(self.config, error)),
                error=error,
                seconds=time.monotonic() - began,
            )
            if self.listing is None or self.listing.error is not None:
                self.listing = failed
            return failed
        self.listing = ServerListing(
            config=self.config,
            tools=tools,
            findings=(*self.findings, *findings),
            protocol_version=session.protocol_version,
            info=session.info,
            capabilities=session.capabilities,
            instructions=session.instructions,
            pages=session.pages,
            seconds=time.monotonic() - began,
        )
        return self.listing

    async def request(
        self,
        method: str,
        params: Mapping[str, Any],
        origin: Origin | None = None,
        *,
        timeout: float | None = None,
        max_total: float | None = None,
        sent: Callable[[], None] = lambda: None,
    ) -> Any:
        """The raw result of one request; raises `RequestFailure` or, where it does not start, `ServerError`.

        `sent` is called just before the request leaves.
        """
        session = await self.ready()
        try:
            return await self._once(session, method, params, origin, timeout, max_total, sent)
        except ConnectionLost as error:
            if error.sent or session.alive:
                raise
        session = await self.ready()
        return await self._once(session, method, params, origin, timeout, max_total, sent)

    async def _once(
        self,
        session: ServerSession,
        method: str,
        params: Mapping[str, Any],
        origin: Origin | None,
        timeout: float | None,
        max_total: float | None,
        sent: Callable[[], None],
    ) -> Any:
        if origin is None:
            return await session.request(method, params, timeout=timeout, max_total=max_total)
        if session.modern:
            params = {**params, "_meta": {**_meta(params), CLIENT_CAPABILITIES_META: origin.capabilities}}
        number = self._next_call = self._next_call + 1
        self._calls[number] = origin
        sent()
        try:
            return await session.request(
                method,
                params,
                timeout=timeout,
                max_total=max_total,
                on_progress=origin.report,
                want_progress=True,
            )
        finally:
            del self._calls[number]

    def watch(self, uri: str, *, on: bool = True) -> None:
        """Listen for changes of a resource of a server of the current era, or no longer."""
        if on == (uri in self._watched):
            return
        if on:
            self._watched[uri] = None
        else:
            del self._watched[uri]
        self._listen()

    def _listen(self) -> None:
        """A server of the current era tells of changes only on a stream that was asked for."""
        if self._listening is not None:
            self._listening.cancel()
            self._listening = None
        session = self._session
        if session is None or not session.modern:
            return
        wanted: dict[str, Any] = {
            f"{kind}ListChanged": True
            for kind in ("tools", "prompts", "resources")
            if isinstance(session.capabilities.get(kind), Mapping)
            and session.capabilities[kind].get("listChanged")
        }
        if self._watched:
            wanted["resourceSubscriptions"] = list(self._watched)
        if wanted:
            self._listening = asyncio.create_task(self._listened(session, wanted))

    async def _listened(self, session: ServerSession, wanted: Mapping[str, Any]) -> None:
        """Keep the stream open; a server that does not serve it, or ends it, is not asked again in this session."""
        with contextlib.suppress(ServerError):
            await session.request("subscriptions/listen", {"notifications": wanted})

    async def close(self) -> None:
        """End the session and its process."""
        self._closed = True
        if self._listening is not None:
            self._listening.cancel()
            await asyncio.gather(self._listening, return_exceptions=True)
        if self._starting is not None:
            self._starting.cancel()
            await asyncio.gather(self._starting, return_exceptions=True)
        if self._session is not None:
            session, self._session = self._session, None
            await session.close()

    async def _asked(self, method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """A question of the server by itself: it is put to the one client whose calls are under way."""
        owners = {origin.owner for origin in self._calls.values()}
        if not owners:
            raise RequestRefused(
                f"{method} is refused: no call is under way whose client could be asked", code=-32601
            )
        if len(owners) > 1:
            raise RequestRefused(
                f"{method} is refused: calls of {len(owners)} clients are under way and the question names none",
                code=-32601,
            )
        return await next(reversed(self._calls.values())).ask(method, params)

    def _notified(self, method: str, params: Mapping[str, Any]) -> None:
        if method in _CHANGES:
            self._on_change(self, _CHANGES[method])
        elif method == "notifications/resources/updated":
            self._on_change(self, f"updated:{params.get('uri', '')}")
        elif method == "notifications/message":
            told: set[str] = set()
            for origin in self._calls.values():
                if origin.owner not in told:
                    told.add(origin.owner)
                    origin.log(params)


def _meta(params: Mapping[str, Any]) -> Mapping[str, Any]:
    value = params.get("_meta")
    return value if isinstance(value, Mapping) else {}


def _seen(task: asyncio.Task[ServerSession]) -> None:
    """Take note of a failed start that every caller gave up waiting for; the next request tells it."""
    if not task.cancelled():
        task.exception()
