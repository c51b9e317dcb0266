"""Requests and their answers on one connection: ids, limits, progress, cancellation, what the server asks by itself.

An answer goes to the request whose id it carries, by value and type, and to no other; an answer that nobody waits for
is counted and dropped. Nothing here knows what a request means.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from agent_reach.records.finding import Finding
from agent_reach.records.message import Message as Sentence
from agent_reach.wire.channel import Channel
from agent_reach.wire.failures import ConnectionLost, RequestRefused, RequestTimedOut
from agent_reach.wire.protocol import (
    INTERNAL_ERROR,
    METHOD_NOT_FOUND,
    NEVER_CANCELLED,
    Message,
    notification_message,
    request_message,
)

OnProgress = Callable[[Mapping[str, Any]], None]
"""Told each progress notification of a call: `progress`, `total`, `message`."""
OnNotification = Callable[[str, Mapping[str, Any]], None]
OnRequest = Callable[[str, Mapping[str, Any]], Awaitable[Mapping[str, Any]]]
"""Answers a request of the server; raises `RequestRefused` to refuse it."""

_REMEMBERED = 1024


@dataclass(slots=True, eq=False)
class _Waiting:
    method: str
    future: asyncio.Future[Any]
    started: float
    limit: float | None
    max_total: float | None
    deadline: float = 0.0
    timer: asyncio.TimerHandle | None = None
    on_progress: OnProgress | None = None


class Peer:
    """Our side of one connection; also the `Receiver` of its channel."""

    def __init__(
        self,
        channel: Channel,
        *,
        label: str,
        on_notification: OnNotification | None = None,
        on_request: OnRequest | None = None,
    ) -> None:
        self._channel = channel
        self._label = label
        self._on_notification = on_notification
        self._on_request = on_request
        self._next_id = 0
        self._waiting: dict[int, _Waiting] = {}
        self._given_up: OrderedDict[int, None] = OrderedDict()
        self._unknown_answers: list[Any] = []
        self._unknown_count = 0
        self._lost_reason = ""
        self._answering: dict[Any, asyncio.Task[None]] = {}
        self._listener_error = ""
        self.on_lost: Callable[[str], None] | None = None

    @property
    def lost_reason(self) -> str:
        """Why the connection ended; empty while it lives."""
        return self._lost_reason

    @property
    def in_flight(self) -> int:
        """How many requests wait for an answer."""
        return len(self._waiting)

    async def request(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        timeout: float | None = None,
        max_total: float | None = None,
        on_progress: OnProgress | None = None,
        want_progress: bool = False,
        headers: Mapping[str, str] | None = None,
    ) -> Any:
        """The `result` of a request.

        `timeout` in seconds starts anew with each progress notification, up to `max_total` in all. On a time-out, or when
        the waiting task is cancelled, the server is told once. Raises `RequestFailure`.
        """
        if self._lost_reason:
            raise ConnectionLost(self._lost_reason, sent=False, where=self._label)
        self._next_id += 1
        request_id = self._next_id
        if want_progress or on_progress is not None:
            params = _with_progress_token(params, request_id)
        waiting = _Waiting(
            method=method,
            future=asyncio.get_running_loop().create_future(),
            started=time.monotonic(),
            limit=timeout,
            max_total=max_total,
            on_progress=on_progress,
        )
        self._waiting[request_id] = waiting
        self._arm(request_id, waiting)
        try:
            self._channel.send(request_message(request_id, method, params), headers)
            return await waiting.future
        except asyncio.CancelledError:
            self._give_up(request_id, waiting, "the caller gave up")
            raise
        finally:
            self._waiting.pop(request_id, None)
            if waiting.timer is not None:
                waiting.timer.cancel()

    def notify(self, method: str, params: Mapping[str, Any] | None = None) -> None:
        """Send a notification; nothing answers it."""
        if not self._lost_reason:
            self._channel.send(notification_message(method, params))

    def receive(self, message: Message) -> None:
        """One message from the server."""
        method = message.get("method")
        if method is None:
            self._answered(message)
        elif "id" in message:
            self._asked(message)
        else:
            self._notified(str(method), _mapping(message.get("params")))

    def lost(self, reason: str) -> None:
        """The connection ended: every waiting request learns it."""
        if self._lost_reason:
            return
        self._lost_reason = reason
        for waiting in list(self._waiting.values()):
            if not waiting.future.done():
                waiting.future.set_exception(ConnectionLost(reason, where=self._label))
        for task in list(self._answering.values()):
            task.cancel()
        if self.on_lost is not None:
            self.on_lost(reason)

    def refused(
        self, request_id: int, message: str, *, status: int | None, retry_after: float | None, sent: bool
    ) -> None:
        """One request failed below the protocol."""
        waiting = self._waiting.get(request_id)
        if waiting is None or waiting.future.done():
            return
        self._given_up[request_id] = None  # what the transport makes of it later is of no interest
        error: Exception
        if status is None:
            error = ConnectionLost(message, sent=sent, where=self._label)
        else:
            error = RequestRefused(message, http_status=status, retry_after=retry_after, where=self._label)
        waiting.future.set_exception(error)

    def findings(self) -> tuple[Finding, ...]:
        """Answers that belonged to no request, and a listener of ours that failed."""
        found = []
        if self._unknown_count:
            ids = ", ".join(repr(item) for item in self._unknown_answers)
            found.append(
                self._finding(
                    "unknown_answer",
                    f"{self._unknown_count} answers carried an id that was never sent and were dropped: {ids}",
                    f"有 {self._unknown_count} 个应答的 id 从未发送过，已丢弃：{ids}",
                    count=self._unknown_count,
                    ids=list(self._unknown_answers),
                )
            )
        if self._listener_error:
            found.append(
                self._finding(
                    "listener_failed",
                    f"whoever was told of the server's notifications failed: {self._listener_error}",
                    f"接收服务器通知的一方出错：{self._listener_error}",
                )
            )
        return tuple(found)

    def _finding(self, code: str, en: str, zh: str, **data: Any) -> Finding:
        return Finding(
            code=code, severity="warning", subject=self._label, message=Sentence(en, zh), data=data
        )

    def _arm(self, request_id: int, waiting: _Waiting) -> None:
        limits = [limit for limit in (waiting.limit, waiting.max_total) if limit is not None]
        if limits:
            waiting.deadline = waiting.started + min(limits)
            loop = asyncio.get_running_loop()
            waiting.timer = loop.call_later(min(limits), self._expired, request_id, waiting)

    def _expired(self, request_id: int, waiting: _Waiting) -> None:
        now = time.monotonic()
        if waiting.future.done():
            return
        if waiting.deadline - now > 0.001:  # progress moved the deadline since the timer was set
            loop = asyncio.get_running_loop()
            waiting.timer = loop.call_later(waiting.deadline - now, self._expired, request_id, waiting)
            return
        self._give_up(request_id, waiting, "the time limit was reached")
        elapsed = now - waiting.started
        at_maximum = waiting.max_total is not None and elapsed >= waiting.max_total - 0.001
        limit = waiting.max_total if at_maximum else waiting.limit
        waiting.future.set_exception(
            RequestTimedOut(waiting.method, elapsed, limit or elapsed, where=self._label)
        )

    def _progressed(self, params: Mapping[str, Any]) -> None:
        token = params.get("progressToken")
        waiting = self._waiting.get(token) if type(token) is int else None
        if waiting is None:
            return
        if waiting.limit is not None:
            waiting.deadline = time.monotonic() + waiting.limit
            if waiting.max_total is not None:
                waiting.deadline = min(waiting.deadline, waiting.started + waiting.max_total)
        if waiting.on_progress is not None:
            self._tell(waiting.on_progress, params)

    def _give_up(self, request_id: int, waiting: _Waiting, reason: str) -> None:
        if request_id in self._given_up or self._lost_reason or _settled(waiting.future):
            return
        self._given_up[request_id] = None
        if len(self._given_up) > _REMEMBERED:
            self._given_up.popitem(last=False)
        if waiting.method not in NEVER_CANCELLED:
            self.notify("notifications/cancelled", {"requestId": request_id, "reason": reason})

    def _answered(self, message: Message) -> None:
        request_id = message.get("id")
        if type(request_id) is float and request_id.is_integer():
            request_id = int(request_id)  # the same JSON number, as some languages write it
        waiting = self._waiting.get(request_id) if type(request_id) is int else None
        if waiting is None:
            if type(request_id) is int and request_id in self._given_up:
                return
            self._unknown_count += 1
            if len(self._unknown_answers) < 5:
                self._unknown_answers.append(request_id)
            return
        if waiting.future.done():
            return
        if "error" in message:
            waiting.future.set_exception(refusal(message["error"], where=self._label))
        else:
            waiting.future.set_result(message.get("result"))

    def _asked(self, message: Message) -> None:
        key = repr(message.get("id"))
        task = asyncio.get_running_loop().create_task(self._answer(message))
        self._answering[key] = task
        task.add_done_callback(lambda _: self._answering.pop(key, None))

    async def _answer(self, message: Message) -> None:
        method = str(message["method"])
        reply: Message = {"jsonrpc": "2.0", "id": message.get("id")}
        try:
            if method == "ping":
                reply["result"] = {}
            elif self._on_request is None:
                raise RequestRefused(f"this client does not offer {method}", code=METHOD_NOT_FOUND)
            else:
                reply["result"] = await self._on_request(method, _mapping(message.get("params")))
        except RequestRefused as error:
            reply["error"] = {"code": error.code or INTERNAL_ERROR, "message": error.message}
            if error.data is not None:
                reply["error"]["data"] = error.data
        except Exception:
            reply["error"] = {"code": INTERNAL_ERROR, "message": "the client could not answer"}
        self._channel.send(reply)

    def _notified(self, method: str, params: Mapping[str, Any]) -> None:
        if method == "notifications/progress":
            self._progressed(params)
        elif method == "notifications/cancelled":
            task = self._answering.get(repr(params.get("requestId")))
            if task is not None:
                task.cancel()  # the server no longer wants the answer to its own question
        if self._on_notification is not None:
            self._tell(self._on_notification, method, params)

    def _tell(self, listener: Callable[..., None], *facts: Any) -> None:
        """Call a listener; its failure must not cost the messages that came with this one."""
        try:
            listener(*facts)
        except Exception as error:
            self._listener_error = self._listener_error or f"{type(error).__name__}: {error}"


def refusal(error: Any, *, where: str = "") -> RequestRefused:
    """The exception for a JSON-RPC error object, however malformed."""
    fields = _mapping(error)
    code = fields.get("code")
    data = fields.get("data")
    text = fields.get("message") or (error if isinstance(error, str) else "") or "the server gave no reason"
    return RequestRefused(
        str(text), code=code if isinstance(code, int) else INTERNAL_ERROR, data=data, where=where
    )


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _settled(future: asyncio.Future[Any]) -> bool:
    return future.done() and not future.cancelled()


def _with_progress_token(params: Mapping[str, Any] | None, token: int) -> dict[str, Any]:
    meta = _mapping((params or {}).get("_meta"))
    return {**(params or {}), "_meta": {**meta, "progressToken": token}}
