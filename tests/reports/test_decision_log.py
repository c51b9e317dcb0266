"""The decision log: exactly the fixed fields, every decision, nothing from attempts that count nowhere."""

from __future__ import annotations

import json

from tests.reports.sample import BIG_ID, sample_report

from agent_reach.reports.decision_log import decision_rows, render_decision_log
from agent_reach.reports.json_form import DECISION_LOG_FIELDS

FIELDS = [
    "task_id",
    "step",
    "model_raw",
    "selected_tool",
    "expected_tool",
    "arguments",
    "expected_arguments",
    "error",
    "context_blocks",
    "used_blocks",
]


def test_every_line_has_exactly_the_fixed_fields_in_order() -> None:
    lines = render_decision_log(sample_report()).splitlines()
    assert len(lines) == 9
    assert list(DECISION_LOG_FIELDS) == FIELDS
    for line in lines:
        assert list(json.loads(line)) == FIELDS


def test_rows_say_what_was_expected_and_done() -> None:
    rows = list(decision_rows(sample_report()))
    lost = next(row for row in rows if row["error"] == "rival_chosen")
    assert (lost["task_id"], lost["step"]) == ("restock-001", 1)
    assert (lost["expected_tool"], lost["selected_tool"]) == ("stock/update_stock", "stock/adjust_inventory")
    assert lost["arguments"] == {"product_id": "PDT-1001", "delta": 50, "warehouse_id": "WH-SH-01"}
    assert lost["model_raw"].startswith('{"tool": "adjust_inventory"')
    window = next(row for row in rows if row["error"] == "out_of_window")
    assert window["selected_tool"] is None
    assert window["arguments"] is None
    assert window["expected_arguments"] == {"order_id": BIG_ID}


def test_calls_that_must_not_be_made_are_decisions_too() -> None:
    extra = [row for row in decision_rows(sample_report()) if row["expected_tool"] is None]
    assert [(row["task_id"], row["selected_tool"], row["error"]) for row in extra] == [
        ("restock-001", "stock/adjust_inventory", "forbidden"),
        ("ask-001", "orders/refund_order", "over_called"),
    ]
    assert extra[1]["arguments"] == {"order_id": "SO-77"}


def test_lost_attempts_are_not_in_the_log() -> None:
    assert not any(row["task_id"] == "infra-001" for row in decision_rows(sample_report()))
