"""Tools that were called and should not have been are not offered."""

from __future__ import annotations

from agent_reach.evals.interventions.base import Changed, Intervention, Situation, names_of, without
from agent_reach.records.message import Message


def unwanted_tools(situation: Situation) -> tuple[str, ...]:
    """Keys of the tools of calls that were too many: all of the task's, or those a lost decision was reached over."""
    if situation.unwanted:
        return situation.unwanted
    if not situation.decision.detour:
        return ()
    found = {
        extra.tool
        for extra in situation.attempt.extra_calls
        if extra.tool is not None
        and extra.tool in situation.variant.catalog
        and extra.tool not in situation.golden_keys
        and (extra.kind in ("forbidden", "over_call") or _writes(situation, extra.tool))
    }
    return tuple(sorted(found))


def _writes(situation: Situation, key: str) -> bool:
    """The tool is known to change something."""
    return bool(situation.variant.catalog.get(key).effects & {"write", "destructive"})


def _change(situation: Situation) -> Changed | None:
    unwanted = unwanted_tools(situation)
    variant = without(situation, unwanted) if unwanted else None
    if variant is None:
        return None
    return Changed(variant, Message(f"not offered: {names_of(unwanted)}", f"不提供：{names_of(unwanted)}"))


INTERVENTION = Intervention(
    name="unwanted_hidden",
    removes=("over_called",),
    summary=Message("The tool that should not be called is not offered.", "不提供不应调用的工具。"),
    change=_change,
)
