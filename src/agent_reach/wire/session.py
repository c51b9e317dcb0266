"""A session with one MCP server, whatever its transport and protocol era.

Results are the server's own JSON, unchecked (`results` judges them). A session is opened once; when its connection is
lost it stays lost, and opening another one is the business of whoever needs it.
"""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Awaitable, Callable, Mapping
from types import TracebackType
from typing import Any

from agent_reach.errors import ServerError
from agent_reach.records.finding import Finding
from agent_reach.records.message import Message as Sentence
from agent_reach.wire.channel import Channel
from agent_reach.wire.failures import ConnectionLost, InputRequired, RequestFailure, RequestRefused
from agent_reach.wire.listing import Listed, walk_pages
from agent_reach.wire.negotiation import Agreement, Era, negotiate, request_meta
from agent_reach.wire.options import SessionOptions
from agent_reach.wire.own_folder import asks_for_folder, settled_in
from agent_reach.wire.parameter_headers import ParameterHeaders
from agent_reach.wire.peer import OnProgress, Peer
from agent_reach.wire.pipe import PipeChannel
from agent_reach.wire.protocol import (
    HANDSHAKE_VERSIONS,
    METHOD_NOT_FOUND,
    MODERN_VERSIONS,
    VERSION_HEADER,
)
from agent_reach.wire.secrets import server_redactor
from agent_reach.wire.servers import ServerConfig

__all__ = ["ServerSession", "SessionOptions"]

_MAX_ROUNDS = 10
_STALL = 0.05
_PERSON = 300.0


class ServerSession:
    """A session with one server; an async context manager that ends everything it started."""

    def __init__(self, config: ServerConfig, options: SessionOptions | None = None) -> None:
        self.config = config
        self.options = options or SessionOptions()
        self._channel: Channel | None = None
        self._peer: Peer | None = None
        self._agreement: Agreement | None = None
        self._findings: list[Finding] = []
        self._parameter_headers = ParameterHeaders()
        self._list_changed = asyncio.Event()
        self._pages = 0
        self._own_folder = ""

    async def __aenter__(self) -> ServerSession:
        await self.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    @property
    def name(self) -> str:
        """The server's name in its file."""
        return self.config.name

    @property
    def info(self) -> Mapping[str, Any]:
        """What the server says of itself: name, version, title."""
        return self._agreed.info

    @property
    def protocol_version(self) -> str:
        """The agreed protocol revision."""
        return self._agreed.version

    @property
    def capabilities(self) -> Mapping[str, Any]:
        """What the server offers."""
        return self._agreed.capabilities

    @property
    def instructions(self) -> str:
        """The server's words to the model."""
        return self._agreed.instructions

    @property
    def modern(self) -> bool:
        """Whether the session is of the current era (2026-07-28), without a handshake."""
        return self._agreed.modern

    @property
    def pages(self) -> int:
        """How many pages the last tool list had."""
        return self._pages

    @property
    def lost_reason(self) -> str:
        """Why the connection ended; empty while it lives."""
        return self._peer.lost_reason if self._peer is not None else "the session was not opened"

    @property
    def alive(self) -> bool:
        """Whether requests can be sent."""
        return self._agreement is not None and not self.lost_reason

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What was odd about the connection so far: noise on stdout, answers to nobody, an unknown version."""
        channel = self._channel.findings() if self._channel is not None else ()
        peer = self._peer.findings() if self._peer is not None else ()
        return (*self.config.findings, *self._findings, *channel, *peer)

    @property
    def process_id(self) -> int | None:
        """The server's process, for stdio."""
        return self._channel.process_id if isinstance(self._channel, PipeChannel) else None

    def stderr_tail(self) -> str:
        """The last lines that the server wrote to stderr."""
        return self._channel.stderr_tail() if self._channel is not None else ""

    async def open(self) -> None:
        """Start or connect, and agree on a version; raises `ServerError` with the server's own last words."""
        self.config.check()
        if asks_for_folder(self.config):  # nobody gave one: it has its own for as long as it runs
            self._own_folder = await asyncio.to_thread(tempfile.mkdtemp, prefix="agent-reach-")
            self.config = settled_in(self.config, self._own_folder)
        limit = self.config.startup_timeout or self.options.startup_timeout
        if self.config.transport != "stdio" and self.options.open_address is not None:
            limit = max(limit, _PERSON)  # a person may have to allow access first
        try:
            async with asyncio.timeout(limit):
                await self._connect(limit)
        except TimeoutError as error:
            message = f"the server was not ready within {limit:g} s"
            failure = self._startup_error(message, "give it more time with `startup_timeout`")
            await self.close()
            raise failure from error
        except ServerError as error:
            failure = self._startup_error(error.message, error.next_step, error)
            await self.close()
            raise failure from error
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        """End the session and its process; may be called twice."""
        closing = asyncio.ensure_future(self._end())
        try:
            await asyncio.shield(closing)
        except asyncio.CancelledError:
            await closing  # a cancelled caller must not leave a process behind
            raise

    async def _end(self) -> None:
        if self._channel is not None:
            await self._channel.close()
        if self._own_folder:
            await asyncio.to_thread(shutil.rmtree, self._own_folder, ignore_errors=True)

    async def request(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        timeout: float | None = None,
        max_total: float | None = None,
        on_progress: OnProgress | None = None,
        want_progress: bool = False,
    ) -> Any:
        """Any request, stamped as its era asks; the raw `result`. Raises `RequestFailure`."""
        peer = self._live_peer()
        headers = None
        remote = self.config.transport != "stdio"
        if self._agreed.modern:
            params = self._stamped(params)
            if remote:
                headers = self._parameter_headers.of_request(self._agreed.version, method, params)
        elif remote:
            headers = {VERSION_HEADER: self._agreed.version}
        return await peer.request(
            method,
            params,
            timeout=timeout,
            max_total=max_total,
            on_progress=on_progress,
            want_progress=want_progress,
            headers=headers,
        )

    def notify(self, method: str, params: Mapping[str, Any] | None = None) -> None:
        """Send a notification."""
        self._live_peer().notify(method, params)

    async def list_tools(self) -> tuple[tuple[dict[str, Any], ...], tuple[Finding, ...]]:
        """All tool definitions as the server wrote them, and what was wrong with the list.

        An empty first answer is asked again a few times, for some servers answer before they are ready. Raises
        `ServerError` when not even the first page came.
        """
        limit = self.config.startup_timeout or self.options.startup_timeout
        listed = await self._list_all("tools/list", "tools", limit)
        for wait in self.options.list_retries:
            if listed.items or not self.alive:
                break
            self._list_changed.clear()
            try:
                async with asyncio.timeout(wait):
                    await self._list_changed.wait()
            except TimeoutError:
                pass
            listed = await self._list_all("tools/list", "tools", limit)
        self._pages = listed.pages
        findings = list(listed.findings)
        if not listed.items:
            findings.append(self._no_tools())
        items = listed.items
        if self._agreed.modern:
            items = self._parameter_headers.learn(items, findings, self.name, self.config.where)
        return items, tuple(findings)

    async def list_all(self, method: str, key: str) -> Listed:
        """All pages of any list (`prompts/list`, `resources/list`)."""
        return await self._list_all(method, key, self.options.startup_timeout)

    async def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        timeout: float | None = None,
        max_total: float | None = None,
        on_progress: OnProgress | None = None,
        meta: Mapping[str, Any] | None = None,
    ) -> Any:
        """The raw result of one call, whatever its shape.

        `timeout` (default: the server's, else the session's) starts anew with each progress report, up to `max_total`.
        When the server asks back and `on_request` is set, its questions are answered and the call goes on. Raises
        `RequestFailure`.
        """
        params: dict[str, Any] = {"name": name, "arguments": dict(arguments or {})}
        if meta:
            params["_meta"] = dict(meta)
        limit = timeout or self.config.call_timeout or self.options.call_timeout
        total = max_total or self.options.max_total
        if limit is not None and total is not None:
            total = max(total, limit)

        async def ask(extra: Mapping[str, Any]) -> Any:
            return await self.request(
                "tools/call",
                {**params, **extra},
                timeout=limit,
                max_total=total,
                on_progress=on_progress,
                want_progress=True,
            )

        return await self._with_input(ask)

    async def _with_input(self, ask: Callable[[Mapping[str, Any]], Awaitable[Any]]) -> Any:
        """Answer what the server asks back until it gives a result, at most ten times."""
        result = await ask({})
        for round_number in range(_MAX_ROUNDS):
            if not isinstance(result, Mapping) or result.get("resultType") != "input_required":
                return result
            questions = result.get("inputRequests")
            extra: dict[str, Any] = {}
            if questions:
                extra["inputResponses"] = await self._answers(questions)
            else:
                await asyncio.sleep(_STALL * min(2**round_number, 5))
            if result.get("requestState") is not None:
                extra["requestState"] = result["requestState"]
            result = await ask(extra)
        raise InputRequired(result, where=self.config.label)

    async def _answers(self, questions: Any) -> dict[str, Any]:
        if self.options.on_request is None or not isinstance(questions, Mapping):
            raise InputRequired(questions, where=self.config.label)
        answers = {}
        for key, question in questions.items():
            fields = question if isinstance(question, Mapping) else {}
            params = fields.get("params")
            answers[key] = dict(
                await self.options.on_request(
                    str(fields.get("method")), params if isinstance(params, Mapping) else {}
                )
            )
        return answers

    @property
    def _agreed(self) -> Agreement:
        if self._agreement is None:
            raise ServerError("the session was not opened", where=self.config.label)
        return self._agreement

    def _live_peer(self) -> Peer:
        if self._peer is None:
            raise ConnectionLost("the session was not opened", sent=False, where=self.config.label)
        return self._peer

    async def _connect(self, limit: float) -> None:
        if self.config.transport == "stdio":
            await self._connect_pipe(limit)
        else:
            await self._connect_remote(limit)
        version = self._agreed.version
        if version not in HANDSHAKE_VERSIONS and version not in MODERN_VERSIONS:
            self._note(
                "unknown_protocol_version",
                f"the server speaks protocol version {version!r}, which is not known here",
                f"服务器使用的协议版本 {version!r} 未知",
            )

    async def _connect_pipe(self, limit: float) -> None:
        """Ask for the current era; a server that dies of the question is started again and greeted the old way."""
        channel = PipeChannel(self.config, close_grace=self.options.close_grace)
        try:
            await self._agree(channel, self.options.era, limit)
        except ConnectionLost:
            if self.options.era != "auto":
                raise
            await channel.close()
            await self._agree(PipeChannel(self.config, close_grace=self.options.close_grace), "legacy", limit)

    async def _connect_remote(self, limit: float) -> None:
        """Streamable HTTP, and SSE where the address does not know it."""
        from agent_reach.wire.remote import RemoteChannel

        kind = self.config.transport
        if kind in ("http", "auto"):
            channel = RemoteChannel(self.config, "http", self.options.open_address)
            try:
                await self._agree(channel, self.options.era, limit)
                return
            except RequestRefused as error:
                if kind == "http" or error.http_status not in (400, 404, 405, 406, 415):
                    raise
                await channel.close()
        await self._agree(RemoteChannel(self.config, "sse", self.options.open_address), "legacy", limit)

    async def _agree(self, channel: Channel, era: Era, limit: float) -> None:
        self._channel = channel
        peer = Peer(
            channel,
            label=self.config.label,
            on_notification=self._notified,
            on_request=self.options.on_request,
        )
        self._peer = peer
        await channel.open(peer)
        self._agreement = await negotiate(
            peer,
            era=era,
            capabilities=self.options.capabilities,
            client_info=self.options.client_info,
            probe_timeout=limit if limit >= _PERSON else min(self.options.probe_timeout, limit / 2),
            timeout=limit,
        )

    async def _list_all(self, method: str, key: str, limit: float) -> Listed:
        async def fetch(cursor: str | None) -> Any:
            return await self.request(method, {"cursor": cursor} if cursor else {}, timeout=limit)

        try:
            return await walk_pages(
                fetch,
                key=key,
                subject=self.name,
                source=self.config.where,
                max_pages=self.options.max_pages,
            )
        except RequestRefused as error:
            if error.code == METHOD_NOT_FOUND:
                return Listed(items=(), pages=0)
            raise self._startup_error(error.message, "", error) from error
        except RequestFailure as error:
            raise self._startup_error(error.message, "", error) from error

    def _stamped(self, params: Mapping[str, Any] | None) -> dict[str, Any]:
        given = (params or {}).get("_meta")
        meta = request_meta(self._agreed.version, self.options.capabilities, self.options.client_info)
        return {**(params or {}), "_meta": {**meta, **(given if isinstance(given, Mapping) else {})}}

    def _notified(self, method: str, params: Mapping[str, Any]) -> None:
        if method == "notifications/tools/list_changed":
            self._list_changed.set()
        if self.options.on_notification is not None:
            self.options.on_notification(method, params)

    def _no_tools(self) -> Finding:
        return Finding(
            code="no_tools",
            severity="warning",
            subject=self.name,
            source=self.config.where,
            message=Sentence(
                "the server is connected and offers no tool", "服务器已连接，但没有提供任何工具"
            ),
            data={"state": "connected", "tools": 0},
        )

    def _note(self, code: str, en: str, zh: str) -> None:
        self._findings.append(
            Finding(
                code=code,
                severity="warning",
                subject=self.name,
                source=self.config.where,
                message=Sentence(en, zh),
            )
        )

    def _startup_error(self, message: str, next_step: str, cause: ServerError | None = None) -> ServerError:
        """The failure with what the server itself last said, its secrets masked."""
        said = self.stderr_tail()
        parts = [message]
        if said:
            parts.append("its last words on stderr: " + " / ".join(said.splitlines()[-4:])[-600:])
        noise = self._channel.findings() if self._channel is not None else ()
        if noise and not said:
            parts.append("on stdout it wrote: " + " / ".join(noise[0].data["sample"])[-300:])
        redactor = server_redactor(self.config)
        text, next_step = redactor.text("; ".join(parts)), redactor.text(next_step)
        if isinstance(cause, RequestRefused):
            return RequestRefused(
                text,
                code=cause.code,
                data=redactor.value(cause.data),
                http_status=cause.http_status,
                retry_after=cause.retry_after,
                where=self.config.label,
            )
        return ServerError(text, where=self.config.label, next_step=next_step)
