"""The right tool's description is cut to its first line, so that what decides is not buried in it."""

from __future__ import annotations

from dataclasses import replace

from agent_reach.evals.interventions.base import Changed, Intervention, Situation
from agent_reach.lint.base import first_line
from agent_reach.records.message import Message


def _change(situation: Situation) -> Changed | None:
    tool = situation.tool
    if tool is None:
        return None
    line = first_line(tool.description)
    if not line or line == tool.description.strip():
        return None
    return Changed(
        situation.variant.with_tools({tool.key: replace(tool, description=line)}),
        Message(
            f"{tool.key}: {len(line)} characters of description instead of {len(tool.description)}",
            f"{tool.key}：描述 {len(line)} 个字符，而不是 {len(tool.description)} 个",
        ),
    )


INTERVENTION = Intervention(
    name="description_first_line",
    removes=("no_call",),
    summary=Message("The description is cut to its first line.", "描述只保留第一行。"),
    change=_change,
)
