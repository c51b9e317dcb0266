"""Task sets of public benchmarks: small ones in each form here, the real ones where they lie beside the repository."""

from __future__ import annotations

import json
import os
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agent_reach.backends.matching import values_match
from agent_reach.catalog.catalog import Catalog
from agent_reach.errors import SuiteError
from agent_reach.evals.suite.importers.base import ImportOptions
from agent_reach.evals.suite.importers.bfcl_answers import golden_arguments, parse_call
from agent_reach.evals.suite.importers.registry import import_tasks, importers
from agent_reach.evals.suite.lint import lint_suite
from agent_reach.evals.suite.load import Suite
from agent_reach.evals.suite.writing import suite_json_lines
from agent_reach.records.task import GoldenPath, Task

DATA = Path(os.environ.get("AGENT_REACH_DATA", Path(__file__).parents[3] / "shared" / "data"))


def lines(path: Path, rows: list[Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def reads_back(tasks: tuple[Task, ...], tmp_path: Path) -> None:
    file = tmp_path / "back.jsonl"
    file.write_text(suite_json_lines(tasks), encoding="utf-8")
    again = [replace(task, source="", line=None) for task in Suite.load(file)]
    assert again == [replace(task, source="", line=None) for task in tasks]


# --- BFCL

ORDER = {
    "name": "shop.order",
    "description": "Order something.",
    "parameters": {
        "type": "dict",
        "properties": {
            "item": {"type": "string"},
            "count": {"type": "integer"},
            "size": {"type": "string", "enum": ["s", "l"]},
            "note": {"type": "string"},
            "address": {
                "type": "dict",
                "properties": {"street": {"type": "string"}, "zip": {"type": "string"}},
            },
        },
        "required": ["item"],
    },
}
SEARCH = {
    "name": "search",
    "description": "Search.",
    "parameters": {"type": "dict", "properties": {"q": {"type": "string"}}, "required": ["q"]},
}


@pytest.fixture
def bfcl(tmp_path: Path) -> Path:
    data = tmp_path / "data"

    def asked(text: str) -> list[Any]:
        return [[{"role": "user", "content": text}]]

    lines(
        data / "BFCL_v4_multiple.json",
        [
            {"id": "multiple_0", "question": asked("two soups"), "function": [ORDER, SEARCH]},
            {
                "id": "multiple_1",
                "question": [
                    [{"role": "system", "content": "be kind"}, {"role": "user", "content": "find tea"}]
                ],
                "function": [{**SEARCH, "description": "Search elsewhere."}],
            },
        ],
    )
    lines(
        data / "possible_answer" / "BFCL_v4_multiple.json",
        [
            {
                "id": "multiple_0",
                "ground_truth": [
                    {
                        "shop.order": {
                            "item": ["soup", "miso soup"],
                            "count": [2],
                            "size": ["s", ""],
                            "note": ["", "hot"],
                            "address": [{"street": ["Main St"], "zip": ["1", ""]}],
                        }
                    }
                ],
            },
            {"id": "multiple_1", "ground_truth": [{"search": {"q": ["tea"]}}]},
        ],
    )
    lines(
        data / "BFCL_v4_parallel.json",
        [{"id": "parallel_0", "question": asked("tea and soup"), "function": [SEARCH]}],
    )
    lines(
        data / "possible_answer" / "BFCL_v4_parallel.json",
        [{"id": "parallel_0", "ground_truth": [{"search": {"q": ["tea"]}}, {"search": {"q": ["soup"]}}]}],
    )
    lines(
        data / "BFCL_v4_irrelevance.json",
        [{"id": "irrelevance_0", "question": asked("hello"), "function": [SEARCH]}],
    )
    lines(
        data / "BFCL_v4_live_relevance.json",
        [{"id": "live_relevance_0", "question": asked("draw"), "function": [SEARCH]}],
    )
    lines(data / "BFCL_v4_memory.json", [{"id": "memory_0", "question": asked("my name?")}])
    lines(
        data / "multi_turn_func_doc" / "math_api.json",
        [
            {
                "name": "add",
                "parameters": {
                    "type": "dict",
                    "properties": {"a": {"type": "float"}, "b": {"type": "float"}},
                    "required": ["a", "b"],
                },
            },
            {"name": "log", "parameters": {"type": "dict", "properties": {}}},
        ],
    )
    lines(
        data / "BFCL_v4_multi_turn_miss_func.json",
        [
            {
                "id": "multi_turn_miss_func_0",
                "question": [
                    [{"role": "user", "content": "add 1 and 2"}],
                    [],
                    [{"role": "user", "content": "and (3, 4)"}],
                ],
                "involved_classes": ["MathAPI"],
                "excluded_function": ["log"],
                "missed_function": {"1": ["add"]},
                "initial_config": {"MathAPI": {"memory": 5}},
            }
        ],
    )
    lines(
        data / "possible_answer" / "BFCL_v4_multi_turn_miss_func.json",
        [{"id": "multi_turn_miss_func_0", "ground_truth": [[], ["add(1.0, b=2)"], ["add(a=3, b=-4)"]]}],
    )
    return data


def test_bfcl_accept_lists_become_matchers(bfcl: Path, tmp_path: Path) -> None:
    imported = import_tasks(bfcl / "BFCL_v4_multiple.json")
    first, second = imported.tasks
    call = first.paths[0].calls[0]
    assert call.tool == "shop.order"
    assert call.args == {
        "item": {"$one_of": ["soup", "miso soup"]},
        "count": 2,
        "address": {"$one_of": [{"street": "Main St", "zip": "1"}, {"street": "Main St"}]},
    }
    assert call.optional == {"size": "s", "note": {"$one_of": ["hot", ""]}}
    assert (first.kind, first.tags, first.match.strings) == ("must", ("bfcl", "multiple"), "casefold")
    assert first.tools == ("shop.order", "search")
    assert second.tools == ("v2/search",)
    assert second.messages[0]["role"] == "system"
    assert second.query == "find tea"
    reads_back(imported.tasks, tmp_path)
    catalog = Catalog.load(list(imported.tools))
    assert {tool.key for tool in catalog} == {"shop.order", "search", "v2/search"}
    assert catalog.get("v2/search").description == "Search elsewhere."
    errors = [
        item.code
        for item in lint_suite(Suite.from_tasks(imported.tasks), catalog, pairs=())
        if item.severity == "error"
    ]
    assert errors == []
    for said in ({"street": "Main St"}, {"street": "main st", "zip": "1"}):
        assert values_match(call.args["address"], said, None, first.match)
    assert not values_match(call.args["address"], {"street": "Main St", "zip": "2"}, None, first.match)


def test_bfcl_kinds_parallel_and_turns(bfcl: Path, tmp_path: Path) -> None:
    imported = import_tasks(bfcl)
    tasks = {task.id: task for task in imported.tasks}
    assert set(tasks) == {
        "multiple_0",
        "multiple_1",
        "parallel_0",
        "irrelevance_0",
        "live_relevance_0",
        "multi_turn_miss_func_0",
    }
    assert [len(stage) for stage in tasks["parallel_0"].paths[0].stages] == [2]
    assert (tasks["irrelevance_0"].kind, tasks["irrelevance_0"].paths) == ("forbid", ())
    assert tasks["live_relevance_0"].kind == "may"
    turns = tasks["multi_turn_miss_func_0"]
    assert [turn.user for turn in turns.turns][::2] == ["add 1 and 2", "and (3, 4)"]
    assert turns.turns[1].user
    assert turns.turns[0].paths == (GoldenPath(),)
    assert [(call.tool, call.args) for call in turns.paths[0].calls] == [
        ("MathAPI/add", {"a": 1.0, "b": 2}),
        ("MathAPI/add", {"a": 3, "b": -4}),
    ]
    assert turns.tools == ("MathAPI/add",)
    assert turns.environment == {"initial_config": {"MathAPI": {"memory": 5}}}
    assert {finding.code for finding in imported.findings} == {"no_gold", "tools_not_withheld"}
    reads_back(imported.tasks, tmp_path)


def test_bfcl_out_of_a_wheel_by_category(bfcl: Path, tmp_path: Path) -> None:
    wheel = tmp_path / "bfcl_eval-1.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for file in bfcl.rglob("*.json"):
            archive.write(file, f"bfcl_eval/data/{file.relative_to(bfcl).as_posix()}")
    imported = import_tasks(
        wheel, options=ImportOptions(categories=("multiple", "irrelevance"), limit=1, prefix="b-")
    )
    assert [task.id for task in imported.tasks] == ["b-multiple_0", "b-irrelevance_0"]
    assert import_tasks(wheel).tasks[0].paths == import_tasks(bfcl).tasks[0].paths


@pytest.mark.parametrize(
    ("category", "said"),
    [
        ("memory", "no golden calls"),
        ("multipel", "did you mean 'multiple'?"),
        ("web_search", "no golden calls"),
    ],
)
def test_bfcl_categories_that_cannot_be(bfcl: Path, category: str, said: str) -> None:
    with pytest.raises(SuiteError) as caught:
        import_tasks(bfcl, options=ImportOptions(categories=(category,)))
    assert said in str(caught.value)


def test_bfcl_without_answers(bfcl: Path) -> None:
    (bfcl / "possible_answer" / "BFCL_v4_multiple.json").unlink()
    with pytest.raises(SuiteError, match="answers of 'multiple' are missing"):
        import_tasks(bfcl / "BFCL_v4_multiple.json")


def test_accept_lists() -> None:
    schema = {
        "required": ["a"],
        "properties": {
            "a": {"type": "string"},
            "b": {"type": "integer"},
            "e": {"type": "string", "enum": ["x"]},
        },
    }
    assert golden_arguments({"a": ["x", ""]}, schema) == ({"a": {"$one_of": ["x", ""]}}, {})
    assert golden_arguments({"b": [1, ""]}, schema) == ({}, {"b": 1})
    assert golden_arguments({"b": [1, True, 1.0]}, schema) == ({"b": {"$one_of": [1, True, 1.0]}}, {})
    assert golden_arguments({"b": [""]}, schema) == ({}, {})
    assert golden_arguments({"c": [""]}, schema) == ({}, {"c": ""})
    assert golden_arguments({"a": []}, schema) == ({"a": {"$any": True}}, {})
    assert golden_arguments({"b": []}, schema) == ({}, {"b": {"$any": True}})
    assert golden_arguments({"e": ["x", ""]}, schema) == ({}, {"e": "x"})
    assert golden_arguments({"l": [[{"f": ["a"], "v": ["1", "2"]}]]}, {}) == (
        {"l": [{"f": "a", "v": {"$one_of": ["1", "2"]}}]},
        {},
    )
    assert golden_arguments({"m": [{"f": "plain"}]}, {}) == ({"m": {"f": "plain"}}, {})


def test_written_calls() -> None:
    assert parse_call("sort('a.txt')") == ("sort", ["a.txt"], {})
    assert parse_call("a.b(x=(1, 2), y={'k': None}, z=-1.5)") == (
        "a.b",
        [],
        {"x": [1, 2], "y": {"k": None}, "z": -1.5},
    )
    for bad in ("f(", "f(x=g())", "f(**d)", "x = 1", "f(y)", ""):
        assert parse_call(bad) is None


# --- tau2

TAU2 = [
    {
        "id": "0",
        "user_scenario": {
            "persona": None,
            "instructions": {
                "domain": "shop",
                "reason_for_call": "Cancel order W1.",
                "known_info": "You are Ada.",
            },
        },
        "initial_state": {
            "initialization_data": {"x": 1},
            "message_history": [
                {"role": "user", "content": "hi", "tool_calls": None},
                {"role": "assistant", "content": "yes?"},
            ],
        },
        "evaluation_criteria": {
            "actions": [
                {"action_id": "0_0", "name": "get_order", "arguments": {"order_id": "W1"}, "info": None},
                {
                    "action_id": "0_1",
                    "name": "cancel_order",
                    "arguments": {"order_id": "W1", "reason": "no longer needed"},
                    "compare_args": ["order_id"],
                },
                {"action_id": "0_2", "requestor": "user", "name": "toggle_wifi", "arguments": {}},
                {"action_id": "0_3", "name": "transfer_to_human_agents", "arguments": {"summary": "bye"}},
            ],
            "nl_assertions": ["was kind"],
        },
    },
    {
        "id": "1",
        "ticket": "What is your address?",
        "user_scenario": {"instructions": "Ask."},
        "evaluation_criteria": {"actions": []},
    },
]


def test_tau2(tmp_path: Path) -> None:
    file = tmp_path / "tasks.json"
    file.write_text(json.dumps(TAU2), encoding="utf-8")
    imported = import_tasks(file, options=ImportOptions(policy="Be exact."))
    first, second = imported.tasks
    assert [(call.id, call.tool, call.args) for call in first.paths[0].calls] == [
        ("0_0", "get_order", {"order_id": "W1"}),
        ("0_1", "cancel_order", {"order_id": "W1", "reason": {"$any": True}}),
        ("0_3", "transfer_to_human_agents", {"summary": {"$any": True}}),
    ]
    assert first.query == "Cancel order W1.\nYou are Ada."
    assert [message["content"] for message in first.messages] == ["hi", "yes?", first.query]
    assert first.environment == {"initialization_data": {"x": 1}}
    assert first.metadata["nl_assertions"] == ["was kind"]
    assert first.context[0].text == "Be exact."
    assert (second.kind, second.query, second.paths, second.forbid) == (
        "may",
        "What is your address?",
        (),
        ("cancel_order",),
    )
    assert {finding.code for finding in imported.findings} == {
        "user_actions_left_out",
        "scenario_as_query",
        "empty_gold",
    }
    reads_back(imported.tasks, tmp_path)
    file.write_text(json.dumps({"tasks": TAU2, "simulations": []}), encoding="utf-8")
    assert len(import_tasks(file).tasks) == 2
    assert import_tasks(file, options=ImportOptions(writes=("refund",))).tasks[1].forbid == ("refund",)


# --- tau-bench


def trajectory(trial: int, **fields: Any) -> dict[str, Any]:
    return {
        "task_id": 3,
        "trial": trial,
        "domain": "airline",
        "gold_actions": [
            {"name": "book", "kwargs": {"flight": "HAT1", "payments": [{"id": "c1", "amount": 5}]}}
        ],
        "messages": [
            {"role": "system", "content": "policy"},
            {"role": "user", "content": f"hello {trial}"},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "a", "function": {"name": "get_user", "arguments": '{"id": "u1"}'}}],
            },
            {"role": "tool", "tool_call_id": "a", "content": '{"cards": ["c1"]}'},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "b", "function": {"name": "find_flight", "arguments": "{}"}}],
            },
            {"role": "tool", "tool_call_id": "b", "content": "Error: no date"},
        ],
        **fields,
    }


def test_tau_bench_trajectories(tmp_path: Path) -> None:
    file = lines(
        tmp_path / "t.jsonl", [trajectory(0), trajectory(1), trajectory(0, task_id=4, gold_actions=[])]
    )
    imported = import_tasks(file)
    first, empty = imported.tasks
    assert (first.id, first.query, first.tags) == ("3", "hello 0", ("tau-bench", "airline"))
    assert first.paths[0].calls[0].args == {"flight": "HAT1", "payments": [{"id": "c1", "amount": 5}]}
    assert [(item.tool, item.args, item.result, item.error_kind) for item in first.results] == [
        ("get_user", {"id": "u1"}, {"cards": ["c1"]}, ""),
        ("find_flight", {}, None, "tool_error"),
    ]
    assert (empty.kind, empty.forbid) == ("may", ("book",))
    reads_back(imported.tasks, tmp_path)
    odd = lines(tmp_path / "odd.jsonl", [trajectory(0), trajectory(1, gold_actions=[])])
    assert "golds_differ" in {finding.code for finding in import_tasks(odd).findings}


def test_tau_bench_original_forms(tmp_path: Path) -> None:
    rows = [
        {
            "task_id": 0,
            "reward": 1.0,
            "trial": 0,
            "info": {
                "task": {
                    "user_id": "u",
                    "instruction": "book it",
                    "actions": [{"name": "book", "kwargs": {"x": 1}}],
                    "outputs": ["5"],
                }
            },
            "traj": [{"role": "user", "content": "book, please"}],
        }
    ]
    file = tmp_path / "results.json"
    file.write_text(json.dumps(rows), encoding="utf-8")
    (task,) = import_tasks(file).tasks
    assert (task.query, task.paths[0].calls[0].args, task.metadata["outputs"]) == (
        "book, please",
        {"x": 1},
        ["5"],
    )
    listed = tmp_path / "tasks.json"
    listed.write_text(
        json.dumps(
            [
                {
                    "user_id": "u",
                    "instruction": "book it",
                    "actions": [{"name": "book", "arguments": {"x": 1}}],
                    "outputs": [],
                }
            ]
        ),
        encoding="utf-8",
    )
    (task,) = import_tasks(listed).tasks
    assert (task.id, task.query) == ("0", "book it")


# --- what is none of these


def test_the_table_and_what_nobody_reads(tmp_path: Path) -> None:
    assert set(importers()) >= {"bfcl", "tau2", "tau-bench"}
    for name, text, said in [
        ("x.json", '[{"a": 1}]', "none of the known forms"),
        ("x.txt", "hello", "none of the known forms"),
        ("empty.json", "", "none of the known forms"),
    ]:
        (tmp_path / name).write_text(text, encoding="utf-8")
        with pytest.raises(SuiteError, match=said):
            import_tasks(tmp_path / name)
    with pytest.raises(SuiteError, match="did you mean 'tau2'"):
        import_tasks(tmp_path / "x.json", "tau22")
    with pytest.raises(SuiteError, match="no such file"):
        import_tasks(tmp_path / "nothing.json")
    for form in ("tau2", "tau-bench", "bfcl"):
        with pytest.raises(SuiteError) as caught:
            import_tasks(tmp_path / "x.json", form)
        assert caught.value.next_step


def test_the_recorded_airline_conversations(tmp_path: Path) -> None:
    folder = DATA / "graph" / "taubench_gpt4o_airline"
    if not folder.is_dir():
        pytest.skip(f"the recorded conversations are not at {folder}")
    imported = import_tasks(folder / "traces.jsonl")
    assert len(imported.tasks) == 50
    assert sum(task.kind == "may" for task in imported.tasks) == 7
    reads_back(imported.tasks, tmp_path)
    tools = [json.loads(row) for row in (folder / "tools.jsonl").read_text(encoding="utf-8").splitlines()]
    found = lint_suite(Suite.from_tasks(imported.tasks), Catalog.load(tools), pairs=())
    assert [item for item in found if item.severity == "error"] == []
