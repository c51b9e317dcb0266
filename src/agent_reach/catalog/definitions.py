"""One tool definition in any form that people have, read into its parts.

MCP, OpenAI (chat and Responses), Anthropic, LangChain, Gemini, and the plain mappings that data sets use: the same
few facts under other names. Which name was read is told as a finding where it is not one of the known forms. Schemas are
handed on untouched; `reading` looks into them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from agent_reach.catalog.findings import make_finding
from agent_reach.records.finding import Finding
from agent_reach.records.tool import Effect

INPUT_KEYS = (
    "inputSchema",
    "input_schema",
    "parameters",
    "parametersJsonSchema",
    "parameters_json_schema",
    "args_schema",
    "args",
    "inputs",
    "arguments",
)
OUTPUT_KEYS = (
    "outputSchema",
    "output_schema",
    "returns_schema",
    "responseJsonSchema",
    "response_json_schema",
    "response_schema",
    "response",
    "returns",
)
_NAME_KEYS = ("name", "title", "id", "operationId", "api_name", "tool_name", "function_name")
_DESCRIPTION_KEYS = ("description", "desc", "docstring", "summary", "instructions")
_MCP_KEYS = frozenset({"inputSchema", "outputSchema", "annotations", "execution", "_meta", "icons"})


@dataclass(slots=True)
class Definition:
    """The parts of one definition. `input_schema` and `output_schema` are as the source gave them, None where absent."""

    name: str
    server: str = ""
    title: str = ""
    description: str = ""
    input_schema: Any = None
    output_schema: Any = None
    annotations: Mapping[str, Any] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)


def read_definition(entry: Mapping[str, Any]) -> Definition | None:
    """The parts of a definition in whatever form; None if it has no name."""
    outer = entry
    inner = entry.get("function")
    if isinstance(inner, Mapping):
        entry = inner
    elif isinstance(entry.get("tool"), Mapping) and "name" not in entry:
        entry = entry["tool"]
    elif isinstance(entry.get("custom"), Mapping):
        entry = entry["custom"]
    name_key, name = _first_text(entry, _NAME_KEYS)
    if not name:
        return None
    if name_key == "title" and not ("properties" in entry or any(key in entry for key in INPUT_KEYS)):
        return None
    definition = Definition(name=name)
    if name_key not in ("name", "title"):
        definition.findings.append(
            make_finding("dialect_key", pointer="/" + name_key, found=name_key, meant="name")
        )
    _describe(definition, entry, name_key)
    _schemas(definition, entry)
    annotations = entry.get("annotations")
    if isinstance(annotations, Mapping):
        definition.annotations = annotations
    server = outer.get("server", entry.get("server"))
    if isinstance(server, str):
        definition.server = server
    return definition


def _first_text(entry: Mapping[str, Any], keys: tuple[str, ...]) -> tuple[str, str]:
    for key in keys:
        value = entry.get(key)
        if isinstance(value, str) and value.strip():
            return key, value
    return "", ""


def _describe(definition: Definition, entry: Mapping[str, Any], name_key: str) -> None:
    key, text = _first_text(entry, _DESCRIPTION_KEYS)
    definition.description = text
    if key in ("desc", "docstring", "summary", "instructions"):
        definition.findings.append(
            make_finding("dialect_key", pointer="/" + key, found=key, meant="description")
        )
    title = entry.get("title")
    if isinstance(title, str) and name_key != "title":
        definition.title = title
    elif isinstance(definition.annotations.get("title"), str):
        definition.title = definition.annotations["title"]


def _schemas(definition: Definition, entry: Mapping[str, Any]) -> None:
    for key in INPUT_KEYS:
        if key in entry and not (
            key in ("args", "arguments", "inputs") and not isinstance(entry[key], (Mapping, list))
        ):
            definition.input_schema = _whole_schema(definition, key, entry[key])
            break
    else:
        if isinstance(entry.get("properties"), Mapping):
            names = ("title", "name", "description")
            definition.input_schema = {key: value for key, value in entry.items() if key not in names}
    for key in OUTPUT_KEYS:
        if key in entry and isinstance(entry[key], (Mapping, bool)):
            definition.output_schema = entry[key]
            break


_SCHEMA_WORDS = frozenset(
    [
        "type",
        "properties",
        "$ref",
        "anyOf",
        "oneOf",
        "allOf",
        "$schema",
        "required",
        "additionalProperties",
        "$defs",
    ]
)


def _whole_schema(definition: Definition, key: str, value: Any) -> Any:
    """The value as a schema: a list of named parameters or a mapping of parameters becomes an object schema."""
    if isinstance(value, str):
        try:
            value = json.loads(value) if value.strip() else {}
        except ValueError:
            return value
    if hasattr(value, "model_json_schema"):
        return value.model_json_schema()
    if isinstance(value, list) and all(isinstance(item, Mapping) for item in value):
        named = {str(item["name"]): dict(item) for item in value if isinstance(item.get("name"), str)}
        if len(named) == len(value):
            for item in named.values():
                del item["name"]
            definition.findings.append(make_finding("parameters_list", pointer="/" + key))
            return _as_object(named)
    if (
        isinstance(value, Mapping)
        and value
        and key not in ("inputSchema", "input_schema")
        and _is_plain_mapping(value)
    ):
        definition.findings.append(make_finding("parameters_list", pointer="/" + key))
        return _as_object(dict(value))
    return value


def _as_object(parameters: dict[str, Any]) -> dict[str, Any]:
    """An object schema of named parameters; a flag `required` beside each is lifted into the list."""
    schema: dict[str, Any] = {"type": "object", "properties": parameters}
    required = []
    for name, part in parameters.items():
        if isinstance(part, Mapping) and isinstance(part.get("required"), bool):
            parameters[name] = {key: value for key, value in part.items() if key != "required"}
            if part["required"]:
                required.append(name)
    if required:
        schema["required"] = required
    return schema


def _is_plain_mapping(value: Mapping[str, Any]) -> bool:
    """True for `{parameter: schema, ...}` that is not itself a schema."""
    if any(isinstance(value.get(word), (str, list)) for word in ("type", "$ref", "$schema")):
        return False
    if isinstance(value.get("properties"), Mapping) and not (
        "type" in value["properties"] and len(value) > 4
    ):
        return False
    if any(isinstance(value.get(word), list) for word in ("anyOf", "oneOf", "allOf", "required")):
        return False
    return all(isinstance(item, (Mapping, str)) for item in value.values())


def annotation_effects(annotations: Mapping[str, Any]) -> frozenset[Effect]:
    """What the hints of the protocol say of side effects; empty where they say nothing.

    An unstated `destructiveHint` stays unknown here, although the protocol's default is true.
    """
    effects: set[Effect] = set()
    read_only = annotations.get("readOnlyHint")
    if read_only is True:
        return frozenset({"read"})
    if read_only is False:
        effects.add("write")
    if annotations.get("destructiveHint") is True:
        effects.update(("write", "destructive"))
    if annotations.get("idempotentHint") is True:
        effects.add("idempotent")
    return frozenset(effects)
