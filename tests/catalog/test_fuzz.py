"""Whatever a server sends: loading ends, with tools and findings, and never with a crash."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_reach.catalog.bounded import MAX_DEPTH, bounded_copy, parse_json
from agent_reach.catalog.catalog import Catalog
from agent_reach.catalog.diff import diff_catalogs
from agent_reach.catalog.engine import build_validator
from agent_reach.catalog.export import FORMS, export_tools
from agent_reach.catalog.schema import argument_problems, is_legal, parameter_types
from agent_reach.catalog.similar import similar_pairs
from agent_reach.catalog.snapshot import load_snapshot, snapshot_document

KEYWORDS = [
    "type",
    "properties",
    "required",
    "items",
    "prefixItems",
    "additionalItems",
    "additionalProperties",
    "patternProperties",
    "propertyNames",
    "enum",
    "const",
    "default",
    "anyOf",
    "oneOf",
    "allOf",
    "not",
    "if",
    "then",
    "else",
    "$ref",
    "$defs",
    "definitions",
    "$id",
    "$anchor",
    "$schema",
    "$dynamicRef",
    "id",
    "nullable",
    "format",
    "pattern",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxItems",
    "uniqueItems",
    "dependencies",
    "dependentRequired",
    "dependentSchemas",
    "title",
    "description",
    "examples",
    "deprecated",
    "readOnly",
    "contentEncoding",
    "unevaluatedProperties",
    "contains",
]
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.sampled_from(
        [
            "string",
            "object",
            "array",
            "integer",
            "int",
            "dict",
            "any",
            "List[int]",
            "",
            "#",
            "#/$defs/a",
            "#/properties/a",
            "#/definitions/b",
            "http://192.0.2.1/x",
            "file:///etc/hostname",
            "(",
            "^a+$",
            "(?=a)",
            "\\p{L}",
            "draft-07",
            "http://json-schema.org/draft-07/schema#",
            "a",
            "b",
        ]
    ),
    st.text(max_size=4),
)
KEYS = st.one_of(
    st.sampled_from(KEYWORDS), st.sampled_from(["a", "b", "type", "required"]), st.text(max_size=3)
)
ANYTHING = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=4)),
    max_leaves=25,
)


def sensible(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Schemas that are nearly right, with some parts that are not."""
    parts = st.one_of(inner, inner, SCALARS)
    maps = st.dictionaries(st.sampled_from(["a", "b", "type", "required", "查", "x y"]), parts, max_size=3)
    return st.fixed_dictionaries(
        {},
        optional={
            "type": st.one_of(
                st.sampled_from(["object", "string", "int", "array", "integer"]),
                st.lists(st.sampled_from(["string", "null", "float"]), max_size=3),
                SCALARS,
            ),
            "properties": st.one_of(maps, SCALARS, st.lists(parts, max_size=2)),
            "required": st.one_of(
                st.lists(st.sampled_from(["a", "b", "c"]), max_size=3), st.booleans(), SCALARS
            ),
            "items": st.one_of(parts, st.lists(parts, max_size=2)),
            "anyOf": st.lists(parts, max_size=3),
            "oneOf": st.lists(parts, max_size=3),
            "allOf": st.lists(parts, max_size=2),
            "$ref": st.sampled_from(
                ["#", "#/$defs/a", "#/$defs/b", "#/properties/a", "http://x.example/y", "#nope"]
            ),
            "$defs": maps,
            "enum": st.lists(SCALARS, max_size=3),
            "nullable": st.booleans(),
            "minimum": st.one_of(st.integers(), SCALARS),
            "exclusiveMinimum": st.one_of(st.booleans(), st.integers()),
            "pattern": st.sampled_from(["(", "^a", "(?<!b)c"]),
            "additionalProperties": parts,
        },
    )


SCHEMAS = st.recursive(
    st.one_of(st.booleans(), st.just({"type": "string"}), st.just({"$ref": "#/$defs/a"})),
    sensible,
    max_leaves=12,
)


def check(schema: Any) -> None:
    for source in (
        [{"name": "t", "parameters": schema, "outputSchema": schema}],
        {
            "tools": [
                {"name": "t", "inputSchema": schema},
                {"name": "good", "inputSchema": {"type": "object"}},
            ]
        },
    ):
        catalog = Catalog.load(source)
        assert len(catalog) + len(catalog.quarantined) == (1 if isinstance(source, list) else 2)
        if catalog.quarantined:
            assert all(item.reason.severity == "error" for item in catalog.quarantined)
        for tool in catalog:
            build_validator(dict(tool.input_schema))
            json.dumps(tool.input_schema)
            for arguments in ({}, {"a": 1}, {"a": {"b": []}}, {"b": None, "查": "x"}):
                assert is_legal(tool, arguments) == (argument_problems(tool, arguments) == ())
            for part in tool.parameters.values():
                parameter_types(part, tool.input_schema)
        again = load_snapshot(json.loads(json.dumps(snapshot_document(catalog))))
        assert again.hash == catalog.hash
        assert not diff_catalogs(catalog, again).drift
        for form in FORMS:
            json.dumps(export_tools(catalog, form).definitions)
        similar_pairs(catalog)


@given(ANYTHING)
@settings(max_examples=80)
def test_any_value_as_a_schema(schema: Any) -> None:
    check(schema)


@given(SCHEMAS)
@settings(max_examples=80)
def test_nearly_right_schemas(schema: Any) -> None:
    check(schema)


@given(ANYTHING)
@settings(max_examples=60)
def test_any_value_as_a_tool_list(value: Any) -> None:
    entries = value if isinstance(value, list) else [value]
    if any(isinstance(entry, str) for entry in entries):
        entries = [{"name": "x", "parameters": value}]
    catalog = Catalog.load([*entries, {"name": "good", "parameters": {}}])
    assert "good" in [tool.name for tool in catalog]


def test_objects_that_contain_themselves() -> None:
    schema: dict[str, Any] = {"type": "object", "properties": {"a": {"type": "string"}}}
    schema["properties"]["self"] = schema
    loop: list[Any] = []
    loop.append(loop)
    schema["properties"]["loop"] = {"enum": loop}
    catalog = Catalog.load([{"name": "t", "parameters": schema, "annotations": schema}])
    (tool,) = catalog.tools
    assert "schema_contains_itself" in [item.code for item in catalog.findings]
    assert is_legal(tool, {"a": "x", "self": 5})
    assert not is_legal(tool, {"a": 5})
    assert catalog.hash


@pytest.mark.parametrize("width", [2, 3])
def test_shared_objects_that_multiply(width: int) -> None:
    # without a limit this would not end in a lifetime
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(60):
        schema = {"type": "object", "properties": {f"p{index}": schema for index in range(width)}}
    catalog = Catalog.load([{"name": "t", "parameters": schema}])
    assert len(catalog) == 1
    assert "schema_too_large" in [item.code for item in catalog.findings]
    assert catalog.hash


def test_a_huge_schema_is_whole() -> None:
    schema = {"type": "object", "properties": {f"p{index}": {"type": "integer"} for index in range(20_000)}}
    (tool,) = Catalog.load([{"name": "t", "parameters": schema}]).tools
    assert len(tool.parameters) == 20_000
    assert not is_legal(tool, {"p19999": "x"})


@given(st.integers(0, 3000), st.sampled_from(["[", "{"]))
@settings(max_examples=20)
def test_deep_text_is_read(depth: int, mark: str) -> None:
    text = ("[" * depth + "1" + "]" * depth) if mark == "[" else ('{"a":' * depth + '"x"' + "}" * depth)
    value = parse_json(text)
    copied, cuts = bounded_copy(value)
    assert bool(cuts) == (depth > MAX_DEPTH)
    json.dumps(copied)


@pytest.mark.parametrize(
    "text",
    [
        "[" * 5000,
        "[" * 5000 + "]" * 4999,
        "{" * 5000,
        "[" * 3000 + "x" + "]" * 3000,
        '{"a":' * 3000 + "1" + "]" * 3000,
    ],
)
def test_deep_text_that_is_broken(text: str) -> None:
    with pytest.raises(json.JSONDecodeError):
        parse_json(text)


@given(ANYTHING)
def test_the_deep_reader_reads_like_the_standard_one(value: Any) -> None:
    from agent_reach.catalog.bounded import _parse_deep

    copied, _ = bounded_copy(value)
    for indent in (None, 2):
        text = json.dumps(copied, indent=indent)
        assert _parse_deep(text) == json.loads(text)
