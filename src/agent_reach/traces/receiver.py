"""An OpenTelemetry receiver on loopback: spans sent by OTLP/HTTP become traces in the store.

Spans of one trace arrive in several requests and in any order; a trace is written when nothing came for it for
`quiet_seconds`, and again, grown, when something comes later. JSON is read as it is; protobuf, which most exporters send
unless told otherwise, needs the extra `otel`. It listens on loopback only and is no collector: nothing is passed on.
"""

from __future__ import annotations

import base64
import gzip
import json
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from agent_reach.errors import InputError, MissingExtraError
from agent_reach.records.finding import Finding
from agent_reach.traces.importers.base import Entry, ImportLog
from agent_reach.traces.importers.spans import iter_raw_spans
from agent_reach.traces.importers.telemetry import read_telemetry
from agent_reach.traces.store.base import TraceStore

QUIET_SECONDS = 2.0
MAXIMUM_BYTES = 64_000_000


class TelemetryReceiver:
    """Receives spans at `http://127.0.0.1:PORT/v1/traces`. Use as a context manager; `port` 0 takes a free one.

    `counts` says how many requests, spans and refused requests there were; `findings` what the spans told.
    """

    def __init__(
        self,
        store: TraceStore,
        *,
        host: str = "127.0.0.1",
        port: int = 4318,
        quiet_seconds: float = QUIET_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if host not in ("127.0.0.1", "::1", "localhost"):
            raise InputError(
                f"the receiver listens on loopback only, not on {host!r}",
                next_step="run a collector in front for other machines",
            )
        self._store = store
        self._quiet = quiet_seconds
        self._clock = clock
        self._lock = threading.Lock()
        self._spans: dict[str, list[Any]] = {}
        self._touched: dict[str, float] = {}
        self._log = ImportLog(source="otlp")
        self.counts = {"requests": 0, "spans": 0, "refused": 0, "traces": 0}
        try:
            self._server = ThreadingHTTPServer((host, port), self._handler())
        except OSError as error:
            raise InputError(
                f"cannot listen: {error.strerror}", where=f"{host}:{port}", next_step="choose another --port"
            ) from error
        self._stop = threading.Event()
        self._threads = [
            threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True),
            threading.Thread(target=self._write_quiet_ones, daemon=True),
        ]

    @property
    def address(self) -> str:
        """Where to send spans."""
        host, port = self._server.server_address[:2]
        return f"http://{host!s}:{port}/v1/traces"

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What the spans told so far."""
        return tuple(self._log.findings)

    def __enter__(self) -> TelemetryReceiver:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._server.shutdown()
        self._stop.set()
        for thread in self._threads:
            thread.join()
        self._server.server_close()
        self._write(list(self._spans))
        self._store.flush()

    def take(self, document: Any) -> int:
        """Take an OTLP/JSON document; the number of spans in it."""
        spans = list(iter_raw_spans(document))
        with self._lock:
            for raw, scope in spans:
                trace_id = str(raw.get("traceId") or raw.get("trace_id") or "")
                self._spans.setdefault(trace_id, []).append({**raw, "scope": {"name": scope}})
                self._touched[trace_id] = self._clock()
            self.counts["requests"] += 1
            self.counts["spans"] += len(spans)
        return len(spans)

    def _write_quiet_ones(self) -> None:
        while not self._stop.wait(min(0.25, self._quiet)):
            now = self._clock()
            with self._lock:
                ready = [name for name, moment in self._touched.items() if now - moment >= self._quiet]
            self._write(ready)

    def _write(self, trace_ids: list[str]) -> None:
        for trace_id in trace_ids:
            with self._lock:
                spans = list(self._spans.get(trace_id, ()))
                self._touched.pop(trace_id, None)
            for trace in read_telemetry([Entry(value=spans)], self._log) if spans else ():
                self._store.add(trace)
                with self._lock:
                    self.counts["traces"] += 1
        self._forget()

    def _forget(self) -> None:
        """Keep the spans of the last thousand traces, for those that grow; older ones are done."""
        with self._lock:
            for name in [name for name in self._spans if name not in self._touched][:-1000]:
                del self._spans[name]

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            """One request; answers in JSON."""

            def do_POST(self) -> None:
                """Take spans."""
                if self.path.rstrip("/") != "/v1/traces":
                    self._answer(404, "only /v1/traces is received here")
                    return
                try:
                    document = self._document()
                except (ValueError, OSError, MissingExtraError) as error:
                    with receiver._lock:
                        receiver.counts["refused"] += 1
                    self._answer(415 if isinstance(error, MissingExtraError) else 400, str(error))
                    return
                receiver.take(document)
                self._answer(200, "")

            def _document(self) -> Any:
                length = int(self.headers.get("content-length") or 0)
                if not 0 < length <= MAXIMUM_BYTES:
                    raise ValueError(f"a body of {length} bytes is not taken")
                body = self.rfile.read(length)
                if self.headers.get("content-encoding") == "gzip":
                    body = gzip.decompress(body)
                kind = (self.headers.get("content-type") or "").split(";")[0].strip()
                return decoded_protobuf(body) if kind == "application/x-protobuf" else json.loads(body)

            def _answer(self, code: int, message: str) -> None:
                content = json.dumps({"message": message} if message else {}).encode()
                self.send_response(code)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, format: str, *arguments: Any) -> None:
                """Say nothing: progress is the caller's."""

        return Handler


def decoded_protobuf(body: bytes) -> Any:
    """An OTLP protobuf request in the OTLP/JSON form; raises `MissingExtraError` without the extra `otel`."""
    try:
        from google.protobuf.json_format import MessageToDict
        from google.protobuf.message import DecodeError
        from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
    except ImportError as error:
        raise MissingExtraError("opentelemetry-proto", "otel") from error
    message = ExportTraceServiceRequest()
    try:
        message.ParseFromString(body)
    except DecodeError as error:
        raise ValueError(f"no OTLP protobuf: {error}") from error
    document = MessageToDict(message)
    for raw, _ in _spans(document):
        for key in ("traceId", "spanId", "parentSpanId"):
            if raw.get(key):
                raw[key] = base64.b64decode(raw[key]).hex()
    return document


def _spans(document: Any) -> Iterator[tuple[Any, str]]:
    yield from iter_raw_spans(document)
