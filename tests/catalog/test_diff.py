"""What changed between two catalogs, and what it means."""

import json
from typing import Any

import pytest

from agent_reach.catalog.catalog import Catalog
from agent_reach.catalog.diff import CatalogDiff, diff_catalogs


def tool(name: str = "t", properties: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties or {}, **more.pop("schema", {})}
    return {"name": name, "description": more.pop("description", "Text."), "inputSchema": schema, **more}


def difference(old: list[dict[str, Any]], new: list[dict[str, Any]]) -> CatalogDiff:
    return diff_catalogs(Catalog.load({"tools": old}), Catalog.load({"tools": new}))


def kinds(old: dict[str, Any], new: dict[str, Any]) -> list[tuple[str, str, str]]:
    (changed,) = difference([old], [new]).changed
    return [(change.kind, change.field, change.pointer) for change in changed.changes]


PLAIN = {"a": {"type": "string"}}


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (tool(), tool(description="Other."), [("wording", "description", "")]),
        (tool(properties=PLAIN), tool(properties={"a": {"type": "string", "description": "x"}}), [("wording", "input_schema", "/properties/a/description")]),
        (tool(properties=PLAIN), tool(properties={**PLAIN, "b": {}}), [("compatible", "input_schema", "/properties/b")]),
        (tool(properties=PLAIN), tool(properties={**PLAIN, "b": {}}, schema={"required": ["b"]}), [("breaking", "input_schema", "/properties/b")]),
        (tool(properties=PLAIN), tool(), [("breaking", "input_schema", "/properties/a")]),
        (tool(properties=PLAIN), tool(properties=PLAIN, schema={"required": ["a"]}), [("breaking", "input_schema", "/required")]),
        (tool(properties=PLAIN, schema={"required": ["a"]}), tool(properties=PLAIN), [("compatible", "input_schema", "/required")]),
        (tool(properties=PLAIN), tool(properties={"a": {"type": "integer"}}), [("breaking", "input_schema", "/properties/a/type")]),
        (tool(properties=PLAIN), tool(properties={"a": {"anyOf": [{"type": "string"}, {"type": "null"}]}}), [("compatible", "input_schema", "/properties/a/type")]),
        (tool(properties={"a": {"type": "integer"}}), tool(properties={"a": {"type": "number"}}), [("compatible", "input_schema", "/properties/a/type")]),
        (tool(properties={"a": {"enum": [1, 2]}}), tool(properties={"a": {"enum": [2, 1, 3]}}), [("compatible", "input_schema", "/properties/a/enum")]),
        (tool(properties={"a": {"enum": [1, 2]}}), tool(properties={"a": {"enum": [1]}}), [("breaking", "input_schema", "/properties/a/enum")]),
        (tool(properties={"a": {"type": "integer", "maximum": 5}}), tool(properties={"a": {"type": "integer", "maximum": 9}}), [("compatible", "input_schema", "/properties/a/maximum")]),
        (tool(properties={"a": {"type": "integer"}}), tool(properties={"a": {"type": "integer", "maximum": 9}}), [("breaking", "input_schema", "/properties/a/maximum")]),
        (tool(properties=PLAIN), tool(properties={"a": {"type": "string", "pattern": "x"}}), [("breaking", "input_schema", "/properties/a/pattern")]),
        (tool(properties=PLAIN), tool(properties={"a": {"type": "string", "default": "x"}}), [("compatible", "input_schema", "/properties/a/default")]),
        (tool(properties=PLAIN), tool(properties=PLAIN, schema={"additionalProperties": False}), [("breaking", "input_schema", "/additionalProperties")]),
        (tool(annotations={"readOnlyHint": True}), tool(annotations={"readOnlyHint": False}), [("wider", "annotations.readOnlyHint", ""), ("wider", "effects", "")]),
        (tool(), tool(annotations={"destructiveHint": True}), [("wider", "annotations.destructiveHint", ""), ("wider", "effects", "")]),
        (tool(outputSchema={"type": "object", "properties": PLAIN}), tool(outputSchema={"type": "object", "properties": {**PLAIN, "b": {}}}), [("compatible", "output_schema", "/properties/b")]),
        (tool(outputSchema={"type": "object", "properties": PLAIN}), tool(outputSchema={"type": "object", "properties": {}}), [("breaking", "output_schema", "/properties/a")]),
        (tool(outputSchema={"type": "object"}), tool(), [("breaking", "output_schema", "")]),
        (tool(), tool(outputSchema={"type": "object"}), [("compatible", "output_schema", "")]),
    ],
)  # fmt: skip
def test_each_change_has_its_kind(
    old: dict[str, Any], new: dict[str, Any], expected: list[tuple[str, str, str]]
) -> None:
    assert kinds(old, new) == expected


def test_changes_behind_references_are_found() -> None:
    def referring(kind: str) -> dict[str, Any]:
        return tool(
            properties={"a": {"$ref": "#/$defs/A"}},
            schema={
                "$defs": {
                    "A": {
                        "type": "object",
                        "properties": {"n": {"type": kind}, "self": {"$ref": "#/$defs/A"}},
                    }
                }
            },
        )

    assert kinds(referring("string"), referring("integer")) == [
        ("breaking", "input_schema", "/properties/a/properties/n/type")
    ]


def test_added_removed_and_renamed() -> None:
    long = "Set the stock of one product in one warehouse to a number."
    old = [
        tool("update_stock", PLAIN, description=long),
        tool("gone", PLAIN, description="Quite another thing."),
        tool(
            "list_orders",
            {"page": {"type": "integer"}, "customer": {}},
            description="List all orders of a customer by page.",
        ),
    ]
    new = [
        tool("set_stock", PLAIN, description=long),
        tool("fresh", {"q": {}}, description="Something new.", annotations={"destructiveHint": True}),
        tool(
            "list_customer_orders",
            {"page": {"type": "integer"}, "customer": {}},
            description="List orders of a customer by page.",
        ),
    ]
    found = difference(old, new)
    assert [(rename.old, rename.new, rename.exact) for rename in found.renamed] == [
        ("list_orders", "list_customer_orders", False),
        ("update_stock", "set_stock", True),
    ]
    assert found.added == ("fresh",)
    assert found.added_writes == ("fresh",)
    assert found.removed == ("gone",)
    assert found.kinds == ("wider", "breaking", "compatible")
    json.dumps(found.document())


def test_tools_that_become_unusable() -> None:
    broken = {
        "name": "t",
        "description": "Text.",
        "inputSchema": {"type": "object", "properties": {"a": {"type": "Zahl"}}},
    }
    found = difference([tool()], [broken])
    assert found.quarantined == ("t",)
    assert found.removed == ()
    back = difference([broken], [tool()])
    assert back.released == ("t",)
    assert back.added == ()


def test_needs_and_effects_of_the_overlay() -> None:
    catalog = Catalog.load({"tools": [tool()]})
    one = catalog.with_overlay(
        {"tools": {"t": {"needs": {"scopes": ["a"]}, "effect": "read", "aliases": ["u"]}}}
    )
    two = catalog.with_overlay({"tools": {"t": {"needs": {"scopes": ["a", "b"]}, "effect": "write"}}})
    (changed,) = diff_catalogs(one, two).changed
    assert [(change.field, change.kind) for change in changed.changes] == [
        ("effects", "wider"),
        ("needs.scopes", "wider"),
        ("aliases", "breaking"),
    ]
    assert diff_catalogs(one, two).drift
    assert changed.kind == "wider"


def test_nothing_changed() -> None:
    found = difference([tool(properties=PLAIN)], [tool(properties=PLAIN)])
    assert not found.drift
    assert found.kinds == ()
