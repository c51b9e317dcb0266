"""Accept lists and written calls of BFCL, as golden arguments."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

_MOST_OPTIONAL_KEYS = 6


def golden_arguments(
    accepted: Mapping[str, Any], parameters: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Required and optional golden arguments of accept lists under a function's parameter schema.

    An empty text in the list makes an argument optional, unless the schema requires it; it stays an accepted value where
    the schema takes any text. An argument that is to be left out (an empty text and nothing else, for anything but text)
    has no gold. An empty list accepts nothing at all there; here it becomes any value.
    """
    required = parameters.get("required")
    names = required if isinstance(required, list) else []
    properties = parameters.get("properties")
    schemas: Mapping[str, Any] = properties if isinstance(properties, Mapping) else {}
    args: dict[str, Any] = {}
    optional: dict[str, Any] = {}
    for name, values in accepted.items():
        listed = values if isinstance(values, list) else [values]
        may_be_absent = "" in listed and name not in names
        schema = schemas.get(name)
        if not listed:
            (args if name in names else optional)[name] = {"$any": True}
            continue
        is_text = _takes_any_text(schema)
        kept = [value for value in listed if value != ""]
        if is_text and "" in listed:
            kept.append("")
        if not kept:
            continue
        alternatives = _unique(item for value in kept for item in _inner(value))
        matcher = alternatives[0] if len(alternatives) == 1 else {"$one_of": alternatives}
        (optional if may_be_absent else args)[name] = matcher
    return args, optional


def _takes_any_text(schema: Any) -> bool:
    if not isinstance(schema, Mapping):
        return True
    return str(schema.get("type", "string")).lower() in ("string", "any") and not schema.get("enum")


def _inner(value: Any) -> list[Any]:
    """The ways to write one accepted value: accept lists inside objects become matchers, optional keys alternatives."""
    if isinstance(value, Mapping):
        return _objects(value)
    if isinstance(value, list) and any(isinstance(item, Mapping) for item in value):
        return [list(items) for items in product(*(_inner(item) for item in value))]
    return [value]


def _objects(value: Mapping[str, Any]) -> list[dict[str, Any]]:
    choices: list[list[tuple[Any, ...]]] = []
    absent = 0
    for key, accepted in value.items():
        listed = accepted if isinstance(accepted, list) else [accepted]
        kept = _unique(item for option in listed if option != "" for item in _inner(option))
        ways: list[tuple[Any, ...]] = []
        if kept:
            ways.append((key, kept[0] if len(kept) == 1 else {"$one_of": kept}))
        if "" in listed and absent < _MOST_OPTIONAL_KEYS:
            absent += 1
            ways.append(())
            if not kept:
                ways.append((key, ""))
        elif not kept:
            ways.append((key, ""))
        choices.append(ways)
    return [dict(pair for pair in pairs if pair) for pairs in product(*choices)]


def _unique(values: Any) -> list[Any]:
    found: list[Any] = []
    for value in values:
        # True equals 1 in Python; here they are different values
        if not any(value == other and type(value) is type(other) for other in found):
            found.append(value)
    return found


def parse_call(text: str) -> tuple[str, Sequence[Any], dict[str, Any]] | None:
    """Name, positional and named arguments of a call written as Python; None where it is anything but literals."""
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError):
        return None
    if not isinstance(tree, ast.Call):
        return None
    try:
        positional = [_plain(ast.literal_eval(node)) for node in tree.args]
        named = {word.arg: _plain(ast.literal_eval(word.value)) for word in tree.keywords if word.arg}
    except (ValueError, RecursionError):
        return None
    if any(word.arg is None for word in tree.keywords):
        return None
    return ast.unparse(tree.func), positional, named


def _plain(value: Any) -> Any:
    """Tuples and sets as JSON lists."""
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    if isinstance(value, (set, frozenset)):
        return sorted(_plain(item) for item in value)
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    return value
