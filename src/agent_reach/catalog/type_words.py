"""Names of types that people write where JSON Schema knows seven: what each certainly means.

A table that can be read, and a small reader for written-out generics (`list[int]`, `Optional[str]`, `string[]`). A
word it does not know stays unknown: guessing is not repairing.
"""

from __future__ import annotations

import re
from typing import Any

JSON_TYPES = frozenset({"string", "number", "integer", "boolean", "array", "object", "null"})

_GROUPS = {
    "string": "str text char character varchar bytes binary byte_string file path date datetime date-time timestamp"
    " time timedelta uuid guid uri url email enum password ipv4 ipv6 literal json_string base64 unicode nsstring",
    "integer": "int int8 int16 int32 int64 uint uint8 uint32 uint64 long short bigint byte whole positiveint",
    "number": "float float32 float64 double decimal numeric num real percentage currency",
    "boolean": "bool bit flag",
    "array": "list tuple set frozenset sequence iterable collection arraylist vector listobject",
    "object": "dict map mapping hashmap hashtable struct record json dictionary typeddict",
    "null": "none nonetype nil void undefined",
}
TYPE_ALIASES: dict[str, str] = {
    **{word: target for target, words in _GROUPS.items() for word in words.split()},
    **{word: word for word in JSON_TYPES},
}
ANY_TYPES = frozenset({"any", "mixed", "unknown", "anytype", "*", "variant", "union", "typing.any", "value"})

_GENERIC = re.compile(r"^([\w.]+)\s*[\[<(]\s*(.*?)\s*[\])>]$", re.DOTALL)
_REMARK = re.compile(r"^([A-Za-z][\w-]*)\s*[(,;:]")


def read_type(text: str, *, depth: int = 0) -> dict[str, Any] | None:
    """The schema that a written type certainly means (`{}` for any), or None if it is not known."""
    word = text.strip()
    low = word.casefold()
    if low in TYPE_ALIASES:
        return {"type": TYPE_ALIASES[low]}
    if low in ANY_TYPES:
        return {}
    if depth > 4 or not word or len(word) > 200:
        return None
    if word.endswith("[]"):
        inner = read_type(word[:-2], depth=depth + 1)
        return None if inner is None else {"type": "array", "items": inner}
    if word.endswith("?"):
        return _nullable(read_type(word[:-1], depth=depth + 1))
    options = _split(word, "|")
    if len(options) > 1:
        return _union([read_type(option, depth=depth + 1) for option in options])
    match = _GENERIC.match(word)
    if match is not None:
        known = _generic(match.group(1).rsplit(".", 1)[-1].casefold(), match.group(2), depth + 1)
        if known is not None:
            return known
    remark = _REMARK.match(word)
    if remark is not None and remark.group(1).casefold() in TYPE_ALIASES:
        return {"type": TYPE_ALIASES[remark.group(1).casefold()]}
    return None


def _generic(outer: str, inside: str, depth: int) -> dict[str, Any] | None:
    if outer == "optional":
        return _nullable(read_type(inside, depth=depth))
    if outer == "union":
        return _union([read_type(part, depth=depth) for part in _split(inside, ",")])
    target = TYPE_ALIASES.get(outer)
    parts = _split(inside, ",")
    if target == "array":
        items = read_type(parts[0], depth=depth) if len({*parts} - {"..."}) == 1 else {}
        return {"type": "array", "items": items or {}}
    if target == "object":
        values = read_type(parts[1], depth=depth) if len(parts) == 2 else None
        return {"type": "object", "additionalProperties": values} if values else {"type": "object"}
    return None


def _split(text: str, mark: str) -> list[str]:
    parts, level, start = [], 0, 0
    for index, character in enumerate(text):
        if character in "[<(":
            level += 1
        elif character in "])>":
            level -= 1
        elif character == mark and level == 0:
            parts.append(text[start:index].strip())
            start = index + 1
    parts.append(text[start:].strip())
    return parts


def _nullable(schema: dict[str, Any] | None) -> dict[str, Any] | None:
    if schema is None or "type" not in schema:
        return schema
    return {**schema, "type": [schema["type"], "null"]} if isinstance(schema["type"], str) else schema


def _union(options: list[dict[str, Any] | None]) -> dict[str, Any] | None:
    if any(option is None for option in options):
        return None
    known = [option for option in options if option is not None]
    if any("type" not in option for option in known):
        return {}
    if all(set(option) == {"type"} and isinstance(option["type"], str) for option in known):
        return {"type": list(dict.fromkeys(option["type"] for option in known))}
    return {"anyOf": known}
