"""Which call answers which gold: order-preserving alignment, assignment, same positions.

Weights say how well a call answers a gold: the right tool first, then a fully right call, then the share of right
arguments, then a call that worked. Pairs of different tools have no weight and are never made. The functions return
for each gold (by its index in the path) the position of its call, or -1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from agent_reach.evals.scoring.assignment import assign
from agent_reach.evals.scoring.calls import SeenCall
from agent_reach.evals.scoring.golds import CompiledGold, CompiledPath

Weigh = Callable[[CompiledGold, SeenCall], float]
SUBSET_LIMIT = 10
"""Largest stage, or message, whose subsets are walked; one side at least stays under it in any sane trace."""


def pair(path: CompiledPath, calls: Sequence[SeenCall], order: str, weigh: Weigh) -> list[int]:
    """The heaviest pairing of a path's golds with calls in that order mode."""
    keys = path.keys
    usable = [seen for seen in calls if seen.key in keys]
    result = [-1] * len(path.golds)
    if not usable:
        return result
    if order == "any_order":
        _pair_by_tool(path.by_key, usable, weigh, result)
    elif order == "exact":
        _pair_exact(path, calls, weigh, result)
    elif path.is_linear and len({seen.message for seen in usable}) == len(usable):
        if path.key_order == [seen.key for seen in usable]:
            # Only one alignment pairs them all, and no other can weigh as much.
            return [seen.position for seen in usable]
        _pair_linear(path.golds, usable, weigh, result)
    elif len(path.stages) == 1 or usable[0].message == usable[-1].message:
        _pair_by_tool(path.by_key, usable, weigh, result)
    else:
        _pair_staged(path, usable, weigh, result)
    return result


def pair_any_order(
    golds: Sequence[CompiledGold], calls: Sequence[SeenCall], weigh: Weigh, result: list[int]
) -> None:
    """Maximum-weight one-to-one assignment, tool by tool (pairs of different tools never compete)."""
    groups: dict[str, list[CompiledGold]] = {}
    for gold in golds:
        groups.setdefault(gold.key, []).append(gold)
    _pair_by_tool(groups, calls, weigh, result)


def _pair_by_tool(
    groups: Mapping[str, list[CompiledGold]], calls: Sequence[SeenCall], weigh: Weigh, result: list[int]
) -> None:
    if len(groups) == 1:
        by_key = {key: [seen for seen in calls if seen.key == key] for key in groups}
    else:
        by_key = {}
        for seen in calls:
            by_key.setdefault(seen.key, []).append(seen)
    for key, group in groups.items():
        same = by_key.get(key)
        if not same:
            continue
        if len(group) == 1:
            only = same[0]
            if len(same) > 1:
                weights = [weigh(group[0], seen) for seen in same]
                only = same[weights.index(max(weights))]
            result[group[0].index] = only.position
            continue
        matrix = [[weigh(gold, seen) for seen in same] for gold in group]
        for row, column in enumerate(settled(matrix) or assign(matrix)):
            if column >= 0:
                result[group[row].index] = same[column].position


def settled(weights: Sequence[Sequence[float]]) -> list[int] | None:
    """The best column of every row, where each row has one and no two rows want the same: then nothing weighs more.

    None where that does not settle it, so that equal weights are always decided in one place.
    """
    columns = []
    for row in weights:
        best = max(row)
        if row.count(best) > 1:
            return None
        columns.append(row.index(best))
    return columns if len(set(columns)) == len(columns) else None


def _pair_exact(path: CompiledPath, calls: Sequence[SeenCall], weigh: Weigh, result: list[int]) -> None:
    """Same positions: a gold can only have a call whose message covers a position of the gold's stage."""
    places: list[CompiledGold] = []
    spans: dict[int, tuple[int, int]] = {}
    for stage in path.stages:
        start = len(places)
        places.extend(stage)
        for gold in stage:
            spans[gold.index] = (start, len(places))
    bounds: dict[int, tuple[int, int]] = {}
    for number, seen in enumerate(calls):
        first = bounds.get(seen.message, (number, number))[0]
        bounds[seen.message] = (first, number + 1)
    weights = []
    for gold in places:
        low, high = spans[gold.index]
        weights.append(
            [
                weigh(gold, seen)
                if seen.key == gold.key and bounds[seen.message][0] < high and bounds[seen.message][1] > low
                else 0.0
                for seen in calls
            ]
        )
    for row, column in enumerate(assign(weights)):
        if column >= 0:
            result[places[row].index] = calls[column].position


def _pair_linear(
    golds: Sequence[CompiledGold], calls: Sequence[SeenCall], weigh: Weigh, result: list[int]
) -> None:
    """Heaviest common subsequence, O(golds * calls): one gold per stage, one call per message.

    Among equals the earliest calls answer the earliest golds.
    """
    width = len(calls)
    rows: list[list[float]] = [[0.0] * (width + 1)]
    for gold in golds:
        above = rows[-1]
        row = [0.0] * (width + 1)
        best = 0.0
        for column, seen in enumerate(calls):
            up = above[column + 1]
            if up > best:
                best = up
            if seen.key == gold.key:
                paired = above[column] + weigh(gold, seen)
                if paired > best:
                    best = paired
            row[column + 1] = best
        rows.append(row)
    column = width
    for number in range(len(golds), 0, -1):
        row, above = rows[number], rows[number - 1]
        if row[column] == above[column]:
            continue
        while row[column] == row[column - 1]:
            column -= 1
        column -= 1
        result[golds[number - 1].index] = calls[column].position


def _pair_staged(path: CompiledPath, calls: Sequence[SeenCall], weigh: Weigh, result: list[int]) -> None:
    """Heaviest order-preserving alignment of messages (calls unordered) with stages (golds unordered), exact.

    Walks one side in order and keeps, for the other, the set already passed: all earlier groups and a subset of the
    current one. With golds as that other side the cost is O(messages * S^2) small assignments, S = sum of 2^|stage|; with
    calls it is the same with the roles exchanged, so the side with the smaller groups keeps the sets.
    """
    messages: list[list[SeenCall]] = []
    for seen in calls:
        if messages and messages[-1][0].message == seen.message:
            messages[-1].append(seen)
        else:
            messages.append([seen])
    keys = {seen.key for seen in calls}
    stages = [kept for stage in path.stages if (kept := [gold for gold in stage if gold.key in keys])]
    stage_size = max(len(stage) for stage in stages)
    message_size = max(len(message) for message in messages)
    if stage_size <= message_size and stage_size <= SUBSET_LIMIT:
        pairs = _walk(messages, stages, lambda seen, gold: weigh(gold, seen) if gold.key == seen.key else 0.0)
        matched = [(gold, seen) for seen, gold in pairs]
    else:
        walked = (
            messages if message_size <= SUBSET_LIMIT else [[seen] for message in messages for seen in message]
        )
        matched = _walk(stages, walked, lambda gold, seen: weigh(gold, seen) if gold.key == seen.key else 0.0)
    for gold, seen in matched:
        result[gold.index] = seen.position


def _walk(walked: list, kept: list, weigh: Callable) -> list:  # type: ignore[type-arg]
    """Pairs (item of `walked`, item of `kept`) of the heaviest order-preserving alignment of two lists of groups."""
    flat = [item for group in kept for item in group]
    states: list[int] = [0]
    base, done = 0, 0
    for group in kept:
        states.extend(done | (subset << base) for subset in range(1, 1 << len(group)))
        base += len(group)
        done = (1 << base) - 1
    best: dict[int, tuple[float, list]] = {0: (0.0, [])}  # type: ignore[type-arg]
    for group in walked:
        weights = {
            number: row for number, item in enumerate(flat) if any(row := [weigh(own, item) for own in group])
        }
        following = dict(best)
        for before, (value, pairs) in best.items():
            for after in states:
                if after <= before or before & ~after:
                    continue
                free = [number for number in weights if (after & ~before) >> number & 1]
                if not free:
                    # States are only worth reaching by using something; skipping is reached with a later group.
                    continue
                columns = assign([weights[number] for number in free])
                gain = sum(weights[n][c] for n, c in zip(free, columns, strict=True) if c >= 0)
                if gain <= 0 or (after in following and following[after][0] >= value + gain):
                    continue
                added = [(group[c], flat[n]) for n, c in zip(free, columns, strict=True) if c >= 0]
                following[after] = (value + gain, pairs + added)
        best = following
    return max(best.values(), key=lambda entry: entry[0])[1]
