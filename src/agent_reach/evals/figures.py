"""The metrics of DESIGN section 3 as sums over tasks: for each task a numerator and a denominator per metric.

Exact definitions live here and nowhere else; intervals come from `statistics`, the whole report from `report`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from agent_reach.evals.statistics import ratio_intervals
from agent_reach.records.report import METRIC_NAMES
from agent_reach.records.score import AttemptScore, Metric, TaskScore

Counts = dict[str, tuple[float, float]]

NOT_A_SHARE = frozenset(("extra_calls",))
_EMPTY_REASONS = {
    "tool_reachability": "no required decision",
    "param_hit_rate": "no right-tool call with arguments to score",
    "param_pass_rate": "no right-tool call with arguments to score",
    "param_legality": "no call of a known tool",
    "param_legality_sent": "no call was sent to a backend",
    "optional_unused_rate": "no optional argument was expected",
    "context_utilization": "no block with an identifying fact was given",
    "state_slot_use": "no state slot was filled",
    "over_call_rate": "no task of kind forbid and none with a forbid list",
    "may_call_rate": "no task of kind may",
    "execution_success": "no call was answered by a backend or its own recording",
    "call_success": "no call was answered by a backend or its own recording",
    "task_pass": "no attempt that can pass or fail",
}


def counted_attempts(task: TaskScore) -> list[AttemptScore]:
    """The attempts that count: not lost to infrastructure, of a task that is evaluated."""
    if task.state != "evaluated":
        return []
    return [attempt for attempt in task.attempts if attempt.state != "infra_error"]


def counts_decisions(task: TaskScore) -> bool:
    """The task's decisions are required ones: kind `must`, judged by its path."""
    return task.kind == "must" and task.mode == "path"


def attempt_counts(task: TaskScore, attempt: AttemptScore) -> Counts:
    """Metric -> (numerator, denominator) of one attempt; metrics it says nothing about are left out."""
    counts: Counts = {
        "param_legality": attempt.legality_emitted,
        "param_legality_sent": attempt.legality_sent,
        "execution_success": attempt.executed,
        "state_slot_use": (attempt.slots_used, attempt.slots_filled),
    }
    if attempt.blocks:
        used = sum(1 for block in attempt.blocks if block.state == "used")
        unused = sum(1 for block in attempt.blocks if block.state == "unused")
        counts["context_utilization"] = (used, used + unused)
    if task.kind == "forbid" or task.has_forbid:
        counts["over_call_rate"] = (int(attempt.over_called), 1)
    if task.kind == "may":
        counts["may_call_rate"] = (int(attempt.called), 1)
    if attempt.passed is not None:
        counts["task_pass"] = (int(attempt.passed), 1)
    if attempt.decisions and counts_decisions(task):
        _add_decisions(counts, attempt)
    return counts


def _add_decisions(counts: Counts, attempt: AttemptScore) -> None:
    decisions = attempt.decisions
    total = len(decisions)
    scores = [(d, score) for d in decisions if (score := d.argument_score) is not None]
    expected = sum(d.optional_expected for d in decisions)
    used = sum(d.optional_used for d in decisions)
    counts["tool_reachability"] = (sum(d.tool_right for d in decisions), total)
    counts["first_choice_rate"] = (sum(d.first_choice for d in decisions), total)
    counts["decision_success"] = (sum(d.decision_success for d in decisions), total)
    counts["extra_calls"] = (len(attempt.extra_calls), total)
    counts["param_hit_rate"] = (sum(score for _, score in scores), len(scores))
    counts["param_pass_rate"] = (sum(d.decision_success for d, _ in scores), len(scores))
    counts["optional_unused_rate"] = (expected - used, expected)
    known = [d.call_success for d in decisions if d.call_success is not None]
    counts["call_success"] = (sum(known), len(known))


def task_counts(task: TaskScore) -> Counts:
    """Metric -> (numerator, denominator) summed over the counted attempts of a task."""
    sums: dict[str, list[float]] = {}
    for attempt in counted_attempts(task):
        for name, (top, bottom) in attempt_counts(task, attempt).items():
            held = sums.setdefault(name, [0.0, 0.0])
            held[0] += top
            held[1] += bottom
    return {name: (top, bottom) for name, (top, bottom) in sums.items()}


def metrics_of(
    counts: Sequence[Counts], *, seed: int = 0, names: Iterable[str] = METRIC_NAMES, executed: bool = True
) -> dict[str, Metric]:
    """The metrics with their intervals from per-task counts; without `executed` calls there is no call success."""
    found: dict[str, Metric] = {}
    waiting: list[str] = []
    for name in names:
        pairs = [entry.get(name, (0.0, 0.0)) for entry in counts]
        bottom = sum(pair[1] for pair in pairs)
        if not bottom or (name == "call_success" and not executed):
            found[name] = Metric(value=None, reason=_EMPTY_REASONS.get(name, "no required decision"))
            continue
        top = sum(pair[0] for pair in pairs)
        found[name] = Metric(value=top / bottom, numerator=_whole(top), denominator=_whole(bottom))
        waiting.append(name)
    if waiting:
        intervals = ratio_intervals(
            [[entry.get(name, (0.0, 0.0))[0] for entry in counts] for name in waiting],
            [[entry.get(name, (0.0, 0.0))[1] for entry in counts] for name in waiting],
            seed=seed,
            is_share=[name not in NOT_A_SHARE for name in waiting],
        )
        for name, interval in zip(waiting, intervals, strict=True):
            metric = found[name]
            found[name] = Metric(
                value=metric.value,
                numerator=metric.numerator,
                denominator=metric.denominator,
                interval=interval,
            )
    return found


def _whole(value: float) -> float:
    return int(value) if float(value).is_integer() else value
