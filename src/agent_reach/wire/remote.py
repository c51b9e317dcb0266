"""Messages over HTTP: streamable HTTP, and the older SSE, on the transports of the `mcp` package.

The transport runs in a task of its own, so that its failure ends this channel and not the caller. What HTTP knows and
the protocol does not (status, Retry-After, whether a request left at all) is caught at the HTTP client and told to the
peer beside the answer.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import ssl
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from agent_reach.errors import ServerError
from agent_reach.records.finding import Finding
from agent_reach.wire.channel import Receiver
from agent_reach.wire.http_facts import (
    NEVER_LEFT,
    describe,
    proxy_for,
    public_address,
    retry_after_seconds,
    status_text,
)
from agent_reach.wire.protocol import Message
from agent_reach.wire.servers import ServerConfig

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

MAX_EVENT = 64 * 1024 * 1024
"""Bytes in one server-sent event."""
_CONNECT_TIMEOUT = 15.0
_LONG = 24 * 3600.0


class RemoteChannel:
    """A server behind an address."""

    def __init__(
        self,
        config: ServerConfig,
        kind: Literal["http", "sse"],
        open_address: Callable[[str], Awaitable[None]] | None = None,
    ) -> None:
        self._config = config
        self._kind = kind
        self._open_address = open_address
        self._receiver: Receiver | None = None
        self._outgoing: asyncio.Queue[tuple[Message, Mapping[str, str] | None]] = asyncio.Queue()
        self._task: asyncio.Task[None] | None = None
        self._ready: asyncio.Future[None] | None = None
        self._greeted = False
        self._statuses: dict[int, tuple[int, float | None]] = {}

    async def open(self, receiver: Receiver) -> None:
        """Make the connection (SSE), or be ready to (streamable HTTP connects with the first request)."""
        self._receiver = receiver
        loop = asyncio.get_running_loop()
        self._ready = loop.create_future()
        self._task = loop.create_task(self._run(), name=f"agent-reach-{self._config.name}")
        await asyncio.shield(self._ready)

    def send(self, message: Message, headers: Mapping[str, str] | None = None) -> None:
        """Queue one message."""
        if message.get("method") == "notifications/initialized":
            self._greeted = True
        if self._task is not None and not self._task.done():
            self._outgoing.put_nowait((message, headers))

    async def close(self) -> None:
        """End the transport; it says good-bye to the server itself."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError, Exception):
                await self._task

    def stderr_tail(self) -> str:
        """HTTP has none."""
        return ""

    def findings(self) -> tuple[Finding, ...]:
        """Nothing is odd about HTTP that is not told with its request."""
        return ()

    async def _run(self) -> None:
        reason = "the connection ended"
        try:
            await self._converse()
        except asyncio.CancelledError:
            reason = "the session was closed"
            raise
        except BaseException as error:
            cause = _root(error)
            reason = f"the connection failed: {describe(cause)}"
            if self._ready is not None and not self._ready.done():
                self._ready.set_exception(self._open_error(cause))
            if isinstance(error, (KeyboardInterrupt, SystemExit)):
                raise
        finally:
            if self._ready is not None and not self._ready.done():
                self._ready.cancel()
            if self._receiver is not None:
                self._receiver.lost(reason)

    async def _converse(self) -> None:
        async with contextlib.AsyncExitStack() as stack:
            reading, writing = await self._transport(stack)
            if self._ready is not None and not self._ready.done():
                self._ready.set_result(None)
            sender = asyncio.ensure_future(self._send_all(writing))
            try:
                async for item in reading:
                    self._received(item)
            finally:
                sender.cancel()
                with contextlib.suppress(asyncio.CancelledError, Exception):
                    await sender

    async def _transport(self, stack: contextlib.AsyncExitStack) -> tuple[Any, Any]:
        import httpx2

        from agent_reach.wire.oauth import oauth_provider

        provider = oauth_provider(self._config, self._open_address)
        limits = httpx2.Timeout(_CONNECT_TIMEOUT, read=_LONG, write=60.0, pool=None)

        def client(
            headers: dict[str, str] | None = None,
            timeout: httpx2.Timeout | None = None,
            auth: httpx2.Auth | None = None,
        ) -> httpx2.AsyncClient:
            return httpx2.AsyncClient(
                headers={**self._config.headers, **(headers or {})},
                auth=auth or provider,
                timeout=timeout or limits,
                transport=_watching_transport(self, self._config),
                follow_redirects=False,
                event_hooks={"response": [self._responded]},
            )

        if self._kind == "http":
            from mcp.client.streamable_http import streamable_http_client

            http_client = await stack.enter_async_context(client())
            return await stack.enter_async_context(
                streamable_http_client(
                    self._config.url, http_client=http_client, max_sse_event_size=MAX_EVENT
                )
            )
        from mcp.client.sse import sse_client

        return await stack.enter_async_context(
            sse_client(
                self._config.url,
                timeout=_CONNECT_TIMEOUT,
                sse_read_timeout=_LONG,
                httpx_client_factory=client,
            )
        )

    async def _send_all(self, writing: Any) -> None:
        import anyio
        from mcp.shared.message import ClientMessageMetadata, SessionMessage
        from mcp_types import jsonrpc_message_adapter

        while True:
            message, headers = await self._outgoing.get()
            metadata = ClientMessageMetadata(headers=dict(headers)) if headers else None
            try:
                parsed = jsonrpc_message_adapter.validate_python(message, by_name=False)
                await writing.send(SessionMessage(parsed, metadata=metadata))
            except Exception as error:
                reason = f"the request could not be sent: {describe(error)}"
                request_id = message.get("id")
                if "method" in message and isinstance(request_id, int) and self._receiver is not None:
                    self._receiver.refused(request_id, reason, status=None, retry_after=None, sent=False)
                if isinstance(error, (anyio.ClosedResourceError, anyio.BrokenResourceError)):
                    if self._receiver is not None:
                        self._receiver.lost("the transport ended")
                    return

    def _received(self, item: Any) -> None:
        if self._receiver is None or isinstance(item, Exception):
            return
        message = item.message.model_dump(by_alias=True, mode="json", exclude_unset=True)
        request_id = message.get("id")
        if "error" in message and isinstance(request_id, int):
            status = self._statuses.pop(request_id, None)
            if status is not None and self._tell_status(request_id, message["error"], *status):
                return
            if message["error"].get("code") == -32000 and status is None:
                self._receiver.refused(
                    request_id,
                    str(message["error"].get("message")),
                    status=None,
                    retry_after=None,
                    sent=True,
                )
                return
        self._receiver.receive(message)

    def _tell_status(
        self, request_id: int, error: Mapping[str, Any], status: int, retry_after: float | None
    ) -> bool:
        """Whether the HTTP status says more than the error that the transport made of it."""
        if self._receiver is None:
            return False
        text = status_text(status)
        if (
            status == 404 and self._greeted
        ):  # so a server of the older era says that it does not know the session
            reason = "the server has ended the session"
            self._receiver.refused(request_id, f"{text}: {reason}", status=None, retry_after=None, sent=False)
            self._receiver.lost(reason)
            return True
        if str(error.get("message")) not in ("Server returned an error response", "Not Found"):
            return False
        self._receiver.refused(request_id, text, status=status, retry_after=retry_after, sent=True)
        return True

    async def _responded(self, response: Any) -> None:
        """Note the status of the answer to each request."""
        request_id = _request_id(response.request)
        if self._kind == "sse":
            self._refused_by_sse(response, request_id)
        elif request_id is not None and response.status_code < 400:
            self._statuses.pop(request_id, None)
        elif request_id is not None:
            retry_after = retry_after_seconds(response.headers.get("retry-after"))
            self._statuses[request_id] = (response.status_code, retry_after)

    def _refused_by_sse(self, response: Any, request_id: int | None) -> None:
        """Tell the one request that was refused; the package's transport would end the session with it."""
        status = response.status_code
        unauthorized = status == 401 and self._config.oauth is not None
        if response.request.method != "POST" or status < 400 or unauthorized or self._receiver is None:
            return
        if request_id is not None:
            retry_after = retry_after_seconds(response.headers.get("retry-after"))
            self._receiver.refused(
                request_id, status_text(status), status=status, retry_after=retry_after, sent=True
            )
        response.status_code = 202

    def undeliverable(self, request: Any, error: Exception) -> bool:
        """A request that failed on its way; True if somebody waited for it and was told."""
        request_id = _request_id(request)
        if request_id is None or self._receiver is None:
            return False
        sent = type(error).__name__ not in NEVER_LEFT
        self._receiver.refused(request_id, describe(error), status=None, retry_after=None, sent=sent)
        return True

    def _open_error(self, cause: BaseException) -> ServerError:
        if isinstance(cause, ServerError):
            return cause
        response = getattr(cause, "response", None)
        if response is not None:
            from agent_reach.wire.failures import RequestRefused

            status = response.status_code
            return RequestRefused(
                status_text(status),
                http_status=status,
                where=self._config.label,
            )
        return ServerError(
            f"{public_address(self._config.url)} cannot be reached: {describe(cause)}",
            where=self._config.label,
            next_step="check the address, and that the server runs",
        )


def _root(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup) and error.exceptions:
        error = error.exceptions[0]
    return error


def _request_id(request: Any) -> int | None:
    """The id of the JSON-RPC request that an HTTP request carries."""
    if request.method != "POST":
        return None
    try:
        body = json.loads(request.content)
    except Exception:
        return None
    request_id = body.get("id") if isinstance(body, dict) and "method" in body else None
    return request_id if type(request_id) is int else None


def _watching_transport(channel: RemoteChannel, config: ServerConfig) -> Any:
    """An HTTP transport that turns a failed delivery into an answer, so that one request fails and not the session."""
    import httpx2

    class Watching(httpx2.AsyncHTTPTransport):
        async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
            try:
                return await super().handle_async_request(request)
            except httpx2.TransportError as error:
                if not channel.undeliverable(request, error):
                    raise
                return httpx2.Response(204, request=request)

    authorities = config.env.get("SSL_CERT_FILE")
    verify: Any = True
    if authorities and config.url.startswith("https:"):
        verify = ssl.create_default_context(cafile=authorities)
    return Watching(verify=verify, trust_env=False, proxy=proxy_for(config.url, config.env))
