"""The invented name becomes an alias of the right tool."""

from __future__ import annotations

from dataclasses import replace

from agent_reach.evals.interventions.base import Changed, Intervention, Situation
from agent_reach.records.message import Message


def _change(situation: Situation) -> Changed | None:
    tool = situation.tool
    invented = [extra.name for extra in situation.attempt.extra_calls if extra.kind == "hallucinated"]
    if not invented and situation.decision.selected_tool not in (None, *situation.variant.catalog.names):
        invented = [str(situation.decision.selected_tool)]
    names = [name for name in dict.fromkeys(invented) if name and name not in situation.variant.catalog]
    if tool is None or not names:
        return None
    return Changed(
        situation.variant.with_tools({tool.key: replace(tool, aliases=(*tool.aliases, *names))}),
        Message(f"{', '.join(names)} means {tool.key}", f"{'、'.join(names)} 视为 {tool.key}"),
    )


INTERVENTION = Intervention(
    name="alias_added",
    removes=("name_hallucinated",),
    summary=Message("The invented name is an alias of the tool.", "把臆造的名称设为工具的别名。"),
    change=_change,
)
