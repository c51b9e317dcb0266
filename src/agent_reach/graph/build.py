"""Builds the reachability graph of a catalog: candidate edges from schemas, evidence from traces, hand-made edges.

    graph = ToolGraph.build(catalog)                     # schemas alone
    graph = ToolGraph.build(catalog, traces)             # and what really happened
    graph.edges; analyse(graph).reach, analyse(graph).dead

Edges are kept in flat lists; `Edge` records are made when they are asked for, so that 200,000 of them cost little.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from agent_reach.catalog.catalog import Catalog
from agent_reach.catalog.overlay import Overlay, load_overlay
from agent_reach.graph.assemble import EdgeTable, assemble
from agent_reach.graph.evidence import Evidence
from agent_reach.graph.names import HallucinatedName
from agent_reach.graph.network import Network
from agent_reach.graph.options import GraphOptions
from agent_reach.records.finding import Finding
from agent_reach.records.garbage import collector_paused
from agent_reach.records.graph import Edge
from agent_reach.records.report import Report
from agent_reach.records.task import GoldenPath, Task
from agent_reach.records.trace import Trace

if TYPE_CHECKING:
    from agent_reach.config.settings import EnvironmentGrants


class ToolGraph:
    """The graph of one catalog. `nodes` are written as in edges: tool keys, `__agent__[:name]`, `partition:TOOL/NAME`.

    `reports` are run reports whose decisions say whether the right tool was chosen; `blocked` maps a tool key to the
    reasons why it cannot be used here (from grants and from a probe handed in as `physical`: tool key -> (state, reasons)).
    """

    def __init__(
        self,
        catalog: Catalog,
        table: EdgeTable,
        evidence: Evidence | None,
        options: GraphOptions,
        *,
        reports: tuple[Report, ...] = (),
        grants: EnvironmentGrants | None = None,
        physical: Mapping[str, tuple[str, tuple[str, ...]]] | None = None,
        tasks: tuple[Task, ...] = (),
    ) -> None:
        self.catalog = catalog
        self.table = table
        self.evidence = evidence
        self.options = options
        self.reports = reports
        self.grants = grants
        self.physical = dict(physical or {})
        self.tasks = tasks

    @classmethod
    def build(
        cls,
        catalog: Catalog,
        traces: Iterable[Trace] | Trace | None = None,
        *,
        overlay: Overlay | str | Mapping[str, Any] | None = None,
        paths: Mapping[str, Sequence[GoldenPath]] | Iterable[Task] | None = None,
        reports: Iterable[Report] | None = None,
        grants: EnvironmentGrants | None = None,
        physical: Mapping[str, Any] | None = None,
        options: GraphOptions | None = None,
    ) -> ToolGraph:
        """The graph of a catalog.

        `traces` are records of what happened (folded in one by one, so an iterator of any length will do); `overlay` holds
        hand-made edges, partitions, actors and aliases (default: the catalog's own); `paths` maps task ids to golden
        paths, or are the tasks of a suite; `grants` is what the environment gives; `physical` maps a tool key to
        `reachable`, `blocked` or `unknown`, or to (state, reasons).
        """
        options = options or GraphOptions()
        if overlay is not None:
            loaded = load_overlay(overlay)
            if loaded is not catalog.overlay:
                catalog = catalog.with_overlay(loaded)
        golden, tasks = _golden(paths)
        evidence = None
        if traces is not None:
            evidence = Evidence(catalog, options, golden)
            evidence.fold_all([traces] if isinstance(traces, Trace) else traces)
        with collector_paused():
            table = assemble(catalog, evidence, options)
        return cls(
            catalog, table, evidence, options,
            reports=tuple(reports or ()), grants=grants, physical=_physical(physical), tasks=tasks,
        )  # fmt: skip

    @property
    def nodes(self) -> tuple[str, ...]:
        """All nodes, entries first, then tools in catalog order, then partitions."""
        return tuple(self.table.nodes)

    @property
    def entries(self) -> tuple[str, ...]:
        """The entry nodes: one per agent or surface."""
        return tuple(self.table.nodes[: self.table.entry_count])

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What was noticed while building: edges of the overlay that match nothing, and the like."""
        return tuple(self.table.findings)

    @cached_property
    def edges(self) -> tuple[Edge, ...]:
        """All edges with their evidence: entry edges, then by source and target."""
        return self.table.records()

    @cached_property
    def network(self) -> Network:
        """The trusted edges as adjacency lists, nothing blocked."""
        return Network(self.table, self.options)

    @property
    def hallucinated(self) -> tuple[HallucinatedName, ...]:
        """Names that were called and that no tool has."""
        return self.evidence.names.hallucinated() if self.evidence is not None else ()

    def __repr__(self) -> str:
        return f"<ToolGraph of {len(self.catalog)} tools, {len(self.table)} edges, {self.table.trusted_count} trusted>"


def _golden(
    paths: Mapping[str, Sequence[GoldenPath]] | Iterable[Task] | None,
) -> tuple[dict[str, tuple[GoldenPath, ...]], tuple[Task, ...]]:
    if paths is None:
        return {}, ()
    if isinstance(paths, Mapping):
        return {str(task): tuple(golden) for task, golden in paths.items()}, ()
    tasks = tuple(paths)
    return {task.id: task.paths for task in tasks if task.paths}, tasks


def _physical(given: Mapping[str, Any] | None) -> dict[str, tuple[str, tuple[str, ...]]]:
    found: dict[str, tuple[str, tuple[str, ...]]] = {}
    for key, value in (given or {}).items():
        if isinstance(value, str):
            found[key] = (value, ())
        else:
            state, reasons = value
            found[key] = (str(state), tuple(map(str, reasons)))
    return found
