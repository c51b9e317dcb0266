"""Limits that a person sets on a run, read from text."""

from __future__ import annotations

import math

from agent_reach.errors import InputError
from agent_reach.records.report import METRIC_NAMES
from agent_reach.text.tokens import nearest_names

DEFAULT_METRIC = "tool_reachability"


def parse_limit(given: str | float) -> tuple[str, float]:
    """(metric, least share) of `0.8`, `80%` or `decision_success=0.8`; raises `InputError` with the allowed range."""
    text = str(given).strip()
    name, _, share = text.rpartition("=")
    name = name.strip() or DEFAULT_METRIC
    if name not in METRIC_NAMES:
        near = nearest_names(name, METRIC_NAMES, limit=1)
        raise InputError(
            f"no metric is named {name!r}",
            where="--fail-under",
            next_step=f"did you mean {near[0]!r}?" if near else f"use one of {', '.join(METRIC_NAMES)}",
        )
    share = share.strip()
    try:
        value = float(share.removesuffix("%")) / (100 if share.endswith("%") else 1)
    except ValueError:
        value = math.nan
    if not 0 <= value <= 1:
        raise InputError(
            f"{text!r} is no share", where="--fail-under", next_step="give a number from 0 to 1, such as 0.8"
        )
    return name, value
