"""Verdicts written back into the causes of a report. The report that was given stays as it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from agent_reach.evals.attribution.table import CAUSES
from agent_reach.evals.interventions.planning import UNWANTED_KINDS
from agent_reach.records.message import Message
from agent_reach.records.report import Report
from agent_reach.records.score import AttemptScore, Cause, Decision, ExtraCall

if TYPE_CHECKING:
    from agent_reach.evals.interventions.prove import ProvedDecision


def with_proofs(report: Report, proved: Sequence[ProvedDecision]) -> Report:
    """The report with `proof` and `trials` in the causes of these decisions.

    A proved cause that nobody suspected is added to those that also hold.
    """
    found: dict[tuple[str, int | None], list[ProvedDecision]] = {}
    for item in proved:
        found.setdefault((item.task_id, item.step), []).append(item)
    tasks = []
    for task in report.tasks:
        attempts = tuple(_attempt(task.task_id, attempt, found) for attempt in task.attempts)
        tasks.append(replace(task, attempts=attempts))
    return replace(report, tasks=tuple(tasks))


def _attempt(
    task_id: str, attempt: AttemptScore, found: dict[tuple[str, int | None], list[ProvedDecision]]
) -> AttemptScore:
    decisions = tuple(
        _decision(decision, item) if item is not None else decision
        for decision in attempt.decisions
        for item in [_of(found.get((task_id, decision.step), ()), decision)]
    )
    unwanted = found.get((task_id, None), ())
    extras = tuple(_extra(extra, unwanted[0]) if unwanted else extra for extra in attempt.extra_calls)
    return replace(attempt, decisions=decisions, extra_calls=extras)


def _extra(extra: ExtraCall, proved: ProvedDecision) -> ExtraCall:
    if extra.cause is None or extra.kind not in UNWANTED_KINDS:
        return extra
    return replace(extra, cause=_cause(extra.cause, proved), also=_shown(proved, {extra.cause.name}))


def _of(items: Sequence[ProvedDecision], decision: Decision) -> ProvedDecision | None:
    if decision.cause is None:
        return None
    return next((item for item in items if item.expected_tool == decision.expected_tool), None)


def _decision(decision: Decision, proved: ProvedDecision) -> Decision:
    assert decision.cause is not None
    also = [_cause(cause, proved) for cause in decision.also]
    known = {decision.cause.name, *(cause.name for cause in decision.also)}
    return replace(decision, cause=_cause(decision.cause, proved), also=(*also, *_shown(proved, known)))


def _shown(proved: ProvedDecision, known: set[str]) -> tuple[Cause, ...]:
    """The proved causes that nobody suspected."""
    return tuple(
        _cause(_unsuspected(name), proved)
        for name, verdict in proved.verdicts.items()
        if verdict == "proved" and name not in known
    )


def _cause(cause: Cause, proved: ProvedDecision) -> Cause:
    verdict = proved.verdicts.get(cause.name, "")
    if not verdict:
        return cause
    return replace(cause, proof=verdict, trials=proved.trials.get(cause.name, ()))


def _unsuspected(name: str) -> Cause:
    entry = CAUSES[name]
    evidence = Message("shown by experiment only", "仅由实验证实")
    return Cause(name=name, layer=entry.layer, evidence=evidence, fix=entry.fix)
