"""What holds for every input: legal calls pass untouched, twice is once, no value changes without an entry."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tests.router_normalize.support import NOW

from agent_reach.catalog.catalog import Catalog
from agent_reach.catalog.schema import is_legal
from agent_reach.records.tool import Tool
from agent_reach.router.normalize import normalize_call

LEAVES: list[dict[str, Any]] = [
    {"type": "string"}, {"type": "integer"}, {"type": "number"}, {"type": "boolean"}, {"type": ["string", "null"]},
    {"type": "string", "enum": ["Low", "High", "in progress"]}, {"type": "integer", "minimum": 1, "maximum": 100},
    {"anyOf": [{"type": "integer"}, {"type": "null"}]}, {"type": "string", "format": "date"}, {"type": "string", "pattern": "^[A-Z]{2}-\\d{3}$"},
    {"type": "number", "description": "rate in percent"}, {"type": "string", "description": "YYYY-MM-DD~YYYY-MM-DD"}, {},
]  # fmt: skip
SCHEMAS = st.recursive(
    st.sampled_from(LEAVES),
    lambda inner: st.builds(lambda item: {"type": "array", "items": item}, inner)
    | st.builds(
        lambda properties, required: {
            "type": "object", "properties": properties, "required": [name for name in required if name in properties],
        },
        st.dictionaries(st.sampled_from(["a", "userId", "city_name", "b"]), inner, max_size=3),
        st.lists(st.sampled_from(["a", "b"]), max_size=1),
    ),
    max_leaves=6,
)  # fmt: skip
WORDS = st.sampled_from(
    ["", " ", "1", "1,200", "三十五", "true", "None", "null", "low", "IN_PROGRESS", "yesterday", "上个月", "2024-03-01", "2024-03-01~2024-03-02",
     "[1, 2]", '{"a": 1}', "{'a': 'x'}", "AB-123", "ab-123", "10%", "5 km", "x, y", "PDT-1001", "{", "[", "NaN", "arguments"]
)  # fmt: skip
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-1000, 10**18)
    | st.floats(allow_nan=False, allow_infinity=False)
    | WORDS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["a", "b", "userId", "user_id", "cityName", "arguments", "x"]), inner, max_size=3
        )
    ),
    max_leaves=8,
)
PROPERTIES = st.dictionaries(
    st.sampled_from(["a", "b", "userId", "city_name", "when"]), SCHEMAS, min_size=1, max_size=4
)


def made_tool(properties: dict[str, Any], required: bool) -> Tool:
    names = list(properties)[:1] if required else []
    return Tool(name="probe", input_schema={"type": "object", "properties": properties, "required": names})


@settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(PROPERTIES, st.booleans(), VALUES, st.booleans())
@example({"userId": {"type": "integer"}}, False, {"userId": 0.0}, False)
@example({"userId": {"type": "integer"}}, True, {"userId": -0.0}, True)
def test_twice_is_once_and_every_change_is_explained(
    properties: dict[str, Any], required: bool, value: Any, as_text: bool
) -> None:
    tool = made_tool(properties, required)
    emitted = json.dumps(value) if as_text else value
    before = copy.deepcopy(emitted)
    done = normalize_call(tool, emitted, now=NOW)
    assert emitted == before
    if done.arguments is None:
        assert done.problems
        return
    json.dumps(done.arguments, allow_nan=False)
    if isinstance(value, dict) and not as_text and json.dumps(done.arguments) != json.dumps(value):
        assert done.changes
    for change in done.changes:
        assert change.text or (change.rule and json.dumps(change.before) != json.dumps(change.after))
    assert bool(done.problems) or is_legal(tool, done.arguments)
    again = normalize_call(tool, done.arguments, now=NOW)
    if not done.problems:
        assert again.problems == ()
        assert json.dumps(again.arguments) == json.dumps(done.arguments)
        assert again.changes == ()


@settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(
    PROPERTIES,
    st.dictionaries(st.sampled_from(["a", "b", "userId", "city_name", "when"]), VALUES, max_size=4),
)
def test_a_legal_call_is_the_same_call(properties: dict[str, Any], arguments: dict[str, Any]) -> None:
    tool = made_tool(properties, required=False)
    if not is_legal(tool, arguments):
        return
    done = normalize_call(tool, arguments)
    assert done.problems == ()
    allowed = {"null_text", "whole_number"}
    assert {change.rule for change in done.changes} <= allowed
    if not done.changes:
        assert done.arguments is arguments


@given(st.text(max_size=80))
def test_no_text_raises(text: str) -> None:
    tool = made_tool({"a": {"type": "string"}}, required=False)
    done = normalize_call(tool, text, now=NOW)
    assert done.arguments is not None or done.problems


@given(st.dictionaries(st.text(min_size=1, max_size=6), VALUES, max_size=3))
def test_every_cut_of_a_writing_call_is_refused(arguments: dict[str, Any]) -> None:
    properties: dict[str, Any] = {name: {} for name in arguments}
    tool = made_tool(properties or {"a": {}}, required=False)
    text = json.dumps(arguments, ensure_ascii=False)
    for end in range(1, len(text)):
        done = normalize_call(tool, text[:end])
        assert done.problems, text[:end]
        assert done.arguments is None


def data_folder() -> Path | None:
    for place in (
        os.environ.get("AGENT_REACH_DATA"),
        str(Path(__file__).resolve().parents[3] / "shared" / "data"),
    ):
        if place and (Path(place) / "retrieval").is_dir():
            return Path(place) / "retrieval"
    return None


def golds(name: str, folder: Path) -> Iterator[tuple[Tool, dict[str, Any], dict[str, Any]]]:
    def lines(path: Path) -> list[dict[str, Any]]:
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]

    pool = {tool.name: tool for tool in Catalog.load(lines(folder / name / "tools.jsonl")).tools}
    for query in lines(folder / name / "queries.jsonl"):
        overrides = query.get("tool_overrides") or {}
        entries = list(overrides.values()) if isinstance(overrides, dict) else overrides
        own = {tool.name: tool for tool in Catalog.load(entries).tools} if entries else {}
        for call in query.get("gold_args") or ():
            tool = own.get(call["name"]) or pool.get(call["name"])
            if tool is not None and is_legal(tool, call["arguments"]):
                yield tool, call["arguments"], query


@pytest.mark.parametrize("name", ["acebench_zh", "acebench_en", "toolalpaca", "sealtools"])
def test_undamaged_golds_pass_untouched(name: str) -> None:
    folder = data_folder()
    if folder is None:
        pytest.skip("no data: set AGENT_REACH_DATA")
    count = 0
    for tool, arguments, query in golds(name, folder):
        done = normalize_call(tool, arguments, conversation=query["query"], now=NOW)
        assert done.arguments is arguments, (tool.name, done.changes)
        assert done.changes == ()
        assert done.problems == ()
        count += 1
    assert count > 200
