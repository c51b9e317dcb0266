"""The agent is told not to make the same call again: its result would be the same."""

from __future__ import annotations

from agent_reach.evals.interventions.base import Changed, Intervention, Situation, with_instruction
from agent_reach.evals.interventions.repeat_remarked import repeated_call
from agent_reach.records.message import Message

BLOCK = "no_call_twice"
_TEXT = Message(
    "Do not make the same call with the same arguments again: its result is known. Go on with what is still to do.",
    "不要用相同的参数重复同一调用：其结果已知。请继续处理尚未完成的部分。",
)


def _change(situation: Situation) -> Changed | None:
    variant = with_instruction(situation, BLOCK, _TEXT) if repeated_call(situation) else None
    if variant is None:
        return None
    return Changed(variant, Message("told not to repeat a call", "提示不要重复相同的调用"))


INTERVENTION = Intervention(
    name="told_not_to_repeat",
    removes=("loop",),
    summary=Message("The agent is told not to repeat a call.", "提示代理不要重复相同的调用。"),
    change=_change,
)
