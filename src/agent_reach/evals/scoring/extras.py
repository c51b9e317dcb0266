"""Calls outside the golden path: what kind each is, and whether the task was over-called."""

from __future__ import annotations

from collections.abc import Sequence

from agent_reach.evals.scoring.calls import SeenCall
from agent_reach.evals.scoring.golds import CompiledTask
from agent_reach.evals.scoring.making import make_extra_call
from agent_reach.records.score import ExtraCall

OVER_CALL_KINDS = frozenset(("forbidden", "over_call"))


def extra_calls(
    compiled: CompiledTask, calls: Sequence[SeenCall], used: set[int], path_keys: frozenset[str]
) -> list[tuple[SeenCall, ExtraCall]]:
    """Every call that answers no gold, with its kind (see `ExtraCall`)."""
    found = []
    for seen in calls:
        if seen.position in used:
            continue
        kind = _kind(compiled, calls, seen, path_keys)
        outcome = seen.last
        found.append(
            (
                seen,
                make_extra_call(
                    call_id=seen.call.call_id,
                    name=seen.call.name,
                    tool=seen.key or None,
                    kind=kind,  # type: ignore[arg-type]
                    trace_step=seen.step,
                    status=outcome.status if outcome is not None and outcome.was_executed else "",
                ),
            )
        )
    return found


def _kind(
    compiled: CompiledTask, calls: Sequence[SeenCall], seen: SeenCall, path_keys: frozenset[str]
) -> str:
    task = compiled.task
    if task.kind == "forbid":
        return "over_call"
    if (seen.key or seen.call.name) in compiled.forbidden:
        return "forbidden"
    if seen.tool is None:
        return "hallucinated"
    if any(
        earlier.key == seen.key and earlier.arguments == seen.arguments for earlier in calls[: seen.position]
    ):
        return "duplicate"
    if task.kind == "may" and path_keys and (seen.went_well or seen.key not in path_keys):
        return "over_call"
    return "exploratory"
