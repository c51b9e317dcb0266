"""Everything the map says of one graph, computed once and kept together: `analyse(graph)`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent_reach.graph.bottlenecks import Structure, structure
from agent_reach.graph.dead import DeadTool, dead_tools
from agent_reach.graph.inputs import UnresolvedInput, unresolved_inputs
from agent_reach.graph.mend import Change, cheapest_changes
from agent_reach.graph.names import HallucinatedName
from agent_reach.graph.permissions import permission_mask
from agent_reach.graph.reach import ReachResult, reach
from agent_reach.graph.skew import CallSkew, call_skew
from agent_reach.graph.states import ToolStates, tool_states
from agent_reach.graph.traffic import Traffic, traffic
from agent_reach.records.finding import Finding
from agent_reach.records.message import Message

if TYPE_CHECKING:
    from agent_reach.graph.build import ToolGraph


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionRecall:
    """How often a retrieval partition was recalled; `share` within its tool (None: nothing recalled at all); `dead` when
    other partitions of the tool were recalled and this one never."""

    tool: str
    name: str
    recalled: int
    share: float | None
    dead: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphAnalysis:
    """What a graph says. See the records of each part."""

    reach: ReachResult
    dead: tuple[DeadTool, ...]
    skew: CallSkew
    states: tuple[ToolStates, ...]
    structure: Structure
    unresolved: tuple[UnresolvedInput, ...]
    changes: tuple[Change, ...]
    traffic: Traffic | None
    partitions: tuple[PartitionRecall, ...]
    hallucinated: tuple[HallucinatedName, ...]
    findings: tuple[Finding, ...]


def analyse(graph: ToolGraph) -> GraphAnalysis:
    """All analyses of a graph."""
    partitions = partition_recall(graph)
    findings = list(graph.findings)
    if graph.grants is not None:
        findings.extend(permission_mask(graph.catalog, graph.grants).findings)
    findings.extend(_dead_partition(item) for item in partitions if item.dead)
    reached = reach(graph)
    return GraphAnalysis(
        reach=reached, dead=dead_tools(None, graph.catalog, graph=graph, reached=reached), skew=call_skew(graph),
        states=tool_states(graph), structure=structure(graph), unresolved=unresolved_inputs(graph),
        changes=cheapest_changes(graph), traffic=traffic(graph), partitions=partitions,
        hallucinated=graph.hallucinated, findings=tuple(findings),
    )  # fmt: skip


def partition_recall(graph: ToolGraph) -> tuple[PartitionRecall, ...]:
    """The partitions of all retrieval tools and how often each was recalled."""
    table = graph.table
    found = []
    for place in table.partition_places:
        given = table.metadata.get(place, {})
        tool = table.nodes[table.source[place]]
        name = table.nodes[table.target[place]].removeprefix(f"partition:{tool}/")
        recalled, share = int(given.get("recalled", 0)), given.get("share")
        found.append(
            PartitionRecall(
                tool=tool, name=name, recalled=recalled, share=share, dead=share is not None and not recalled
            )
        )
    return tuple(found)


def _dead_partition(item: PartitionRecall) -> Finding:
    return Finding(
        code="partition_never_recalled", severity="warning", subject=item.tool, pointer=item.name,
        message=Message(
            f"the partition {item.name!r} was never recalled while others were", f"分区 {item.name} 从未被召回，而其他分区有召回"
        ),
        fix=Message("check its index, its filter and its wording, or drop it", "检查其索引、过滤条件与措辞，或移除该分区"),
    )  # fmt: skip
