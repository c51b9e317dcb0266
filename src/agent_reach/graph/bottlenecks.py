"""Cycles and their entries, orphans, what is cut off when a tool is gone, what lies on every path to a tool, betweenness."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent_reach.graph.centrality import betweenness
from agent_reach.graph.network import Network, dominators, strong_groups
from agent_reach.graph.reach import blocked_tools
from agent_reach.records.garbage import collector_paused
from agent_reach.records.graph import AGENT_NODE

if TYPE_CHECKING:
    from agent_reach.graph.build import ToolGraph


MOST_NAMED = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Cycle:
    """A strongly connected group: its members, and those of them that a trusted edge enters from outside (an agent's
    direct offer of all of them counts only where it is the only way in). `handoff` where the members are agents."""

    members: tuple[str, ...]
    entries: tuple[str, ...]
    handoff: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Bottleneck:
    """A node without which others cannot be reached: `cuts_off` are the
    first `MOST_NAMED` of those `count`; `latency_ms` its mean latency; `blocked` why it
    cannot be used here; `betweenness` its share of shortest paths."""

    tool: str
    cuts_off: tuple[str, ...]
    count: int
    latency_ms: float | None = None
    blocked: tuple[str, ...] = ()
    betweenness: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Structure:
    """Shape of the trusted graph. `on_every_path` maps a tool to the tools on every path to it (the entry left out; the
    nearest `MOST_NAMED`);
    `central` are the tools with the highest betweenness; `exact` tells whether that is exact or estimated."""

    cycles: tuple[Cycle, ...]
    self_loops: tuple[str, ...]
    orphans: tuple[str, ...]
    bottlenecks: tuple[Bottleneck, ...]
    on_every_path: dict[str, tuple[str, ...]]
    central: tuple[tuple[str, float], ...]
    exact: bool


def structure(graph: ToolGraph, *, central: int = 20) -> Structure:
    """The shape of a graph's trusted edges."""
    with collector_paused():
        return _structure(graph, central)


def _structure(graph: ToolGraph, central: int) -> Structure:
    table = graph.table
    network = graph.network
    nodes = table.nodes
    between, exact = betweenness(network.left, network.right, network.size)
    ranked = sorted(range(table.entry_count, network.size), key=lambda node: (-between[node], nodes[node]))
    parents = dominators(network.out, network.into(), list(network.entries))
    return Structure(
        cycles=_cycles(network, nodes), self_loops=_self_loops(network, nodes), orphans=_orphans(network, nodes),
        bottlenecks=_bottlenecks(graph, parents, between), on_every_path=_every_path(parents, nodes, table.entry_count),
        central=tuple((nodes[node], round(between[node], 6)) for node in ranked[:central] if between[node] > 0), exact=exact,
    )  # fmt: skip


def _cycles(network: Network, nodes: list[str]) -> tuple[Cycle, ...]:
    """The strongly connected groups with their entries."""
    import numpy as np

    groups = strong_groups(network.out)
    group_of = np.full(network.size, -1)
    for number, group in enumerate(groups):
        group_of[group] = number
    reached = group_of[network.right]
    crossing = (reached >= 0) & (reached != group_of[network.left])
    by_tool = np.unique(network.right[crossing & (network.left >= len(network.entries))])
    by_agent = np.unique(network.right[crossing & (network.left < len(network.entries))])
    entered: list[list[list[int]]] = [[[], []] for _ in groups]
    for kind, found in enumerate((by_tool, by_agent)):
        for node, number in zip(found.tolist(), group_of[found].tolist(), strict=True):
            entered[number][kind].append(node)
    return tuple(
        Cycle(
            members=tuple(nodes[node] for node in group),
            entries=tuple(nodes[node] for node in entered[number][0] or entered[number][1]),
            handoff=all(nodes[node].startswith(AGENT_NODE) for node in group),
        )
        for number, group in enumerate(groups)
    )


def _self_loops(network: Network, nodes: list[str]) -> tuple[str, ...]:
    """Tools that feed themselves."""
    import numpy as np

    found = np.unique(network.left[network.left == network.right])
    return tuple(nodes[node] for node in found.tolist() if node >= len(network.entries))


def _orphans(network: Network, nodes: list[str]) -> tuple[str, ...]:
    """Tools that no other tool feeds and that feed none."""
    import numpy as np

    between_tools = (network.left != network.right) & (network.left >= len(network.entries))
    alone = np.ones(network.size, dtype=bool)
    alone[network.left[between_tools]] = False
    alone[network.right[between_tools]] = False
    alone[: len(network.entries)] = False
    return tuple(nodes[node] for node in np.flatnonzero(alone).tolist())


def _bottlenecks(graph: ToolGraph, parents: list[int], between: list[float]) -> tuple[Bottleneck, ...]:
    table = graph.table
    blocked = blocked_tools(graph)
    below: dict[int, list[int]] = {}
    for node, parent in enumerate(parents):
        if parent >= 0:
            below.setdefault(parent, []).append(node)
    sizes = _subtree_sizes(parents, below)
    found = []
    for node in below:
        if not table.is_tool(node):
            continue
        counts = graph.evidence.tools.get(table.nodes[node]) if graph.evidence is not None else None
        found.append(
            Bottleneck(
                tool=table.nodes[node], cuts_off=tuple(table.nodes[item] for item in _beneath(node, below)),
                count=sizes[node] - 1,
                latency_ms=counts.latency_ms if counts is not None else None,
                blocked=blocked.get(table.nodes[node], ()), betweenness=round(between[node], 6),
            )
        )  # fmt: skip
    return tuple(sorted(found, key=lambda item: (-item.count, item.tool)))


def _subtree_sizes(parents: list[int], below: dict[int, list[int]]) -> list[int]:
    """Number of nodes in each subtree of the dominator tree, itself included."""
    sizes = [1] * len(parents)
    order = [node for node, parent in enumerate(parents) if parent == -1]
    for node in order:
        order.extend(below.get(node, ()))
    for node in reversed(order):
        if parents[node] >= 0:
            sizes[parents[node]] += sizes[node]
    return sizes


def _beneath(node: int, below: dict[int, list[int]]) -> list[int]:
    """The first nodes beneath a node, nearest first."""
    found = list(below.get(node, ()))[:MOST_NAMED]
    for item in found:
        if len(found) >= MOST_NAMED:
            break
        found.extend(below.get(item, ())[: MOST_NAMED - len(found)])
    return found


def _every_path(parents: list[int], nodes: list[str], entry_count: int) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for node in range(entry_count, len(parents)):
        chain: list[str] = []
        parent = parents[node]
        while parent >= 0 and len(chain) < MOST_NAMED:
            if parent >= entry_count:
                chain.append(nodes[parent])
            parent = parents[parent]
        if chain:
            found[nodes[node]] = tuple(reversed(chain))
    return found
