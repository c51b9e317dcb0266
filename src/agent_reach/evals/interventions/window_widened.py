"""Nothing is dropped from the context: no token budget, no passage limit."""

from __future__ import annotations

from agent_reach.evals.interventions.base import Changed, Intervention, Situation, with_context
from agent_reach.records.message import Message


def _change(situation: Situation) -> Changed | None:
    trace = situation.attempt.trace
    dropped = [item.block_id for item in trace.dropped] if trace is not None else []
    variant = with_context(situation, token_budget=None, max_passages=None) if dropped else None
    if variant is None:
        return None
    listed = ", ".join(dict.fromkeys(dropped[:5]))
    return Changed(variant, Message(f"kept in the window: {listed}", f"保留在窗口内：{listed}"))


INTERVENTION = Intervention(
    name="window_widened",
    removes=("out_of_window",),
    summary=Message("Nothing is dropped from the context.", "上下文不丢弃任何内容。"),
    change=_change,
)
