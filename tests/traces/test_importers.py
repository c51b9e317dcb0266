"""Each stored form, recognised and read, whole or broken."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from agent_reach.errors import TraceError
from agent_reach.records.codec import to_json
from agent_reach.traces.importers.base import error_kind, outcome_of, seconds
from agent_reach.traces.importers.read import import_traces

CHAT = {
    "id": "one",
    "task_id": 7,
    "trial": 2,
    "tools": [{"type": "function", "function": {"name": "look"}}],
    "messages": [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "查一下"},
        {
            "role": "assistant",
            "content": "Looking.",
            "tool_calls": [
                {
                    "id": "a",
                    "type": "function",
                    "function": {"name": "look", "arguments": '{"n": 12345678901234567890}'},
                }
            ],
        },
        {"role": "tool", "tool_call_id": "a", "content": '{"found": [1]}'},
        {"role": "user", "content": "more"},
        {"role": "assistant", "content": "Done."},
    ],
}
ANTHROPIC = {
    "messages": [
        {"role": "user", "content": "hi"},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hm"},
                {"type": "text", "text": "ok"},
                {"type": "tool_use", "id": "t1", "name": "look", "input": {"n": 1}},
            ],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "t1",
                    "is_error": True,
                    "content": [{"type": "text", "text": "429 too many requests"}],
                }
            ],
        },
    ]
}
RESPONSES = {
    "object": "response",
    "id": "r1",
    "model": "m",
    "created_at": 1700000000,
    "input": "hi",
    "tools": [{"type": "function", "name": "look"}],
    "output": [
        {"type": "reasoning", "summary": []},
        {"type": "function_call", "call_id": "c1", "name": "look", "arguments": '{"n": 1}'},
    ],
}
RESPONSES_NEXT = {
    "object": "response",
    "id": "r2",
    "previous_response_id": "r1",
    "input": [{"type": "function_call_output", "call_id": "c1", "output": "5"}],
    "output": [
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "five"}]}
    ],
}
CLAUDE_CODE = [
    {"type": "summary", "summary": "s", "leafUuid": "x"},
    {
        "type": "user",
        "sessionId": "S",
        "uuid": "1",
        "timestamp": "2026-01-01T00:00:00Z",
        "message": {"role": "user", "content": "hi"},
    },
    {
        "type": "assistant",
        "sessionId": "S",
        "uuid": "2",
        "timestamp": "2026-01-01T00:00:01Z",
        "message": {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "t1", "name": "look", "input": {"n": 1}}],
        },
    },
    {
        "type": "user",
        "sessionId": "S",
        "uuid": "3",
        "timestamp": "2026-01-01T00:00:02Z",
        "message": {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "5"}],
        },
    },
]
MCP_LOG = [
    {"time": 1.0, "server": "s", "message": {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}},
    {
        "time": 1.1,
        "server": "s",
        "message": {"jsonrpc": "2.0", "id": 1, "result": {"tools": [{"name": "look"}, {"name": "put"}]}},
    },
    {
        "time": 2.0,
        "server": "s",
        "message": {
            "jsonrpc": "2.0",
            "id": 2,
            "method": "tools/call",
            "params": {"name": "look", "arguments": {"n": 1}},
        },
    },
    {
        "time": 2.5,
        "server": "s",
        "message": {"jsonrpc": "2.0", "id": 2, "result": {"content": [{"type": "text", "text": "5"}]}},
    },
]
INSPECT = {
    "eval": {"model": "m"},
    "samples": [
        {
            "id": "q1",
            "epoch": 1,
            "messages": [
                {"role": "user", "content": "hi"},
                {
                    "role": "assistant",
                    "content": "",
                    "tool_calls": [{"id": "t1", "function": "look", "arguments": {"n": 1}}],
                },
                {
                    "role": "tool",
                    "tool_call_id": "t1",
                    "function": "look",
                    "content": "",
                    "error": {"type": "timeout", "message": "took long"},
                },
            ],
        }
    ],
}
LANGSMITH = [
    {
        "id": "r0",
        "trace_id": "T",
        "name": "agent",
        "run_type": "chain",
        "inputs": {},
        "outputs": {},
        "start_time": "2026-01-01T00:00:00",
        "end_time": "2026-01-01T00:00:09",
    },
    {
        "id": "r1",
        "trace_id": "T",
        "parent_run_id": "r0",
        "name": "ChatOpenAI",
        "run_type": "llm",
        "start_time": "2026-01-01T00:00:01",
        "end_time": "2026-01-01T00:00:02",
        "inputs": {
            "messages": [
                [
                    {
                        "id": ["langchain", "schema", "messages", "HumanMessage"],
                        "kwargs": {"content": "hi", "type": "human"},
                    }
                ]
            ]
        },
        "outputs": {
            "generations": [
                [
                    {
                        "text": "",
                        "message": {
                            "kwargs": {
                                "content": "",
                                "type": "ai",
                                "tool_calls": [{"id": "t1", "name": "look", "args": {"n": 1}}],
                            }
                        },
                    }
                ]
            ]
        },
    },
    {
        "id": "r2",
        "trace_id": "T",
        "parent_run_id": "r0",
        "name": "look",
        "run_type": "tool",
        "start_time": "2026-01-01T00:00:03",
        "end_time": "2026-01-01T00:00:04",
        "inputs": {"input": "{'n': 1}"},
        "outputs": {"output": {"content": "5", "tool_call_id": "t1"}},
    },
]
LANGFUSE = {
    "id": "T",
    "observations": [
        {
            "id": "g",
            "type": "GENERATION",
            "traceId": "T",
            "name": "chat",
            "startTime": "2026-01-01T00:00:01Z",
            "endTime": "2026-01-01T00:00:02Z",
            "model": "m",
            "input": [{"role": "user", "content": "hi"}],
            "output": {
                "role": "assistant",
                "content": "",
                "tool_calls": [
                    {"id": "t1", "type": "function", "function": {"name": "look", "arguments": '{"n": 1}'}}
                ],
            },
        },
        {
            "id": "t",
            "type": "TOOL",
            "traceId": "T",
            "name": "look",
            "startTime": "2026-01-01T00:00:03Z",
            "endTime": "2026-01-01T00:00:04Z",
            "input": {"n": 1},
            "output": "5",
        },
    ],
}
OTLP = {
    "resourceSpans": [
        {
            "scopeSpans": [
                {
                    "scope": {"name": "x"},
                    "spans": [
                        {
                            "traceId": "T",
                            "spanId": "m",
                            "name": "chat m",
                            "startTimeUnixNano": "1700000000000000000",
                            "endTimeUnixNano": "1700000001000000000",
                            "status": {"code": 1},
                            "attributes": [
                                {"key": "gen_ai.operation.name", "value": {"stringValue": "chat"}},
                                {
                                    "key": "gen_ai.input.messages",
                                    "value": {
                                        "stringValue": json.dumps(
                                            [{"role": "user", "parts": [{"type": "text", "content": "hi"}]}]
                                        )
                                    },
                                },
                                {
                                    "key": "gen_ai.output.messages",
                                    "value": {
                                        "arrayValue": {
                                            "values": [
                                                {
                                                    "kvlistValue": {
                                                        "values": [
                                                            {
                                                                "key": "role",
                                                                "value": {"stringValue": "assistant"},
                                                            },
                                                            {
                                                                "key": "parts",
                                                                "value": {
                                                                    "arrayValue": {
                                                                        "values": [
                                                                            {
                                                                                "kvlistValue": {
                                                                                    "values": [
                                                                                        {
                                                                                            "key": "type",
                                                                                            "value": {
                                                                                                "stringValue": "tool_call"
                                                                                            },
                                                                                        },
                                                                                        {
                                                                                            "key": "id",
                                                                                            "value": {
                                                                                                "stringValue": "t1"
                                                                                            },
                                                                                        },
                                                                                        {
                                                                                            "key": "name",
                                                                                            "value": {
                                                                                                "stringValue": "look"
                                                                                            },
                                                                                        },
                                                                                        {
                                                                                            "key": "arguments",
                                                                                            "value": {
                                                                                                "stringValue": '{"n": 1}'
                                                                                            },
                                                                                        },
                                                                                    ]
                                                                                }
                                                                            }
                                                                        ]
                                                                    }
                                                                },
                                                            },
                                                        ]
                                                    }
                                                }
                                            ]
                                        }
                                    },
                                },
                            ],
                        },
                        {
                            "traceId": "T",
                            "spanId": "t",
                            "parentSpanId": "m",
                            "name": "execute_tool look",
                            "startTimeUnixNano": "1700000002000000000",
                            "endTimeUnixNano": "1700000002500000000",
                            "status": {},
                            "attributes": [
                                {"key": "gen_ai.tool.name", "value": {"stringValue": "look"}},
                                {"key": "gen_ai.tool.call.id", "value": {"stringValue": "t1"}},
                                {"key": "gen_ai.tool.call.result", "value": {"stringValue": "5"}},
                            ],
                        },
                    ],
                }
            ]
        }
    ],
}
FORMS: dict[str, list[Any]] = {
    "openai-chat": [CHAT],
    "anthropic": [ANTHROPIC],
    "openai-responses": [RESPONSES, RESPONSES_NEXT],
    "claude-code": CLAUDE_CODE,
    "mcp": MCP_LOG,
    "inspect": [INSPECT],
    "langsmith": [LANGSMITH],
    "langfuse": [LANGFUSE],
    "otel": [OTLP],
}


def write(folder: Path, rows: list[Any], name: str = "t.jsonl") -> Path:
    path = folder / name
    path.write_text("\n".join(json.dumps(row, ensure_ascii=False) for row in rows), encoding="utf-8")
    return path


@pytest.mark.parametrize("form", list(FORMS))
def test_each_form_is_recognised_and_gives_its_one_call(form, tmp_path):
    imported = import_traces(write(tmp_path, FORMS[form]))
    traces = list(imported)
    assert imported.format == form
    assert len(traces) == 1
    (call,) = traces[0].calls
    assert call.name.removeprefix("s/") == "look"
    assert call.arguments is not None
    assert set(call.arguments) == {"n"}
    assert call.outcome is not None
    failed = form in ("anthropic", "inspect")
    assert call.outcome.status == ("failed" if failed else "ok")
    assert traces[0].query == {"openai-chat": "查一下", "mcp": ""}.get(form, "hi")


@pytest.mark.parametrize("form", list(FORMS))
def test_own_jsonl_reads_back_equal(form, tmp_path):
    traces = list(import_traces(write(tmp_path, FORMS[form])))
    again = import_traces(write(tmp_path, [to_json(trace) for trace in traces], "own.jsonl"))
    assert list(again) == traces
    assert again.format == "agent-reach"


def test_details_of_a_chat(tmp_path):
    trace = next(iter(import_traces(write(tmp_path, [CHAT]))))
    assert (trace.trace_id, trace.task_id, trace.attempt) == ("one", "7", 2)
    assert trace.calls[0].arguments == {"n": 12345678901234567890}
    assert trace.calls[0].outcome.value == {"found": [1]}
    assert [step.kind for step in trace.steps] == ["model", "user", "model"]
    assert trace.final_text == "Done."
    assert trace.exposure.offered == ("look",)
    assert [block.kind for block in trace.blocks] == ["constraint", "instruction", "tool_result", "history"]


def test_kinds_of_errors_and_latency(tmp_path):
    trace = next(iter(import_traces(write(tmp_path, [ANTHROPIC]))))
    assert trace.calls[0].outcome.error_kind == "rate_limited"
    trace = next(iter(import_traces(write(tmp_path, [INSPECT]))))
    assert trace.calls[0].outcome.error_kind == "timeout"
    trace = next(iter(import_traces(write(tmp_path, MCP_LOG))))
    assert trace.calls[0].outcome.latency_ms == pytest.approx(500)
    assert trace.exposure.offered == ("s/look", "s/put")


def test_broken_lines_are_findings_and_the_rest_is_read(tmp_path):
    path = write(tmp_path, [CHAT, {"nothing": 1}, CHAT])
    path.write_text(
        path.read_text(encoding="utf-8").replace('{"nothing": 1}', '{"nothing": 1}\n{broken'),
        encoding="utf-8",
    )
    imported = import_traces(path)
    assert len(list(imported)) == 2
    assert imported.counts == {"unreadable_record": 1, "unreadable_line": 1}
    assert sorted(finding.line for finding in imported.findings) == [2, 3]


def test_whole_files_and_gzip(tmp_path):
    path = tmp_path / "t.json"
    path.write_text(json.dumps([CHAT, CHAT], indent=1), encoding="utf-8")
    assert len(list(import_traces(path))) == 2
    packed = tmp_path / "t.jsonl.gz"
    packed.write_bytes(gzip.compress(json.dumps(CHAT).encode()))
    assert len(list(import_traces(packed))) == 1


@pytest.mark.parametrize(
    ("content", "told"), [("", "no JSON value"), ("{}", "no known form"), ("[1, 2]", "no known form")]
)
def test_what_is_no_trace_is_an_error_that_helps(content, told, tmp_path):
    path = tmp_path / "x.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(TraceError, match=told):
        import_traces(path)


def test_missing_files_and_unknown_formats(tmp_path):
    with pytest.raises(TraceError, match="no such file"):
        import_traces(tmp_path / "none.json")
    with pytest.raises(TraceError, match="no importer is named 'langsmiht'") as caught:
        import_traces(write(tmp_path, [CHAT]), "langsmiht")
    assert "langsmith" in caught.value.next_step


def test_times_and_outcomes():
    assert (
        seconds("2026-01-01T00:00:00Z")
        == seconds("2026-01-01T01:00:00+01:00")
        == seconds(1767225600000)
        == 1767225600
    )
    assert seconds("soon") is None
    assert outcome_of("Error: no such order").status == "failed"
    assert outcome_of("Error: no such order", infer_errors=False).ok
    assert outcome_of("No errors found").ok
    assert outcome_of('{"error": "unauthorized"}').error_kind == "permission"
    assert outcome_of("错误：超时").error_kind == "timeout"
    assert error_kind("unknown tool 'x'") == "not_found"


@pytest.mark.parametrize(
    ("name", "traces", "calls", "failed"),
    [
        ("graph/taubench_gpt4o_airline/traces.jsonl", 200, 1164, 73),
        ("graph/tau2/gold_replay_retail.jsonl", 112, 553, 23),
        ("graph/tau2/gold_replay_telecom.jsonl", 114, 516, 0),
        ("graph/agentdojo/gold_replay.jsonl", 97, 339, 0),
        ("graph/bfcl_multi_turn/gold_replay_base.jsonl", 200, 1142, 0),
        ("graph/otel_fixtures/adk_live_spans.json", 1, 1, 0),
        ("graph/otel_fixtures/autogen_live_spans.json", 1, 1, 0),
        ("graph/otel_fixtures/claude_adot_spans.json", 1, 4, 0),
        ("graph/otel_fixtures/claude_live_spans.json", 1, 6, 0),
        ("graph/otel_fixtures/openai_agents_genai_adot_spans.json", 1, 1, 0),
        ("graph/otel_fixtures/openai_agents_genai_live_spans.json", 1, 5, 0),
        ("graph/otel_fixtures/openai_agents_openinference_live_spans.json", 1, 4, 0),
        ("graph/otel_fixtures/openinference_adot_spans.json", 2, 1, 0),
        ("graph/otel_fixtures/otel_genai_convention_spans.json", 1, 2, 1),
        ("graph/otel_fixtures/pydantic_ai_live_spans.json", 1, 1, 0),
        ("graph/otel_fixtures/smolagents_live_spans.json", 1, 2, 0),
    ],
)
def test_real_files_have_the_counts_that_a_hand_count_gives(real_data, name, traces, calls, failed):
    read = list(import_traces(real_data / name))
    found = [call for trace in read for call in trace.calls]
    outcomes = [call.outcome.status for call in found if call.outcome is not None]
    assert (len(read), len(found), outcomes.count("failed")) == (traces, calls, failed)


def test_ids_come_from_the_content_and_not_from_the_file_name(tmp_path):
    bare = {key: value for key, value in CHAT.items() if key != "id"}
    other = {**bare, "messages": [*bare["messages"], {"role": "user", "content": "and?"}]}
    first = [trace.trace_id for trace in import_traces(write(tmp_path, [bare, bare, other], "chats.jsonl"))]
    assert len(set(first)) == 3
    (tmp_path / "moved").mkdir()
    assert [
        trace.trace_id for trace in import_traces(write(tmp_path / "moved", [other, bare, bare], "x.jsonl"))
    ] == [first[2], *first[:2]]
