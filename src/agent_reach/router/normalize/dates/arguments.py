"""Dates in arguments: finds the parameters that state how they want dates, and writes what was said in that form.

A text that is already in a stated form, or that is no date, stays as it is. What cannot be written exactly is asked about
where the schema itself demands the form, and only noted elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import time
from typing import Any

from agent_reach.router.normalize.dates.calendar import Clock, DateSpan
from agent_reach.router.normalize.dates.form import DateForm, date_forms, form_by_name
from agent_reach.router.normalize.dates.ranges import DateReading, read_date
from agent_reach.router.normalize.dates.times import time_at
from agent_reach.router.normalize.dates.writing import conforms, write, write_moment
from agent_reach.router.normalize.folding import fold_for_dates
from agent_reach.router.normalize.state import NormalizeState, join_pointer
from agent_reach.text.tokens import split_identifier

_STARTS = {"start": "end", "from": "to", "begin": "end", "since": "until", "first": "last", "after": "before",
           "beginning": "ending", "checkin": "checkout", "开始": "结束", "起始": "截止", "departure": "return"}  # fmt: skip
_ENDS = {end: start for start, end in _STARTS.items()} | {"end": "start"}
_MAX_DEPTH = 12


def write_dates(
    state: NormalizeState,
    schema: Mapping[str, Any],
    arguments: dict[str, Any],
    pointer: str = "",
    depth: int = 0,
) -> dict[str, Any]:
    """The arguments with every stated date in its form; the same object where nothing changes."""
    properties = schema.get("properties")
    if not isinstance(properties, Mapping) or depth > _MAX_DEPTH or not state.on("date"):
        return arguments
    made = dict(arguments)
    for name, value in arguments.items():
        part = properties.get(name)
        if part is None:
            continue
        made[name] = _member(state, part, name, value, join_pointer(pointer, name), depth)
    _fill_pairs(state, properties, arguments, made, pointer)
    made = _split_undeclared(state, properties, made, pointer)
    return made if made != arguments or made.keys() != arguments.keys() else arguments


def _member(state: NormalizeState, part: Any, name: str, value: Any, place: str, depth: int) -> Any:
    if isinstance(value, str):
        return _text(state, string_branch(state, part), name, value, place)
    schema = state.resolve(part)
    if isinstance(value, Mapping):
        inner = dict(value)
        changed = write_dates(state, schema, inner, place, depth + 1)
        return value if changed is inner else changed
    if isinstance(value, list):
        item = schema.get("items")
        if not isinstance(item, Mapping):
            return value
        items = [
            _member(state, item, name, each, join_pointer(place, i), depth + 1)
            for i, each in enumerate(value)
        ]
        return value if items == value else items
    return value


def string_branch(state: NormalizeState, part: Any) -> Mapping[str, Any]:
    """The schema that speaks of the text: a nullable or alternative one is looked into."""
    schema = state.resolve(part)
    for key in ("anyOf", "oneOf"):
        for branch in schema.get(key) or ():
            inner = state.resolve(branch)
            if inner.get("type") == "string":
                return {**{k: v for k, v in schema.items() if k != key}, **inner}
    return schema


def forms_of(state: NormalizeState, schema: Mapping[str, Any], name: str, place: str) -> tuple[DateForm, ...]:
    """The forms that a parameter states, or its name where rules let that count; none for listed values."""
    if (
        schema.get("enum")
        or "const" in schema
        or schema.get("type") not in ("string", ["string", "null"], None)
    ):
        return ()
    forms = date_forms(name, schema, state.hint(place))
    if not forms and schema.get("type") is not None and state.on(_name_rule(schema)):
        named = form_by_name(name, schema)
        forms = (named,) if named else ()
    return forms


def _name_rule(schema: Mapping[str, Any]) -> str:
    return "date_by_name" if str(schema.get("description") or "").strip() else "date_undescribed"


def _text(state: NormalizeState, schema: Mapping[str, Any], name: str, value: str, place: str) -> str:
    forms = forms_of(state, schema, name, place)
    if not forms or not value.strip() or any(conforms(form, value) for form in forms):
        return value
    reading = _read(value, forms, state.clock)
    if reading is None:
        return _time_only(state, schema, forms, value, place)
    strict = any(form.strict for form in forms) or not state.fits(schema, value)
    if not _may_be_written(state, reading, forms, value, place, strict):
        return value
    for form in forms:
        written = _written(state, form, reading.span, name)
        if written is None or not state.fits(schema, written):
            continue
        if written == value:
            return value
        rule = _name_rule(schema) if form.by_name else "date_range" if form.kind == "range" else "date"
        if not state.on(rule):
            return value
        shown = value[reading.start : reading.end]
        state.change(rule, place, value, written, span=(reading.start, reading.end), text=shown)
        return written
    _cannot_write(state, reading, forms[0], value, place, strict)
    return value


def _time_only(
    state: NormalizeState, schema: Mapping[str, Any], forms: tuple[DateForm, ...], value: str, place: str
) -> str:
    """A time of day alone, for a parameter that states how it wants one."""
    form = next((form for form in forms if form.kind == "time"), None)
    folded = fold_for_dates(value)
    found = time_at(folded.text, 0) if form is not None and folded.text else None
    if form is None or (not form.strict and re.fullmatch(r"[\d: ]+", folded.text)):
        # Another way of writing digits is no damage: 14:47 stays 14:47.
        return value
    if found is None or found.end != len(folded.text) or found.time is None:
        return value
    written = found.time.strftime(form.template)
    if written == value or not state.fits(schema, written):
        return value
    state.change("date", place, value, written, span=(0, len(value)), text=value)
    return written


def _read(value: str, forms: tuple[DateForm, ...], clock: Clock) -> DateReading | None:
    """The date of a text; a form that begins with the day or month states the order of slashed dates."""
    first = forms[0].template[:2]
    if first == "%d" and clock.date_order is None:
        clock = replace(clock, date_order="dmy")
    elif first == "%m" and clock.date_order is None:
        clock = replace(clock, date_order="mdy")
    return read_date(value, clock)


def _may_be_written(
    state: NormalizeState,
    reading: DateReading,
    forms: tuple[DateForm, ...],
    value: str,
    place: str,
    strict: bool,
) -> bool:
    if all(form.by_name for form in forms) and not (reading.whole and reading.span.relative):
        return False
    if reading.ambiguous:
        if strict:
            state.problem(
                "ambiguous",
                place,
                f"{value!r} may be day or month first: write {_shown(forms[0])}",
                expected=_shown(forms[0]),
                actual=value,
            )
        else:
            _note(state, place, value, forms[0])
        return False
    if reading.span.relative and state.clock.now is None:
        if strict:
            state.problem(
                "ambiguous",
                place,
                f"{value!r} depends on a stated now, and none was given: write {_shown(forms[0])}",
                expected=_shown(forms[0]),
                actual=value,
            )
        return False
    return True


def _cannot_write(
    state: NormalizeState, reading: DateReading, form: DateForm, value: str, place: str, strict: bool
) -> None:
    span = reading.span
    if strict:
        lacking = (
            "no time of day is stated"
            if form.kind == "datetime" and span.is_single_day
            else (f"it means {span.first.isoformat()} to {span.last.isoformat()}")
        )
        state.problem(
            "ambiguous",
            place,
            f"{value!r} cannot be written as {_shown(form)}: {lacking}",
            expected=_shown(form),
            actual=value,
        )
    elif not form.by_name:
        _note(state, place, value, form)


def _note(state: NormalizeState, place: str, value: str, form: DateForm) -> None:
    state.finding(
        "date_left_alone",
        place,
        f"{value!r} was left as it is: it cannot be written as {_shown(form)} with certainty",
        f"{value!r} 保持原样：无法确定地写成 {_shown(form)}",
    )


def _shown(form: DateForm) -> str:
    letters = {
        "%Y": "YYYY",
        "%m": "MM",
        "%d": "DD",
        "%H": "HH",
        "%I": "hh",
        "%M": "MM",
        "%S": "SS",
        "%p": "AM/PM",
        "%q": "n",
        "%z": "±HH:MM",
    }
    text = form.template
    for letter, word in letters.items():
        text = text.replace(letter, word)
    return f"{text}{form.separator}{text}" if form.kind == "range" else text


def _written(state: NormalizeState, form: DateForm, span: DateSpan, name: str) -> str | None:
    written = write(form, span, state.clock)
    if written is not None:
        return written
    side = side_of(name)
    if side is None or not state.on("date_pair"):
        return None
    return write_edge(state, form, span, side)


def write_edge(state: NormalizeState, form: DateForm, span: DateSpan, side: str) -> str | None:
    """One end of a period: its first or last day, or the first or last moment of it."""
    day = span.first if side == "start" else span.last
    at = span.time if side == "start" else span.last_time
    if form.kind == "date":
        return write(form, replace(span, first=day, last=day, time=None, last_time=None), state.clock)
    if form.kind == "datetime":
        moment = at or (time(0, 0, 0) if side == "start" else time(23, 59, 59))
        return write_moment(form, day, moment, span, state.clock)
    if form.kind == "month":
        return day.strftime(form.template)
    return None


def side_of(name: str) -> str | None:
    """`start` or `end` for a parameter named as one end of a pair, None for any other."""
    words = split_identifier(name)
    joined = "".join(words)
    if set(words) & set(_STARTS) or any(name.startswith(word) for word in _STARTS if not word.isascii()):
        return "start"
    if set(words) & set(_ENDS) or any(name.startswith(word) for word in _ENDS if not word.isascii()):
        return "end"
    if joined.startswith(("start", "begin", "checkin")):
        return "start"
    return "end" if joined.startswith(("end", "checkout")) else None


def partner_of(name: str, properties: Mapping[str, Any]) -> str | None:
    """The end parameter that goes with a start parameter (`start_date` -> `end_date`), None where there is none."""
    words = split_identifier(name)
    for other in properties:
        others = split_identifier(other)
        if len(others) == len(words) and other != name:
            differing = [(a, b) for a, b in zip(words, others, strict=True) if a != b]
            if len(differing) == 1 and _STARTS.get(differing[0][0]) == differing[0][1]:
                return other
    for start, end in _STARTS.items():
        if not start.isascii() and name.startswith(start) and name.replace(start, end, 1) in properties:
            return name.replace(start, end, 1)
    return None


def _fill_pairs(
    state: NormalizeState,
    properties: Mapping[str, Any],
    before: Mapping[str, Any],
    made: dict[str, Any],
    pointer: str,
) -> None:
    """A period given to the start alone also says the end."""
    if not state.on("date_pair"):
        return
    for name, value in before.items():
        partner = partner_of(name, properties) if isinstance(value, str) and made[name] != value else None
        if partner is None or partner in made:
            continue
        place = join_pointer(pointer, partner)
        schema = string_branch(state, properties[partner])
        reading = read_date(value, state.clock)
        if reading is None or reading.span.is_single_day:
            continue
        for form in forms_of(state, schema, partner, place):
            written = write_edge(state, form, reading.span, "end")
            if written is not None and state.fits(schema, written):
                made[partner] = written
                source = f"argument {join_pointer(pointer, name)}"
                state.change(
                    "date_pair",
                    place,
                    None,
                    written,
                    source=source,
                    span=(reading.start, reading.end),
                    text=value,
                )
                break


def _split_undeclared(
    state: NormalizeState, properties: Mapping[str, Any], made: dict[str, Any], pointer: str
) -> dict[str, Any]:
    """`period: last month` for a tool with one unused pair of start and end."""
    unknown = [key for key in made if key not in properties and isinstance(made[key], str)]
    if len(unknown) != 1 or not state.on("date_pair"):
        return made
    key = unknown[0]
    words = split_identifier(key)
    if not words or not set(words) & {
        "period",
        "range",
        "date",
        "dates",
        "time",
        "timeframe",
        "周期",
        "时间",
        "日期",
    }:
        return made
    pairs = [(name, partner) for name in properties if (partner := partner_of(name, properties)) is not None]
    free = [pair for pair in pairs if pair[0] not in made and pair[1] not in made]
    reading = read_date(made[key], state.clock)
    if (
        len(free) != 1
        or reading is None
        or reading.ambiguous
        or (reading.span.relative and state.clock.now is None)
    ):
        return made
    written: dict[str, str] = {}
    for name, side in zip(free[0], ("start", "end"), strict=True):
        schema = string_branch(state, properties[name])
        for form in forms_of(state, schema, name, join_pointer(pointer, name)):
            text = write_edge(state, form, reading.span, side)
            if text is not None and name not in written:
                written[name] = text
    if len(written) != 2:
        return made
    for name, text in written.items():
        state.change(
            "date_pair",
            join_pointer(pointer, name),
            None,
            text,
            source=f"argument {join_pointer(pointer, key)}",
            span=(reading.start, reading.end),
            text=made[key],
        )
    return {**{name: value for name, value in made.items() if name != key}, **written}
