"""Years, months and quarters in words for whole-number parameters that are named so: 去年 for `year`, March for `month`."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

from agent_reach.router.normalize.dates.calendar import DateSpan
from agent_reach.router.normalize.dates.ranges import read_date
from agent_reach.router.normalize.state import NormalizeState
from agent_reach.text.tokens import split_identifier


def calendar_number(state: NormalizeState, value: str, pointer: str) -> Any:
    """The number that a date in words means for a parameter named `year`, `month` or `quarter`; else the value itself."""
    words = split_identifier(pointer.rsplit("/", 1)[-1])
    kind = words[-1] if words else ""
    kind = {"年份": "year", "年": "year", "月份": "month", "月": "month", "季度": "quarter"}.get(kind, kind)
    if kind not in ("year", "month", "quarter") or not state.on("calendar_number"):
        return value
    reading = read_date(value, state.clock)
    if reading is None or reading.ambiguous or reading.span.grain != kind:
        return value
    number = _number(reading.span, kind)
    if state.clock.now is None:
        # Without a stated now only what is the same at any time may be used: March is the third month in every year.
        other = read_date(value, replace(state.clock, now=datetime(2001, 1, 1)))
        if other is None or _number(other.span, kind) != number:
            return value
    state.change("calendar_number", pointer, value, number, span=(reading.start, reading.end))
    return number


def _number(span: DateSpan, kind: str) -> int:
    return {"year": span.first.year, "month": span.first.month, "quarter": (span.first.month + 2) // 3}[kind]
