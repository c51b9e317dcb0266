"""Calls executed by Python functions, sync or async, in this process.

A sync function runs in a thread of its own; Python cannot stop a thread, so after a time-out the function goes on
unseen (the outcome says `unknown` unless the tool only reads). It does not check arguments against the schema: the
caller did; only a call that the function's signature cannot take is refused here.
"""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from agent_reach.backends.base import failure, is_cancelled, success
from agent_reach.records.tool import Tool
from agent_reach.records.trace import ERROR_KINDS, CallOutcome, ErrorKind

Handler = Callable[..., Any]


class ToolFailure(Exception):
    """Raised by a handler to fail its call with an error kind of its own (`rate_limited`, `permission`, ...)."""

    def __init__(
        self, message: str, kind: ErrorKind = "tool_error", *, retry_after: float | None = None
    ) -> None:
        super().__init__(message)
        self.error_kind: ErrorKind = kind
        self.retry_after = retry_after


class PythonBackend:
    """Executes calls with the function registered for the tool's key (or name).

    Arguments are passed by keyword. A returned `CallOutcome` is passed on as it is; any other value becomes JSON. An
    exception is `tool_error` with its text and without traceback; `PermissionError`, `TimeoutError` and exceptions
    with an `error_kind` keep their kind. `timeout` is the default limit in seconds, None for none.
    """

    def __init__(self, handlers: Mapping[str, Handler], *, timeout: float | None = None) -> None:
        self._handlers = dict(handlers)
        self._timeout = timeout

    async def call(
        self, tool: Tool, arguments: Mapping[str, Any], *, call_id: str = "", timeout: float | None = None
    ) -> CallOutcome:
        """Call the function of `tool`."""
        handler = self._handlers.get(tool.key) or self._handlers.get(tool.name)
        if handler is None:
            return failure("not_found", f"no Python function is registered for {tool.key!r}", sent=False)
        mismatch = _signature_problem(handler, arguments)
        if mismatch:
            return failure("argument", mismatch, sent=False)
        limit = self._timeout if timeout is None else timeout
        started = time.perf_counter()
        try:
            async with asyncio.timeout(limit) as scope:
                value = await _run(handler, arguments)
        except TimeoutError as error:
            elapsed = time.perf_counter() - started
            text = (
                f"{tool.key} gave no answer within {limit:g} s ({elapsed:.1f} s elapsed)"
                if scope.expired() and limit is not None
                else error_text(error)
            )
            return failure("timeout", text, tool=tool, latency_ms=elapsed * 1000)
        except (Exception, SystemExit, asyncio.CancelledError) as error:
            if isinstance(error, asyncio.CancelledError) and is_cancelled():
                raise
            return _failed(error, tool, started)
        latency = (time.perf_counter() - started) * 1000
        if isinstance(value, CallOutcome):
            return value
        try:
            return success(value, latency_ms=latency)
        except Exception as error:
            return failure(
                "malformed_result",
                f"the result of {tool.key} has no JSON form: {error_text(error)}",
                latency_ms=latency,
            )

    async def aclose(self) -> None:
        """Nothing to give back."""


def error_text(error: BaseException) -> str:
    """An exception as one clean sentence: its own text where it has one, else its type; never a traceback."""
    detail = str(error).strip()
    if isinstance(error, KeyError) and error.args:
        return f"KeyError: {error.args[0]!r}"
    if not detail:
        return type(error).__name__
    if isinstance(error, (ToolFailure, ValueError, RuntimeError, LookupError)):
        return detail
    return f"{type(error).__name__}: {detail}"


def _failed(error: BaseException, tool: Tool, started: float) -> CallOutcome:
    kind: Any = getattr(error, "error_kind", None)
    if kind not in ERROR_KINDS:
        kind = "permission" if isinstance(error, PermissionError) else "tool_error"
    retry_after = getattr(error, "retry_after", None)
    return failure(
        kind,
        error_text(error),
        tool=tool,
        latency_ms=(time.perf_counter() - started) * 1000,
        retry_after=float(retry_after) if isinstance(retry_after, (int, float)) else None,
        metadata={"exception": type(error).__name__},
    )


def _signature_problem(handler: Handler, arguments: Mapping[str, Any]) -> str:
    try:
        signature = inspect.signature(handler)
    except (TypeError, ValueError):
        return ""
    try:
        signature.bind(**arguments)
    except TypeError as error:
        return str(error)
    return ""


async def _run(handler: Handler, arguments: Mapping[str, Any]) -> Any:
    if inspect.iscoroutinefunction(handler) or inspect.iscoroutinefunction(
        getattr(handler, "__call__", None)  # noqa: B004
    ):
        return await handler(**arguments)
    value = await _in_thread(handler, arguments)
    return await value if inspect.isawaitable(value) else value


async def _in_thread(handler: Handler, arguments: Mapping[str, Any]) -> Any:
    """Run in a daemon thread, so that a function that never returns cannot keep the process from ending."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Any] = loop.create_future()
    context = contextvars.copy_context()

    def deliver(set_result: Callable[[Any], None], value: Any) -> None:
        if not future.done():
            set_result(value)

    def work() -> None:
        outcome: tuple[Callable[[Any], None], Any]
        try:
            value = context.run(handler, **arguments)
        except (StopIteration, SystemExit, asyncio.CancelledError) as error:
            outcome = (future.set_exception, RuntimeError(f"{type(error).__name__}: {error}"))
        except BaseException as error:
            outcome = (future.set_exception, error)
        else:
            outcome = (future.set_result, value)
        try:
            loop.call_soon_threadsafe(deliver, *outcome)
        except RuntimeError:
            return  # the loop is closed: nobody waits any more

    threading.Thread(target=work, name="agent-reach-tool", daemon=True).start()
    return await future
