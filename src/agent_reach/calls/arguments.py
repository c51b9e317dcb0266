"""The text of one call's arguments, read exactly.

Whole numbers keep every digit, escapes mean what JSON says, and a text that was cut is an error of its own. The few
repairs (code fences, Python literals, doubly encoded objects, trailing commas, bare keys) change notation and never
content; each is named. It does not know the tool's schema.
"""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from agent_reach.calls.json_text import (
    JSON_DECODER,
    NotFiniteError,
    bad_escape,
    finite_number,
    inside_fence,
    is_cut,
    refuse_constant,
    stopped_at_limit,
    surrogate_pointer,
)
from agent_reach.calls.plain import plain_value
from agent_reach.calls.records import ReadArguments
from agent_reach.records.trace import ArgumentProblem

_LITERAL_HINT = re.compile(r"'|\bTrue\b|\bFalse\b|\bNone\b")
_MAX_ENCODINGS = 3


def read_arguments(raw: Any, *, finish_reason: str = "") -> ReadArguments:
    """Arguments as emitted: a mapping, a text or nothing.

    Nothing, blank text and null are `{}`. In a mapping, what JSON cannot carry (NaN, a date) becomes its text, with a
    problem. A text cut by the output limit (an open string or bracket, or a finish reason
    that says so) is a `truncated` problem; a bad escape is `unparsable` with its position; both leave `values` None.
    """
    if stopped_at_limit(finish_reason) and isinstance(raw, str) and raw.strip():
        return _refused(
            "truncated", "the output limit ended the message while this call was written; send less"
        )
    if raw is None:
        return ReadArguments(values={})
    if isinstance(raw, Mapping):
        values, problems = plain_value(raw)
        read = _checked(values)
        return replace(read, problems=(*read.problems, *problems)) if problems else read
    if not isinstance(raw, str):
        kind = type(raw).__name__
        return _refused("wrong_shape", f"arguments are {kind}, not an object", actual=plain_value(raw)[0])
    return _read_text(raw)


def _read_text(raw: str) -> ReadArguments:
    text = raw.strip().lstrip("\ufeff").strip()
    repairs: list[str] = []
    inside = inside_fence(text)
    if inside is not None:
        text = inside
        repairs.append("code_fence")
    for _ in range(_MAX_ENCODINGS):
        if text in ("", "null", "None", "undefined"):
            return ReadArguments(values={}, repairs=tuple(repairs))
        value, problem, more, rest = _decode(text)
        if problem is not None:
            return ReadArguments(values=None, problems=(problem,))
        repairs.extend(more)
        if isinstance(value, str):
            inner = value.strip()
            if not inner.startswith(("{", '"')) and inner not in ("", "null"):
                break
            text = inner
            repairs.append("double_encoded")
            continue
        if value is None:
            return ReadArguments(values={}, repairs=tuple(repairs))
        if isinstance(value, dict):
            return _checked(value, tuple(repairs), rest)
        break
    return _refused("wrong_shape", f"arguments are {_kind(text)}, not an object", actual=raw[:200])


def _decode(text: str) -> tuple[Any, ArgumentProblem | None, list[str], tuple[str, ...]]:
    """(value, problem, repairs, further objects) of a text that should be one JSON value."""
    told = bad_escape(text)
    escape = _problem("unparsable", told) if told else None
    try:
        value, end = JSON_DECODER.raw_decode(text)
    except (ValueError, RecursionError) as error:
        if escape is not None:
            return None, escape, [], ()
        return _mend(text, error)
    if escape is not None:
        return None, escape, [], ()
    rest = text[end:].strip()
    if not rest:
        return value, None, [], ()
    further = top_level_objects(rest)
    if further is not None:
        return value, None, [], further
    if rest.startswith("{"):
        return None, _problem("truncated", "a second object stands open behind the first one"), [], ()
    if set(rest) <= set("}]; ,\n`"):
        return value, None, ["trailing_characters"], ()
    return None, _problem("unparsable", f"text behind the object: {rest[:60]!r}"), [], ()


def _mend(text: str, error: Exception) -> tuple[Any, ArgumentProblem | None, list[str], tuple[str, ...]]:
    if isinstance(error, NotFiniteError):
        return None, _problem("unparsable", str(error)), [], ()
    if is_cut(text):
        return (
            None,
            _problem("truncated", "the text ends inside a string or bracket; send less"),
            [],
            (),
        )
    try:
        value = json.loads(text, strict=False, parse_constant=refuse_constant, parse_float=finite_number)
        return value, None, ["raw_control_characters"], ()
    except (ValueError, RecursionError):
        pass
    if _LITERAL_HINT.search(text):
        literal = _python_literal(text)
        if literal is not None:
            return literal, None, ["python_literal"], ()
    mended = _repaired(text)
    if mended is not None:
        return mended, None, ["loose_json"], ()
    detail = error.msg if isinstance(error, json.JSONDecodeError) else str(error) or type(error).__name__
    place = f" at character {error.pos}" if isinstance(error, json.JSONDecodeError) else ""
    return None, _problem("unparsable", f"not JSON{place}: {detail}"), [], ()


def _python_literal(text: str) -> Any:
    """A dict written in Python; None when it is none or holds what JSON cannot say."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            return _plain(ast.literal_eval(text))
    except (
        ValueError,
        SyntaxError,
        SyntaxWarning,
        DeprecationWarning,
        TypeError,
        MemoryError,
        RecursionError,
    ):
        return None


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        if not all(isinstance(key, str) for key in value):
            raise TypeError("keys must be text")
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    raise TypeError(type(value).__name__)


def _repaired(text: str) -> Any:
    """json_repair's reading of a closed text, accepted only when it invents no string and drops no word."""
    if not text.startswith("{") or "\\" in text:
        return None
    from json_repair import repair_json

    try:
        value = repair_json(text, return_objects=True, skip_json_loads=True)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or not value:
        return None
    written = _without_comments(text)
    if any(json.dumps(value).count(bracket) != written.count(bracket) for bracket in "{["):
        return None
    if not all(f'"{string}"' in text or f"'{string}'" in text for string in _strings(value)):
        return None
    squeeze = re.compile(r"[\W_]+", re.UNICODE)
    kept = squeeze.sub("", json.dumps(value, ensure_ascii=False)).casefold()
    return value if kept == squeeze.sub("", written).casefold() else None


def _strings(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [string for item in inner for string in _strings(item)]


def _without_comments(text: str) -> str:
    return re.sub(r"(?m)(?<![:\w])//[^\n\"]*$|/\*.*?\*/", "", text)


def _checked(
    value: dict[str, Any], repairs: tuple[str, ...] = (), rest: tuple[str, ...] = ()
) -> ReadArguments:
    pointer = surrogate_pointer(value)
    if pointer is None:
        return ReadArguments(values=value, repairs=repairs, rest=rest)
    return _refused("unparsable", "half of a surrogate pair; send the character itself", pointer=pointer)


def top_level_objects(text: str) -> tuple[str, ...] | None:
    """The texts of several JSON objects written one behind the other; None if anything else stands between."""
    found: list[str] = []
    position = 0
    while position < len(text):
        if text[position] in " \t\r\n,;":
            position += 1
            continue
        if text[position] != "{":
            return None
        try:
            _, end = JSON_DECODER.raw_decode(text, position)
        except (ValueError, RecursionError):
            return None
        found.append(text[position:end])
        position = end
    return tuple(found)


def _kind(text: str) -> str:
    start = text[:1]
    if start == "[":
        return "an array"
    if start == '"':
        return "a text"
    return "a number" if start.isdigit() or start == "-" else "a bare value"


def _problem(code: str, message: str, *, pointer: str = "", actual: Any = None) -> ArgumentProblem:
    return ArgumentProblem(code=code, message=message, pointer=pointer, actual=actual)


def _refused(code: str, message: str, *, pointer: str = "", actual: Any = None) -> ReadArguments:
    return ReadArguments(values=None, problems=(_problem(code, message, pointer=pointer, actual=actual),))
