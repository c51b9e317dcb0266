"""The recorded troubles of execution on the router's side, with other inputs of the same kinds."""

from __future__ import annotations

import asyncio
import json

import pytest
from tests.router_execute.support import OK, TEXT, call, executor, fails, sequence, tool

from agent_reach.backends.base import failure, success
from agent_reach.records.trace import CallOutcome
from agent_reach.router.execute import Executor
from agent_reach.router.execute_records import ExecutionPolicy
from agent_reach.router.normalize import normalize_call
from agent_reach.router.retry import parse_retry_after


def run(coroutine):  # type: ignore[no-untyped-def]
    return asyncio.run(coroutine)


@pytest.mark.parametrize("kind", ["transport", "timeout"])
@pytest.mark.parametrize("effects", [(), ("write",), ("destructive",)])
def test_d01_a_write_that_may_have_happened_is_not_repeated(kind: str, effects: tuple[str, ...]) -> None:
    seat = tool("book_seat", effects=effects, seat=TEXT)

    async def go() -> None:
        runner, backend, clock = executor(sequence(fails(kind), OK), [seat])
        record = await runner.execute(call(seat, seat="3A"))
        assert len(backend.calls) == 1
        assert record.outcome.status == "unknown"
        assert clock.waits == []

    run(go())


@pytest.mark.parametrize("effects", [("read",), ("write", "idempotent")])
def test_d01_what_is_safe_to_repeat_is_repeated_within_one_deadline(effects: tuple[str, ...]) -> None:
    seats = tool("list_seats", effects=effects, row=TEXT)

    async def go() -> None:
        runner, backend, _clock = executor(sequence(fails("transport"), fails("timeout"), OK), [seats])
        record = await runner.execute(call(seats, row="3"))
        assert record.ok
        assert len(backend.calls) == 3
        assert record.outcome.attempts == 3
        assert not record.first_outcome.ok
        policy = ExecutionPolicy(total_timeout=0.3, base_delay=0.5)
        runner, backend, _clock = executor(sequence(fails("transport"), OK), [seats], policy=policy)
        record = await runner.execute(call(seats, row="3"))
        assert len(backend.calls) == 1
        assert not record.ok

    run(go())


def test_d02_an_error_of_the_tool_is_no_reason_for_another_call() -> None:
    do_it = tool("do_it")

    async def go() -> None:
        runner, backend, _ = executor(sequence(fails("tool_error")), [do_it])
        record = await runner.execute(call(do_it))
        assert len(backend.calls) == 1
        assert record.outcome.message == "tool_error from s/do_it"
        assert record.route == ("s/do_it",)

    run(go())


def test_d10_rate_limits_are_waited_out() -> None:
    find = tool("find", effects=("read",), q=TEXT)

    async def go() -> None:
        script = sequence(fails("rate_limited", retry_after=5.0), fails("rate_limited"), OK)
        runner, backend, clock = executor(script, [find], policy=ExecutionPolicy(max_wait=60))
        record = await runner.execute(call(find, q="x"))
        assert record.ok
        assert len(backend.calls) == 3
        assert clock.waits[0] >= 5
        assert 0 < clock.waits[1] <= 20
        assert [attempt.waited for attempt in record.tries] == [0.0, *clock.waits]
        runner, backend, clock = executor(sequence(fails("rate_limited", retry_after=90.0), OK), [find])
        record = await runner.execute(call(find, q="x"))
        assert len(backend.calls) == 1
        assert clock.waits == []
        assert record.outcome.retry_after == 90

    run(go())


def test_d10_the_budget_of_retries_is_shared_by_all_calls_to_a_server() -> None:
    find = tool("find", effects=("read",), q=TEXT)
    other = tool("find", effects=("read",), server="other", q=TEXT)

    async def go() -> None:
        policy = ExecutionPolicy(
            retry_budget=3,
            retry_budget_ratio=0.0,
            retry_budget_per_second=0.0,
            max_attempts=5,
            circuit_failures=10**6,
        )
        runner, backend, _ = executor(sequence(fails("rate_limited")), [find, other], policy=policy)
        await asyncio.gather(
            *(runner.execute(call(find, q=str(i)), request=runner.request()) for i in range(10))
        )
        assert len(backend.calls) == 10 + 3
        await runner.execute(call(other, q="x"))
        assert len(backend.calls) == 10 + 3 + 4

    run(go())


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (5, 5.0),
        ("7", 7.0),
        ("1.5", 1.5),
        ("Mon, 12 Jan 1970 13:46:50 GMT", 10.0),
        ("1970-01-12T13:47:00Z", 20.0),
        ("Mon, 12 Jan 1970 00:00:00 GMT", 0.0),
        ("soon", None),
        (None, None),
        (True, None),
    ],
)
def test_d10_retry_after_is_read_as_seconds_and_as_a_date(value: object, seconds: float | None) -> None:
    assert parse_retry_after(value, 1_000_000.0) == seconds


def test_d10_a_date_in_the_headers_is_waited_for() -> None:
    find = tool("find", effects=("read",), q=TEXT)

    async def go() -> None:
        limited = fails(
            "rate_limited", metadata={"headers": {"Retry-After": "Mon, 12 Jan 1970 13:46:50 GMT"}}
        )
        runner, _, clock = executor(sequence(limited, OK), [find])
        assert (await runner.execute(call(find, q="x"))).ok
        assert clock.waits[0] >= 10

    run(go())


def test_d16_the_same_round_is_stopped_after_three() -> None:
    command = tool("run", a={"type": "integer"}, b={"type": "integer"})

    async def go() -> None:
        runner, backend, _ = executor(sequence(fails("tool_error")), [command])
        request = runner.request()
        for index in range(50):
            arguments = {"a": 1, "b": 2} if index % 2 else {"b": 2, "a": 1}
            record = await runner.execute(normalize_call(command, arguments), request=request)
        assert len(backend.calls) == 3
        assert record.outcome.metadata["rounds"] == 3
        assert not record.outcome.reached_backend
        assert record.findings[0].code == "loop"

    run(go())


def test_d16_results_that_change_and_other_requests_pass() -> None:
    poll = tool("poll", effects=("read",), job=TEXT)

    async def go() -> None:
        runner, backend, _ = executor(lambda t, a, n: success({"progress": n}), [poll])
        request = runner.request()
        for _ in range(20):
            await runner.execute(call(poll, job="7"), request=request)
        assert len(backend.calls) == 20
        runner, backend, _ = executor(sequence(OK), [poll])
        for _ in range(10):
            await runner.execute(call(poll, job="7"), request=runner.request())
        assert len(backend.calls) == 10
        request = runner.request()
        for index in range(10):
            await runner.execute(call(poll, job=str(index)), request=request)
        assert len(backend.calls) == 20

    run(go())


def test_d16_a_long_pause_starts_the_count_anew() -> None:
    poll = tool("poll", effects=("read",), job=TEXT)

    async def go() -> None:
        runner, backend, clock = executor(sequence(OK), [poll], policy=ExecutionPolicy(loop_window=60))
        request = runner.request()
        for _ in range(9):
            await runner.execute(call(poll, job="7"), request=request)
            clock.now += 61
        assert len(backend.calls) == 9
        for _ in range(9):
            await runner.execute(call(poll, job="7"), request=request)
        assert len(backend.calls) == 12

    run(go())


def test_d20_bad_arguments_are_refused_here_with_every_problem() -> None:
    find = tool("find", required=("q", "ctx"), q=TEXT, ctx=TEXT, limit={"type": "integer"})

    async def go() -> None:
        runner, backend, _ = executor(sequence(OK), [find])
        record = await runner.execute(call(find, limit="many", q="x", other=1))
        assert backend.calls == []
        assert record.outcome.error_kind == "argument"
        assert not record.outcome.reached_backend
        assert record.outcome.metadata["missing"] == ["ctx"]
        places = {problem["pointer"] for problem in record.outcome.metadata["problems"]}
        assert places == {"/ctx", "/limit", "/other"}

    run(go())


@pytest.mark.parametrize(
    ("outcome", "moves"),
    [
        (fails("timeout"), True),
        (fails("transport", sent=False), True),
        (fails("rate_limited"), True),
        (fails("tool_error", metadata={"http_status": 503}), True),
        (fails("argument", metadata={"http_status": 400}), False),
        (fails("permission", metadata={"http_status": 401}), False),
        (fails("cancelled"), False),
        (fails("not_found"), False),
    ],
)
def test_d22_failover_only_for_what_another_provider_can_mend(outcome: object, moves: bool) -> None:
    main = tool("search", effects=("read",), server="main", q=TEXT)
    backup = tool("search", effects=("read",), server="backup", q=TEXT)

    async def go() -> None:
        policy = ExecutionPolicy(fallbacks={"main/search": ("backup/search",)}, max_attempts=1)
        runner, _backend, _ = executor(
            lambda t, a, n: outcome(t) if t.server == "main" else OK,  # type: ignore[operator]
            [main, backup],
            policy=policy,
        )
        record = await runner.execute(call(main, q="x"))
        assert record.ok is moves
        assert record.route == (("main/search", "backup/search") if moves else ("main/search",))
        if moves:
            assert record.switches[0].reason == "failover"
            assert record.outcome.metadata["route"] == ["main/search", "backup/search"]

    run(go())


def test_d22_arguments_are_mapped_to_the_backup_or_the_failover_is_refused() -> None:
    main = tool("search", effects=("read",), server="main", query=TEXT, max_results={"type": "integer"})
    same = tool("search", effects=("read",), server="same", required=("query",), query=TEXT, maxResults=TEXT)
    poor = tool("search", effects=("read",), server="poor", query=TEXT)

    async def go() -> None:
        for other, expected in ((same, {"query": "x", "maxResults": "5"}), (poor, None)):
            policy = ExecutionPolicy(fallbacks={"main/search": (other.key,)}, max_attempts=1)
            runner, backend, _ = executor(
                lambda t, a, n: fails("timeout")(t) if t.server == "main" else OK,
                [main, other],
                policy=policy,
            )
            record = await runner.execute(call(main, query="x", max_results=5))
            assert record.ok is (expected is not None)
            if expected is not None:
                assert backend.calls[-1] == (other.key, expected)

    run(go())


def test_d22_a_started_write_is_not_failed_over() -> None:
    main = tool("order", effects=("write",), server="main", item=TEXT)
    backup = tool("order", effects=("write",), server="backup", item=TEXT)

    async def go() -> None:
        policy = ExecutionPolicy(fallbacks={"main/order": ("backup/order",)})
        for started in (True, False):
            runner, backend, _ = executor(
                lambda t, a, n, sent=started: fails("transport", sent=sent)(t) if t.server == "main" else OK,
                [main, backup],
                policy=policy,
            )
            record = await runner.execute(call(main, item="x"))
            assert record.ok is not started
            assert ("backup/order" in {key for key, _ in backend.calls}) is not started

    run(go())


@pytest.mark.parametrize(
    "raw", ['{"commands":["step one","step two"', '{"path":"a.md","content":"line one\\nline tw']
)
def test_b28_b29_cut_arguments_are_never_executed(raw: str) -> None:
    write = tool(
        "write", effects=("write",), commands={"type": "array", "items": TEXT}, path=TEXT, content=TEXT
    )

    async def go() -> None:
        runner, backend, _ = executor(sequence(OK), [write])
        record = await runner.execute(normalize_call(write, raw))
        assert backend.calls == []
        assert record.outcome.metadata["problems"][0]["code"] == "truncated"
        assert "send less" in record.outcome.message

    run(go())


def test_d11_a_large_result_is_cut_and_kept() -> None:
    listing = tool("listing", effects=("read",))
    items = [{"id": index, "text": "x" * 380} for index in range(1000)]

    async def go(outcome: CallOutcome) -> None:
        runner, _, _ = executor(sequence(outcome), [listing], policy=ExecutionPolicy(max_result_bytes=25_000))
        record = await runner.execute(call(listing))
        got = record.outcome
        assert got.truncated
        assert len(got.text.encode()) <= 25_000
        body, _, note = got.text.rpartition("\n[")
        kept = json.loads(body)
        assert kept == items[: len(kept)]
        assert len(kept) > 40
        assert f"{len(kept)} of 1000 items" in note
        whole = runner.results.get(got.metadata["full_result"])
        assert whole is not None
        assert whole.text == outcome.text

    run(go(success(items)))
    run(go(success(None, text=json.dumps(items))))


def test_d08_a_backend_that_never_answers_is_left_at_the_limit() -> None:
    stuck = tool("stuck", effects=("read",))

    class Never:
        async def call(self, tool, arguments, *, call_id="", timeout=None):  # type: ignore[no-untyped-def]
            await asyncio.Event().wait()

        async def aclose(self) -> None:
            return None

    async def go() -> None:
        from agent_reach.catalog.catalog import Catalog

        policy = ExecutionPolicy(timeout=0.05, max_attempts=1)
        runner = Executor(Never(), Catalog.from_tools([stuck]), policy=policy)  # type: ignore[arg-type]
        record = await runner.execute(call(stuck))
        assert record.outcome.error_kind == "timeout"
        assert "limit" in record.outcome.message
        assert "s/stuck" in record.outcome.message

    run(go())


def test_a_backend_that_breaks_its_promise_is_an_outcome_too() -> None:
    broken = tool("broken", effects=("write",))

    def explode(*_: object) -> CallOutcome:
        raise ValueError("out of luck")

    async def go() -> None:
        runner, _, _ = executor(explode, [broken])
        record = await runner.execute(call(broken))
        assert record.outcome.error_kind == "tool_error"
        assert "out of luck" in record.outcome.message

    run(go())


def test_the_callers_cancel_reaches_the_backend() -> None:
    slow = tool("slow", effects=("read",))
    told: list[str] = []

    class Slow:
        async def call(self, tool, arguments, *, call_id="", timeout=None):  # type: ignore[no-untyped-def]
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                told.append(call_id)
                raise

        async def aclose(self) -> None:
            return None

    async def go() -> None:
        from agent_reach.catalog.catalog import Catalog

        runner = Executor(Slow(), Catalog.from_tools([slow]))  # type: ignore[arg-type]
        stop = asyncio.Event()
        running = asyncio.ensure_future(runner.execute(call(slow), call_id="c1", cancel=stop))
        await asyncio.sleep(0.01)
        stop.set()
        record = await running
        assert record.outcome.error_kind == "cancelled"
        assert told == ["c1"]
        running = asyncio.ensure_future(runner.execute(call(slow), call_id="c2"))
        await asyncio.sleep(0.01)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert told == ["c1", "c2"]

    run(go())


def test_d02_outcomes_are_returned_as_they_are() -> None:
    do_it = tool("do_it", effects=("read",))
    wrong = failure("permission", "not yours", tool=do_it)

    async def go() -> None:
        runner, backend, _ = executor(sequence(wrong), [do_it])
        record = await runner.execute(call(do_it))
        assert record.outcome.message == "not yours"
        assert len(backend.calls) == 1

    run(go())
