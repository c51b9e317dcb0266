"""Value flow: a value of an earlier result that turns up in a later argument and that the user did not say.

Trivial values (booleans, short numbers, short or empty texts) identify nothing and are left out. What is not seen: values
that the model changed on the way (another date form, a sum).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

MAX_LEAVES = 2000
MIN_TEXT = 3
MIN_NUMBER = 100
_TRIVIAL = frozenset({"true", "false", "null", "none", "yes", "no", "all", "any", "ok", "success", "error"})


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """(path, scalar) of a JSON value, keys of maps included as values; at most `MAX_LEAVES`."""
    stack: list[tuple[str, Any]] = [(path, value)]
    count = 0
    while stack and count < MAX_LEAVES:
        here, item = stack.pop()
        if isinstance(item, Mapping):
            if is_map_by_id(item):
                for key, inner in item.items():
                    count += 1
                    yield f"{here}.<key>" if here else "<key>", key
                    stack.append((f"{here}.<value>" if here else "<value>", inner))
            else:
                stack.extend(
                    (f"{here}.{key}" if here else str(key), inner)
                    for key, inner in reversed(list(item.items()))
                )
        elif isinstance(item, (list, tuple)):
            stack.extend((f"{here}[]", inner) for inner in reversed(item))
        else:
            count += 1
            yield here or "<root>", item


def is_map_by_id(item: Mapping[Any, Any]) -> bool:
    """Keys that look like identifiers (digits in them), with values of one kind: a map and no record."""
    if not item:
        return False
    return all(isinstance(key, str) and any(letter.isdigit() for letter in key) for key in item)


def identifying(value: Any) -> str | None:
    """The text by which a value is recognised, or None for a trivial one."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, (int, float)):
        return (
            str(value)
            if abs(value) >= MIN_NUMBER or (isinstance(value, float) and value != int(value))
            else None
        )
    if isinstance(value, str):
        text = value.strip()
        if len(text) < MIN_TEXT or text.lower() in _TRIVIAL or (text.isdigit() and len(text) < MIN_TEXT):
            return None
        return text if len(text) <= 400 else None
    return None


def result_value(value: Any, text: str) -> Any:
    """The structured result; text that is JSON is read."""
    if value is None and text:
        value = text
    if isinstance(value, str) and value[:1] in "{[":
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value
