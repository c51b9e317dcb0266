"""What must hold for every suite and trace: ranges, orders that do not matter, and worse never scoring higher."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.evals_scoring.building import PlainSuite, catalog, failed, gold, ok, path, task, tool, trace

from agent_reach.evals.scoring.score import score, score_attempt
from agent_reach.records.report import METRIC_NAMES, Report
from agent_reach.records.task import GoldenPath, Task
from agent_reach.records.trace import Trace

CATALOG = catalog(
    tool("look", {"id": "string"}, ["id"], effects=frozenset({"read"})),
    tool("put", {"id": "string", "n": "integer", "note": {"type": "string", "default": "-"}}, ["id"]),
    tool("push", {"id": "string", "n": "integer"}, ["id"], effects=frozenset({"write"})),
)
IDS = st.sampled_from(["A-1", "B-2"])
ARGS = st.fixed_dictionaries(
    {"id": IDS}, optional={"n": st.sampled_from([1, 2, "1"]), "note": st.sampled_from(["-", "x"])}
)
NAMES = st.sampled_from(["look", "put", "push", "nothing_like_it"])
OUTCOMES = st.sampled_from([ok({"n": 1}), ok(""), failed("tool_error"), failed("rate_limited")])
CALLS = st.tuples(NAMES, ARGS, OUTCOMES)
MESSAGES = st.lists(
    st.one_of(CALLS, st.lists(CALLS, min_size=1, max_size=3), st.just("some words")), max_size=5
)
GOLDS = st.builds(
    lambda name, args, optional: gold(name, args, optional=optional),
    st.sampled_from(["look", "put", "push"]),
    st.fixed_dictionaries({"id": IDS}, optional={"n": st.sampled_from([1, {"$any": True}])}),
    st.fixed_dictionaries({}, optional={"note": st.sampled_from(["x", {"$type": "string"}])}),
)
PATHS = st.lists(st.lists(GOLDS, min_size=1, max_size=3), min_size=1, max_size=3).map(
    lambda stages: path(*stages)
)


@st.composite
def tasks(draw: st.DrawFn) -> Task:
    kind = draw(st.sampled_from(["must", "must", "may", "forbid"]))
    paths = draw(st.lists(PATHS, min_size=1, max_size=2)) if kind != "forbid" else []
    forbid = draw(st.sampled_from([(), ("push",)]))
    return task(
        *paths, kind=kind, order=draw(st.sampled_from(["in_order", "any_order", "exact"])), forbid=forbid
    )


def figures(wanted: Task, made: Trace) -> dict[str, Any]:
    report = score(PlainSuite([wanted]), [made], CATALOG)
    return {name: (m.numerator, m.denominator) for name, m in report.metrics.items()}


@given(tasks(), MESSAGES)
@settings(deadline=None, max_examples=200)
def test_every_figure_is_within_its_range(wanted: Task, messages: Any) -> None:
    report: Report = score(PlainSuite([wanted]), [trace(*messages)], CATALOG)
    assert set(report.metrics) == set(METRIC_NAMES)
    for name, metric in report.metrics.items():
        assert (metric.value is None) == (metric.denominator == 0)
        if metric.value is not None and name != "extra_calls":
            assert 0 <= metric.value <= 1
            assert metric.interval is not None
            assert 0 <= metric.interval.low <= metric.value <= metric.interval.high <= 1
    attempt = report.tasks[0].attempts[0]
    assert attempt.share is None or 0 <= attempt.share <= 1
    for decision in attempt.decisions:
        assert decision.argument_score is None or 0 <= decision.argument_score <= 1
        assert (decision.verdict == "wrong") == (not decision.tool_right and decision.order_right)


@given(tasks(), MESSAGES, st.randoms(use_true_random=False))
@settings(deadline=None, max_examples=200)
def test_orders_that_mean_nothing_change_nothing(wanted: Task, messages: Any, random: Any) -> None:
    before = figures(wanted, trace(*messages))
    paths = list(wanted.paths)
    random.shuffle(paths)
    paths = [
        GoldenPath(stages=tuple(tuple(random.sample(list(stage), len(stage))) for stage in item.stages))
        for item in paths
    ]
    if wanted.order == "any_order":
        paths = [
            GoldenPath(stages=tuple(random.sample(list(item.stages), len(item.stages)))) for item in paths
        ]
    shuffled = [
        random.sample(message, len(message)) if isinstance(message, list) else message for message in messages
    ]
    assert figures(replace(wanted, paths=tuple(paths)), trace(*shuffled)) == before


def worsened(messages: list[Any], position: int, how: str) -> list[Any]:
    name, arguments, *outcome = messages[position]
    if how == "drop":
        return [message for number, message in enumerate(messages) if number != position]
    if how == "replace":
        return [("nothing_like_it", arguments) if n == position else m for n, m in enumerate(messages)]
    broken = (name, {**arguments, "id": "none of them"}, *outcome)
    return [broken if number == position else message for number, message in enumerate(messages)]


FLAT = st.lists(CALLS.filter(lambda call: call[2].ok), min_size=1, max_size=5)
LINEAR = st.lists(GOLDS, min_size=1, max_size=4).map(lambda calls: path(*calls))


@given(
    LINEAR,
    FLAT,
    st.sampled_from(["in_order", "any_order", "exact"]),
    st.sampled_from(["drop", "replace", "corrupt"]),
    st.data(),
)
@settings(deadline=None, max_examples=300)
def test_a_worse_trajectory_never_reaches_more(
    wanted_path: GoldenPath, messages: list[Any], order: str, how: str, data: st.DataObject
) -> None:
    if order == "exact" and how == "drop":
        how = "replace"  # dropping a call moves later ones to other positions: not worse in every way
    wanted = task(wanted_path, order=order)
    before = score_attempt(wanted, trace(*messages), CATALOG)
    right = [decision for decision in before.decisions if decision.verdict == "right"]
    if not right:
        return
    lost = data.draw(st.sampled_from(right))
    position = next(n for n in range(len(messages)) if f"c{n}" == lost.call_id)
    after = score_attempt(wanted, trace(*worsened(messages, position, how)), CATALOG)
    assert sum(d.tool_right for d in after.decisions) <= sum(d.tool_right for d in before.decisions)
    assert sum(d.decision_success for d in after.decisions) <= sum(
        d.decision_success for d in before.decisions
    )
    assert not (after.passed and not before.passed)


@given(MESSAGES)
@settings(deadline=None)
def test_abstention_is_right_in_a_forbid_task_and_a_call_never_is(messages: Any) -> None:
    attempt = score_attempt(task(kind="forbid"), trace(*messages), CATALOG)
    made_calls = any(not isinstance(message, str) for message in messages)
    assert attempt.passed is (not made_calls)
    assert attempt.over_called is made_calls


@given(st.lists(st.sampled_from(["look", "put"]), max_size=3))
@settings(deadline=None)
def test_a_may_task_without_a_path_only_minds_forbidden_tools(names: list[str]) -> None:
    wanted = task(kind="may", forbid=("push",))
    calls = [(name, {"id": "A-1"}) for name in names]
    assert score_attempt(wanted, trace(*calls), CATALOG).passed
    forbidden = score_attempt(wanted, trace(*calls, ("push", {"id": "A-1"})), CATALOG)
    assert forbidden.over_called
    assert forbidden.passed is False
