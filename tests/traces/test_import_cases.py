"""Reported troubles with stored traces: order of arrival, circles, joins by id, orphans, doubles, owners."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from agent_reach.traces.importers.base import Entry, ImportLog
from agent_reach.traces.importers.chat import read_chat
from agent_reach.traces.importers.spans import read_spans, span_tree
from agent_reach.traces.importers.telemetry import read_telemetry

CASES = {
    row["id"]: row
    for row in map(
        json.loads, (Path(__file__).parent / "cases.jsonl").read_text(encoding="utf-8").splitlines()
    )
}


def telemetry(spans: list[dict[str, Any]]) -> tuple[list[Any], ImportLog]:
    log = ImportLog()
    return list(read_telemetry([Entry(value=span) for span in spans], log)), log


def test_f02_every_order_of_arrival_gives_the_same_trace():
    spans = CASES["F02"]["input"]["arrival"]
    traces = [telemetry(list(order))[0] for order in itertools.permutations(spans)]
    assert all(trace == traces[0] for trace in traces)
    calls = traces[0][0].calls
    assert [call.metadata["span_id"] for call in calls] == ["p", "b", "c"] or len(calls) == 1
    tree = span_tree(read_spans([Entry(value=spans)], ImportLog()))
    assert [span.span_id for span in tree.spans] == ["p", "b", "c"]
    assert dict(tree.parents) == {"b": "p", "c": "p"}


def test_f06_circles_end_and_each_span_is_visited_once():
    spans = CASES["F06"]["input"]["spans"]
    tree = span_tree(read_spans([Entry(value=spans)], ImportLog()))
    assert len(tree.spans) == 4
    assert set(tree.cyclic) == {"a", "b", "c"}
    assert dict(tree.parents) == {"d": "a"}
    traces, log = telemetry(spans)
    assert len(traces) == 1
    assert log.counts["span_cycle"] == 1


def test_f06_a_chain_of_four_thousand_spans():
    spans = [
        {
            "trace_id": "T",
            "span_id": f"s{number}",
            "parent_id": f"s{number - 1}" if number else None,
            "name": "step",
            "start": number,
            "end": 9e3,
        }
        for number in range(4000)
    ]
    spans.append(
        {
            "trace_id": "T",
            "span_id": "t",
            "parent_id": "s3999",
            "name": "execute_tool x",
            "start": 4000,
            "end": 4001,
        }
    )
    traces, _ = telemetry(spans)
    assert [call.name for call in traces[0].calls] == ["x"]


def test_f09_joined_by_call_id_and_never_guessed():
    given = CASES["F09"]["input"]
    spans = []
    for number, row in enumerate(given["generations"]):
        message = [
            {
                "role": "assistant",
                "parts": [
                    {"type": "tool_call", "id": call, "name": "t", "arguments": {"n": call}}
                    for call in row["tool_calls"]
                ],
            }
        ]
        spans.append(
            {
                "trace_id": "T",
                "span_id": row["span"],
                "name": "chat m",
                "start": number,
                "end": number + 1,
                "attributes": {
                    "gen_ai.operation.name": "chat",
                    "gen_ai.output.messages": json.dumps(message),
                },
            }
        )
    for number, row in enumerate(given["tool_spans"]):
        spans.append(
            {
                "trace_id": "T",
                "span_id": row["span"],
                "name": "execute_tool t",
                "start": 5 + number,
                "end": 6 + number,
                "call_id": row["call_id"],
            }
        )
    trace = telemetry(spans)[0][0]
    joined = {call.metadata["span_id"]: call for call in trace.calls}
    assert joined["t1"].arguments == {"n": "c1"}
    assert joined["t2"].arguments == {"n": "c2"}
    assert [step.calls[0].metadata["span_id"] for step in trace.steps[:2]] == ["t1", "t2"]
    assert [name for name, call in joined.items() if call.metadata.get("unattributed")] == ["t3"]
    assert joined["t3"].arguments is None


def test_f10_calls_without_results_and_results_without_calls():
    log = ImportLog()
    trace = next(read_chat([Entry(value=CASES["F10"]["input"])], log))
    assert [call.call_id for call in trace.calls if call.outcome is None] == CASES["F10"]["check"][
        "unanswered"
    ]
    assert log.counts == {"orphan_result": 1, "unanswered_call": 1}
    assert "'zz'" in next(finding for finding in log.findings if finding.code == "orphan_result").message.en


def test_f25_a_synthesised_span_is_the_same_call():
    trace = telemetry(CASES["F25"]["input"]["spans"])[0][0]
    assert len(trace.calls) == CASES["F25"]["check"]["calls"]
    only = telemetry([span for span in CASES["F25"]["input"]["spans"] if span["kind"] == "synthesised"])[0][0]
    assert [(call.name, call.outcome) for call in only.calls] == [("add", None)]


def test_f26_owner_is_the_nearest_agent_or_the_one_named():
    spans = CASES["F26"]["input"]["spans"]
    traces, log = telemetry(spans)
    owners = {call.metadata["span_id"]: call.agent for call in traces[0].calls}
    assert owners == CASES["F26"]["check"]["owner"]
    assert log.counts["misplaced_span"] == 1


@pytest.mark.parametrize("nested", [True, False])
def test_two_layers_that_report_one_execution_count_once(nested):
    spans = [
        {
            "trace_id": "T",
            "span_id": "a",
            "name": "execute_tool add",
            "start": 0,
            "end": 2,
            "attributes": {"gen_ai.tool.call.arguments": '{"x": 1}'},
        },
        {
            "trace_id": "T",
            "span_id": "b",
            "parent_id": "a" if nested else None,
            "name": "execute_tool add",
            "start": 1,
            "end": 2,
            "attributes": {"gen_ai.tool.call.arguments": '{"x": 1}'},
        },
    ]
    assert len(telemetry(spans)[0][0].calls) == (1 if nested else 2)
