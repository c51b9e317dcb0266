"""Where nodes stand in a picture without Graphviz: columns by hops from the entries, ordered to cross few edges.

Layers by breadth-first distance, a few sweeps of barycentres (Sugiyama, Tagawa, Toda 1981), long columns broken into several.
It always ends: the number of sweeps is fixed.
"""

from __future__ import annotations

from dataclasses import dataclass

from agent_reach.graph.render.marks import Picture

COLUMN = 260
ROW = 46
MOST_ROWS = 24
SWEEPS = 6


@dataclass(frozen=True, slots=True)
class Placed:
    """Positions of node centres in pixels and the size of the picture."""

    positions: dict[str, tuple[float, float]]
    width: float
    height: float


def place_nodes(drawn: Picture) -> Placed:
    """A position for each node of the picture."""
    layers = _layers(drawn)
    neighbours: dict[str, list[str]] = {node.id: [] for node in drawn.nodes}
    for edge in drawn.edges:
        neighbours[edge.source].append(edge.target)
        neighbours[edge.target].append(edge.source)
    order: dict[str, float] = {}
    for layer in layers:
        order.update({name: float(place) for place, name in enumerate(layer)})
    for _ in range(SWEEPS):
        for layer in layers:
            weight = {
                name: sum(order[other] for other in neighbours[name]) / len(neighbours[name])
                if neighbours[name]
                else order[name]
                for name in layer
            }
            layer.sort(key=lambda name: (weight[name], name))
            order.update({name: float(place) for place, name in enumerate(layer)})
    columns = [
        layer[start : start + MOST_ROWS] for layer in layers for start in range(0, len(layer), MOST_ROWS)
    ]
    tallest = max((len(column) for column in columns), default=1)
    height = tallest * ROW + 40
    positions = {}
    for number, column in enumerate(columns):
        top = (height - len(column) * ROW) / 2
        for row, name in enumerate(column):
            positions[name] = (COLUMN * number + COLUMN / 2, top + ROW * row + ROW / 2)
    return Placed(positions, max(1, len(columns)) * COLUMN, height)


def _layers(drawn: Picture) -> list[list[str]]:
    out: dict[str, list[str]] = {node.id: [] for node in drawn.nodes}
    fed: dict[str, int] = dict.fromkeys(out, 0)
    for edge in drawn.edges:
        out[edge.source].append(edge.target)
        fed[edge.target] += 1
    entries = [node.id for node in drawn.nodes if node.look == "entry"]
    layers: list[list[str]] = [entries] if entries else []
    left = [node.id for node in drawn.nodes if node.look != "entry"]
    seen = set(entries)
    current = entries
    while left:
        following = list(
            dict.fromkeys(target for name in current for target in out[name] if target not in seen)
        )
        if not following:
            # Nothing leads on: what feeds most of the rest begins a new layer.
            rest = [name for name in left if name not in seen]
            if not rest:
                break
            least = min(fed[name] for name in rest)
            following = [name for name in rest if fed[name] == least and out[name]] or rest
        layers.append(following)
        seen.update(following)
        left = [name for name in left if name not in seen]
        current = following
    return layers
