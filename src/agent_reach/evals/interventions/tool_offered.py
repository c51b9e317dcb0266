"""The right tool is put on the list that left it out."""

from __future__ import annotations

from dataclasses import replace

from agent_reach.evals.interventions.base import Changed, Intervention, Situation
from agent_reach.records.message import Message


def _change(situation: Situation) -> Changed | None:
    tool, config = situation.tool, situation.variant.config
    if tool is None or tool.key in situation.offered:
        return None
    reason = situation.exposure.hidden.get(tool.key, "not_listed")
    reach = config.exposure.mode == "reach"
    if reason not in ("not_listed", "limit", "not_recalled") or reach != (situation.cause == "not_recalled"):
        return None
    exposure = replace(config.exposure, pinned=(*config.exposure.pinned, tool.key))
    if exposure.mode == "names":
        exposure = replace(exposure, tools=(*exposure.tools, tool.key))
    task = situation.task
    if task.tools:
        task = replace(task, tools=(*task.tools, tool.key))
    return Changed(
        replace(situation.variant, task=task, config=replace(config, exposure=exposure)),
        Message(f"{tool.key} is offered too", f"同时提供 {tool.key}"),
    )


INTERVENTION = Intervention(
    name="tool_offered",
    removes=("not_offered", "not_recalled"),
    summary=Message("The right tool is offered.", "提供正确的工具。"),
    change=_change,
)
