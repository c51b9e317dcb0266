"""Tools as providers want them: limits kept, changes told, the way back open."""

import json
from typing import Any

import pytest

from agent_reach.catalog.catalog import Catalog
from agent_reach.catalog.export import FORMS, export_tools, to_anthropic, to_gemini, to_mcp, to_openai
from agent_reach.errors import InputError


def catalog_of(properties: dict[str, Any], **more: Any) -> Catalog:
    schema = {"type": "object", "properties": properties, **more}
    return Catalog.load({"tools": [{"name": "t", "description": "Text.", "inputSchema": schema}]})


def gemini(properties: dict[str, Any], **more: Any) -> tuple[dict[str, Any], list[str]]:
    exported = to_gemini(catalog_of(properties, **more))
    return exported.definitions[0]["parameters"], [change.rule for change in exported.changes]


def test_a_plain_tool_goes_out_unchanged() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"type": "string", "enum": ["x"]}},
        "required": ["a"],
        "additionalProperties": False,
    }
    catalog = Catalog.load(
        {
            "tools": [
                {
                    "name": "t",
                    "description": "Text.",
                    "inputSchema": schema,
                    "outputSchema": {"type": "object"},
                    "annotations": {"readOnlyHint": True},
                }
            ]
        }
    )
    assert to_openai(catalog).definitions[0] == {
        "type": "function",
        "function": {"name": "t", "description": "Text.", "parameters": schema},
    }
    assert to_anthropic(catalog).definitions[0] == {
        "name": "t",
        "description": "Text.",
        "input_schema": schema,
    }
    (back,) = to_mcp(catalog).definitions
    assert back["inputSchema"] == schema
    assert back["annotations"] == {"readOnlyHint": True}
    for form in ("openai", "responses", "anthropic", "langchain", "mcp"):
        assert export_tools(catalog, form).changes == ()


def test_names_and_descriptions_keep_the_limits() -> None:
    catalog = Catalog.load(
        {"tools": [{"name": "查询库存", "description": "x" * 3000, "inputSchema": {"type": "object"}}]}
    )
    exported = to_openai(catalog)
    function = exported.definitions[0]["function"]
    assert len(function["description"]) == 1024
    assert function["name"].isascii()
    assert exported.names[function["name"]] == "查询库存"
    assert [change.rule for change in exported.changes] == ["name_changed", "description_cut"]
    assert len(to_anthropic(catalog, max_description=10).definitions[0]["description"]) == 10
    many = Catalog.load([{"name": f"t{index}", "parameters": {}} for index in range(129)])
    assert len(to_openai(many).definitions) == 129
    assert to_openai(many).changes[-1].rule == "too_many_tools"


def test_choices_at_the_root_become_one_object() -> None:
    exported = to_openai(
        catalog_of(
            {"a": {"type": "string"}},
            required=["a"],
            oneOf=[
                {"properties": {"b": {"type": "string"}, "k": {"const": 1}}, "required": ["b", "k"]},
                {"properties": {"c": {"type": "string"}, "k": {"const": 2}}, "required": ["k"]},
            ],
        )
    )
    schema = exported.definitions[0]["function"]["parameters"]
    assert list(schema["properties"]) == ["a", "b", "k", "c"]
    assert schema["required"] == ["a", "k"]
    assert schema["properties"]["k"] == {"anyOf": [{"const": 1}, {"const": 2}]}
    assert "oneOf" not in schema
    assert [change.rule for change in exported.changes] == ["choice_merged"]


def test_gemini_gets_its_subset() -> None:
    schema, rules = gemini(
        {
            "a": {"type": ["string", "null"], "format": "uri", "title": "A"},
            "b": {"type": "integer", "exclusiveMinimum": 0, "multipleOf": 5},
            "c": {"enum": [1, 2], "description": "C."},
            "d": {"$ref": "#/$defs/Node"},
            "e": {"oneOf": [{"type": "string"}, {"type": "integer"}]},
            "f": {"type": "object", "additionalProperties": {"type": "string"}},
            "g": {"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}]},
        },
        **{"$defs": {"Node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}}}},
    )
    properties = schema["properties"]
    assert properties["a"] == {"type": "STRING", "nullable": True, "title": "A"}
    assert properties["b"] == {"type": "INTEGER", "minimum": 1}
    assert properties["c"] == {"type": "INTEGER", "description": "C. One of: 1, 2."}
    assert properties["d"] == {"type": "OBJECT", "properties": {"next": {"type": "OBJECT"}}}
    assert properties["e"] == {"anyOf": [{"type": "STRING"}, {"type": "INTEGER"}]}
    assert properties["f"] == {"type": "OBJECT"}
    assert properties["g"] == {"type": "ARRAY", "items": {"type": "STRING"}, "nullable": True}
    assert "$defs" not in schema
    for rule in (
        "format_dropped",
        "bound_rewritten",
        "keyword_dropped",
        "enum_as_text",
        "recursion_cut",
        "choice_as_any_of",
        "nullable_as_keyword",
    ):
        assert rule in rules
    (bare,) = to_gemini(catalog_of({})).definitions
    assert bare == {"name": "t", "description": "Text."}


def test_aliases_lead_back_at_every_depth() -> None:
    exported = to_anthropic(
        catalog_of(
            {
                "订单": {
                    "type": "object",
                    "properties": {"商品 编号": {"type": "string"}},
                    "required": ["商品 编号"],
                },
                "list[]": {"type": "array", "items": {"type": "object", "properties": {"x y": {}}}},
            },
            required=["订单"],
        )
    )
    schema = exported.definitions[0]["input_schema"]
    outer = schema["required"][0]
    inner = schema["properties"][outer]["required"][0]
    (rows,) = [name for name in schema["properties"] if name != outer]
    (cell,) = schema["properties"][rows]["items"]["properties"]
    sent = {outer: {inner: "1"}, rows: [{cell: 2}]}
    assert exported.restore_arguments("t", sent) == {"订单": {"商品 编号": "1"}, "list[]": [{"x y": 2}]}
    assert exported.restore_arguments("unknown", {"a": 1}) == {"a": 1}


def test_notes_reach_the_model_and_rivals_only_when_shown() -> None:
    tools = [
        {
            "name": "update_stock",
            "description": "Sets the stock.",
            "parameters": {
                "type": "object",
                "properties": {"level": {"type": "string", "description": "How urgent."}},
            },
        },
        {"name": "adjust_stock", "description": "Adds to it.", "parameters": {}},
    ]
    overlay = {
        "tools": {
            "update_stock": {
                "note": {
                    "summary": "Set an absolute number.",
                    "triggers": ["补到 50 件"],
                    "param_hints": {
                        "level": {
                            "names": ["urgency"],
                            "values": {"high": ["紧急"]},
                            "format": "word",
                            "example": "high",
                        }
                    },
                    "conflicts": {"adjust_stock": "adds a difference", "gone_tool": "never shown"},
                }
            }
        }
    }
    catalog = Catalog.load(tools, overlay=overlay)
    view = catalog.model_view("update_stock")
    assert view["description"].splitlines() == [
        "Set an absolute number.",
        "Sets the stock.",
        "Use for requests like: 补到 50 件",
        "Not adjust_stock: adds a difference",
    ]
    assert view["parameters"]["properties"]["level"]["description"] == (
        "How urgent. Also called: urgency. Values: high (紧急). Format: word. Example: high"
    )
    assert "adjust_stock" not in catalog.subset(["update_stock"]).model_view("update_stock")["description"]
    assert catalog.model_view("update_stock", max_description=3)["description"] == "Set"
    plain = to_openai(catalog, notes=False).definitions[0]["function"]
    assert plain["description"] == "Sets the stock."
    assert catalog.get("update_stock").parameters["level"]["description"] == "How urgent."


def test_an_unknown_form_is_refused_with_the_nearest() -> None:
    with pytest.raises(InputError, match="openay") as caught:
        export_tools(catalog_of({}), "openay")
    assert "'openai'" in caught.value.next_step


def test_every_form_writes_json() -> None:
    catalog = catalog_of(
        {
            "a": True,
            "b": False,
            "c": {"items": True, "type": "array"},
            "d": {"not": {"type": "string"}},
            "e": {
                "allOf": [
                    {"type": "object", "properties": {"x": {}}, "required": ["x"]},
                    {"description": "d"},
                ]
            },
        }
    )
    for form in FORMS:
        json.dumps(export_tools(catalog, form).definitions)
