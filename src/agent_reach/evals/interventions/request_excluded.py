"""The tool that should not be called says that it is not for requests like this one; it stays offered."""

from __future__ import annotations

from dataclasses import replace

from agent_reach.evals.interventions.base import Changed, Intervention, Situation, names_of
from agent_reach.evals.interventions.unwanted_hidden import unwanted_tools
from agent_reach.records.message import Message
from agent_reach.records.tool import Tool

_LIMIT = 160


def _change(situation: Situation) -> Changed | None:
    catalog = situation.variant.catalog
    said = [turn.user for turn in situation.task.turns] or [situation.task.query]
    words = [text.strip().splitlines()[0][:_LIMIT] for text in said if text.strip()]
    unwanted = [key for key in unwanted_tools(situation) if key in catalog and key in situation.offered]
    if not unwanted or not words:
        return None
    line = f"Not for requests like: {'; '.join(words)}"
    changed = {key: _with_line(catalog.get(key), line) for key in unwanted}
    return Changed(
        situation.variant.with_tools(changed),
        Message(
            f"{names_of(unwanted)} says that it is not for this request",
            f"{names_of(unwanted)} 写明不适用于该请求",
        ),
    )


def _with_line(tool: Tool, line: str) -> Tool:
    return replace(tool, description=f"{tool.description}\n{line}".strip())


INTERVENTION = Intervention(
    name="request_excluded",
    removes=("over_called",),
    summary=Message(
        "The tool's description says that it is not for this request.", "工具描述写明不适用于该请求。"
    ),
    change=_change,
)
