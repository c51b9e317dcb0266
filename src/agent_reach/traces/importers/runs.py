"""LangSmith run exports and Langfuse trace exports: nested runs and observations, turned into spans and read as such.

Both stores keep trees of runs with their own words. They are translated into the plain span form with OpenInference
names, so that joining, owners and duplicates are decided in one place.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from agent_reach.records.trace import Trace
from agent_reach.traces.importers.base import Entry, ImportLog
from agent_reach.traces.importers.langchain import flat_list, generations, message_parts
from agent_reach.traces.importers.telemetry import read_telemetry

_LANGFUSE_TYPES = {
    "GENERATION",
    "SPAN",
    "EVENT",
    "TOOL",
    "AGENT",
    "CHAIN",
    "RETRIEVER",
    "EMBEDDING",
    "EVALUATOR",
    "GUARDRAIL",
}


def detect_langsmith(first: Any) -> bool:
    """A run, or a list of runs, with `run_type` and `inputs`."""
    row = first[0] if isinstance(first, list) and first else first
    if isinstance(row, Mapping) and isinstance(row.get("runs"), list) and row["runs"]:
        row = row["runs"][0]
    return isinstance(row, Mapping) and "run_type" in row and ("inputs" in row or "trace_id" in row)


def read_langsmith(entries: Iterable[Entry], log: ImportLog) -> Iterator[Trace]:
    """One trace per `trace_id` (else per root run)."""
    spans = [
        span
        for entry in entries
        for row in _rows(entry.value, "runs")
        for span in _langsmith_spans(row, "", "")
    ]
    yield from read_telemetry([Entry(value=spans)] if spans else [], log)


def _rows(value: Any, key: str) -> list[Mapping[str, Any]]:
    if isinstance(value, Mapping) and isinstance(value.get(key), list):
        value = value[key]
    return [row for row in (value if isinstance(value, list) else [value]) if isinstance(row, Mapping)]


def _langsmith_spans(row: Mapping[str, Any], trace_id: str, parent_id: str) -> Iterator[dict[str, Any]]:
    identity = str(row.get("id") or row.get("run_id") or "")
    trace = str(row.get("trace_id") or trace_id or identity)
    kind = str(row.get("run_type") or "")
    inputs, outputs = row.get("inputs"), row.get("outputs")
    extra = row.get("extra") if isinstance(row.get("extra"), Mapping) else {}
    attributes: dict[str, Any] = {
        "openinference.span.kind": {"llm": "LLM", "tool": "TOOL", "chain": "CHAIN"}.get(kind, "CHAIN")
    }
    if kind == "tool":
        attributes |= {
            "tool.name": row.get("name"),
            "input.value": _tool_input(inputs),
            "output.value": _tool_output(outputs),
        }
        identifier = _tool_call_id(inputs, outputs, extra or {})
        if identifier:
            attributes["tool.id"] = identifier
    elif kind == "llm":
        attributes["gen_ai.input.messages"] = [message_parts(item) for item in flat_list(inputs, "messages")]
        attributes["gen_ai.output.messages"] = [message_parts(item) for item in generations(outputs)]
        metadata = (extra or {}).get("metadata")
        if isinstance(metadata, Mapping):
            attributes["gen_ai.request.model"] = metadata.get("ls_model_name")
    error = row.get("error")
    yield {
        "trace_id": trace,
        "span_id": identity,
        "parent_span_id": str(row.get("parent_run_id") or parent_id or ""),
        "name": str(row.get("name") or ""),
        "start_time": row.get("start_time"),
        "end_time": row.get("end_time"),
        "attributes": {key: value for key, value in attributes.items() if value not in (None, "")},
        "status": {
            "code": "ERROR" if error else "OK" if row.get("end_time") else "UNSET",
            "message": str(error or ""),
        },
    }
    for child in row.get("child_runs") or ():
        if isinstance(child, Mapping):
            yield from _langsmith_spans(child, trace, identity)


def _tool_input(inputs: Any) -> Any:
    if isinstance(inputs, Mapping):
        inner = inputs.get("input", inputs)
        if isinstance(inner, str):
            try:
                parsed = json.loads(inner.replace("'", '"') if inner.startswith("{'") else inner)
            except ValueError:
                return {"input": inner}
            return parsed if isinstance(parsed, Mapping) else {"input": parsed}
        if isinstance(inner, Mapping) and isinstance(inner.get("args"), Mapping) and "name" in inner:
            return inner["args"]
        return inner
    return inputs


def _tool_output(outputs: Any) -> Any:
    value = outputs.get("output", outputs) if isinstance(outputs, Mapping) else outputs
    return value.get("content", value) if isinstance(value, Mapping) and "tool_call_id" in value else value


def _tool_call_id(inputs: Any, outputs: Any, extra: Mapping[str, Any]) -> str:
    for place in (outputs, inputs, extra):
        inner = place.get("output", place) if isinstance(place, Mapping) else None
        if isinstance(inner, Mapping) and inner.get("tool_call_id"):
            return str(inner["tool_call_id"])
    if isinstance(inputs, Mapping) and isinstance(inputs.get("input"), Mapping) and inputs["input"].get("id"):
        return str(inputs["input"]["id"])
    return ""


def detect_langfuse(first: Any) -> bool:
    """A trace with `observations`, or observations with a type of Langfuse."""
    row = first[0] if isinstance(first, list) and first else first
    if not isinstance(row, Mapping):
        return False
    if isinstance(row.get("observations"), list):
        return True
    return row.get("type") in _LANGFUSE_TYPES and ("traceId" in row or "trace_id" in row)


def read_langfuse(entries: Iterable[Entry], log: ImportLog) -> Iterator[Trace]:
    """One trace per Langfuse trace."""
    spans: list[dict[str, Any]] = []
    for entry in entries:
        for row in entry.value if isinstance(entry.value, list) else [entry.value]:
            if not isinstance(row, Mapping):
                continue
            observed = row.get("observations") if isinstance(row.get("observations"), list) else [row]
            owner = str(row.get("id") or "") if "observations" in row else ""
            spans.extend(_langfuse_span(item, owner) for item in observed or () if isinstance(item, Mapping))
    yield from read_telemetry([Entry(value=spans)] if spans else [], log)


def _langfuse_span(row: Mapping[str, Any], owner: str) -> dict[str, Any]:
    kind = str(row.get("type") or "").upper()
    given, made = row.get("input"), row.get("output")
    attributes: dict[str, Any] = {
        "openinference.span.kind": {"GENERATION": "LLM", "TOOL": "TOOL", "AGENT": "AGENT"}.get(kind, "CHAIN")
    }
    if kind == "TOOL":
        attributes |= {"tool.name": row.get("name"), "input.value": given, "output.value": made}
        metadata = row.get("metadata")
        if isinstance(metadata, Mapping) and (metadata.get("tool_call_id") or metadata.get("toolCallId")):
            attributes["tool.id"] = metadata.get("tool_call_id") or metadata.get("toolCallId")
    elif kind == "GENERATION":
        asked = given.get("messages") if isinstance(given, Mapping) else given
        attributes["gen_ai.input.messages"] = [
            message_parts(item) for item in (asked if isinstance(asked, list) else [asked]) if item
        ]
        attributes["gen_ai.output.messages"] = [
            {**message_parts(item), "role": "assistant"}
            for item in (made if isinstance(made, list) else [made])
            if item
        ]
        attributes["gen_ai.request.model"] = row.get("model")
    failed = str(row.get("level") or "").upper() == "ERROR"
    return {
        "trace_id": str(row.get("traceId") or row.get("trace_id") or owner),
        "span_id": str(row.get("id") or ""),
        "parent_span_id": str(row.get("parentObservationId") or row.get("parent_observation_id") or ""),
        "name": str(row.get("name") or ""),
        "start_time": row.get("startTime") or row.get("start_time"),
        "end_time": row.get("endTime") or row.get("end_time"),
        "attributes": {key: value for key, value in attributes.items() if value not in (None, "")},
        "status": {"code": "ERROR" if failed else "OK", "message": str(row.get("statusMessage") or "")},
    }
