"""English date expressions: what stands at one place of a text, as an `Atom`.

The text is already lower case. A weekday, month or quarter without a year or a `last`/`next` is the one of the current
week or year, past or not; `next Friday` is the Friday of the next week, `coming Friday` the next one to come. Fiscal
years and vague words (`early March`, `a few days ago`) are not read.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from agent_reach.router.normalize.dates.calendar import (
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
from agent_reach.router.normalize.dates.english_words import (
    DAY_WORDS,
    MONTHS,
    ORDINALS,
    PATTERNS,
    SHIFTS,
    UNITS,
    WEEKDAYS,
)
from agent_reach.router.normalize.dates.holidays import holiday
from agent_reach.router.normalize.numerals import whole_number


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
    return context.clock.today.year + SHIFTS[word], True


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
    shift = DAY_WORDS.get(found[0], 0)
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
    shift, unit = SHIFTS[found["shift"]], found["unit"].rstrip(".")
    if found["day"] and unit not in MONTHS:
        return None

    def build(context: Context) -> DateSpan | None:
        today, start = context.clock.today, context.clock.week_start
        if unit in MONTHS:
            return _named_month(today.year, today.month, MONTHS[unit], shift, found["day"])
        if unit in WEEKDAYS:
            return weekday_of_week(today, shift, WEEKDAYS[unit], start)
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
    return UNITS[text if text in UNITS else text.removesuffix("s")]


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
    number = found["q"] or found["q_last"] or str(ORDINALS[found["ordinal"]])
    year_text = found["year"] or found["year_first"]

    def build(context: Context) -> DateSpan | None:
        year, relative = _year_of(year_text, context)
        return quarter_span(year, int(number), relative=relative)

    return _atom(found, build, clock, 2 if year_text else 1, "" if year_text else "year")


def _half(found: re.Match[str], clock: Clock) -> Atom | None:
    number = found["h"] or found["h_last"] or str(ORDINALS[found["ordinal"]])
    year_text = found["year"] or found["year_first"]

    def build(context: Context) -> DateSpan | None:
        year, relative = _year_of(year_text, context)
        return half_span(year, int(number), relative=relative)

    return _atom(found, build, clock, 2 if year_text else 0, "" if year_text else "year")


def _day_number(text: str) -> int:
    return int(re.match(r"\d+", text)[0])  # type: ignore[index]


def _month_day(found: re.Match[str], clock: Clock) -> Atom | None:
    month, number = MONTHS[found["month"].rstrip(".")], _day_number(found["day"])

    def build(context: Context) -> DateSpan | None:
        year, relative = _year_of(found["year"], context)
        exact = safe_date(year, month, number)
        return day(exact, relative=relative) if exact else None

    return _atom(found, build, clock, 2 if found["year"] else 1, "" if found["year"] else "year")


def _month_year(found: re.Match[str], clock: Clock) -> Atom | None:
    month = MONTHS[found["month"].rstrip(".")]

    def build(context: Context) -> DateSpan | None:
        year, relative = _year_of(found["year"], context)
        return month_span(year, month, relative=relative)

    return _atom(found, build, clock, 2 if found["year"] else 0, "" if found["year"] else "year")


def _year(found: re.Match[str], clock: Clock) -> Atom | None:
    return _atom(found, lambda context: year_span(int(found["year"]), relative=False), clock, 0)


def _weekday(found: re.Match[str], clock: Clock) -> Atom | None:
    weekday = WEEKDAYS[found["weekday"]]
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
    shift = SHIFTS[found["which"]] if found["which"] else 0

    def build(context: Context) -> DateSpan | None:
        anchor = add_months(context.clock.today.replace(day=1), shift)
        year, month = context.month or (anchor.year, anchor.month)
        exact = safe_date(year, month, _day_number(found["day"]))
        return day(exact) if exact else None

    return _atom(found, build, clock, 2 if found["which"] else 0, "" if found["which"] else "month")


def _nth(found: re.Match[str], clock: Clock) -> Atom | None:
    def build(context: Context) -> DateSpan | None:
        year, relative = _year_of(found["year"], context)
        month = MONTHS[found["month"].rstrip(".")]
        exact = nth_weekday(year, month, WEEKDAYS[found["weekday"]], ORDINALS[found["ordinal"]])
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
        exact = safe_date(year, MONTHS[found["month"].rstrip(".")], _day_number(found["day"]))
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
        year = today.year + SHIFTS[word.removesuffix(" year's")]
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
_COMPILED = tuple((name, re.compile(pattern)) for name, pattern in PATTERNS.items())
