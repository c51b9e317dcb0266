"""Numeric dates: ISO days, months, weeks and moments, compact days, and slashed dates whose order must be stated.

It refuses to guess: `03/01/2024` without a stated order is an `Atom` marked ambiguous.
"""

from __future__ import annotations

import re
from datetime import UTC, time, timedelta, timezone, tzinfo

from agent_reach.router.normalize.dates.calendar import (
    Atom,
    Clock,
    Context,
    DateSpan,
    day,
    iso_week,
    month_span,
    safe_date,
)

_DAY = re.compile(
    r"(?P<year>(?:1[5-9]|2\d)\d\d)(?P<mark>[-/.])(?P<month>\d{1,2})(?P=mark)(?P<day>\d{1,2})"
    r"(?:(?:t|T| )(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:\.\d+)?)? ?(?P<zone>[zZ]|[+-]\d{2}:?\d{2})?)?(?!\d)"
)
_MONTH = re.compile(r"(?P<year>(?:1[5-9]|2\d)\d\d)(?P<mark>[-/])(?P<month>\d{1,2})(?![\d])(?![-/.]\d)")
_WEEK = re.compile(r"(?P<year>[12]\d{3})-?[wW](?P<week>\d{2})(?!\d)")
_COMPACT = re.compile(r"(?P<year>(?:19|20)\d\d)(?P<month>\d\d)(?P<day>\d\d)(?!\d)")
_LOCAL = re.compile(r"(?P<a>\d{1,2})(?P<mark>[-/.])(?P<b>\d{1,2})(?P=mark)(?P<year>\d{4})(?![\d])")
_SHORT = re.compile(r"(?P<a>\d{1,2})/(?P<b>\d{1,2})(?![\d/])")


def numeric_atom(text: str, position: int, clock: Clock) -> Atom | None:
    """The numeric date that begins at `position`, None where none does."""
    if position and (text[position - 1].isascii() and text[position - 1].isdigit()):
        return None
    for pattern, handler in (
        (_DAY, _day),
        (_WEEK, _week),
        (_COMPACT, _compact),
        (_LOCAL, _local),
        (_MONTH, _month),
    ):
        found = pattern.match(text, position)
        if found is not None:
            return handler(found, clock)
    if clock.date_order in ("dmy", "mdy"):
        short = _SHORT.match(text, position)
        if short is not None:
            return _short(short, clock)
    return None


def _zone(text: str | None) -> tzinfo | None:
    if not text:
        return None
    if text in "zZ":
        return UTC
    sign = -1 if text[0] == "-" else 1
    digits = text[1:].replace(":", "")
    return timezone(sign * timedelta(hours=int(digits[:2]), minutes=int(digits[2:])))


def _fixed(
    found: re.Match[str], span: DateSpan | None, strength: int = 2, ambiguous: bool = False
) -> Atom | None:
    if span is None:
        return None
    return Atom(found.start(), found.end(), lambda context: span, strength, ambiguous=ambiguous)


def _day(found: re.Match[str], clock: Clock) -> Atom | None:
    exact = safe_date(int(found["year"]), int(found["month"]), int(found["day"]))
    if exact is None:
        return None
    at = None
    if found["hour"]:
        parts = int(found["hour"]), int(found["minute"]), int(found["second"] or 0)
        if parts[0] > 23 or parts[1] > 59 or parts[2] > 59:
            return None
        at = time(*parts)
    # 2024.3.1 may as well be a version, so it is a date only when nothing else stands beside it.
    strength = 0 if found["mark"] == "." else 2
    return _fixed(
        found,
        DateSpan(
            first=exact,
            last=exact,
            grain="moment" if at else "day",
            relative=False,
            time=at,
            zone=_zone(found["zone"]),
        ),
        strength,
    )


def _week(found: re.Match[str], clock: Clock) -> Atom | None:
    return _fixed(found, iso_week(int(found["year"]), int(found["week"]), relative=False))


def _compact(found: re.Match[str], clock: Clock) -> Atom | None:
    exact = safe_date(int(found["year"]), int(found["month"]), int(found["day"]))
    return _fixed(found, day(exact, relative=False), 0) if exact else None


def _month(found: re.Match[str], clock: Clock) -> Atom | None:
    return _fixed(found, month_span(int(found["year"]), int(found["month"]), relative=False), 0)


def _ordered(a: int, b: int, year: int, clock: Clock, relative: bool) -> tuple[DateSpan | None, bool]:
    if clock.date_order == "dmy":
        exact = safe_date(year, b, a)
        return (day(exact, relative=relative) if exact else None), False
    if clock.date_order == "mdy":
        exact = safe_date(year, a, b)
        return (day(exact, relative=relative) if exact else None), False
    exact = safe_date(year, b, a) or safe_date(year, a, b)
    return (day(exact, relative=relative) if exact else None), True


def _local(found: re.Match[str], clock: Clock) -> Atom | None:
    span, ambiguous = _ordered(int(found["a"]), int(found["b"]), int(found["year"]), clock, relative=False)
    return _fixed(found, span, 1, ambiguous)


def _short(found: re.Match[str], clock: Clock) -> Atom | None:
    def build(context: Context) -> DateSpan | None:
        year = context.year if context.year is not None else context.clock.today.year
        return _ordered(int(found["a"]), int(found["b"]), year, context.clock, relative=True)[0]

    if build(Context(clock)) is None:
        return None
    return Atom(found.start(), found.end(), build, 0, frozenset({"year"}))
