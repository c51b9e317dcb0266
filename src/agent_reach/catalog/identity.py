"""What a tool is, as hashed: the definition that reaches a model, and nothing that a machine or a moment adds.

The hash of a tool covers canonical name, server, title, description, input schema, output schema and annotations of the
**original** definition, and the agent note, which is the part of an overlay that reaches a model. The hash of a catalog
covers the hashes of its tools, sorted; so it does not depend on the order of tools or of keys. See `docs/catalog.md`
for the form as a contract.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from agent_reach.catalog.definitions import read_definition
from agent_reach.records.codec import content_hash, to_json
from agent_reach.records.tool import Tool

HASH_VERSION = 1
HASHED_FIELDS = ("title", "description", "inputSchema", "outputSchema", "annotations")


def hashed_definition(tool: Tool) -> dict[str, Any]:
    """The canonical value that a tool's hash is made of; absent parts are left out."""
    parts: dict[str, Any] = {"server": tool.server, "name": tool.name}
    definition = read_definition(tool.original) if tool.original else None
    if definition is None:
        found: tuple[Any, ...] = (
            tool.title,
            tool.description,
            tool.input_schema,
            tool.output_schema,
            tool.annotations,
        )
    else:
        found = (
            definition.title,
            definition.description,
            definition.input_schema,
            definition.output_schema,
            definition.annotations,
        )
    for name, value in zip(HASHED_FIELDS, found, strict=True):
        if value not in (None, "") and not (name == "annotations" and not value):
            parts[name] = value
    if tool.note is not None:
        parts["note"] = to_json(tool.note)
    return parts


def tool_hash(tool: Tool) -> str:
    """The `sha256:` hash of one tool."""
    return content_hash(_finite(hashed_definition(tool)))


def catalog_hash(tools: Iterable[Tool], quarantined: Iterable[Mapping[str, Any]] = ()) -> str:
    """The `sha256:` hash of a catalog; quarantined definitions count too, since they come back when they are mended."""
    return content_hash(
        {
            "hash_version": HASH_VERSION,
            "tools": sorted(tool_hash(tool) for tool in tools),
            "quarantined": sorted(content_hash(_finite(original)) for original in quarantined),
        }
    )


def _finite(value: Any) -> Any:
    """The value as canonical JSON takes it: definitions made by hand may hold NaN or objects."""
    from agent_reach.catalog.bounded import bounded_copy

    copied, _ = bounded_copy(value)
    return copied
