"""How a parameter wants its dates written: read from its format, pattern, description, note hint and examples.

A parameter that says nothing of dates has no form, and then no text of it is treated as a date (only a bare name such as
`period` or `start_date` without examples lets relative words through; see `form_by_name`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from agent_reach.records.tool import ParameterHint
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
