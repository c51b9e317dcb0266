"""Dates in a stated form: whether a text is already written so, and the writing itself.

What a form cannot say exactly is not written: no day is made up for a month, no time for a day, no zone for a moment.
"""

from __future__ import annotations

import re
from datetime import date, datetime, time, timedelta
from functools import lru_cache

from agent_reach.router.normalize.dates.calendar import Clock, DateSpan
from agent_reach.router.normalize.dates.form import DateForm

_LENGTHS = {"%Y": r"\d{4}", "%m": r"\d{2}", "%d": r"\d{2}", "%H": r"\d{2}", "%M": r"\d{2}", "%S": r"\d{2}", "%I": r"\d{1,2}",
            "%p": "(?:[AaPp][Mm])", "%q": "[1-4]", "%z": r"(?:Z|[+-]\d{2}:?\d{2})?"}  # fmt: skip


def conforms(form: DateForm, text: str) -> bool:
    """Whether a text is already written in that form, with days that the calendar has."""
    if form.kind == "range":
        parts = (
            text.split(form.separator.strip())
            if form.separator.strip() != "-"
            else text.split(form.separator)
        )
        if len(parts) != 2 and form.separator.strip() in "/-":
            middle = len(text) // 2
            parts = [text[:middle], text[middle + 1 :]]
        return len(parts) == 2 and all(_single_conforms(form.template, part.strip()) for part in parts)
    if form.kind == "datetime" and form.template.endswith("%z"):
        return _is_date_time(text)
    if form.kind == "time" and form.strict:
        return (
            re.fullmatch(r"(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d+)?)?(?:[zZ]|[+-]\d\d:?\d\d)?", text)
            is not None
        )
    return _single_conforms(form.template, text)


def _is_date_time(text: str) -> bool:
    if not re.match(r"\d{4}-\d{2}-\d{2}[tT ]\d{2}:\d{2}", text):
        return False
    try:
        datetime.fromisoformat(text.replace("Z", "+00:00").replace("z", "+00:00"))
    except ValueError:
        return False
    return True


@lru_cache(maxsize=512)
def _matcher(template: str) -> re.Pattern[str]:
    pieces = re.split(r"(%[A-Za-z])", template)
    return re.compile("".join(_LENGTHS.get(piece, re.escape(piece)) for piece in pieces))


def _single_conforms(template: str, text: str) -> bool:
    if _matcher(template).fullmatch(text) is None:
        return False
    if "%q" in template:
        return True
    try:
        datetime.strptime(text, template)
    except ValueError:
        return "%z" in template and _is_date_time(text)
    return True


def write(form: DateForm, span: DateSpan, clock: Clock) -> str | None:
    """The span in that form; None where the form cannot say it exactly (a month for a single day, a day for a month, no
    time of day for a date-time, an unknown zone where UTC is wanted)."""
    if form.kind == "range":
        if "%H" in form.template:
            return None
        return f"{span.first.strftime(form.template)}{form.separator}{span.last.strftime(form.template)}"
    if form.kind == "date":
        return _formatted(span.first, form.template) if span.is_single_day else None
    if form.kind == "month":
        whole = span.first.day == 1 and span.last == _month_end(span.first)
        return _formatted(span.first, form.template) if whole else None
    if form.kind == "quarter" and span.grain == "quarter":
        return _formatted(span.first, form.template.replace("%q", str((span.first.month + 2) // 3)))
    if form.kind == "year" and span.grain == "year":
        return _formatted(span.first, form.template)
    if form.kind == "datetime" and span.is_single_day and span.time is not None and span.last_time is None:
        return write_moment(form, span.first, span.time, span, clock)
    if form.kind == "time" and span.time is not None and span.is_single_day:
        return span.time.strftime(form.template)
    return None


def write_moment(form: DateForm, day: date, at: time, span: DateSpan, clock: Clock) -> str | None:
    """A moment in a date-time form; converted to UTC where the form ends in Z and a zone is known."""
    moment = datetime.combine(day, at.replace(microsecond=0), span.zone or clock.zone)
    if form.utc:
        if moment.tzinfo is None:
            return None
        moment = moment - (moment.utcoffset() or timedelta())
        return moment.replace(tzinfo=None).strftime(form.template)
    if form.template.endswith("%z"):
        return moment.isoformat()
    if span.zone is not None and clock.zone is not None:
        moment = moment.astimezone(clock.zone)
    return moment.strftime(form.template)


def _formatted(day: date, template: str) -> str:
    return day.strftime(template)


def _month_end(day: date) -> date:
    following = day.replace(day=28) + timedelta(days=4)
    return following - timedelta(days=following.day)
