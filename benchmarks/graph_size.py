"""What a large map costs: built and analysed at 1,000, 3,000 and 10,000 tools, traces folded in, networkx beside it.

The catalog is synthetic: services of 50 tools with lookups, lists, creations and actions on their own things and on those
of other services, so that over 20 edges a tool are real and all services hang together. Both sides start from the same
table of edges, build their own graph and analyse it; they take turns, and the median of the ratios counts. Once all tools
are offered (one hop leads everywhere), once every twentieth (paths must be walked). networkx has it easier: it names no
path, entry, orphan or bottleneck. Times are CPU seconds of this process; memory is its peak. Noise on a shared machine:
+-15%.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import statistics
import time
from pathlib import Path
from typing import Any

from agent_reach.catalog.catalog import Catalog
from agent_reach.graph.analysis import analyse
from agent_reach.graph.bottlenecks import structure
from agent_reach.graph.build import ToolGraph
from agent_reach.graph.network import Network
from agent_reach.graph.options import GraphOptions
from agent_reach.graph.reach import reach
from agent_reach.records.tool import Tool
from agent_reach.records.trace import Call, CallOutcome, Exposure, Step, Trace

_STEMS = [
    "order",
    "client",
    "parcel",
    "invoice",
    "ticket",
    "asset",
    "device",
    "room",
    "lesson",
    "report",
    "badge",
    "vendor",
    "policy",
    "claim",
    "branch",
    "route",
]
_MAKE = ("get", "list", "search", "create", "update", "cancel", "archive", "assign", "export", "review")


def catalog_of(count: int) -> Catalog:
    """A catalog of `count` tools in services of 50: five things each, ten tools a thing."""
    tools = []
    chosen = random.Random(0)
    services = max(1, count // 50)
    for number in range(count):
        service, place = divmod(number, 50)
        group = place // 10
        other, third, fourth = (
            _thing((service * step + group + shift) % services, (group + place) % 5)
            for place, (step, shift) in enumerate(((3, 1), (5, 7), (7, 13)), start=1)
        )
        thing = _thing(service, group)
        verb = _MAKE[place % 10]
        inputs: dict[str, Any] = (
            {} if verb in ("list", "search", "create") else {f"{thing}_id": {"type": "string"}}
        )
        if verb in ("create", "assign", "review"):
            inputs[f"{other}_id"] = {"type": "string"}
        if verb == "search":
            inputs["query"] = {"type": "string"}
        linked = {f"{name}_id": {"type": "string"} for name in (thing, other, third, fourth)}
        record = {
            "type": "object",
            "properties": {**(linked if verb in ("get", "list", "search", "export") else {f"{thing}_id": {"type": "string"}}), "status": {"type": "string"},
                           "note": {"type": "string"}, "total": {"type": "number"}},
        }  # fmt: skip
        output = (
            {"type": "object", "properties": {"items": {"type": "array", "items": record}}}
            if verb in ("list", "search")
            else record
        )
        schema = {"type": "object", "properties": inputs, "required": list(inputs)}
        name = f"{verb}_{thing}"
        tools.append(Tool(name=name, server=f"service{service}", description=f"{verb.title()} {thing} of service {service}.",
                          input_schema=schema, output_schema=output))  # fmt: skip
    chosen.shuffle(tools)
    return Catalog.from_tools(tools)


def _thing(service: int, group: int) -> str:
    return f"{_STEMS[(service + group) % len(_STEMS)]}{_letters(service)}{_letters(group)}"


def _letters(number: int) -> str:
    text = ""
    number += 1
    while number:
        number, rest = divmod(number - 1, 26)
        text = chr(97 + rest) + text
    return text


def traces_of(catalog: Catalog, count: int, hops: int = 5) -> list[Trace]:
    """Traces of `hops` calls each, with results and arguments that flow."""
    chosen = random.Random(1)
    keys = [tool.key for tool in catalog.tools]
    found = []
    for number in range(count):
        steps = []
        carried = f"v{number}"
        for place in range(hops):
            tool = chosen.choice(keys)
            value = {"id": f"{number}-{place}", "status": "open"}
            outcome = CallOutcome(
                status="ok" if place % 7 else "failed",
                error_kind=None if place % 7 else "timeout",
                value=value,
                latency_ms=120.0,
            )
            call = Call(
                call_id=f"{number}-{place}", name=tool, tool=tool, arguments={"id": carried}, outcome=outcome
            )
            steps.append(Step(index=place, calls=(call,)))
            carried = f"{number}-{place}"
        found.append(
            Trace(trace_id=str(number), query="do it", steps=tuple(steps), exposure=Exposure(offered=()))
        )
    return found


def with_networkx(graph: ToolGraph) -> float:
    """CPU seconds of networkx for the same trusted edges: hops, costs, groups, dominators, sampled betweenness."""
    import networkx as nx

    network = Network(graph.table, graph.options)
    edges = [
        (node, target, price)
        for node, targets in enumerate(network.out)
        for target, price in zip(targets, network.cost[node], strict=True)
    ]
    started = time.process_time()
    other = nx.DiGraph()
    other.add_nodes_from(range(network.size))
    other.add_weighted_edges_from(edges)
    nx.single_source_shortest_path_length(other, 0)
    nx.single_source_dijkstra(other, 0)
    list(nx.strongly_connected_components(other))
    nx.immediate_dominators(other, 0)
    nx.betweenness_centrality(other, k=min(64, network.size), seed=0)
    return time.process_time() - started


def ours(graph: ToolGraph) -> float:
    """CPU seconds of the same analysis here, adjacency lists included."""
    fresh = ToolGraph(graph.catalog, graph.table, graph.evidence, graph.options)
    started = time.process_time()
    reach(fresh)
    structure(fresh)
    return time.process_time() - started


def in_turns(graph: ToolGraph, rounds: int) -> tuple[float, float, float]:
    """Median CPU seconds here and by networkx, and the median of their ratios, taking turns."""
    pairs = [(ours(graph), with_networkx(graph)) for _ in range(rounds)]
    return (
        statistics.median(mine for mine, _ in pairs),
        statistics.median(theirs for _, theirs in pairs),
        statistics.median(theirs / mine for mine, theirs in pairs),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--sizes", default="1000,3000,10000")
    parser.add_argument("--traces", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=5, help="turns of networkx and this; 0 leaves both out")
    arguments = parser.parse_args()
    rows = []
    print(
        " tools    edges  trusted  build s  analyse s  total s  peak MB | same analysis: offered    here s  networkx s  factor"
    )
    for size in map(int, arguments.sizes.split(",")):
        catalog = catalog_of(size)
        started = time.process_time()
        graph = ToolGraph.build(catalog)
        built = time.process_time() - started
        started = time.process_time()
        analyse(graph)
        analysed = time.process_time() - started
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        row: dict[str, Any] = {"tools": size, "edges": len(graph.table), "trusted": graph.table.trusted_count, "build_s": built,
               "analyse_s": analysed, "peak_mb": peak}  # fmt: skip
        rows.append(row)
        print(
            f"{size:6} {row['edges']:8} {row['trusted']:8} {built:8.2f} {analysed:10.2f} {built + analysed:8.2f} {peak:8.0f} |"
        )
        some = GraphOptions(offered=tuple(tool.key for tool in catalog.tools[::20]))
        for name, measured in (("all", graph), ("every 20th", ToolGraph.build(catalog, options=some))):
            if not arguments.rounds:
                break
            here, theirs, factor = in_turns(measured, arguments.rounds)
            row[name] = {"here_s": here, "networkx_s": theirs, "factor": factor}
            print(f"{name:>85} {here:9.3f} {theirs:11.2f} {factor:7.1f}")
    catalog = catalog_of(1000)
    traces = traces_of(catalog, arguments.traces)
    started = time.process_time()
    graph = ToolGraph.build(catalog, traces, options=GraphOptions(infer=False))
    spent = time.process_time() - started
    hops = sum(counts.taken for counts in graph.evidence.hops.values()) if graph.evidence else 0
    print(f"{len(traces)} traces, {hops} hops folded in {spent:.2f} s: {hops / spent:.0f} hops/s")
    if arguments.json:
        arguments.json.write_text(
            json.dumps({"sizes": rows, "traces": len(traces), "hops_per_s": hops / spent}, indent=2)
        )


if __name__ == "__main__":
    main()
