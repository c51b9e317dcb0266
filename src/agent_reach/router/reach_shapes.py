"""Tools in the shapes that agent loops hold them: read for search, handed back untouched.

OpenAI (nested and flat), Anthropic, MCP, Bedrock, Tool records, functions, and objects with a name and a description
(LangChain, MCP SDK, pydantic models). What cannot be read is never dropped; `read_shape` says None and the caller keeps it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agent_reach.records.tool import Tool

_SCHEMA_KEYS = ("parameters", "inputSchema", "input_schema", "args_schema", "args", "schema")
_WRAPPERS = ("function", "toolSpec", "tool_spec")


def read_shape(given: Any) -> Tool | None:
    """The tool in a definition of any known shape; None where no name can be read.

    A hosted tool (`{"type": "web_search"}`) has no name and description to search: it is None too.
    """
    if isinstance(given, Tool):
        return given
    if isinstance(given, Mapping):
        return _of_mapping(given)
    name = getattr(given, "name", None)
    if isinstance(name, str) and name:
        return _of_object(given, name)
    if callable(given):
        return Tool(
            name=str(getattr(given, "__name__", type(given).__name__)),
            description=str(getattr(given, "__doc__", "") or ""),
            input_schema=_signature_schema(given),
        )
    return None


def name_of(given: Any) -> str:
    """The name in a definition of any shape, empty where none can be read."""
    tool = read_shape(given)
    if tool is not None:
        return tool.name
    return str(given.get("type", "")) if isinstance(given, Mapping) else ""


def _of_mapping(given: Mapping[str, Any]) -> Tool | None:
    for wrapper in _WRAPPERS:
        inner = given.get(wrapper)
        if isinstance(inner, Mapping):
            return _of_mapping(inner)
    name = given.get("name")
    if not isinstance(name, str) or not name:
        return None
    description = given.get("description")
    schema: Any = None
    for key in _SCHEMA_KEYS:
        if given.get(key) is not None:
            schema = given[key]
            break
    if description is None and schema is None and "type" in given:
        return None
    return Tool(
        name=name,
        title=_text(given.get("title")),
        description=_text(description),
        input_schema=_schema(schema),
        original=given,
    )


def _of_object(given: Any, name: str) -> Tool:
    schema: Any = None
    for key in _SCHEMA_KEYS:
        schema = getattr(given, key, None)
        if schema is not None and not (callable(schema) and not isinstance(schema, type)):
            break
    description = getattr(given, "description", None) or getattr(given, "__doc__", None)
    return Tool(name=name, description=_text(description), input_schema=_schema(schema))


def _schema(given: Any) -> dict[str, Any]:
    """An object schema from a schema, a pydantic model, a `json` wrapper (Bedrock) or a mapping of parameters."""
    if given is None:
        return {"type": "object", "properties": {}}
    for maker in ("model_json_schema", "schema"):
        make = getattr(given, maker, None)
        if isinstance(given, type) and callable(make):
            given = make()
            break
    if not isinstance(given, Mapping):
        return {"type": "object", "properties": {}}
    if isinstance(given.get("json"), Mapping) and len(given) == 1:
        given = given["json"]
    if "properties" in given or given.get("type") in ("object", "dict"):
        return dict(given)
    if given and all(isinstance(value, Mapping) for value in given.values()):
        return {"type": "object", "properties": dict(given)}
    return dict(given)


def _signature_schema(function: Any) -> dict[str, Any]:
    import inspect

    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return {"type": "object", "properties": {}}
    named = [one for one in parameters if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)]
    required = [one.name for one in named if one.default is inspect.Parameter.empty]
    return {"type": "object", "properties": {one.name: {} for one in named}, "required": required}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
