"""For every tool that cannot be reached, the one cheapest change that would make it reachable.

Changes by what they cost: offering a tool (an edge by hand from a tool that is reached stands beside it), granting what is
missing, repairing what a probe found broken. A change is proposed only if the graph with it alone reaches the tool.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from agent_reach.graph.network import Network
from agent_reach.graph.reach import blocked_tools
from agent_reach.records.message import Message

if TYPE_CHECKING:
    from agent_reach.graph.build import ToolGraph

ChangeKind = Literal["grant", "repair", "offer", "grant_and_offer"]
COSTS: dict[ChangeKind, int] = {"offer": 1, "grant": 2, "repair": 3, "grant_and_offer": 4}


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One change for one tool: its kind, its rank by cost (1 cheapest), what to do, and what it concerns (needs, or the
    tool an edge would come from)."""

    tool: str
    kind: ChangeKind
    cost: int
    message: Message
    about: tuple[str, ...] = ()


def cheapest_changes(graph: ToolGraph) -> tuple[Change, ...]:
    """The cheapest change per unreachable tool of the agent's side."""
    table = graph.table
    blocked = blocked_tools(graph)
    gone = {table.index[key] for key in blocked}
    entries = list(range(table.entry_count))
    whole = graph.network
    now = (Network(table, graph.options, gone) if gone else whole).hops_from(entries)
    # Where a path already leads to the tool's door, so that nothing but its own block stands in the way.
    at_door = {target for node, far in enumerate(now) if far >= 0 for target in whole.out[node]}
    best_edge = _best_untrusted(graph, now, gone)
    found = []
    for tool in graph.catalog.tools:
        node = table.index[tool.key]
        if tool.actor != "agent" or now[node] > 0:
            continue
        found.append(_change(tool.key, node, blocked, at_door, best_edge))
    return tuple(found)


def _change(
    key: str,
    node: int,
    blocked: dict[str, tuple[str, ...]],
    at_door: set[int],
    best_edge: dict[int, tuple[float, str]],
) -> Change:
    reasons = blocked.get(key, ())
    if reasons:
        wanted = ", ".join(reasons)
        grants = all(reason.split(":", 1)[0] in ("services", "scopes", "env", "files") for reason in reasons)
        if node in at_door:
            kind: ChangeKind = "grant" if grants else "repair"
            text = (
                (f"grant {wanted}", f"授予 {wanted}")
                if grants
                else (f"repair its server: {wanted}", f"修复其服务器：{wanted}")
            )
            return Change(tool=key, kind=kind, cost=COSTS[kind], message=Message(*text), about=reasons)
        return Change(
            tool=key, kind="grant_and_offer", cost=COSTS["grant_and_offer"], about=reasons,
            message=Message(f"grant {wanted}, and offer it to the agent", f"授予 {wanted}，并提供给代理"),
        )  # fmt: skip
    return Change(
        tool=key, kind="offer", cost=COSTS["offer"],
        message=Message("offer it to the agent", "将它提供给代理"),
    ) if node not in best_edge else _offer_or_confirm(key, best_edge[node])  # fmt: skip


def _offer_or_confirm(key: str, edge: tuple[float, str]) -> Change:
    score, source = edge
    return Change(
        tool=key, kind="offer", cost=COSTS["offer"], about=(source,),
        message=Message(
            f"offer it to the agent (or confirm the edge from {source!r}, score {score:.2f}, by hand in the overlay)",
            f"将它提供给代理（或在 overlay 中手工确认来自 {source} 的边，得分 {score:.2f}）",
        ),
    )  # fmt: skip


def _best_untrusted(graph: ToolGraph, reached: list[int], gone: set[int]) -> dict[int, tuple[float, str]]:
    """The strongest untrusted edge from a reachable tool into each unreachable one."""
    table = graph.table
    found: dict[int, tuple[float, str]] = {}
    size = table.entry_count + table.tool_count
    for place in range(len(table)):
        source, target = table.source[place], table.target[place]
        if target >= size or source >= size or table.trusted[place] or reached[source] < 0 or target in gone:
            continue
        if reached[target] < 0 and table.score[place] > found.get(target, (0.0, ""))[0]:
            found[target] = (table.score[place], table.nodes[source])
    return found
