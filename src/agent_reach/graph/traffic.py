"""Traces against the graph, both ways, and the hops whose time a cache would save."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent_reach.graph.build import ToolGraph


@dataclass(frozen=True, slots=True, kw_only=True)
class WalkedHop:
    """A hop of the traces: how often walked, worked, failed by reason, mean latency in ms."""

    source: str
    target: str
    taken: int
    worked: int
    failures: dict[str, int]
    latency_ms: float | None = None

    @property
    def seconds(self) -> float:
        """Calls x latency: the time spent on it, in seconds."""
        return self.taken * (self.latency_ms or 0.0) / 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Traffic:
    """`not_in_graph` were walked though no schema or annotation suggests them; `never_walked` are trusted edges that no
    trace took; `slow` are hops by time spent; `failing` those with failures, most failures first."""

    hops: int
    retries: int
    not_in_graph: tuple[WalkedHop, ...]
    never_walked: tuple[tuple[str, str], ...]
    slow: tuple[WalkedHop, ...]
    failing: tuple[WalkedHop, ...]


def traffic(graph: ToolGraph, *, limit: int = 50) -> Traffic | None:
    """What the traces say of the graph; None without traces."""
    evidence, table = graph.evidence, graph.table
    if evidence is None or not evidence.traces:
        return None
    walked: list[WalkedHop] = []
    strange: list[WalkedHop] = []
    never: list[tuple[str, str]] = []
    for place in range(len(table)):
        if not (table.is_tool(table.source[place]) and table.is_tool(table.target[place])):
            continue
        counts = table.counts.get(place)
        source, target = table.nodes[table.source[place]], table.nodes[table.target[place]]
        if counts is None or not counts.taken:
            if table.trusted[place] and source != target:
                never.append((source, target))
            continue
        hop = WalkedHop(
            source=source, target=target, taken=counts.taken, worked=counts.worked,
            failures=dict(counts.failures or {}), latency_ms=table.latency(place),
        )  # fmt: skip
        walked.append(hop)
        if table.candidate[place] is None and table.origin[place] == "observed":
            strange.append(hop)
    slow = sorted((hop for hop in walked if hop.latency_ms), key=lambda hop: -hop.seconds)
    failing = sorted((hop for hop in walked if hop.failures), key=lambda hop: -sum(hop.failures.values()))
    return Traffic(
        hops=sum(counts.taken for counts in evidence.hops.values()), retries=evidence.retries,
        not_in_graph=tuple(sorted(strange, key=lambda hop: (-hop.taken, hop.source, hop.target))[:limit]),
        never_walked=tuple(never), slow=tuple(slow[:limit]), failing=tuple(failing[:limit]),
    )  # fmt: skip
