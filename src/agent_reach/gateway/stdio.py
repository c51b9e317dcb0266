"""The gateway on stdin and stdout: lines in and out by callbacks of the event loop, the package's kernel in between.

The package's own transport carries each message through threads and four streams; here a line becomes a task and its answer
one write. The first request decides the era of the connection, as the package does it. While serving, stdout belongs to the
protocol alone: what anything else prints goes to stderr.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import sys
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, BinaryIO

from agent_reach.gateway.door import build_server
from agent_reach.wire.protocol import INTERNAL_ERROR, INVALID_REQUEST, PROTOCOL_VERSION_META

if TYPE_CHECKING:
    from agent_reach.gateway.gateway import Gateway

logger = logging.getLogger(__name__)

PARSE_ERROR = -32700
LINGER = 1.0
"""Seconds that running requests get when stdin has ended."""
_MOST_WAITING = 32 * 1024 * 1024


async def serve_stdio(gateway: Gateway, endpoint: str, wires: Wires) -> None:
    """Serve one client on this process's stdin and stdout until it closes its side."""
    await LineConnection(gateway, endpoint).serve(wires.reading, wires.writing)


class Wires:
    """Takes stdin and stdout out of the way of everything else in the process, for as long as the context lasts.

    Enter it before anything foreign is imported or started: from then on what is printed goes to stderr, and stdin is
    empty.
    """

    def __init__(self) -> None:
        sys.stdout.flush()
        self.reading: BinaryIO = os.fdopen(os.dup(0), "rb", buffering=0)
        self.writing: BinaryIO = os.fdopen(os.dup(1), "wb", buffering=0)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        os.dup2(2, 1)

    def __enter__(self) -> Wires:
        return self

    def __exit__(self, *_: object) -> None:
        sys.stdout.flush()
        for own, number in ((self.reading, 0), (self.writing, 1)):
            with contextlib.suppress(OSError, ValueError):  # closed with the connection
                os.dup2(own.fileno(), number)


@dataclass(slots=True)
class _Context:
    """The package's dispatch context for one message of this connection."""

    connection: LineConnection
    transport: Any
    request_id: Any
    progress_token: Any
    can_send_request: bool
    cancel_requested: Any
    message_metadata: Any = None
    closed: bool = False

    async def notify(self, method: str, params: Mapping[str, Any] | None, opts: Any = None) -> None:
        """Send a notification that belongs to this message."""
        if not self.closed:
            self.connection.write({"jsonrpc": "2.0", "method": method, **_params(params)})

    async def send_raw_request(
        self, method: str, params: Mapping[str, Any] | None, opts: Any = None
    ) -> dict[str, Any]:
        """Ask the client and wait for its answer."""
        from mcp.shared.exceptions import NoBackChannelError

        if not self.can_send_request or self.closed:
            raise NoBackChannelError(method)
        return await self.connection.send_raw_request(method, params, opts)

    async def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Report progress, if the client asked for it."""
        if self.progress_token is None:
            return
        params: dict[str, Any] = {"progressToken": self.progress_token, "progress": progress}
        if total is not None:
            params["total"] = total
        if message is not None:
            params["message"] = message
        await self.notify("notifications/progress", params)


@dataclass(slots=True)
class _Running:
    task: asyncio.Task[None]
    context: _Context
    by_client: bool = field(default=False)


class _Lines(asyncio.Protocol):
    """Cuts what arrives into lines."""

    def __init__(self, connection: LineConnection) -> None:
        self._connection = connection
        self._partial: list[bytes] = []
        self._size = 0
        self._skipping = False

    def data_received(self, data: bytes) -> None:
        start = 0
        while (end := data.find(b"\n", start)) >= 0:
            piece = data[start:end]
            start = end + 1
            if self._skipping:
                self._skipping = False
                continue
            if self._partial:
                piece = b"".join((*self._partial, piece))
                self._partial, self._size = [], 0
            self._connection.line_received(piece)
        rest = data[start:]
        if not rest or self._skipping:
            return
        self._partial.append(rest)
        self._size += len(rest)
        if self._size > self._connection.most_bytes:
            self._partial, self._size, self._skipping = [], 0, True
            self._connection.too_long()

    def eof_received(self) -> bool:
        if self._partial:
            self._connection.line_received(b"".join(self._partial))
            self._partial = []
        self._connection.ended.set()
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        self._connection.ended.set()


class LineConnection:
    """One client on a pair of pipes; also the package's dispatcher for it."""

    def __init__(self, gateway: Gateway, endpoint: str = "") -> None:
        self._gateway = gateway
        self._server = build_server(gateway, endpoint)
        self.most_bytes = gateway.settings.limits.request_bytes
        self.ended = asyncio.Event()
        self._output: Any = None
        self._modern: bool | None = None
        self._runner: Any = None
        self._legacy: Any = None
        self._outbound: Any = None
        self._running: dict[Any, _Running] = {}
        self._notifying: set[asyncio.Task[None]] = set()
        self._asked: dict[int, asyncio.Future[Any]] = {}
        self._next_id = 0
        self._tail: asyncio.Task[None] | None = None

    async def serve(self, reading: BinaryIO, writing: BinaryIO) -> None:
        """Serve until the client closes its side."""
        loop = asyncio.get_running_loop()
        self._output = await _writer(writing, self)
        transport = None
        try:
            transport, _ = await loop.connect_read_pipe(lambda: _Lines(self), reading)
        except ValueError:  # a file, or something else that cannot be waited for
            _read_in_thread(reading, _Lines(self), loop)
        try:
            await self.ended.wait()
            running = [one.task for one in self._running.values()]
            if running:
                await asyncio.wait(running, timeout=LINGER)
        finally:
            await self._finish()
            if transport is not None:
                transport.close()
            self._output.close()

    async def _finish(self) -> None:
        tasks = [one.task for one in self._running.values()] + list(self._notifying)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for future in self._asked.values():
            future.cancel()
        if self._legacy is not None:
            from mcp.server.runner import aclose_shielded

            await aclose_shielded(self._legacy)

    # -- in

    def line_received(self, line: bytes) -> None:
        """One line of the client."""
        line = line.strip()
        if not line:
            return
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            self._refuse(None, PARSE_ERROR, "Parse error")
            return
        for one in message if isinstance(message, list) else [message]:
            if isinstance(one, dict) and one.get("jsonrpc") == "2.0":
                self._received(one)
            else:
                self._refuse(None, INVALID_REQUEST, "Invalid request")

    def too_long(self) -> None:
        """A message was longer than allowed and is skipped."""
        self._refuse(None, INVALID_REQUEST, f"a message may have {self.most_bytes} bytes")

    def _received(self, message: dict[str, Any]) -> None:
        method, request_id = message.get("method"), message.get("id")
        if method is None:
            self._answered(message)
        elif not isinstance(method, str) or not isinstance(message.get("params", {}), Mapping):
            self._refuse(_plain_id(request_id), INVALID_REQUEST, "Invalid request")
        elif "id" not in message:
            self._notified(method, message.get("params"))
        elif _plain_id(request_id) is None:
            self._refuse(None, INVALID_REQUEST, "a request's id must be a text or a whole number")
        elif request_id in self._running:
            self._refuse(request_id, INVALID_REQUEST, "a request with this id is under way")
        else:
            self._requested(method, message.get("params"), request_id)

    def _requested(self, method: str, params: Mapping[str, Any] | None, request_id: Any) -> None:
        if self._modern is None:
            self._open(modern=method != "initialize" and _has_envelope(params))
        context = self._context(params, request_id)
        before = self._tail
        task = asyncio.get_running_loop().create_task(self._serve_request(method, params, context, before))
        self._running[request_id] = _Running(task, context)
        if method == "initialize":
            self._tail = task  # what is sent right behind it must find an open session

    def _open(self, *, modern: bool) -> None:
        from mcp.server.connection import Connection, NotifyOnlyOutbound
        from mcp.server.runner import ServerRunner

        self._modern = modern
        if modern:
            self._outbound = NotifyOnlyOutbound(self)
        else:
            self._legacy = Connection.for_loop(self)
            self._runner = ServerRunner(self._server, self._legacy, {})

    def _context(self, params: Mapping[str, Any] | None, request_id: Any) -> _Context:
        import anyio
        from mcp.shared.jsonrpc_dispatcher import progress_token_from_params
        from mcp.shared.transport_context import TransportContext

        return _Context(
            connection=self,
            transport=TransportContext(kind="stdio", can_send_request=not self._modern),
            request_id=request_id,
            progress_token=progress_token_from_params(params),
            can_send_request=not self._modern,
            cancel_requested=anyio.Event(),
        )

    async def _serve_request(
        self,
        method: str,
        params: Mapping[str, Any] | None,
        context: _Context,
        before: asyncio.Task[None] | None,
    ) -> None:
        reply: dict[str, Any] = {"jsonrpc": "2.0", "id": context.request_id}
        try:
            if before is not None and not before.done():
                await asyncio.wait([before])
            reply["result"] = await self._result(method, params, context)
        except asyncio.CancelledError:
            reply = {}
            raise
        except Exception as error:
            reply["error"] = _error(error, method)
        finally:
            context.closed = True
            self._running.pop(context.request_id, None)
            if reply and not context.cancel_requested.is_set():
                self.write(reply)

    async def _result(
        self, method: str, params: Mapping[str, Any] | None, context: _Context
    ) -> dict[str, Any]:
        from mcp.shared.exceptions import MCPError

        if not self._modern:
            if method != "initialize" and _has_envelope(params):
                raise MCPError(
                    INVALID_REQUEST,
                    "this connection began with a handshake; requests that carry the version by themselves are not taken",
                )
            legacy: dict[str, Any] = await self._runner.on_request(context, method, params)
            return legacy
        return await self._modern_result(method, params, context)

    async def _modern_result(
        self, method: str, params: Mapping[str, Any] | None, context: _Context
    ) -> dict[str, Any]:
        from mcp.server.connection import Connection
        from mcp.server.runner import serve_one
        from mcp.shared.exceptions import MCPError
        from mcp.shared.inbound import InboundLadderRejection, classify_inbound_request
        from mcp_types import UNSUPPORTED_PROTOCOL_VERSION

        from agent_reach.wire.protocol import MODERN_VERSIONS

        if method == "initialize":
            requested = (params or {}).get("protocolVersion")
            data = {"supported": list(MODERN_VERSIONS)}
            raise MCPError(
                UNSUPPORTED_PROTOCOL_VERSION,
                "this connection began without a handshake and goes on without",
                {**data, "requested": requested} if isinstance(requested, str) else data,
            )
        route = classify_inbound_request({"method": method, "params": params})
        if isinstance(route, InboundLadderRejection):
            raise MCPError(route.code, route.message, route.data)
        connection = Connection.from_envelope(
            route.protocol_version, route.client_info, route.client_capabilities, outbound=self._outbound
        )
        return await serve_one(
            self._server, context, method, params, connection=connection, lifespan_state={}
        )

    def _notified(self, method: str, params: Any) -> None:
        if method == "notifications/cancelled":
            running = self._running.get((params or {}).get("requestId"))
            if running is not None:
                running.context.cancel_requested.set()
                running.task.cancel()
        if self._runner is not None:
            task = asyncio.get_running_loop().create_task(self._notify_runner(method, params))
            self._notifying.add(task)
            task.add_done_callback(self._notifying.discard)

    async def _notify_runner(self, method: str, params: Any) -> None:
        if self._tail is not None and not self._tail.done():
            await asyncio.wait([self._tail])
        await self._runner.on_notify(self._context(None, None), method, params)

    def _answered(self, message: Mapping[str, Any]) -> None:
        """The client's answer to a question of ours."""
        number = message.get("id")
        future = self._asked.pop(number, None) if type(number) is int else None
        if future is None or future.done():
            return
        if "error" in message:
            from mcp.shared.exceptions import MCPError

            error = message["error"] if isinstance(message["error"], Mapping) else {}
            code = error.get("code")
            future.set_exception(
                MCPError(
                    code if isinstance(code, int) else INTERNAL_ERROR,
                    str(error.get("message", "")),
                    error.get("data"),
                )
            )
        else:
            result = message.get("result")
            future.set_result(result if isinstance(result, dict) else {})

    # -- out

    async def send_raw_request(
        self, method: str, params: Mapping[str, Any] | None, opts: Any = None
    ) -> dict[str, Any]:
        """Ask the client and wait for its answer; it is told when nobody waits any more."""
        self._next_id += 1
        number = self._next_id
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._asked[number] = future
        self.write({"jsonrpc": "2.0", "id": number, "method": method, **_params(params)})
        try:
            async with asyncio.timeout((opts or {}).get("timeout")):
                answer: dict[str, Any] = await future
                return answer
        except (asyncio.CancelledError, TimeoutError):
            self.write(
                {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}}
            )
            raise
        finally:
            self._asked.pop(number, None)

    async def notify(self, method: str, params: Mapping[str, Any] | None, opts: Any = None) -> None:
        """Send a notification."""
        self.write({"jsonrpc": "2.0", "method": method, **_params(params)})

    def write(self, message: Mapping[str, Any]) -> None:
        """Send one message; a client that does not read is given up once much is waiting for it."""
        if self._output is None or self._output.is_closing():
            return
        self._output.write(_line(message))
        if self._output.get_write_buffer_size() > _MOST_WAITING + self.most_bytes * 16:
            self._output.abort()
            self.ended.set()

    def _refuse(self, request_id: Any, code: int, text: str) -> None:
        self.write({"jsonrpc": "2.0", "id": request_id, "error": {"code": code, "message": text}})


class _Sink(asyncio.BaseProtocol):
    """Notices that the client has stopped reading for good."""

    def __init__(self, connection: LineConnection) -> None:
        self._connection = connection

    def connection_lost(self, exc: Exception | None) -> None:
        self._connection.ended.set()


class _FileOutput:
    """Writes to a file where a pipe was expected."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._closed = False

    def write(self, data: bytes) -> None:
        """Write all of it."""
        view = memoryview(data)
        while view:
            view = view[self._file.write(view) or 0 :]

    def is_closing(self) -> bool:
        """Whether it was closed."""
        return self._closed

    def get_write_buffer_size(self) -> int:
        """Nothing waits."""
        return 0

    def abort(self) -> None:
        """Close it."""
        self._closed = True

    close = abort


async def _writer(writing: BinaryIO, connection: LineConnection) -> Any:
    try:
        transport, _ = await asyncio.get_running_loop().connect_write_pipe(lambda: _Sink(connection), writing)
    except ValueError:
        return _FileOutput(writing)
    return transport


def _read_in_thread(reading: BinaryIO, lines: _Lines, loop: asyncio.AbstractEventLoop) -> None:
    def read() -> None:
        try:
            for line in iter(reading.readline, b""):
                loop.call_soon_threadsafe(lines.data_received, line)
            loop.call_soon_threadsafe(lines.eof_received)
        except (RuntimeError, ValueError):
            return  # the loop has ended

    threading.Thread(target=read, name="agent-reach-stdin", daemon=True).start()


def _params(params: Mapping[str, Any] | None) -> dict[str, Any]:
    return {} if params is None else {"params": params}


def _plain_id(value: Any) -> Any:
    return value if isinstance(value, (str, int)) and not isinstance(value, bool) else None


def _has_envelope(params: Any) -> bool:
    meta = params.get("_meta") if isinstance(params, Mapping) else None
    return isinstance(meta, Mapping) and PROTOCOL_VERSION_META in meta


def _error(error: Exception, method: str) -> dict[str, Any]:
    """The error object of an exception; only what was meant for the client is told."""
    from mcp.shared.jsonrpc_dispatcher import handler_exception_to_error_data

    known = handler_exception_to_error_data(error)
    if known is None:
        logger.error("a request of %s failed", method, exc_info=error)
        return {"code": INTERNAL_ERROR, "message": "internal error of the gateway"}
    dumped: dict[str, Any] = known.model_dump(by_alias=True, mode="json", exclude_none=True)
    return dumped


def _line(message: Mapping[str, Any]) -> bytes:
    text = json.dumps(message, ensure_ascii=False, separators=(",", ":"))
    try:
        return text.encode() + b"\n"
    except UnicodeEncodeError:
        return json.dumps(message, separators=(",", ":")).encode() + b"\n"
