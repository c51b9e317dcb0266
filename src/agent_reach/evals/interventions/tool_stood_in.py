"""A tool that cannot be used here is there: described by what is known of it, answered by its recordings.

Known is what a broken definition still says, else the name; and the names and types of the arguments with which the suite
calls it, never their values. Nothing real is called.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from agent_reach.backends.base import Backend
from agent_reach.backends.recorded import RecordedBackend
from agent_reach.evals.interventions.base import Changed, Intervention, Situation, offered_too
from agent_reach.evals.trials.variant import BackendWrapper, with_added_tool
from agent_reach.records.message import Message
from agent_reach.records.task import GoldenCall, Task
from agent_reach.records.tool import Tool
from agent_reach.records.trace import CallOutcome
from agent_reach.text.tokens import split_identifier


class AnsweredOnlyFromRecordings:
    """Answers calls of one tool from the task's recordings alone; calls of other tools go on to `inner`."""

    def __init__(self, inner: Backend, task: Task, key: str) -> None:
        self._inner = inner
        self._recordings = RecordedBackend(task)
        self._key = key

    async def call(
        self, tool: Tool, arguments: Mapping[str, Any], *, call_id: str = "", timeout: float | None = None
    ) -> CallOutcome:
        """Answer one call."""
        backend = self._recordings if tool.key == self._key else self._inner
        return await backend.call(tool, arguments, call_id=call_id, timeout=timeout)

    async def aclose(self) -> None:
        """Close what is inside."""
        await self._inner.aclose()


def stand_in(situation: Situation) -> Tool | None:
    """The tool as far as it is known; None where the suite never calls it."""
    written = situation.decision.expected_tool
    calls = [
        call
        for path in situation.task.paths
        for call in path.calls
        if call.tool in (written, written.rpartition("/")[2])
    ]
    if not calls:
        return None
    server, _, name = written.rpartition("/")
    described = " ".join(split_identifier(name)).capitalize() + "."
    for item in situation.variant.catalog.quarantined:
        if item.key == written:
            described = _description(item.original) or described
    return Tool(name=name, server=server, description=described, input_schema=_schema(calls))


def _description(original: Any) -> str:
    from agent_reach.catalog.definitions import read_definition

    definition = read_definition(original) if isinstance(original, Mapping) else None
    return definition.description if definition is not None else ""


def _schema(calls: list[GoldenCall]) -> dict[str, Any]:
    properties: dict[str, Any] = {}
    for call in calls:
        for name, spec in (*call.args.items(), *call.optional.items()):
            properties.setdefault(name, _typed(spec))
    always = [name for name in properties if all(name in call.args for call in calls)]
    return {"type": "object", "properties": properties, "required": always}


def _typed(spec: Any) -> dict[str, Any]:
    if isinstance(spec, Mapping) and any(str(key).startswith("$") for key in spec):
        return {"type": "string"} if "$date" in spec or "$pattern" in spec else {}
    if spec is None:
        return {}
    kinds = ((bool, "boolean"), (int, "integer"), (float, "number"), (str, "string"), (Mapping, "object"))
    return {"type": next((word for kind, word in kinds if isinstance(spec, kind)), "array")}


def _change(situation: Situation) -> Changed | None:
    if situation.tool is not None:
        return None
    tool = stand_in(situation)
    if tool is None:
        return None
    variant = situation.variant
    name = f"{tool.key} stands in, answered by its recordings"
    wrapper = BackendWrapper(name, lambda inner, task: AnsweredOnlyFromRecordings(inner, task, tool.key))
    there = offered_too(replace(variant, catalog=with_added_tool(variant.catalog, tool)), tool.key)
    return Changed(
        replace(there, wrappers=(*variant.wrappers, wrapper)),
        Message(f"{tool.key} is there, answered by its recordings", f"{tool.key} 视为可用，由录制结果应答"),
    )


INTERVENTION = Intervention(
    name="tool_stood_in",
    removes=("unavailable",),
    summary=Message(
        "The missing tool is there, answered by its recordings.", "缺少的工具视为可用，由录制结果应答。"
    ),
    change=_change,
)
