"""The map over two neighbouring windows of a trace store."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent_reach.catalog.catalog import Catalog
from agent_reach.graph.build import ToolGraph
from agent_reach.graph.compare import MapComparison, compare
from agent_reach.graph.options import GraphOptions
from agent_reach.traces.store.base import TraceFilter, TraceStore

if TYPE_CHECKING:
    from agent_reach.config.settings import EnvironmentGrants


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowComparison:
    """Traces in the window before and in the window, and how their maps differ (None where one is empty)."""

    before: int
    after: int
    comparison: MapComparison | None

    @property
    def exit_code(self) -> int:
        """That of the comparison; 3 where a window is empty."""
        return self.comparison.exit_code if self.comparison is not None else 3


def compare_windows(
    store: TraceStore, catalog: Catalog, length: float, until: float, *,
    grants: EnvironmentGrants | None = None, options: GraphOptions | None = None,
) -> WindowComparison:  # fmt: skip
    """Compare the `length` seconds before `until` (seconds since the epoch) with as many before those."""
    options = options or GraphOptions()
    graphs = []
    for start, end in ((until - 2 * length, until - length), (until - length, until)):
        traces = store.iterate(TraceFilter(since=start, until=end))
        graphs.append(ToolGraph.build(catalog, traces, grants=grants, options=options))
    before, after = (graph.evidence.traces if graph.evidence is not None else 0 for graph in graphs)
    if not before or not after:
        return WindowComparison(before=before, after=after, comparison=None)
    return WindowComparison(
        before=before, after=after, comparison=compare(graphs[0], graphs[1], options=options)
    )
