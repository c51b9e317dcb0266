"""Intervals and tests: Wilson, bootstrap by task, exact sign test, bootstrap of attempts within tasks.

Everything random takes a seed and gives the same answer again. Numeric code is imported when it is first needed. It
sees numbers only: which task counts where is decided by the callers.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import comb, sqrt

from agent_reach.records.score import Interval

Z_95 = 1.959963984540054
DRAWS = 1000
_CHUNK_CELLS = 2_000_000


def wilson(successes: float, trials: float, *, method: str = "wilson") -> Interval | None:
    """The 95% Wilson score interval (Wilson 1927); None without trials."""
    if trials <= 0:
        return None
    share = successes / trials
    scale = 1 + Z_95**2 / trials
    centre = (share + Z_95**2 / (2 * trials)) / scale
    half = Z_95 * sqrt(share * (1 - share) / trials + Z_95**2 / (4 * trials**2)) / scale
    low = 0.0 if successes <= 0 else max(0.0, centre - half)
    high = 1.0 if successes >= trials else min(1.0, centre + half)
    return Interval(low=low, high=high, method=method)


def ratio_interval(
    numerators: Sequence[float], denominators: Sequence[float], *, seed: int = 0, is_share: bool = True
) -> Interval | None:
    """The 95% interval of sum(numerators) / sum(denominators), one pair per task.

    Wilson where every task has at most one decision (denominator 0 or 1, whole numerator); otherwise a bootstrap by
    task. Where all tasks agree a bootstrap would claim certainty: Wilson with tasks as trials, `wilson_tasks`.
    """
    return ratio_intervals([numerators], [denominators], seed=seed, is_share=[is_share])[0]


def ratio_intervals(
    numerators: Sequence[Sequence[float]],
    denominators: Sequence[Sequence[float]],
    *,
    seed: int = 0,
    is_share: Sequence[bool],
) -> list[Interval | None]:
    """`ratio_interval` for several metrics of the same tasks with one set of resamples (metrics x tasks)."""
    found: list[Interval | None] = [None] * len(numerators)
    waiting = []
    for number, (tops, bottoms) in enumerate(zip(numerators, denominators, strict=True)):
        pairs = [(top, bottom) for top, bottom in zip(tops, bottoms, strict=True) if bottom]
        if not pairs:
            continue
        if is_share[number] and all(bottom == 1 and top in (0, 1) for top, bottom in pairs):
            found[number] = wilson(sum(top for top, _ in pairs), len(pairs))
        elif is_share[number] and len({top / bottom for top, bottom in pairs}) == 1:
            share = pairs[0][0] / pairs[0][1]
            found[number] = wilson(share * len(pairs), len(pairs), method="wilson_tasks")
        else:
            waiting.append(number)
    if waiting:
        lows, highs = _bootstrap([numerators[n] for n in waiting], [denominators[n] for n in waiting], seed)
        for position, number in enumerate(waiting):
            low, high = lows[position], highs[position]
            found[number] = Interval(low=low, high=high, method="bootstrap") if low == low else None
    return found


def _bootstrap(
    numerators: Sequence[Sequence[float]], denominators: Sequence[Sequence[float]], seed: int
) -> tuple[list[float], list[float]]:
    """Percentiles 2.5 and 97.5 of the resampled ratios, tasks drawn with replacement."""
    import numpy as np

    tops = np.asarray(numerators, dtype=float).T
    bottoms = np.asarray(denominators, dtype=float).T
    tasks = tops.shape[0]
    generator = np.random.default_rng(seed)
    chunk = max(1, _CHUNK_CELLS // tasks)
    parts = []
    for start in range(0, DRAWS, chunk):
        drawn = generator.integers(0, tasks, size=(min(chunk, DRAWS - start), tasks))
        weights = np.stack([np.bincount(row, minlength=tasks) for row in drawn]).astype(float)
        below = weights @ bottoms
        with np.errstate(invalid="ignore", divide="ignore"):
            parts.append(np.where(below > 0, (weights @ tops) / below, np.nan))
    ratios = np.concatenate(parts)
    lows, highs = [], []
    for column in ratios.T:
        real = column[~np.isnan(column)]
        if real.size:
            low, high = np.percentile(real, [2.5, 97.5])
        else:
            low = high = float("nan")
        lows.append(float(low))
        highs.append(float(high))
    return lows, highs


def sign_test(worse: int, better: int) -> float:
    """One-sided exact p-value of at least `worse` of the moved tasks getting worse when either way is as likely."""
    moved = worse + better
    if not moved:
        return 1.0
    return float(sum(comb(moved, number) for number in range(worse, moved + 1)) / 2**moved)


def attempts_bootstrap(
    baseline: Sequence[Sequence[tuple[float, float]]],
    current: Sequence[Sequence[tuple[float, float]]],
    *,
    seed: int = 0,
    draws: int = 2000,
    resample_tasks: bool = False,
) -> tuple[float, float]:
    """One-sided 95% bounds (low, high) of the change of a ratio when attempts are drawn again within tasks.

    `baseline` and `current` hold, task by task, (numerator, denominator) of each attempt. Small-sample correction: a
    task of several attempts that are not all alike in both runs gets two pseudo-attempts, one at each extreme of its own scale
    (Laplace), so that 2 of 2 against 0 of 2 is no certainty; tasks that never moved add no noise. With
    `resample_tasks` tasks are drawn too, for claims beyond this suite.
    """
    import numpy as np

    generator = np.random.default_rng(seed)
    count = len(baseline)
    moved = [
        len({_share(pair) for pair in (*old, *new)}) > 1 for old, new in zip(baseline, current, strict=True)
    ]
    drawn_tasks = range(count) if resample_tasks else [number for number in range(count) if moved[number]]
    chosen = frozenset(drawn_tasks)
    weights = None
    if resample_tasks and count:
        drawn = generator.integers(0, count, size=(draws, count))
        weights = np.stack([np.bincount(row, minlength=count) for row in drawn]).astype(float)
    ratios = []
    for runs in (baseline, current):
        still = [_mean(attempts) for number, attempts in enumerate(runs) if number not in chosen]
        top = np.full(draws, float(sum(pair[0] for pair in still)))
        below = np.full(draws, float(sum(pair[1] for pair in still)))
        for number in drawn_tasks:
            pool = list(runs[number]) or [(0.0, 0.0)]
            size = max(pair[1] for pair in pool)
            tries = len(pool)
            if moved[number] and tries > 1:
                pool += [(0.0, size), (size, size)]
            values = np.asarray(pool, dtype=float)
            if moved[number] and tries > 1:
                # How often each of the pool is drawn, instead of the draws themselves: one small product.
                drawn = generator.multinomial(tries, np.full(len(values), 1 / len(values)), size=draws)
                picked = drawn @ values / tries
            else:
                picked = np.broadcast_to(values.mean(axis=0), (draws, 2))
            weight = weights[:, number] if weights is not None else 1.0
            top = top + picked[:, 0] * weight
            below = below + picked[:, 1] * weight
        with np.errstate(invalid="ignore", divide="ignore"):
            ratios.append(np.where(below > 0, top / below, np.nan))
    change = ratios[1] - ratios[0]
    change = change[~np.isnan(change)]
    if not change.size:
        return float("nan"), float("nan")
    low, high = np.percentile(change, [5.0, 95.0])
    return float(low), float(high)


def _mean(attempts: Sequence[tuple[float, float]]) -> tuple[float, float]:
    if not attempts:
        return 0.0, 0.0
    return sum(pair[0] for pair in attempts) / len(attempts), sum(pair[1] for pair in attempts) / len(
        attempts
    )


def _share(pair: tuple[float, float]) -> float:
    return pair[0] / pair[1] if pair[1] else -1.0
