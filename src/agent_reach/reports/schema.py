"""JSON Schemas of the files this part writes, made from the records themselves, so that they cannot drift apart.

`schemas/*.json` are the shipped copies (`write_schemas` makes them, a test compares them with the records). Unknown fields are allowed: a
later version may add some. What must be there is what the writer always writes.
"""

from __future__ import annotations

import dataclasses
import json
import types
import typing
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from agent_reach.records.finding import Finding
from agent_reach.records.message import Message
from agent_reach.records.report import METRIC_NAMES, REPORT_SCHEMA_VERSION, Report
from agent_reach.records.tool import Tool
from agent_reach.records.trace import Trace
from agent_reach.reports.json_form import ALWAYS_WRITTEN

DIALECT = "https://json-schema.org/draft/2020-12/schema"
SCHEMAS: tuple[str, ...] = ("report", "trace", "snapshot")
SNAPSHOT_VERSION = 1
_SIMPLE: Mapping[Any, dict[str, Any]] = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    type(None): {"type": "null"},
}


def schema_document(name: str) -> dict[str, Any]:
    """The schema of that file form, made from its record."""
    definitions: dict[str, Any] = {}
    if name == "snapshot":
        reference = _snapshot(definitions)
    else:
        reference = _of(Report if name == "report" else Trace, definitions)
    document: dict[str, Any] = {
        "$schema": DIALECT,
        "title": f"Agent-Reach {name}",
        **reference,
        "$defs": dict(sorted(definitions.items())),
    }
    if name == "report":
        properties = definitions["Report"]["properties"]
        properties["schema_version"] = {"const": REPORT_SCHEMA_VERSION}
        properties["metrics"] = {**properties["metrics"], "required": list(METRIC_NAMES)}
    return document


def write_schemas(folder: Path) -> None:
    """Write the shipped copies anew, after a record has changed."""
    for name in SCHEMAS:
        text = json.dumps(schema_document(name), indent=2, ensure_ascii=False) + "\n"
        (folder / f"{name}.schema.json").write_text(text, encoding="utf-8")


def _snapshot(definitions: dict[str, Any]) -> dict[str, Any]:
    """The frozen catalog: its tools are `Tool` records with a hash each; parts that a definition says by itself (the
    `original`) are not written twice."""
    tool = _of(Tool, definitions)
    definitions["Tool"]["properties"]["hash"] = {"type": "string"}
    definitions["Tool"]["required"].append("hash")
    finding = _of(Finding, definitions)
    source = {
        "type": "object",
        "properties": {
            "kind": {"type": "string"},
            "location": {"type": "string"},
            "tools": {"type": "integer"},
        },
        "required": ["kind"],
    }
    quarantined = {
        "type": "object",
        "properties": {"key": {"type": "string"}, "reason": finding, "original": {"type": "object"}},
        "required": ["key", "reason"],
    }
    properties = {
        "snapshot_version": {"const": SNAPSHOT_VERSION},
        "hash": {"type": "string", "pattern": "^sha256:[0-9a-f]{64}$"},
        "tool_count": {"type": "integer", "minimum": 0},
        "created_at": {"type": ["number", "null"]},
        "git_commit": {"type": "string"},
        "sources": {"type": "array", "items": source},
        "tools": {"type": "array", "items": tool},
        "quarantined": {"type": "array", "items": quarantined},
        "findings": {"type": "array", "items": finding},
    }
    return {"type": "object", "properties": properties, "required": ["snapshot_version", "hash", "tools"]}


def shipped_schema(name: str) -> dict[str, Any]:
    """The schema as shipped."""
    file = resources.files("agent_reach.reports").joinpath("schemas", f"{name}.schema.json")
    document: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return document


def _of(kind: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if kind in _SIMPLE:
        return dict(_SIMPLE[kind])
    if kind is Any:
        return {}
    if origin is typing.Literal:
        return {"enum": list(arguments)}
    if origin in (typing.Union, types.UnionType):
        return {"anyOf": [_of(option, definitions) for option in arguments]}
    if origin is tuple:
        if len(arguments) == 2 and arguments[1] is Ellipsis:
            return {"type": "array", "items": _of(arguments[0], definitions)}
        items = [_of(argument, definitions) for argument in arguments]
        return {"type": "array", "prefixItems": items, "items": False, "minItems": len(items)}
    if origin in (frozenset, set):
        return {"type": "array", "items": _of(arguments[0], definitions), "uniqueItems": True}
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": _of(arguments[1], definitions)}
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        return _record(kind, definitions)
    raise TypeError(f"no schema for {kind!r}")


def _record(kind: type, definitions: dict[str, Any]) -> dict[str, Any]:
    reference = {"$ref": f"#/$defs/{kind.__name__}"}
    if kind.__name__ in definitions:
        return reference
    if kind is Message:
        properties = {"en": {"type": "string"}, "zh": {"type": "string"}}
        definitions["Message"] = {"type": "object", "properties": properties, "required": ["en", "zh"]}
        return reference
    definitions[kind.__name__] = {}
    hints = typing.get_type_hints(kind)
    always = ALWAYS_WRITTEN.get(kind, ())
    needed = []
    properties = {}
    for field in dataclasses.fields(kind):
        properties[field.name] = _of(hints[field.name], definitions)
        is_needed = (
            field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
        ) or field.name in always
        if is_needed:
            needed.append(field.name)
    definitions[kind.__name__] = {"type": "object", "properties": properties, "required": needed}
    return reference
