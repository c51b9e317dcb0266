"""What the comparison of values needs to know of a schema: type, format, items, properties, default, known names.

A view, not a validator: local references are followed a bounded number of steps, `allOf` is merged, a nullable union is
split. Whatever it cannot see makes the comparison literal.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agent_reach.text.pointers import unescape_pointer

_MAX_STEPS = 16
_EMPTY: Mapping[str, Any] = {}


def view(schema: Any, root: Any) -> Mapping[str, Any]:
    """The schema with its reference followed, its `allOf` merged and its null branch split off."""
    return _view(schema, root, _MAX_STEPS)


def _view(schema: Any, root: Any, steps: int) -> Mapping[str, Any]:
    if not isinstance(schema, Mapping) or steps <= 0:
        return _EMPTY
    reference = schema.get("$ref")
    if isinstance(reference, str):
        rest = {key: value for key, value in schema.items() if key != "$ref"}
        return {**_view(_target(reference, root), root, steps - 1), **rest}
    merged: dict[str, Any] = dict(schema)
    for part in schema.get("allOf") or ():
        for key, value in _view(part, root, steps - 1).items():
            if key == "properties" and isinstance(merged.get(key), Mapping):
                merged[key] = {**value, **merged[key]}
            elif key == "required":
                merged[key] = [*merged.get(key, ()), *value]
            else:
                merged.setdefault(key, value)
    for word in ("anyOf", "oneOf"):
        options = [option for option in schema.get(word) or () if _type(option) != "null"]
        if len(options) == 1:
            for key, value in _view(options[0], root, steps - 1).items():
                merged.setdefault(key, value)
    return merged


def _type(schema: Any) -> Any:
    return schema.get("type") if isinstance(schema, Mapping) else None


def _target(reference: str, root: Any) -> Any:
    if not reference.startswith("#"):
        return None
    node = root
    for part in reference[1:].split("/")[1:]:
        name = unescape_pointer(part)
        if not isinstance(node, Mapping) or name not in node:
            return None
        node = node[name]
    return node


def types(schema: Mapping[str, Any]) -> frozenset[str]:
    """The JSON types that a viewed schema names, null left out; empty when it names none."""
    named = schema.get("type")
    if isinstance(named, str):
        return frozenset((named,)) - {"null"}
    if isinstance(named, (list, tuple)):
        return frozenset(item for item in named if isinstance(item, str)) - {"null"}
    return frozenset()


def property_schemas(schema: Any, root: Any) -> Mapping[str, Any]:
    """Property name -> schema over all branches of a viewed object schema."""
    found: dict[str, Any] = {}
    _collect(schema, root, found, _MAX_STEPS)
    return found


def _collect(schema: Any, root: Any, found: dict[str, Any], steps: int) -> None:
    if steps <= 0 or not isinstance(schema, Mapping):
        return
    properties = schema.get("properties")
    if isinstance(properties, Mapping):
        for name, value in properties.items():
            found.setdefault(name, value)
    reference = schema.get("$ref")
    if isinstance(reference, str):
        _collect(_target(reference, root), root, found, steps - 1)
    for word in ("allOf", "anyOf", "oneOf"):
        for part in schema.get(word) or ():
            _collect(part, root, found, steps - 1)
    for word in ("if", "then", "else"):
        _collect(schema.get(word), root, found, steps - 1)
    for word in ("dependentSchemas",):
        for part in (schema.get(word) or _EMPTY).values():
            _collect(part, root, found, steps - 1)


def is_open(schema: Any) -> bool:
    """The object schema takes names that it does not list: it says so, or it lists none at all."""
    if not isinstance(schema, Mapping):
        return True
    if schema.get("additionalProperties") not in (None, False) or schema.get("patternProperties"):
        return True
    words = ("properties", "additionalProperties", "allOf", "anyOf", "oneOf", "$ref", "if")
    return not any(word in schema for word in words)
