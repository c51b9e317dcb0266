"""Spans sent to the receiver become traces, in whatever pieces they come."""

from __future__ import annotations

import base64
import gzip
import json
import time
import urllib.error
import urllib.request

import pytest

from agent_reach.errors import InputError
from agent_reach.records.trace import Call, CallOutcome, Step, Trace
from agent_reach.traces.exporters.parquet import write_parquet
from agent_reach.traces.exporters.telemetry import otlp_document
from agent_reach.traces.receiver import TelemetryReceiver
from agent_reach.traces.store.base import TraceStore

TRACE = Trace(
    trace_id="r1",
    query="hi",
    started_at=1_700_000_000.0,
    steps=(
        Step(
            index=0,
            text="x",
            calls=(
                Call(
                    call_id="c1",
                    name="look",
                    arguments={"id": 1},
                    outcome=CallOutcome(status="ok", value=5, text="5", latency_ms=3.0),
                ),
            ),
        ),
    ),
)


def post(address: str, body: bytes, kind: str = "application/json", **headers: str) -> int:
    request = urllib.request.Request(address, data=body, headers={"content-type": kind, **headers})
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        error.close()
        return error.code


def waited(store: TraceStore, count: int) -> list[Trace]:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        found = list(store.iterate())
        if len(found) >= count:
            return found
        time.sleep(0.05)
    raise AssertionError("the trace did not come")


@pytest.mark.live
def test_spans_in_pieces_as_json_gzip_and_protobuf(tmp_path):
    document = otlp_document([TRACE])
    spans = document["resourceSpans"][0]["scopeSpans"][0]["spans"]
    with TraceStore.open(tmp_path / "t.db") as store:
        with TelemetryReceiver(store, port=0, quiet_seconds=0.05) as receiver:
            pieces = [{"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]} for span in reversed(spans)]
            assert post(receiver.address, json.dumps(pieces[0]).encode()) == 200
            assert (
                post(
                    receiver.address,
                    gzip.compress(json.dumps(pieces[1]).encode()),
                    **{"content-encoding": "gzip"},
                )
                == 200
            )
            assert post(receiver.address, _protobuf(pieces[2]), "application/x-protobuf") == 200
            (found,) = waited(store, 1)
            assert post(receiver.address, b"{broken") == 400
            assert post(receiver.address.replace("traces", "metrics"), b"{}") == 404
            assert receiver.counts["spans"] == 3
            assert receiver.counts["refused"] == 1
        (found,) = store.iterate()
    assert [(call.name, call.arguments, call.outcome.value) for call in found.calls] == [
        ("look", {"id": 1}, 5)
    ]


def _protobuf(document: dict) -> bytes:
    pytest.importorskip("opentelemetry.proto")
    from google.protobuf.json_format import Parse
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    copied = json.loads(json.dumps(document))
    for resource in copied["resourceSpans"]:
        for scope in resource["scopeSpans"]:
            for span in scope["spans"]:
                for key in ("traceId", "spanId", "parentSpanId"):
                    span[key] = base64.b64encode(bytes.fromhex(span[key])).decode()
    return Parse(json.dumps(copied), ExportTraceServiceRequest()).SerializeToString()


def test_only_loopback(tmp_path):
    with TraceStore.open(tmp_path / "t.db") as store, pytest.raises(InputError, match="loopback only"):
        TelemetryReceiver(store, host="0.0.0.0")


def test_parquet_has_one_row_per_call(tmp_path):
    pyarrow = pytest.importorskip("pyarrow.parquet")
    assert write_parquet([TRACE, TRACE], tmp_path / "calls.parquet") == 2
    rows = pyarrow.read_table(tmp_path / "calls.parquet").to_pylist()
    assert rows[0]["tool"] == "look"
    assert json.loads(rows[0]["arguments"]) == {"id": 1}
    assert [path.name for path in tmp_path.iterdir()] == ["calls.parquet"]
