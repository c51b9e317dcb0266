"""Planted faults of the kind that spoilt the right call are switched off."""

from __future__ import annotations

from dataclasses import replace
from fnmatch import fnmatchcase

from agent_reach.evals.interventions.base import Changed, Intervention, Situation
from agent_reach.records.message import Message

KINDS: dict[str, tuple[str, ...]] = {
    "rate_limited": ("rate_limited",),
    "timed_out": ("timeout",),
    "tool_failed": ("tool_error", "transport", "malformed_result"),
    "empty_result": ("empty",),
    "permission_denied": ("permission",),
    "out_of_window": ("truncated",),
}
"""Cause -> the kinds of fault (and of outcome) that it means."""


def _change(situation: Situation) -> Changed | None:
    kinds = KINDS.get(situation.cause, ())
    execution = situation.variant.config.execution
    names: tuple[str, ...] = (situation.tool.key, situation.tool.name) if situation.tool is not None else ()
    if situation.cause == "out_of_window":
        names = tuple(name for key in situation.golden_keys for name in (key, key.rpartition("/")[2]))
    kept = tuple(
        rule
        for rule in execution.faults
        if rule.kind not in kinds or not any(fnmatchcase(name, rule.tool) for name in names)
    )
    if len(kept) == len(execution.faults):
        return None
    off = [f"{rule.kind} of {rule.tool}" for rule in execution.faults if rule not in kept]
    config = replace(situation.variant.config, execution=replace(execution, faults=kept))
    return Changed(
        replace(situation.variant, config=config),
        Message(f"planted faults off: {', '.join(off)}", f"关闭预设故障：{'、'.join(off)}"),
    )


INTERVENTION = Intervention(
    name="faults_off",
    removes=tuple(KINDS),
    summary=Message("Planted faults are switched off.", "关闭预设的故障。"),
    change=_change,
)
