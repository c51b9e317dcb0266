"""The blocks stand in the recommended order: request first, what binds it next, passages last and the best of them first."""

from __future__ import annotations

from agent_reach.config.settings import DEFAULT_CONTEXT_ORDER
from agent_reach.evals.interventions.base import Changed, Intervention, Situation, with_context
from agent_reach.records.message import Message


def _change(situation: Situation) -> Changed | None:
    context = situation.variant.config.context
    if context.template:
        return None
    variant = with_context(situation, order=DEFAULT_CONTEXT_ORDER, best_passages="first")
    if variant is None:
        return None
    before = " > ".join(context.order)
    return Changed(
        variant,
        Message(
            f"the request first, passages last (was {before})", f"请求在前、检索段落在后（原为 {before}）"
        ),
    )


INTERVENTION = Intervention(
    name="blocks_reordered",
    removes=("context_overload",),
    summary=Message(
        "The template puts the request first and passages last.", "模板把请求放在最前、检索段落放在最后。"
    ),
    change=_change,
)
