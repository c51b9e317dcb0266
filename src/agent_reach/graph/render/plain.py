"""The map for other tools: DOT, Mermaid, GraphML."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

from agent_reach.graph.render.marks import STYLES, Picture

if TYPE_CHECKING:
    from agent_reach.graph.build import ToolGraph

_DOT_LOOKS = {
    "entry": 'shape=doublecircle, fillcolor="#dbeafe"',
    "tool": 'shape=box, style="rounded,filled", fillcolor="#f8fafc"',
    "blocked": 'shape=octagon, style=filled, fillcolor="#fee2e2", color="#b91c1c", penwidth=2',
    "dead": 'shape=box, style="rounded,dashed,filled", fillcolor="#f1f5f9", fontcolor="#475569"',
    "user": 'shape=house, style=filled, fillcolor="#ecfccb"',
    "folded": 'shape=box3d, style=filled, fillcolor="#f8fafc"',
    "partition": 'shape=cylinder, style=filled, fillcolor="#fef9c3"',
}
_XML_BAD = {code: None for code in range(32) if code not in (9, 10, 13)}


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ") + '"'


def to_dot(drawn: Picture) -> str:
    """The picture in Graphviz' language."""
    lines = [
        "digraph map {",
        '  rankdir=LR; node [fontname="sans-serif", fontsize=11]; edge [arrowsize=0.6, color="#475569"];',
    ]
    for node in drawn.nodes:
        label = (
            _quoted(node.label + (f"\n{node.mark}" if node.mark else "")).replace(
                f" {node.mark}", f"\\n{node.mark}"
            )
            if node.mark
            else _quoted(node.label)
        )
        lines.append(f"  {_quoted(node.id)} [label={label}, {_DOT_LOOKS[node.look]}];")
    for edge in drawn.edges:
        tooltip = _quoted(f"{edge.kind} {edge.score:.2f}")
        lines.append(
            f"  {_quoted(edge.source)} -> {_quoted(edge.target)} "
            f"[style={STYLES[edge.kind]}, penwidth={edge.width:.1f}, tooltip={tooltip}];"
        )
    lines.append("}")
    return "\n".join(lines) + "\n"


_MERMAID_SHAPES = {
    "entry": ("((", "))"), "tool": ("[", "]"), "blocked": ("{{", "}}"), "dead": ("[/", "/]"), "user": (">", "]"),
    "folded": ("[[", "]]"), "partition": ("[(", ")]"),
}  # fmt: skip
_MERMAID_ARROWS = {
    "walked": "==>",
    "planned": "-->",
    "hand": "==>",
    "schema": "-->",
    "weak": "-.->",
    "offered": "-->",
}


def to_mermaid(drawn: Picture) -> str:
    """The picture as a Mermaid flow chart for Markdown."""
    names = {node.id: f"n{number}" for number, node in enumerate(drawn.nodes)}
    lines = ["flowchart LR"]
    for node in drawn.nodes:
        text = node.label + (f"<br/>{node.mark}" if node.mark else "")
        text = text.replace('"', "#quot;").replace("`", "#96;")
        left, right = _MERMAID_SHAPES[node.look]
        lines.append(f'  {names[node.id]}{left}"{text}"{right}:::{node.look}')
    for edge in drawn.edges:
        label = f"|{edge.count}|" if edge.count > 1 else ""
        lines.append(f"  {names[edge.source]} {_MERMAID_ARROWS[edge.kind]}{label} {names[edge.target]}")
    lines.append("  classDef blocked fill:#fee2e2,stroke:#b91c1c,stroke-width:2px,color:#7f1d1d;")
    lines.append("  classDef dead fill:#f1f5f9,stroke:#64748b,stroke-dasharray:4 3,color:#475569;")
    lines.append("  classDef entry fill:#dbeafe,stroke:#1d4ed8,color:#1e3a8a;")
    return "\n".join(lines) + "\n"


def to_graphml(graph: ToolGraph) -> str:
    """All nodes and edges with score, trust and the measured parts as GraphML."""
    table = graph.table
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">',
        '<key id="kind" for="node" attr.name="kind" attr.type="string"/>',
        '<key id="score" for="edge" attr.name="score" attr.type="double"/>',
        '<key id="trusted" for="edge" attr.name="trusted" attr.type="boolean"/>',
        '<key id="origin" for="edge" attr.name="origin" attr.type="string"/>',
        '<key id="taken" for="edge" attr.name="taken" attr.type="int"/>',
        '<graph edgedefault="directed">',
    ]
    for place, name in enumerate(table.nodes):
        kind = "entry" if place < table.entry_count else "tool" if table.is_tool(place) else "partition"
        lines.append(f'<node id={quoteattr(name.translate(_XML_BAD))}><data key="kind">{kind}</data></node>')
    for place in range(len(table)):
        source, target = (
            table.nodes[end].translate(_XML_BAD) for end in (table.source[place], table.target[place])
        )
        counts = table.counts.get(place)
        lines.append(
            f'<edge source={quoteattr(source)} target={quoteattr(target)}><data key="score">{table.score[place]:.6f}</data>'
            f'<data key="trusted">{"true" if table.trusted[place] else "false"}</data>'
            f'<data key="origin">{escape(table.origin[place])}</data><data key="taken">{counts.taken if counts else 0}</data></edge>'
        )
    lines.append("</graph></graphml>")
    return "\n".join(lines) + "\n"
