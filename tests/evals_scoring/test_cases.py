"""Real troubles of evaluation, each with its right value, and further inputs of the same kind.

E09, E21 and the suite half of E24 (loading, lint) belong to the suite; what scoring and the gate have to do with them
is here.
"""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest
from tests.evals_scoring.building import PlainSuite, catalog, gold, ok, path, task, tool, trace

from agent_reach.errors import InputError
from agent_reach.evals.gate import diff
from agent_reach.evals.report import build_report
from agent_reach.evals.scoring.score import score, score_attempt
from agent_reach.evals.scoring.task_score import task_score
from agent_reach.evals.scoring.values import compile_value
from agent_reach.records.report import Report, RunInfo
from agent_reach.records.score import AttemptScore, Decision
from agent_reach.records.task import MatchOptions, Task

CASES = {
    row["id"]: row
    for line in (Path(__file__).parent / "cases.jsonl").read_text(encoding="utf-8").splitlines()
    for row in [json.loads(line)]
}


def golds(case_gold: list[dict[str, Any]]) -> Any:
    return path(*(gold(item["name"], item["arguments"]) for item in case_gold))


def calls(actual: list[dict[str, Any]]) -> list[Any]:
    return [(item["name"], item["arguments"]) for item in actual]


def open_catalog(*names: str) -> Any:
    return catalog(*(tool(name) for name in dict.fromkeys(names)))


def is_correct(wanted: Task, actual: list[dict[str, Any]]) -> bool:
    names = [item.tool for accepted in wanted.paths for item in accepted.calls]
    names += [item["name"] for item in actual]
    attempt = score_attempt(wanted, trace(*calls(actual)), open_catalog(*names))
    return bool(attempt.passed) and all(decision.verdict == "right" for decision in attempt.decisions)


def test_e02_scalars_are_compared() -> None:
    case = CASES["E02"]
    wanted = task(golds(case["input"]["gold"]))
    found = [is_correct(wanted, actual) for actual in case["input"]["actual_variants"]]
    assert found == case["check"]["correct"]


@pytest.mark.parametrize(
    ("wanted", "actual"),
    [(1, True), (True, 1), (True, "true"), (0, False), (10, "10"), ("10", 10), (None, ""), ([], None)],
)
def test_e02_values_of_other_types_differ(wanted: Any, actual: Any) -> None:
    assert not compile_value(wanted, None, {}, MatchOptions())(actual, None)


def test_e03_whole_floats_equal_integers() -> None:
    case = CASES["E03"]
    assert is_correct(task(golds(case["input"]["gold"])), case["input"]["actual"]) is case["check"]["correct"]


def test_e03_large_integers_differ_and_tolerance_is_a_setting() -> None:
    exact = MatchOptions()
    loose = MatchOptions(float_tolerance=0.05)
    assert not compile_value(9007199254740993, None, {}, exact)(9007199254740992, None)
    assert not compile_value(0.3, None, {}, exact)(0.1 + 0.2, None)
    assert compile_value(0.3, None, {}, MatchOptions(float_tolerance=1e-9))(0.1 + 0.2, None)
    assert not compile_value(1001, None, {}, loose)(1002, None)
    assert not compile_value(1001.0, {"type": "integer"}, {}, loose)(1002, None)


def test_e06_independent_calls_in_another_order() -> None:
    case = CASES["E06"]
    actual = case["input"]["actual"]
    assert is_correct(task(golds(case["input"]["gold"]), order="any_order"), actual)
    strict = score_attempt(
        task(golds(case["input"]["gold"]), order="exact"),
        trace(*calls(actual)),
        open_catalog("agenda", "rota"),
    )
    assert strict.share == 0
    assert strict.passed is False
    assert {decision.cause.name for decision in strict.decisions if decision.cause} == {"wrong_order"}
    report = score(
        PlainSuite([task(golds(case["input"]["gold"]), order="any_order")]),
        [trace(*calls(actual))],
        open_catalog("agenda", "rota"),
    )
    assert report.order_modes == {"any_order": 1}
    assert report.metrics["tool_reachability"].value == case["check"]["score_any"]


def e07(order: str) -> tuple[Report, AttemptScore]:
    case = CASES["E07"]["input"]
    wanted = task(path(*(gold(name) for name in case["gold"])), order=order)
    report = score(
        PlainSuite([wanted]), [trace(*((name, {}) for name in case["actual"]))], open_catalog("open", "edit")
    )
    return report, report.tasks[0].attempts[0]


def test_e07_order_modes_mean_what_they_say() -> None:
    check = CASES["E07"]["check"]
    report, attempt = e07("in_order")
    assert attempt.share == pytest.approx(check["in_order"], abs=1e-4)
    assert report.metrics["tool_reachability"].value == pytest.approx(check["in_order"], abs=1e-4)
    off = [decision for decision in attempt.decisions if decision.verdict != "right"]
    assert [(decision.golden_id, decision.expected_tool, decision.verdict) for decision in off] == [
        ("step2", "open", "deviation")
    ]
    report, attempt = e07("any_order")
    assert report.metrics["tool_reachability"].value == attempt.share == check["any"]
    assert e07("exact")[1].passed is check["exact"]


def test_e09_an_empty_suite_is_an_error_and_rates_are_null() -> None:
    with pytest.raises(InputError, match="selects no task"):
        score(PlainSuite([], name="core-suite"), [], open_catalog("a"))
    report = build_report(RunInfo(id="r", time=""), open_catalog("a"), [])
    assert all(metric.value is None and metric.reason for metric in report.metrics.values())
    assert report.sufficient is False


def infra_report(states: list[str]) -> Report:
    wanted = task(path(gold("a")))
    attempts = [
        score_attempt(wanted, trace(("a", {})), open_catalog("a"), index=number, state=state)  # type: ignore[arg-type]
        for number, state in enumerate(states)
    ]
    return build_report(RunInfo(id="r", time=""), open_catalog("a"), [task_score(wanted, attempts)])


def test_e10_errors_are_left_out_counted_and_stop_the_gate() -> None:
    report = infra_report(["scored", "scored", "infra_error"])
    reach = report.metrics["tool_reachability"]
    assert (reach.value, reach.denominator) == (1.0, 2)
    assert report.infra_errors == ("t#2",)
    assert report.infra_share == pytest.approx(1 / 3)
    assert not report.sufficient
    result = diff(infra_report(["scored"] * 3), report)
    assert (result.verdict, result.exit_code) == ("insufficient", 3)
    assert infra_report(["scored"] * 19 + ["infra_error"]).sufficient


def test_e12_pass_rates_pass_hat_k_and_flaky_tasks() -> None:
    case = CASES["E12"]
    c = open_catalog("a", "b")
    scores = []
    for name, trials in case["input"]["trials"].items():
        wanted = task(path(gold("a")), task_id=name)
        scores.append(
            task_score(
                wanted,
                [
                    score_attempt(wanted, trace(("a" if good else "b", {})), c, index=number)
                    for number, good in enumerate(trials)
                ],
            )
        )
    report = build_report(RunInfo(id="r", time="", repeats=5), c, scores)
    assert list(report.flaky) == case["check"]["flaky"]
    assert {item.task_id: item.pass_rate for item in scores} == pytest.approx(case["check"]["pass_rate"])
    assert scores[1].pass_hat["2"] == pytest.approx(3 / 10)
    assert scores[1].pass_at["2"] == pytest.approx(1 - 1 / 10)
    assert report.pass_hat["5"] == pytest.approx(1 / 3)
    interval = report.metrics["task_pass"].interval
    assert interval is not None
    assert interval.low < 8 / 15 < interval.high
    assert diff(report, report).verdict == "pass"


def decided(right: dict[str, int]) -> Report:
    """A run of one task with these decisions, right or wrong."""
    wanted = task(path(*(gold(name, id=name) for name in right)), order="any_order", task_id="case1")
    c = open_catalog(*right)
    made = trace(*((name, {}) for name, good in right.items() if good), task_id="case1")
    info = RunInfo(id="r", time="", deterministic=True)
    return build_report(info, c, [task_score(wanted, [score_attempt(wanted, made, c)])])


def test_e14_a_fixed_and_a_broken_check_do_not_cancel() -> None:
    case = CASES["E14"]
    before = decided(case["input"]["baseline"]["case1"])
    after = decided(case["input"]["current"]["case1"])
    result = diff(before, after)
    assert [flip.name for flip in result.regressions] == case["check"]["regressions"]
    assert [flip.name for flip in result.improvements] == ["case1.x"]
    assert (result.verdict, result.exit_code) == ("regression", 1)


def test_e15_end_state_mode_passes_another_way_and_lists_the_conflict() -> None:
    case = CASES["E15"]["input"]
    wanted = task(golds(case["gold"]), match={"mode": "end_state"})
    c = open_catalog("get_res", "find_user", "cancel")
    attempt = score_attempt(
        wanted,
        trace(*calls(case["actual"]), metadata={"end_state_equal": case["end_state_equal"]}),
        c,
    )
    assert attempt.passed is CASES["E15"]["check"]["pass"]
    assert [decision.verdict for decision in attempt.decisions] == ["wrong", "right"]
    assert [finding.code for finding in attempt.findings] == ["criteria_disagree"]
    report = build_report(RunInfo(id="r", time=""), c, [task_score(wanted, [attempt])])
    assert report.metrics["task_pass"].value == 1.0
    assert report.metrics["decision_success"].value is None
    unknown = score_attempt(wanted, trace(*calls(case["actual"])), c)
    assert unknown.passed is None
    assert [finding.code for finding in unknown.findings] == ["end_state_unknown"]


def test_e15_end_states_are_compared_where_both_are_given() -> None:
    wanted = task(
        path(gold("cancel")), match={"mode": "end_state"}, environment={"end_state": {"R1": "cancelled"}}
    )
    for state, passed in ({"R1": "cancelled"}, True), ({"R1": "open"}, False):
        made = trace(("cancel", {}), metadata={"end_state": state})
        assert score_attempt(wanted, made, open_catalog("cancel")).passed is passed


def test_e15_several_accepted_paths() -> None:
    wanted = task(path(gold("get_res"), gold("cancel")), path(gold("find_user"), gold("cancel")))
    attempt = score_attempt(
        wanted, trace(("find_user", {}), ("cancel", {})), open_catalog("get_res", "find_user", "cancel")
    )
    assert (attempt.path_index, attempt.share, attempt.passed) == (1, 1.0, True)


def test_e16_volatile_arguments_are_ignored_by_name_and_by_path() -> None:
    case = CASES["E16"]["input"]
    wanted = task(golds(case["gold"]), match={"ignore_args": tuple(case["ignore_args"])})
    assert is_correct(wanted, case["actual"]) is CASES["E16"]["check"]["correct"]
    nested = {"filter": {"org": "o", "at": 1}}
    for entry in ("list_conditions.filter.at", "filter.at"):
        wanted = task(path(gold("list_conditions", nested)), match={"ignore_args": (entry,)})
        assert is_correct(
            wanted, [{"name": "list_conditions", "arguments": {"filter": {"org": "o", "at": 9}}}]
        )
        assert not is_correct(
            wanted, [{"name": "list_conditions", "arguments": {"filter": {"org": "x", "at": 1}}}]
        )
    other = task(path(gold("list_conditions", {"a": 1})), match={"ignore_args": ("other_tool.a",)})
    assert not is_correct(other, [{"name": "list_conditions", "arguments": {"a": 2}}])


def test_e16_an_ignored_argument_needs_no_place_in_the_schema() -> None:
    c = catalog(tool("list_conditions", {"org": "string"}, ["org"]))
    wanted = task(path(gold("list_conditions", {"org": "o"})), match={"ignore_args": ("_auth",)})
    attempt = score_attempt(wanted, trace(("list_conditions", {"org": "o", "_auth": "x"})), c)
    assert attempt.decisions[0].decision_success
    strict = score_attempt(
        task(path(gold("list_conditions", {"org": "o"}))),
        trace(("list_conditions", {"org": "o", "_auth": "x"})),
        c,
    )
    assert not strict.decisions[0].decision_success


@pytest.mark.parametrize(
    ("matcher", "good", "bad"),
    [
        ({"$one_of": ["a", 5]}, ["a", 5, 5.0], ["b", "5"]),
        ({"$pattern": r"^PDT-\d+$"}, ["PDT-1"], ["X PDT-1", 5, None]),
        ({"$approx": 0.3, "$tol": 0.01}, [0.3, 0.305, 0.29], [0.32, "0.3", True]),
        ({"$type": "integer"}, [1, 2.0], [1.5, "1", True, None]),
        ({"$type": ["string", "null"]}, ["", None], [1]),
        ({"$any": True}, [None, 0, "x"], []),
        ({"$unordered": [1, {"$one_of": ["a", "b"]}]}, [["a", 1], [1, "b"]], [[1], [1, "a", "a"], [1, 1]]),
        ({"$date": "2024-03-01"}, ["2024-03-01", "2024/3/1", "20240301", "2024年3月1日", "March 1, 2024"],
         ["2024-03-02", "01/03/2024", 20240301, "2024-03-01T10:00:00"]),
        ({"$date": "2024-03-01T00:00:00Z"}, ["2024-03-01T01:00:00+01:00"], ["2024-03-01T00:00:00"]),
        ({"$range": [1, 10]}, [1, 10, 5.5], [0, 11, "5", True]),
        ({"$contains": ["a"]}, [["a"], ["b", "a"]], [["b"], "a"]),
    ],
)  # fmt: skip
def test_e16_matchers(matcher: dict[str, Any], good: list[Any], bad: list[Any]) -> None:
    compare = compile_value(matcher, None, {}, MatchOptions())
    assert [value for value in good if not compare(value, None)] == []
    assert [value for value in bad if compare(value, None)] == []


def test_e17_a_task_without_golds_is_not_evaluated_and_says_so() -> None:
    report = score(PlainSuite([task(task_id="x")]), [trace(("x", {}), task_id="x")], open_catalog("x"))
    assert report.tasks[0].state == CASES["E17"]["check"]["state"]
    assert report.tasks[0].reason == "no gold calls in the task"
    assert report.tasks[0].attempts[0].passed is None
    reach = report.metrics["tool_reachability"]
    assert reach.value is None
    assert reach.reason
    assert [finding.code for finding in report.findings] == ["task_not_evaluated"]


def test_e18_unicode_forms() -> None:
    case = CASES["E18"]
    options = MatchOptions(strings="nfkc")
    found = [compile_value(left, None, {}, options)(right, None) for left, right in case["input"]["pairs"]]
    assert found == case["check"]["equal"]
    default = [
        compile_value(left, None, {}, MatchOptions())(right, None) for left, right in case["input"]["pairs"]
    ]
    assert default == [True, False, False, False, False]
    composed, decomposed = "na\u00efve", "nai\u0308ve"
    assert compile_value(composed, None, {}, MatchOptions())(decomposed, None)
    assert not compile_value(composed, None, {}, MatchOptions(strings="raw"))(decomposed, None)
    assert not compile_value("x", None, {}, MatchOptions(strings="raw"))("x ", None)


def test_e19_moments_are_compared_as_moments_in_every_host_zone(monkeypatch: pytest.MonkeyPatch) -> None:
    schema = {"type": "string", "format": "date-time"}
    compare = compile_value("2030-01-01T00:00:00Z", schema, {}, MatchOptions())
    case = CASES["E19"]["input"]
    wanted = task(path(gold(case["gold"][0]["name"], case["gold"][0]["arguments"])), now=case["frozen_now"])
    verdicts = set()
    for zone in case["host_tz_variants"]:
        monkeypatch.setenv("TZ", zone)
        time.tzset()
        try:
            assert compare("2030-01-01T01:00:00+01:00", None)
            assert not compare("2030-01-01T00:00:00", None)
            assert not compare("2030-01-01T01:00:00Z", None)
            verdicts.add(is_correct(wanted, case["gold"]))
        finally:
            monkeypatch.undo()
            time.tzset()
    assert verdicts == {True}
    assert os.environ.get("TZ") not in case["host_tz_variants"][1:]


def mutated() -> dict[str, list[Any]]:
    a, b = ("look", {"id": "A-1"}), ("update", {"id": "A-1", "count": 5})
    return {
        "perfect": [a, b],
        "swap tool name": [a, ("adjust", {"id": "A-1", "count": 5})],
        "change one scalar": [a, ("update", {"id": "A-1", "count": 6})],
        "drop one call": [a],
        "add one call": [a, ("erase", {"id": "A-1"}), b],
        "reorder": [b, a],
        "illegal type": [a, ("update", {"id": "A-1", "count": "5"})],
        "failing tool": [a, (*b, ok("")), ],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("mutation", "metric"),
    [
        ("swap tool name", "tool_reachability"),
        ("swap tool name", "decision_success"),
        ("swap tool name", "call_success"),
        ("change one scalar", "param_hit_rate"),
        ("change one scalar", "param_pass_rate"),
        ("change one scalar", "decision_success"),
        ("drop one call", "tool_reachability"),
        ("drop one call", "task_pass"),
        ("add one call", "first_choice_rate"),
        ("add one call", "over_call_rate"),
        ("add one call", "extra_calls"),
        ("add one call", "task_pass"),
        ("reorder", "tool_reachability"),
        ("reorder", "task_pass"),
        ("illegal type", "param_legality"),
        ("failing tool", "call_success"),
    ],
)
def test_e22_each_mutation_is_seen_by_its_metric(mutation: str, metric: str) -> None:
    c = catalog(
        tool("look", {"id": "string"}, ["id"]),
        tool("update", {"id": "string", "count": "integer"}, ["id", "count"]),
        tool("adjust", {"id": "string", "count": "integer"}, ["id", "count"]),
        tool("erase", {"id": "string"}, ["id"]),
    )
    wanted = task(
        path(gold("look", {"id": "A-1"}), gold("update", {"id": "A-1", "count": 5})), forbid=("erase",)
    )
    assert set(CASES["E22"]["input"]["mutations"]) <= set(mutated())
    values = {}
    for name in ("perfect", mutation):
        metrics = score(PlainSuite([wanted]), [trace(*mutated()[name])], c).metrics
        values[name] = metrics[metric].value
    perfect, worse = values["perfect"], values[mutation]
    assert perfect is not None
    assert worse is not None
    if metric in ("over_call_rate", "extra_calls"):
        assert worse > perfect
    else:
        assert worse < perfect == 1.0


def test_e22_a_metric_without_variance_is_flagged() -> None:
    tasks = [task(path(gold("a")), task_id=f"t{number}") for number in range(6)]
    flat = score(
        PlainSuite(tasks), [trace(("a", {}), task_id=item.id) for item in tasks], open_catalog("a", "b")
    )
    flagged = {finding.subject for finding in flat.findings if finding.code == "metric_without_variance"}
    assert "tool_reachability" in flagged
    mixed = score(
        PlainSuite(tasks),
        [trace(("a" if number else "b", {}), task_id=item.id) for number, item in enumerate(tasks)],
        open_catalog("a", "b"),
    )
    flagged = {finding.subject for finding in mixed.findings if finding.code == "metric_without_variance"}
    assert "tool_reachability" not in flagged


@pytest.mark.parametrize("threshold", [1.5, -0.01, float("nan"), float("inf"), True, "0.02", None])
def test_e24_nonsense_thresholds_are_refused(threshold: Any) -> None:
    report = decided({"x": 1})
    with pytest.raises(InputError, match="threshold"):
        diff(report, report, threshold=threshold)


def test_e24_none_is_no_limit_of_extra_calls() -> None:
    made = trace(("b", {}), ("b", {"n": 1}), ("b", {"n": 2}), ("a", {}))
    for limit, passed in ((None, True), (3, True), (2, False), (0, False)):
        wanted = task(path(gold("a")), max_extra=limit)
        assert score_attempt(wanted, made, open_catalog("a", "b")).passed is passed


def accepted(actual: str, **match: Any) -> Decision:
    texts = CASES["E25"]["input"]["gold_any_of"][0][0]["arguments"]["keyword"]
    wanted = task(path(gold("search_recipe", {"keyword": {"$one_of": texts}})), match=match)
    made = trace(("search_recipe", {"keyword": actual}))
    return score_attempt(wanted, made, open_catalog("search_recipe")).decisions[0]


def test_e25_accept_lists_with_a_declared_string_mode_name_what_matched() -> None:
    actual = CASES["E25"]["input"]["actual"][0]["arguments"]["keyword"]
    found = accepted(actual, strings="casefold")
    assert (found.verdict == "right") is CASES["E25"]["check"]["correct"]
    assert found.argument_scores[0].matched == "miso soup"
    assert accepted("soup").argument_scores[0].matched == "soup"
    assert accepted(actual).verdict == "deviation"
    assert accepted("soups", strings="casefold").verdict == "deviation"
