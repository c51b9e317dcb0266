"""What of a tool is searched, field by field.

Names, notes, descriptions, parameters and their values, and where the tool comes from (server, group, category). The
text is what the model sees plus what people noted; an overlay that replaces a description therefore replaces what is
searched as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from agent_reach.records.tool import Tool

FIELDS = (
    "name",
    "summary",
    "triggers",
    "description",
    "parameter_names",
    "parameter_descriptions",
    "values",
    "origin",
)
MAX_DEPTH = 6
MAX_CHARACTERS = 4000
_SHAPE_KEYS = frozenset({"name", "description", "title", "type", "id", "function", "inputSchema", "input_schema",
                         "outputSchema", "output_schema", "parameters", "annotations", "icons", "_meta", "$schema",
                         "version", "strict"})  # fmt: skip


def field_texts(tool: Tool) -> tuple[tuple[str, ...], ...]:
    """The texts of one tool, one tuple of strings per entry of `FIELDS`."""
    names: list[str] = []
    descriptions: list[str] = []
    values: list[str] = []
    for name, schema in _parameters(tool.input_schema, 0):
        names.append(name)
        description = schema.get("description")
        if isinstance(description, str):
            descriptions.append(description[:MAX_CHARACTERS])
        values.extend(_values(schema))
    note = tool.note
    summary = [tool.title] if tool.title else []
    triggers: list[str] = []
    if note is not None:
        summary.append(note.summary)
        triggers.extend(note.triggers)
        for hint in note.param_hints.values():
            names.extend(hint.names)
            for value, spoken in hint.values.items():
                values.append(str(value))
                values.extend(spoken)
    return (
        (tool.name, *tool.aliases),
        tuple(summary),
        tuple(triggers),
        (tool.description[:MAX_CHARACTERS],),
        tuple(names),
        tuple(descriptions),
        tuple(values),
        tuple(_origin(tool)),
    )


def _parameters(schema: Mapping[str, Any], depth: int) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every named property below a schema with its own schema, bounded in depth."""
    if depth > MAX_DEPTH:
        return
    properties = schema.get("properties")
    if isinstance(properties, Mapping):
        for name, inner in properties.items():
            if isinstance(inner, Mapping):
                yield str(name), inner
                yield from _parameters(inner, depth + 1)
            else:
                yield str(name), {}
    items = schema.get("items")
    if isinstance(items, Mapping):
        yield from _parameters(items, depth + 1)
    for key in ("anyOf", "oneOf", "allOf"):
        branches = schema.get(key)
        if isinstance(branches, (list, tuple)):
            for branch in branches:
                if isinstance(branch, Mapping):
                    yield from _parameters(branch, depth + 1)


def _values(schema: Mapping[str, Any]) -> Iterator[str]:
    enumerated = schema.get("enum")
    if isinstance(enumerated, (list, tuple)):
        yield from (value for value in enumerated[:50] if isinstance(value, str) and len(value) <= 80)
    constant = schema.get("const")
    if isinstance(constant, str) and len(constant) <= 80:
        yield constant
    items = schema.get("items")
    if isinstance(items, Mapping):
        yield from _values(items)


def _origin(tool: Tool) -> Iterator[str]:
    """Server name, and what the source says around the tool in short texts of its own (category, tags)."""
    if tool.server:
        yield tool.server
    for key, value in tool.original.items():
        if key in _SHAPE_KEYS:
            continue
        if isinstance(value, str) and value != tool.description:
            yield value[:400]
        elif isinstance(value, (list, tuple)):
            yield from (item for item in value if isinstance(item, str) and len(item) <= 80)
