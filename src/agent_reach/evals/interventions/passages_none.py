"""No retrieved passage is given at all."""

from __future__ import annotations

from agent_reach.evals.interventions.base import Changed, Intervention, Situation, with_context
from agent_reach.evals.interventions.passages_five import passages_shown
from agent_reach.records.message import Message


def _change(situation: Situation) -> Changed | None:
    shown = passages_shown(situation)
    variant = with_context(situation, max_passages=0) if shown else None
    if variant is None:
        return None
    return Changed(variant, Message(f"no passage instead of {shown}", f"不提供检索段落，而不是 {shown} 个"))


INTERVENTION = Intervention(
    name="passages_none",
    removes=("context_overload",),
    summary=Message("No passage is given.", "不提供检索段落。"),
    change=_change,
)
