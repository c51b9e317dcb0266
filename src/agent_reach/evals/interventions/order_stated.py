"""The tool that was called too early says which call comes first."""

from __future__ import annotations

from dataclasses import replace

from agent_reach.evals.interventions.base import Changed, Intervention, Situation
from agent_reach.records.message import Message


def _change(situation: Situation) -> Changed | None:
    tool = situation.tool
    stages = situation.path.stages
    position = 0
    before: tuple[str, ...] = ()
    for number, stage in enumerate(stages):
        if position <= situation.decision.step < position + len(stage):
            before = tuple(call.tool for earlier in stages[:number] for call in earlier)
        position += len(stage)
    if tool is None or not before or situation.decision.order_right:
        return None
    listed = ", ".join(dict.fromkeys(before))
    changed = replace(tool, description=f"{tool.description}\nCall it only after: {listed}.".strip())
    return Changed(
        situation.variant.with_tools({tool.key: changed}),
        Message(f"{tool.key} says that it comes after {listed}", f"{tool.key} 写明须在 {listed} 之后"),
    )


INTERVENTION = Intervention(
    name="order_stated",
    removes=("wrong_order",),
    summary=Message("The description says which call comes first.", "描述写明哪个调用在前。"),
    change=_change,
)
