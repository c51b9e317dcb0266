"""The tool definitions stand before the retrieved passages."""

from __future__ import annotations

from agent_reach.evals.interventions.base import Changed, Intervention, Situation, with_context
from agent_reach.records.message import Message


def _change(situation: Situation) -> Changed | None:
    context = situation.variant.config.context
    order = list(context.order)
    if context.template or "tools" not in order or "retrieval" not in order:
        return None
    if order.index("tools") < order.index("retrieval") or situation.exposure.placed_by == "provider":
        return None
    order.remove("tools")
    order.insert(order.index("retrieval"), "tools")
    variant = with_context(situation, order=tuple(order))
    if variant is None:
        return None
    return Changed(variant, Message("tool definitions before the passages", "工具定义放在检索段落之前"))


INTERVENTION = Intervention(
    name="tools_before_retrieval",
    removes=("context_overload",),
    summary=Message("Tool definitions stand before the passages.", "工具定义放在检索段落之前。"),
    change=_change,
)
