"""The gate: is this report worse than the confirmed baseline, beyond what chance explains?

Compares only tasks that both runs asked in the same words, metric by metric with exact fractions, and lists beside the
verdict everything else that changed. It runs nothing and promotes nothing: a baseline is confirmed by hand.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, Literal

from agent_reach.errors import InputError
from agent_reach.evals.gate_changes import run_changes, tool_movements
from agent_reach.evals.gate_flips import flips_between
from agent_reach.evals.gate_metrics import GATED_METRICS, REPORTED_METRICS, TaskPair, movement
from agent_reach.records.finding import Finding
from agent_reach.records.gate import Flip, GateResult, GateVerdict, MetricMovement
from agent_reach.records.message import Message
from agent_reach.records.report import Report
from agent_reach.records.score import TaskScore
from agent_reach.reports.json_report import read_report

__all__ = ["GATED_METRICS", "diff"]

COMMON_SHARE = Fraction(1, 2)
Source = Report | str | os.PathLike[str] | Mapping[str, Any]

_WORDS: dict[str, tuple[str, str]] = {
    "regression": ("Regression", "退化"),
    "suspect": ("Suspect: worse than the threshold, not yet beyond chance", "可疑：低于阈值但尚不能排除偶然"),
    "incomparable": ("Incomparable: too few tasks in common", "无法比较：共同任务过少"),
    "insufficient": ("Insufficient", "数据不足"),
    "pass": ("Pass", "通过"),
    "improved": ("Improved", "有提升"),
}


def diff(
    baseline: Source,
    current: Source,
    *,
    threshold: float = 0.02,
    population: bool = False,
    on_suspect: Literal["fail", "warn"] = "fail",
    seed: int = 0,
) -> GateResult:
    """Compare a report with the confirmed baseline.

    `threshold` is the largest tolerated drop, 0..1, as an absolute share; `population` resamples tasks too, for claims
    beyond this suite; `on_suspect` says whether a suspect fails. Raises `InputError` for a threshold out of range and
    `ReportError` for a report that cannot be read.
    """
    limit = _checked_threshold(threshold)
    if on_suspect not in ("fail", "warn"):
        raise InputError(f"on_suspect is {on_suspect!r}", where="on_suspect", next_step="give fail or warn")
    before, after = _report(baseline), _report(current)
    pairs, same, content_changed = _matched(before, after)
    deterministic = before.run.deterministic and after.run.deterministic
    movements = [
        movement(
            name,
            pairs,
            limit=limit,
            gated=name in GATED_METRICS,
            deterministic=deterministic,
            population=population,
            seed=seed,
        )
        for name in (*GATED_METRICS, *REPORTED_METRICS)
    ]
    lost, won = flips_between(pairs, deterministic=deterministic)
    lacking = [
        problem
        for name, report in (("baseline", before), ("current", after))
        if (problem := _lacks(name, report))
    ]
    comparable = (
        _common_share(before, after, same) >= COMMON_SHARE if _both_evaluated(before, after) else True
    )
    sufficient = not lacking
    verdict = _verdict(movements, lost, comparable=comparable, sufficient=sufficient)
    return GateResult(
        verdict=verdict,
        exit_code=_exit_code(verdict, on_suspect),
        threshold=threshold,
        headline=_headline(verdict, movements, lost, len(pairs), lacking),
        metrics=tuple(movements),
        regressions=tuple(lost),
        improvements=tuple(won),
        tools=tool_movements(before, after, pairs),
        changes=run_changes(before, after),
        tasks_compared=len(pairs),
        only_in_baseline=_only_in(before, after),
        only_in_current=_only_in(after, before),
        content_changed=content_changed,
        population=population,
        findings=tuple(_findings(before, after, comparable, lacking)),
    )


def _checked_threshold(threshold: float) -> Fraction:
    if isinstance(threshold, bool) or not isinstance(threshold, (int, float)) or not math.isfinite(threshold):
        raise InputError(
            f"the threshold is {threshold!r}", where="threshold", next_step="give a number from 0 to 1"
        )
    if not 0 <= threshold <= 1:
        raise InputError(
            f"the threshold is {threshold!r}, which is outside 0..1",
            where="threshold",
            next_step="0.02 tolerates a drop of two percentage points",
        )
    return Fraction(str(threshold))


def _report(source: Source) -> Report:
    return source if isinstance(source, Report) else read_report(source)


def _matched(before: Report, after: Report) -> tuple[list[TaskPair], int, tuple[str, ...]]:
    """Tasks of the same id and content with an attempt that counts in both runs; how many have the same id and content,
    lost or not; ids whose content changed."""
    known = {task.task_id: task for task in after.tasks}
    pairs, changed, same = [], [], 0
    for task in before.tasks:
        other = known.get(task.task_id)
        if other is None:
            continue
        if task.content_hash != other.content_hash:
            changed.append(task.task_id)
            continue
        same += task.state == other.state == "evaluated"
        if is_scored(task) and is_scored(other):
            pairs.append(TaskPair(task, other))
    return pairs, same, tuple(changed)


def is_scored(task: TaskScore) -> bool:
    """The task can be evaluated, and some attempt of it was not lost to infrastructure."""
    return task.state == "evaluated" and any(attempt.state != "infra_error" for attempt in task.attempts)


def _both_evaluated(before: Report, after: Report) -> bool:
    return all(any(task.state == "evaluated" for task in report.tasks) for report in (before, after))


def _common_share(before: Report, after: Report, same: int) -> Fraction:
    sizes = [sum(task.state == "evaluated" for task in report.tasks) for report in (before, after)]
    return Fraction(same, max(*sizes, 1))


def _lacks(name: str, report: Report) -> Message | None:
    """Why a run cannot carry a verdict: it lost too many attempts, or evaluated nothing."""
    chinese = "基线" if name == "baseline" else "当前"
    if not report.sufficient and (report.infra_errors or report.infra_share):
        share = f"{report.infra_share:.1%}"
        return Message(
            f"{share} of the attempts of the {name} run were lost to infrastructure",
            f"{chinese}运行有 {share} 的尝试因基础设施失败",
        )
    if not report.sufficient or not any(is_scored(task) for task in report.tasks):
        return Message(f"the {name} run evaluated no task", f"{chinese}运行没有评估任何任务")
    return None


def _only_in(report: Report, other: Report) -> tuple[str, ...]:
    known = {task.task_id for task in other.tasks}
    return tuple(task.task_id for task in report.tasks if task.task_id not in known)


def _verdict(
    movements: Iterable[MetricMovement], lost: Sequence[Flip], *, comparable: bool, sufficient: bool
) -> GateVerdict:
    """The worst verdict; with too little in common only a proved regression counts beside that."""
    found = {item.verdict for item in movements if item.gated}
    if "regression" in found or any(flip.fails_alone for flip in lost):
        return "regression"
    if not comparable:
        return "incomparable"
    if "suspect" in found:
        return "suspect"
    if not sufficient:
        return "insufficient"
    return "improved" if "improved" in found else "pass"


def _exit_code(verdict: GateVerdict, on_suspect: str) -> int:
    if verdict == "regression" or (verdict == "suspect" and on_suspect == "fail"):
        return 1
    return 3 if verdict in ("incomparable", "insufficient") else 0


def _headline(
    verdict: GateVerdict,
    movements: Iterable[MetricMovement],
    lost: Sequence[Flip],
    compared: int,
    lacking: Sequence[Message],
) -> Message:
    en, zh = _WORDS[verdict]
    if verdict == "insufficient":
        en = f"{en}: {'; '.join(problem.en for problem in lacking)}"
        zh = f"{zh}：{'；'.join(problem.zh for problem in lacking)}"
    moved = [item for item in movements if item.gated and item.verdict not in ("pass", "not_evaluated")]
    if verdict == "insufficient":
        moved = []
    shown = "; ".join(f"{item.name} {_percent(item.baseline)} -> {_percent(item.current)}" for item in moved)
    alone = [flip.name for flip in lost if flip.fails_alone]
    tail_en = f" ({compared} tasks compared)"
    tail_zh = f"（比较了 {compared} 个任务）"
    if alone:
        tail_en = f"; lost for certain: {', '.join(alone[:5])}" + tail_en
        tail_zh = f"；确定丢失：{'、'.join(alone[:5])}" + tail_zh
    return Message(
        en + (f": {shown}" if shown else "") + tail_en, zh + (f"：{shown}" if shown else "") + tail_zh
    )


def _percent(value: float | None) -> str:
    return "n/a" if value is None else f"{value:.1%}"


def _findings(
    before: Report, after: Report, comparable: bool, lacking: Sequence[Message]
) -> Iterable[Finding]:
    if before.run.scorer_version != after.run.scorer_version:
        yield Finding(
            code="scorer_changed",
            severity="warning",
            message=Message(
                f"the reports were scored by versions {before.run.scorer_version} and {after.run.scorer_version}",
                f"两份报告由不同版本的评分器生成：{before.run.scorer_version} 与 {after.run.scorer_version}",
            ),
        )
    if not comparable:
        yield Finding(
            code="few_tasks_in_common",
            severity="error",
            message=Message(
                "under half of the tasks are the same in both runs; run the baseline's suite, or promote a new baseline",
                "两次运行相同的任务不足一半；请运行基线的任务集，或确认新的基线",
            ),
        )
    for problem in lacking:
        yield Finding(code="attempts_lost", severity="error", message=problem)
