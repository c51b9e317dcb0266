"""Two maps side by side, and the release gate: what a change added, lost, cut off or made dearer.

Both sides are map documents (see `document`); a graph is turned into one. Tools are compared by key. A cost that moved
without any of the gate's rules being broken is told and does not fail.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from agent_reach.graph.analysis import analyse
from agent_reach.graph.document import map_document
from agent_reach.graph.options import GraphOptions
from agent_reach.records.message import Message

if TYPE_CHECKING:
    from agent_reach.graph.build import ToolGraph

Verdict = Literal["pass", "regression", "incomparable"]
EXIT_CODES: Mapping[Verdict, int] = {"pass": 0, "regression": 1, "incomparable": 3}
EPSILON = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """One rule of the gate that does not hold: `rule` is reach_rate, new_dead, too_far, new_cycle or permissions."""

    rule: str
    message: Message
    tools: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MapComparison:
    """What differs between an old and a new map, the rules that are broken, and the verdict with its exit code.

    `rate` pairs are (old, new) under the mask, over the tools that both have (`rate_common`) and over all. `cost_moved`
    maps a tool to its (old, new) cost where it moved by a tenth or more.
    """

    verdict: Verdict
    broken: tuple[Broken, ...]
    added_tools: tuple[str, ...]
    removed_tools: tuple[str, ...]
    added_edges: tuple[tuple[str, str], ...]
    removed_edges: tuple[tuple[str, str], ...]
    rate: tuple[float | None, float | None]
    rate_common: tuple[float | None, float | None]
    new_dead: tuple[str, ...]
    revived: tuple[str, ...]
    new_cycles: tuple[tuple[str, ...], ...]
    newly_blocked: tuple[str, ...]
    unblocked: tuple[str, ...]
    cost_moved: dict[str, tuple[float | None, float | None]]
    never_recalled: tuple[str, ...] = ()

    @property
    def exit_code(self) -> int:
        """0 pass, 1 regression, 3 incomparable."""
        return EXIT_CODES[self.verdict]


def compare(
    old: ToolGraph | Mapping[str, Any], new: ToolGraph | Mapping[str, Any], *,
    options: GraphOptions | None = None, targets: Sequence[str] | None = None, accepted_cycles: Collection[Sequence[str]] = (),
) -> MapComparison:  # fmt: skip
    """Compare two graphs or map documents.

    Gate: the reach rate (under the mask) is not lower, over all tools and over the common ones; no common tool is newly
    dead; targets (default: all tools that were within reach of `far` hops) stay within `far` hops; no new cycle among
    common tools unless accepted; no common tool is newly blocked. Under half of the tools in common: incomparable.
    """
    options = options or (getattr(new, "options", None) or GraphOptions())
    before, after = _document(old), _document(new)
    left, right = _tools(before), _tools(after)
    common = [key for key in left if key in right]
    newly_dead = tuple(key for key in common if _is_dead(right[key]) and not _is_dead(left[key]))
    cycles = _new_cycles(before, after, set(common), [*accepted_cycles, *options.accepted_cycles])
    newly_blocked = tuple(key for key in common if right[key].get("blocked") and not left[key].get("blocked"))
    rate = (before["reach"].get("rate_masked"), after["reach"].get("rate_masked"))
    rate_common = (_rate(left, common), _rate(right, common))
    broken = [
        *_rate_broken(rate, rate_common), *_dead_broken(newly_dead),
        *_far_broken(left, right, common, targets if targets is not None else options.targets or None, options.far),
        *_cycles_broken(cycles), *_blocked_broken(newly_blocked),
    ]  # fmt: skip
    share = len(common) / max(1, len(left))
    verdict: Verdict = "incomparable" if share < 0.5 else "regression" if broken else "pass"
    edges_before, edges_after = _edges(before), _edges(after)
    return MapComparison(
        verdict=verdict, broken=tuple(broken),
        added_tools=tuple(key for key in right if key not in left), removed_tools=tuple(key for key in left if key not in right),
        added_edges=tuple(sorted(edges_after - edges_before)), removed_edges=tuple(sorted(edges_before - edges_after)),
        rate=rate, rate_common=rate_common, new_dead=newly_dead,
        revived=tuple(key for key in common if _is_dead(left[key]) and not _is_dead(right[key])),
        new_cycles=cycles, newly_blocked=newly_blocked,
        unblocked=tuple(key for key in common if left[key].get("blocked") and not right[key].get("blocked")),
        cost_moved=_cost_moved(left, right, common),
        never_recalled=tuple(f"{row['tool']}/{row['name']}" for row in after.get("partitions") or () if row.get("dead")),
    )  # fmt: skip


def _document(side: ToolGraph | Mapping[str, Any]) -> Mapping[str, Any]:
    return side if isinstance(side, Mapping) else map_document(side, analyse(side))


def _tools(document: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    return {
        row["id"]: row
        for row in document["nodes"]
        if row.get("kind") == "tool" and row.get("actor", "agent") == "agent"
    }


def _is_dead(row: Mapping[str, Any]) -> bool:
    """Dead as far as it is known: an `unknown` kind only says that nothing was seen."""
    return row.get("dead") not in (None, "unknown") or not row.get("reachable", True)


def _rate(rows: Mapping[str, Mapping[str, Any]], common: Sequence[str]) -> float | None:
    return sum(bool(rows[key].get("reachable")) for key in common) / len(common) if common else None


def _edges(document: Mapping[str, Any]) -> set[tuple[str, str]]:
    return {(row["source"], row["target"]) for row in document["edges"] if row.get("trusted")}


def _rate_broken(
    rate: tuple[float | None, float | None], common: tuple[float | None, float | None]
) -> list[Broken]:
    for before, after in (rate, common):
        if before is not None and (after is None or after < before - EPSILON):
            told = "none" if after is None else f"{after:.1%}"
            return [
                Broken(
                    rule="reach_rate",
                    message=Message(
                        f"the reach rate fell from {before:.1%} to {told}",
                        f"可达率从 {before:.1%} 降到 {told}",
                    ),
                )
            ]
    return []


def _dead_broken(tools: tuple[str, ...]) -> list[Broken]:
    if not tools:
        return []
    return [
        Broken(
            rule="new_dead",
            tools=tools,
            message=Message(f"newly dead: {', '.join(tools[:10])}", f"新增失效工具：{'、'.join(tools[:10])}"),
        )
    ]


def _far_broken(
    left: Mapping[str, Mapping[str, Any]], right: Mapping[str, Mapping[str, Any]], common: Sequence[str],
    targets: Sequence[str] | None, far: int,
) -> list[Broken]:  # fmt: skip
    if targets is not None:
        wanted = [key for key in targets if key in right or key in left]
    else:
        wanted = [key for key in common if left[key].get("hops") is not None and left[key]["hops"] <= far]
    too_far = tuple(
        key for key in wanted if right.get(key, {}).get("hops") is None or right[key]["hops"] > far
    )
    if not too_far:
        return []
    names = ", ".join(too_far[:10])
    return [
        Broken(
            rule="too_far",
            tools=too_far,
            message=Message(f"not within {far} hops: {names}", f"超出 {far} 跳：{names}"),
        )
    ]


def _new_cycles(
    before: Mapping[str, Any], after: Mapping[str, Any], common: set[str], accepted: Sequence[Sequence[str]]
) -> tuple[tuple[str, ...], ...]:
    """Groups that join tools which no old group joined; an accepted group covers all groups within it."""
    old = [set(cycle["members"]) for cycle in before["structure"]["cycles"]]
    allowed = [set(cycle) for cycle in accepted]
    found = []
    for cycle in after["structure"]["cycles"]:
        members = set(cycle["members"])
        known = {member for member in members if member in common or member.startswith("__agent__")}
        if (
            len(known) < 2
            or any(known <= group for group in old)
            or any(members <= group for group in allowed)
        ):
            continue
        found.append(tuple(sorted(members)))
    return tuple(found)


def _cycles_broken(cycles: tuple[tuple[str, ...], ...]) -> list[Broken]:
    return [
        Broken(rule="new_cycle", tools=cycle, message=Message(
            f"a new cycle of {len(cycle)} tools: {', '.join(cycle[:6])}", f"新增 {len(cycle)} 个工具的环：{'、'.join(cycle[:6])}"
        ))
        for cycle in cycles
    ]  # fmt: skip


def _blocked_broken(tools: tuple[str, ...]) -> list[Broken]:
    if not tools:
        return []
    return [
        Broken(
            rule="permissions",
            tools=tools,
            message=Message(f"newly blocked: {', '.join(tools[:10])}", f"新被拦截：{'、'.join(tools[:10])}"),
        )
    ]


def _cost_moved(
    left: Mapping[str, Mapping[str, Any]], right: Mapping[str, Mapping[str, Any]], common: Sequence[str]
) -> dict[str, tuple[float | None, float | None]]:
    moved: dict[str, tuple[float | None, float | None]] = {}
    for key in common:
        before, after = left[key].get("cost"), right[key].get("cost")
        if before != after and (before is None or after is None or abs(after - before) >= 0.1 * before):
            moved[key] = (before, after)
    return moved
