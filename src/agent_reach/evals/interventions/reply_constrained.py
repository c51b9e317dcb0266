"""The local model's reply is held to the form of a call, where the configuration left it free.

A remote endpoint could be made to call (`tool_choice: required`), but that removes silence and small talk as well, and
is therefore no proof of an unreadable call.
"""

from __future__ import annotations

from dataclasses import replace

from agent_reach.evals.interventions.base import Changed, Intervention, Situation
from agent_reach.records.message import Message


def _change(situation: Situation) -> Changed | None:
    config = situation.variant.config
    agent = config.agent
    if situation.own_agent or situation.suspicion() is None:
        return None
    if agent.type != "local" or agent.options.get("constrained", True):
        return None
    held = replace(agent, options={**agent.options, "constrained": True})
    return Changed(
        replace(situation.variant, config=replace(config, agent=held)),
        Message("the reply is held to the form of a call", "按调用的形式约束输出"),
    )


INTERVENTION = Intervention(
    name="reply_constrained",
    removes=("unparsable_call",),
    summary=Message(
        "The local model's reply is held to the form of a call.", "按调用的形式约束本地模型的输出。"
    ),
    change=_change,
)
