"""What a schema says of a value, read without a value: its types, its choices, its names, its target.

All functions are bounded and never follow a reference out of the document; they take any JSON and never raise.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agent_reach.catalog.references import follow_reference

MAX_REFERENCE_STEPS = 32


def resolved_schema(schema: Any, root: Any) -> Any:
    """The schema with its own local reference followed (at most `MAX_REFERENCE_STEPS` in a row), siblings kept.

    Keywords beside the reference win over the target's; `properties` and `required` of both are joined. Deeper
    references stay. A boolean schema stays; a reference that leads nowhere is left out.
    """
    current = schema
    for _ in range(MAX_REFERENCE_STEPS):
        if not isinstance(current, Mapping):
            return current
        reference = current.get("$ref")
        if not isinstance(reference, str):
            return current
        beside = {key: value for key, value in current.items() if key != "$ref"}
        target = follow_reference(root, reference)
        if not isinstance(target, Mapping):
            current = beside if target is not False else False
            continue
        merged = {**target, **beside}
        for key in ("properties", "$defs"):
            if isinstance(target.get(key), Mapping) and isinstance(beside.get(key), Mapping):
                merged[key] = {**target[key], **beside[key]}
        if "required" in target and "required" in beside:
            merged["required"] = list(dict.fromkeys([*target["required"], *beside["required"]]))
        current = merged
    if isinstance(current, Mapping):
        return {key: value for key, value in current.items() if key != "$ref"}
    return current


_TYPE_OF = {str: "string", bool: "boolean", int: "integer", float: "number", list: "array", dict: "object"}


def _types(schema: Any, root: Any, depth: int) -> frozenset[str]:
    """All effective types, null included; empty means any."""
    if depth > 16 or not isinstance(schema, Mapping):
        return frozenset()
    schema = resolved_schema(schema, root if root is not None else schema)
    if not isinstance(schema, Mapping):
        return frozenset()
    kind = schema.get("type")
    if isinstance(kind, str):
        found = frozenset({kind})
    elif isinstance(kind, (list, tuple)):
        found = frozenset(kind)
    else:
        found = frozenset()
    values = [schema["const"]] if "const" in schema else schema.get("enum")
    if not found and isinstance(values, (list, tuple)) and values:
        found = frozenset(
            "null" if value is None else _TYPE_OF.get(type(value), "string") for value in values
        )
    for key in ("anyOf", "oneOf"):
        options = schema.get(key)
        if isinstance(options, (list, tuple)) and options:
            parts = [_types(option, root, depth + 1) for option in options if option is not False]
            union = frozenset[str]().union(*parts) if all(parts) else frozenset()
            found = union if not found else (found & union or found) if union else found
    if not found:
        for option in schema.get("allOf") or ():
            part = _types(option, root, depth + 1)
            found = part if not found else (found & part or found)
    if not found and "properties" in schema:
        found = frozenset({"object"})
    if not found and ("items" in schema or "prefixItems" in schema):
        found = frozenset({"array"})
    return found


def parameter_types(schema: Any, root: Any = None) -> frozenset[str]:
    """The effective types of a parameter without `null` (see `is_nullable`); empty means any value.

    Looks through local references (into `root`), `anyOf`, `oneOf`, `allOf`, `const` and `enum`.
    """
    return _types(schema, root, 0) - {"null"}


def is_nullable(schema: Any, root: Any = None) -> bool:
    """True if the schema allows null expressly: in its type, its choices or its enum."""
    found = _types(schema, root, 0)
    if "null" not in found:
        return False
    resolved = resolved_schema(schema, root if root is not None else schema)
    values = resolved.get("enum") if isinstance(resolved, Mapping) else None
    return not isinstance(values, (list, tuple)) or None in values


def allowed_values(schema: Any, root: Any = None) -> tuple[Any, ...] | None:
    """The values that enum and const allow, through references and choices; None where they are not listed."""
    return _allowed(schema, root if root is not None else schema, 0)


def _allowed(schema: Any, root: Any, depth: int) -> tuple[Any, ...] | None:
    if depth > 8 or not isinstance(schema, Mapping):
        return None
    schema = resolved_schema(schema, root)
    if not isinstance(schema, Mapping):
        return None
    if "const" in schema:
        return (schema["const"],)
    if isinstance(schema.get("enum"), (list, tuple)):
        return tuple(schema["enum"])
    if schema.get("type") == "null":
        return (None,)
    for key in ("anyOf", "oneOf"):
        options = schema.get(key)
        if isinstance(options, (list, tuple)) and options:
            parts = [_allowed(option, root, depth + 1) for option in options]
            if all(part is not None for part in parts):
                return tuple(value for part in parts if part is not None for value in part)
    for option in schema.get("allOf") or ():
        part = _allowed(option, root, depth + 1)
        if part is not None:
            return part
    return None


def known_names(schema: Mapping[str, Any]) -> frozenset[str] | None:
    """The top-level argument names that a schema declares, or None where it welcomes others too."""
    names: set[str] = set()
    return frozenset(names) if _collect_names(schema, schema, names, 0, set()) else None


def _collect_names(node: Any, root: Any, names: set[str], depth: int, seen: set[int]) -> bool:
    if not isinstance(node, Mapping):
        return depth == 0 or node is not True
    if depth > 24 or id(node) in seen:
        return depth <= 24
    seen.add(id(node))
    extra = node.get("additionalProperties", node.get("unevaluatedProperties", False))
    if extra is not False or node.get("patternProperties"):
        return False
    properties = node.get("properties")
    if isinstance(properties, Mapping):
        names.update(properties)
    parts: list[Any] = []
    if isinstance(node.get("$ref"), str):
        target = follow_reference(root, node["$ref"])
        parts.append(target)
    for key in ("allOf", "anyOf", "oneOf"):
        parts.extend(node.get(key) or ())
    parts.extend(node[key] for key in ("if", "then", "else") if key in node)
    parts.extend((node.get("dependentSchemas") or {}).values())
    names.update(name for name in node.get("required") or () if depth)
    return all(
        _collect_names(part, root, names, depth + 1, seen) for part in parts if isinstance(part, Mapping)
    )
