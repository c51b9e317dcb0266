"""Small makers of catalogs, tasks and traces, so that tests show only what they are about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agent_reach.catalog.catalog import Catalog
from agent_reach.records.task import GoldenCall, GoldenPath, MatchOptions, Task
from agent_reach.records.tool import Tool
from agent_reach.records.trace import Call, CallOutcome, Exposure, Step, Trace


@dataclass(frozen=True)
class PlainSuite:
    """The least that scoring needs of a suite."""

    tasks: Sequence[Task]
    name: str = "suite"
    hash: str = "sha256:0"


def tool(
    name: str, parameters: Mapping[str, Any] | None = None, required: Sequence[str] = (), **more: Any
) -> Tool:
    """A tool whose parameters are given as name -> schema or type name; with None it takes anything."""
    if parameters is None:
        schema: dict[str, Any] = {"type": "object", "additionalProperties": True}
    else:
        properties = {
            key: {"type": value} if isinstance(value, str) else value for key, value in parameters.items()
        }
        schema = {"type": "object", "properties": properties, "required": list(required)}
    more.setdefault("description", f"Does {name.replace('_', ' ')}.")
    return Tool(name=name, input_schema=schema, **more)


def catalog(*tools: Tool) -> Catalog:
    """A catalog of these tools."""
    return Catalog.from_tools(tools)


def gold(name: str, args: Mapping[str, Any] | None = None, **more: Any) -> GoldenCall:
    """A golden call."""
    if "result" in more:
        more["has_result"] = True
    return GoldenCall(tool=name, args=args or {}, **more)


def path(*stages: GoldenCall | Sequence[GoldenCall]) -> GoldenPath:
    """A golden path; a list is a stage without order."""
    return GoldenPath(
        stages=tuple((stage,) if isinstance(stage, GoldenCall) else tuple(stage) for stage in stages)
    )


def task(
    *paths: GoldenPath, kind: str = "must", query: str = "do it", task_id: str = "t", **more: Any
) -> Task:
    """A task with these accepted paths; `match` may be a mapping of options."""
    if isinstance(more.get("match"), Mapping):
        more["match"] = MatchOptions(**more["match"])
    return Task(id=task_id, kind=kind, query=query, paths=paths, **more)


def ok(value: Any = "done", **more: Any) -> CallOutcome:
    """A call that worked."""
    return CallOutcome(status="ok", value=value, text=str(value), **more)


def failed(kind: str, **more: Any) -> CallOutcome:
    """A call that failed in that way."""
    return CallOutcome(status="failed", error_kind=kind, message=f"it was {kind}", **more)


def trace(*messages: Any, task_id: str = "t", text: str = "", query: str = "do it", **more: Any) -> Trace:
    """A trace of model messages: a text, a (name, arguments[, outcome]) call, or a list of parallel calls."""
    steps, number = [], 0
    for index, message in enumerate(messages):
        if isinstance(message, Step):
            steps.append(message)
            continue
        if isinstance(message, str):
            steps.append(Step(index=index, text=message, raw=message))
            continue
        calls = []
        for entry in message if isinstance(message, list) else [message]:
            name, arguments, *outcome = entry
            calls.append(
                Call(
                    call_id=f"c{number}",
                    name=name,
                    arguments=arguments,
                    outcome=outcome[0] if outcome else ok(),
                )
            )
            number += 1
        steps.append(Step(index=index, calls=tuple(calls)))
    more.setdefault("exposure", Exposure())
    return Trace(
        trace_id=f"trace-{task_id}", task_id=task_id, query=query, steps=tuple(steps), final_text=text, **more
    )
