"""The map as SVG: by Graphviz where it is installed and ends in time, else by the own layout, so that a picture always comes.

`dot` layers small graphs well and did not end in 40 s on 200 nodes and 600 edges where `sfdp` took .2 s; the engine is chosen
by size, and a time limit stands behind it.
"""

from __future__ import annotations

import shutil
import subprocess
from xml.sax.saxutils import escape, quoteattr

from agent_reach.graph.render.layout import place_nodes
from agent_reach.graph.render.marks import DrawnEdge, DrawnNode, Picture
from agent_reach.graph.render.plain import to_dot
from agent_reach.records.message import Language, Message

DOT_NODES, DOT_EDGES = 60, 160
TIME_LIMIT = 10.0
WIDTH, HEIGHT = 210, 34
_FILL = {
    "entry": "#dbeafe",
    "tool": "#ffffff",
    "blocked": "#fee2e2",
    "dead": "#f1f5f9",
    "user": "#ecfccb",
    "folded": "#f8fafc",
    "partition": "#fef9c3",
}
_STROKE = {
    "entry": "#1d4ed8",
    "tool": "#64748b",
    "blocked": "#b91c1c",
    "dead": "#64748b",
    "user": "#4d7c0f",
    "folded": "#334155",
    "partition": "#a16207",
}
_DASH = {"solid": "", "bold": "", "dashed": "7 4", "dotted": "2 4"}
_LEGEND = (
    ("walked", Message("walked in traces", "轨迹中走过")), ("schema", Message("from schemas", "由模式推断")),
    ("weak", Message("from schemas, weaker", "由模式推断，较弱")), ("hand", Message("made by hand", "手工添加")),
)  # fmt: skip


def to_svg(
    drawn: Picture, language: Language = "en", *, graphviz: bool = True, time_limit: float = TIME_LIMIT
) -> str:
    """The picture as SVG text."""
    if graphviz:
        made = _by_graphviz(drawn, time_limit)
        if made is not None:
            return made
    return _own(drawn, language)


def _by_graphviz(drawn: Picture, time_limit: float) -> str | None:
    engine = "dot" if len(drawn.nodes) <= DOT_NODES and len(drawn.edges) <= DOT_EDGES else "sfdp"
    program = shutil.which(engine)
    if program is None:
        return None
    command = [program, "-Tsvg"] + ([] if engine == "dot" else ["-Goverlap=prism", "-Gsplines=true"])
    try:
        done = subprocess.run(
            command, input=to_dot(drawn), capture_output=True, text=True, timeout=time_limit, check=False
        )
    except (subprocess.TimeoutExpired, OSError):
        return None
    start = done.stdout.find("<svg")
    return done.stdout[start:] if done.returncode == 0 and start >= 0 else None


def _own(drawn: Picture, language: Language) -> str:
    placed = place_nodes(drawn)
    legend = 30
    width = max(placed.width + 60, 800)
    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {placed.height + legend:.0f}" '
            f'width="{width:.0f}" height="{placed.height + legend:.0f}" font-family="system-ui, sans-serif" font-size="12" role="img">'
        ),
        f"<title>{escape(Message('Reachability map', '可达性地图').text(language))}</title>",
        (
            '<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerUnits="userSpaceOnUse" markerWidth="8" markerHeight="8" orient="auto-start-reverse">'
            '<path d="M0 0 8 4 0 8z" fill="#475569"/></marker></defs>'
        ),
        f'<rect class="ground" width="{width:.0f}" height="{placed.height + legend:.0f}" fill="#ffffff"/>',
    ]
    parts.extend(_edge(edge, placed.positions) for edge in drawn.edges)
    parts.extend(_node(node, placed.positions[node.id]) for node in drawn.nodes)
    parts.append(_legend(placed.height + 12, language))
    parts.append("</svg>")
    return "".join(parts)


def _edge(edge: DrawnEdge, positions: dict[str, tuple[float, float]]) -> str:
    from agent_reach.graph.render.marks import STYLES

    (left, top), (right, bottom) = positions[edge.source], positions[edge.target]
    dash = _DASH[STYLES[edge.kind]]
    style = f' stroke-dasharray="{dash}"' if dash else ""
    if abs(left - right) < 1:
        bow = WIDTH / 2 + 18 + abs(top - bottom) * 0.12
        path = f"M{left + WIDTH / 2:.0f} {top:.0f} C{left + bow:.0f} {top:.0f} {right + bow:.0f} {bottom:.0f} {right + WIDTH / 2:.0f} {bottom:.0f}"
    else:
        side = 1 if right > left else -1
        start, end = left + side * WIDTH / 2, right - side * WIDTH / 2
        middle = (start + end) / 2
        path = (
            f"M{start:.0f} {top:.0f} C{middle:.0f} {top:.0f} {middle:.0f} {bottom:.0f} {end:.0f} {bottom:.0f}"
        )
    told = escape(f"{edge.source} → {edge.target}: {edge.kind} {edge.score:.2f}")
    return (
        f'<path class="e {edge.kind}" data-s={quoteattr(edge.source)} data-t={quoteattr(edge.target)} d="{path}" fill="none" stroke="#475569" stroke-opacity="{0.28 if edge.kind == "offered" else 0.5}" stroke-width="{0.7 + edge.width * 0.45:.1f}"{style} '
        f'marker-end="url(#tip)"><title>{told}</title></path>'
    )


def _node(node: DrawnNode, position: tuple[float, float]) -> str:
    across, down = position
    dash = ' stroke-dasharray="4 3"' if node.look == "dead" else ""
    width = 2 if node.look in ("blocked", "entry") else 1
    label, mark = _cut(node.label, 30), _cut(node.mark, 38)
    text = f'<text x="{across:.0f}" y="{down + (4 if not mark else -2):.0f}" text-anchor="middle" class="l" fill="#0f172a">{escape(label)}</text>'
    if mark:
        colour = "#b91c1c" if node.look == "blocked" else "#475569"
        text += f'<text x="{across:.0f}" y="{down + 11:.0f}" text-anchor="middle" font-size="9.5" class="m" fill="{colour}">{escape(mark)}</text>'
    told = escape(f"{node.id} {node.mark}".strip())
    return (
        f'<g class="n {node.look}" data-id={quoteattr(node.id)}><title>{told}</title><rect x="{across - WIDTH / 2:.0f}" y="{down - HEIGHT / 2:.0f}" width="{WIDTH}" height="{HEIGHT}" '
        f'rx="{17 if node.look == "entry" else 6}" fill="{_FILL[node.look]}" stroke="{_STROKE[node.look]}" stroke-width="{width}"{dash}/>{text}</g>'
    )


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _legend(down: float, language: Language) -> str:
    from agent_reach.graph.render.marks import STYLES

    parts, across = [], 20
    for kind, word in _LEGEND:
        dash = _DASH[STYLES[kind]]
        style = f' stroke-dasharray="{dash}"' if dash else ""
        width = 3 if kind == "hand" else 1.6
        parts.append(f'<path d="M{across} {down:.0f}h34" stroke="#475569" stroke-width="{width}"{style}/>')
        parts.append(
            f'<text x="{across + 40}" y="{down + 4:.0f}" font-size="10.5" class="l" fill="#334155">{escape(word.text(language))}</text>'
        )
        across += 190
    return "".join(parts)
