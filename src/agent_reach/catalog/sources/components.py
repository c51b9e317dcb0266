"""The reusable parts of an OpenAPI document: references followed inside it, schemas brought to `$defs` of their own tool."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import unquote

from agent_reach.catalog.references import follow_pointer
from agent_reach.text.pointers import unescape_pointer

MAX_DEFINITIONS = 200
MAX_NESTING = 32
_NAMED = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
_SCHEMA_PREFIX = "#/components/schemas/"


class Components:
    """The parts of one document; `too_many` is told the tool that needs more than `MAX_DEFINITIONS` schemas."""

    def __init__(self, document: dict[str, Any], too_many: Callable[[str], None]) -> None:
        self.document = document
        self.too_many = too_many
        self.components: dict[str, Any] = {}

    def deref(self, value: Any) -> Any:
        """The value behind local references (at most 16 in a row); None where one leads nowhere."""
        for _ in range(16):
            if not (isinstance(value, dict) and isinstance(value.get("$ref"), str)):
                return value
            reference = value["$ref"]
            if not reference.startswith("#"):
                return None
            value = follow_pointer(self.document, unquote(reference[1:]))
        return None

    def merged_object(self, schema: Any, depth: int = 0) -> dict[str, Any] | None:
        """The body as one plain object with properties (`allOf` of objects joined), or None if it is not one."""
        resolved = self.resolved(schema) if depth < MAX_NESTING else None
        if not isinstance(resolved, dict) or any(key in resolved for key in ("oneOf", "anyOf", "not", "if")):
            return None
        if resolved.get("type") not in (None, "object"):
            return None
        properties: dict[str, Any] = {}
        required: list[str] = []
        listed_parts = resolved.get("allOf")
        for part in listed_parts if isinstance(listed_parts, list) else ():
            inner = self.merged_object(part, depth + 1)
            if inner is None:
                return None
            properties.update(inner["properties"])
            required.extend(inner.get("required") or ())
        own = resolved.get("properties")
        if isinstance(own, dict):
            properties.update(own)
        if not properties:
            return None
        listed = resolved.get("required")
        required.extend(listed if isinstance(listed, list) else ())
        made: dict[str, Any] = {"properties": properties, "required": required}
        if "additionalProperties" in resolved:
            made["additionalProperties"] = resolved["additionalProperties"]
        return made

    def resolved(self, schema: Any) -> Any:
        """A schema behind its `#/$defs/` references, which stand for the document's components."""
        for _ in range(16):
            if not (isinstance(schema, dict) and isinstance(schema.get("$ref"), str)):
                return schema
            schema = self.component(_unescaped(schema["$ref"].removeprefix("#/$defs/")))
        return None

    def schema(self, value: Any) -> Any:
        """A schema of the document with references to components turned into `#/$defs/` ones."""
        if isinstance(value, list):
            return [self.schema(item) for item in value]
        if not isinstance(value, dict):
            return value
        made: dict[str, Any] = {}
        for key, item in value.items():
            if key in ("xml", "externalDocs", "discriminator"):
                continue
            if key in _NAMED and isinstance(item, dict):
                made[key] = {name: self.schema(part) for name, part in item.items()}
            elif key == "$ref" and isinstance(item, str):
                made[key] = _local_reference(item)
            elif key == "example":
                made.setdefault("examples", [item])
            elif key in ("default", "enum", "const", "examples"):
                made[key] = item
            else:
                made[key] = self.schema(item)
        return made

    def component(self, name: str) -> Any:
        """A component schema by its name, rewritten once; None where there is none."""
        if name not in self.components:
            holder = self.document.get("components")
            schemas = holder.get("schemas") if isinstance(holder, dict) else None
            written = schemas.get(name) if isinstance(schemas, dict) else None
            self.components[name] = self.schema(written) if written is not None else None
        return self.components[name]

    def attach_definitions(self, schema: dict[str, Any], tool: str) -> None:
        """Put the components that a schema needs, nearest first, into its `$defs`; beyond the limit any value goes."""
        definitions: dict[str, Any] = {}
        waiting = deque(_references(schema))
        while waiting:
            name = _unescaped(waiting.popleft())
            if name in definitions or self.component(name) is None:
                continue
            if len(definitions) >= MAX_DEFINITIONS:
                definitions[name] = {}
                continue
            definitions[name] = self.component(name)
            waiting.extend(_references(definitions[name]))
        if len(definitions) > MAX_DEFINITIONS:
            self.too_many(tool)
        if definitions:
            schema["$defs"] = {name: definitions[name] for name in sorted(definitions)}


def _unescaped(name: str) -> str:
    return unescape_pointer(unquote(name))


def _local_reference(reference: str) -> str:
    if reference.startswith(_SCHEMA_PREFIX) and "/" not in reference[len(_SCHEMA_PREFIX) :]:
        return "#/$defs/" + reference[len(_SCHEMA_PREFIX) :]
    return reference


def _references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            if key == "$ref" and isinstance(item, str) and item.startswith("#/$defs/"):
                yield item.removeprefix("#/$defs/").split("/", 1)[0]
            else:
                yield from _references(item)
    elif isinstance(value, list):
        for item in value:
            yield from _references(item)
