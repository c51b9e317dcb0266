"""Recorded execution: matching in the golden path, then in the results, and what happens on a miss."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agent_reach.backends.recorded import RecordedBackend
from agent_reach.records.task import GoldenCall, GoldenPath, MatchOptions, RecordedResult, Task
from agent_reach.records.tool import Tool
from agent_reach.records.trace import CallOutcome

STOCK = Tool(
    name="query_stock",
    server="shop",
    input_schema={
        "type": "object",
        "properties": {
            "product_id": {"type": "string"},
            "warehouse": {"type": "string"},
            "limit": {"type": "integer", "default": 10},
        },
        "required": ["product_id"],
    },
    effects=frozenset({"read"}),
)
UPDATE = Tool(
    name="update_stock",
    server="shop",
    input_schema={
        "type": "object",
        "properties": {
            "product_id": {"type": "string"},
            "quantity": {"type": "number"},
            "warehouse_id": {"type": "string"},
            "remark": {"type": "string"},
        },
        "required": ["product_id", "quantity"],
    },
)


def path(*calls: GoldenCall) -> GoldenPath:
    return GoldenPath(stages=tuple((call,) for call in calls))


def golden(tool: str, args: dict[str, Any], result: Any = None, **more: Any) -> GoldenCall:
    return GoldenCall(tool=tool, args=args, result=result, has_result=True, **more)


def ask(backend: RecordedBackend, tool: Tool, **arguments: Any) -> CallOutcome:
    return asyncio.run(backend.call(tool, arguments))


RESTOCK = Task(
    id="restock",
    kind="must",
    query="",
    paths=(
        path(
            golden("query_stock", {"product_id": "P1"}, {"warehouse_id": "WH-1", "quantity": 3}, id="look"),
            golden(
                "shop/update_stock",
                {"product_id": "P1", "quantity": 50, "warehouse_id": {"$from": "look.warehouse_id"}},
                {"done": True},
                optional={"remark": {"$pattern": "^补"}},
            ),
        ),
    ),
)


def test_golden_path_answers_by_tool_and_arguments() -> None:
    backend = RecordedBackend(RESTOCK)
    first = ask(backend, STOCK, product_id="P1")
    assert first.status == "ok"
    assert first.value == {"warehouse_id": "WH-1", "quantity": 3}
    second = ask(backend, UPDATE, product_id="P1", quantity=50.0, warehouse_id="WH-1", remark="补货")
    assert second.value == {"done": True}
    assert not second.off_recording


def test_schema_default_equals_leaving_out_and_other_extras_miss() -> None:
    assert ask(RecordedBackend(RESTOCK), STOCK, product_id="P1", limit=10).ok
    missed = ask(RecordedBackend(RESTOCK), STOCK, product_id="P1", limit=11)
    assert (missed.status, missed.error_kind, missed.off_recording) == ("failed", "not_found", True)
    assert "with these arguments" in missed.message


def test_a_declared_optional_that_differs_is_answered_and_marked() -> None:
    outcome = ask(
        RecordedBackend(RESTOCK), UPDATE, product_id="P1", quantity=50, warehouse_id="WH-1", remark="urgent"
    )
    assert outcome.ok
    assert outcome.off_recording


@pytest.mark.parametrize(
    "wrong", [{"quantity": 51}, {"warehouse_id": "WH-2"}, {"quantity": "50"}, {"quantity": True}]
)
def test_a_wrong_required_argument_misses(wrong: dict[str, Any]) -> None:
    arguments = {"product_id": "P1", "quantity": 50, "warehouse_id": "WH-1", **wrong}
    assert ask(RecordedBackend(RESTOCK), UPDATE, **arguments).error_kind == "not_found"


def test_equal_calls_get_successive_recordings_then_the_last_again() -> None:
    task = Task(
        id="poll",
        kind="must",
        query="",
        paths=(path(golden("query_stock", {"product_id": "P1"}, "pending")),),
        results=(
            RecordedResult(tool="query_stock", args={"product_id": "P1"}, result="running"),
            RecordedResult(tool="query_stock", args={"product_id": "P1"}, result="done"),
            RecordedResult(tool="query_stock", result="anything else"),
        ),
    )
    backend = RecordedBackend(task)
    answers = [ask(backend, STOCK, product_id="P1").value for _ in range(5)]
    assert answers == ["pending", "running", "done", "done", "done"]
    assert ask(backend, STOCK, product_id="P9").value == "anything else"


def test_alternatives_are_not_successive_answers() -> None:
    task = Task(
        id="two-ways",
        kind="must",
        query="",
        paths=(
            path(golden("query_stock", {"product_id": "P1"}, 1)),
            path(
                golden("query_stock", {"product_id": "P1"}, 2),
                golden("update_stock", {"product_id": "P1", "quantity": 2}, "up"),
            ),
        ),
    )
    backend = RecordedBackend(task)
    assert [ask(backend, STOCK, product_id="P1").value for _ in range(2)] == [1, 1]
    assert ask(backend, UPDATE, product_id="P1", quantity=2).value == "up"


def test_from_takes_the_result_that_was_given() -> None:
    task = Task(
        id="served",
        kind="must",
        query="",
        paths=(
            path(
                golden("query_stock", {"product_id": {"$any": True}}, {"items": [{"id": "A"}]}, id="look"),
                golden("update_stock", {"product_id": {"$from": "look.items.0.id"}, "quantity": 1}, "yes"),
            ),
        ),
    )
    assert ask(RecordedBackend(task), UPDATE, product_id="A", quantity=1).ok
    assert not ask(RecordedBackend(task), UPDATE, product_id="B", quantity=1).ok


def test_recorded_errors_keep_their_kind_and_null_is_a_result() -> None:
    task = Task(
        id="errors",
        kind="may",
        query="",
        results=(
            RecordedResult(
                tool="query_stock", args={"product_id": "P1"}, error="busy", error_kind="rate_limited"
            ),
            RecordedResult(tool="query_stock", args={"product_id": "P2"}, result=None),
            RecordedResult(tool="update_stock", error="gone", error_kind="timeout"),
            RecordedResult(tool="query_stock", args={"product_id": "P3"}, error="no such product"),
        ),
    )
    backend = RecordedBackend(task)
    limited = ask(backend, STOCK, product_id="P1")
    assert (limited.status, limited.error_kind, limited.text) == ("failed", "rate_limited", "busy")
    assert ask(backend, STOCK, product_id="P2").ok
    assert ask(backend, STOCK, product_id="P3").error_kind == "tool_error"
    assert ask(backend, UPDATE, product_id="P1", quantity=1).status == "unknown"


def test_on_miss() -> None:
    lenient = ask(RecordedBackend(RESTOCK, on_miss="any_args"), STOCK, product_id="other")
    assert lenient.ok
    assert lenient.off_recording
    stopped = ask(RecordedBackend(RESTOCK, on_miss="stop"), STOCK, product_id="other")
    assert stopped.metadata["stop"] is True
    unknown = ask(RecordedBackend(RESTOCK, on_miss="any_args"), Tool(name="elsewhere"), x=1)
    assert unknown.error_kind == "not_found"
    assert "at all" in unknown.message


def test_match_options_apply() -> None:
    task = Task(
        id="options",
        kind="must",
        query="",
        match=MatchOptions(strings="casefold", ignore_args=("query_stock.warehouse",)),
        paths=(path(golden("query_stock", {"product_id": " ｐ1 "}, 1)),),
    )
    assert ask(RecordedBackend(task), STOCK, product_id="P1", warehouse="whatever").ok
