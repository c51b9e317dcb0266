"""Toward the declared type, and only there: a value that fits its schema is never touched.

It walks the schema beside the value. What it cannot turn with certainty it leaves for the check that follows.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from agent_reach.catalog.schema import is_nullable, parameter_types
from agent_reach.router.normalize.dates.calendar_numbers import calendar_number
from agent_reach.router.normalize.enums import listed_values, match_listed
from agent_reach.router.normalize.identifiers import repair_text
from agent_reach.router.normalize.names import repair_names
from agent_reach.router.normalize.numbers import read_number
from agent_reach.router.normalize.parse import read_text
from agent_reach.router.normalize.relaxed_json import ParseTrouble
from agent_reach.router.normalize.sequences import to_list
from agent_reach.router.normalize.state import DROPPED, NormalizeState, join_pointer

NULL_WORDS = frozenset({"none", "null", "undefined", "nil", "n/a"})
_TRUE, _FALSE = frozenset({"yes", "y", "1", "on", "是", "对"}), frozenset({"no", "n", "0", "off", "否", "不"})


def coerce(state: NormalizeState, schema: Any, value: Any, pointer: str, *, optional: bool) -> Any:
    """The value led toward its schema; `DROPPED` where an optional one is to be left out."""
    resolved = state.resolve(schema)
    if not resolved:
        return value
    if state.fits(resolved, value):
        return _whole(state, resolved, value, pointer)
    blank = _blank(state, resolved, value, pointer, optional)
    if blank is not value:
        return blank
    listed = listed_values(resolved)
    if listed and not isinstance(value, (dict, list)):
        return _listed(state, resolved, listed, value, pointer)
    branches = _branches(resolved)
    if branches:
        return _choose(state, resolved, branches, value, pointer)
    types = parameter_types(resolved, state.root)
    for kind in _order(types, value):
        changed = _TOWARD[kind](state, resolved, value, pointer)
        if changed is not value:
            return changed
    return value


def _whole(state: NormalizeState, schema: Mapping[str, Any], value: Any, pointer: str) -> Any:
    if (
        not isinstance(value, float)
        or not value.is_integer()
        or abs(value) >= 2**53
        or not state.on("whole_number")
    ):
        return value
    types = parameter_types(schema, state.root)
    if "integer" in types and "number" not in types:
        state.change("whole_number", pointer, value, int(value))
        return int(value)
    return value


def whole_numbers(state: NormalizeState, schema: Any, value: Any, pointer: str) -> Any:
    """A legal value with 12.0 sent as 12 wherever an integer is declared; the same object where nothing changes."""
    if isinstance(value, float):
        resolved = state.resolve(schema)
        return _whole(state, resolved, value, pointer) if resolved else value
    if not isinstance(value, (dict, list)) or not state.on("whole_number"):
        return value
    resolved = state.resolve(schema)
    if isinstance(value, list):
        part = resolved.get("items")
        items = [whole_numbers(state, part, item, join_pointer(pointer, i)) for i, item in enumerate(value)]
        return items if any(new is not old for new, old in zip(items, value, strict=True)) else value
    properties = resolved.get("properties")
    properties = properties if isinstance(properties, Mapping) else {}
    made = {
        key: whole_numbers(state, properties.get(key), item, join_pointer(pointer, key))
        for key, item in value.items()
    }
    return made if any(made[key] is not item for key, item in value.items()) else value


def _blank(state: NormalizeState, schema: Mapping[str, Any], value: Any, pointer: str, optional: bool) -> Any:
    """null, null in words and empty texts that cannot be valid."""
    if value is None:
        if optional and state.on("null_dropped"):
            state.change("null_dropped", pointer, None, DROPPED)
            return DROPPED
        return value
    if not isinstance(value, str):
        return value
    if not value.strip():
        if is_nullable(schema, state.root) and not optional and state.on("blank_text"):
            state.change("blank_text", pointer, value, None)
            return None
        if optional and state.on("blank_text"):
            state.change("blank_text", pointer, value, DROPPED)
            return DROPPED
        return value
    if value.strip().casefold() in NULL_WORDS and state.on("null_text"):
        if is_nullable(schema, state.root) and state.fits(schema, None):
            state.change("null_text", pointer, value, None)
            return None
        if optional:
            state.change("null_text", pointer, value, DROPPED)
            return DROPPED
    return value


def _listed(
    state: NormalizeState, schema: Mapping[str, Any], listed: tuple[Any, ...], value: Any, pointer: str
) -> Any:
    hits, rule = match_listed(value, listed, schema, state.hint(pointer))
    fitting = [hit for hit in hits if state.fits(schema, hit)]
    if len(fitting) == 1 and state.on(rule):
        state.change(rule, pointer, value, fitting[0])
        return fitting[0]
    if len(fitting) > 1:
        state.problem(
            "ambiguous",
            pointer,
            f"{value!r} may be any of {', '.join(map(repr, fitting))}",
            expected=fitting,
            actual=value,
        )
        return value
    types = parameter_types(schema, state.root)
    if "boolean" in types and isinstance(value, str):
        return _boolean(state, schema, value, pointer)
    return value


def _branches(schema: Mapping[str, Any]) -> list[Any]:
    for key in ("anyOf", "oneOf"):
        branches = schema.get(key)
        if isinstance(branches, list) and branches:
            return branches
    return []


def _choose(
    state: NormalizeState,
    schema: Mapping[str, Any],
    branches: list[Any],
    value: Any,
    pointer: str,
) -> Any:
    """The one branch that the value can be led to; two branches with different results are ambiguous."""
    results: list[tuple[Any, NormalizeState]] = []
    for branch in branches:
        trial = NormalizeState(state.tool, state.options, state.clock, state.conversation)
        changed = coerce(trial, branch, value, pointer, optional=False)
        if state.fits(schema, changed) and not any(_same(changed, other) for other, _ in results):
            results.append((changed, trial))
    if len(results) == 1:
        changed, trial = results[0]
        state.changes.extend(trial.changes)
        state.findings.extend(trial.findings)
        return changed
    if len(results) > 1:
        shown = ", ".join(repr(result) for result, _ in results)
        state.problem("ambiguous", pointer, f"{value!r} may become any of {shown}", actual=value)
    return value


def _same(left: Any, right: Any) -> bool:
    return type(left) is type(right) and bool(left == right)


def _order(types: frozenset[str], value: Any) -> list[str]:
    """Structured readings of a text first, plain text last."""
    order = ["object", "array", "boolean", "integer", "number", "string"]
    if not isinstance(value, str):
        order = ["integer", "number", "boolean", "object", "array", "string"]
    return [kind for kind in order if kind in types]


def _object(state: NormalizeState, schema: Mapping[str, Any], value: Any, pointer: str) -> Any:
    original = value
    if isinstance(value, str):
        value = _read_inner(state, value, pointer, dict)
        if value is None:
            return original
    if (
        isinstance(value, list)
        and len(value) == 1
        and isinstance(value[0], Mapping)
        and state.on("single_item_list")
    ):
        state.change("single_item_list", pointer, value, value[0])
        value = value[0]
    if not isinstance(value, Mapping):
        return original
    return coerce_members(state, schema, dict(value), pointer)


def coerce_members(
    state: NormalizeState, schema: Mapping[str, Any], value: dict[str, Any], pointer: str
) -> dict[str, Any]:
    """Names and values of an object's members."""
    value = repair_names(state, schema, value, pointer)
    properties = schema.get("properties")
    properties = properties if isinstance(properties, Mapping) else {}
    further = schema.get("additionalProperties")
    required = schema.get("required")
    required = set(required) if isinstance(required, list) else set()
    made: dict[str, Any] = {}
    padded = False
    for key, item in value.items():
        part = properties.get(key, further if isinstance(further, Mapping) else None)
        place = join_pointer(pointer, key)
        changed = coerce(state, part, item, place, optional=key not in required) if part is not None else item
        if changed is DROPPED:
            padded = padded or item is None or not str(item).strip()
        else:
            made[key] = changed
    if padded and state.on("blank_text_lenient"):
        for key in [
            key for key, item in made.items() if item == "" and key in properties and key not in required
        ]:
            state.change("blank_text_lenient", join_pointer(pointer, key), "", DROPPED)
            del made[key]
    return made


def _array(state: NormalizeState, schema: Mapping[str, Any], value: Any, pointer: str) -> Any:
    items = to_list(state, schema, value, pointer, _read_inner)
    if items is None:
        return value
    prefix = schema.get("prefixItems")
    rest = schema.get("items")
    made = []
    for index, item in enumerate(items):
        part = prefix[index] if isinstance(prefix, list) and index < len(prefix) else rest
        place = join_pointer(pointer, index)
        made.append(item if part is None else coerce(state, part, item, place, optional=False))
    return made if made != value or type(value) is not list else value


def _read_inner(state: NormalizeState, text: str, pointer: str, wanted: type) -> Any:
    """The object or list that a text holds, None where it holds none."""
    opening = "{" if wanted is dict else "["
    stripped = text.strip()
    if not state.on("json_text") or not stripped.startswith((opening, "```", '"')):
        return None
    mark = len(state.changes)
    try:
        value = read_text(state, text, pointer)
        if isinstance(value, str):
            value = read_text(state, value, pointer)
    except ParseTrouble as trouble:
        state.problem(trouble.code, pointer, trouble.message, actual=text)
        return None
    if not isinstance(value, wanted):
        del state.changes[mark:]
        return None
    state.change("json_text", pointer, text, value)
    return value


def _scalar_of(state: NormalizeState, value: Any, pointer: str) -> Any:
    """The item of a list of one, for a parameter that takes no list."""
    if (
        isinstance(value, list)
        and len(value) == 1
        and not isinstance(value[0], (dict, list))
        and state.on("single_item_list")
    ):
        state.change("single_item_list", pointer, value, value[0])
        return value[0]
    return value


def _boolean(state: NormalizeState, schema: Mapping[str, Any], value: Any, pointer: str) -> Any:
    value = _scalar_of(state, value, pointer)
    if isinstance(value, str):
        word = value.strip().strip("\"'").casefold()
        if word in ("true", "false") and state.on("boolean_text"):
            state.change("boolean_text", pointer, value, word == "true")
            return word == "true"
        if word in _TRUE | _FALSE and state.on("boolean_word"):
            state.change("boolean_word", pointer, value, word in _TRUE)
            return word in _TRUE
    elif not isinstance(value, bool) and value in (0, 1) and state.on("boolean_word"):
        state.change("boolean_word", pointer, value, bool(value))
        return bool(value)
    return value


def _number(state: NormalizeState, schema: Mapping[str, Any], value: Any, pointer: str) -> Any:
    value = _scalar_of(state, value, pointer)
    if not isinstance(value, str):
        return value
    whole = "number" not in parameter_types(schema, state.root)
    name = pointer.rsplit("/", 1)[-1]
    text = value.strip().strip("\"'`")
    reading = read_number(text, name, schema)
    if reading is None:
        return calendar_number(state, value, pointer) if whole else value
    if reading.value is None:
        state.problem("ambiguous", pointer, f"{value!r} is no certain number: {reading.doubt}", actual=value)
        return value
    if (whole and reading.value.denominator != 1) or not state.on(reading.rule):
        return value
    number = _json_number(reading.value, text, whole)
    state.change(reading.rule, pointer, value, number)
    return number


def _json_number(value: Fraction, text: str, whole: bool) -> int | float:
    """The number as JSON writes it: `12.0` stays a float for a parameter that takes fractions."""
    if value.denominator == 1 and (whole or "." not in text):
        return int(value)
    return float(value)


def _string(state: NormalizeState, schema: Mapping[str, Any], value: Any, pointer: str) -> Any:
    value = _scalar_of(state, value, pointer)
    if isinstance(value, str):
        if state.fits(schema, value):
            return value
        repaired = repair_text(state, schema, value, pointer)
        return value if repaired is None else repaired
    if isinstance(value, (bool, int, float)) and state.on("text_of_value"):
        text = json.dumps(value)
        if state.fits(schema, text):
            state.change("text_of_value", pointer, value, text)
            return text
    if isinstance(value, (dict, list)) and "json" in str(schema.get("description") or "").casefold():
        text = json.dumps(value, ensure_ascii=False)
        if state.on("text_of_value") and state.fits(schema, text):
            state.change("text_of_value", pointer, value, text)
            return text
    return value


def _null(state: NormalizeState, schema: Mapping[str, Any], value: Any, pointer: str) -> Any:
    return value


_TOWARD = {
    "object": _object,
    "array": _array,
    "boolean": _boolean,
    "integer": _number,
    "number": _number,
    "string": _string,
    "null": _null,
}
