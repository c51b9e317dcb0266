"""Days, weeks, months and quarters around a stated now.

Every relative date needs a `Clock`; none is read from the machine here. It knows nothing of languages or parameters.
"""

from __future__ import annotations

import calendar as _calendar
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta, tzinfo
from datetime import time as ClockTime
from typing import Literal

from agent_reach.errors import InputError

Grain = Literal["moment", "day", "week", "month", "quarter", "half", "year", "range"]
DateOrder = Literal["dmy", "mdy", "ymd"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Clock:
    """The stated now and the rules that go with it.

    `now` None: expressions that need a now stay unresolved. `week_start` 0 is Monday, 6 Sunday. `date_order` says how
    `03/01/2024` is meant; None leaves it ambiguous.
    """

    now: datetime | None = None
    week_start: int = 0
    date_order: DateOrder | None = None

    @property
    def today(self) -> date:
        """The stated day; a fixed stand-in without one, whose results are marked relative and never used."""
        return self.now.date() if self.now is not None else date(2000, 6, 15)

    @property
    def moment(self) -> datetime:
        """The stated now without its zone."""
        return (self.now or datetime(2000, 6, 15)).replace(tzinfo=None)

    @property
    def zone(self) -> tzinfo | None:
        """The stated zone, None where none was stated."""
        return self.now.tzinfo if self.now is not None else None


@dataclass(frozen=True, slots=True, kw_only=True)
class DateSpan:
    """First and last day (both included) that an expression means.

    `time` and `last_time` are times of day where the text states them; `relative` says that the result depends on now;
    `zone` is a zone written in the text itself.
    """

    first: date
    last: date
    grain: Grain = "day"
    relative: bool = True
    time: ClockTime | None = None
    last_time: ClockTime | None = None
    zone: tzinfo | None = None

    @property
    def is_single_day(self) -> bool:
        """One day only."""
        return self.first == self.last


@dataclass(frozen=True, slots=True)
class Context:
    """What a neighbour in a range lends: the year, month or week that an expression leaves out."""

    clock: Clock
    year: int | None = None
    month: tuple[int, int] | None = None
    week: date | None = None


Build = Callable[[Context], DateSpan | None]


@dataclass(frozen=True, slots=True)
class Atom:
    """One date expression found in a text.

    `lacks` names what a neighbour could lend (`year`, `month`, `week`). `strength` 2 stands among other words, 1 only
    after Chinese words, 0 only alone. `ambiguous` has several readings of which none is stated.
    """

    start: int
    end: int
    build: Build
    strength: int = 2
    lacks: frozenset[str] = frozenset()
    ambiguous: bool = False
    is_now: bool = False


def read_now(now: datetime | str | None, zone: tzinfo | None = None) -> datetime | None:
    """The stated now from a datetime or ISO text; a naive one gets `zone` where that is given."""
    if isinstance(now, str):
        try:
            now = datetime.fromisoformat(now.strip().replace("Z", "+00:00"))
        except ValueError as error:
            raise InputError(
                f"now is {now!r}, which is no ISO date-time",
                where="now",
                next_step="write 2025-12-10T10:00:00+08:00",
            ) from error
    if now is not None and not isinstance(now, datetime):
        raise InputError(
            f"now is {now!r}, which is neither a datetime nor ISO text",
            where="now",
            next_step="write 2025-12-10T10:00:00+08:00",
        )
    if now is not None and now.tzinfo is None and zone is not None:
        now = now.replace(tzinfo=zone)
    return now


def day(value: date, *, relative: bool = True, at: ClockTime | None = None) -> DateSpan:
    """One day."""
    return DateSpan(first=value, last=value, relative=relative, time=at)


def safe_date(year: int, month: int, day_of_month: int) -> date | None:
    """That day, None where the calendar has none."""
    try:
        return date(year, month, day_of_month)
    except ValueError:
        return None


def add_days(value: date, days: int) -> date:
    """That many days later; the ends of the calendar are not crossed."""
    try:
        return value + timedelta(days=days)
    except OverflowError:
        return date.max if days > 0 else date.min


def add_months(value: date, months: int) -> date:
    """The same day that many months later, or the last day of that month."""
    index = value.year * 12 + value.month - 1 + months
    year, month = divmod(index, 12)
    if not 1 <= year <= 9999:
        return date.max if months > 0 else date.min
    return date(year, month + 1, min(value.day, _calendar.monthrange(year, month + 1)[1]))


def year_span(year: int, *, relative: bool = True) -> DateSpan | None:
    """A calendar year."""
    if not 1 <= year <= 9999:
        return None
    return DateSpan(first=date(year, 1, 1), last=date(year, 12, 31), grain="year", relative=relative)


def month_span(year: int, month: int, *, relative: bool = True) -> DateSpan | None:
    """A calendar month; `month` outside 1-12 is none."""
    if not (1 <= month <= 12 and 1 <= year <= 9999):
        return None
    last = _calendar.monthrange(year, month)[1]
    return DateSpan(
        first=date(year, month, 1), last=date(year, month, last), grain="month", relative=relative
    )


def shifted_month(anchor: date, months: int) -> DateSpan | None:
    """The calendar month that many months from the one of `anchor`."""
    moved = add_months(anchor.replace(day=1), months)
    return month_span(moved.year, moved.month)


def months_span(year: int, first: int, last: int, grain: Grain, *, relative: bool = True) -> DateSpan | None:
    """From the first day of one month to the last day of another in the same year."""
    start, end = month_span(year, first), month_span(year, last)
    if start is None or end is None:
        return None
    return DateSpan(first=start.first, last=end.last, grain=grain, relative=relative)


def quarter_span(year: int, quarter: int, *, relative: bool = True) -> DateSpan | None:
    """A calendar quarter, 1 to 4."""
    if not 1 <= quarter <= 4:
        return None
    return months_span(year, quarter * 3 - 2, quarter * 3, "quarter", relative=relative)


def shifted_quarter(anchor: date, quarters: int) -> DateSpan | None:
    """The calendar quarter that many quarters from the one of `anchor`."""
    index = anchor.year * 4 + (anchor.month - 1) // 3 + quarters
    return quarter_span(index // 4, index % 4 + 1)


def half_span(year: int, half: int, *, relative: bool = True) -> DateSpan | None:
    """The first or second half of a calendar year."""
    return months_span(year, 1 if half == 1 else 7, 6 if half == 1 else 12, "half", relative=relative)


def week_first(anchor: date, week_start: int) -> date:
    """The first day of the week of `anchor`."""
    return add_days(anchor, -((anchor.weekday() - week_start) % 7))


def week_span(anchor: date, weeks: int, week_start: int) -> DateSpan:
    """The week that many weeks from the one of `anchor`."""
    first = add_days(week_first(anchor, week_start), 7 * weeks)
    return DateSpan(first=first, last=add_days(first, 6), grain="week")


def weekday_of_week(anchor: date, weeks: int, weekday: int, week_start: int) -> DateSpan:
    """A weekday (0 Monday) of the week that many weeks from the one of `anchor`."""
    first = add_days(week_first(anchor, week_start), 7 * weeks)
    return day(add_days(first, (weekday - week_start) % 7))


def weekend_of_week(anchor: date, weeks: int) -> DateSpan:
    """Saturday and Sunday of a week that begins on Monday, whatever the week rule: a weekend is never torn apart."""
    first = add_days(week_first(anchor, 0), 7 * weeks + 5)
    return DateSpan(first=first, last=add_days(first, 1), grain="range")


def iso_week(year: int, week: int, *, relative: bool) -> DateSpan | None:
    """An ISO 8601 week."""
    try:
        first = date.fromisocalendar(year, week, 1)
    except ValueError:
        return None
    return DateSpan(first=first, last=add_days(first, 6), grain="week", relative=relative)


def nth_weekday(year: int, month: int, weekday: int, nth: int) -> date | None:
    """The nth weekday of a month; `nth` -1 is the last."""
    last_day = _calendar.monthrange(year, month)[1]
    days = [d for d in range(1, last_day + 1) if date(year, month, d).weekday() == weekday]
    try:
        return date(year, month, days[nth - 1 if nth > 0 else nth])
    except IndexError:
        return None


def edge(span: DateSpan | None, which: Literal["first", "last"]) -> DateSpan | None:
    """The first or last day of a span."""
    if span is None:
        return None
    chosen = span.first if which == "first" else span.last
    return replace(span, first=chosen, last=chosen, grain="day")


def rolling(clock: Clock, unit: str, count: int) -> DateSpan | None:
    """`count` units that end today, today included (negative: that many after today, today left out).

    Seven days back from the 10th are the 4th to the 10th; three months back begin on the day after the same day three
    months ago; hours and minutes are moments.
    """
    if not 0 < abs(count) <= 10_000:
        return None
    if unit in ("hour", "minute"):
        step = timedelta(hours=abs(count)) if unit == "hour" else timedelta(minutes=abs(count))
        other = clock.moment - step if count > 0 else clock.moment + step
        first, last = (other, clock.moment) if count > 0 else (clock.moment, other)
        return DateSpan(
            first=first.date(), last=last.date(), grain="range", time=first.time(), last_time=last.time()
        )
    if count > 0:
        return DateSpan(
            first=add_days(shifted(clock.today, unit, -count), 1), last=clock.today, grain="range"
        )
    return DateSpan(first=add_days(clock.today, 1), last=shifted(clock.today, unit, -count), grain="range")


def shifted(anchor: date, unit: str, count: int) -> date:
    """The day that many units later: `day`, `week`, `fortnight`, `half_month`, `month`, `quarter`, `half_year`, `year`,
    `decade`."""
    days = {"day": 1, "week": 7, "fortnight": 14, "half_month": 15}.get(unit)
    if days is not None:
        return add_days(anchor, days * count)
    months = {"month": 1, "quarter": 3, "half_year": 6, "year": 12, "decade": 120}[unit]
    return add_months(anchor, months * count)


def offset(clock: Clock, unit: str, count: int) -> DateSpan | None:
    """The day, or moment, that many units from now."""
    if abs(count) > 100_000:
        return None
    if unit in ("hour", "minute"):
        moved = clock.moment + (timedelta(hours=count) if unit == "hour" else timedelta(minutes=count))
        return DateSpan(first=moved.date(), last=moved.date(), grain="moment", time=moved.time())
    return day(shifted(clock.today, unit, count))
