"""The retrieved passages are cut to the best five."""

from __future__ import annotations

from agent_reach.evals.interventions.base import Changed, Intervention, Situation, with_context
from agent_reach.records.message import Message

PASSAGES = 5


def passages_shown(situation: Situation) -> int:
    """How many passages the agent is given."""
    limit = situation.variant.config.context.max_passages
    count = sum(block.kind == "retrieval" for block in situation.task.context)
    return count if limit is None else min(limit, count)


def _change(situation: Situation) -> Changed | None:
    shown = passages_shown(situation)
    variant = with_context(situation, max_passages=PASSAGES) if shown > PASSAGES else None
    if variant is None:
        return None
    return Changed(variant, Message(f"5 passages instead of {shown}", f"5 个检索段落，而不是 {shown} 个"))


INTERVENTION = Intervention(
    name="passages_five",
    removes=("context_overload",),
    summary=Message("At most five passages are given.", "最多提供五个检索段落。"),
    change=_change,
)
