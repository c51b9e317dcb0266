"""Dates and moments in the notations that people and models write, for comparing gold and actual values.

Only absolute dates: what "tomorrow" means is the business of `router/normalize`.
"""

from __future__ import annotations

import re
from datetime import date, datetime, time
from functools import lru_cache

_YEAR_FIRST = re.compile(r"(\d{4})\s*[-/.年]\s*(\d{1,2})\s*[-/.月]\s*(\d{1,2})\s*[日号]?\Z")
_COMPACT = re.compile(r"(\d{4})(\d{2})(\d{2})\Z")
_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january jan",
            "february feb",
            "march mar",
            "april apr",
            "may",
            "june jun",
            "july jul",
            "august aug",
            "september sep sept",
            "october oct",
            "november nov",
            "december dec",
        ),
        start=1,
    )
    for name in names.split()
}
_MONTH_FIRST = re.compile(r"([A-Za-z]+)\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4})\Z")
_DAY_FIRST = re.compile(r"(\d{1,2})(?:st|nd|rd|th)?\s+([A-Za-z]+)\.?,?\s+(\d{4})\Z")


@lru_cache(maxsize=8192)
def parse_date(text: str) -> date | None:
    """The calendar date that `text` writes in year-first, compact, Chinese or English month notation, else None.

    Day-first and month-first numbers (`01/02/2024`) are ambiguous and give None.
    """
    text = text.strip()
    for pattern in (_YEAR_FIRST, _COMPACT):
        found = pattern.match(text)
        if found:
            return _date(*(int(part) for part in found.groups()))
    found = _MONTH_FIRST.match(text)
    if found and found[1].lower() in _MONTHS:
        return _date(int(found[3]), _MONTHS[found[1].lower()], int(found[2]))
    found = _DAY_FIRST.match(text)
    if found and found[2].lower() in _MONTHS:
        return _date(int(found[3]), _MONTHS[found[2].lower()], int(found[1]))
    return None


def _date(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def parse_moment(text: str) -> datetime | None:
    """The date-time in ISO 8601 form, with its zone where one is written, else None."""
    if len(text) < 12 or not text[:4].isdigit():
        return None
    try:
        return datetime.fromisoformat(text.strip())
    except ValueError:
        return None


def same_moment(left: str, right: str) -> bool:
    """Both are date-times that name the same instant; a value without a zone never equals one with a zone."""
    first, second = parse_moment(left), parse_moment(right)
    if first is None or second is None or (first.tzinfo is None) != (second.tzinfo is None):
        return False
    return first == second


def same_date(gold: str, actual: str) -> bool:
    """`actual` writes the date or date-time `gold` in any unambiguous notation (a midnight without zone is its date)."""
    wanted = parse_date(gold)
    if wanted is None:
        return same_moment(gold, actual)
    found = parse_date(actual)
    if found is not None:
        return found == wanted
    moment = parse_moment(actual)
    return (
        moment is not None and moment.tzinfo is None and moment.time() == time(0) and moment.date() == wanted
    )
