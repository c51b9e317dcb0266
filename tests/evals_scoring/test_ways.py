"""The way to a call: detours over writes that nothing answered, the first call of a decision, calls off the recording."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tests.evals_scoring.building import PlainSuite, catalog, failed, gold, ok, path, task, tool, trace

from agent_reach.errors import InputError
from agent_reach.evals.scoring.score import score, score_attempt
from agent_reach.records.score import AttemptScore
from agent_reach.records.trace import CallOutcome

CATALOG = catalog(
    tool("get_order", {"id": "string"}, ["id"], effects=frozenset({"read"}), description="Look up an order."),
    tool("get_weather", {"city": "string"}, effects=frozenset({"read"}), description="Forecast for a city."),
    tool("wipe_disk", {"path": "string"}, effects=frozenset({"destructive"}), description="Erase a volume."),
    tool("poke", {"x": "string"}, description="Nobody said what this does."),
)
TASK = task(path(gold("get_order", {"id": "7"}, result={"id": "7"})))
RIGHT = ("get_order", {"id": "7"})
MISS = replace(failed("not_found"), off_recording=True)


def attempt(*calls: Any) -> AttemptScore:
    return score_attempt(TASK, trace(*calls), CATALOG)


@pytest.mark.parametrize(
    ("outcome", "detour"),
    [
        (ok(), True),
        (CallOutcome(status="unknown", error_kind="timeout"), True),
        (MISS, True),
        (replace(failed("write_blocked"), reached_backend=False), True),
        (failed("tool_error"), False),
        (replace(failed("argument"), reached_backend=False), False),
    ],
)
def test_a_write_on_the_way_is_a_detour_whether_or_not_anything_answered(
    outcome: CallOutcome, detour: bool
) -> None:
    (decision,) = attempt(("wipe_disk", {"path": "/"}, outcome), RIGHT).decisions
    assert (decision.detour, decision.verdict) == (detour, "deviation" if detour else "right")


@pytest.mark.parametrize(("name", "arguments"), [("poke", {"x": "1"}), ("get_weather", {"city": "Rome"})])
@pytest.mark.parametrize("outcome", [ok(), MISS])
def test_reads_and_unknown_effects_are_no_detour(name: str, arguments: Any, outcome: CallOutcome) -> None:
    (decision,) = attempt((name, arguments, outcome), RIGHT).decisions
    assert (decision.detour, decision.verdict) == (False, "right")


WRONG = ("get_order", {"id": "8"}, failed("tool_error"))
WEATHER = ("get_weather", {"city": "Rome"})


@pytest.mark.parametrize(
    ("calls", "first"),
    [
        ([RIGHT], True),
        ([WRONG, RIGHT], True),
        ([WRONG, WEATHER, RIGHT], True),
        ([WEATHER, RIGHT], False),
        ([WEATHER, WRONG, RIGHT], False),
        ([[WEATHER, WRONG], RIGHT], True),
        ([[WEATHER, RIGHT]], True),
    ],
)
def test_the_first_call_made_for_a_decision_is_the_first_choice(calls: list[Any], first: bool) -> None:
    (decision,) = attempt(*calls).decisions
    assert decision.tool_right
    assert decision.first_choice is first


def test_the_first_choice_of_a_later_decision_begins_after_the_earlier_one() -> None:
    two = task(path(gold("get_weather", {"city": "Rome"}), gold("get_order", {"id": "7"})))
    found = score_attempt(two, trace(WEATHER, WRONG, ("poke", {"x": "1"}), RIGHT), CATALOG).decisions
    assert [decision.first_choice for decision in found] == [True, True]


def test_calls_off_the_recording_are_no_failed_executions() -> None:
    found = attempt(("get_weather", {"city": "Rome"}, MISS), ("get_order", {"id": "7"}, ok({"id": "7"})))
    assert found.executed == (1, 1)
    assert found.off_recording
    calls = trace(("get_weather", {"city": "Rome"}, MISS), (*RIGHT, ok({"id": "7"})))
    report = score(PlainSuite([TASK]), [calls], CATALOG)
    metric = report.metrics["execution_success"]
    assert (metric.numerator, metric.denominator) == (1, 1)
    executed = {summary.tool: (summary.executed_ok, summary.executed) for summary in report.tools}
    assert (executed["get_weather"], executed["get_order"]) == ((0, 0), (1, 1))


def test_answers_of_other_arguments_say_nothing_of_the_call() -> None:
    assert attempt((*RIGHT, replace(ok(), off_recording=True))).executed == (0, 0)
    assert attempt((*RIGHT, failed("tool_error"))).executed == (0, 1)


def test_a_right_call_that_nobody_recorded_an_answer_for_is_not_held_against_the_agent() -> None:
    found = attempt((*RIGHT, MISS))
    assert found.passed
    assert found.decisions[0].call_success is None
    report = score(PlainSuite([TASK]), [trace((*RIGHT, MISS))], CATALOG)
    assert report.metrics["execution_success"].value is None
    assert report.metrics["call_success"].value is None


@pytest.mark.parametrize(
    ("suite", "traces", "tools", "where", "said"),
    [
        ([{"id": "a"}], [], CATALOG, "suite", "expected a suite, found list"),
        ({"tasks": []}, [], CATALOG, "suite", "expected a suite, found dict"),
        ("core.yaml", [], CATALOG, "suite", "expected a suite, found str"),
        (PlainSuite([{"id": "a"}]), [], CATALOG, "suite.tasks[0]", "expected a task, found dict"),  # type: ignore[list-item]
        (PlainSuite([TASK]), [{"trace_id": "x"}], CATALOG, "traces[0]", "expected a trace, found dict"),
        (PlainSuite([TASK]), [trace(RIGHT), None], CATALOG, "traces[1]", "found NoneType"),
        (PlainSuite([TASK]), trace(RIGHT), CATALOG, "traces", "expected a list of traces, found Trace"),
        (PlainSuite([TASK]), "traces.jsonl", CATALOG, "traces", "expected traces, found str"),
        (PlainSuite([TASK]), 5, CATALOG, "traces", "expected traces, found int"),
        (PlainSuite([TASK]), [], [{"name": "a"}], "catalog", "expected a catalog, found list"),
    ],
)
def test_what_is_no_suite_trace_or_catalog_is_told(
    suite: Any, traces: Any, tools: Any, where: str, said: str
) -> None:
    with pytest.raises(InputError) as refused:
        score(suite, traces, tools)
    assert refused.value.where == where
    assert said in refused.value.message
    assert refused.value.next_step
