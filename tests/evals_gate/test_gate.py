"""The gate: every verdict, exact thresholds, flips, what changed beside the movement, and inputs it refuses."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.evals_scoring.building import catalog, gold, path, task, tool, trace

from agent_reach.cli.main import run_command_line
from agent_reach.errors import InputError
from agent_reach.evals.gate import GATED_METRICS, diff
from agent_reach.evals.gate_text import gate_lines
from agent_reach.evals.report import build_report
from agent_reach.evals.scoring.score import score_attempt
from agent_reach.evals.scoring.task_score import task_score
from agent_reach.records.codec import to_json
from agent_reach.records.gate import GATE_VERDICTS
from agent_reach.records.report import Report, RunInfo
from agent_reach.records.task import Task
from agent_reach.reports.gate_markdown import render_gate
from agent_reach.reports.json_report import write_report

CATALOG = catalog(
    tool("look", {"id": "string"}, ["id"], description="Look."),
    tool("put", {"id": "string"}, ["id"]),
    tool("erase", {"id": "string"}, ["id"]),
)


def run_of(
    trials: Mapping[str, Sequence[str]],
    *,
    deterministic: bool = False,
    tasks: Mapping[str, Task] | None = None,
    over: Any = CATALOG,
    **info: Any,
) -> Report:
    """A run: task id -> attempts, each `ok`, `wrong` (another tool), `bad` (wrong argument), `erase`, `infra`."""
    scores = []
    for name, attempts in trials.items():
        wanted = (tasks or {}).get(name) or task(
            path(gold("look", {"id": name})), task_id=name, forbid=("erase",)
        )
        scored = []
        for number, what in enumerate(attempts):
            calls = {
                "ok": [("look", {"id": name})],
                "wrong": [("put", {"id": name})],
                "bad": [("look", {"id": "other"})],
                "erase": [("look", {"id": name}), ("erase", {"id": name})],
                "infra": [],
            }[what]
            state: Any = "infra_error" if what == "infra" else "scored"
            scored.append(score_attempt(wanted, trace(*calls, task_id=name), over, index=number, state=state))
        scores.append(task_score(wanted, scored))
    return build_report(RunInfo(id="r", time="", deterministic=deterministic, **info), over, scores)


def uniform(count: int, good: int, repeats: int = 1, what: str = "wrong", **more: Any) -> Report:
    """`count` tasks of which the first `good` are right in every attempt."""
    return run_of({f"t{n}": ["ok" if n < good else what] * repeats for n in range(count)}, **more)


def test_the_same_run_passes() -> None:
    report = uniform(10, 8)
    result = diff(report, report)
    assert (result.verdict, result.exit_code, result.tasks_compared) == ("pass", 0, 10)
    assert [item.name for item in result.metrics if item.gated] == list(GATED_METRICS)
    assert not result.regressions
    assert not result.changes


def test_a_clear_drop_is_a_regression() -> None:
    result = diff(uniform(40, 40), uniform(40, 28))
    assert (result.verdict, result.exit_code) == ("regression", 1)
    moved = next(item for item in result.metrics if item.name == "tool_reachability")
    assert (moved.test, moved.worse, moved.better) == ("sign_test", 12, 0)
    assert moved.p_value == pytest.approx(0.5**12)


def test_a_drop_that_may_be_chance_is_suspect_and_says_how_many_repeats_decide() -> None:
    result = diff(uniform(40, 40), uniform(40, 38))
    assert (result.verdict, result.exit_code) == ("suspect", 1)
    moved = next(item for item in result.metrics if item.name == "tool_reachability")
    assert moved.repeats_needed is not None
    assert 2 <= moved.repeats_needed <= 5
    assert diff(uniform(40, 40), uniform(40, 38), on_suspect="warn").exit_code == 0
    assert diff(uniform(40, 40), uniform(40, 38), threshold=0.05).verdict == "pass"


def test_the_threshold_is_compared_exactly() -> None:
    before, after = uniform(50, 50, deterministic=True), uniform(50, 49, deterministic=True)
    at_limit = [
        item for item in diff(before, after, threshold=0.02).metrics if item.name == "tool_reachability"
    ]
    assert at_limit[0].verdict == "pass"
    over = [item for item in diff(before, after, threshold=0.019).metrics if item.name == "tool_reachability"]
    assert over[0].verdict == "regression"


def test_deterministic_runs_need_no_repeats() -> None:
    result = diff(uniform(40, 40, deterministic=True), uniform(40, 38, deterministic=True))
    assert result.verdict == "regression"
    assert [flip.name for flip in result.regressions if flip.fails_alone] == ["t38", "t39"]
    one_sided = diff(uniform(40, 40, deterministic=True), uniform(40, 38))
    assert one_sided.verdict == "suspect"


def test_repeats_decide_what_one_attempt_cannot() -> None:
    one_flip = [uniform(30, 30, repeats=5), uniform(30, 29, repeats=5)]
    result = diff(*one_flip)
    assert result.verdict == "regression"
    moved = next(item for item in result.metrics if item.name == "tool_reachability")
    assert moved.test == "attempts_bootstrap"
    assert moved.bounds is not None
    assert moved.bounds[1] < 0
    few = diff(uniform(30, 30, repeats=2), uniform(30, 29, repeats=2))
    assert few.verdict == "suspect"
    assert not any(flip.fails_alone for flip in few.regressions)


def test_noise_within_tasks_is_no_regression() -> None:
    before = run_of({f"t{n}": ["ok", "wrong", "ok", "wrong", "ok"] for n in range(20)})
    after = run_of({f"t{n}": ["wrong", "ok", "wrong", "ok", "ok" if n else "wrong"] for n in range(20)})
    assert diff(before, after).verdict == "pass"
    assert diff(before, after, threshold=0.0).verdict in ("suspect", "pass")


def test_a_flip_in_five_of_five_attempts_fails_alone_below_the_threshold() -> None:
    result = diff(uniform(100, 100, repeats=5), uniform(100, 99, repeats=5), threshold=0.02)
    assert next(item for item in result.metrics if item.name == "tool_reachability").verdict == "pass"
    assert result.verdict == "regression"
    assert [(flip.name, flip.kind, flip.fails_alone) for flip in result.regressions] == [
        ("t99", "lost", True)
    ]
    listed = diff(uniform(100, 100, repeats=3), uniform(100, 99, repeats=3), threshold=0.02)
    assert listed.verdict == "pass"
    assert [flip.name for flip in listed.regressions] == ["t99"]


def test_a_new_forbidden_call_needs_two_attempts() -> None:
    good = {f"t{n}": ["ok"] * 5 for n in range(100)}
    twice = diff(run_of(good), run_of({**good, "t0": ["erase", "erase", "ok", "ok", "ok"]}))
    assert twice.verdict == "regression"
    flip = next(flip for flip in twice.regressions if flip.kind == "forbidden_call")
    assert (flip.task_id, flip.detail, flip.fails_alone) == ("t0", "erase", True)
    once = diff(run_of(good), run_of({**good, "t0": ["erase", "ok", "ok", "ok", "ok"]}))
    assert once.verdict == "pass"
    assert not once.regressions


def test_over_calls_are_bad_upwards() -> None:
    before, after = uniform(20, 20), uniform(20, 8, what="erase")
    moved = next(item for item in diff(before, after).metrics if item.name == "over_call_rate")
    assert (moved.verdict, moved.change) == ("regression", pytest.approx(0.6))
    back = next(item for item in diff(after, before).metrics if item.name == "over_call_rate")
    assert back.verdict == "improved"


def test_improvement() -> None:
    result = diff(uniform(40, 28), uniform(40, 40))
    assert (result.verdict, result.exit_code) == ("improved", 0)
    assert len(result.improvements) == 12


def test_param_hit_rate_is_compared_over_decisions_right_in_both() -> None:
    before = run_of({"a": ["ok"], "b": ["ok"], "c": ["wrong"]})
    after = run_of({"a": ["ok"], "b": ["wrong"], "c": ["bad"]})
    moved = next(item for item in diff(before, after).metrics if item.name == "param_hit_rate")
    assert (moved.baseline, moved.current, moved.verdict) == (1.0, 1.0, "pass")


def test_a_metric_gone_null_because_nothing_was_right_is_a_regression() -> None:
    result = diff(uniform(6, 6), uniform(6, 0))
    moved = next(item for item in result.metrics if item.name == "param_hit_rate")
    assert (moved.verdict, moved.current) == ("regression", None)
    never = diff(uniform(6, 0), uniform(6, 0))
    assert next(item for item in never.metrics if item.name == "param_hit_rate").verdict == "not_evaluated"


def test_few_tasks_in_common_are_incomparable() -> None:
    before = uniform(10, 10)
    after = run_of({f"t{n}": ["ok"] for n in range(6, 16)})
    result = diff(before, after)
    assert (result.verdict, result.exit_code) == ("incomparable", 3)
    assert result.only_in_baseline == tuple(f"t{n}" for n in range(6))
    assert result.only_in_current == tuple(f"t{n}" for n in range(10, 16))
    half = diff(before, run_of({f"t{n}": ["ok"] for n in range(5, 15)}))
    assert half.verdict == "pass"


def test_a_task_asked_in_other_words_is_not_compared() -> None:
    wanted = task(path(gold("look", {"id": "t0"})), task_id="t0", forbid=("erase",), query="do it otherwise")
    result = diff(uniform(4, 4), run_of({f"t{n}": ["ok"] for n in range(4)}, tasks={"t0": wanted}))
    assert result.content_changed == ("t0",)
    assert result.tasks_compared == 3
    tagged = replace(
        task(path(gold("look", {"id": "t0"})), task_id="t0", forbid=("erase",)), tags=("new",), line=9
    )
    same = diff(uniform(4, 4), run_of({f"t{n}": ["ok"] for n in range(4)}, tasks={"t0": tagged}))
    assert same.tasks_compared == 4


def test_a_run_that_lost_too_many_attempts_is_insufficient() -> None:
    good = {f"t{n}": ["ok"] for n in range(10)}
    result = diff(run_of(good), run_of({**good, "t0": ["infra"]}))
    assert (result.verdict, result.exit_code) == ("insufficient", 3)
    worst = diff(run_of(good), run_of({name: ["wrong"] for name in good} | {"t0": ["infra"]}))
    assert worst.verdict == "regression"


@pytest.mark.parametrize("lost", [["infra"], ["infra", "infra"]])
def test_a_run_that_lost_everything_is_insufficient_and_says_so(lost: list[str]) -> None:
    names = [f"t{n}" for n in range(4)]
    good, gone = run_of({name: ["ok"] for name in names}), run_of(dict.fromkeys(names, lost))
    result = diff(good, gone)
    assert (result.verdict, result.exit_code, result.tasks_compared) == ("insufficient", 3, 0)
    assert result.headline.en == (
        "Insufficient: 100.0% of the attempts of the current run were lost to infrastructure (0 tasks compared)"
    )
    assert "当前运行有 100.0% 的尝试因基础设施失败" in result.headline.zh
    assert [finding.code for finding in result.findings] == ["attempts_lost"]
    assert {item.verdict for item in result.metrics} == {"not_evaluated"}
    assert "baseline run" in diff(gone, good).headline.en
    lines = list(gate_lines(result))
    assert len([line for line in lines if line.endswith("n/a -> n/a      not evaluated")]) == len(
        GATED_METRICS
    )
    assert "pass" not in "\n".join(lines)
    assert "– not evaluated" in render_gate(result)
    other = run_of({f"x{n}": ["infra"] for n in range(4)})
    assert diff(good, other).verdict == "incomparable", "other tasks are other tasks, lost or not"


def test_a_run_without_an_evaluated_task_is_insufficient() -> None:
    empty = run_of({"t0": ["ok"]}, tasks={"t0": task(task_id="t0")})
    result = diff(run_of({"t0": ["ok"]}), empty)
    assert result.verdict == "insufficient"
    assert "the current run evaluated no task" in result.headline.en


def test_a_figure_that_neither_run_has_is_no_pass() -> None:
    asked = task(path(gold("look", {"id": "t0"})), task_id="t0")
    report = run_of({"t0": ["ok"]}, tasks={"t0": asked})
    result = diff(report, report)
    assert result.verdict == "pass"
    verdicts = {item.name: item.verdict for item in result.metrics}
    assert (verdicts["tool_reachability"], verdicts["over_call_rate"]) == ("pass", "not_evaluated")


def test_lost_attempts_shift_no_weight() -> None:
    """A task that keeps one of five attempts counts as much as before."""
    before = run_of({"a": ["ok"] * 20, "b": ["wrong"] * 20})
    after = run_of({"a": ["ok"] * 19 + ["infra"], "b": ["wrong"] * 20})
    moved = next(item for item in diff(before, after).metrics if item.name == "tool_reachability")
    assert moved.change == 0


def test_the_changed_description_stands_beside_the_moved_reachability() -> None:
    better = catalog(
        tool("look", {"id": "string"}, ["id"], description="Look up one thing by its id."),
        tool("put", {"id": "string"}, ["id"]),
        tool("fresh", {"id": "string"}),
    )
    before = uniform(20, 12, model="m-1", model_settings={"temperature": 0})
    after = run_of(
        {f"t{n}": ["ok" if n < 18 else "wrong"] for n in range(20)},
        over=better,
        model="m-2",
        model_settings={"temperature": 0.5},
    )
    result = diff(before, after)
    told = {item.tool: item.message.en for item in result.tools if item.message is not None}
    assert told["look"] == "`look.description` changed; its reachability 12/20 -> 18/20"
    assert {"erase", "fresh"} <= set(told)
    changes = {change.where: (change.before, change.after) for change in result.changes}
    assert changes["model"] == ("m-1", "m-2")
    assert changes["model_settings.temperature"] == (0, 0.5)
    assert "catalog.hash" in changes


def test_population_is_more_careful() -> None:
    before, after = uniform(40, 40), uniform(40, 35)
    assert diff(before, after).verdict == "regression"
    claimed = diff(before, after, population=True)
    moved = next(item for item in claimed.metrics if item.name == "tool_reachability")
    assert moved.test == "task_bootstrap"
    assert moved.bounds is not None
    assert moved.bounds[0] < -0.125 < moved.bounds[1]


def test_reports_as_files_and_documents_compare_alike(tmp_path: Path) -> None:
    before, after = uniform(20, 20), uniform(20, 12)
    files = []
    for name, report in (("before", before), ("after", after)):
        files.append(tmp_path / f"{name}.json")
        write_report(report, files[-1])
    documents = [json.loads(file.read_text(encoding="utf-8")) for file in files]
    assert to_json(diff(*files)) == to_json(diff(*documents)) == to_json(diff(before, after))


@given(
    st.lists(
        st.lists(st.sampled_from(["ok", "wrong", "bad"]), min_size=1, max_size=3), min_size=1, max_size=8
    ),
    st.data(),
)
@settings(deadline=None, max_examples=40)
def test_a_run_against_itself_passes_and_verdicts_mirror(
    trials: list[list[str]], data: st.DataObject
) -> None:
    before = run_of({f"t{n}": attempts for n, attempts in enumerate(trials)})
    assert diff(before, before).verdict == "pass"
    other = run_of(
        {
            f"t{n}": data.draw(st.lists(st.sampled_from(["ok", "wrong"]), min_size=len(a), max_size=len(a)))
            for n, a in enumerate(trials)
        }
    )
    forth, back = diff(before, other), diff(other, before)
    assert forth.verdict in GATE_VERDICTS
    assert [flip.name for flip in forth.improvements] == [
        flip.name for flip in back.regressions if flip.kind == "lost"
    ]
    for one, two in zip(forth.metrics, back.metrics, strict=True):
        if one.change is not None and two.change is not None:
            assert one.change == pytest.approx(-two.change)


def test_text_in_both_languages() -> None:
    result = diff(uniform(40, 40), uniform(40, 28))
    english, chinese = list(gate_lines(result, "en")), list(gate_lines(result, "zh"))
    assert english[0].startswith("Regression: tool_reachability 100.0% -> 70.0%")
    assert chinese[0].startswith("退化：tool_reachability 100.0% -> 70.0%")
    assert len(english) == len(chinese)


def written(tmp_path: Path, **reports: Report) -> dict[str, str]:
    found = {}
    for name, report in reports.items():
        write_report(report, tmp_path / f"{name}.json")
        found[name] = str(tmp_path / f"{name}.json")
    return found


def test_command_line_exit_codes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = written(
        tmp_path,
        good=uniform(40, 40),
        bad=uniform(40, 20),
        slightly=uniform(40, 38),
        other=run_of({f"x{n}": ["ok"] for n in range(40)}),
    )

    def code(current: str, *more: str) -> int:
        return run_command_line(["diff", "--baseline", files["good"], "--current", files[current], *more])

    assert code("good", "--threshold", "0.02") == 0
    assert code("bad", "--threshold", "0.02") == 1
    assert code("slightly") == 1
    assert code("slightly", "--on-suspect", "warn") == 0
    assert code("other") == 3
    assert code("good", "--threshold", "1.5") == 2
    assert (
        run_command_line(["diff", "--baseline", str(tmp_path / "none.json"), "--current", files["good"]]) == 2
    )
    capsys.readouterr()
    assert code("bad", "--json", "--markdown", str(tmp_path / "gate.md")) == 1
    shown = json.loads(capsys.readouterr().out)
    assert (shown["verdict"], shown["exit_code"]) == ("regression", 1)
    assert "Regression: tool" in (tmp_path / "gate.md").read_text(encoding="utf-8")


def test_promote_copies_the_report_and_refuses_what_cannot_be_trusted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = written(tmp_path, good=uniform(4, 4), lost=run_of({"t0": ["infra"], "t1": ["ok"]}))
    target = tmp_path / "baseline.json"
    assert run_command_line(["baseline", "promote", files["good"], "--to", str(target)]) == 0
    assert target.read_bytes() == Path(files["good"]).read_bytes()
    assert run_command_line(["baseline", "promote", files["lost"], "--to", str(target)]) == 2
    assert target.read_bytes() == Path(files["good"]).read_bytes()
    assert run_command_line(["baseline", "promote", files["lost"], "--to", str(target), "--force"]) == 0
    assert "it was" in capsys.readouterr().out
    nothing = written(tmp_path, nothing=run_of({"t0": ["infra"]}))["nothing"]
    before = target.read_bytes()
    assert run_command_line(["baseline", "promote", nothing, "--to", str(target), "--force"]) == 2
    assert "no task of this report was evaluated" in capsys.readouterr().err
    assert target.read_bytes() == before
    (tmp_path / "broken.json").write_text("{", encoding="utf-8")
    assert run_command_line(["baseline", "promote", str(tmp_path / "broken.json"), "--to", str(target)]) == 2
    assert run_command_line(["baseline", "show", str(target)]) == 0


def test_unknown_words_are_refused() -> None:
    report = uniform(2, 2)
    with pytest.raises(InputError, match="on_suspect"):
        diff(report, report, on_suspect="ignore")  # type: ignore[arg-type]
