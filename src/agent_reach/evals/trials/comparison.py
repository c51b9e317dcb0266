"""Two shares of successes compared: the difference, its interval, a verdict, and what a verdict would still cost."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Literal

from agent_reach.evals.statistics import wilson
from agent_reach.records.score import Interval

LEAST_GAIN = 0.10
"""A gain whose upper bound is below this is no gain worth having: the cause is refuted."""
MOST_ATTEMPTS = 2000

Verdict = Literal["proved", "refuted", "undecided"]


@dataclass(frozen=True, slots=True)
class Share:
    """`right` of `attempts`."""

    right: float
    attempts: float

    @property
    def value(self) -> float:
        """The share; 0 without attempts."""
        return self.right / self.attempts if self.attempts else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What the difference of two shares says. `more`: further attempts on each side that would decide if the rates stayed as
    they are (None: more than 2,000, or no rate yet)."""

    verdict: Verdict
    gain: float
    interval: Interval | None
    more: int | None = None


def difference_interval(before: Share, after: Share) -> Interval | None:
    """The 95% interval of `after - before`: the hybrid score interval (Newcombe 1998, method 10)."""
    old, new = wilson(before.right, before.attempts), wilson(after.right, after.attempts)
    if old is None or new is None:
        return None
    gain = after.value - before.value
    low = gain - sqrt((after.value - new.low) ** 2 + (old.high - before.value) ** 2)
    high = gain + sqrt((new.high - after.value) ** 2 + (before.value - old.low) ** 2)
    return Interval(low=max(-1.0, low), high=min(1.0, high), method="newcombe")


def judge(before: Share, after: Share, *, exact: bool = False, least: float = LEAST_GAIN) -> Judgement:
    """Proved: the lower bound of the gain is above 0. Refuted: its upper bound is below `least`. Else undecided.

    `exact` is for an agent that decides the same on every attempt: one attempt a side is the whole truth.
    """
    gain = after.value - before.value
    if not before.attempts or not after.attempts:
        return Judgement(verdict="undecided", gain=0.0, interval=None)
    if exact:
        interval = Interval(low=gain, high=gain, method="exact")
        return Judgement(verdict="proved" if gain > 0 else "refuted", gain=gain, interval=interval, more=0)
    found = difference_interval(before, after)
    assert found is not None
    verdict = _verdict(found, least)
    more = 0 if verdict != "undecided" else _needed(before, after, least)
    return Judgement(verdict=verdict, gain=gain, interval=found, more=more)


def _verdict(interval: Interval, least: float) -> Verdict:
    if interval.low > 0:
        return "proved"
    return "refuted" if interval.high < least else "undecided"


def _needed(before: Share, after: Share, least: float) -> int | None:
    """The fewest further attempts a side after which these rates would decide."""

    def decides(attempts: int) -> bool:
        old = Share(before.value * attempts, attempts)
        new = Share(after.value * attempts, attempts)
        interval = difference_interval(old, new)
        return interval is not None and _verdict(interval, least) != "undecided"

    have = int(min(before.attempts, after.attempts))
    if not decides(MOST_ATTEMPTS):
        return None
    low, high = have, MOST_ATTEMPTS
    while low + 1 < high:
        middle = (low + high) // 2
        if decides(middle):
            high = middle
        else:
            low = middle
    return high - have
