"""Traces as OpenTelemetry GenAI spans in OTLP/JSON, to a file or to a collector.

One trace id per trace: an `invoke_agent` span over `chat` spans (model messages) and `execute_tool` spans (calls). Ids are
made from our own by hashing, so that exporting twice gives the same spans. Times that are not known follow one another by
a microsecond, which keeps the order and claims no duration.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from typing import Any

from agent_reach.errors import TraceError
from agent_reach.records.trace import Call, Step, Trace
from agent_reach.version import __version__


def otlp_document(traces: Iterable[Trace]) -> dict[str, Any]:
    """An OTLP/JSON `ExportTraceServiceRequest` with all traces."""
    spans = [span for trace in traces for span in _spans(trace)]
    scope = {"scope": {"name": "agent_reach", "version": __version__}, "spans": spans}
    resource = {"attributes": [_attribute("service.name", "agent-reach")]}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [scope]}]}


def otlp_rows(trace: Trace) -> Iterator[dict[str, Any]]:
    """One OTLP/JSON document per trace, for files with one document a line."""
    yield otlp_document([trace])


def send_otlp(
    traces: Iterable[Trace], address: str, *, headers: dict[str, str] | None = None, batch: int = 50
) -> int:
    """Send traces to a collector (`http://127.0.0.1:4318` or the full path) in batches; the number sent. Raises `TraceError`."""
    import httpx2

    url = address if address.rstrip("/").endswith("/v1/traces") else address.rstrip("/") + "/v1/traces"
    sent = 0
    pending: list[Trace] = []
    with httpx2.Client(timeout=30.0, headers=headers) as client:

        def post() -> None:
            nonlocal sent
            try:
                answer = client.post(url, json=otlp_document(pending))
            except httpx2.HTTPError as error:
                raise TraceError(
                    f"the collector does not answer: {error}",
                    where=url,
                    next_step=f"{sent} traces were sent before",
                ) from error
            if answer.status_code >= 300:
                raise TraceError(
                    f"the collector said {answer.status_code}: {answer.text[:200]}",
                    where=url,
                    next_step=f"{sent} traces were sent before",
                )
            sent += len(pending)
            pending.clear()

        for trace in traces:
            pending.append(trace)
            if len(pending) >= batch:
                post()
        if pending:
            post()
    return sent


def _spans(trace: Trace) -> Iterator[dict[str, Any]]:
    clock = _Clock(trace.started_at)
    trace_id = hashlib.sha256(trace.trace_id.encode("utf-8", "replace")).hexdigest()[:32]
    root_id = _span_id(trace.trace_id, "root")
    children = []
    for step in trace.steps:
        if step.kind == "model":
            children.append(_model_span(trace, step, trace_id, root_id, clock))
        for call in step.calls:
            children.append(_tool_span(trace, step, call, trace_id, root_id, clock))
    start = clock.first
    end = int(trace.ended_at * 1e9) if trace.ended_at is not None else clock.last
    attributes = [
        _attribute("gen_ai.operation.name", "invoke_agent"),
        _attribute("gen_ai.agent.name", trace.agent or "agent"),
        _attribute("gen_ai.conversation.id", trace.trace_id),
        _attribute("gen_ai.input.messages", _messages("user", trace.query)),
    ]
    if trace.final_text:
        attributes.append(_attribute("gen_ai.output.messages", _messages("assistant", trace.final_text)))
    yield _span(
        trace_id, root_id, "", f"invoke_agent {trace.agent or 'agent'}", start, max(start, end), attributes
    )
    yield from children


def _model_span(trace: Trace, step: Step, trace_id: str, root_id: str, clock: _Clock) -> dict[str, Any]:
    parts: list[dict[str, Any]] = [{"type": "text", "content": step.text}] if step.text else []
    parts += [
        {"type": "tool_call", "id": call.call_id, "name": call.name, "arguments": call.arguments}
        for call in step.calls
    ]
    start = clock.at(step.started_at)
    attributes = [
        _attribute("gen_ai.operation.name", "chat"),
        _attribute("gen_ai.response.model", trace.model),
        _attribute(
            "gen_ai.output.messages",
            json.dumps(
                [{"role": "assistant", "parts": parts, "finish_reason": step.finish_reason}],
                ensure_ascii=False,
                default=str,
            ),
        ),
    ]
    offered = step.offered or trace.exposure.offered
    if offered:
        attributes.append(
            _attribute(
                "gen_ai.tool.definitions",
                json.dumps([{"type": "function", "name": name} for name in offered], ensure_ascii=False),
            )
        )
    for name, count in (
        ("gen_ai.usage.input_tokens", step.input_tokens),
        ("gen_ai.usage.output_tokens", step.output_tokens),
    ):
        if count is not None:
            attributes.append(_attribute(name, count))
    end = start + int((step.latency_ms or 0.0) * 1e6)
    return _span(
        trace_id,
        _span_id(trace.trace_id, f"step{step.index}"),
        root_id,
        f"chat {trace.model}".strip(),
        start,
        end,
        attributes,
    )


def _tool_span(
    trace: Trace, step: Step, call: Call, trace_id: str, root_id: str, clock: _Clock
) -> dict[str, Any]:
    sent = call.sent_arguments if call.sent_arguments is not None else call.arguments
    attributes = [
        _attribute("gen_ai.operation.name", "execute_tool"),
        _attribute("gen_ai.tool.name", call.name),
        _attribute("gen_ai.tool.call.id", call.call_id),
    ]
    if sent is not None:
        attributes.append(
            _attribute("gen_ai.tool.call.arguments", json.dumps(dict(sent), ensure_ascii=False, default=str))
        )
    outcome = call.outcome
    status: dict[str, Any] = {}
    end = start = clock.at(call.started_at)
    if outcome is not None:
        end = start + int((outcome.latency_ms or 0.0) * 1e6)
        if outcome.ok:
            status = {"code": 1}
            attributes.append(_attribute("gen_ai.tool.call.result", outcome.text))
        else:
            status = {"code": 2, "message": outcome.message}
            attributes.append(_attribute("error.type", outcome.error_kind or outcome.status))
    span_id = _span_id(trace.trace_id, f"step{step.index}.{call.call_id}")
    return _span(trace_id, span_id, root_id, f"execute_tool {call.name}", start, end, attributes, status)


class _Clock:
    """Gives each span a start in nanoseconds that is never before the one given last."""

    def __init__(self, begin: float | None) -> None:
        self.first = int((begin or 0.0) * 1e9)
        self.last = self.first

    def at(self, moment: float | None) -> int:
        wanted = int(moment * 1e9) if moment is not None else 0
        self.last = wanted if wanted > self.last else self.last + 1000
        return self.last


def _span(
    trace_id: str,
    span_id: str,
    parent: str,
    name: str,
    start: int,
    end: int,
    attributes: list[dict[str, Any]],
    status: dict[str, Any] | None = None,
) -> dict[str, Any]:
    return {
        "traceId": trace_id,
        "spanId": span_id,
        "parentSpanId": parent,
        "name": name,
        "kind": 1,
        "startTimeUnixNano": str(start),
        "endTimeUnixNano": str(max(end, start)),
        "attributes": [attribute for attribute in attributes if attribute["value"] != {"stringValue": ""}],
        "status": status or {},
    }


def _attribute(key: str, value: str | int) -> dict[str, Any]:
    return {
        "key": key,
        "value": {"stringValue": value} if isinstance(value, str) else {"intValue": str(value)},
    }


def _messages(role: str, text: str) -> str:
    return json.dumps([{"role": role, "parts": [{"type": "text", "content": text}]}], ensure_ascii=False)


def _span_id(trace_id: str, name: str) -> str:
    return hashlib.sha256(f"{trace_id}\n{name}".encode("utf-8", "replace")).hexdigest()[:16]
