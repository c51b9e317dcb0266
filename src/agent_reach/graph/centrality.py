"""Betweenness: how many shortest paths between two tools lead over a third. Exact up to 1,000 tools, else from pivots.

Brandes' accumulation (2001), a level of the breadth-first search at a time in arrays; above `EXACT` nodes from seeded pivots
(Brandes and Pich 2007), scaled, so an estimate. Weights play no part.
"""

from __future__ import annotations

from collections.abc import Sequence

EXACT = 1000
PIVOTS = 64


def betweenness(out: Sequence[Sequence[int]], *, exact: int = EXACT, pivots: int = PIVOTS, seed: int = 0) -> tuple[list[float], bool]:
    """Betweenness of each node, normalised by (n-1)(n-2), and whether it is exact."""
    import numpy as np

    size = len(out)
    if size < 3:
        return [0.0] * size, True
    pairs = sorted({(left, right) for left, targets in enumerate(out) for right in targets if left != right})
    if not pairs:
        return [0.0] * size, True
    left = np.fromiter((pair[0] for pair in pairs), dtype=np.int64, count=len(pairs))
    right = np.fromiter((pair[1] for pair in pairs), dtype=np.int64, count=len(pairs))
    begin = np.searchsorted(left, np.arange(size + 1))
    is_exact = size <= exact
    starts = np.arange(size) if is_exact else np.sort(np.random.default_rng(seed).choice(size, size=min(pivots, size), replace=False))
    total = np.zeros(size)
    for start in starts:
        total += _from(int(start), size, right, begin, np)
    total *= size / len(starts)
    return (total / ((size - 1) * (size - 2))).tolist(), is_exact


def _from(start: int, size: int, right, begin, np):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    depth = np.full(size, -1, dtype=np.int64)
    paths = np.zeros(size)
    depth[start], paths[start] = 0, 1.0
    frontier = np.array([start])
    levels = []
    level = 0
    while frontier.size:
        counts = begin[frontier + 1] - begin[frontier]
        total = int(counts.sum())
        if not total:
            break
        offsets = np.repeat(begin[frontier] - np.concatenate(([0], np.cumsum(counts)[:-1])), counts) + np.arange(total)
        sources, targets = np.repeat(frontier, counts), right[offsets]
        fresh = depth[targets] < 0
        depth[targets[fresh]] = level + 1
        forward = depth[targets] == level + 1
        sources, targets = sources[forward], targets[forward]
        if not targets.size:
            break
        paths += np.bincount(targets, weights=paths[sources], minlength=size)
        levels.append((sources, targets))
        frontier = np.unique(targets)
        level += 1
    credit = np.zeros(size)
    for sources, targets in reversed(levels):
        share = paths[sources] / paths[targets] * (1.0 + credit[targets])
        credit += np.bincount(sources, weights=share, minlength=size)
    credit[start] = 0.0
    return credit
