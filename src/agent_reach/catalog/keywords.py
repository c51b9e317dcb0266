"""What becomes of single keywords on the way to 2020-12, apart from those that hold the structure together.

One function for each kind of keyword; `dialect` calls them through its table and keeps findings, anchors, patterns and
references.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_reach.catalog.bounded import Path
from agent_reach.catalog.type_words import JSON_TYPES, read_type

if TYPE_CHECKING:
    from agent_reach.catalog.dialect import Dialect

COUNTS = frozenset(
    {f"{bound}{part}" for bound in ("min", "max") for part in ("Length", "Items", "Properties", "Contains")}
)


def on_enum(dialect: Dialect, node: dict[str, Any], key: str, path: Path) -> None:
    """`enum`: a list of values; what is none is told and dropped."""
    value = node[key]
    if isinstance(value, list):
        if not value:
            dialect.note("annotation_repaired", (path, key), detail="an empty enum allows nothing; dropped")
            del node[key]
        return
    if isinstance(value, dict) and value:
        dialect.illegal("schema_illegal", (path, key), detail="enum is no list")
        dialect.note("annotation_repaired", (path, key), detail="enum is a mapping; its keys are read")
        node[key] = list(value)
        return
    if value is None:
        del node[key]
        return
    dialect.drop(node, key, path, "enum is no list")


def on_text(dialect: Dialect, node: dict[str, Any], key: str, path: Path) -> None:
    """Keywords that must be a text."""
    value = node[key]
    if isinstance(value, str):
        return
    if isinstance(value, list) and value and all(isinstance(line, str) for line in value):
        node[key] = "\n".join(value)
    elif value is None or key == "format" or isinstance(value, (dict, list)):
        del node[key]
    else:
        node[key] = str(value)
    if value is not None:
        dialect.note("annotation_repaired", (path, key), detail=f"{key} is {type(value).__name__}, not text")


def on_flag(dialect: Dialect, node: dict[str, Any], key: str, path: Path) -> None:
    """Keywords that must be true or false."""
    if not isinstance(node[key], bool):
        dialect.note("annotation_repaired", (path, key), detail=f"{key} is no boolean; dropped")
        del node[key]


def on_examples(dialect: Dialect, node: dict[str, Any], key: str, path: Path) -> None:
    """`examples`: a list; a single value becomes one."""
    value = node[key]
    if not isinstance(value, list):
        node[key] = list(value.values()) if isinstance(value, dict) else [value]


def on_number(dialect: Dialect, node: dict[str, Any], key: str, path: Path) -> None:
    """Numeric limits, the boolean exclusive ones of draft 04 among them."""
    value = node.get(key)
    if isinstance(value, bool) and key in ("exclusiveMinimum", "exclusiveMaximum"):
        limit = "minimum" if key == "exclusiveMinimum" else "maximum"
        bound = node.get(limit)
        del node[key]
        if value and isinstance(bound, (int, float)) and not isinstance(bound, bool):
            node[key] = node.pop(limit)
        dialect.converted = True
        dialect.note("draft_dialect", (path, key), detail=f"{key} is a flag", meant=f"{key}: {node.get(key)}")
        return
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        if key in COUNTS and (value < 0 or value != int(value)):
            dialect.drop(node, key, path, f"{key} is {value}")
        elif key == "multipleOf" and value <= 0:
            dialect.drop(node, key, path, f"multipleOf is {value}")
        return
    if value is None:
        node.pop(key, None)
        return
    number = _number_text(value)
    if number is not None:
        dialect.illegal("schema_illegal", (path, key), detail=f"{key} is text")
        dialect.note(
            "annotation_repaired", (path, key), detail=f"{key} is the text {value!r}; read as a number"
        )
        node[key] = number
        on_number(dialect, node, key, path)
        return
    dialect.drop(node, key, path, f"{key} is {type(value).__name__}")


def on_dependencies(dialect: Dialect, node: dict[str, Any], key: str, path: Path) -> None:
    """`dependencies` of older drafts, parted into the two keywords of today."""
    value = node.pop(key)
    if not isinstance(value, dict):
        return
    for name, item in value.items():
        if isinstance(item, str):
            item = [item]
        if isinstance(item, list):
            node.setdefault("dependentRequired", {})[name] = [part for part in item if isinstance(part, str)]
        else:
            place = ((path, key), name)
            node.setdefault("dependentSchemas", {})[name] = dialect.visit(item, place)
    dialect.converted = True
    dialect.note(
        "draft_dialect",
        (path, key),
        detail="dependencies",
        meant="dependentRequired and dependentSchemas",
    )


def on_dependent_required(dialect: Dialect, node: dict[str, Any], key: str, path: Path) -> None:
    """`dependentRequired`: lists of names by name."""
    value = node[key]
    if not isinstance(value, dict) or not all(isinstance(item, list) for item in value.values()):
        dialect.drop(node, key, path, "dependentRequired is no mapping of lists")


def on_nullable(dialect: Dialect, node: dict[str, Any], key: str, path: Path) -> None:
    """`nullable` of OpenAPI 3.0 becomes null among the types."""
    value = node.pop(key)
    if value is not True:
        return
    dialect.note("nullable_keyword", (path, key))
    kind = node.get("type")
    if isinstance(kind, str):
        if kind != "null":
            node["type"] = [kind if kind in JSON_TYPES else _one_type(kind), "null"]
    elif isinstance(kind, list) and "null" not in kind:
        node["type"] = [*kind, "null"]
    if isinstance(node.get("enum"), list) and None not in node["enum"]:
        node["enum"] = [*node["enum"], None]
    for name in ("anyOf", "oneOf"):
        options = node.get(name)
        if isinstance(options, list) and {"type": "null"} not in options:
            node[name] = [*options, {"type": "null"}]
    if "$ref" in node and "type" not in node:
        node["anyOf"] = [{"$ref": node.pop("$ref")}, {"type": "null"}]
        dialect.references.append((node["anyOf"][0], path))
    if isinstance(node.get("allOf"), list) and "type" not in node:
        node["anyOf"] = [{"allOf": node.pop("allOf")}, {"type": "null"}]
        dialect.visit(node["anyOf"][0], path)


def on_reference(dialect: Dialect, node: dict[str, Any], key: str, path: Path) -> None:
    """`$ref`: noted, to be settled when the whole schema is known."""
    value = node[key]
    if isinstance(value, str):
        if key != "$ref":
            del node[key]
            node.setdefault("$ref", value)
        return
    dialect.drop(node, key, path, f"{key} is no text")


def on_anchor(dialect: Dialect, node: dict[str, Any], key: str, path: Path) -> None:
    """`$anchor` and `$id`: places that a reference may name."""
    value = node[key]
    if key == "id" and not (isinstance(value, str) and (value.startswith("#") or "/" in value or path == ())):
        return
    del node[key]
    if isinstance(value, str) and value:
        name = "#" + value if key in ("$anchor", "$dynamicAnchor") else value
        dialect.anchors.setdefault(name, path)


def on_pattern(dialect: Dialect, node: dict[str, Any], key: str, path: Path) -> None:
    """`pattern`: compiled once; one that no engine reads is told and not checked."""
    if isinstance(node[key], str):
        dialect.patterns.append((node, key, (path, key)))
    elif node[key] is None:
        del node[key]
    else:
        dialect.drop(node, key, path, "pattern is no text")


def _one_type(word: str) -> str:
    known = read_type(word) or {}
    kind = known.get("type")
    return kind if isinstance(kind, str) else "string"


def _number_text(value: Any) -> int | float | None:
    if not isinstance(value, str):
        return None
    try:
        return int(value)
    except ValueError:
        pass
    try:
        number = float(value)
    except ValueError:
        return None
    return number if number == number and abs(number) != float("inf") else None
