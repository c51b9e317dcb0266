"""Suites in every form: what loads, what is refused and how it is told, filters, hashes, the way back to a file."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.evals_suite.building import task, tasks

from agent_reach.config.documents import parse_yaml
from agent_reach.config.schema_files import load_schema
from agent_reach.errors import SuiteError
from agent_reach.evals.suite.load import Suite
from agent_reach.evals.suite.writing import dump_task, suite_json_lines, suite_text, suite_yaml, task_hash
from agent_reach.records.task import GoldenPath, Task

EXAMPLE = """
- id: restock-001
  kind: must
  tags: [confusable, zh]
  query: "上海仓的 PDT-1001 补到 50 件"
  now: 2025-12-10T10:00:00+08:00
  context:
    - {id: rag_doc_2, kind: retrieval, partition: manual, text: "WH-SH-01 是上海仓", facts: ["WH-SH-01"]}
  state_slots: [{name: warehouse, from: query_stock.warehouse_id}]
  path:
    - id: look
      tool: query_stock
      args: {product_id: PDT-1001, at: 2024-03-01}
      result: {product_id: PDT-1001, warehouse_id: WH-SH-01, quantity: 12}
    - tool: update_stock
      args: {product_id: PDT-1001, quantity: 50, warehouse_id: {$from: "look.warehouse_id"}}
      optional: {remark: {$any: true}}
  order: in_order
  forbid: [adjust_inventory]
  max_extra: 3
- {id: chat-2, kind: forbid, query: no thanks}
"""


def one(value: Any) -> Task:
    return Suite.load([value]).tasks[0]


def refused(source: Any) -> str:
    with pytest.raises(SuiteError) as caught:
        Suite.load(source)
    return str(caught.value)


def test_the_form_of_the_documents(tmp_path: Path) -> None:
    file = tmp_path / "core.yaml"
    file.write_text(EXAMPLE, encoding="utf-8")
    suite = Suite.load(file)
    first, second = suite.tasks
    assert (suite.name, len(suite), suite.findings) == ("core", 2, ())
    assert first.now == "2025-12-10T10:00:00+08:00"
    assert first.language == "zh"
    assert first.paths[0].calls[0].args == {"product_id": "PDT-1001", "at": "2024-03-01"}
    assert first.paths[0].calls[0].has_result
    assert first.paths[0].calls[1].args["warehouse_id"] == {"$from": "look.warehouse_id"}
    assert first.context[0].facts == ("WH-SH-01",)
    assert first.state_slots[0].source == "query_stock.warehouse_id"
    assert (first.max_extra, first.forbid, first.line) == (3, ("adjust_inventory",), 2)
    assert (second.paths, second.line, second.language) == ((), 21, "en")
    assert suite.task("chat-2") is second


def test_the_same_suite_in_every_form(tmp_path: Path) -> None:
    rows = parse_yaml(EXAMPLE).value
    forms = {
        "a.yaml": EXAMPLE,
        "a.jsonl": "\n".join(json.dumps(row) for row in rows) + "\n\n",
        "a.json": json.dumps(rows, indent=2),
        "b.json": "\n".join(json.dumps(row) for row in rows),
        "a.suite": json.dumps({"tasks": rows}, indent=2),
        "a.txt": EXAMPLE,
    }
    hashes = set()
    for name, text in forms.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
        hashes.add(Suite.load(tmp_path / name).hash)
    hashes.add(Suite.load(rows).hash)
    hashes.add(Suite.load({"tasks": rows}).hash)
    hashes.add(Suite.load(Suite.load(rows).tasks).hash)
    assert len(hashes) == 1


def test_suite_wide_settings(tmp_path: Path) -> None:
    rows = [task(id="a"), task(id="b", match={"ignore_args": ["token"]}, kind="may")]
    whole = {
        "name": "shop",
        "match": {"strings": "casefold"},
        "defaults": {"tags": ["core"], "max_extra": 1},
        "tasks": rows,
    }
    suite = Suite.load(whole)
    assert suite.name == "shop"
    assert [item.match.strings for item in suite] == ["casefold", "casefold"]
    assert suite.task("b").match.ignore_args == ("token",)
    assert suite.task("a").tags == ("core",)
    header = {"suite": {key: whole[key] for key in ("name", "match", "defaults")}}
    lines = tmp_path / "x.jsonl"
    lines.write_text("\n".join(map(json.dumps, [header, *rows])), encoding="utf-8")
    assert Suite.load(lines).hash == suite.hash
    assert Suite.load(lines).name == "shop"
    said = refused({"match": {"strings": "nfd"}, "defaults": {"tag": 1}, "tassk": [], "tasks": rows})
    assert "match.strings" in said
    assert "did you mean 'tags'?" in said
    assert "did you mean 'tasks'?" in said


def test_a_folder_of_suites(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("- {id: a, kind: may, query: x}\n", encoding="utf-8")
    (tmp_path / "b.jsonl").write_text('{"id": "b", "kind": "may", "query": "x"}\n', encoding="utf-8")
    assert [item.id for item in Suite.load(tmp_path)] == ["a", "b"]
    (tmp_path / "c.yaml").write_text("\n\n- {id: a, kind: may, query: y}\n", encoding="utf-8")
    said = refused(tmp_path)
    assert "c.yaml:3" in said
    assert "a.yaml:1" in said


def test_conversations_and_turns() -> None:
    messages = [
        {"role": "system", "content": "s"},
        {"role": "user", "content": [{"type": "text", "text": "hi"}]},
    ]
    assert one({"id": "m", "kind": "may", "messages": messages}).query == "hi"
    turns = one(
        {
            "id": "t",
            "kind": "must",
            "turns": [
                {"user": "a", "path": ["look"]},
                {"user": "b"},
                {"user": "c", "path": [{"tool": "book"}]},
            ],
        }
    )
    assert (turns.query, [turn.user for turn in turns.turns]) == ("a", ["a", "b", "c"])
    assert [call.tool for call in turns.paths[0].calls] == ["look", "book"]
    later = one(task(path=["look"], turns=[{"user": "b", "paths": [["x"], ["y"]]}]))
    assert [turn.user for turn in later.turns] == [later.query, "b"]
    assert [[call.tool for call in path.calls] for path in later.paths] == [["look", "x"], ["look", "y"]]
    whole = one(task(path=["look", "book"], turns=[{"user": "b"}]))
    assert [call.tool for call in whole.paths[0].calls] == ["look", "book"]
    assert not any(turn.paths for turn in whole.turns)
    many = [{"user": "x", "paths": [["a"], ["b"], ["c"]]}] * 6
    assert "729 combined paths" in refused([{"id": "t", "kind": "must", "turns": many}])


def test_short_forms() -> None:
    loaded = one(
        {
            "id": 7,
            "kind": "must",
            "query": "x",
            "tags": "one",
            "forbid": "f",
            "state_slots": {"order": "create.order_id"},
            "path": ["look", [{"tool": "a"}, {"tool": "b"}]],
            "context": [{"kind": "retrieval", "value": {"a": 1}, "facts": [1001]}],
            "results": [{"tool": "look", "error": {"kind": "timeout", "message": "slow"}}],
        }
    )
    assert (loaded.id, loaded.tags, loaded.forbid) == ("7", ("one",), ("f",))
    assert [len(stage) for stage in loaded.paths[0].stages] == [1, 2]
    assert (loaded.context[0].id, loaded.context[0].text, loaded.context[0].facts) == (
        "block_1",
        '{"a": 1}',
        ("1001",),
    )
    assert (loaded.results[0].error, loaded.results[0].error_kind) == ("slow", "timeout")
    assert one(task(kind="may")).paths == ()
    assert one(task(kind="may", path=[])).paths == (GoldenPath(),)


@pytest.mark.parametrize(
    ("fields", "said", "step"),
    [
        ({"kind": "mst"}, "kind: must be one of must, may, forbid, not 'mst'", "did you mean 'must'?"),
        ({"kind": None}, "kind: is missing", "must | may | forbid"),
        ({"id": ""}, "id: is missing or empty", "id:"),
        ({"id": ["a"]}, "id: must be text", "quotes"),
        ({"query": ""}, "query: is missing or empty", "messages"),
        ({"qury": "x"}, "qury: unknown key", "did you mean 'query'?"),
        ({"gold": []}, "gold: unknown key", "did you mean 'path'?"),
        ({"query": None, "question": "x"}, "question: unknown key", "did you mean 'query'?"),
        (
            {"max_extra": -1},
            "max_extra: must be a whole number of 0 or more, or null for unlimited, not -1",
            "example",
        ),
        ({"max_extra": 0.5}, "max_extra: must be a whole number", "example"),
        ({"max_extra": "NaN"}, "max_extra: must be a whole number", "example"),
        ({"max_extra": float("inf")}, "max_extra: must be a whole number", "example"),
        ({"max_extra": True}, "max_extra: must be a whole number", "example"),
        ({"order": "any"}, "order: must be one of", "did you mean 'any_order'?"),
        ({"now": "tomorrow"}, "now: must be a date and time", "2025-12-10T10:00:00+08:00"),
        ({"path": {"tool": "a"}}, "path: must be a list of calls", "[{tool:"),
        ({"path": [{"name": "a"}]}, "path[0].name: unknown key", "did you mean 'tool'?"),
        (
            {"path": [{"tool": "a", "arguments": {}}]},
            "path[0].arguments: unknown key",
            "did you mean 'args'?",
        ),
        ({"path": [{"tool": "a", "args": []}]}, "path[0].args: must be a mapping", "key: value"),
        (
            {"path": [{"tool": "a", "args": {"x": float("nan")}}]},
            "path[0].args.x: must be a finite number",
            "",
        ),
        (
            {"path": [{"tool": "a", "result": 1, "error": "x"}]},
            "stands beside `result`",
            "one recorded answer",
        ),
        (
            {"path": [{"tool": "a", "args": {"x": 1}, "optional": {"x": 1}}]},
            "optional: names 'x'",
            "one of the two",
        ),
        ({"path": [{"tool": "a", "error_kind": "slow"}]}, "error_kind: must be one of", "example"),
        (
            {"path": [{"id": "s", "tool": "a"}, {"id": "s", "tool": "b"}]},
            "two calls with the id 's'",
            "its own id",
        ),
        ({"path": [None]}, "path[0]: is empty", "tool"),
        ({"path": [[]]}, "path[0]: is an empty group", "remove"),
        ({"path": ["a"], "paths": [["b"]]}, "paths: stands beside `path`", "alternatives"),
        ({"paths": []}, "paths: must be a list of paths", "[["),
        ({"match": {"strings": "NFC"}}, "match.strings: must be one of", "did you mean 'nfc' or 'nfkc'?"),
        ({"match": {"float_tolerance": 2}}, "match.float_tolerance: must be a number from 0 to 1", "example"),
        ({"match": {"ignore": []}}, "match.ignore: unknown key", "ignore_args"),
        ({"context": ["text"]}, "context[0]: must be a mapping", "key: value"),
        ({"context": [{"kind": "retreival", "text": "x"}]}, "context[0].kind", "did you mean 'retrieval'?"),
        ({"context": [{"kind": "retrieval"}]}, "context[0].text: is missing", "text"),
        ({"context": [{"id": "a", "kind": "history", "text": "x"}] * 2}, "context[1].id: 'a'", "its own id"),
        ({"context": "x"}, "context: must be a list", "- "),
        ({"state_slots": [{"name": "a"}]}, "state_slots[0].from: is missing", "from"),
        ({"results": [{"tool": "a"}]}, "exactly one of `result` and `error`", "result"),
        ({"results": [{"tool": "a", "args": 5, "result": 1}]}, "results[0].args: must be a mapping", ""),
        ({"messages": [{"role": "user", "content": "x"}]}, "stands beside `messages`", "one of the two"),
        (
            {"query": None, "messages": [{"role": "system", "content": "x"}]},
            "no message of the user",
            "role: user",
        ),
        ({"query": None, "messages": [{"role": "usr"}]}, "messages[0].role: must be one of", ""),
        ({"turns": [{"user": ""}]}, "turns[0].user: is missing or empty", "user"),
        ({"turns": [{"query": "x"}]}, "turns[0].query: unknown key", "did you mean 'user'?"),
        ({"tags": [["a"]]}, "tags[0]: must be text", "quotes"),
        ({"forbid": {"a": 1}}, "forbid: must be a list of texts", "[one, two]"),
        ({"review": "yes"}, "review: must be true or false", "true or false"),
        ({"environment": []}, "environment: must be a mapping", ""),
        (
            {"turns": [{"user": "x", "path": ["a"]}], "query": None, "path": ["b"]},
            "for the task and for its turns",
            "one",
        ),
    ],
)
def test_each_mistake_names_task_field_value_and_next_step(
    fields: dict[str, Any], said: str, step: str, tmp_path: Path
) -> None:
    broken = {key: value for key, value in task(**fields).items() if value is not None or key == "kind"}
    found = refused([broken])
    assert said in found
    assert step in found
    assert "task " in found
    if "nan" not in str(fields).lower() and "inf" not in str(fields):
        file = tmp_path / "core.jsonl"
        file.write_text(json.dumps(task(id="good")) + "\n" + json.dumps(broken) + "\n", encoding="utf-8")
        assert "core.jsonl:2" in refused(file)


def test_schema_and_loader_refuse_the_same(tmp_path: Path) -> None:
    """What the loader refuses for its form, the shipped schema refuses too; what it takes, the schema takes."""
    validator = jsonschema_rs.validator_for(load_schema("suite"))
    assert validator.is_valid(parse_yaml(EXAMPLE).value)
    marks = [
        mark
        for mark in test_each_mistake_names_task_field_value_and_next_step.pytestmark
        if mark.name == "parametrize"
    ]
    # said by the loader alone: ids and names used twice, an argument under args and optional
    beyond = ("two calls with", "its own id", "optional: names", "finite", "for the task and", "now: must be")
    for fields, said, step in marks[0].args[1]:
        if any(word in said or word in step for word in beyond) or "inf" in str(fields):
            continue
        broken = {key: value for key, value in task(**fields).items() if value is not None}
        assert not validator.is_valid([broken]), said


def test_twice_used_ids_name_both_lines(tmp_path: Path) -> None:
    file = tmp_path / "core.yaml"
    file.write_text(
        "- {id: a, kind: may, query: x}\n- {id: b, kind: may, query: x}\n- {id: a, kind: may, query: y}\n",
        encoding="utf-8",
    )
    said = refused(file)
    assert f"{file}:3" in said
    assert f"first at {file}:1" in said
    rows = tmp_path / "core.jsonl"
    rows.write_text(
        '{"id": 1, "kind": "may", "query": "x"}\n\n{"id": "1", "kind": "may", "query": "x"}\n',
        encoding="utf-8",
    )
    assert "core.jsonl:3" in refused(rows)
    assert "core.jsonl:1" in refused(rows)


@pytest.mark.parametrize("text", ["", "\n\n", "[]", "# nothing\n", "null", "tasks: []"])
def test_an_empty_suite_is_an_error(tmp_path: Path, text: str) -> None:
    file = tmp_path / "empty.yaml"
    file.write_text(text, encoding="utf-8")
    assert "the suite holds no task" in refused(file)
    assert str(file) in refused(file)
    assert len(Suite.load(file, allow_empty=True)) == 0


@pytest.mark.parametrize("source", [5, None, True, b"x", "nothing.yaml", Path("/nowhere/at/all.jsonl")])
def test_what_is_no_suite(source: Any) -> None:
    assert "next:" in refused(source)


def test_all_mistakes_are_told_up_to_twenty() -> None:
    said = refused([task(id=f"t{index}", kind="x") for index in range(30)])
    assert "30 problems" in said
    assert "and 10 more" in said


def test_filters() -> None:
    suite = Suite.load(
        [
            task(id="stock-1", tags=["zh", "core"]),
            task(id="stock-2", kind="may", tags=["en"]),
            task(id="chat-1", kind="forbid", query="谢谢"),
        ]
    )
    assert [item.id for item in suite.select(tags=["zh", "en"])] == ["stock-1", "stock-2"]
    assert [item.id for item in suite.select(tags=["!zh"])] == ["stock-2", "chat-1"]
    assert [item.id for item in suite.select(patterns=["stock-*"], kinds=["may"])] == ["stock-2"]
    assert [item.id for item in suite.select(languages=["zh"])] == ["chat-1"]
    assert suite.select().hash == suite.hash
    for filters, said in [
        ({"patterns": ["nothing-matches"]}, "patterns 'nothing-matches'"),
        ({"tags": ["zhh"]}, "did you mean 'zh'?"),
        ({"kinds": ["forbidden"]}, "did you mean 'forbid'?"),
        ({"ids": ["stock-3"]}, "no task has the id 'stock-3'"),
        ({"tags": ["zh"], "kinds": ["forbid"]}, "tags 'zh', kinds 'forbid'"),
    ]:
        with pytest.raises(SuiteError) as caught:
            suite.select(**filters)
        assert said in str(caught.value)
    assert len(suite.select(patterns=["nothing"], allow_empty=True)) == 0


def shuffled(value: Any, draw: Any) -> Any:
    if isinstance(value, dict):
        keys = draw(st.permutations(sorted(value)))
        return {key: shuffled(value[key], draw) for key in keys}
    return [shuffled(item, draw) for item in value] if isinstance(value, list) else value


@settings(max_examples=60, deadline=None)
@given(tasks(), st.data())
def test_hash_means_content_not_key_order(written: dict[str, Any], data: st.DataObject) -> None:
    loaded = one(written)
    other = one(shuffled(written, data.draw))
    assert task_hash(other) == task_hash(loaded)
    assert task_hash(replace(loaded, id="other", tags=("x",), metadata={"a": 1}, line=9)) == task_hash(loaded)
    assert task_hash(replace(loaded, query=loaded.query + "!", turns=(), messages=())) != task_hash(loaded)
    assert task_hash(replace(loaded, max_extra=77)) != task_hash(loaded)


def bare(item: Task) -> Task:
    return replace(item, source="", line=None)


@settings(max_examples=100, deadline=None)
@given(tasks())
def test_writing_and_reading_is_the_identity(written: dict[str, Any]) -> None:
    loaded = one(written)
    assert bare(one(dump_task(loaded))) == bare(loaded)
    assert dump_task(one(dump_task(loaded))) == dump_task(loaded)


@settings(max_examples=50, deadline=None)
@given(st.tuples(tasks("a"), tasks("b")))
def test_yaml_and_json_lines_read_back_equal(pair: tuple[dict[str, Any], dict[str, Any]]) -> None:
    suite = Suite.load(list(pair))
    for text in (suite_yaml(suite.tasks, comment="one\ntwo"), suite_json_lines(suite.tasks)):
        rows = (
            parse_yaml(text).value
            if text.startswith("#")
            else [json.loads(row) for row in text.split("\n") if row]
        )
        again = Suite.load(rows)
        assert [bare(item) for item in again] == [bare(item) for item in suite]
        assert again.hash == suite.hash


@settings(max_examples=50, deadline=None)
@given(tasks())
def test_the_schema_takes_what_the_loader_takes(written: dict[str, Any]) -> None:
    dumped = dump_task(one(written))
    matchers = any(key.startswith("$") for key in str(dumped).replace("'", " ").split())
    if not matchers:
        validator = jsonschema_rs.validator_for(load_schema("suite"))
        assert [error.message for error in validator.iter_errors([dumped])] == []


def test_order_of_tasks_does_not_change_the_suite_hash() -> None:
    rows = [task(id=name) for name in "abc"]
    assert Suite.load(rows).hash == Suite.load(rows[::-1]).hash
    assert Suite.load(rows).hash != Suite.load(rows[:2]).hash


@pytest.mark.parametrize(
    ("fields", "pointer"),
    [
        ({"query": "x \ud800 y"}, "/query"),
        ({"path": [{"tool": "t", "args": {"v": ["a", "\udc00"]}}]}, "/path/0/args/v/1"),
        ({"metadata": {"\udfff": 1}}, "/metadata"),
    ],
)
def test_half_a_character_is_refused_because_nothing_can_hold_it(
    fields: dict[str, Any], pointer: str, tmp_path: Path
) -> None:
    row = {"id": "a", "kind": "may", "query": "q", **fields}
    (tmp_path / "s.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    for source in ([row], tmp_path / "s.jsonl"):
        with pytest.raises(SuiteError, match=f"{pointer} holds half of a surrogate pair"):
            Suite.load(source)
    whole = Suite.load([{"id": "a", "kind": "may", "query": "x \U0001f600 \\ud800 y"}])
    for suffix in ("yaml", "jsonl", "json"):
        place = tmp_path / f"out.{suffix}"
        place.write_text(suite_text(whole.tasks, place), encoding="utf-8")
        assert Suite.load(place).hash == whole.hash


def test_other_suffixes_are_refused_for_writing() -> None:
    with pytest.raises(SuiteError, match=r"not '\.csv'"):
        suite_text([], Path("x.csv"))
