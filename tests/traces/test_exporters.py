"""What goes out comes back, and the fixed shapes stay as they are."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from click.testing import CliRunner

from agent_reach.cli.main import group
from agent_reach.errors import TraceError
from agent_reach.records.trace import Call, CallOutcome, CandidateScore, Exposure, Step, Trace
from agent_reach.reports.figures import display_width
from agent_reach.reports.trace_text import trace_lines
from agent_reach.traces.exporters.shapes import paths, reach_records
from agent_reach.traces.exporters.telemetry import otlp_document, send_otlp
from agent_reach.traces.importers.base import Entry, ImportLog
from agent_reach.traces.importers.telemetry import read_telemetry

TRACE = Trace(
    trace_id="r1",
    query="查库存 look at PDT-1001",
    agent="a",
    model="m",
    started_at=1000.0,
    exposure=Exposure(mode="reach", offered=("look", "put")),
    steps=(
        Step(
            index=0,
            text="I look",
            raw="I look",
            candidates=(CandidateScore(tool="look", score=0.9), CandidateScore(tool="put", score=0.2)),
            calls=(
                Call(
                    call_id="c1",
                    name="look",
                    tool="look",
                    arguments={"id": "1"},
                    sent_arguments={"id": 1},
                    started_at=1001.0,
                    outcome=CallOutcome(status="ok", value={"n": 2}, text='{"n": 2}', latency_ms=12.0),
                ),
                Call(
                    call_id="c2",
                    name="put",
                    tool="put",
                    arguments={"n": 2},
                    started_at=1002.0,
                    outcome=CallOutcome(
                        status="failed", error_kind="rate_limited", message="429", text="429", latency_ms=5.0
                    ),
                ),
            ),
        ),
        Step(index=1, kind="user", text="and now?"),
    ),
    final_text="done",
)


def test_reach_records_and_paths_are_the_fixed_shapes():
    first, second = reach_records(TRACE)
    assert first == {
        "request_id": "r1",
        "user_query": "查库存 look at PDT-1001",
        "candidates": [{"tool": "look", "score": 0.9}, {"tool": "put", "score": 0.2}],
        "selected_tool": "look",
        "param_after_normalize": {"id": 1},
        "exec_result": {"status": "ok", "latency_ms": 12.0},
        "error_msg": "",
    }
    assert (second["exec_result"]["status"], second["error_msg"]) == ("failed", "429")
    (path,) = paths(TRACE)
    assert path["steps"][0] == {"tool": "look", "next": "put", "ts": "1970-01-01T00:16:41+00:00"}
    assert path["steps"][1]["next"] is None
    (empty,) = reach_records(Trace(trace_id="x", query="hi"))
    assert empty["selected_tool"] is None


def test_telemetry_reads_back_with_calls_outcomes_and_no_findings():
    log = ImportLog()
    (back,) = read_telemetry([Entry(value=otlp_document([TRACE]))], log)
    assert log.counts == {}
    assert back.query == TRACE.query
    assert [(call.call_id, call.name, call.arguments) for call in back.calls] == [
        ("c1", "look", {"id": 1}),
        ("c2", "put", {"n": 2}),
    ]
    assert [call.outcome.status for call in back.calls] == ["ok", "failed"]
    assert back.calls[1].outcome.error_kind == "rate_limited"
    assert back.exposure.offered == ("look", "put")
    assert otlp_document([TRACE]) == otlp_document([TRACE])


@pytest.mark.live
def test_a_collector_gets_the_spans_and_a_refusal_is_told():
    received = []

    class Collector(BaseHTTPRequestHandler):
        def do_POST(self):
            received.append((self.path, json.loads(self.rfile.read(int(self.headers["content-length"])))))
            self.send_response(200 if len(received) == 1 else 503)
            self.end_headers()

        def log_message(self, *args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Collector)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        address = f"http://127.0.0.1:{server.server_address[1]}"
        assert send_otlp([TRACE], address) == 1
        assert received[0][0] == "/v1/traces"
        with pytest.raises(TraceError, match="the collector said 503"):
            send_otlp([TRACE], address)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
    with pytest.raises(TraceError, match="does not answer"):
        send_otlp([TRACE], address)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_trace_on_a_terminal_of_eighty_columns(language):
    lines = trace_lines(TRACE, language)
    assert max(display_width(line) for line in lines) <= 80
    text = "\n".join(lines)
    for part in ("look", '"id"', "rate_limited", "429", "done", "0.90"):
        assert part in text


def run(*arguments: str) -> tuple[int, str, str]:
    import contextlib
    import io

    from agent_reach.cli.main import run_command_line

    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run_command_line(["traces", *arguments])
    return code, out.getvalue(), err.getvalue()


def test_the_command_line_from_import_to_stats(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [
        {
            "id": f"r{number}",
            "messages": [
                {"role": "user", "content": f"request {number}"},
                {
                    "role": "assistant",
                    "tool_calls": [{"id": "a", "function": {"name": "look", "arguments": "{}"}}],
                },
                {"role": "tool", "tool_call_id": "a", "content": "Error: no" if number else "5"},
            ],
        }
        for number in range(3)
    ]
    (tmp_path / "chats.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    code, out, _ = run("import", "chats.jsonl")
    assert code == 0
    assert "openai-chat, 3 traces (3 new), 3 calls" in out
    assert "3 traces (0 new)" in run("import", "chats.jsonl")[1]
    assert len(run("list")[1].splitlines()) == 3
    assert len(run("list", "--outcome", "failed")[1].splitlines()) == 2
    assert "request 0" in run("show", "r0")[1]
    assert json.loads(run("stats", "--json")[1])[0]["calls"] == 3
    code, out, _ = run("export", "--format", "path", "--tool", "look")
    assert len(out.splitlines()) == 3
    assert run("migrate", "--to", "other.db")[1] == "3 traces copied\n"
    assert run("prune", "--before", "1d", "--store", "other.db")[0] == 0
    for wrong, told in (
        (("show", "nothing"), "no trace"),
        (("list", "--since", "soon"), "is no time"),
        (("prune",), "what to delete"),
        (("list", "--store", "none.db"), "no such store"),
    ):
        code, _, err = run(*wrong)
        assert code == 2
        assert told in err
    assert CliRunner().invoke(group, ["traces", "import"]).exit_code == 2
