"""Arguments that came as Python values, made into what JSON can carry.

Code hands over NaN, dates, sets and objects of its own; a record, a hash and a wire can hold none of them. What has an
exact form in JSON takes it without a word (tuples, members of enums, numbers of other libraries); everything else
becomes its text and is a problem of the call, because no server could have received it.
"""

from __future__ import annotations

import enum
import math
import numbers
from collections.abc import Mapping
from typing import Any

from agent_reach.records.trace import ArgumentProblem
from agent_reach.text.pointers import escape_pointer

_MAX_DEPTH = 100


def plain_value(value: Any) -> tuple[Any, tuple[ArgumentProblem, ...]]:
    """The value in plain JSON types, and one problem for everything in it that JSON cannot say."""
    problems: list[ArgumentProblem] = []
    return _plain(value, "", problems, 0), tuple(problems)


def _plain(value: Any, pointer: str, problems: list[ArgumentProblem], depth: int) -> Any:
    kind = type(value)
    if kind is str or kind is int or kind is bool or value is None:
        return value
    if isinstance(value, enum.Enum):
        return _plain(value.value, pointer, problems, depth + 1)
    if isinstance(value, str):
        return str(value)
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real):
        number = float(value)
        return number if math.isfinite(number) else _as_text(number, pointer, problems)
    if depth > _MAX_DEPTH:
        problems.append(_problem("wrong_shape", pointer, "nested more than 100 deep", None))
        return "..."
    if isinstance(value, Mapping):
        return _object(value, pointer, problems, depth)
    if isinstance(value, (list, tuple)):
        return [_plain(item, f"{pointer}/{index}", problems, depth + 1) for index, item in enumerate(value)]
    return _as_text(value, pointer, problems)


def _object(
    value: Mapping[Any, Any], pointer: str, problems: list[ArgumentProblem], depth: int
) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, item in value.items():
        name = str(key.value if isinstance(key, enum.Enum) else key)
        place = f"{pointer}/{escape_pointer(name)}"
        if not isinstance(key, (str, enum.Enum)):
            problems.append(_problem("wrong_type", place, f"the name {key!r} is no text", name))
        found[name] = _plain(item, place, problems, depth + 1)
    return found


def _as_text(value: Any, pointer: str, problems: list[ArgumentProblem]) -> str:
    try:
        text = str(value)
    except Exception as error:
        text = f"<{type(value).__name__}: {type(error).__name__}>"
    what = f"the number {text}" if isinstance(value, float) else f"{type(value).__name__} {text[:60]!r}"
    problems.append(_problem("wrong_type", pointer, f"{what} is no JSON value", text))
    return text


def _problem(code: str, pointer: str, message: str, actual: Any) -> ArgumentProblem:
    return ArgumentProblem(code=code, pointer=pointer, message=message, actual=actual)
