"""Betweenness: how many shortest paths between two tools lead over a third. Exact up to 1,000 tools, else from pivots.

Brandes' accumulation (2001), a level of the breadth-first search at a time in arrays; above `EXACT` nodes from seeded pivots
(Brandes and Pich 2007), scaled, so an estimate. Weights play no part.
"""

from __future__ import annotations

from typing import Any

EXACT = 1000
PIVOTS = 64
BATCH = 8


def betweenness(
    left: Any, right: Any, size: int, *, exact: int = EXACT, pivots: int = PIVOTS, seed: int = 0
) -> tuple[list[float], bool]:
    """Betweenness of each node, normalised by (n-1)(n-2), and whether it is exact; `left` and `right` are arrays of the ends
    of the edges."""
    import numpy as np

    if size < 3:
        return [0.0] * size, True
    begin, right = _distinct(left, right, size, np)
    if not right.size:
        return [0.0] * size, True
    is_exact = size <= exact
    starts = np.arange(size)
    if not is_exact:
        starts = np.sort(np.random.default_rng(seed).choice(size, size=min(pivots, size), replace=False))
    total = np.zeros(size)
    for place in range(0, len(starts), BATCH):
        total += _from(starts[place : place + BATCH], size, right, begin, np)
    total *= size / len(starts)
    return (total / ((size - 1) * (size - 2))).tolist(), is_exact


def _distinct(left: Any, right: Any, size: int, np: Any) -> tuple[Any, Any]:
    """Where the targets of each node begin, and all targets; each once, in order, no self-loops."""
    pairs = np.sort((left * size + right)[left != right], kind="stable")
    pairs = pairs[np.diff(pairs, prepend=-1) > 0]
    left, right = np.divmod(pairs, size)
    begin = np.zeros(size + 1, dtype=np.int64)
    np.cumsum(np.bincount(left, minlength=size), out=begin[1:])
    return begin, right


def _from(starts: Any, size: int, right: Any, begin: Any, np: Any) -> Any:
    """The credit that shortest paths from the starts give to each node; the starts run side by side in one long array."""
    copies = len(starts)
    frontier = np.arange(copies) * size + starts
    depth = np.full(copies * size, -1, dtype=np.int32)
    paths = np.zeros(copies * size)
    depth[frontier], paths[frontier] = 0, 1.0
    levels = []
    level = 0
    while frontier.size:
        node = frontier % size
        counts = begin[node + 1] - begin[node]
        total = int(counts.sum())
        if not total:
            break
        offsets = np.arange(total) + np.repeat(begin[node] - np.cumsum(counts) + counts, counts)
        targets = right[offsets] + np.repeat(frontier - node, counts)
        known = depth[targets]
        forward = known < 0
        targets = targets[forward]
        if not targets.size:
            break
        sources = np.repeat(frontier, counts)[forward]
        level += 1
        depth[targets] = level
        np.add.at(paths, targets, paths[sources])
        levels.append((sources, targets))
        fresh = np.zeros(copies * size, dtype=bool)
        fresh[targets] = True
        frontier = np.flatnonzero(fresh)
    credit = np.zeros(copies * size)
    for sources, targets in reversed(levels):
        np.add.at(credit, sources, paths[sources] / paths[targets] * (1.0 + credit[targets]))
    credit[np.arange(copies) * size + starts] = 0.0
    return credit.reshape(copies, size).sum(axis=0)
