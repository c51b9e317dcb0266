"""A schema of results that were seen, for tools that declare no output: enough to bind fields, not to validate.

Built from a few results; what none of them held is not known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agent_reach.graph.values import is_map_by_id

MAX_DEPTH = 6
MAX_ITEMS = 20


def observed_schema(values: Sequence[Any]) -> dict[str, Any] | None:
    """A JSON schema that describes the values, or None where they hold nothing."""
    found = _schema(list(values), 0)
    return found or None


def _schema(values: list[Any], depth: int) -> dict[str, Any]:
    values = [value for value in values if value is not None]
    if not values or depth > MAX_DEPTH:
        return {}
    records = [value for value in values if isinstance(value, Mapping)]
    if records and all(is_map_by_id(record) for record in records):
        inner = [item for record in records for item in list(record.values())[:MAX_ITEMS]]
        return {"type": "object", "additionalProperties": _schema(inner, depth + 1) or {"type": "string"}}
    if records:
        names = dict.fromkeys(str(key) for record in records for key in record)
        properties = {
            name: _schema([record[name] for record in records if name in record], depth + 1) for name in names
        }
        return {
            "type": "object",
            "properties": {name: schema for name, schema in properties.items() if schema},
        }
    lists = [value for value in values if isinstance(value, (list, tuple))]
    if lists:
        inner = [item for value in lists for item in value[:MAX_ITEMS]]
        return {"type": "array", "items": _schema(inner, depth + 1)}
    kinds = {_kind(value) for value in values}
    return {"type": sorted(kinds)[0] if len(kinds) == 1 else sorted(kinds)}


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    return "number" if isinstance(value, float) else "string"
