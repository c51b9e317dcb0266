"""The form of matchers (`{$one_of: [...]}` and its kin), and what a matcher can be held against a schema with.

What a matcher means for a call is decided where calls are scored; here only whether it is well formed, and whether any
value that a schema allows could satisfy it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from agent_reach.evals.suite.checks.base import escape, shown

JSON_TYPES = ("string", "number", "integer", "boolean", "array", "object", "null")
_STEP_REFERENCE = re.compile(r"[^.\s\[]+([.\[].+)?")


def is_matcher(value: Any) -> bool:
    """A mapping with a key that begins with `$`."""
    return isinstance(value, Mapping) and any(isinstance(key, str) and key.startswith("$") for key in value)


def matchers_in(value: Any, pointer: str = "") -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every matcher inside a golden value with its pointer, outer ones first."""
    if isinstance(value, Mapping):
        if is_matcher(value):
            yield pointer, value
            inner = value.get("$one_of", value.get("$unordered"))
            if isinstance(inner, (list, tuple)):
                for index, item in enumerate(inner):
                    yield from matchers_in(
                        item, f"{pointer}/{'$one_of' if '$one_of' in value else '$unordered'}/{index}"
                    )
            return
        for key, item in value.items():
            yield from matchers_in(item, f"{pointer}/{escape(key)}")
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            yield from matchers_in(item, f"{pointer}/{index}")


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _pattern_problem(value: Any) -> str:
    if not isinstance(value, str):
        return "must be a regular expression"
    try:
        re.compile(value)
    except re.error as error:
        return f"is no regular expression: {error}"
    return ""


def _date_problem(value: Any) -> str:
    from datetime import date, datetime

    if isinstance(value, str):
        for read in (date.fromisoformat, datetime.fromisoformat):
            try:
                read(value)
            except ValueError:
                continue
            return ""
    return f"must be a date such as 2024-03-01, not {shown(value)}"


def _types_problem(value: Any) -> str:
    names = value if isinstance(value, (list, tuple)) else [value]
    if names and all(isinstance(name, str) and name in JSON_TYPES for name in names):
        return ""
    return f"must be one of {', '.join(JSON_TYPES)}, not {shown(value)}"


_CHECKS: dict[str, Callable[[Any], str]] = {
    "$one_of": lambda value: (
        "" if isinstance(value, (list, tuple)) and value else "must be a list of at least one value"
    ),
    "$pattern": _pattern_problem,
    "$approx": lambda value: "" if _is_number(value) else f"must be a number, not {shown(value)}",
    "$tol": lambda value: (
        "" if _is_number(value) and value >= 0 else f"must be a number of 0 or more, not {shown(value)}"
    ),
    "$type": _types_problem,
    "$any": lambda value: "" if value is True else f"must be true, not {shown(value)}",
    "$unordered": lambda value: (
        "" if isinstance(value, (list, tuple)) else f"must be a list, not {shown(value)}"
    ),
    "$date": _date_problem,
    "$from": lambda value: (
        ""
        if isinstance(value, str) and _STEP_REFERENCE.fullmatch(value)
        else f"must be 'step_id.path', not {shown(value)}"
    ),
    "$default": lambda value: "" if value is True else f"must be true, not {shown(value)}",
}
MATCHER_NAMES = tuple(name for name in _CHECKS if name != "$tol")


def matcher_problem(matcher: Mapping[str, Any]) -> str:
    """What is wrong with the form of a matcher; empty when nothing is."""
    from agent_reach.text.tokens import nearest_names

    unknown = [key for key in matcher if key not in _CHECKS]
    if unknown:
        near = nearest_names(str(unknown[0]), list(_CHECKS), limit=1)
        hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(MATCHER_NAMES)}"
        return f"there is no matcher {unknown[0]!r}: {hint}"
    names = [key for key in matcher if key != "$tol"]
    if len(names) != 1:
        return f"must have exactly one of {', '.join(MATCHER_NAMES)}, not {', '.join(map(str, matcher))}"
    if "$tol" in matcher and names != ["$approx"]:
        return "'$tol' goes with '$approx' only"
    for key, value in matcher.items():
        problem = _CHECKS[key](value)
        if problem:
            return f"{key!r} {problem}"
    return ""


def samples(value: Any, limit: int = 64) -> list[Any] | None:
    """Values that the golden value stands for, to hold against a schema: a literal is itself, `$one_of` its items,
    `$approx` its number, `$date` its text; None where a matcher inside leaves the value open."""
    if isinstance(value, Mapping):
        if not is_matcher(value):
            return _combined({key: samples(item, limit) for key, item in value.items()}, limit)
        if "$one_of" in value:
            found: list[Any] = []
            for item in value["$one_of"]:
                inner = samples(item, limit)
                if inner is None:
                    return None
                found += inner
            return found[:limit]
        if "$approx" in value or "$date" in value:
            return [value["$approx"] if "$approx" in value else value["$date"]]
        return samples(value["$unordered"], limit) if "$unordered" in value else None
    if isinstance(value, (list, tuple)):
        combined = _combined({index: samples(item, limit) for index, item in enumerate(value)}, limit)
        return None if combined is None else [list(item.values()) for item in combined]
    return [value]


def _combined(parts: Mapping[Any, list[Any] | None], limit: int) -> list[dict[Any, Any]] | None:
    """One sample per value of each part in turn (not all combinations: each value turns up once)."""
    if any(part is None for part in parts.values()):
        return None
    filled = {key: part for key, part in parts.items() if part}
    count = max((len(part) for part in filled.values()), default=1)
    return [
        {key: part[min(index, len(part) - 1)] for key, part in filled.items()}
        for index in range(min(count, limit))
    ]
