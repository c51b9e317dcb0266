"""Arguments and results sketched from a schema: legal where possible, and plainly placeholders.

What the schema says itself (default, example, enum) comes first; the rest is a placeholder of the right type. A value
that cannot be sketched is None with `found` False, and the caller leaves it open.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agent_reach.catalog.schema import allowed_values, is_legal, parameter_types, resolved_schema
from agent_reach.records.tool import Tool

_FORMATS = {
    "date": "2025-12-10",
    "date-time": "2025-12-10T10:00:00Z",
    "time": "10:00:00Z",
    "email": "ada@example.com",
    "uri": "https://example.com/",
    "url": "https://example.com/",
    "uuid": "123e4567-e89b-42d3-a456-426614174000",
    "ipv4": "192.0.2.1",
    "hostname": "example.com",
}
_DEEPEST = 4


@dataclass(frozen=True, slots=True)
class Sketch:
    """A value, and whether one was found."""

    value: Any
    found: bool = True


def sketch_arguments(tool: Tool) -> dict[str, Any]:
    """Required arguments of a tool, sketched; what cannot be sketched legally is `{$any: true}`."""
    hints = tool.note.param_hints if tool.note is not None else {}
    values: dict[str, Any] = {}
    for name in tool.required:
        hint = hints.get(name)
        if hint is not None and hint.example is not None:
            values[name] = hint.example
        elif hint is not None and hint.values:
            values[name] = next(iter(hint.values))
        else:
            sketch = sketch_value(tool.parameters.get(name), tool.input_schema, name)
            values[name] = sketch.value if sketch.found else {"$any": True}
    literal = {name: value for name, value in values.items() if value != {"$any": True}}
    if is_legal(tool, literal) or len(literal) < len(values):
        return values
    return {
        name: value if _alone_legal(tool, values, name) else {"$any": True} for name, value in values.items()
    }


def _alone_legal(tool: Tool, values: Mapping[str, Any], name: str) -> bool:
    from agent_reach.catalog.schema import argument_problems

    return not any(
        problem.pointer == f"/{name}" or problem.pointer.startswith(f"/{name}/")
        for problem in argument_problems(tool, dict(values))
    )


def sketch_value(schema: Any, root: Any, name: str, depth: int = 0) -> Sketch:
    """One value for a schema."""
    resolved = resolved_schema(schema, root)
    if not isinstance(resolved, Mapping):
        return Sketch(_placeholder(name))
    for key in ("default", "example"):
        if resolved.get(key) is not None:
            return Sketch(resolved[key])
    examples = resolved.get("examples")
    if isinstance(examples, (list, tuple)) and examples:
        return Sketch(examples[0])
    allowed = allowed_values(resolved, root)
    if allowed:
        return Sketch(next((value for value in allowed if value is not None), allowed[0]))
    for key in ("anyOf", "oneOf"):
        options = resolved.get(key)
        if isinstance(options, (list, tuple)) and options and depth < _DEEPEST:
            kept = [option for option in options if parameter_types(option, root)] or list(options)
            return sketch_value(kept[0], root, name, depth + 1)
    return _by_type(resolved, root, name, depth)


def _by_type(schema: Mapping[str, Any], root: Any, name: str, depth: int) -> Sketch:
    types = parameter_types(schema, root)
    if "string" in types or not types:
        if schema.get("pattern") is not None:
            return Sketch(None, found=False)
        text = _FORMATS.get(str(schema.get("format", "")), _placeholder(name))
        longest = schema.get("maxLength")
        return Sketch(text[:longest] if isinstance(longest, int) else text)
    if types & {"integer", "number"}:
        return Sketch(_number(schema))
    if "boolean" in types:
        return Sketch(True)
    if depth >= _DEEPEST:
        return Sketch(None, found=False)
    if "array" in types:
        item = sketch_value(schema.get("items", True), root, name, depth + 1)
        return Sketch([item.value], found=item.found)
    if "object" in types:
        return _object(schema, root, depth)
    return Sketch(None, found=False)


def _number(schema: Mapping[str, Any]) -> int | float:
    value: int | float = 1
    low, high = schema.get("minimum"), schema.get("maximum")
    if isinstance(schema.get("exclusiveMinimum"), (int, float)):
        low = schema["exclusiveMinimum"] + 1
    if isinstance(low, (int, float)) and value < low:
        value = low
    if isinstance(high, (int, float)) and value > high:
        value = high
    step = schema.get("multipleOf")
    return step if isinstance(step, (int, float)) and value == 1 else value


def _object(schema: Mapping[str, Any], root: Any, depth: int) -> Sketch:
    properties = schema.get("properties")
    required = schema.get("required")
    out: dict[str, Any] = {}
    for key in required if isinstance(required, (list, tuple)) else ():
        part = sketch_value(
            properties.get(key) if isinstance(properties, Mapping) else None, root, str(key), depth + 1
        )
        if not part.found:
            return Sketch(None, found=False)
        out[str(key)] = part.value
    return Sketch(out)


def _placeholder(name: str) -> str:
    """`order_id` -> ORDER-ID: seen at once to be filled in."""
    from agent_reach.text.tokens import split_identifier

    return "-".join(word.upper() for word in split_identifier(name)) or "VALUE"
