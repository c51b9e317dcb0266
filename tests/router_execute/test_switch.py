"""Switching, circuits, limits, and who is to blame."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.router_execute.support import OK, TEXT, call, executor, fails, sequence, tool

from agent_reach.records.trace import CallOutcome
from agent_reach.router.blame import RequestFacts, blame, stage_figures
from agent_reach.router.execute_cap import ResultStore, cap_result, size_of
from agent_reach.router.execute_records import ExecutionPolicy
from agent_reach.router.retry import back_off
from agent_reach.router.switch import SwitchRequest, lexical_finder, map_arguments

CITY = {"type": "string", "description": "Name of the city"}
ONE = tool(
    "get_weather",
    effects=("read",),
    server="a",
    required=("city",),
    city=CITY,
    description="Weather of a city today",
)
TWO = tool(
    "weather_now", effects=("read",), server="b", required=("location",),
    location={"type": "string", "description": "city or place"}, description="Weather of a place today",
)  # fmt: skip
WRITE = tool(
    "set_weather",
    effects=("write",),
    server="c",
    required=("city",),
    city=CITY,
    description="Weather of a city today",
)


def by_tool(**outcomes: object):  # type: ignore[no-untyped-def]
    return lambda t, a, n: (outcomes.get(t.name) or (lambda _: OK))(t)  # type: ignore[operator]


def test_the_second_failure_in_a_row_leads_to_a_similar_tool() -> None:
    async def go() -> None:
        tools = [ONE, TWO, WRITE]
        runner, backend, _ = executor(
            by_tool(get_weather=fails("tool_error"), set_weather=fails("tool_error")),
            tools,
            finder=lexical_finder(tools),
        )
        request = runner.request("weather in Paris")
        first = await runner.execute(call(ONE, city="Paris"), request=request)
        assert not first.ok
        assert first.switches == ()
        second = await runner.execute(call(ONE, city="Paris"), request=request)
        assert second.ok
        assert second.route == ("a/get_weather", "b/weather_now")
        assert not second.before_switch.ok
        assert backend.calls[-1] == ("b/weather_now", {"location": "Paris"})
        assert "c/set_weather" not in {key for key, _ in backend.calls}

    asyncio.run(go())


def test_a_success_between_two_failures_starts_the_count_anew() -> None:
    async def go() -> None:
        tools = [ONE, TWO]
        script = sequence(fails("tool_error"), OK, fails("empty"), fails("tool_error"))
        runner, _, _ = executor(
            lambda t, a, n: script(t, a, n) if t is ONE else OK, tools, finder=lexical_finder(tools)
        )
        request = runner.request("weather")
        routes = [(await runner.execute(call(ONE, city=c), request=request)).route for c in "ABCD"]
        assert [len(route) for route in routes] == [1, 1, 1, 2]

    asyncio.run(go())


def test_unknown_outcomes_and_writes_are_never_left() -> None:
    async def go() -> None:
        twin = tool(
            "set_weather",
            effects=("read",),
            server="d",
            required=("city",),
            city=CITY,
            description="Weather of a city today",
        )
        tools = [WRITE, twin, ONE]
        for kind in ("tool_error", "timeout"):
            runner, backend, _ = executor(
                lambda t, a, n, kind=kind: fails(kind)(t) if t is WRITE else OK,
                tools,
                finder=lexical_finder(tools),
            )
            request = runner.request("weather")
            for city in ("A", "B", "C"):
                record = await runner.execute(call(WRITE, city=city), request=request)
            assert not record.ok
            assert {key for key, _ in backend.calls} == {"c/set_weather"}
        policy = ExecutionPolicy(allow_write_switch=frozenset({"c/set_weather"}))
        runner, backend, _ = executor(
            lambda t, a, n: fails("tool_error")(t) if t is WRITE else OK,
            tools,
            finder=lexical_finder(tools),
            policy=policy,
        )
        request = runner.request("weather")
        for city in ("A", "B"):
            record = await runner.execute(call(WRITE, city=city), request=request)
        assert record.ok

    asyncio.run(go())


def test_retries_count_as_failures_in_a_row() -> None:
    async def go() -> None:
        tools = [ONE, TWO]
        runner, _backend, _ = executor(
            by_tool(get_weather=fails("rate_limited")), tools, finder=lexical_finder(tools)
        )
        record = await runner.execute(call(ONE, city="Paris"), request=runner.request())
        assert record.ok
        assert [attempt.tool for attempt in record.tries] == ["a/get_weather"] * 3 + ["b/weather_now"]

    asyncio.run(go())


def test_an_argument_without_a_place_is_a_reason_not_to_switch() -> None:
    source = tool("find_hotel", effects=("read",), city=CITY, stars={"type": "integer"})
    target = tool("hotel_search", effects=("read",), city=CITY)
    assert map_arguments(source, target, {"city": "Paris"}) == {"city": "Paris"}
    assert map_arguments(source, target, {"city": "Paris", "stars": 4}) is None


def test_lexical_finder_leaves_out_what_is_excluded_and_what_is_unlike() -> None:
    other = tool("send_mail", effects=("read",), description="Send a mail to a person")
    find = lexical_finder([ONE, TWO, other])
    assert [t.key for t in find(SwitchRequest(tool=ONE, arguments={}))] == ["b/weather_now"]
    assert find(SwitchRequest(tool=ONE, arguments={}, exclude=frozenset({"b/weather_now"}))) == []


def test_a_server_that_cannot_be_reached_is_left_alone_for_a_while() -> None:
    async def go() -> None:
        policy = ExecutionPolicy(circuit_failures=3, circuit_reset=30, max_attempts=1)
        down = [True]
        runner, backend, clock = executor(
            lambda t, a, n: fails("transport")(t) if down[0] else OK, [ONE, TWO], policy=policy
        )
        for city in "ABC":
            await runner.execute(call(ONE, city=city), request=runner.request())
        record = await runner.execute(call(ONE, city="D"), request=runner.request())
        assert len(backend.calls) == 3
        assert record.outcome.metadata["circuit"] == "open"
        assert not record.outcome.reached_backend
        assert len((await runner.execute(call(TWO, location="D"), request=runner.request())).tries) == 1
        clock.now += 31
        down[0] = False
        assert (await runner.execute(call(ONE, city="E"), request=runner.request())).ok
        assert (await runner.execute(call(ONE, city="F"), request=runner.request())).ok

    asyncio.run(go())


@pytest.mark.parametrize("kind", ["tool_error", "rate_limited", "permission", "argument", "empty"])
def test_errors_of_a_tool_never_open_the_circuit(kind: str) -> None:
    async def go() -> None:
        policy = ExecutionPolicy(circuit_failures=2, max_attempts=1)
        runner, backend, _ = executor(sequence(fails(kind)), [ONE], policy=policy)
        for index in range(6):
            await runner.execute(call(ONE, city=str(index)), request=runner.request())
        assert len(backend.calls) == 6

    asyncio.run(go())


def test_concurrency_is_limited_per_server() -> None:
    async def go() -> None:
        policy = ExecutionPolicy(concurrency_per_server=2)
        runner, backend, _ = executor(sequence(OK), [ONE], policy=policy)
        await asyncio.gather(
            *(runner.execute(call(ONE, city=str(i)), request=runner.request()) for i in range(9))
        )
        assert len(backend.calls) == 9
        assert backend.most_running == 2

    asyncio.run(go())


@given(st.floats(0, 1), st.integers(2, 12), st.one_of(st.none(), st.floats(0, 100)))
def test_back_off_is_never_shorter_than_said_and_never_nothing(
    jitter: float, attempt: int, said: float | None
) -> None:
    policy = ExecutionPolicy()
    delay = back_off(attempt, policy, lambda: jitter, said)
    assert delay > 0
    assert said is None or delay >= said
    assert delay <= (said or 0) + policy.max_delay


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=400),
    lambda inner: st.lists(inner, max_size=20) | st.dictionaries(st.text(max_size=8), inner, max_size=8),
    max_leaves=60,
)


@given(JSON, st.integers(600, 3000))
def test_capped_results_keep_within_the_limit(value: object, limit: int) -> None:
    import json

    outcome = CallOutcome(status="ok", value=value, text=json.dumps(value, ensure_ascii=False))
    store = ResultStore()
    capped = cap_result(outcome, limit, store)
    assert size_of(capped.text) <= limit
    if capped is outcome:
        assert not capped.truncated
    else:
        assert store.get(capped.metadata["full_result"]) is outcome


def facts(**given_facts: object) -> RequestFacts:
    base: dict[str, object] = {
        "offered": ("a", "b"), "expected": {"a"}, "chosen": "a", "legal_before": True, "legal_after": True, "outcome": OK,
    }  # fmt: skip
    return RequestFacts(**{**base, **given_facts})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changed", "culprit"),
    [
        ({}, "none"),
        ({"expected": None}, "undetermined"),
        ({"chosen": "b"}, "model"),
        ({"chosen": None}, "model"),
        ({"chosen": "b", "offered": ("b", "c")}, "reach"),
        ({"legal_after": False}, "normaliser"),
        ({"legal_after": False, "exposure": "all"}, "model"),
        ({"outcome": CallOutcome(status="failed", error_kind="tool_error")}, "tool"),
        ({"outcome": CallOutcome(status="unknown", error_kind="timeout")}, "tool"),
        (
            {"expected_arguments": {"x": 1}, "emitted_arguments": {"x": 1}, "sent_arguments": {"x": 2}},
            "normaliser",
        ),
        (
            {"expected_arguments": {"x": 1}, "emitted_arguments": {"x": 3}, "sent_arguments": {"x": 3}},
            "model",
        ),
        ({"expected_arguments": {"x": 1}, "emitted_arguments": {"x": 1}, "sent_arguments": {"x": 1}}, "none"),
    ],
)
def test_blame(changed: dict[str, object], culprit: str) -> None:
    found = blame(facts(**changed))
    assert found.culprit == culprit
    assert found.reason.en
    assert found.reason.zh


def test_stage_figures_by_hand() -> None:
    failed = CallOutcome(status="failed", error_kind="rate_limited")
    figures = stage_figures(
        [
            facts(offered=("a", "b"), first_outcome=failed, before_switch=OK, legal_before=False),
            facts(offered=("b", "a"), expected={"a", "c"}, first_outcome=failed, before_switch=failed),
            facts(offered=(), expected={"a"}, chosen=None, legal_before=None, legal_after=None, outcome=None),
        ],
        k=2,
    )
    assert figures.recall_at_k == pytest.approx((1 + 0.5 + 0) / 3)
    assert figures.completeness_at_k == pytest.approx(1 / 3)
    assert figures.mrr == pytest.approx((1 + 0.5 + 0) / 3)
    assert figures.hit_at_1 == pytest.approx(1 / 3)
    assert figures.empty_answers == pytest.approx(1 / 3)
    assert figures.legality_before == 0.5
    assert figures.legality_after == 1.0
    assert (figures.success_first_try, figures.success_with_retry, figures.success_with_switch) == (
        0.0,
        0.5,
        1.0,
    )
    assert stage_figures([]).recall_at_k is None


KINDS = ["ok", "rate_limited", "timeout", "transport", "refused", "tool_error", "empty", "permission"]


@settings(deadline=None)
@given(
    st.lists(st.sampled_from(KINDS), min_size=1, max_size=12),
    st.sampled_from([(), ("write",), ("destructive",), ("read",), ("write", "idempotent")]),
    st.integers(1, 6),
)
def test_what_may_have_happened_never_happens_again(
    kinds: list[str], effects: tuple[str, ...], attempts: int
) -> None:
    """Whatever the server does: after a try that may have done its work, a tool that is not safe to repeat is left alone."""
    order = tool("order", effects=effects, item=TEXT)
    scripts = {
        "ok": lambda _: OK,
        "refused": fails("transport", sent=False),
        **{kind: fails(kind) for kind in KINDS if kind not in ("ok", "refused")},
    }

    async def go() -> None:
        policy = ExecutionPolicy(max_attempts=attempts, circuit_failures=100)
        runner, backend, _ = executor(sequence(*(scripts[kind] for kind in kinds)), [order], policy=policy)
        record = await runner.execute(call(order, item="x"), request=runner.request())
        assert len(backend.calls) <= attempts
        assert len(record.tries) == len(backend.calls)
        if not order.is_idempotent:
            reached = [attempt for attempt in record.tries if attempt.reached_backend]
            assert len(reached) <= 1
            assert not reached or reached[0] is record.tries[-1]

    asyncio.run(go())
