"""What pictures share: which edges are drawn, how evidence becomes line style and width, how nodes are marked.

Colour never says anything alone: blocked nodes carry their reason, dead ones a word, kinds of evidence a line style.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent_reach.graph.analysis import GraphAnalysis
from agent_reach.records.message import Language, Message

if TYPE_CHECKING:
    from agent_reach.graph.build import ToolGraph

STYLES = {
    "walked": "solid",
    "planned": "solid",
    "hand": "bold",
    "schema": "dashed",
    "weak": "dotted",
    "offered": "solid",
}
DEAD_WORDS = {
    "never_offered": Message("never offered", "从未提供"),
    "offered_never_called": Message("never called", "从未调用"),
    "unreachable": Message("unreachable", "不可达"),
    "unknown": Message("not seen", "未观测到"),
}


@dataclass(frozen=True, slots=True)
class DrawnNode:
    """A node of a picture: `mark` is a short word under its name (a reason, a state), `look` is entry, tool, blocked, dead,
    user, folded or partition; `count` tools stand behind a folded node."""

    id: str
    label: str
    look: str
    mark: str = ""
    count: int = 1
    group: str = ""


@dataclass(frozen=True, slots=True)
class DrawnEdge:
    """An edge of a picture: `kind` as in `STYLES`, `width` 1..4 from its score, `count` edges behind it."""

    source: str
    target: str
    kind: str
    width: float
    score: float
    count: int = 1


@dataclass(frozen=True, slots=True)
class Picture:
    """What is drawn of a graph; `folded` tells that servers and cycles stand for their tools."""

    nodes: tuple[DrawnNode, ...]
    edges: tuple[DrawnEdge, ...]
    folded: bool = False


def picture(
    graph: ToolGraph, analysis: GraphAnalysis, language: Language = "en", *, most: int | None = None
) -> Picture:
    """The nodes and trusted edges to draw; above `most` tools (default: the options') servers and cycles are folded."""
    limit = graph.options.drawn if most is None else most
    if len(graph.catalog) > limit:
        return _folded(graph, analysis, language)
    table = graph.table
    dead = {item.tool: item.kind for item in analysis.dead}
    nodes = [
        DrawnNode(name, name.replace("__agent__:", "") if ":" in name else "agent", "entry")
        for name in graph.entries
    ]
    for tool in graph.catalog.tools:
        reasons = analysis.reach.blocked.get(tool.key, ())
        look, mark = "tool", ""
        if reasons:
            look, mark = "blocked", ", ".join(reasons)
        elif tool.actor != "agent":
            look, mark = "user", Message("user side", "用户侧").text(language)
        elif tool.key in dead and dead[tool.key] != "unknown":
            look, mark = "dead", DEAD_WORDS[dead[tool.key]].text(language)
        nodes.append(DrawnNode(tool.key, tool.key, look, mark, group=tool.server))
    first = table.entry_count + table.tool_count
    nodes.extend(DrawnNode(name, name.rsplit("/", 1)[-1], "partition") for name in table.nodes[first:])
    edges = []
    for place in range(len(table)):
        source, target = table.source[place], table.target[place]
        if not table.trusted[place] or source == target:
            continue
        counts = table.counts.get(place)
        if (
            source < table.entry_count
            and table.origin[place] == "assumed"
            and not (counts is not None and counts.taken)
        ):
            continue
        score = table.score[place]
        edges.append(
            DrawnEdge(table.nodes[source], table.nodes[target], edge_kind(graph, place), 1 + 3 * score, score)
        )
    if table.assumed_offered:
        fed = {edge.target for edge in edges}
        starts = [tool.key for tool in graph.catalog.tools if tool.key not in fed and tool.actor == "agent"]
        edges.extend(DrawnEdge(graph.entries[0], key, "offered", 1, 1.0) for key in starts)
    return Picture(tuple(nodes), tuple(edges))


def edge_kind(graph: ToolGraph, place: int) -> str:
    """The kind of evidence that carries an edge: walked before hand-made before planned before schema."""
    table = graph.table
    counts = table.counts.get(place)
    if counts is not None and counts.taken:
        return "walked"
    if table.source[place] < table.entry_count:
        return "offered"
    if table.origin[place] == "overlay":
        return "hand"
    if counts is not None and counts.wanted:
        return "planned"
    return "schema" if table.score[place] >= 0.6 else "weak"


def _folded(graph: ToolGraph, analysis: GraphAnalysis, language: Language) -> Picture:
    """One node a server (or, without servers, a cycle; what is left over is one node)."""
    fold: dict[str, str] = {}
    if len({tool.server for tool in graph.catalog.tools}) > 1:
        fold = {tool.key: tool.server or "-" for tool in graph.catalog.tools}
    else:
        for number, cycle in enumerate(analysis.structure.cycles[:40], start=1):
            fold.update(
                dict.fromkeys(cycle.members, Message(f"cycle {number}", f"环 {number}").text(language))
            )
    rest = Message("other tools", "其他工具").text(language)
    counts: dict[str, int] = {}
    for tool in graph.catalog.tools:
        name = fold.setdefault(tool.key, rest)
        counts[name] = counts.get(name, 0) + 1
    blocked: dict[str, int] = {}
    for key in analysis.reach.blocked:
        blocked[fold[key]] = blocked.get(fold[key], 0) + 1
    nodes = [
        DrawnNode(name, "agent" if ":" not in name else name.split(":", 1)[1], "entry")
        for name in graph.entries
    ]
    for name, count in sorted(counts.items(), key=lambda item: -item[1])[:200]:
        mark = Message(f"{count} tools", f"{count} 个工具").text(language)
        if blocked.get(name):
            mark += Message(f", {blocked[name]} blocked", f"，{blocked[name]} 个被拦截").text(language)
        nodes.append(
            DrawnNode(name, name, "blocked" if blocked.get(name) == count else "folded", mark, count)
        )
    shown = {node.id for node in nodes}
    joined: dict[tuple[str, str], tuple[int, float]] = {}
    table = graph.table
    for place in range(len(table)):
        if not table.trusted[place] or not table.is_tool(table.target[place]):
            continue
        source, target = table.nodes[table.source[place]], fold[table.nodes[table.target[place]]]
        source = fold.get(source, source)
        if source != target and source in shown and target in shown:
            known = joined.get((source, target), (0, 0.0))
            joined[(source, target)] = (known[0] + 1, max(known[1], table.score[place]))
    largest = max((count for count, _ in joined.values()), default=1)
    strongest = sorted(joined.items(), key=lambda item: (-item[1][0], item[0]))[:600]
    edges = tuple(
        DrawnEdge(left, right, "schema", 1 + 3 * count / largest, score, count)
        for (left, right), (count, score) in strongest
    )
    return Picture(tuple(nodes), edges, folded=True)
