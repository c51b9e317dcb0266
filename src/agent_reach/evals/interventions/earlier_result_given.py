"""The result of the earlier step that was lost is given from the start, so that this decision does not depend on it."""

from __future__ import annotations

import json
from dataclasses import replace

from agent_reach.evals.interventions.base import Changed, Intervention, Situation
from agent_reach.records.context import ContextBlock
from agent_reach.records.message import Message


def _change(situation: Situation) -> Changed | None:
    blocks = []
    for number, call in enumerate(situation.path.calls[: situation.decision.step]):
        lost = any(
            decision.step == number and (not decision.decision_success or decision.call_success is False)
            for decision in situation.attempt.decisions
        )
        if lost and call.has_result and call.result not in (None, "", [], {}):
            text = (
                call.result if isinstance(call.result, str) else json.dumps(call.result, ensure_ascii=False)
            )
            blocks.append(
                ContextBlock(
                    id=f"given:{call.id or call.tool}",
                    kind="tool_result",
                    text=f"{call.tool}: {text}",
                    value=call.result,
                )
            )
    if not blocks:
        return None
    task = replace(situation.task, context=(*situation.task.context, *blocks))
    listed = ", ".join(block.id.removeprefix("given:") for block in blocks)
    return Changed(
        replace(situation.variant, task=task),
        Message(f"given from the start: the result of {listed}", f"一开始就给出 {listed} 的结果"),
    )


INTERVENTION = Intervention(
    name="earlier_result_given",
    removes=("cascaded",),
    summary=Message("The lost earlier result is given.", "直接给出之前丢失的结果。"),
    change=_change,
)
