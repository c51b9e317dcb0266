"""Rank: from evidence to the few tools that are shown, in a fixed order, or to an empty answer.

A request with several needs is answered need by need: what one chosen tool already covers counts less for the next one,
so that five look-alikes of the first need do not push out the tool of the second. Siblings (tools of one server or
one name group) that both fit speak for each other.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from agent_reach.records.tool import Tool
from agent_reach.router.recall import Evidence

CANDIDATES = 60
_GROUP = re.compile(r"^(.+?)(?:\.|__|/|:)")


@dataclass(frozen=True, slots=True, kw_only=True)
class RankWeights:
    """`need` is the share of the best single need in a score, `covered` how much of a need a chosen tool takes away,
    `sharpness` how exactly it must fit for that, `sibling` what the best sibling adds, `least` the coverage under which
    nothing fits (`least_chinese` for Chinese requests, whose character pairs are mostly accidental); `support` is how sure
    history or vectors must be to stand without words."""

    need: float = 0.5
    covered: float = 0.45
    sharpness: float = 2.0
    sibling: float = 0.1
    least: float = 0.03
    least_chinese: float = 0.01
    support: float = 0.3


@dataclass(frozen=True, slots=True)
class Ranked:
    """A slot with its score and the share of the request's weight that its words cover (0..1)."""

    slot: int
    score: float
    coverage: float


def group_of(tool: Tool) -> str:
    """The server of a tool, else the part of its name before the first `.`, `__`, `/` or `:`; empty without either."""
    if tool.server:
        return tool.server
    match = _GROUP.match(tool.name)
    return match.group(1) if match else ""


def rank(
    evidence: Evidence, groups: Sequence[int], weights: RankWeights, k: int, *, bonus: Any = None
) -> list[Ranked]:
    """The best `k` slots, best first; ties go by slot, which is by tool key.

    `groups` gives each slot's group number (-1: none); `bonus` (slots) is added to every score and is what other
    stages know (history, vectors).
    """
    import numpy as np

    total = evidence.total
    if evidence.by_need is not None:
        total = (1 - weights.need) * total + weights.need * evidence.by_need.max(0)
    if bonus is not None:
        total = total + bonus
    slots = _top(total, max(CANDIDATES, 2 * k))
    if not len(slots):
        return []
    siblings = _sibling_bonus(slots, evidence.total, groups, weights.sibling)
    scores = total[slots] + siblings
    if evidence.by_need is None:
        order = np.lexsort((slots, -np.round(scores, 4)))[:k].tolist()
    else:
        own = siblings if bonus is None else siblings + bonus[slots]
        order = _pick_by_need(evidence.by_need[:, slots], own, slots, weights, k)
    coverage = evidence.coverage(slots)
    return [Ranked(int(slots[one]), float(scores[one]), float(coverage[one])) for one in order]


def _top(total: Any, count: int) -> Any:
    """The slots of the `count` highest positive totals, in slot order.

    Most slots are far from the best, so they are cut by a bound before anything is sorted: five times as fast as a
    partition of all.
    """
    import numpy as np

    highest = total.max(initial=0.0)
    if highest <= 0:
        return np.zeros(0, dtype=np.int64)
    found = np.flatnonzero(total >= highest * 0.4)
    for bound in (0.2, 0.1, 0.0):
        if len(found) >= count:
            break
        found = np.flatnonzero(total > highest * bound)
    if len(found) > count:
        found = np.sort(found[np.argpartition(total[found], len(found) - count)[-count:]])
    return found


def _sibling_bonus(slots: Any, total: Any, groups: Sequence[int], share: float) -> Any:
    """A share of the best total among the other candidates of the same group."""
    import numpy as np

    bonus = np.zeros(len(slots), dtype=np.float64)
    members: dict[int, list[int]] = {}
    for position, slot in enumerate(slots.tolist()):
        group = groups[slot]
        if group >= 0:
            members.setdefault(group, []).append(position)
    values = total[slots].tolist()
    for positions in members.values():
        if len(positions) < 2:
            continue
        second, first = sorted(values[position] for position in positions)[-2:]
        for position in positions:
            bonus[position] = share * (second if values[position] >= first else first)
    return bonus


def _pick_by_need(by_need: Any, own: Any, slots: Any, weights: RankWeights, k: int) -> list[int]:
    """Greedy choice: the value of a candidate is what it adds to needs that are not yet covered."""
    import numpy as np

    best = by_need.max(1) + 1e-9
    left = np.ones(len(by_need), dtype=np.float64)
    free = np.ones(len(slots), dtype=bool)
    picked: list[int] = []
    for _ in range(min(k, len(slots))):
        weighted = left[:, None] * by_need
        value = np.round((1 - weights.need) * weighted.sum(0) + weights.need * weighted.max(0) + own, 4)
        value[~free] = -1.0
        choice = int(value.argmax())
        picked.append(choice)
        free[choice] = False
        left *= 1 - weights.covered * (by_need[:, choice] / best) ** weights.sharpness
    return picked
