"""Wrappers: planted faults, limits of time, place and size, and the guard before writes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_reach.backends.base import success
from agent_reach.backends.faults import FaultsBackend
from agent_reach.backends.limits import LimitsBackend, cut_result
from agent_reach.backends.python import PythonBackend
from agent_reach.backends.recorded import RecordedBackend
from agent_reach.backends.write_guard import WriteGuard
from agent_reach.config.settings import FaultRule
from agent_reach.records.task import RecordedResult, Task
from agent_reach.records.tool import Tool
from agent_reach.records.trace import CallOutcome

READ = Tool(name="read", server="s", effects=frozenset({"read"}))
WRITE = Tool(name="write", server="s")


class Counting:
    """A backend that counts what reaches it."""

    def __init__(self, value: Any = "value") -> None:
        self.calls: list[tuple[str, Mapping[str, Any]]] = []
        self.value = value
        self.running = 0
        self.most = 0
        self.closed = 0

    async def call(
        self, tool: Tool, arguments: Mapping[str, Any], *, call_id: str = "", timeout: float | None = None
    ) -> CallOutcome:
        self.calls.append((tool.key, arguments))
        self.running += 1
        self.most = max(self.most, self.running)
        await asyncio.sleep(0.01)
        self.running -= 1
        return success(self.value)

    async def aclose(self) -> None:
        self.closed += 1


def outcomes(backend: Any, tool: Tool = READ, count: int = 1, **arguments: Any) -> list[CallOutcome]:
    async def main() -> list[CallOutcome]:
        return [await backend.call(tool, arguments, timeout=5) for _ in range(count)]

    return asyncio.run(main())


def test_a_rate_limit_on_named_calls() -> None:
    inner = Counting()
    rule = FaultRule(tool="s/re*", kind="rate_limited", calls=(1, 3), retry_after=5)
    found = outcomes(FaultsBackend(inner, [rule]), count=4)
    assert [outcome.error_kind for outcome in found] == ["rate_limited", None, "rate_limited", None]
    assert (found[0].status, found[0].retry_after, found[0].metadata["http_status"]) == ("failed", 5, 429)
    assert found[0].metadata["injected"] == "rate_limited"
    assert len(inner.calls) == 2


@pytest.mark.parametrize(("tool", "status"), [(READ, "failed"), (WRITE, "unknown")])
@pytest.mark.parametrize("kind", ["timeout", "transport"])
def test_what_may_have_happened_is_unknown(kind: str, tool: Tool, status: str) -> None:
    (outcome,) = outcomes(FaultsBackend(Counting(), [FaultRule(kind=kind)]), tool)
    assert (outcome.status, outcome.error_kind) == (status, kind)


def test_empty_and_truncated_spoil_a_real_answer() -> None:
    inner = Counting({"text": "x" * 500})
    (empty,) = outcomes(FaultsBackend(inner, [FaultRule(kind="empty")]))
    assert (empty.status, empty.error_kind, empty.value, empty.text) == ("ok", "empty", None, "")
    (cut,) = outcomes(FaultsBackend(inner, [FaultRule(kind="truncated", keep=30)]))
    assert (cut.status, cut.truncated, len(cut.text)) == ("ok", True, 30)
    assert len(inner.calls) == 2


def test_times_end_a_rule_and_the_next_rule_counts_too() -> None:
    rules = [
        FaultRule(kind="tool_error", times=1, message="broken"),
        FaultRule(kind="permission", calls=(2,)),
    ]
    found = outcomes(FaultsBackend(Counting(), rules), count=3)
    assert [outcome.error_kind for outcome in found] == ["tool_error", "permission", None]
    assert found[0].text == "broken"


def test_a_delay_past_the_limit_is_a_time_out() -> None:
    backend = FaultsBackend(Counting(), [FaultRule(kind="empty", delay=30)])
    outcome = asyncio.run(backend.call(READ, {}, timeout=0.02))
    assert outcome.error_kind == "timeout"


@given(st.integers(0, 1000), st.permutations(list(range(12))))
def test_draws_do_not_depend_on_the_order_of_calls(seed: int, order: list[int]) -> None:
    def kinds(sequence: list[int]) -> dict[int, str | None]:
        backend = FaultsBackend(Counting(), [FaultRule(kind="tool_error", probability=0.5)], seed=seed)

        async def main() -> dict[int, str | None]:
            answers = await asyncio.gather(*(backend.call(READ, {"n": n}) for n in sequence))
            return {n: answer.error_kind for n, answer in zip(sequence, answers, strict=True)}

        return asyncio.run(main())

    assert kinds(order) == kinds(sorted(order))


def test_a_probability_is_met_on_average() -> None:
    backend = FaultsBackend(Counting(), [FaultRule(kind="tool_error", probability=0.2)], seed=3)

    async def main() -> int:
        answers = await asyncio.gather(*(backend.call(READ, {"n": n}) for n in range(1000)))
        return sum(not answer.ok for answer in answers)

    assert 150 < asyncio.run(main()) < 250


def test_a_slow_backend_is_cut_off() -> None:
    class Stuck(Counting):
        async def call(self, *_: Any, **__: Any) -> CallOutcome:
            await asyncio.sleep(60)
            raise AssertionError

    for tool, status in ((READ, "failed"), (WRITE, "unknown")):
        outcome = asyncio.run(LimitsBackend(Stuck(), timeout=0.02).call(tool, {}))
        assert (outcome.status, outcome.error_kind) == (status, "timeout")
        assert "0.02 s" in outcome.message


def test_the_shorter_limit_wins() -> None:
    async def slow() -> None:
        await asyncio.sleep(60)

    backend = LimitsBackend(PythonBackend({"s/read": slow}), timeout=0.02)
    assert "0.02" in asyncio.run(backend.call(READ, {}, timeout=5)).message
    backend = LimitsBackend(PythonBackend({"s/read": slow}), timeout=5)
    assert "0.03" in asyncio.run(backend.call(READ, {}, timeout=0.03)).message


def test_parallel_calls_per_server() -> None:
    inner = Counting()
    backend = LimitsBackend(inner, concurrency=3)

    async def main() -> None:
        await asyncio.gather(*(backend.call(READ, {"n": n}) for n in range(20)))

    asyncio.run(main())
    assert (inner.most, len(inner.calls)) == (3, 20)


def result_json(text: str) -> Any:
    return json.loads(text.rsplit("\n[cut:", 1)[0])


def test_a_result_under_the_cap_is_untouched() -> None:
    inner = Counting([1, 2, 3])
    (outcome,) = outcomes(LimitsBackend(inner, max_bytes=9))
    assert (outcome.value, outcome.truncated, outcome.text) == ([1, 2, 3], False, "[1, 2, 3]")


def test_long_texts_and_wide_objects_are_cut_too() -> None:
    (outcome,) = outcomes(LimitsBackend(Counting({"id": 7, "body": "好" * 50_000}), max_bytes=2000))
    assert outcome.value["id"] == 7
    assert len(outcome.text.encode()) <= 2000
    assert result_json(outcome.text)["id"] == 7
    (outcome,) = outcomes(LimitsBackend(Counting({f"k{n}": "v" * 20 for n in range(5000)}), max_bytes=3000))
    assert 20 <= len(result_json(outcome.text)) < 5000
    (outcome,) = outcomes(LimitsBackend(Counting("line\n" * 10_000), max_bytes=1000))
    assert outcome.text.startswith("line\nline")
    assert "50,000 bytes" in outcome.text


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=300),
    lambda inner: st.lists(inner, max_size=30) | st.dictionaries(st.text(max_size=10), inner, max_size=30),
    max_leaves=60,
)


@given(json_values, st.integers(200, 2000))
def test_a_cut_result_never_exceeds_its_cap_and_stays_json(value: Any, cap: int) -> None:
    text = json.dumps(value, ensure_ascii=False)
    if len(text.encode()) <= cap:
        return
    cut = cut_result(value, text, cap, reference="r-1")
    assert len(cut.text.encode()) <= cap
    if isinstance(cut.value, (list, dict)):
        assert result_json(cut.text) == cut.value
    assert f"{len(text.encode()):,} bytes" in cut.text


def test_the_guard_lets_reads_and_named_writes_through() -> None:
    inner = Counting()
    assert outcomes(WriteGuard(inner), READ)[0].ok
    (blocked,) = outcomes(WriteGuard(inner), WRITE)
    assert (blocked.status, blocked.error_kind, blocked.reached_backend) == ("failed", "write_blocked", False)
    for pattern in ("write", "s/write", "s/*", "wri*"):
        assert outcomes(WriteGuard(inner, allow_writes=[pattern]), WRITE)[0].ok
    assert outcomes(WriteGuard(inner, allow_writes=["other"]), WRITE)[0].error_kind == "write_blocked"
    contradictory = Tool(name="x", effects=frozenset({"read", "destructive"}))
    assert outcomes(WriteGuard(inner), contradictory)[0].error_kind == "write_blocked"
    assert len(inner.calls) == 5


def test_the_guard_answers_writes_from_recordings() -> None:
    task = Task(
        id="t",
        kind="must",
        query="",
        results=(
            RecordedResult(tool="write", args={"n": 1}, result="recorded"),
            RecordedResult(tool="write", args={"n": 2}, error="full", error_kind="tool_error"),
        ),
    )
    inner = Counting()
    guard = WriteGuard(inner, recordings=RecordedBackend(task))
    assert outcomes(guard, WRITE, n=1)[0].value == "recorded"
    assert outcomes(guard, WRITE, n=2)[0].text == "full"
    assert outcomes(guard, WRITE, n=3)[0].error_kind == "write_blocked"
    assert inner.calls == []
    asyncio.run(guard.aclose())
    assert inner.closed == 1
