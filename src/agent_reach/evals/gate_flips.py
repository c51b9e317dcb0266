"""Single tasks, decisions and forbidden calls that flipped: always right before, never now, or the other way round."""

from __future__ import annotations

from collections.abc import Sequence

from agent_reach.evals.gate_metrics import TaskPair
from agent_reach.evals.scoring.extras import OVER_CALL_KINDS
from agent_reach.records.gate import Flip
from agent_reach.records.score import AttemptScore

CERTAIN_ATTEMPTS = 5
FORBIDDEN_ATTEMPTS = 2

Tally = tuple[int, int]


def flips_between(pairs: Sequence[TaskPair], *, deterministic: bool) -> tuple[list[Flip], list[Flip]]:
    """(lost, won): tasks that were k of k and are 0 of k, else their decisions, and new forbidden calls.

    A flip fails alone when both runs are deterministic or both have five attempts or more.
    """
    lost: list[Flip] = []
    won: list[Flip] = []
    for pair in pairs:
        task_id = pair.before.task_id
        count = min(len(pair.before_attempts), len(pair.after_attempts))
        certain = deterministic or count >= CERTAIN_ATTEMPTS
        kind = _kind(_passes(pair.before_attempts), _passes(pair.after_attempts))
        if kind:
            flip = Flip(
                task_id=task_id,
                kind="lost" if kind == "lost" else "won",
                baseline=_passes(pair.before_attempts),
                current=_passes(pair.after_attempts),
                fails_alone=certain and kind == "lost",
                cause=_first_cause(pair.after_attempts) if kind == "lost" else "",
            )
            (lost if kind == "lost" else won).append(flip)
        else:
            _decision_flips(pair, certain, lost, won)
        forbidden = _forbidden_flip(pair, certain)
        if forbidden is not None:
            lost.append(forbidden)
    return lost, won


def _kind(before: Tally, after: Tally) -> str:
    if not before[1] or not after[1]:
        return ""
    if before[0] == before[1] and after[0] == 0:
        return "lost"
    return "won" if before[0] == 0 and after[0] == after[1] else ""


def _passes(attempts: Sequence[AttemptScore]) -> Tally:
    known = [attempt.passed for attempt in attempts if attempt.passed is not None]
    return sum(known), len(known)


def _decision_flips(pair: TaskPair, certain: bool, lost: list[Flip], won: list[Flip]) -> None:
    before, after = _decisions(pair.before_attempts), _decisions(pair.after_attempts)
    for key, tally in before.items():
        other = after.get(key, (0, 0))
        kind = _kind(tally, other)
        if not kind:
            continue
        flip = Flip(
            task_id=pair.before.task_id,
            decision=key[1],
            kind="lost" if kind == "lost" else "won",
            baseline=tally,
            current=other,
            fails_alone=certain and kind == "lost",
            cause=_first_cause(pair.after_attempts, key[1]) if kind == "lost" else "",
        )
        (lost if kind == "lost" else won).append(flip)


def _decisions(attempts: Sequence[AttemptScore]) -> dict[tuple[int | None, str], Tally]:
    found: dict[tuple[int | None, str], Tally] = {}
    for attempt in attempts:
        for decision in attempt.decisions:
            key = (attempt.path_index, decision.golden_id)
            good, total = found.get(key, (0, 0))
            found[key] = (good + (decision.decision_success and decision.order_right), total + 1)
    return found


def _first_cause(attempts: Sequence[AttemptScore], golden_id: str = "") -> str:
    for attempt in attempts:
        for decision in attempt.decisions:
            if decision.cause is not None and golden_id in ("", decision.golden_id):
                return decision.cause.name
        for extra in attempt.extra_calls:
            if not golden_id and extra.kind in OVER_CALL_KINDS and extra.cause is not None:
                return extra.cause.name
    return ""


def _forbidden_flip(pair: TaskPair, certain: bool) -> Flip | None:
    """A forbidden call that the baseline never made and the current run made in two attempts (or in its only one)."""
    before, after = _over_calls(pair.before_attempts), _over_calls(pair.after_attempts)
    wanted = min(FORBIDDEN_ATTEMPTS, len(pair.after_attempts))
    if before or len(after) < wanted or not after:
        return None
    return Flip(
        task_id=pair.before.task_id,
        kind="forbidden_call",
        baseline=(0, len(pair.before_attempts)),
        current=(len(after), len(pair.after_attempts)),
        fails_alone=certain,
        cause="over_called",
        detail=after[0],
    )


def _over_calls(attempts: Sequence[AttemptScore]) -> list[str]:
    """The first forbidden call of every attempt that made one."""
    found = []
    for attempt in attempts:
        names = [extra.tool or extra.name for extra in attempt.extra_calls if extra.kind in OVER_CALL_KINDS]
        if names:
            found.append(names[0])
    return found
