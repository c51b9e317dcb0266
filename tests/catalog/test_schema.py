"""Arguments held against schemas: every problem told, with its code and its place."""

from typing import Any

import pytest

from agent_reach.catalog.schema import (
    allowed_values,
    argument_problems,
    is_legal,
    is_nullable,
    known_names,
    output_problems,
    parameter_types,
    read_schema,
    resolved_schema,
)
from agent_reach.records.tool import Tool

from .builders import one


def tool(properties: dict[str, Any], **more: Any) -> Tool:
    return one({"name": "t", "inputSchema": {"type": "object", "properties": properties, **more}})


def problems(subject: Tool, arguments: Any) -> set[tuple[str, str]]:
    return {(problem.code, problem.pointer) for problem in argument_problems(subject, arguments)}


def test_every_problem_is_listed_at_once() -> None:
    subject = tool(
        {
            "n": {"type": "integer", "maximum": 5},
            "kind": {"enum": ["a", "b"]},
            "day": {"type": "string", "format": "date"},
            "list": {"type": "array", "items": {"type": "string", "minLength": 2}, "uniqueItems": True},
            "a/b~c": {"type": "boolean"},
        },
        required=["n", "must"],
    )
    given = {"n": 9, "kind": "c", "day": "soon", "list": ["x", 1, 1], "a/b~c": "yes", "other": 1}
    assert problems(subject, given) == {
        ("out_of_range", "/n"),
        ("not_in_enum", "/kind"),
        ("wrong_format", "/day"),
        ("out_of_range", "/list/0"),
        ("wrong_type", "/list/1"),
        ("wrong_type", "/list/2"),
        ("wrong_shape", "/list"),
        ("wrong_type", "/a~1b~0c"),
        ("missing_required", "/must"),
        ("unknown_argument", "/other"),
    }
    (first,) = [item for item in argument_problems(subject, given) if item.pointer == "/kind"]
    assert first.expected == ["a", "b"]
    assert first.actual == "c"


@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        ({"type": "integer"}, [12.0, -3, 2**60, 1e300], [True, "1", 1.5, None]),
        ({"type": "number"}, [1, 1.5, 2**70], [False, "1"]),
        ({"const": 2**53}, [2**53], [2**53 + 1]),
        ({"enum": [2**53 + 1]}, [2**53 + 1], [2**53, 2**53 + 2]),
        ({"type": "integer", "maximum": 2**63}, [2**63], [2**63 + 1]),
        ({"type": "boolean"}, [True, False], [0, 1, "true"]),
        ({"type": "null"}, [None], [0, ""]),
        (
            {"type": "string", "format": "date-time"},
            ["2024-03-01T10:00:00Z", "2024-03-01T10:00", "2024-03-01 10:00:00+02:00"],
            ["2024-03-01", "10:00", "now"],
        ),
        ({"type": "string", "format": "made-up"}, ["anything"], [1]),
        ({"type": "string", "pattern": "^(?!tmp)"}, ["x"], ["tmp1"]),
        (
            {"type": "string", "pattern": r"^[\w-\.]+@([\w-]+\.)+[\w-]{2,4}$"},
            ["a-b.c@d.org"],
            ["a b@d.org", "a@d"],
        ),
        ({"type": "string", "minLength": 2}, ["日本", "👍👍"], ["日"]),
        (
            {"type": "array", "items": [{"type": "string"}, {"type": "integer"}], "additionalItems": False},
            [["a", 1], []],
            [["a", "b"], ["a", 1, 2]],
        ),
        ({"dependencies": {"a": ["b"]}}, [{"a": 1, "b": 2}, {}], [{"a": 1}]),
        ({"type": "string", "nullable": True}, ["x", None], [1]),
        ({"enum": ["a"], "nullable": True}, ["a", None], ["b"]),
        ({"not": {"type": "string"}}, [1, None], ["x"]),
        (
            {"if": {"properties": {"k": {"const": 1}}}, "then": {"required": ["z"]}},
            [{"k": 2}, {"k": 1, "z": 0}],
            [{"k": 1}],
        ),
        ({"type": ["string", "integer"]}, ["a", 1], [None, 1.5, []]),
    ],
)
def test_values(schema: dict[str, Any], good: list[Any], bad: list[Any]) -> None:
    subject = tool({"v": schema})
    for value in good:
        assert argument_problems(subject, {"v": value}) == (), value
        assert is_legal(subject, {"v": value})
    for value in bad:
        assert argument_problems(subject, {"v": value}), value
        assert not is_legal(subject, {"v": value})


def test_arguments_that_are_no_object() -> None:
    subject = tool({"a": {}})
    assert problems(subject, [1]) == {("wrong_type", "")}
    assert problems(subject, "text") == {("wrong_type", "")}
    assert not is_legal(subject, "text")  # type: ignore[arg-type]


def test_strange_values_are_judged_not_raised() -> None:
    subject = tool({"a": {"type": "string"}, "b": {}})
    assert is_legal(subject, {"a": "\ud800", "b": (1, {2: 3})})
    assert not is_legal(subject, {"a": object()})
    assert problems(subject, {"a": float("nan")}) == {("wrong_type", "/a")}
    deep: Any = "x"
    for _ in range(20_000):
        deep = [deep]
    assert is_legal(subject, {"b": deep})


def test_names_beyond_the_declared_ones() -> None:
    assert problems(tool({"a": {}}), {"b": 1}) == {("unknown_argument", "/b")}
    assert argument_problems(tool({"a": {}}), {"b": 1}, closed=False) == ()
    assert argument_problems(tool({"a": {}}, additionalProperties=True), {"b": 1}) == ()
    assert argument_problems(tool({"a": {}}, additionalProperties={"type": "integer"}), {"b": 1}) == ()
    assert problems(tool({"a": {}}, additionalProperties={"type": "integer"}), {"b": "x"}) == {
        ("wrong_type", "/b")
    }
    assert problems(tool({"a": {}}, additionalProperties=False), {"b": 1}) == {("unknown_argument", "/b")}
    assert argument_problems(tool({"a": {}}, patternProperties={"^x": {}}), {"x1": 1}) == ()
    assert (
        argument_problems(
            tool({"a": {}}, anyOf=[{"properties": {"b": {}}}, {"properties": {"c": {}}}]), {"b": 1}
        )
        == ()
    )
    assert (
        argument_problems(
            tool({}, allOf=[{"$ref": "#/$defs/B"}], **{"$defs": {"B": {"properties": {"b": {}}}}}), {"b": 1}
        )
        == ()
    )
    assert known_names({"type": "object", "properties": {"a": {}}, "additionalProperties": True}) is None


def test_choices_tell_the_branch_that_was_meant() -> None:
    subject = tool(
        {
            "v": {
                "anyOf": [
                    {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
                    {"type": "null"},
                ]
            }
        }
    )
    assert problems(subject, {"v": {"n": "x"}}) == {("wrong_type", "/v/n")}
    (problem,) = argument_problems(subject, {"v": 5})
    assert (problem.code, problem.expected) == ("wrong_type", ["object", "null"])
    enums = tool({"v": {"oneOf": [{"const": "a"}, {"enum": ["b", "c"]}]}})
    (problem,) = argument_problems(enums, {"v": "d"})
    assert (problem.code, problem.expected) == ("not_in_enum", ["a", "b", "c"])
    both = tool({"a": {}, "b": {}}, anyOf=[{"required": ["a"]}, {"required": ["b"]}])
    (problem,) = argument_problems(both, {})
    assert (problem.code, problem.expected) == ("missing_required", ["a", "b"])
    nested = tool(
        {
            "step": {
                "oneOf": [
                    {"type": "object", "properties": {"type": {"enum": ["move"]}, "to": {"oneOf": [
                        {"type": "object", "properties": {"by": {"const": "id"}, "id": {"type": "integer"}}, "required": ["by", "id"]},
                        {"type": "object", "properties": {"by": {"const": "name"}, "name": {"type": "string"}}, "required": ["by", "name"]},
                    ]}}, "required": ["type", "to"]},
                    {"type": "object", "properties": {"type": {"enum": ["stop"]}}, "required": ["type"], "additionalProperties": False},
                ]
            }
        }
    )  # fmt: skip
    assert problems(nested, {"step": {"type": "move", "to": {"by": "name", "id": 3}}}) == {
        ("missing_required", "/step/to/name")
    }
    assert problems(nested, {"step": {"type": "stop", "to": 1}}) == {("unknown_argument", "/step/to")}
    assert problems(nested, {"step": {}}) == {("missing_required", "/step/type")}


def test_references_by_name_anchor_and_odd_keys() -> None:
    subject = tool(
        {
            "a": {"$ref": "#/$defs/List[Order]"},
            "b": {"$ref": "#/definitions/%E8%AE%A2%E5%8D%95"},
            "c": {"$ref": "#mark"},
            "d": {"$ref": "thing"},
        },
        **{
            "$defs": {
                "List[Order]": {"type": "array"},
                "M": {"$anchor": "mark", "type": "boolean"},
                "T": {"$id": "thing", "type": "null"},
            },
            "definitions": {"订单": {"type": "integer"}},
        },
    )
    assert problems(subject, {"a": 1, "b": "x", "c": 3, "d": 4}) == {
        ("wrong_type", f"/{name}") for name in "abcd"
    }
    assert is_legal(subject, {"a": [], "b": 1, "c": True, "d": None})


def test_references_that_multiply_are_cut() -> None:
    definitions: dict[str, Any] = {
        f"d{index}": {"allOf": [{"$ref": f"#/$defs/d{index + 1}"}, {"$ref": f"#/$defs/d{index + 1}"}]}
        for index in range(60)
    }
    definitions["d60"] = {"type": "string"}
    read = read_schema(
        {"type": "object", "properties": {"x": {"$ref": "#/$defs/d0"}}, "$defs": definitions}, "t"
    )
    assert "reference_explosion" in {finding.code for finding in read.findings}
    subject = Tool(name="t", input_schema=read.schema)
    assert is_legal(subject, {"x": 5})


def test_what_a_schema_says_of_its_values() -> None:
    root = {
        "$defs": {"Kind": {"enum": ["a", "b"]}, "Deep": {"$ref": "#/$defs/Kind", "description": "d"}},
        "properties": {},
    }
    assert parameter_types({"$ref": "#/$defs/Deep"}, root) == {"string"}
    assert allowed_values({"anyOf": [{"$ref": "#/$defs/Deep"}, {"type": "null"}]}, root) == ("a", "b", None)
    assert is_nullable({"anyOf": [{"$ref": "#/$defs/Deep"}, {"type": "null"}]}, root)
    assert resolved_schema({"$ref": "#/$defs/Deep", "title": "t"}, root) == {
        "enum": ["a", "b"],
        "description": "d",
        "title": "t",
    }
    assert resolved_schema({"$ref": "#/$defs/None", "title": "t"}, root) == {"title": "t"}
    assert parameter_types(True) == frozenset()
    assert parameter_types({"anyOf": [{"type": "string"}, {}]}) == frozenset()
    assert parameter_types({"allOf": [{"type": "object"}, {"description": "x"}]}) == {"object"}
    assert parameter_types({"items": {}}) == {"array"}
    loop = {"$defs": {"A": {"$ref": "#/$defs/A"}}}
    assert resolved_schema({"$ref": "#/$defs/A"}, loop) == {}


def test_a_tool_made_by_hand_is_checked_too() -> None:
    subject = Tool(
        name="t", input_schema={"type": "object", "properties": {"n": {"type": "int"}}, "required": ["n"]}
    )
    assert is_legal(subject, {"n": 1})
    assert not is_legal(subject, {"n": "1"})


def test_results_are_held_against_the_output_schema() -> None:
    subject = one(
        {
            "name": "t",
            "inputSchema": {"type": "object"},
            "outputSchema": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
        }
    )
    assert output_problems(subject, {"n": 1, "more": 2}) == ()
    assert [problem.code for problem in output_problems(subject, {})] == ["missing_required"]
    assert output_problems(Tool(name="t"), "anything") == ()
