"""Reach rate, reach cost and high-risk tools, per entry and for all entries, with and without the permission mask."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from agent_reach.graph.network import INFINITE, Network, strong_groups
from agent_reach.graph.permissions import permission_mask
from agent_reach.records.garbage import collector_paused

if TYPE_CHECKING:
    from agent_reach.graph.build import ToolGraph


MOST_NAMED = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryReach:
    """What one entry (or all of them, `entry` empty) reaches: reachable tools / all tools of the agent's side."""

    entry: str
    reachable: frozenset[str]
    total: int

    @property
    def rate(self) -> float | None:
        """Reach rate; None where there are no tools."""
        return len(self.reachable) / self.total if self.total else None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCost:
    """Fewest hops (direct is 1) and least weighted cost to a tool, and the nodes on the cheapest path from its entry (the last
    `MOST_NAMED` of a longer one)."""

    tool: str
    hops: int
    cost: float
    path: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReachResult:
    """Reach of a graph. `masked` and `by_entry_masked` leave out what the environment blocks; `blocked` says why;
    `costs` and `high_risk` (more than `far` hops) hold under the mask; `user_side` tools belong to no agent."""

    union: EntryReach
    masked: EntryReach
    by_entry: tuple[EntryReach, ...]
    by_entry_masked: tuple[EntryReach, ...]
    blocked: dict[str, tuple[str, ...]] = field(default_factory=dict)
    costs: dict[str, ToolCost] = field(default_factory=dict)
    high_risk: tuple[str, ...] = ()
    unreachable: tuple[str, ...] = ()
    partitions: EntryReach | None = None
    user_side: tuple[str, ...] = ()
    assumed_offered: bool = False


def blocked_tools(graph: ToolGraph) -> dict[str, tuple[str, ...]]:
    """Tools that cannot be used here and why: missing grants, or what a probe says."""
    blocked: dict[str, tuple[str, ...]] = {}
    if graph.grants is not None:
        blocked.update(permission_mask(graph.catalog, graph.grants).blocked)
    for key, (state, reasons) in graph.physical.items():
        if state == "blocked" and key in graph.catalog:
            blocked[key] = (*blocked.get(key, ()), *(reasons or ("probe:blocked",)))
    return blocked


def reach(graph: ToolGraph) -> ReachResult:
    """The reach of a graph over trusted edges."""
    with collector_paused():
        return _reach(graph)


def _reach(graph: ToolGraph) -> ReachResult:
    table = graph.table
    blocked = blocked_tools(graph)
    gone = {table.index[key] for key in blocked}
    whole = graph.network
    masked = Network(table, graph.options, gone) if gone else whole
    mine = [table.index[tool.key] for tool in graph.catalog.tools if tool.actor == "agent"]
    entries = list(range(table.entry_count))
    hops = masked.hops_from(entries)
    prices, before = masked.costs_from(entries)
    costs = {
        table.nodes[node]: ToolCost(
            tool=table.nodes[node], hops=hops[node], cost=prices[node], path=_path(node, before, table.nodes)
        )
        for node in mine
        if hops[node] > 0 and prices[node] < INFINITE
    }

    def reached(network: Network, starts: list[int], name: str) -> EntryReach:
        far = hops if network is masked and starts == entries else network.hops_from(starts)
        found = frozenset(table.nodes[node] for node in mine if far[node] > 0)
        return EntryReach(entry=name, reachable=found, total=len(mine))

    union = reached(whole, entries, "")
    under = reached(masked, entries, "") if gone else union
    by_entry = _each(whole, union, table.nodes, reached)
    by_masked = _each(masked, under, table.nodes, reached) if gone else by_entry
    return ReachResult(
        union=union, masked=under, by_entry=by_entry, by_entry_masked=by_masked, blocked=blocked, costs=costs,
        high_risk=tuple(key for key, cost in costs.items() if cost.hops > graph.options.far),
        unreachable=tuple(table.nodes[node] for node in mine if hops[node] <= 0),
        partitions=_partitions(graph, under.reachable),
        user_side=tuple(tool.key for tool in graph.catalog.tools if tool.actor != "agent"),
        assumed_offered=table.assumed_offered,
    )  # fmt: skip


def _each(
    network: Network,
    union: EntryReach,
    nodes: list[str],
    reached: Callable[[Network, list[int], str], EntryReach],
) -> tuple[EntryReach, ...]:
    """The reach of each entry; entries that lead to one another reach the same and are walked once."""
    if len(network.entries) == 1:
        return (_named(union, nodes[0]),)
    group_of = {node: number for number, group in enumerate(strong_groups(network.out)) for node in group}
    known: dict[int, EntryReach] = {}
    found = []
    for place in network.entries:
        group = group_of.get(place, -1 - place)
        if group not in known:
            known[group] = reached(network, [place], nodes[place])
        found.append(_named(known[group], nodes[place]))
    return tuple(found)


def _named(found: EntryReach, name: str) -> EntryReach:
    return EntryReach(entry=name, reachable=found.reachable, total=found.total)


def _path(node: int, before: list[int], nodes: list[str]) -> tuple[str, ...]:
    path = [node]
    while before[path[-1]] >= 0 and len(path) < MOST_NAMED:
        path.append(before[path[-1]])
    return tuple(nodes[place] for place in reversed(path))


def _partitions(graph: ToolGraph, reachable: frozenset[str]) -> EntryReach | None:
    """Partitions whose tool is reachable and which were recalled (or of which nothing is known yet)."""
    table = graph.table
    places = table.partition_places
    if not places:
        return None
    found = frozenset(
        table.nodes[table.target[place]] for place in places
        if table.trusted[place] and table.nodes[table.source[place]] in reachable
    )  # fmt: skip
    return EntryReach(entry="partitions", reachable=found, total=len(places))
