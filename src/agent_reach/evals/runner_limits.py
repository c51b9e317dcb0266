"""Limits that a person sets on a run, read from text.

A metric where more is better has a least share (`--fail-under`), one where less is better a greatest (`--fail-over`);
the other way round such a limit would pass what it should stop.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from agent_reach.errors import InputError
from agent_reach.evals.figures import NOT_A_SHARE
from agent_reach.evals.gate_metrics import LOWER_IS_BETTER
from agent_reach.records.report import METRIC_NAMES
from agent_reach.text.tokens import nearest_names

DEFAULT_METRIC = "tool_reachability"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """A metric and its least share, or with `most` its greatest."""

    metric: str
    share: float
    most: bool = False

    def holds(self, value: float) -> bool:
        """True if that value is within the limit."""
        return value <= self.share if self.most else value >= self.share


def parse_limit(given: str | float, *, most: bool = False) -> Limit:
    """The limit in `0.8`, `80%` or `decision_success=0.8`; with `most` in `over_call_rate=0.1`, the metric always named.
    Raises `InputError` with the allowed range, and for a metric on the wrong side."""
    flag = "--fail-over" if most else "--fail-under"
    text = str(given).strip()
    name, _, share = text.rpartition("=")
    name = name.strip()
    if most and not name:
        raise InputError(
            "no metric is named",
            where=flag,
            next_step=f"name one where less is better: {', '.join(sorted(LOWER_IS_BETTER))}",
        )
    name = name or DEFAULT_METRIC
    if name not in METRIC_NAMES:
        near = nearest_names(name, METRIC_NAMES, limit=1)
        raise InputError(
            f"no metric is named {name!r}",
            where=flag,
            next_step=f"did you mean {near[0]!r}?" if near else f"use one of {', '.join(METRIC_NAMES)}",
        )
    value = _share(share.strip(), text, flag, counts=name in NOT_A_SHARE)
    _check_side(name, share.strip(), most=most)
    return Limit(metric=name, share=value, most=most)


def _share(share: str, text: str, flag: str, *, counts: bool) -> float:
    try:
        value = float(share.removesuffix("%")) / (100 if share.endswith("%") else 1)
    except ValueError:
        value = math.nan
    if not 0 <= value <= (math.inf if counts else 1) or math.isinf(value):
        raise InputError(
            f"{text!r} is no share", where=flag, next_step="give a number from 0 to 1, such as 0.8"
        )
    return value


def _check_side(name: str, share: str, *, most: bool) -> None:
    if most == (name in LOWER_IS_BETTER):
        return
    less, right = ("more", "--fail-under") if most else ("less", "--fail-over")
    raise InputError(
        f"{less} of {name} is better",
        where="--fail-over" if most else "--fail-under",
        next_step=f"write {right} {name}={share}",
    )
