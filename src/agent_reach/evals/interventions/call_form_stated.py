"""The agent is told in which form a call has to be written; which tool and which values are meant is not said."""

from __future__ import annotations

from agent_reach.evals.interventions.base import Changed, Intervention, Situation, with_instruction
from agent_reach.records.message import Message

BLOCK = "form_of_a_call"
_TEXT = Message(
    "Make every call in the form given for calls, complete, with its arguments as one valid JSON object and no text around"
    " it.",
    "每次调用都使用规定的调用形式，写完整，参数为一个合法的 JSON 对象，前后不加任何文字。",
)


def _change(situation: Situation) -> Changed | None:
    variant = with_instruction(situation, BLOCK, _TEXT) if situation.suspicion() is not None else None
    if variant is None:
        return None
    return Changed(variant, Message("the form of a call is stated", "说明调用的书写形式"))


INTERVENTION = Intervention(
    name="call_form_stated",
    removes=("unparsable_call",),
    summary=Message("The agent is told the form of a call.", "提示代理调用的书写形式。"),
    change=_change,
)
