"""An optional argument that nobody asked for, and for which the tool refused the call, is not shown to the model."""

from __future__ import annotations

from dataclasses import replace

from agent_reach.evals.interventions.base import Changed, Intervention, Situation
from agent_reach.records.message import Message


def _unasked(situation: Situation) -> tuple[str, ...]:
    """The arguments of the suspicion that are legal, without gold, and optional."""
    suspected, tool = situation.suspicion("wrong_value"), situation.tool
    if suspected is None or tool is None:
        return ()
    named = suspected.data.get("arguments", ())
    return tuple(
        score.name
        for score in situation.decision.argument_scores
        if score.verdict == "legal"
        and score.name in named
        and score.name in tool.parameters
        and score.name not in tool.required
    )


def _change(situation: Situation) -> Changed | None:
    tool, names = situation.tool, _unasked(situation)
    if tool is None or not names:
        return None
    properties = {name: part for name, part in tool.parameters.items() if name not in names}
    changed = replace(tool, input_schema={**tool.input_schema, "properties": properties})
    return Changed(
        situation.variant.with_tools({tool.key: changed}),
        Message(f"not shown: {', '.join(names)} of {tool.key}", f"不展示 {tool.key} 的 {'、'.join(names)}"),
    )


INTERVENTION = Intervention(
    name="unasked_hidden",
    removes=("wrong_value",),
    summary=Message(
        "The optional argument that nobody asked for is not shown.", "不展示没有要求的可选参数。"
    ),
    change=_change,
)
