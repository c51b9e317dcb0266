"""Tools that were called and should not have been are not offered."""

from __future__ import annotations

from agent_reach.evals.interventions.base import Changed, Intervention, Situation, names_of, offering
from agent_reach.records.message import Message


def _writes(situation: Situation, key: str | None) -> bool:
    """The tool is known to change something."""
    return bool(situation.variant.catalog.get(str(key)).effects & {"write", "destructive"})


def _change(situation: Situation) -> Changed | None:
    unwanted = {
        extra.tool
        for extra in situation.attempt.extra_calls
        if extra.tool in situation.variant.catalog
        and extra.tool not in situation.golden_keys
        and (extra.kind in ("forbidden", "over_call") or _writes(situation, extra.tool))
    }
    listed = sorted(str(key) for key in unwanted)
    variant = (
        offering(situation, set(situation.offered) - set(listed))
        if listed and situation.decision.detour
        else None
    )
    if variant is None:
        return None
    return Changed(variant, Message(f"not offered: {names_of(listed)}", f"不提供：{names_of(listed)}"))


INTERVENTION = Intervention(
    name="unwanted_hidden",
    removes=("over_called",),
    summary=Message("The tool that should not be called is not offered.", "不提供不应调用的工具。"),
    change=_change,
)
