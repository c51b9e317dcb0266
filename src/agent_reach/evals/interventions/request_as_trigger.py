"""The right tool says that it is for requests like this one."""

from __future__ import annotations

from dataclasses import replace

from agent_reach.evals.interventions.base import Changed, Intervention, Situation
from agent_reach.records.message import Message
from agent_reach.records.tool import AgentNote


def _change(situation: Situation) -> Changed | None:
    tool = situation.tool
    words = situation.task.query.strip().splitlines()[0][:160] if situation.task.query.strip() else ""
    if tool is None or not words:
        return None
    note = tool.note or AgentNote()
    if (situation.cause == "not_recalled") == (tool.key in situation.offered):
        return None
    if words in note.triggers:
        return None
    changed = replace(tool, note=replace(note, triggers=(*note.triggers, words)))
    return Changed(
        situation.variant.with_tools({tool.key: changed}),
        Message(f"{tool.key} names this request as one of its own", f"{tool.key} 把这个请求列为触发语句"),
    )


INTERVENTION = Intervention(
    name="request_as_trigger",
    removes=("no_call", "not_recalled"),
    summary=Message("The tool's note names this very request.", "工具备注中写入该请求。"),
    change=_change,
)
