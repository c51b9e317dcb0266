"""The agent is told to call nothing that the request does not ask for.

Everything stays offered, and nothing says which tool is meant.
"""

from __future__ import annotations

from agent_reach.evals.interventions.base import Changed, Intervention, Situation, with_instruction
from agent_reach.evals.interventions.unwanted_hidden import unwanted_tools
from agent_reach.records.message import Message

BLOCK = "call_only_what_is_asked"
_TEXT = Message(
    "Call a tool only for what the request asks for. Where no call is needed, answer in words and call nothing.",
    "只为请求所要求的内容调用工具；不需要调用时，直接用文字回答，不要调用任何工具。",
)


def _change(situation: Situation) -> Changed | None:
    is_over_call = situation.decision.step < 0 or unwanted_tools(situation)
    variant = with_instruction(situation, BLOCK, _TEXT) if is_over_call else None
    if variant is None:
        return None
    return Changed(variant, Message("told to call only what is asked for", "提示只调用请求所要求的工具"))


INTERVENTION = Intervention(
    name="told_to_hold_back",
    removes=("over_called",),
    summary=Message(
        "The agent is told to call only what the request asks for.", "提示代理只调用请求所要求的工具。"
    ),
    change=_change,
)
