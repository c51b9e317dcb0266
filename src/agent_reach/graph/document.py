"""The map as one JSON document: for other tools, for the page, and for a later comparison (`map --compare OLD`)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent_reach.errors import InputError
from agent_reach.graph.analysis import GraphAnalysis
from agent_reach.graph.dead import token_weight
from agent_reach.records.codec import to_json

if TYPE_CHECKING:
    from agent_reach.graph.build import ToolGraph

MAP_SCHEMA_VERSION = 1
MANY_EDGES = 20_000


def map_document(graph: ToolGraph, analysis: GraphAnalysis) -> dict[str, Any]:
    """The whole map as plain JSON values. Above `MANY_EDGES` edges only trusted or walked ones are listed (`edges_left_out`)."""
    table = graph.table
    states = {state.tool: state for state in analysis.states}
    dead = {item.tool: item for item in analysis.dead}
    costs = analysis.reach.costs
    nodes: list[dict[str, Any]] = [{"id": name, "kind": "entry"} for name in graph.entries]
    for tool in graph.catalog.tools:
        state, cost = states[tool.key], costs.get(tool.key)
        row: dict[str, Any] = {
            "id": tool.key, "kind": "tool", "server": tool.server, "actor": tool.actor,
            "reachable": tool.key in analysis.reach.masked.reachable,
            "hops": cost.hops if cost else None, "cost": round(cost.cost, 6) if cost else None,
            "physical": state.physical, "semantic": state.semantic, "execution": state.execution,
            "first_broken": state.first_broken, "blocked": list(analysis.reach.blocked.get(tool.key, ())),
            "called": analysis.skew.called.get(tool.key, 0),
            "tokens": dead[tool.key].tokens if tool.key in dead else token_weight(graph.catalog, tool.key),
            "summary": _first_line(tool.note.summary if tool.note else tool.description),
        }  # fmt: skip
        if tool.key in dead:
            row["dead"] = dead[tool.key].kind
        nodes.append(row)
    first = table.entry_count + table.tool_count
    nodes.extend({"id": name, "kind": "partition"} for name in table.nodes[first:])
    kept = [
        place
        for place in range(len(table))
        if len(table) <= MANY_EDGES or table.trusted[place] or place in table.counts
    ]
    reach = analysis.reach
    return {
        "schema_version": MAP_SCHEMA_VERSION,
        "catalog": {"hash": graph.catalog.hash, "tools": len(graph.catalog)},
        "traces": _traces(graph),
        "reach": {
            "rate": reach.union.rate, "rate_masked": reach.masked.rate, "tools": reach.union.total,
            "assumed_offered": reach.assumed_offered, "blocked": to_json(reach.blocked),
            "by_entry": {item.entry: item.rate for item in reach.by_entry},
            "by_entry_masked": {item.entry: item.rate for item in reach.by_entry_masked},
            "partitions": reach.partitions.rate if reach.partitions else None,
            "unreachable": list(reach.unreachable), "high_risk": list(reach.high_risk), "user_side": list(reach.user_side),
        },
        "nodes": nodes,
        "edges": [_edge(graph, place) for place in kept],
        "edges_left_out": len(table) - len(kept),
        "dead": to_json(analysis.dead), "skew": to_json(analysis.skew), "states": to_json(analysis.states),
        "structure": to_json(analysis.structure), "unresolved": to_json(analysis.unresolved),
        "changes": to_json(analysis.changes), "traffic": to_json(analysis.traffic),
        "partitions": to_json(analysis.partitions), "hallucinated": to_json(analysis.hallucinated),
        "findings": to_json(analysis.findings),
    }  # fmt: skip


def _first_line(text: str) -> str:
    line = text.strip().split("\n", 1)[0]
    return line if len(line) <= 160 else line[:159] + "…"


def _traces(graph: ToolGraph) -> dict[str, Any] | None:
    evidence = graph.evidence
    if evidence is None:
        return None
    return {
        "traces": evidence.traces, "calls": evidence.calls, "retries": evidence.retries,
        "with_exposure": evidence.with_exposure, "first": evidence.first, "last": evidence.last,
    }  # fmt: skip


def _edge(graph: ToolGraph, place: int) -> dict[str, Any]:
    edge = graph.table.record(place)
    row = {
        "source": edge.source, "target": edge.target, "score": edge.score, "trusted": edge.trusted,
        **to_json(edge.evidence),
    }  # fmt: skip
    row["origin"] = edge.evidence.origin
    return row


def read_map(path: str | Path) -> dict[str, Any]:
    """A map document from a file; raises `InputError` where it is none."""
    place = Path(path)
    try:
        document = json.loads(place.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(
            f"cannot read: {error.strerror or error}", where=str(place), next_step="check the path"
        ) from error
    except ValueError as error:
        raise InputError(f"is no JSON: {error}", where=str(place)) from error
    if not isinstance(document, Mapping) or "nodes" not in document or "reach" not in document:
        raise InputError(
            "is no map",
            where=str(place),
            next_step="write one with `agent-reach map --format json --output map.json`",
        )
    if document.get("schema_version") != MAP_SCHEMA_VERSION:
        raise InputError(
            f"is a map of version {document.get('schema_version')!r}, not {MAP_SCHEMA_VERSION}",
            where=str(place),
        )
    return dict(document)
