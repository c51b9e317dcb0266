"""Dead tools in a window of traces: never offered, offered but never called, unreachable, or not known, with token weight.

Works on traces and a catalog alone; with a graph, tools that its mask or its edges cut off are `unreachable`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from agent_reach.catalog.catalog import Catalog
from agent_reach.graph.evidence import Evidence
from agent_reach.graph.options import GraphOptions
from agent_reach.graph.reach import ReachResult, reach
from agent_reach.records.trace import Trace
from agent_reach.text.counting import count_json_tokens

if TYPE_CHECKING:
    from agent_reach.graph.build import ToolGraph

DeadKind = Literal["never_offered", "offered_never_called", "unreachable", "unknown"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadTool:
    """A tool nobody called in the window, and why as far as it is known. `tokens`: weight of its definition in a prompt;
    `offered`: traces that offered it; `reasons`: what blocks it (`scopes:orders.write`)."""

    tool: str
    kind: DeadKind
    tokens: int
    offered: int = 0
    reasons: tuple[str, ...] = ()


def dead_tools(
    traces: Iterable[Trace] | None,
    catalog: Catalog,
    *,
    graph: ToolGraph | None = None,
    evidence: Evidence | None = None,
    reached: ReachResult | None = None,
) -> tuple[DeadTool, ...]:
    """Dead tools of a catalog, heaviest first.

    Blocked tools, and those no trusted path leads to, are `unreachable`. Where the traces say what was offered, the rest is
    `never_offered` or `offered_never_called`; where they do not (or there are none), an uncalled tool is `unknown`.
    Tools on the user's side are left out. `reached` is the reach of the graph where it is known already.
    """
    if graph is not None and evidence is None and traces is None:
        evidence = graph.evidence
    if evidence is None:
        evidence = Evidence(catalog, GraphOptions(value_flow=False))
        evidence.fold_all(traces or ())
    blocked: dict[str, tuple[str, ...]] = {}
    cut_off: set[str] = set()
    if graph is not None:
        found = reached if reached is not None else reach(graph)
        blocked, cut_off = found.blocked, set(found.unreachable)
    dead = []
    for tool in catalog.tools:
        counts = evidence.tools.get(tool.key)
        if tool.actor != "agent" or (counts is not None and counts.called):
            continue
        offered = counts.offered if counts is not None else 0
        kind: DeadKind
        if tool.key in blocked:
            kind = "unreachable"
        elif not evidence.with_exposure:
            kind = "unreachable" if tool.key in cut_off else "unknown"
        elif not offered:
            kind = "never_offered"
        else:
            kind = "offered_never_called"
        dead.append(
            DeadTool(
                tool=tool.key,
                kind=kind,
                tokens=token_weight(catalog, tool.key),
                offered=offered,
                reasons=blocked.get(tool.key, ()),
            )
        )
    return tuple(sorted(dead, key=lambda item: (-item.tokens, item.tool)))


def token_weight(catalog: Catalog, key: str) -> int:
    """Estimated tokens of one tool definition as a model sees it."""
    return count_json_tokens(catalog.model_view(key))
