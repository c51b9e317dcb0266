"""Traces that exist already: found by task, completed with what the run knows, refused clearly."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from tests.evals_agents.scripted import session_for, task

from agent_reach.config.settings import AgentConfig
from agent_reach.errors import ModelError, TraceError
from agent_reach.evals.agents.recorded import RecordedAgent, read_traces
from agent_reach.records.codec import to_json
from agent_reach.records.trace import Call, CallOutcome, Step, Trace

CALL = Call(
    call_id="a", name="query-stock", arguments={"product_id": "1"}, outcome=CallOutcome(status="ok", value=1)
)


def a_trace(trace_id: str, **fields: object) -> Trace:
    return Trace(trace_id=trace_id, steps=(Step(index=0, calls=(CALL,)),), model="gpt", **fields)  # type: ignore[arg-type]


def adopted(agent: RecordedAgent, task_id: str = "t", query: str = "q", attempt: int = 0) -> Trace:
    session = session_for(None, task(id=task_id, query=query))
    session.attempt = attempt
    asyncio.run(agent.run(session))
    return session.trace()


def test_traces_are_found_by_task_then_by_request() -> None:
    traces = [
        a_trace("1", task_id="t"),
        a_trace("2", task_id="t"),
        a_trace("3", query="How  Many"),
        a_trace("4", metadata={"task_id": "u"}),
    ]
    agent = RecordedAgent(traces, AgentConfig(type="recorded"))
    assert adopted(agent).trace_id == "1"
    assert adopted(agent, attempt=1).trace_id == "2"
    assert adopted(agent, "x", "how many").trace_id == "3"
    assert adopted(agent, "u").trace_id == "4"
    assert agent.info.model == "gpt"
    assert agent.info.deterministic
    with pytest.raises(ModelError, match="attempt 3"):
        adopted(agent, attempt=2)
    with pytest.raises(ModelError, match="0 traces"):
        adopted(agent, "gone", "unknown words")


def test_a_trace_is_completed_with_names_and_exposure() -> None:
    trace = adopted(RecordedAgent([a_trace("1", task_id="t")], AgentConfig(type="recorded")))
    assert trace.calls[0].tool == "query_stock"
    assert trace.exposure.offered == ("query_stock", "send_note")
    assert trace.task_id == "t"
    assert trace.query == "q"


def test_own_lines_and_wrapped_lines_are_read(tmp_path: Path) -> None:
    path = tmp_path / "traces.jsonl"
    rows = [to_json(a_trace("1")), {"trace": to_json(a_trace("2"))}]
    path.write_text("\n".join(json.dumps(row) for row in rows) + "\n\n")
    assert [trace.trace_id for trace in read_traces(path)] == ["1", "2"]
    path.write_text(json.dumps(rows[0]) + "\n{broken\n")
    with pytest.raises(TraceError, match=r"traces\.jsonl:2"):
        read_traces(path)


def test_other_forms_go_through_the_importers(tmp_path: Path) -> None:
    path = tmp_path / "chat.json"
    messages = [
        {"role": "user", "content": "how many"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": "c",
                    "type": "function",
                    "function": {"name": "query_stock", "arguments": '{"product_id": "1"}'},
                }
            ],
        },
        {"role": "tool", "tool_call_id": "c", "content": "3"},
    ]
    path.write_text(json.dumps({"messages": messages}))
    (trace,) = read_traces(path)
    assert trace.calls[0].name == "query_stock"
    assert trace.calls[0].arguments == {"product_id": "1"}
