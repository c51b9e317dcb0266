"""Tool definitions in every form that people have, and the types they write."""

import json
from pathlib import Path
from typing import Any

import pytest

from agent_reach.catalog.catalog import Catalog
from agent_reach.catalog.export import FORMS, export_tools
from agent_reach.catalog.schema import argument_problems, is_legal
from agent_reach.catalog.type_words import read_type
from agent_reach.errors import CatalogError

from .builders import codes

SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
    "required": ["city"],
}
TEXT = "Forecast for a city."

FORMS_IN: dict[str, Any] = {
    "mcp list": {"tools": [{"name": "forecast", "description": TEXT, "inputSchema": SCHEMA}]},
    "mcp answer": {
        "jsonrpc": "2.0",
        "id": 1,
        "result": {"tools": [{"name": "forecast", "description": TEXT, "inputSchema": SCHEMA}]},
    },
    "openai chat": [
        {
            "type": "function",
            "function": {"name": "forecast", "description": TEXT, "parameters": SCHEMA, "strict": True},
        }
    ],
    "openai request": {
        "model": "m",
        "messages": [],
        "tools": [
            {"type": "function", "function": {"name": "forecast", "description": TEXT, "parameters": SCHEMA}}
        ],
    },
    "openai old": {"functions": [{"name": "forecast", "description": TEXT, "parameters": SCHEMA}]},
    "responses": [
        {"type": "function", "name": "forecast", "description": TEXT, "parameters": SCHEMA, "strict": False}
    ],
    "anthropic": [
        {
            "name": "forecast",
            "description": TEXT,
            "input_schema": SCHEMA,
            "cache_control": {"type": "ephemeral"},
        }
    ],
    "anthropic custom": [{"type": "custom", "name": "forecast", "description": TEXT, "input_schema": SCHEMA}],
    "langchain schema": [{"title": "forecast", "description": TEXT, **SCHEMA}],
    "langchain args_schema": [{"name": "forecast", "description": TEXT, "args_schema": SCHEMA}],
    "gemini": [
        {
            "functionDeclarations": [
                {
                    "name": "forecast",
                    "description": TEXT,
                    "parameters": {
                        "type": "OBJECT",
                        "properties": {"city": {"type": "STRING"}, "days": {"type": "INTEGER"}},
                        "required": ["city"],
                    },
                }
            ]
        }
    ],
    "gemini json schema": {
        "functionDeclarations": [{"name": "forecast", "description": TEXT, "parametersJsonSchema": SCHEMA}]
    },
    "arguments as text": [{"name": "forecast", "description": TEXT, "parameters": json.dumps(SCHEMA)}],
    "by name": {"forecast": {"description": TEXT, "parameters": SCHEMA}},
}


@pytest.mark.parametrize("form", FORMS_IN)
def test_every_form_is_the_same_tool(form: str) -> None:
    catalog = Catalog.load(FORMS_IN[form])
    (tool,) = catalog.tools
    assert (tool.key, tool.description) == ("forecast", TEXT)
    schema = {key: tool.input_schema[key] for key in ("type", "properties", "required")}
    assert schema == SCHEMA
    assert codes(catalog) == []
    assert is_legal(tool, {"city": "Oslo", "days": 2})
    assert not is_legal(tool, {"days": 2})


@pytest.mark.parametrize("form", FORMS)
def test_what_goes_out_comes_in_again(form: str) -> None:
    catalog = Catalog.load(FORMS_IN["mcp list"])
    again = Catalog.load(list(export_tools(catalog, form).definitions))
    (tool,) = again.tools
    assert (tool.name, tool.description) == ("forecast", TEXT)
    assert tool.parameters == catalog.tools[0].parameters
    assert tool.required == ("city",)
    assert codes(again) == []


@pytest.mark.parametrize(
    ("parameters", "code"),
    [
        (
            [
                {"name": "city", "type": "string", "required": True},
                {"name": "days", "type": "int", "required": False},
            ],
            "parameters_list",
        ),
        ({"city": {"type": "str", "required": True}, "days": {"type": "int"}}, "parameters_list"),
        (
            {
                "type": "dict",
                "required": ["city"],
                "properties": {"city": {"type": "str"}, "days": {"type": "int"}},
            },
            "type_alias",
        ),
        (
            {"type": "object", "required": ["city"], "properties": {"city": "string", "days": "integer"}},
            "type_alias",
        ),
        (
            {
                "type": "object",
                "required": "city",
                "properties": {"city": {"type": "Text"}, "days": {"type": "long"}},
            },
            "draft_dialect",
        ),
        (
            {"properties": {"city": {"type": "string", "required": True}, "days": {"type": ["int", "null"]}}},
            "draft_dialect",
        ),
    ],
)
def test_dialects_are_repaired_with_a_finding(parameters: Any, code: str) -> None:
    catalog = Catalog.load([{"name": "forecast", "parameters": parameters}])
    (tool,) = catalog.tools
    assert code in codes(catalog)
    assert tool.required == ("city",)
    assert is_legal(tool, {"city": "Oslo", "days": 2})
    assert [problem.code for problem in argument_problems(tool, {"city": 1, "days": "x"})] == [
        "wrong_type",
        "wrong_type",
    ]


@pytest.mark.parametrize(
    ("word", "schema"),
    [
        ("dict", {"type": "object"}),
        ("int", {"type": "integer"}),
        ("float", {"type": "number"}),
        ("list", {"type": "array"}),
        ("tuple", {"type": "array"}),
        ("bool", {"type": "boolean"}),
        ("any", {}),
        ("List[str]", {"type": "array", "items": {"type": "string"}}),
        ("Dict[str, int]", {"type": "object", "additionalProperties": {"type": "integer"}}),
        ("Optional[int]", {"type": ["integer", "null"]}),
        ("string | None", {"type": ["string", "null"]}),
        ("Union[int, str]", {"type": ["integer", "string"]}),
        ("string[]", {"type": "array", "items": {"type": "string"}}),
        ("array<number>", {"type": "array", "items": {"type": "number"}}),
        ("HashMap", {"type": "object"}),
        ("DATE (YYYY-MM-DD)", {"type": "string"}),
        ("Wallet", None),
        ("", None),
    ],
)
def test_written_types(word: str, schema: dict[str, Any] | None) -> None:
    assert read_type(word) == schema


@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        ({"type": "integer", "minimum": "3", "maximum": "7.5"}, [3, 7], [2, 8]),
        ({"type": "string", "maxLength": "2", "minLength": -1}, ["ab"], ["abc"]),
        ({"type": "number", "multipleOf": 0}, [1.5], ["x"]),
        ({"enum": {"a": "first", "b": "second"}}, ["a"], ["c"]),
        (
            {"type": "string", "format": 5, "title": None, "description": ["one", "two"], "examples": "x"},
            ["a"],
            [1],
        ),
        ({"type": "string", "uniqueItems": "no", "deprecated": "yes"}, ["a"], [1]),
        ({"anyOf": {"type": "string"}}, ["a"], [1]),
        ({"type": {"type": "string"}}, ["a"], [1]),
        ({"type": "object", "dependencies": {"a": "b"}}, [{"a": 1, "b": 1}], [{"a": 1}]),
        ({"type": "object", "properties": [{"name": "a", "type": "int"}]}, [{"a": 1}], [{"a": "x"}]),
        (
            {"type": "object", "additionalProperties": "false", "properties": {"a": {}}},
            [{"a": 1}],
            [{"b": 1}],
        ),
        ([{"type": "string"}], ["a"], [1]),
        ("List[int]", [[1]], [["x"]]),
    ],
)
def test_illegal_keywords_are_read_where_their_meaning_is_certain(
    schema: Any, good: list[Any], bad: list[Any]
) -> None:
    definition = {"name": "t", "parameters": {"type": "object", "properties": {"v": schema}}}
    catalog = Catalog.load([definition])
    (tool,) = catalog.tools
    assert catalog.findings
    assert all(item.severity != "error" for item in catalog.findings)
    assert all(is_legal(tool, {"v": value}) for value in good)
    assert not any(is_legal(tool, {"v": value}) for value in bad)


def test_harmless_damage_in_an_answer_of_the_protocol_costs_no_tool() -> None:
    part = {
        "type": "string",
        "title": None,
        "description": 5,
        "examples": "x",
        "default": [],
        "deprecated": "no",
        "$comment": 1,
    }
    answer = {
        "tools": [
            {
                "name": "t",
                "title": 7,
                "description": None,
                "inputSchema": {
                    "$schema": 5,
                    "type": "object",
                    "properties": {"v": part},
                    "required": None,
                    "title": {},
                },
                "annotations": "x",
            }
        ]
    }
    catalog = Catalog.load(answer)
    (tool,) = catalog.tools
    assert {item.severity for item in catalog.findings} == {"info"}
    assert is_legal(tool, {"v": "a"})
    assert not is_legal(tool, {"v": 1})


def test_an_unknown_type_accepts_anything_and_is_told() -> None:
    catalog = Catalog.load(
        [{"name": "pay", "parameters": {"type": "object", "properties": {"w": {"type": "Wallet"}}}}]
    )
    assert codes(catalog) == ["type_unknown"]
    assert is_legal(catalog.tools[0], {"w": 5})


def test_what_is_no_tool_is_quarantined_and_the_rest_loads() -> None:
    catalog = Catalog.load(
        [{"name": "good", "parameters": {}}, 5, None, {"description": "nameless"}, {"name": ""}, {"name": 3}]
    )
    assert [tool.name for tool in catalog] == ["good"]
    assert [item.reason.code for item in catalog.quarantined] == [
        "not_a_tool",
        "not_a_tool",
        "name_missing",
        "name_missing",
        "name_missing",
    ]


def test_a_bad_output_schema_only_turns_its_check_off() -> None:
    catalog = Catalog.load(
        {
            "tools": [
                {
                    "name": "t",
                    "inputSchema": {"type": "object"},
                    "outputSchema": {"type": "object", "properties": {"n": {"type": "Zahl"}}},
                }
            ]
        }
    )
    (tool,) = catalog.tools
    assert catalog.quarantined == ()
    assert tool.output_schema == {"type": "object", "properties": {"n": {}}}
    worse = Catalog.load({"tools": [{"name": "t", "inputSchema": {"type": "object"}, "outputSchema": False}]})
    assert worse.tools[0].output_schema is None
    assert codes(worse) == ["output_schema_unusable"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", "no JSON"),
        ("[1", "no JSON"),
        ('{"a": 1}', "no tools are in here"),
        ('"text"', "no source of tools"),
    ],
)
def test_a_source_that_cannot_be_read_says_where(tmp_path: Path, content: str, words: str) -> None:
    file = tmp_path / "tools.json"
    file.write_text(content)
    with pytest.raises(CatalogError, match=words) as caught:
        Catalog.load(file)
    assert str(file) in caught.value.where
    assert caught.value.next_step


def test_missing_files_modules_and_other_things() -> None:
    for source in ("no-such.json", "no_such_module_here", 5, "not a module"):
        with pytest.raises(CatalogError):
            Catalog.load(source)


def test_files_and_folders(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps(FORMS_IN["mcp list"]))
    (tmp_path / "b.jsonl").write_text(
        '{"name": "one", "parameters": {}}\n\n{"name": "two", "parameters": {}}\n'
    )
    (tmp_path / "c.yaml").write_text(
        "tools:\n  - name: three\n    inputSchema: {type: object, properties: {when: {enum: [no, 12:30]}}}\n"
    )
    catalog = Catalog.load(tmp_path)
    assert [tool.key for tool in catalog] == ["a/forecast", "b/one", "b/two", "c/three"]
    assert is_legal(catalog.get("three"), {"when": "no"})
    assert [source.tools for source in catalog.provenance.sources] == [1, 2, 1]
    both = Catalog.load([str(tmp_path / "a.json"), tmp_path / "b.jsonl"])
    assert len(both) == 3


def test_hints_of_the_protocol_become_effects() -> None:
    def effects(**hints: Any) -> set[str]:
        catalog = Catalog.load(
            {"tools": [{"name": "t", "inputSchema": {"type": "object"}, "annotations": hints}]}
        )
        return set(catalog.tools[0].effects)

    assert effects(readOnlyHint=True, destructiveHint=True) == {"read"}
    assert effects(readOnlyHint=False, destructiveHint=True, idempotentHint=True) == {
        "write",
        "destructive",
        "idempotent",
    }
    assert effects(readOnlyHint=False) == {"write"}
    assert effects() == set()
    assert effects(readOnlyHint="yes") == set()
