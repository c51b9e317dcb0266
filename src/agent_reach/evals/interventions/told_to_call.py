"""The agent is told to act by calling a tool, not by describing what it would do."""

from __future__ import annotations

from agent_reach.evals.interventions.base import Changed, Intervention, Situation, with_instruction
from agent_reach.records.message import Message

BLOCK = "act_by_calling"
_TEXT = Message(
    "Act only by calling a tool. Saying that something was done does not do it.",
    "只能通过调用工具来执行操作；口头说已经完成并不会生效。",
)


def _change(situation: Situation) -> Changed | None:
    trace = situation.attempt.trace
    said = trace is not None and (trace.final_text or any(step.text for step in trace.steps))
    if situation.decision.tool_right or situation.decision.selected_tool or not said:
        return None
    variant = with_instruction(situation, BLOCK, _TEXT)
    if variant is None:
        return None
    return Changed(variant, Message("told to act by calling", "提示必须通过调用工具执行"))


INTERVENTION = Intervention(
    name="told_to_call",
    removes=("talked_not_called",),
    summary=Message("The agent is told to act by calling.", "提示代理通过调用来执行。"),
    change=_change,
)
