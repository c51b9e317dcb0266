"""How a parameter wants its dates written: read from its format, pattern, description, note hint and examples.

A parameter that says nothing of dates has no form, and then no text of it is treated as a date (only a bare name such as
`period` or `start_date` without examples lets relative words through; see `form_by_name`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from functools import lru_cache
from typing import Any, Literal

from agent_reach.records.tool import ParameterHint
from agent_reach.router.normalize.calendar import Clock, DateSpan
from agent_reach.text.tokens import split_identifier

FormKind = Literal["date", "datetime", "time", "month", "quarter", "half", "year", "week", "range"]

_TOKEN = re.compile(
    r"(?P<year>%Y|YYYY|yyyy)|(?P<month>%m|MM|(?<=[Yy]-)mm|(?<=[Yy]/)mm)|(?P<day>%d|DD|dd)|(?P<hour>%H|HH|hh)|(?P<minute>%M|mm|MM)"
    r"|(?P<second>%S|SS|ss)|(?P<half>AM/PM|am/pm|\bA\b|tt)|(?P<quarter>[Qq](?:n|q|N|#|X|x|\{?1-4\}?)?)|(?P<zone>Z|XXX|\+00:00|±HH:MM)|(?P<t>T)"
    r"|(?P<mark>[-/.:年月日时分秒 ,])"
)
_TEMPLATE = re.compile(
    r"(?<![A-Za-z])(?:(?:%[YmdHMS]|YYYY|yyyy|MM|mm|DD|dd|HH|hh|SS|ss|AM/PM|am/pm|XXX|Q[nqN#Xx]?|q|Z|T)[-/.:年月日时分秒 ,]?)+(?![A-Za-z])"
)
_SEPARATOR = re.compile(r"['\"`]?\s*(~|～|到|至|—|–|\bto\b|/|,|，|\.\.|\s-\s)\s*['\"`]?")
_PERIOD_WORDS = frozenset({"period", "range", "interval", "span", "timeframe", "window", "periods", "ranges"})
_PERIOD_TEXT = re.compile(
    r"时间段|时间范围|日期范围|日期区间|时间区间|起止|区间|date range|time range|date period|START\s*[~～]\s*END",
    re.I,
)
_EXAMPLE = re.compile(
    r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2}Z?|\d{4}-\d{2}-\d{2} \d{2}:\d{2}|\d{4}[-/]\d{2}[-/]\d{2}|\d{4}-Q[1-4]|\d{4}Q[1-4]"
)
_ISO = re.compile(r"ISO[ -]?8601|ISO date|ISO格式日期|ISO 日期", re.I)
_SHOWS_EXAMPLES = re.compile(
    r"e\.g\.|for example|such as|\bex[.:]|例如|比如|如[:：'\"“‘(（]|候选|可选|one of", re.I
)


@dataclass(frozen=True, slots=True)
class DateForm:
    """One accepted writing: `template` in strftime letters (`%q` is the quarter number), `separator` for a range of two.

    `strict`: the schema itself demands it (`format`, `pattern`), so a text that cannot be written so is a problem.
    `by_name`: only the parameter's name speaks of a date.
    """

    kind: FormKind
    template: str
    separator: str = ""
    strict: bool = False
    by_name: bool = False
    utc: bool = False


def date_forms(
    name: str, schema: Mapping[str, Any], hint: ParameterHint | None = None
) -> tuple[DateForm, ...]:
    """The forms a string parameter states, most binding first; empty where it states none."""
    forms: list[DateForm] = []
    declared = _declared(schema.get("format"), str(schema.get("description", "")))
    text = " ".join(
        part
        for part in (
            hint.format if hint else "",
            str(schema.get("description") or ""),
            str(schema.get("title") or ""),
        )
        if part
    )
    described = _forms_of_text(text, name)
    if declared is not None:
        fitting = [form for form in described if form.kind == declared.kind]
        if declared.kind == "datetime" and fitting:
            return tuple(fitting)
        return (declared,)
    pattern = _form_of_pattern(str(schema.get("pattern") or ""))
    if pattern is not None:
        forms.append(pattern)
    forms.extend(form for form in described if form not in forms)
    if not forms and _ISO.search(text):
        forms.extend(_iso_forms(name, text))
    if not forms:
        examples = [schema.get("example"), *(schema.get("examples") or []), hint.example if hint else None]
        shown = " ".join(value for value in examples if isinstance(value, str)) + " " + text
        forms.extend(_forms_of_examples(shown, name, text))
    return tuple(forms)


def _iso_forms(name: str, text: str) -> list[DateForm]:
    """ISO 8601 without a template: days, or moments where the name or the text speaks of a time."""
    day_form, moment = DateForm("date", "%Y-%m-%d"), DateForm("datetime", "%Y-%m-%dT%H:%M:%S%z")
    timely = (
        "time" in split_identifier(name)
        or "timestamp" in name
        or re.search(r"时间|date-?time|timestamp", text, re.I)
    )
    return [moment] if timely else [_as_range(day_form, name, text)]


def form_by_name(name: str, schema: Mapping[str, Any]) -> DateForm | None:
    """The form that only the name suggests, for relative words; none where the description shows examples of its own."""
    description = str(schema.get("description") or "")
    if (
        schema.get("format")
        or schema.get("pattern")
        or schema.get("examples")
        or _SHOWS_EXAMPLES.search(description)
    ):
        return None
    words = split_identifier(name)
    last = words[-1] if words else ""
    if last in _PERIOD_WORDS or name.endswith(("周期", "期间", "时间段", "时间范围", "日期范围")):
        timely = len(words) == 1 or words[-2] in ("time", "date", "report", "stat", "statistics", "sales")
        return (
            DateForm("range", "%Y-%m-%d", "~", by_name=True)
            if timely and last not in ("window", "span")
            else None
        )
    if last in ("date", "day") or name.endswith("日期"):
        return DateForm("date", "%Y-%m-%d", by_name=True)
    return None


def _declared(format_name: Any, description: str) -> DateForm | None:
    if format_name == "date":
        return DateForm("date", "%Y-%m-%d", strict=True)
    if format_name == "date-time":
        return DateForm("datetime", "%Y-%m-%dT%H:%M:%S%z", strict=True)
    if format_name == "time":
        seconds = re.search(r"HH:mm:ss|HH:MM:SS|hh:mm:ss", description)
        return DateForm("time", "%H:%M:%S" if seconds else "%H:%M", strict=True)
    return None


@lru_cache(maxsize=4096)
def _forms_of_text(text: str, name: str) -> tuple[DateForm, ...]:
    """Forms written as templates (`YYYY-MM-DD`, `yyyy/MM/dd HH:mm`, two of them with a separator between)."""
    found = []
    for match in _TEMPLATE.finditer(text):
        written = match[0].rstrip(" ,.:-/")
        form = _glued_range(written) or _form_of_template(written)
        if form is not None:
            found.append((match.start(), match.start() + len(match[0].rstrip(" ,.:-/")), form))
    forms: list[DateForm] = []
    index = 0
    while index < len(found):
        _, end, form = found[index]
        if index + 1 < len(found):
            between = _SEPARATOR.fullmatch(text[end : found[index + 1][0]])
            if between and found[index + 1][2] == form and form.kind in ("date", "month", "datetime"):
                forms.append(DateForm("range", form.template, _spaced(between), utc=form.utc))
                index += 2
                continue
        forms.append(_as_range(form, name, text))
        index += 1
    return tuple(dict.fromkeys(forms))


def _spaced(between: re.Match[str]) -> str:
    mark = between[1].strip()
    return f" {mark} " if mark in ("to", "-") else mark


def _glued_range(template: str) -> DateForm | None:
    """`YYYY-MM-DD/YYYY-MM-DD`, which reads as one template."""
    half = (len(template) - 1) // 2
    if len(template) % 2 and template[:half] == template[half + 1 :] and template[half] in "/-, ":
        form = _form_of_template(template[:half])
        if form is not None and form.kind in ("date", "month"):
            return DateForm("range", form.template, template[half])
    return None


def _as_range(form: DateForm, name: str, text: str) -> DateForm:
    words = split_identifier(name)
    period = bool(words and words[-1] in _PERIOD_WORDS) or _PERIOD_TEXT.search(text) is not None
    if period and form.kind == "date" and not _edge_of_pair(words):
        return DateForm("range", form.template, "~")
    return form


def _edge_of_pair(words: list[str]) -> bool:
    return bool(set(words) & {"start", "end", "from", "to", "begin", "since", "until", "first", "last"})


@lru_cache(maxsize=4096)
def _form_of_template(text: str) -> DateForm | None:
    parts: list[str] = []
    seen: list[str] = []
    position = 0
    while position < len(text):
        found = _TOKEN.match(text, position)
        if found is None or found.lastgroup is None:
            return None
        kind, token = found.lastgroup, found[0]
        if kind == "minute" and token in ("MM", "mm") and "hour" not in seen and "month" not in seen:
            kind = "month"
        elif kind == "month" and "hour" in seen:
            kind = "minute"
        if kind in seen and kind != "mark":
            return None
        seen.append(kind)
        parts.append(_letters(kind, token, text, position))
        position = found.end()
    kinds = frozenset(seen) - {"mark", "t"}
    form_kind = _kind_of(kinds)
    if form_kind is None:
        return None
    template = "".join(parts).strip()
    if "half" in kinds:
        template = template.replace("%H", "%I")
    return DateForm(form_kind, template, utc="zone" in kinds and text.endswith("Z"))


def _letters(kind: str, token: str, text: str, position: int) -> str:
    if kind == "mark" or kind == "t":
        return token
    if kind == "quarter":
        return "Q%q"
    return {
        "year": "%Y", "month": "%m", "day": "%d", "hour": "%H", "minute": "%M", "second": "%S", "half": "%p",
        "zone": "Z" if token == "Z" else "%z",
    }[kind]  # fmt: skip


def _kind_of(kinds: frozenset[str]) -> FormKind | None:
    kinds = kinds - {"zone"}
    if {"year", "month", "day"} <= kinds:
        return "datetime" if "hour" in kinds else "date"
    if kinds == {"year", "month"}:
        return "month"
    if kinds == {"year", "quarter"}:
        return "quarter"
    if kinds == {"year"}:
        return "year"
    if {"hour", "minute"} <= kinds <= {"hour", "minute", "second", "half"}:
        return "time"
    return None


def _form_of_pattern(pattern: str) -> DateForm | None:
    """The form of a regular expression that is nothing but digits in the shape of a date."""
    bare = pattern.removeprefix("^").removesuffix("$").replace("[0-9]", "\\d")
    known: dict[str, DateForm] = {
        r"\d{4}-\d{2}-\d{2}": DateForm("date", "%Y-%m-%d", strict=True),
        r"\d{4}/\d{2}/\d{2}": DateForm("date", "%Y/%m/%d", strict=True),
        r"\d{4}-\d{2}": DateForm("month", "%Y-%m", strict=True),
        r"\d{8}": DateForm("date", "%Y%m%d"),
        r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z": DateForm(
            "datetime", "%Y-%m-%dT%H:%M:%SZ", strict=True, utc=True
        ),
        r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}": DateForm("datetime", "%Y-%m-%dT%H:%M:%S", strict=True),
        r"\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}": DateForm("datetime", "%Y-%m-%d %H:%M:%S", strict=True),
        r"\d{4}-Q[1-4]": DateForm("quarter", "%Y-Q%q", strict=True),
        r"\d{4}Q[1-4]": DateForm("quarter", "%YQ%q", strict=True),
        r"\d{4}-\d{2}-\d{2}~\d{4}-\d{2}-\d{2}": DateForm("range", "%Y-%m-%d", "~", strict=True),
    }
    form = known.get(bare)
    # Eight digits are a day only where the parameter says so elsewhere.
    return None if bare == r"\d{8}" else form


def _forms_of_examples(shown: str, name: str, text: str) -> list[DateForm]:
    found = [match[0] for match in _EXAMPLE.finditer(shown)]
    if not found:
        return []
    example = found[0]
    template = re.sub(r"^\d{4}", "%Y", example)
    if "Q" in example:
        return [DateForm("quarter", re.sub(r"Q\d", "Q%q", template))]
    template = re.sub(r"^(%Y[-/])\d{2}([-/])\d{2}", r"\1%m\2%d", template)
    template = re.sub(r"\d{2}:\d{2}:\d{2}", "%H:%M:%S", template)
    template = re.sub(r"\d{2}:\d{2}", "%H:%M", template)
    if len(found) > 1 and shown.find(found[1]) > 0:
        after = shown.find(example) + len(example)
        between = _SEPARATOR.match(shown, after)
        if between and shown.startswith(found[1], between.end()):
            return [DateForm("range", template, _spaced(between))]
    kind: FormKind = "datetime" if "%H" in template else "date"
    return [_as_range(DateForm(kind, template, utc=template.endswith("Z")), name, text)]


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
