"""The form that a small model's reply is held to: one offered tool with its arguments, or none with an answer.

A grammar engine knows less of JSON Schema than a validator, so every schema goes in as a sanitised copy: only words the
engine knows, references resolved, lengths bounded. The copy serves the grammar alone; calls are checked against the
real schema afterwards.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from agent_reach.text.pointers import unescape_pointer

NO_TOOL = "none"
MAX_TEXT = 400
MAX_ITEMS = 20
MAX_DEPTH = 6
_TYPES = frozenset({"string", "integer", "number", "boolean", "object", "array", "null"})


def reply_schema(definitions: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """A JSON schema: any of `{tool: name, arguments: {...}}` per definition, or `{tool: "none", answer: text}`."""
    choices = [
        {
            "type": "object",
            "properties": {
                "tool": {"const": definition["function"]["name"]},
                "arguments": grammar_schema(definition["function"].get("parameters") or {}),
            },
            "required": ["tool", "arguments"],
            "additionalProperties": False,
        }
        for definition in definitions
    ]
    nothing = {
        "type": "object",
        "properties": {"tool": {"const": NO_TOOL}, "answer": {"type": "string", "maxLength": MAX_TEXT}},
        "required": ["tool", "answer"],
        "additionalProperties": False,
    }
    return {"anyOf": [*choices, nothing]}


def grammar_schema(schema: Any) -> dict[str, Any]:
    """The sanitised copy of an object schema; local references are followed, recursion ends in any object."""
    copied = _copy(schema, schema, 0)
    if copied.get("type") != "object":
        return {"type": "object", "properties": {}, "additionalProperties": False}
    copied.setdefault("properties", {})
    copied["additionalProperties"] = False
    return copied


def _copy(schema: Any, root: Any, depth: int) -> dict[str, Any]:
    if not isinstance(schema, Mapping) or depth > MAX_DEPTH:
        return {"type": "string", "maxLength": MAX_TEXT}
    schema = _resolved(schema, root)
    if isinstance(schema.get("enum"), list) and schema["enum"]:
        return {"enum": list(schema["enum"])}
    if "const" in schema:
        return {"const": schema["const"]}
    for word in ("anyOf", "oneOf"):
        options = schema.get(word)
        if isinstance(options, list) and options and "properties" not in schema:
            return {"anyOf": [_copy(option, root, depth + 1) for option in options]}
    parts = schema.get("allOf")
    if isinstance(parts, list) and parts and "properties" not in schema:
        return _merged(parts, root, depth)
    kinds = schema.get("type")
    listed = [kind for kind in (kinds if isinstance(kinds, list) else [kinds]) if kind in _TYPES]
    if len(listed) > 1:
        return {"anyOf": [_typed({**schema, "type": kind}, root, depth) for kind in listed]}
    kind = listed[0] if listed else ("object" if "properties" in schema else "string")
    return _typed({**schema, "type": kind}, root, depth)


def _typed(schema: Mapping[str, Any], root: Any, depth: int) -> dict[str, Any]:
    kind = schema["type"]
    if kind == "string":
        longest = schema.get("maxLength")
        limit = min(longest, MAX_TEXT) if isinstance(longest, int) and longest > 0 else MAX_TEXT
        return {"type": "string", "maxLength": limit}
    if kind == "array":
        items = schema.get("items")
        return {
            "type": "array",
            "items": _copy(items if isinstance(items, Mapping) else {}, root, depth + 1),
            "maxItems": MAX_ITEMS,
        }
    if kind != "object":
        return {"type": kind}
    properties = schema.get("properties")
    properties = properties if isinstance(properties, Mapping) else {}
    required = [name for name in schema.get("required") or () if name in properties]
    if not properties:
        return {"type": "object"}
    return {
        "type": "object",
        "properties": {str(name): _copy(inner, root, depth + 1) for name, inner in properties.items()},
        "required": required,
        "additionalProperties": False,
    }


def _merged(parts: Sequence[Any], root: Any, depth: int) -> dict[str, Any]:
    resolved = [_resolved(part, root) for part in parts if isinstance(part, Mapping)]
    if not any("properties" in part for part in resolved):
        return _copy(resolved[0] if resolved else {}, root, depth + 1)
    properties: dict[str, Any] = {}
    required: list[str] = []
    for part in resolved:
        properties.update(part.get("properties") or {})
        required.extend(part.get("required") or ())
    return _typed({"type": "object", "properties": properties, "required": required}, root, depth)


def _resolved(schema: Mapping[str, Any], root: Any) -> Mapping[str, Any]:
    """The schema behind a chain of local references (at most eight); an unknown one means anything."""
    for _ in range(8):
        reference = schema.get("$ref")
        if not isinstance(reference, str):
            return schema
        target: Any = root
        if not reference.startswith("#"):
            return {}
        for part in reference.removeprefix("#").strip("/").split("/"):
            name = unescape_pointer(part)
            target = target.get(name) if isinstance(target, Mapping) and name else target
        if not isinstance(target, Mapping):
            return {}
        schema = target
    return {}


def tools_text(definitions: Sequence[Mapping[str, Any]]) -> str:
    """The offered tools as lines for a prompt: name, parameters with type and words, description."""
    return "\n".join(_tool_line(definition["function"]) for definition in definitions)


def _tool_line(function: Mapping[str, Any]) -> str:
    parameters = function.get("parameters") or {}
    properties = parameters.get("properties") or {}
    required = parameters.get("required") or ()
    shown = [_parameter(name, schema, name in required) for name, schema in properties.items()]
    description = " ".join(str(function.get("description") or "").split())
    return f"- {function['name']}({', '.join(shown)}): {description}"


def _parameter(name: str, schema: Any, required: bool) -> str:
    schema = schema if isinstance(schema, Mapping) else {}
    options = schema.get("enum")
    if isinstance(options, list):
        kind = "|".join(json.dumps(option, ensure_ascii=False) for option in options[:12])
    else:
        word = schema.get("type")
        kind = "|".join(map(str, word)) if isinstance(word, list) else str(word or "any")
    words = " ".join(str(schema.get("description") or "").split())
    return f"{name}{'' if required else '?'}: {kind}{f' ({words})' if words else ''}"
