"""A listed value written in another way: case, width, blanks, or an alias that somebody declared.

No similarity is measured: what is not one of the values in another form stays a question, with the list of them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from agent_reach.records.tool import ParameterHint
from agent_reach.text.folding import fold

_LITERALS = re.compile(r"^\^\(?(?:\?:)?(?P<body>[\w \-/\u4e00-\u9fff]+(?:\|[\w \-/\u4e00-\u9fff]+)+)\)?\$$")


def listed_values(schema: Mapping[str, Any]) -> tuple[Any, ...]:
    """The values a schema lists: `enum`, `const` branches, or a pattern that is nothing but words."""
    if isinstance(schema.get("enum"), list):
        return tuple(schema["enum"])
    if "const" in schema:
        return (schema["const"],)
    for key in ("oneOf", "anyOf"):
        branches = schema.get(key)
        if isinstance(branches, list) and branches and all(isinstance(b, Mapping) for b in branches):
            values = [value for branch in branches for value in listed_values(branch)]
            if values and all("enum" in b or "const" in b or b.get("type") == "null" for b in branches):
                return tuple(values)
    found = _LITERALS.match(str(schema.get("pattern") or ""))
    return tuple(found["body"].split("|")) if found else ()


def match_listed(
    value: Any, listed: Sequence[Any], schema: Mapping[str, Any], hint: ParameterHint | None
) -> tuple[list[Any], str]:
    """The listed values that `value` may stand for, and the rule by which; more than one is ambiguous."""
    if isinstance(value, bool) or value is None or not isinstance(value, (str, int, float)):
        return [], ""
    text = value if isinstance(value, str) else str(value)
    for form in (_loose, _plain):
        key = form(text)
        hits = [
            item
            for item in listed
            if item is not None and not isinstance(item, bool) and form(str(item)) == key
        ]
        if hits and key:
            return hits, "enum_form"
    aliases = _aliases(listed, schema, hint)
    for form in (_loose, _plain):
        key = form(text)
        hits = [item for item, names in aliases if key and key in {form(name) for name in names}]
        if hits:
            return hits, "enum_alias"
    return [], ""


def match_noted(value: str, hint: ParameterHint | None) -> str | None:
    """The value that a note gives an alias for, where the schema itself lists none."""
    if hint is None or not hint.values or value in hint.values:
        return None
    key = _loose(value)
    hits = [legal for legal, names in hint.values.items() if key in {_loose(name) for name in names}]
    return hits[0] if len(hits) == 1 else None


def _aliases(
    listed: Sequence[Any], schema: Mapping[str, Any], hint: ParameterHint | None
) -> list[tuple[Any, tuple[str, ...]]]:
    found: list[tuple[Any, tuple[str, ...]]] = []
    if hint is not None:
        for legal, names in hint.values.items():
            found.extend((item, tuple(names)) for item in listed if str(item) == str(legal))
    for key in ("enumNames", "x-enumNames", "x-enum-varnames", "x-enum-descriptions"):
        titles = schema.get(key)
        if isinstance(titles, list) and len(titles) == len(listed):
            found.extend((item, (str(title),)) for item, title in zip(listed, titles, strict=True))
    for key in ("oneOf", "anyOf"):
        for branch in schema.get(key) or ():
            if isinstance(branch, Mapping) and "const" in branch and isinstance(branch.get("title"), str):
                found.append((branch["const"], (branch["title"],)))
    return found


def _loose(text: str) -> str:
    return " ".join(fold(text).strip("\"'`“”‘’。. ").split())


def _plain(text: str) -> str:
    return re.sub(r"[\s_\-]+", "", _loose(text))
