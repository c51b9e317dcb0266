"""The score of an edge and whether it is trusted, from what was measured; what was not measured is left out, not zero."""

from __future__ import annotations

from agent_reach.graph.evidence import HopCounts
from agent_reach.graph.options import GraphOptions


def shrunk(successes: int, trials: int) -> float:
    """(s + 1) / (n + 2): a share that few trials cannot drive to 0 or 1 (Laplace's rule of succession)."""
    return (successes + 1) / (trials + 2)


def measured(
    structural: float | None, counts: HopCounts | None
) -> tuple[float | None, float | None, float | None]:
    """(structural, planning, execution) of an edge, each None where unmeasured. Value flow raises the structural part."""
    if counts is None:
        return structural, None, None
    planning = None
    if counts.wanted:
        others = counts.taken - counts.wanted_taken
        planning = shrunk(counts.wanted_taken + max(0, others), counts.wanted + max(0, others))
    execution = shrunk(counts.worked, counts.judged) if counts.judged else None
    if counts.flows:
        flow = shrunk(counts.flows, max(counts.flows, counts.flow_checked))
        structural = flow if structural is None else max(structural, flow)
    return structural, planning, execution


def score_of(parts: tuple[float | None, float | None, float | None], options: GraphOptions) -> float:
    """Weighted mean over the measured parts; 0 where nothing was measured or its weights are 0."""
    total = weight = 0.0
    for part, share in zip(parts, options.weights, strict=True):
        if part is not None:
            total += part * share
            weight += share
    return total / weight if weight else 0.0


def is_trusted(
    score: float,
    parts: tuple[float | None, float | None, float | None],
    counts: HopCounts | None,
    options: GraphOptions,
) -> bool:
    """Above the line of trust and, for each kind seen often enough, above its own line."""
    if score <= options.trust_above:
        return False
    if options.trust == "score" or counts is None:
        return True
    seen = (counts.flow_checked if counts.flows else 0, counts.wanted, counts.judged)
    return all(
        part is None or times < options.min_seen or part >= line
        for part, times, line in zip(parts, seen, options.lines, strict=True)
    )
