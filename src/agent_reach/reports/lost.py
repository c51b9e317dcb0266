"""Every lost decision of a report in one order: most costly cause first, then as the tasks are written.

A decision counts as lost when its verdict is not right or a cause stands beside it (the tool may have failed after a right
decision); a call that must not have been made counts as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from agent_reach.records.report import Report
from agent_reach.records.score import AttemptScore, Cause, Decision, ExtraCall, TaskScore
from agent_reach.records.trace import Call, Step, Trace


@dataclass(frozen=True, slots=True, kw_only=True)
class LostDecision:
    """One lost decision (`decision`) or one call that must not have been made (`extra`), with where it belongs."""

    task: TaskScore
    attempt: AttemptScore
    decision: Decision | None = None
    extra: ExtraCall | None = None

    @property
    def cause(self) -> Cause | None:
        """The cause that was named for it."""
        if self.decision is not None:
            return self.decision.cause
        return self.extra.cause if self.extra is not None else None

    @property
    def cause_name(self) -> str:
        """The name of the cause; `undetermined` where none was named, `over_called` for a call that must not be."""
        if self.cause is not None:
            return self.cause.name
        return "undetermined" if self.decision is not None else "over_called"


def lost_decisions(report: Report) -> list[LostDecision]:
    """All lost decisions, those of the most costly cause first."""
    rank = {cause.name: position for position, cause in enumerate(report.causes)}
    return sorted(_in_order(report), key=lambda lost: rank.get(lost.cause_name, len(rank)))


def _in_order(report: Report) -> Iterator[LostDecision]:
    for task in report.tasks:
        for attempt in task.attempts:
            yield from lost_of_attempt(task, attempt)


def lost_of_attempt(task: TaskScore, attempt: AttemptScore) -> list[LostDecision]:
    """What one attempt lost, in golden order, then the calls that must not have been made."""
    if attempt.state == "infra_error":
        return []
    lost = [
        LostDecision(task=task, attempt=attempt, decision=decision)
        for decision in attempt.decisions
        if decision.verdict != "right" or decision.cause is not None
    ]
    # A forbidden call that already stands beside the decision it spoiled is not told twice.
    told = {
        (entry.decision.call_id, entry.decision.trace_step)
        for entry in lost
        if entry.decision is not None and entry.decision.call_id
    }
    for extra in attempt.extra_calls:
        if extra.kind in ("forbidden", "over_call") and (extra.call_id, extra.trace_step) not in told:
            lost.append(LostDecision(task=task, attempt=attempt, extra=extra))
    return lost


def call_of(trace: Trace | None, call_id: str, trace_step: int | None) -> tuple[Step, Call] | None:
    """The call of that id, looked up in that step first (ids may repeat from one message to the next)."""
    if trace is None or not call_id:
        return None
    found = [(step, call) for step in trace.steps for call in step.calls if call.call_id == call_id]
    return next((pair for pair in found if pair[0].index == trace_step), found[0] if found else None)
