"""English date expressions: what stands at one place of a text, as an `Atom`.

The text is already lower case. A weekday, month or quarter without a year or a `last`/`next` is the one of the current
week or year, past or not; `next Friday` is the Friday of the next week, `coming Friday` the next one to come. Fiscal
years and vague words (`early March`, `a few days ago`) are not read.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from agent_reach.router.normalize.calendar import (
    Atom,
    Clock,
    Context,
    DateSpan,
    add_days,
    add_months,
    day,
    edge,
    half_span,
    iso_week,
    month_span,
    nth_weekday,
    offset,
    quarter_span,
    rolling,
    safe_date,
    shifted_month,
    shifted_quarter,
    week_span,
    weekday_of_week,
    weekend_of_week,
    year_span,
)
from agent_reach.router.normalize.holidays import HOLIDAYS, holiday
from agent_reach.router.normalize.numerals import ENGLISH_COUNT, whole_number

_MONTHS = {
    name: index + 1
    for index, names in enumerate(
        [
            "january jan",
            "february feb",
            "march mar",
            "april apr",
            "may",
            "june jun",
            "july jul",
            "august aug",
            "september sept sep",
            "october oct",
            "november nov",
            "december dec",
        ]
    )
    for name in names.split()
}
_MONTH = "(?:" + "|".join(sorted(_MONTHS, key=len, reverse=True)) + r")(?![a-z])\.?"
_WEEKDAYS = {
    name: index
    for index, names in enumerate(
        [
            "monday mon",
            "tuesday tues tue",
            "wednesday wed",
            "thursday thurs thur thu",
            "friday fri",
            "saturday sat",
            "sunday sun",
        ]
    )
    for name in names.split()
}
_WEEKDAY = "(?:" + "|".join(sorted(_WEEKDAYS, key=len, reverse=True)) + r")(?![a-z])"
_ORDINALS = {
    "first": 1,
    "1st": 1,
    "second": 2,
    "2nd": 2,
    "third": 3,
    "3rd": 3,
    "fourth": 4,
    "4th": 4,
    "last": -1,
}
_ORDINAL = r"(?:first|second|third|fourth|1st|2nd|3rd|4th)"
_DAY = r"(?:\d{1,2})(?:st|nd|rd|th)?(?![\d:])"
_YEAR = r"(?:(?:the )?year )?(?:[12]\d{3}|'\d\d)(?!\d)|(?:this|last|previous|next|the current|the) year"
_COUNT = rf"(?:\d{{1,4}}|{ENGLISH_COUNT}|a couple of|couple of|an?|half an?)"
_UNITS = {
    "day": "day", "week": "week", "fortnight": "fortnight", "month": "month", "quarter": "quarter", "year": "year",
    "hour": "hour", "hr": "hour", "minute": "minute", "min": "minute", "decade": "decade", "yr": "year",
}  # fmt: skip
_UNIT = (
    r"(?:days?|weeks?|fortnights?|months?|quarters?|years?|yrs?|hours?|hrs?|minutes?|mins?|decades?)(?![a-z])"
)
_SHIFTS = {
    "last": -1, "previous": -1, "prior": -1, "this": 0, "current": 0, "the current": 0, "next": 1, "following": 1,
    "the previous": -1, "the last": -1, "the next": 1, "the following": 1, "the prior": -1, "the": 0,
}  # fmt: skip
_SHIFT = r"(?:(?:the )?(?:last|previous|prior|current|next|following)|this)"
_HOLIDAY = "|".join(
    sorted(
        (re.escape(name) for name in HOLIDAYS if name[0].isascii() and name != "618"), key=len, reverse=True
    )
)
_DAY_WORDS = {
    "the day before yesterday": -2, "day before yesterday": -2, "yesterday": -1, "today": 0, "tomorrow": 1,
    "the day after tomorrow": 2, "day after tomorrow": 2, "tonight": 0, "last night": -1,
}  # fmt: skip

_PATTERNS: dict[str, str] = {
    "day_word": "|".join(sorted(_DAY_WORDS, key=len, reverse=True)) + r"|this (?:morning|afternoon|evening)",
    "now": r"(?:right )?now|the present|present|to date|date(?=$)",
    "shifted": rf"(?P<shift>{_SHIFT}) (?P<unit>weekend|week|month|quarter|year|{_WEEKDAY}|{_MONTH})(?![a-z])(?:,? (?P<day>{_DAY}))?",
    "rolling_one": r"(?:the |over the |in the )?(?P<side>past|trailing|upcoming|coming) (?P<unit>day|week|fortnight|month|quarter|year|hour|decade)(?![a-z])",
    "weekend": r"(?:the |coming |the coming |upcoming )?weekend(?![a-z])",
    "end_of": r"(?P<unit>month|quarter|year)[- ]end(?![a-z])",
    "far": r"(?:the )?(?P<unit>week|month|quarter|year|weekend) (?P<side>before last|after next)",
    "ago": rf"(?P<count>{_COUNT}) (?P<unit>{_UNIT}) (?P<side>ago|from now|from today|later|earlier)",
    "in": rf"in (?P<count>{_COUNT}) (?P<unit>{_UNIT})(?:'s? time)?",
    "rolling": rf"(?:(?:over|in|during|within) )?(?:the |these )?(?P<side>last|past|previous|trailing|rolling|most recent|next|coming|following|upcoming) (?P<count>{_COUNT})[ -](?P<unit>{_UNIT})",
    "quarter": rf"(?:q(?P<q>[1-4])|(?P<ordinal>{_ORDINAL}) quarter)(?:,? ?(?:of |in )?(?P<year>{_YEAR}))?|(?P<year_first>[12]\d{{3}})[ -]?q(?P<q_last>[1-4])",
    "half": rf"(?:h(?P<h>[12])|(?:the )?(?P<ordinal>first|second|1st|2nd) half)(?:,? ?(?:of |in )?(?P<year>{_YEAR}))?|(?P<year_first>[12]\d{{3}})[ -]?h(?P<h_last>[12])",
    "month_day": rf"(?P<month>{_MONTH}) (?:the )?(?P<day>{_DAY})(?:,? (?:of )?(?P<year>{_YEAR}))?",
    "day_month": rf"(?:the )?(?P<day>{_DAY})(?: of)?[ -](?P<month>{_MONTH})(?:[, -]+(?:of )?(?P<year>{_YEAR}))?",
    "month_year": rf"(?P<month>{_MONTH})(?:,? (?:of |in )?(?P<year>{_YEAR}))?",
    "year": r"(?:(?:the )?year )?(?P<year>(?:19|20)\d\d)(?!\d)",
    "weekday": rf"(?:on |this coming |the coming |coming |upcoming )?(?P<weekday>{_WEEKDAY})",
    "edge": r"(?:the )?(?P<edge>end|beginning|start|first day|last day) of (?P<whole>(?:the |this )?(?:week|month|quarter|year)(?![a-z])|.+)",
    "to_date": r"(?P<unit>week|month|quarter|year)[- ]to[- ]date|(?P<short>wtd|mtd|qtd|ytd)|(?:so far )?this (?P<so_far>week|month|quarter|year)(?: so far)?",
    "day_of_month": r"(?:the )(?P<day>\d{1,2}(?:st|nd|rd|th))(?: of (?P<which>this|last|next) month)?",
    "nth": rf"(?:the )?(?P<ordinal>{_ORDINAL}|last) (?P<weekday>{_WEEKDAY}) (?:of|in) (?P<month>{_MONTH})(?:,? (?P<year>{_YEAR}))?",
    "week_number": r"week (?P<week>\d{1,2})(?:,? (?:of )?(?P<year>[12]\d{3}))?",
    "week_of": rf"(?:the )?week of (?:the )?(?P<month>{_MONTH}) (?P<day>{_DAY})(?:,? (?P<year>{_YEAR}))?",
    "holiday": rf"(?P<holiday>{_HOLIDAY})(?![a-z])(?:,? (?:of |in )?(?P<year>{_YEAR}))?",
    "holiday_shift": rf"(?P<shift>this year's|last year's|next year's|last|this) (?P<holiday>{_HOLIDAY})(?![a-z])",
}  # fmt: skip


def english_atom(text: str, position: int, clock: Clock) -> Atom | None:
    """The longest English date expression that begins at `position` of a lower-case text, None where none does."""
    best: Atom | None = None
    for name, pattern in _COMPILED:
        found = pattern.match(text, position)
        if found is None:
            continue
        atom = _HANDLERS[name](found, clock)
        if atom is not None and (best is None or atom.end > best.end):
            best = atom
    return best


def _year_of(text: str | None, context: Context) -> tuple[int, bool]:
    if not text:
        return (context.year if context.year is not None else context.clock.today.year), True
    digits = re.search(r"[12]\d{3}$", text)
    if digits:
        return int(digits[0]), False
    if text.startswith("'"):
        return 2000 + int(text[1:]), False
    word = text.removesuffix(" year")
    return context.clock.today.year + _SHIFTS[word], True


def _atom(
    found: re.Match[str],
    build: Callable[[Context], DateSpan | None],
    clock: Clock,
    strength: int = 2,
    lacks: str = "",
) -> Atom | None:
    if build(Context(clock)) is None:
        return None
    return Atom(found.start(), found.end(), build, strength, frozenset({lacks} if lacks else ()))


def _day_word(found: re.Match[str], clock: Clock) -> Atom | None:
    shift = _DAY_WORDS.get(found[0], 0)
    strength = 2 if " " in found[0] else 1
    return _atom(found, lambda context: day(add_days(context.clock.today, shift)), clock, strength)


def _now(found: re.Match[str], clock: Clock) -> Atom | None:
    return Atom(
        found.start(),
        found.end(),
        lambda context: day(context.clock.today, at=context.clock.moment.time()),
        0,
        is_now=True,
    )


def _shifted(found: re.Match[str], clock: Clock) -> Atom | None:
    shift, unit = _SHIFTS[found["shift"]], found["unit"].rstrip(".")
    if found["day"] and unit not in _MONTHS:
        return None

    def build(context: Context) -> DateSpan | None:
        today, start = context.clock.today, context.clock.week_start
        if unit in _MONTHS:
            return _named_month(today.year, today.month, _MONTHS[unit], shift, found["day"])
        if unit in _WEEKDAYS:
            return weekday_of_week(today, shift, _WEEKDAYS[unit], start)
        return _whole(unit, context.clock, shift)

    return _atom(found, build, clock)


def _named_month(year: int, now: int, month: int, shift: int, day_text: str | None) -> DateSpan | None:
    """`last March`: the latest one over; `next March`: the first to come; `this March`: this year's."""
    if shift < 0:
        year -= 0 if month < now else 1
    elif shift > 0:
        year += 0 if month > now else 1
    if day_text:
        exact = safe_date(year, month, _day_number(day_text))
        return day(exact) if exact else None
    return month_span(year, month)


def _whole(unit: str, clock: Clock, shift: int) -> DateSpan | None:
    today = clock.today
    if unit == "week":
        return week_span(today, shift, clock.week_start)
    if unit == "weekend":
        return weekend_of_week(today, shift)
    if unit == "month":
        return shifted_month(today, shift)
    if unit == "quarter":
        return shifted_quarter(today, shift)
    return year_span(today.year + shift)


def _weekend(found: re.Match[str], clock: Clock) -> Atom | None:
    return _atom(found, lambda context: weekend_of_week(context.clock.today, 0), clock, 0)


def _end_of(found: re.Match[str], clock: Clock) -> Atom | None:
    return _atom(found, lambda context: edge(_whole(found["unit"], context.clock, 0), "last"), clock, 1)


def _far(found: re.Match[str], clock: Clock) -> Atom | None:
    shift = -2 if found["side"] == "before last" else 2
    return _atom(found, lambda context: _whole(found["unit"], context.clock, shift), clock)


def _count_of(text: str) -> int | None:
    if text in ("a", "an"):
        return 1
    if "couple" in text:
        return 2
    return whole_number(text)


def _unit_of(text: str) -> str:
    return _UNITS[text if text in _UNITS else text.removesuffix("s")]


def _counted(found: re.Match[str]) -> tuple[int, str] | None:
    unit = _unit_of(found["unit"])
    if found["count"].startswith("half"):
        return {"year": (1, "half_year"), "hour": (30, "minute")}.get(unit)
    count = _count_of(found["count"])
    return (count, unit) if count else None


def _ago(found: re.Match[str], clock: Clock) -> Atom | None:
    counted = _counted(found)
    if counted is None:
        return None
    side = found.groupdict().get("side")
    if side in ("later", "earlier"):
        return None
    sign = -1 if side == "ago" else 1
    return _atom(found, lambda context: offset(context.clock, counted[1], sign * counted[0]), clock)


def _rolling(found: re.Match[str], clock: Clock) -> Atom | None:
    counted = _counted(found)
    if counted is None:
        return None
    sign = -1 if found["side"] in ("next", "coming", "following", "upcoming") else 1
    return _atom(found, lambda context: rolling(context.clock, counted[1], sign * counted[0]), clock)


def _rolling_one(found: re.Match[str], clock: Clock) -> Atom | None:
    sign = -1 if found["side"] in ("coming", "upcoming") else 1
    return _atom(found, lambda context: rolling(context.clock, _unit_of(found["unit"]), sign), clock)


def _quarter(found: re.Match[str], clock: Clock) -> Atom | None:
    number = found["q"] or found["q_last"] or str(_ORDINALS[found["ordinal"]])
    year_text = found["year"] or found["year_first"]

    def build(context: Context) -> DateSpan | None:
        year, relative = _year_of(year_text, context)
        return quarter_span(year, int(number), relative=relative)

    return _atom(found, build, clock, 2 if year_text else 1, "" if year_text else "year")


def _half(found: re.Match[str], clock: Clock) -> Atom | None:
    number = found["h"] or found["h_last"] or str(_ORDINALS[found["ordinal"]])
    year_text = found["year"] or found["year_first"]

    def build(context: Context) -> DateSpan | None:
        year, relative = _year_of(year_text, context)
        return half_span(year, int(number), relative=relative)

    return _atom(found, build, clock, 2 if year_text else 0, "" if year_text else "year")


def _day_number(text: str) -> int:
    return int(re.match(r"\d+", text)[0])  # type: ignore[index]


def _month_day(found: re.Match[str], clock: Clock) -> Atom | None:
    month, number = _MONTHS[found["month"].rstrip(".")], _day_number(found["day"])

    def build(context: Context) -> DateSpan | None:
        year, relative = _year_of(found["year"], context)
        exact = safe_date(year, month, number)
        return day(exact, relative=relative) if exact else None

    return _atom(found, build, clock, 2 if found["year"] else 1, "" if found["year"] else "year")


def _month_year(found: re.Match[str], clock: Clock) -> Atom | None:
    month = _MONTHS[found["month"].rstrip(".")]

    def build(context: Context) -> DateSpan | None:
        year, relative = _year_of(found["year"], context)
        return month_span(year, month, relative=relative)

    return _atom(found, build, clock, 2 if found["year"] else 0, "" if found["year"] else "year")


def _year(found: re.Match[str], clock: Clock) -> Atom | None:
    return _atom(found, lambda context: year_span(int(found["year"]), relative=False), clock, 0)


def _weekday(found: re.Match[str], clock: Clock) -> Atom | None:
    weekday = _WEEKDAYS[found["weekday"]]
    coming = "coming" in found[0]

    def build(context: Context) -> DateSpan | None:
        today = context.clock.today
        if coming:
            return day(add_days(today, (weekday - today.weekday() - 1) % 7 + 1))
        return weekday_of_week(context.week or today, 0, weekday, context.clock.week_start)

    return _atom(found, build, clock, 0, "" if coming else "week")


def _edge(found: re.Match[str], clock: Clock) -> Atom | None:
    which = "last" if found["edge"] in ("end", "last day") else "first"
    whole = re.fullmatch(r"(?:the |this )?(week|month|quarter|year)", found["whole"])
    if whole:
        return _atom(found, lambda context: edge(_whole(whole[1], context.clock, 0), which), clock)  # type: ignore[arg-type]
    inner = english_atom(found.string, found.start("whole"), clock)
    if inner is None or found.string[found.start("whole") :].startswith(("the end", "end")):
        return None

    def build(context: Context) -> DateSpan | None:
        return edge(inner.build(context), which)  # type: ignore[arg-type]

    span = inner.build(Context(clock))
    if span is None or span.is_single_day:
        return None
    return Atom(found.start(), inner.end, build, max(1, inner.strength), inner.lacks)


def _to_date(found: re.Match[str], clock: Clock) -> Atom | None:
    if found["so_far"] and "so far" not in found[0]:
        return None
    short = {"wtd": "week", "mtd": "month", "qtd": "quarter", "ytd": "year"}
    unit = found["unit"] or found["so_far"] or short[found["short"]]

    def build(context: Context) -> DateSpan | None:
        whole = _whole(unit, context.clock, 0)
        return DateSpan(first=whole.first, last=context.clock.today, grain="range") if whole else None

    return _atom(found, build, clock)


def _day_of_month(found: re.Match[str], clock: Clock) -> Atom | None:
    shift = _SHIFTS[found["which"]] if found["which"] else 0

    def build(context: Context) -> DateSpan | None:
        anchor = add_months(context.clock.today.replace(day=1), shift)
        year, month = context.month or (anchor.year, anchor.month)
        exact = safe_date(year, month, _day_number(found["day"]))
        return day(exact) if exact else None

    return _atom(found, build, clock, 2 if found["which"] else 0, "" if found["which"] else "month")


def _nth(found: re.Match[str], clock: Clock) -> Atom | None:
    def build(context: Context) -> DateSpan | None:
        year, relative = _year_of(found["year"], context)
        month = _MONTHS[found["month"].rstrip(".")]
        exact = nth_weekday(year, month, _WEEKDAYS[found["weekday"]], _ORDINALS[found["ordinal"]])
        return day(exact, relative=relative) if exact else None

    return _atom(found, build, clock)


def _week_number(found: re.Match[str], clock: Clock) -> Atom | None:
    def build(context: Context) -> DateSpan | None:
        year, relative = _year_of(found["year"], context)
        return iso_week(year, int(found["week"]), relative=relative)

    return _atom(found, build, clock, 2 if found["year"] else 0)


def _week_of(found: re.Match[str], clock: Clock) -> Atom | None:
    def build(context: Context) -> DateSpan | None:
        year, _ = _year_of(found["year"], context)
        exact = safe_date(year, _MONTHS[found["month"].rstrip(".")], _day_number(found["day"]))
        return week_span(exact, 0, context.clock.week_start) if exact else None

    return _atom(found, build, clock)


def _holiday(found: re.Match[str], clock: Clock) -> Atom | None:
    def build(context: Context) -> DateSpan | None:
        year, relative = _year_of(found["year"], context)
        exact = holiday(found["holiday"], year)
        return day(exact, relative=relative) if exact else None

    return _atom(found, build, clock, 2 if found["year"] else 0, "" if found["year"] else "year")


def _holiday_shift(found: re.Match[str], clock: Clock) -> Atom | None:
    word = found["shift"]

    def build(context: Context) -> DateSpan | None:
        today = context.clock.today
        year = today.year + _SHIFTS[word.removesuffix(" year's")]
        exact = holiday(found["holiday"], year)
        if word == "last":
            this_year = holiday(found["holiday"], today.year)
            exact = this_year if this_year and this_year < today else exact
        return day(exact) if exact else None

    return _atom(found, build, clock)


_HANDLERS: dict[str, Callable[[re.Match[str], Clock], Atom | None]] = {
    "day_word": _day_word,
    "now": _now,
    "shifted": _shifted,
    "rolling_one": _rolling_one,
    "weekend": _weekend,
    "end_of": _end_of,
    "far": _far,
    "ago": _ago,
    "in": _ago,
    "rolling": _rolling,
    "quarter": _quarter,
    "half": _half,
    "month_day": _month_day,
    "day_month": _month_day,
    "month_year": _month_year,
    "year": _year,
    "weekday": _weekday,
    "edge": _edge,
    "to_date": _to_date,
    "day_of_month": _day_of_month,
    "nth": _nth,
    "week_number": _week_number,
    "week_of": _week_of,
    "holiday": _holiday,
    "holiday_shift": _holiday_shift,
}
_COMPILED = tuple((name, re.compile(pattern)) for name, pattern in _PATTERNS.items())
