"""Puts candidates, hops, entries, partitions and hand-made edges together into one table of scored edges."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from agent_reach.catalog.catalog import Catalog
from agent_reach.errors import AmbiguousToolError
from agent_reach.graph.evidence import Evidence, HopCounts, entry_node
from agent_reach.graph.infer import Candidate, Inferred, infer_edges
from agent_reach.graph.observed import observed_schema
from agent_reach.graph.options import GraphOptions
from agent_reach.graph.trust import is_trusted, measured, score_of
from agent_reach.records.finding import Finding
from agent_reach.records.graph import AGENT_NODE, Binding, Edge, EdgeEvidence
from agent_reach.records.message import Message
from agent_reach.text.tokens import nearest_names

PARTITION = "partition:"


@dataclass(slots=True)
class EdgeTable:
    """Edges as flat columns; `counts` and `metadata` by place, only where there are some.

    Nodes 0..entry_count-1 are entries, then tools in catalog order, then partitions.
    """

    nodes: list[str]
    entry_count: int
    tool_count: int
    source: array[int] = field(default_factory=lambda: array("q"))
    target: array[int] = field(default_factory=lambda: array("q"))
    score: array[float] = field(default_factory=lambda: array("d"))
    trusted: bytearray = field(default_factory=bytearray)
    origin: list[str] = field(default_factory=list)
    candidate: list[Candidate | None] = field(default_factory=list)
    counts: dict[int, HopCounts] = field(default_factory=dict)
    metadata: dict[int, Mapping[str, Any]] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    index: dict[str, int] = field(default_factory=dict)
    assumed_offered: bool = False
    trusted_count: int = 0
    inferred: Inferred = field(default_factory=Inferred)

    def __len__(self) -> int:
        return len(self.source)

    def add(
        self, source: int, target: int, score: float, trusted: bool, origin: str,
        *, candidate: Candidate | None = None, counts: HopCounts | None = None, metadata: Mapping[str, Any] | None = None,
    ) -> None:  # fmt: skip
        """Append one edge."""
        if counts is not None:
            self.counts[len(self.source)] = counts
        if metadata is not None:
            self.metadata[len(self.source)] = metadata
        self.source.append(source)
        self.target.append(target)
        self.score.append(score)
        self.trusted.append(trusted)
        self.trusted_count += trusted
        self.origin.append(origin)
        self.candidate.append(candidate)

    def latency(self, place: int) -> float | None:
        """Mean latency of the hop in ms, None where no trace told it."""
        counts = self.counts.get(place)
        return (
            counts.latency_sum / counts.latency_count if counts is not None and counts.latency_count else None
        )

    @property
    def partition_places(self) -> range:
        """The places of the edges to partitions, which stand last, in the order of their nodes."""
        return range(len(self) - (len(self.nodes) - self.entry_count - self.tool_count), len(self))

    def is_tool(self, node: int) -> bool:
        """True for a node that is a tool."""
        return self.entry_count <= node < self.entry_count + self.tool_count

    def records(self) -> tuple[Edge, ...]:
        """All edges as records."""
        return tuple(self.record(place) for place in range(len(self.source)))

    def record(self, place: int) -> Edge:
        """One edge as a record with its evidence."""
        counts = self.counts.get(place)
        candidate = self.candidate[place]
        structural, planning, execution = measured(_structural(candidate), counts)
        bindings = candidate.bindings if candidate is not None else ()
        evidence = EdgeEvidence(
            structural=structural,
            planning=planning,
            execution=execution,
            planning_counts=(counts.wanted_taken, counts.wanted) if counts is not None else (0, 0),
            execution_counts=(counts.worked, counts.judged) if counts is not None else (0, 0),
            bindings=(*bindings, *_flow_bindings(counts)),
            failures=dict(counts.failures) if counts is not None and counts.failures else {},
            truncation_rate=counts.truncated / counts.taken if counts is not None and counts.taken else None,
            latency_ms=self.latency(place),
            origin=self.origin[place],
            metadata=_metadata(self.metadata.get(place), counts),
        )
        return Edge(
            source=self.nodes[self.source[place]], target=self.nodes[self.target[place]],
            score=round(self.score[place], 6), trusted=bool(self.trusted[place]), evidence=evidence,
        )  # fmt: skip


def _structural(candidate: Candidate | None) -> float | None:
    return candidate.score if candidate is not None else None


def _flow_bindings(counts: HopCounts | None) -> tuple[Binding, ...]:
    if counts is None or not counts.fields:
        return ()
    most = counts.fields.most_common(4)
    return tuple(
        Binding(
            rule="value_flow",
            source_field=source,
            target_field=target,
            score=1.0,
            reason=f"seen {times} times",
        )
        for (source, target), times in most
    )


def _metadata(given: Mapping[str, Any] | None, counts: HopCounts | None) -> Mapping[str, Any]:
    found = dict(given or {})
    if counts is not None:
        if counts.taken:
            found["taken"] = counts.taken
        if counts.retries:
            found["retries"] = counts.retries
        if counts.flows:
            found["flows"] = counts.flows
    return found


def assemble(catalog: Catalog, evidence: Evidence | None, options: GraphOptions) -> EdgeTable:
    """The table of all edges of a catalog."""
    tools = catalog.tools
    agents = _agents(catalog, evidence)
    partitions = [f"{PARTITION}{tool.key}/{name}" for tool in tools for name in tool.partitions]
    nodes = [*agents, *(tool.key for tool in tools), *partitions]
    table = EdgeTable(nodes, len(agents), len(tools))
    table.index = {name: place for place, name in enumerate(nodes)}
    _entries(table, catalog, evidence, options)
    hand = _hand_made(table, catalog)
    observed = {}
    if evidence is not None:
        for tool in tools:
            if tool.output_schema is None and evidence.observed.get(tool.key):
                schema = observed_schema(evidence.observed[tool.key])
                if schema is not None:
                    observed[tool.key] = schema
    table.inferred = infer_edges(tools, observed) if options.infer else Inferred()
    _tool_edges(table, table.inferred.edges, evidence, options, hand)
    _partition_edges(table, catalog, evidence)
    return table


def _agents(catalog: Catalog, evidence: Evidence | None) -> list[str]:
    found: dict[str, None] = {}
    if evidence is not None:
        for entry in evidence.offered_by:
            found[entry] = None
        for (source, _), counts in evidence.hops.items():
            if source.startswith(AGENT_NODE) and counts.taken:
                found[source] = None
        for source, target in evidence.handoffs:
            found[source] = found[target] = None
    for row in catalog.overlay.edges if catalog.overlay is not None else ():
        if row.get("kind") == "handoff" or row.get("handoff"):
            for name in (row.get("from"), row.get("to")):
                if isinstance(name, str) and name:
                    found[_as_entry(name)] = None
        elif isinstance(row.get("agent"), str):
            found[entry_node(row["agent"])] = None
    return sorted(found) or [AGENT_NODE]


def _as_entry(name: str) -> str:
    return name if name.startswith(AGENT_NODE) else entry_node(name)


def _entries(table: EdgeTable, catalog: Catalog, evidence: Evidence | None, options: GraphOptions) -> None:
    """`__agent__ -> tool` for what was offered; where no trace or setting says what, all tools count as offered."""
    known = evidence is not None and evidence.with_exposure > 0
    listed = {tool.key for name in options.offered or () if (tool := _resolved(catalog, name)) is not None}
    table.assumed_offered = not known and options.offered is None
    for entry in table.nodes[: table.entry_count]:
        place = table.index[entry]
        offered = set(listed)
        if known and evidence is not None:
            offered |= evidence.offered_by.get(entry, set())
        for tool in catalog.tools:
            if tool.actor != "agent":
                continue
            counts = evidence.hops.get((entry, tool.key)) if evidence is not None else None
            if table.assumed_offered or tool.key in offered or (counts is not None and counts.taken):
                table.add(
                    place,
                    table.index[tool.key],
                    1.0,
                    True,
                    "assumed" if table.assumed_offered else "offered",
                    counts=counts,
                )
    for (source, target), times in (evidence.handoffs if evidence is not None else {}).items():
        table.add(table.index[source], table.index[target], 1.0, True, "handoff", metadata={"taken": times})


def _resolved(catalog: Catalog, name: Any) -> Any:
    try:
        return catalog.resolve(name)
    except AmbiguousToolError:
        return None


def _tool_edges(
    table: EdgeTable,
    candidates: Mapping[tuple[int, int], Candidate],
    evidence: Evidence | None,
    options: GraphOptions,
    hand: _HandMade,
) -> None:
    shift = table.entry_count
    done: set[tuple[int, int]] = set()
    hops = evidence.hops if evidence is not None else {}
    nodes = table.nodes
    trust_above = options.trust_above
    for (giver, taker), candidate in candidates.items():
        pair = (giver + shift, taker + shift)
        if pair in hand.forbidden:
            continue
        counts = hops.get((nodes[pair[0]], nodes[pair[1]])) if hops else None
        if counts is None and pair not in hand.added:
            table.add(
                pair[0],
                pair[1],
                candidate.score,
                candidate.score > trust_above,
                "inferred",
                candidate=candidate,
            )
            continue
        done.add(pair)
        _scored(table, pair, candidate, counts, options, hand)
    for (source, target), counts in hops.items():
        left, right = table.index.get(source), table.index.get(target)
        if left is None or right is None or left < shift or (left, right) in done:
            continue
        if (left, right) in hand.forbidden or not (counts.taken or counts.flows or counts.wanted):
            continue
        done.add((left, right))
        _scored(table, (left, right), None, counts, options, hand)
    for pair, row in hand.added.items():
        if pair not in done:
            table.add(pair[0], pair[1], hand.score(row), True, "overlay", metadata=dict(row))


def _scored(
    table: EdgeTable, pair: tuple[int, int], candidate: Candidate | None, counts: HopCounts | None,
    options: GraphOptions, hand: _HandMade,
) -> None:  # fmt: skip
    parts = measured(_structural(candidate), counts)
    score = score_of(parts, options)
    trusted = is_trusted(score, parts, counts, options)
    origin = "observed" if candidate is None else "inferred"
    metadata = None
    if pair in hand.added:
        score, trusted, origin, metadata = (
            max(score, hand.score(hand.added[pair])),
            True,
            "overlay",
            dict(hand.added[pair]),
        )
    table.add(
        pair[0],
        pair[1],
        score,
        trusted,
        origin,
        candidate=candidate,
        counts=counts,
        metadata=metadata,
    )


def _partition_edges(table: EdgeTable, catalog: Catalog, evidence: Evidence | None) -> None:
    recalled: dict[str, int] = {}
    for (_, name), times in (evidence.partitions if evidence is not None else {}).items():
        recalled[name] = recalled.get(name, 0) + times
    for tool in catalog.tools:
        total = sum(recalled.get(name, 0) for name in tool.partitions)
        for name in tool.partitions:
            share = recalled.get(name, 0) / total if total else None
            table.add(
                table.index[tool.key], table.index[f"{PARTITION}{tool.key}/{name}"], 1.0 if share is None else share,
                share is None or share > 0, "partition", metadata={"recalled": recalled.get(name, 0), "share": share},
            )  # fmt: skip


@dataclass(slots=True)
class _HandMade:
    added: dict[tuple[int, int], Mapping[str, Any]] = field(default_factory=dict)
    forbidden: set[tuple[int, int]] = field(default_factory=set)

    @staticmethod
    def score(row: Mapping[str, Any]) -> float:
        given = row.get("score", 1.0)
        return (
            float(given)
            if isinstance(given, (int, float)) and not isinstance(given, bool) and 0 <= given <= 1
            else 1.0
        )


def _hand_made(table: EdgeTable, catalog: Catalog) -> _HandMade:
    """Edges of the overlay: `{from, to}` adds, `{from, to, forbid: true}` forbids (`*` for all tools, `except` spares some),
    `{from, to, kind: handoff}` hands over between agents, `{agent, to}` offers a tool to one agent."""
    hand = _HandMade()
    for row in catalog.overlay.edges if catalog.overlay is not None else ():
        if row.get("kind") == "handoff" or row.get("handoff"):
            left, right = (
                table.index.get(_as_entry(str(row.get("from")))),
                table.index.get(_as_entry(str(row.get("to")))),
            )
            if left is not None and right is not None:
                table.add(left, right, 1.0, True, "handoff", metadata=dict(row))
            continue
        spared = {node for name in _names(row.get("except")) for node in _nodes(table, catalog, name)}
        agent = row.get("agent")
        lefts = (
            [table.index[entry_node(agent)]]
            if isinstance(agent, str)
            else _ends(table, catalog, row.get("from"))
        )
        for left in lefts:
            for right in _ends(table, catalog, row.get("to")):
                if left in spared or right in spared:
                    continue
                if row.get("forbid"):
                    hand.forbidden.add((left, right))
                else:
                    hand.added[(left, right)] = row
    for pair in hand.forbidden:
        hand.added.pop(pair, None)
    return hand


def _names(value: Any) -> list[str]:
    if value is None:
        return []
    return [str(item) for item in value] if isinstance(value, (list, tuple)) else [str(value)]


def _ends(table: EdgeTable, catalog: Catalog, value: Any) -> list[int]:
    return [node for name in _names(value) for node in _nodes(table, catalog, name)]


def _nodes(table: EdgeTable, catalog: Catalog, name: str) -> list[int]:
    if name == "*":
        return list(range(table.entry_count, table.entry_count + table.tool_count))
    if name in table.index:
        return [table.index[name]]
    tool = _resolved(catalog, name)
    if tool is not None:
        return [table.index[tool.key]]
    near = nearest_names(name, list(catalog.names), limit=2)
    hint_en = f"; did you mean {', '.join(map(repr, near))}?" if near else ""
    hint_zh = f"；是否指 {'、'.join(near)}？" if near else ""
    table.findings.append(
        Finding(
            code="edge_of_unknown_tool", severity="warning", subject=name,
            message=Message(
                f"a hand-made edge names {name!r}, which no tool has{hint_en}", f"手工边提到 {name!r}，但没有这个工具{hint_zh}"
            ),
        )
    )  # fmt: skip
    return []
