"""How well edges are inferred from schemas alone, on public tool lists with known edges.

Gold edges: value flow seen in executed runs (tau2 airline and retail, AgentDojo, BFCL multi-turn; a lower bound of what
is true, so precision is one too), hand-checked parameter edges (ToolLinkOS) and links of golden paths (RestBench-TMDB).
Self edges are left out. `p@n` is the precision among the n edges with the highest structural score, n being the number
of gold edges (ties share). Data: AGENT_REACH_DATA, else ../shared/data.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import math
import os
import random
import re
import statistics
import sys
from pathlib import Path
from typing import Any

from agent_reach.catalog.catalog import Catalog
from agent_reach.graph.build import ToolGraph
from agent_reach.graph.infer import infer_edges
from agent_reach.graph.options import GraphOptions
from agent_reach.graph.weights import EdgeWeights

Pair = tuple[str, str]
WANTED_RECALL = 0.85
NAIVE = {"tau2 airline": (0.42, 0.83), "tau2 retail": (0.38, 0.97), "AgentDojo": (0.06, 0.73),
         "BFCL multi-turn": (0.13, 0.33), "ToolLinkOS": (0.83, 0.43)}  # fmt: skip


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def _strict(*paths: Path) -> set[Pair]:
    return {
        (row["source"], row["target"])
        for path in paths
        for row in _lines(path)
        if row.get("traces_strict", 1) > 0 and row["source"] != row["target"]
    }


def _tool(row: dict[str, Any], output: str) -> dict[str, Any]:
    return {"name": row["name"], "description": row["description"], "inputSchema": row["parameters"],
            "outputSchema": row.get(output)}  # fmt: skip


def load_sets(data: Path) -> dict[str, tuple[Catalog, set[Pair]]]:
    """Name of the set -> (catalog, gold edges between tool names)."""
    tau2 = _lines(data / "tau2/tools.jsonl")
    sets: dict[str, tuple[Catalog, set[Pair]]] = {}
    for domain, files in (
        (
            "airline",
            (
                "tau2/gold_replay_airline_valueflow_edges.jsonl",
                "taubench_gpt4o_airline/valueflow_edges.jsonl",
            ),
        ),
        ("retail", ("tau2/gold_replay_retail_valueflow_edges.jsonl",)),
    ):
        tools = [_tool(row, "returns_schema") for row in tau2 if row["domain"] == domain]
        sets[f"tau2 {domain}"] = (Catalog.load(tools), _strict(*(data / name for name in files)))
    dojo = {row["name"]: _tool(row, "returns_schema") for row in _lines(data / "agentdojo/tools.jsonl")}
    sets["AgentDojo"] = (Catalog.load(list(dojo.values())), _strict(data / "agentdojo/valueflow_edges.jsonl"))
    bfcl = {row["name"]: _tool(row, "outputSchema") for row in _lines(data / "bfcl_multi_turn/tools.jsonl")}
    sets["BFCL multi-turn"] = (
        Catalog.load(list(bfcl.values())),
        _strict(data / "bfcl_multi_turn/valueflow_edges.jsonl"),
    )
    sets["ToolLinkOS"] = _tool_link(data / "toollinkos")
    sets["RestBench-TMDB"] = _tmdb(data / "restbench_tmdb")
    return sets


def _tool_link(folder: Path) -> tuple[Catalog, set[Pair]]:
    kinds = {
        "int": "integer",
        "float": "number",
        "str": "string",
        "bool": "boolean",
        "dict": "object",
        "list": "array",
    }
    tools = []
    for row in _lines(folder / "tools.jsonl"):
        properties = {}
        for item in row["parameters"]:
            kind = str(item.get("type") or "string").split("[")[0].lower()
            properties[item["name"]] = {
                "type": kinds.get(kind, kind),
                "description": item.get("description") or "",
            }
            if item.get("enum"):
                properties[item["name"]]["enum"] = item["enum"]
        required = [item["name"] for item in row["parameters"] if item.get("required")]
        schema = {"type": "object", "properties": properties, "required": required}
        tools.append({"name": row["name"], "description": row["description"], "inputSchema": schema})
    names = {tool["name"] for tool in tools}
    gold = {
        (row["source"], row["target"])
        for row in _lines(folder / "edges.jsonl")
        if row["type"].startswith("PARAMETER") and row["source"] != row["target"]
    }
    return Catalog.load(tools), {pair for pair in gold if set(pair) <= names}


def _tmdb(folder: Path) -> tuple[Catalog, set[Pair]]:
    catalog = Catalog.load(folder / "tmdb_oas.json")
    by_path = {_path_of(tool): tool.key for tool in catalog}
    names = {row["id"]: by_path.get(row["endpoint"]) for row in _lines(folder / "tools.jsonl")}
    gold = {(row["source"], row["target"]) for row in _lines(folder / "gold_links.jsonl")}
    catalog = catalog.subset([key for key in names.values() if key])
    return catalog, {
        (names[source], names[target])
        for source, target in gold
        if source != target and names.get(source) and names.get(target)
    }


def _path_of(tool: Any) -> str:
    found = re.search(r'"path": "([^"]+)"', json.dumps(tool.original.get("_meta", {})))
    return found.group(1) if found else ""


def precision_at(ranked: list[tuple[float, Pair]], gold: set[Pair]) -> float:
    """Precision among the first n = len(gold) edges; edges of one score share the places they take."""
    places, hits, at = len(gold), 0.0, 0
    ranked = sorted(ranked, key=lambda item: -item[0])
    while at < len(ranked) and places > 0:
        end = at
        while end < len(ranked) and ranked[end][0] == ranked[at][0]:
            end += 1
        group = [pair for _, pair in ranked[at:end]]
        share = min(1.0, places / len(group))
        hits += share * sum(pair in gold for pair in group)
        places -= len(group)
        at = end
    return hits / max(1, len(gold))


def measure(catalog: Catalog, gold: set[Pair]) -> dict[str, Any]:
    """Precision, recall and F1 of trusted edges, recall of all, and precision at n."""
    graph = ToolGraph.build(catalog)
    edges = [edge for edge in graph.edges if edge.source != "__agent__" and edge.source != edge.target]
    trusted = {(edge.source, edge.target) for edge in edges if edge.trusted}
    every = {(edge.source, edge.target) for edge in edges}
    hit = len(trusted & gold)
    precision, recall = hit / max(1, len(trusted)), hit / max(1, len(gold))
    ranked = [(edge.evidence.structural or 0.0, (edge.source, edge.target)) for edge in edges]
    return {
        "tools": len(catalog), "gold": len(gold), "edges": len(trusted), "precision": precision, "recall": recall,
        "f1": 2 * precision * recall / max(1e-9, precision + recall), "candidates": len(every),
        "recall_of_candidates": len(every & gold) / max(1, len(gold)), "precision_at_n": precision_at(ranked, gold),
        "missed": sorted(gold - trusted), "false": [(s, p) for s, p in sorted(ranked, key=lambda x: -x[0]) if p in trusted - gold],
    }  # fmt: skip


def naive_edges(catalog: Catalog) -> set[Pair]:
    """What a first pass finds: an output field and an input of one name, or `id` of a tool named after the input's thing."""
    found = set()
    given = {tool.key: _leaves(tool.output_schema or {}, tool.output_schema or {}, set()) for tool in catalog}
    for target in catalog:
        for name in target.parameters:
            thing = name.removesuffix("_id")
            for source in catalog:
                named = (
                    thing != name
                    and "id" in given[source.key]
                    and re.search(rf"\b{thing}\b", re.sub(r"[_-]", " ", source.name))
                )
                if source.key != target.key and (name in given[source.key] or named):
                    found.add((source.key, target.key))
    return found


def _naive_figures(catalog: Catalog, gold: set[Pair]) -> tuple[float, float]:
    found = naive_edges(catalog)
    hit = len(found & gold)
    return hit / max(1, len(found)), hit / max(1, len(gold))


def _leaves(schema: Any, root: Any, seen: set[str]) -> set[str]:
    names: set[str] = set()
    if isinstance(schema, dict):
        reference = schema.get("$ref")
        if isinstance(reference, str) and reference not in seen:
            node: Any = root
            for part in reference.removeprefix("#/").split("/"):
                node = node.get(part, {}) if isinstance(node, dict) else {}
            names |= _leaves(node, root, seen | {reference})
        for key, value in schema.items():
            if key == "properties" and isinstance(value, dict):
                names |= set(value)
                for inner in value.values():
                    names |= _leaves(inner, root, seen)
            elif key in ("items", "anyOf", "allOf", "oneOf", "additionalProperties"):
                for inner in value if isinstance(value, list) else [value]:
                    names |= _leaves(inner, root, seen)
    return names


def leave_one_out(sets: dict[str, tuple[Catalog, set[Pair]]], trials: int) -> dict[str, Any]:
    """Constants chosen on five sets and judged on the sixth, beside those that ship: how much of the figures is fitting.

    Every constant of `EdgeWeights` is moved at random. Of the choices whose mean recall over the other sets is at least
    `WANTED_RECALL` (of all, where none is), the one with the best mean of F1 and precision at n there is judged on the set
    left out. The mean of all choices says how much the constants matter at all.
    """
    drawn = random.Random(7)
    choices = [EdgeWeights(), *(varied(drawn) for _ in range(trials))]
    figures = []
    for place, weights in enumerate(choices):
        figures.append({name: judged(catalog, gold, weights) for name, (catalog, gold) in sets.items()})
        print(f"  {place}/{trials}", end="\r", file=sys.stderr)
    rows: dict[str, Any] = {}
    for left in sets:
        rows[left] = {
            "chosen on the others": _best(figures, [name for name in sets if name != left])[left],
            "shipped": figures[0][left],
            "mean of all": _mean([row[left] for row in figures]),
        }
    rows["mean"] = {
        column: _mean([row[column] for row in rows.values()]) for column in next(iter(rows.values()))
    }
    rows["mean"]["chosen on all"] = _mean(list(_best(figures, list(sets)).values()))
    print(f"leave one set out, {trials} random choices of the constants: recall / F1 / precision at n")
    print(f"{'set':16} " + " ".join(f"{column:>22}" for column in rows["mean"]))
    for name, row in rows.items():
        print(
            f"{name:16} "
            + " ".join(f"{' / '.join(f'{value:.3f}' for value in found):>22}" for found in row.values())
        )
    return rows


Figures = tuple[float, ...]


def _best(figures: list[dict[str, Figures]], names: list[str]) -> dict[str, Figures]:
    enough = [row for row in figures if _mean([row[name] for name in names])[0] >= WANTED_RECALL]
    return max(enough or figures, key=lambda row: sum(_mean([row[name] for name in names])[1:]))


def _mean(rows: list[Figures]) -> Figures:
    return tuple(map(statistics.mean, zip(*rows, strict=True)))


def varied(drawn: random.Random) -> EdgeWeights:
    """The shipped constants, the odds of each moved by a factor of mostly 1/2.7 to 2.7; sums of nearness stay."""

    def moved(value: float) -> float:
        odds = value / (1 - value) * math.exp(drawn.gauss(0.0, 1.0))
        return odds / (1 + odds)

    changes: dict[str, Any] = {}
    for name, value in dataclasses.asdict(EdgeWeights()).items():
        if isinstance(value, tuple):
            far = min(moved(value[0]), 1.0)
            changes[name] = (far, sum(value) - far)
        else:
            changes[name] = moved(value)
    return EdgeWeights(**changes)


def judged(catalog: Catalog, gold: set[Pair], weights: EdgeWeights) -> Figures:
    """Recall and F1 of the edges above the line of trust, and precision at n."""
    keys = [tool.key for tool in catalog.tools]
    edges = infer_edges(catalog.tools, weights=weights).edges
    ranked = [
        (found.score, (keys[left], keys[right])) for (left, right), found in edges.items() if left != right
    ]
    trusted = {pair for score, pair in ranked if score > GraphOptions().trust_above}
    hits = len(trusted & gold)
    return hits / len(gold), 2 * hits / max(1, len(trusted) + len(gold)), precision_at(ranked, gold)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--leave-one-out",
        type=int,
        metavar="TRIALS",
        help="choose the constants on five sets, judge on the sixth",
    )
    parser.add_argument("--json", type=Path, help="write the figures here")
    parser.add_argument("--show", metavar="SET", help="list missed and falsely found edges of one set")
    arguments = parser.parse_args()
    data = Path(os.environ.get("AGENT_REACH_DATA", "../shared/data")) / "graph"
    if not data.exists():
        sys.exit(f"no data at {data}; set AGENT_REACH_DATA")
    if arguments.leave_one_out:
        found = leave_one_out(load_sets(data), arguments.leave_one_out)
        if arguments.json:
            arguments.json.write_text(json.dumps(found, indent=2), encoding="utf-8")
        return
    rows = {}
    print(f"{'set':16} tools gold edges     P     R    F1 (naive)  p@n (naive P)  all: edges  R")
    for name, (catalog, gold) in load_sets(data).items():
        row = rows[name] = measure(catalog, gold)
        naive = NAIVE.get(name) or _naive_figures(catalog, gold)
        old = f"{2 * naive[0] * naive[1] / sum(naive):.2f}" if naive else "   -"
        base = f"{naive[0]:.2f}" if naive else "-"
        print(
            f"{name:16} {row['tools']:5} {row['gold']:4} {row['edges']:5} {row['precision']:5.2f} {row['recall']:5.2f} "
            f"{row['f1']:5.2f} ({old})   {row['precision_at_n']:.2f} ({base})      {row['candidates']:6} "
            f"{row['recall_of_candidates']:.2f}"
        )
        if arguments.show and arguments.show.lower() in name.lower():
            print("missed:", *(f"{a} -> {b}" for a, b in row["missed"]), sep="\n  ")
            print("false:", *(f"{s:.2f} {a} -> {b}" for s, (a, b) in row["false"][:60]), sep="\n  ")
    mean = sum(row["recall"] for row in rows.values()) / len(rows)
    print(f"mean recall of trusted edges {mean:.3f}")
    if arguments.json:
        arguments.json.write_text(json.dumps({"sets": rows, "mean_recall": mean}, indent=2), encoding="utf-8")


if __name__ == "__main__":
    main()
