"""Small catalogs and traces for the tests of the map."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agent_reach.catalog.catalog import Catalog
from agent_reach.graph.build import ToolGraph
from agent_reach.graph.options import GraphOptions
from agent_reach.records.trace import Call, CallOutcome, Exposure, Step, Trace


def tool(
    name: str, inputs: dict[str, Any] | None = None, output: dict[str, Any] | None = None, *,
    required: Sequence[str] | None = None, description: str = "", **more: Any,
) -> dict[str, Any]:  # fmt: skip
    properties = {
        key: value if isinstance(value, dict) else {"type": value} for key, value in (inputs or {}).items()
    }
    found = {
        "name": name, "description": description,
        "inputSchema": {"type": "object", "properties": properties, "required": list(properties if required is None else required)},
        **more,
    }  # fmt: skip
    if output is not None:
        found["outputSchema"] = output
    return found


def record(**fields: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {k: v if isinstance(v, dict) else {"type": v} for k, v in fields.items()},
    }


def listed(items: Any) -> dict[str, Any]:
    return {"type": "array", "items": items if isinstance(items, dict) else {"type": items}}


def pairs(graph: ToolGraph, *, trusted: bool = True) -> set[tuple[str, str]]:
    return {
        (edge.source, edge.target) for edge in graph.edges
        if not edge.source.startswith("__agent__") and (edge.trusted or not trusted)
    }  # fmt: skip


def graph_of(*tools: dict[str, Any], traces: Any = None, **more: Any) -> ToolGraph:
    return ToolGraph.build(Catalog.load(list(tools)), traces, **more)


def calls(
    *groups: Any,
    offered: Sequence[str] = (),
    query: str = "please",
    trace_id: str = "t",
    agent: str = "",
    **more: Any,
) -> Trace:
    """A trace of messages; each group is one call `(name, arguments, result, status)` or a list of parallel ones."""
    steps, number = [], 0
    for index, group in enumerate(groups):
        made = []
        for name, *rest in group if isinstance(group, list) else [group]:
            arguments, result, status = (*rest, *({}, None, "ok")[len(rest) :])
            outcome = CallOutcome(
                status=status,
                value=result,
                error_kind="tool_error" if status == "failed" else None,
                latency_ms=100.0,
            )
            made.append(Call(call_id=f"{trace_id}-{number}", name=name, arguments=arguments, outcome=outcome))
            number += 1
        steps.append(Step(index=index, calls=tuple(made)))
    return Trace(
        trace_id=trace_id,
        query=query,
        agent=agent,
        steps=tuple(steps),
        exposure=Exposure(offered=tuple(offered)),
        **more,
    )


STRUCTURE_ONLY = GraphOptions(infer=False)
