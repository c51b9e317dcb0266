"""Chinese date expressions: what stands at one place of a text, as an `Atom`.

Only expressions with one reading: 当月 and 去年同期 point to something said before and are left alone. Joining two of
them to a range, times of day and numeric dates are elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import date

from agent_reach.router.normalize.dates.calendar import (
    Atom,
    Clock,
    Context,
    DateSpan,
    add_days,
    day,
    edge,
    half_span,
    iso_week,
    month_span,
    months_span,
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
from agent_reach.router.normalize.dates.holidays import HOLIDAYS, holiday
from agent_reach.router.normalize.numerals import whole_number

NUMBER = r"(?:\d{1,4}|[零〇一二两俩三四五六七八九十百]{1,6})"
_YEAR = (
    r"(?:大前年|前年|去年度?|上一?个?年度?|今年度?|本年度?|这一?年|明年度?|下一?个?年度?|来年|后年|"
    r"[12]\d{3}年度?|[一二][零〇一二三四五六七八九]{3}年度?)"
)
_SHORT_YEAR = r"(?:[0-4]\d年)"
_MONTH_SHIFT = r"(?:(?:上上|上|本|这|下下|下)一?个?月份?|当前月份?)"
_QUARTER_SHIFT = r"(?:(?:上上|上|本|这|下下|下)一?个?季度?|当前季度)"
_WEEK = r"(?:周|星期|礼拜)"
_UNITS = {
    "天": "day", "日": "day", "周": "week", "星期": "week", "礼拜": "week", "月": "month", "季度": "quarter",
    "季": "quarter", "年": "year", "小时": "hour", "钟头": "hour", "分钟": "minute",
}  # fmt: skip
_UNIT = r"(?:天|日|周|星期|礼拜|月|季度|季|年|小时|钟头|分钟)"
_YEAR_SHIFTS = {
    "大前": -3,
    "前": -2,
    "去": -1,
    "上": -1,
    "今": 0,
    "本": 0,
    "这": 0,
    "明": 1,
    "下": 1,
    "来": 1,
    "后": 2,
}
_SHIFTS = {"当前": 0, "上上": -2, "上": -1, "本": 0, "这": 0, "下": 1, "下下": 2}
_WEEKDAYS = {"一": 0, "二": 1, "三": 2, "四": 3, "五": 4, "六": 5, "日": 6, "天": 6}
_DAY_WORDS = {
    "大前天": -3, "前天": -2, "前晚": -2, "昨天": -1, "昨日": -1, "昨晚": -1, "昨夜": -1, "昨早": -1, "今天": 0,
    "今日": 0, "本日": 0, "今晚": 0, "今早": 0, "今晨": 0, "今夜": 0, "明天": 1, "明日": 1, "明早": 1, "明晚": 1, "明晨": 1,
    "后天": 2, "后晚": 2, "大后天": 3,
}  # fmt: skip
_HOLIDAY = "|".join(
    sorted(
        (re.escape(name) for name in HOLIDAYS if not name[0].isascii() or name == "618"),
        key=len,
        reverse=True,
    )
)

_IN_YEAR = re.compile(
    rf"(?:(?P<year>{_YEAR}|{_SHORT_YEAR})的?)?(?:"
    rf"(?:(?P<month_first>{NUMBER})月?(?:-|~|至|到|—|–)(?=(?:[\d]{{1,2}}|[一二三四五六七八九十]{{1,2}})月))?"
    rf"(?P<month>{NUMBER})月份?(?:的?(?:(?:(?P<day_first>{NUMBER})[日号]?(?:-|~|至|到|—|–))?(?P<day>{NUMBER})(?:日|号|(?=$|[\s,，~～至到\-—–]))|(?P<third>[上中下])旬|(?P<month_edge>初|底|末|第一天|最后一天)))?"
    r"|第?(?P<quarter>[一二三四1-4])个?季度(?P<quarter_edge>初|末|底)?"
    r"|[qQ](?P<q>[1-4])(?![\dA-Za-z])(?:季度)?"
    r"|前(?P<first_quarters>[两二三23])个?季度"
    r"|(?P<half>[上下])半年度?(?P<half_edge>初|末|底)?"
    rf"|第(?P<week>{NUMBER})周"
    rf"|(?P<holiday>{_HOLIDAY})(?!期间|假|长假|黄金周|小长假)(?:当天|当日)?"
    r")"
)
_WHOLE_YEAR = re.compile(
    rf"(?P<year>{_YEAR})(?:年?(?P<edge>初|底|末)|的?(?P<edge_day>第一天|最后一天)|全年|整年|一整年)?"
)
_BARE_EDGE = re.compile(r"(?P<unit>年|月|周|季度|季)(?P<edge>初|底|末)")
_MONTH = re.compile(
    rf"(?P<shift>{_MONTH_SHIFT})的?(?:(?P<day>{NUMBER})[日号]|(?P<third>[上中下])旬|(?:月)?(?P<edge>初|底|末|第一天|最后一天))?"
)
_QUARTER = re.compile(rf"(?P<shift>{_QUARTER_SHIFT})的?(?P<edge>初|底|末|第一天|最后一天)?")
_WEEKS = re.compile(
    rf"(?P<shift>上上|上|本|这|下下|下)一?个?{_WEEK}的?"
    rf"(?:(?:{_WEEK})?(?P<weekday>一(?![共直些样般定下个同起])|[二三四五六日天1-7]|末))?"
)
_WEEKDAY = re.compile(rf"{_WEEK}(?P<weekday>[一二三四五六日天末1-6])(?!半|天|个|期)")
_DAY_OF_MONTH = re.compile(rf"(?P<day>{NUMBER})[号日](?![线楼店门机院馆桥仓])")
_AGO = re.compile(
    rf"(?P<count>{NUMBER}|半)个?(?P<unit>{_UNIT})(?:以|之)?(?P<side>前|后)(?![\u4e00-\u9fff]?[年半]级)"
)
_RECENT = re.compile(
    rf"(?P<side>最近|近来|过去|近|过往|未来|接下来|今后|往后)的?(?:这|整)?(?P<count>{NUMBER}|半)个?(?P<unit>{_UNIT})(?:以?来|之?内|里)?"
)
_DAY = re.compile("|".join(sorted(_DAY_WORDS, key=len, reverse=True)))
_NOW = re.compile(r"现在|目前|此刻|当前|如今|现今")


def chinese_atom(text: str, position: int, clock: Clock) -> Atom | None:
    """The longest Chinese date expression that begins at `position`, None where none does."""
    if (
        position
        and text[position] in "零〇一二两俩三四五六七八九十百"
        and text[position - 1] in ("零〇一二两俩三四五六七八九十百千万第")
    ):
        return None
    best: Atom | None = None
    for pattern, handler in _HANDLERS:
        found = pattern.match(text, position)
        if found is None:
            continue
        atom = handler(found, clock)
        if atom is not None and (best is None or atom.end > best.end):
            best = atom
    return best


def _year_of(text: str | None, context: Context) -> tuple[int, bool] | None:
    """The year a word names and whether that depends on now; the neighbour's or this year where no word is."""
    if text is None:
        return (context.year if context.year is not None else context.clock.today.year), True
    digits = text.rstrip("年度")
    if digits.isdigit() and digits.isascii():
        return (int(digits) if len(digits) == 4 else 2000 + int(digits)), False
    if len(digits) == 4:
        number = whole_number(digits)
        return (number, False) if number is not None else None
    for word in sorted(_YEAR_SHIFTS, key=len, reverse=True):
        if text.startswith(word):
            return context.clock.today.year + _YEAR_SHIFTS[word], True
    return None


def _edged(span: DateSpan | None, word: str | None) -> DateSpan | None:
    if not word:
        return span
    return edge(span, "first" if word in ("初", "第一天") else "last")


def _third(span: DateSpan | None, word: str) -> DateSpan | None:
    """The first, second or last ten days of a month (the last third runs to the month's end)."""
    if span is None:
        return None
    first = {"上": 1, "中": 11, "下": 21}[word]
    last = {"上": 10, "中": 20, "下": span.last.day}[word]
    return replace(
        span, first=span.first.replace(day=first), last=span.first.replace(day=last), grain="range"
    )


def _in_year(found: re.Match[str], clock: Clock) -> Atom | None:
    parts = found.groupdict()
    if parts["year"] and re.fullmatch(_SHORT_YEAR, parts["year"]) and found.group(0) == parts["year"]:
        return None

    def build(context: Context) -> DateSpan | None:
        known = _year_of(parts["year"], context)
        if known is None:
            return None
        return _part_of_year(parts, known[0], known[1])

    if build(Context(clock)) is None:
        return None
    whole_month = (
        parts["month"]
        and not parts["month_first"]
        and not (parts["day"] or parts["third"] or parts["month_edge"])
    )
    strength = 2 if parts["year"] else 0 if whole_month or parts["holiday"] else 1
    if parts["week"] and not parts["year"]:
        strength = 0
    return Atom(
        found.start(), found.end(), build, strength, frozenset() if parts["year"] else frozenset({"year"})
    )


def _part_of_year(parts: dict[str, str | None], year: int, relative: bool) -> DateSpan | None:
    if parts["month"]:
        month = whole_number(parts["month"])
        whole = month_span(year, month, relative=relative) if month else None
        if parts["month_first"]:
            first = whole_number(parts["month_first"]) or 0
            if parts["day"] or parts["third"] or parts["month_edge"] or whole is None:
                return None
            begins = month_span(year if first < (month or 0) else year - 1, first, relative=relative)
            if begins is None or first == month:
                return None
            if first > (month or 0) and relative:
                # 11月到2月 begins in the year that is meant, so it ends in the next one.
                begins, whole = month_span(year, first), month_span(year + 1, month or 0)
            return replace(whole, first=begins.first, grain="range") if begins and whole else None
        if parts["day_first"]:
            begin = safe_date(year, month or 0, whole_number(parts["day_first"]) or 0)
            end = safe_date(year, month or 0, whole_number(parts["day"] or "") or 0)
            ordered = begin is not None and end is not None and begin < end
            return DateSpan(first=begin, last=end, grain="range", relative=relative) if ordered else None  # type: ignore[arg-type]
        if parts["day"]:
            number = whole_number(parts["day"])
            exact = safe_date(year, month or 0, number) if number else None
            return day(exact, relative=relative) if exact else None
        if parts["third"]:
            return _third(whole, parts["third"])
        return _edged(whole, parts["month_edge"])
    quarter = parts["quarter"] or parts["q"]
    if quarter:
        return _edged(
            quarter_span(year, whole_number(quarter) or 0, relative=relative), parts["quarter_edge"]
        )
    if parts["first_quarters"]:
        last = 9 if parts["first_quarters"] in "三3" else 6
        return months_span(year, 1, last, "range", relative=relative)
    if parts["half"]:
        return _edged(
            half_span(year, 1 if parts["half"] == "上" else 2, relative=relative), parts["half_edge"]
        )
    if parts["week"]:
        return iso_week(year, whole_number(parts["week"]) or 0, relative=relative)
    found = holiday(parts["holiday"] or "", year)
    return day(found, relative=relative) if found else None


def _whole_year(found: re.Match[str], clock: Clock) -> Atom | None:
    def build(context: Context) -> DateSpan | None:
        known = _year_of(found["year"], context)
        return (
            _edged(year_span(known[0], relative=known[1]), found["edge"] or found["edge_day"])
            if known
            else None
        )

    return Atom(found.start(), found.end(), build) if build(Context(clock)) else None


def _bare_edge(found: re.Match[str], clock: Clock) -> Atom | None:
    if found["unit"] == "周" and found["edge"] == "底":
        return None

    def build(context: Context) -> DateSpan | None:
        today = context.clock.today
        if found["unit"] == "周" and found["edge"] == "末":
            return weekend_of_week(context.week or today, 0)
        if found["unit"] == "周":
            return _edged(week_span(today, 0, context.clock.week_start), found["edge"])
        span = year_span(today.year) if found["unit"] == "年" else month_span(today.year, today.month)
        if found["unit"] in ("季", "季度"):
            span = shifted_quarter(today, 0)
        return _edged(span, found["edge"])

    return Atom(found.start(), found.end(), build, 1)


def _month(found: re.Match[str], clock: Clock) -> Atom | None:
    shift = _SHIFTS[re.match("当前|上上|上|本|这|下下|下", found["shift"])[0]]  # type: ignore[index]

    def build(context: Context) -> DateSpan | None:
        span = shifted_month(context.clock.today, shift)
        if span is None or not found["day"]:
            return _third(span, found["third"]) if found["third"] else _edged(span, found["edge"])
        number = whole_number(found["day"])
        exact = safe_date(span.first.year, span.first.month, number) if number else None
        return day(exact) if exact else None

    return Atom(found.start(), found.end(), build) if build(Context(clock)) else None


def _quarter(found: re.Match[str], clock: Clock) -> Atom | None:
    shift = _SHIFTS[re.match("当前|上上|上|本|这|下下|下", found["shift"])[0]]  # type: ignore[index]
    return Atom(
        found.start(),
        found.end(),
        lambda context: _edged(shifted_quarter(context.clock.today, shift), found["edge"]),
    )


def _weeks(found: re.Match[str], clock: Clock) -> Atom | None:
    shift, word = _SHIFTS[found["shift"]], found["weekday"]

    def build(context: Context) -> DateSpan | None:
        today, start = context.clock.today, context.clock.week_start
        if word is None:
            return week_span(today, shift, start)
        if word == "末":
            return weekend_of_week(today, shift)
        return weekday_of_week(today, shift, _weekday_number(word), start)

    return Atom(found.start(), found.end(), build)


def _weekday_number(word: str) -> int:
    return int(word) - 1 if word.isdigit() else _WEEKDAYS[word]


def _weekday(found: re.Match[str], clock: Clock) -> Atom | None:
    word = found["weekday"]

    def build(context: Context) -> DateSpan | None:
        anchor = context.week or context.clock.today
        if word == "末":
            return weekend_of_week(anchor, 0)
        return weekday_of_week(anchor, 0, _weekday_number(word), context.clock.week_start)

    return Atom(found.start(), found.end(), build, 0, frozenset({"week"}))


def _day_of_month(found: re.Match[str], clock: Clock) -> Atom | None:
    number = whole_number(found["day"])
    if number is None or not 1 <= number <= 31:
        return None

    def build(context: Context) -> DateSpan | None:
        year, month = context.month or (context.clock.today.year, context.clock.today.month)
        exact = safe_date(year, month, number)
        return day(exact) if exact else None

    return Atom(found.start(), found.end(), build, 0, frozenset({"month"}))


def _count_and_unit(found: re.Match[str]) -> tuple[int, str] | None:
    unit = _UNITS[found["unit"]]
    if found["count"] == "半":
        halves = {"month": (1, "half_month"), "year": (1, "half_year"), "hour": (30, "minute")}
        return halves.get(unit)
    count = whole_number(found["count"])
    return (count, unit) if count else None


def _ago(found: re.Match[str], clock: Clock) -> Atom | None:
    counted = _count_and_unit(found)
    if counted is None or (found["unit"] == "月" and "个" not in found.group(0)):
        return None
    if found["unit"] in ("年", "日") and counted[0] >= 1000:
        return None
    sign = -1 if found["side"] == "前" else 1
    return Atom(
        found.start(), found.end(), lambda context: offset(context.clock, counted[1], sign * counted[0])
    )


def _recent(found: re.Match[str], clock: Clock) -> Atom | None:
    counted = _count_and_unit(found)
    if counted is None:
        return None
    sign = -1 if found["side"] in ("未来", "接下来", "今后", "往后") else 1
    return Atom(
        found.start(), found.end(), lambda context: rolling(context.clock, counted[1], sign * counted[0])
    )


def _day(found: re.Match[str], clock: Clock) -> Atom | None:
    shift = _DAY_WORDS[found.group(0)]

    def build(context: Context) -> DateSpan | None:
        moved: date = add_days(context.clock.today, shift)
        return day(moved)

    # The part of the day in 昨晚 or 明早 belongs to a time that may follow, so it is given back to the text.
    end = found.end() - (1 if found.group(0)[-1] in "晚早晨夜" else 0)
    return Atom(found.start(), end, build)


def _now(found: re.Match[str], clock: Clock) -> Atom | None:
    return Atom(
        found.start(),
        found.end(),
        lambda context: day(context.clock.today, at=context.clock.moment.time()),
        1,
        is_now=True,
    )


Handler = Callable[[re.Match[str], Clock], Atom | None]
_HANDLERS: tuple[tuple[re.Pattern[str], Handler], ...] = (
    (_IN_YEAR, _in_year),
    (_WHOLE_YEAR, _whole_year),
    (_BARE_EDGE, _bare_edge),
    (_MONTH, _month),
    (_QUARTER, _quarter),
    (_WEEKS, _weeks),
    (_WEEKDAY, _weekday),
    (_DAY_OF_MONTH, _day_of_month),
    (_AGO, _ago),
    (_RECENT, _recent),
    (_DAY, _day),
    (_NOW, _now),
)
