"""The right tool is put on the list that left it out."""

from __future__ import annotations

from agent_reach.evals.interventions.base import Changed, Intervention, Situation, offered_too
from agent_reach.records.message import Message


def _change(situation: Situation) -> Changed | None:
    tool, config = situation.tool, situation.variant.config
    if tool is None or tool.key in situation.offered:
        return None
    reason = situation.exposure.hidden.get(tool.key, "not_listed")
    reach = config.exposure.mode == "reach"
    if reason not in ("not_listed", "limit", "not_recalled") or reach != (situation.cause == "not_recalled"):
        return None
    return Changed(
        offered_too(situation.variant, tool.key),
        Message(f"{tool.key} is offered too", f"同时提供 {tool.key}"),
    )


INTERVENTION = Intervention(
    name="tool_offered",
    removes=("not_offered", "not_recalled"),
    summary=Message("The right tool is offered.", "提供正确的工具。"),
    change=_change,
)
