"""Something that should have been a list: JSON text, a single value, a wrapped list, or words with separators.

Words are split only where every part is certainly an item; `Portland, Oregon` may be one city, so it is asked about.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from agent_reach.catalog.schema import parameter_types
from agent_reach.router.normalize.enums import listed_values, match_listed
from agent_reach.router.normalize.state import NormalizeState

_SEPARATOR = re.compile(r"\s*[,，、;；\n|]\s*")
_WRAPPERS = frozenset({"items", "item", "list", "values", "value", "array", "elements"})

ReadInner = Callable[[NormalizeState, str, str, type], Any]


def to_list(
    state: NormalizeState, schema: Mapping[str, Any], value: Any, pointer: str, read_inner: ReadInner
) -> list[Any] | None:
    """The value as a list, None where it certainly is none."""
    if isinstance(value, list):
        return value
    if isinstance(value, str):
        inner = read_inner(state, value, pointer, list)
        if inner is not None:
            return list(inner)
        if any(problem.pointer == pointer for problem in state.problems):
            return None
        return _from_words(state, schema, value, pointer)
    if isinstance(value, Mapping) and len(value) == 1:
        key, inner = next(iter(value.items()))
        name = pointer.rsplit("/", 1)[-1]
        if (key in _WRAPPERS or key == name) and isinstance(inner, list) and state.on("unwrap"):
            state.change("unwrap", pointer, value, inner)
            return inner
        wrapped = key in _WRAPPERS and not isinstance(inner, list) and state.on("unwrap")
        if (
            wrapped
            and inner is not None
            and state.fits(schema, [inner])
            and not state.fits(schema, [dict(value)])
        ):
            state.change("unwrap", pointer, value, [inner])
            return [inner]
    if value is None or not state.on("list_of_one"):
        return None
    item = schema.get("items")
    types = parameter_types(item, state.root) if item is not None else frozenset()
    if isinstance(value, Mapping) and "object" not in types:
        return None
    state.change("list_of_one", pointer, value, [value])
    return [value]


def _from_words(
    state: NormalizeState, schema: Mapping[str, Any], value: str, pointer: str
) -> list[Any] | None:
    item = state.resolve(schema.get("items"))
    types = parameter_types(item, state.root) if item else frozenset()
    if types and not types & {"string", "integer", "number"}:
        return None
    if value.strip().startswith(("{", "[")):
        return None
    parts = [part for part in _SEPARATOR.split(value.strip()) if part]
    if len(parts) > 1:
        if all(_certainly_item(state, item, types, part, pointer, value) for part in parts) and state.on(
            "list_text"
        ):
            state.change("list_text", pointer, value, parts)
            return list(parts)
        state.problem(
            "ambiguous",
            pointer,
            f"{value!r} may be one item or {len(parts)}: send a list",
            expected="array",
            actual=value,
        )
        return None
    if not parts or not state.on("list_of_one"):
        return None
    state.change("list_of_one", pointer, value, [value])
    return [value]


def _certainly_item(
    state: NormalizeState, item: Mapping[str, Any], types: frozenset[str], part: str, pointer: str, whole: str
) -> bool:
    listed = listed_values(item)
    if listed:
        hits, _ = match_listed(part, listed, item, state.hint(pointer))
        return len(hits) == 1
    if types and types <= {"integer", "number"}:
        return re.fullmatch(r"[+-]?\d+(?:\.\d+)?", part) is not None
    if "pattern" in item or "format" in item:
        return state.fits(item, part)
    # 、 and semicolons and lines only ever separate items; a comma may belong to one of them (`Portland, Oregon`), unless
    # no blank stands anywhere.
    if re.search(r"[、;；\n|]", whole):
        return re.search(r"[,，]", whole) is None
    return re.search(r"[\s，]", whole.strip()) is None
