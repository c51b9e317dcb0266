"""Spans as stored, whatever the file looks like, into one plain form; and the tree they make.

Reads OTLP/JSON (`resourceSpans`), lists of flat spans, `{"spans": [...]}` and one span a line. It knows nothing of models
and tools; `span_facts` does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from agent_reach.records.message import Message
from agent_reach.traces.importers.base import Entry, ImportLog, seconds
from agent_reach.traces.importers.event_bodies import body_attributes


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """One span; times in seconds since the epoch, `end` None while it is open."""

    trace_id: str
    span_id: str
    parent_id: str = ""
    name: str = ""
    start: float | None = None
    end: float | None = None
    attributes: Mapping[str, Any] = field(default_factory=dict)
    status: str = ""
    status_message: str = ""
    scope: str = ""
    events: tuple[Mapping[str, Any], ...] = ()

    @property
    def latency_ms(self) -> float | None:
        """Its length, None if open or if the clock ran backwards."""
        if self.start is None or self.end is None or self.end < self.start:
            return None
        return (self.end - self.start) * 1000

    @property
    def order(self) -> tuple[float, float, str]:
        """Sorts by start, then end, then id, so that every order of arrival gives the same sequence."""
        return (self.start or 0.0, self.end or 0.0, self.span_id)


def detect_spans(first: Any) -> bool:
    """OTLP/JSON, a span, a list of spans, or a record with `spans`."""
    return next(iter_raw_spans(first), None) is not None


def iter_raw_spans(value: Any) -> Iterator[tuple[Mapping[str, Any], str]]:
    """(raw span, scope name) of every span in a JSON value."""
    if isinstance(value, list):
        for item in value:
            yield from iter_raw_spans(item)
        return
    if not isinstance(value, Mapping):
        return
    resources = value.get("resourceSpans", value.get("resource_spans"))
    if isinstance(resources, list):
        for resource in resources:
            scopes = _listed(resource, "scopeSpans", "scope_spans", "instrumentationLibrarySpans")
            for scope in scopes:
                described: Any = scope.get("scope") or scope.get("instrumentationLibrary")
                for raw in _listed(scope, "spans"):
                    yield raw, str(described.get("name", "")) if isinstance(described, Mapping) else ""
        return
    if isinstance(value.get("spans"), list):
        for item in value["spans"]:
            yield from iter_raw_spans(item)
        return
    if ("span_id" in value or "spanId" in value or "context" in value) and "name" in value:
        named: Any = value.get("scope")
        yield value, str(named.get("name", "")) if isinstance(named, Mapping) else str(named or "")


def _listed(value: Any, *keys: str) -> list[Mapping[str, Any]]:
    if isinstance(value, Mapping):
        for key in keys:
            if isinstance(value.get(key), list):
                return [item for item in value[key] if isinstance(item, Mapping)]
    return []


def read_spans(entries: Iterable[Entry], log: ImportLog) -> list[Span]:
    """All spans of the input, each span id once (the later copy wins when it is closed)."""
    found: dict[tuple[str, str], Span] = {}
    for entry in entries:
        seen = False
        for raw, scope in iter_raw_spans(entry.value):
            seen = True
            span = _span(raw, scope)
            known = found.get((span.trace_id, span.span_id))
            if known is not None and known.end is not None:
                log.add(
                    "duplicate_span",
                    Message(
                        f"span {span.span_id} comes twice; the first copy is kept",
                        f"跨度 {span.span_id} 重复；保留第一份",
                    ),
                    subject=span.trace_id,
                    severity="info",
                )
                continue
            found[(span.trace_id, span.span_id)] = span
        if not seen:
            log.add("unreadable_record", Message("an entry holds no span", "该条目没有跨度"), line=entry.line)
    return list(found.values())


def _span(raw: Mapping[str, Any], scope: str) -> Span:
    stated = raw.get("context")
    context: Mapping[str, Any] = stated if isinstance(stated, Mapping) else {}
    status = raw.get("status")
    code, told = "", ""
    if isinstance(status, Mapping):
        code, told = (
            str(status.get("code", status.get("status_code", ""))),
            str(status.get("message") or status.get("description") or ""),
        )
    elif status is not None:
        code = str(status)
    attributes = flat_attributes(raw.get("attributes"))
    for key in ("agent", "call_id", "kind"):
        if key in raw and not isinstance(raw[key], Mapping):
            attributes.setdefault(f"agent_reach.{key}", raw[key])
    events = _listed(raw, "span_events", "events")
    if not any(key.startswith(("gen_ai.", "llm.", "openinference.", "tool.")) for key in attributes):
        attributes |= body_attributes(events)
    return Span(
        trace_id=str(_first(raw, context, "trace_id", "traceId") or ""),
        span_id=str(_first(raw, context, "span_id", "spanId") or ""),
        parent_id=str(_first(raw, {}, "parent_span_id", "parentSpanId", "parent_id", "parentId") or ""),
        name=str(raw.get("name") or ""),
        start=_time(raw, "start_time", "startTimeUnixNano", "start_time_unix_nano", "start"),
        end=_time(raw, "end_time", "endTimeUnixNano", "end_time_unix_nano", "end"),
        attributes=attributes,
        status={"2": "ERROR", "STATUS_CODE_ERROR": "ERROR", "1": "OK", "STATUS_CODE_OK": "OK"}.get(
            code, code.upper()
        ),
        status_message=told,
        scope=scope,
        events=tuple(
            {
                "name": str(event.get("name") or event.get("event_name") or ""),
                "attributes": flat_attributes(event.get("attributes")),
            }
            for event in events
        ),
    )


def _time(raw: Mapping[str, Any], *keys: str) -> float | None:
    """The first of the times that is given; one whose name says nanoseconds is read as such, whatever its size. An end of
    0 or none means that the span is open."""
    for key in keys:
        value = raw.get(key)
        if value in (None, "", "0") or (value == 0 and key.endswith("Nano")):
            continue
        if key.lower().replace("_", "").endswith("unixnano"):
            try:
                return int(value) / 1e9
            except (TypeError, ValueError):
                return seconds(value)
        return seconds(value)
    return None


def _first(raw: Mapping[str, Any], context: Mapping[str, Any], *keys: str) -> Any:
    for key in keys:
        if raw.get(key) is not None:
            return raw[key]
        if context.get(key) is not None:
            return context[key]
    return None


def flat_attributes(attributes: Any) -> dict[str, Any]:
    """Attributes as a flat mapping, from OTLP's key-value list or from a mapping."""
    if isinstance(attributes, Mapping):
        return dict(attributes)
    out: dict[str, Any] = {}
    for item in attributes if isinstance(attributes, list) else ():
        if isinstance(item, Mapping) and "key" in item:
            out[str(item["key"])] = any_value(item.get("value"))
    return out


def any_value(value: Any) -> Any:
    """The plain value of an OTLP `AnyValue`."""
    if not isinstance(value, Mapping):
        return value
    for key in ("stringValue", "boolValue", "doubleValue", "bytesValue"):
        if key in value:
            return value[key]
    if "intValue" in value:
        return int(value["intValue"])
    if "arrayValue" in value:
        return [any_value(item) for item in (value["arrayValue"] or {}).get("values", [])]
    if "kvlistValue" in value:
        return flat_attributes((value["kvlistValue"] or {}).get("values", []))
    return dict(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanTree:
    """The spans of one trace in order of start, and the parent of each that has one in the trace.

    `cyclic` lists spans whose parent links run in a circle (their link is dropped), `orphans` those whose parent is not in
    the trace.
    """

    spans: tuple[Span, ...]
    parents: Mapping[str, str]
    cyclic: tuple[str, ...] = ()
    orphans: tuple[str, ...] = ()

    def ancestors(self, span_id: str) -> Iterator[str]:
        """The chain of parents, nearest first; ends because circles were cut."""
        current = self.parents.get(span_id)
        while current is not None:
            yield current
            current = self.parents.get(current)


def span_tree(spans: Iterable[Span]) -> SpanTree:
    """The tree of the spans of one trace; linear in their number, whatever the links look like."""
    ordered = tuple(sorted(spans, key=lambda span: span.order))
    known = {span.span_id for span in ordered}
    links = {span.span_id: span.parent_id for span in ordered if span.parent_id in known}
    orphans = tuple(span.span_id for span in ordered if span.parent_id and span.parent_id not in known)
    state: dict[str, int] = {}
    cyclic: list[str] = []
    for span in ordered:
        path: list[str] = []
        current: str | None = span.span_id
        while current is not None and current not in state:
            state[current] = 1
            path.append(current)
            current = links.get(current)
        if current is not None and state.get(current) == 1:
            cyclic.extend(path[path.index(current) :])
        for visited in path:
            state[visited] = 2
    for span_id in cyclic:
        links.pop(span_id, None)
    return SpanTree(spans=ordered, parents=links, cyclic=tuple(sorted(cyclic)), orphans=orphans)
