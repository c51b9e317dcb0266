"""Python handlers: sync and async, limits, cancellation, clean error texts."""

from __future__ import annotations

import asyncio
import dataclasses
import datetime
import enum
import threading
import time
from typing import Any

import pytest

from agent_reach.backends.base import Backend, json_value
from agent_reach.backends.python import PythonBackend, ToolFailure
from agent_reach.records.tool import Tool
from agent_reach.records.trace import CallOutcome

READ = Tool(name="tool", server="s", effects=frozenset({"read"}))
WRITE = Tool(name="tool", server="s", effects=frozenset({"write"}))


def run(handler: Any, tool: Tool = WRITE, timeout: float | None = 5, **arguments: Any) -> CallOutcome:
    backend = PythonBackend({"s/tool": handler})
    assert isinstance(backend, Backend)
    return asyncio.run(backend.call(tool, arguments, timeout=timeout))


class Size(enum.Enum):
    BIG = "big"


@dataclasses.dataclass
class Order:
    id: int
    size: Size
    day: datetime.date


def test_sync_and_async_handlers_answer_with_json() -> None:
    async def later(x: int) -> list[Order]:
        await asyncio.sleep(0)
        return [Order(x, Size.BIG, datetime.date(2024, 3, 1))]

    expected = [{"id": 7, "size": "big", "day": "2024-03-01"}]
    assert run(later, x=7).value == expected
    sync = run(lambda x: [Order(x, Size.BIG, datetime.date(2024, 3, 1))], x=7)
    assert sync.value == expected
    assert sync.text == '[{"id": 7, "size": "big", "day": "2024-03-01"}]'
    assert sync.latency_ms is not None


def test_sync_handlers_run_beside_the_loop_and_each_other() -> None:
    barrier = threading.Barrier(2, timeout=5)
    backend = PythonBackend({"tool": lambda: barrier.wait() >= 0})

    async def both() -> list[CallOutcome]:
        return await asyncio.gather(backend.call(READ, {}), backend.call(READ, {}))

    assert [outcome.ok for outcome in asyncio.run(both())] == [True, True]


@pytest.mark.parametrize("raised", [SystemExit(7), asyncio.CancelledError("mine")])
@pytest.mark.parametrize("is_async", [True, False])
def test_a_handler_cannot_end_the_process(raised: BaseException, is_async: bool) -> None:
    def leave() -> None:
        raise raised

    async def leave_later() -> None:
        raise raised

    outcome = run(leave_later if is_async else leave)
    assert (outcome.status, outcome.error_kind) == ("failed", "tool_error")
    assert type(raised).__name__ in outcome.message


@pytest.mark.parametrize(("tool", "status"), [(READ, "failed"), (WRITE, "unknown")])
@pytest.mark.parametrize("is_async", [True, False])
def test_a_time_out_of_a_write_is_unknown(tool: Tool, status: str, is_async: bool) -> None:
    stopped = threading.Event()

    async def slow() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            stopped.set()

    outcome = run(slow if is_async else lambda: stopped.wait(2) and None, tool, timeout=0.05)
    assert (outcome.status, outcome.error_kind) == (status, "timeout")
    assert "s/tool" in outcome.message
    assert "0.05 s" in outcome.message
    assert stopped.is_set() == is_async
    stopped.set()


def test_exceptions_become_clean_text() -> None:
    def broken(**_: Any) -> None:
        raise ValueError("quantity must be positive\n")

    def missing(**_: Any) -> None:
        raise KeyError("PDT-9")

    def refused(**_: Any) -> None:
        raise PermissionError("not yours")

    def limited(**_: Any) -> None:
        raise ToolFailure("slow down", "rate_limited", retry_after=3)

    def bare(**_: Any) -> None:
        raise AssertionError

    assert run(broken).text == "quantity must be positive"
    assert (run(broken).status, run(broken).error_kind) == ("failed", "tool_error")
    assert run(missing).text == "KeyError: 'PDT-9'"
    assert run(refused).error_kind == "permission"
    assert (run(limited).error_kind, run(limited).retry_after) == ("rate_limited", 3.0)
    assert run(bare).text == "AssertionError"


def test_a_handlers_own_time_out_is_not_ours() -> None:
    def own() -> None:
        raise TimeoutError("upstream took too long")

    outcome = run(own, READ)
    assert (outcome.error_kind, outcome.text) == ("timeout", "TimeoutError: upstream took too long")


def test_arguments_that_the_function_cannot_take_are_refused_before_the_call() -> None:
    called = []
    outcome = run(lambda a: called.append(a), b=1)
    assert (outcome.error_kind, outcome.reached_backend) == ("argument", False)
    assert called == []


def test_unregistered_tools_and_ready_outcomes() -> None:
    outcome = asyncio.run(PythonBackend({}).call(READ, {}))
    assert (outcome.error_kind, outcome.reached_backend) == ("not_found", False)
    ready = CallOutcome(status="failed", error_kind="empty")
    assert run(lambda: ready) is ready


def test_cancelling_the_caller_cancels_the_handler() -> None:
    seen = []

    async def slow() -> None:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise

    async def main() -> None:
        task = asyncio.create_task(PythonBackend({"tool": slow}).call(READ, {}))
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert seen == ["cancelled"]


def test_a_function_that_never_returns_does_not_hold_the_loop() -> None:
    started = time.monotonic()
    release = threading.Event()
    run(lambda: release.wait(20), READ, timeout=0.02)
    release.set()
    assert time.monotonic() - started < 15


def test_json_value_survives_cycles_and_odd_values() -> None:
    loop: list[Any] = []
    loop.append(loop)
    assert "..." in str(json_value(loop))
    assert json_value({1: {b"x"}, "n": float("nan"), "g": (i for i in [1])}) == {
        "1": ["x"],
        "n": "nan",
        "g": [1],
    }
