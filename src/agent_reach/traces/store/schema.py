"""The tables that both stores share, and rows out of traces.

Migrations are an append-only list of named steps; a store applies those it has not. Roll-ups count calls per tool, day,
outcome and latency bucket, so that figures over millions of calls need a few thousand rows.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from agent_reach.records.codec import from_json, to_json
from agent_reach.records.trace import Step, Trace
from agent_reach.redact.records import redacted_json
from agent_reach.redact.redactor import Redactor
from agent_reach.traces.store.base import ToolStatistics, TraceFilter

MIGRATIONS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        "001_traces_steps_calls_rollup",
        (
            """CREATE TABLE traces (
                trace_id TEXT PRIMARY KEY, started_at DOUBLE PRECISION, ended_at DOUBLE PRECISION, query TEXT NOT NULL,
                task_id TEXT NOT NULL, agent TEXT NOT NULL, model TEXT NOT NULL, source TEXT NOT NULL, cause TEXT NOT NULL,
                body TEXT NOT NULL)""",
            "CREATE INDEX traces_by_start ON traces (started_at)",
            "CREATE INDEX traces_by_task ON traces (task_id)",
            "CREATE TABLE steps (trace_id TEXT NOT NULL, step INTEGER NOT NULL, body TEXT NOT NULL, UNIQUE (trace_id, step))",
            """CREATE TABLE calls (
                trace_id TEXT NOT NULL, step INTEGER NOT NULL, position INTEGER NOT NULL, call_id TEXT NOT NULL,
                tool TEXT NOT NULL, name TEXT NOT NULL, server TEXT NOT NULL, status TEXT NOT NULL, error_kind TEXT NOT NULL,
                latency_ms DOUBLE PRECISION, started_at DOUBLE PRECISION, UNIQUE (trace_id, step, position))""",
            "CREATE INDEX calls_by_tool ON calls (tool, status)",
            """CREATE TABLE rollup (
                day TEXT NOT NULL, tool TEXT NOT NULL, status TEXT NOT NULL, error_kind TEXT NOT NULL, bucket INTEGER NOT NULL,
                calls BIGINT NOT NULL, latency_sum DOUBLE PRECISION NOT NULL, timed BIGINT NOT NULL,
                PRIMARY KEY (day, tool, status, error_kind, bucket))""",
        ),
    ),
    (
        "002_rollup_over_all_days",
        (
            """CREATE TABLE rollup_all (
                tool TEXT NOT NULL, status TEXT NOT NULL, error_kind TEXT NOT NULL, bucket INTEGER NOT NULL,
                calls BIGINT NOT NULL, latency_sum DOUBLE PRECISION NOT NULL, timed BIGINT NOT NULL,
                PRIMARY KEY (tool, status, error_kind, bucket))""",
            """INSERT INTO rollup_all SELECT tool, status, error_kind, bucket, SUM(calls), SUM(latency_sum), SUM(timed)
                FROM rollup GROUP BY tool, status, error_kind, bucket""",
        ),
    ),
)
MIGRATIONS_TABLE = "CREATE TABLE IF NOT EXISTS migrations (name TEXT PRIMARY KEY, applied_at TEXT NOT NULL)"
_GROWTH = math.log(1.5)


@dataclass(frozen=True, slots=True)
class TraceRows:
    """A trace as rows: the header, then (step, body) and the call rows of each step."""

    header: tuple[Any, ...]
    steps: tuple[tuple[int, str], ...]
    calls: dict[int, list[tuple[Any, ...]]]


def rows_of(trace: Trace, redactor: Redactor) -> TraceRows:
    """The rows of a trace, redacted: every column and body is made of what the redactor has seen."""
    document = to_json(trace)
    steps = [(step["index"], _dump(step), step) for step in document.pop("steps", ())]
    body = _dump(document)
    if any(redactor.may_hold(text) for text in (body, *(text for _, text, _ in steps))):
        document = redacted_json(trace, redactor)
        steps = [(step["index"], _dump(step), step) for step in document.pop("steps", ())]
        body = _dump(document)
    trace_id = storable(document["trace_id"])
    names = ("query", "task_id", "agent", "model", "source")
    header = (
        trace_id,
        trace.started_at,
        trace.ended_at,
        *(storable(document.get(name, "")) for name in names),
        storable(str(document.get("metadata", {}).get("cause", ""))),
        body,
    )
    calls: dict[int, list[tuple[Any, ...]]] = {}
    for index, _, step in steps:
        if "calls" in step:
            calls.setdefault(index, []).extend(_call_rows(trace_id, step, trace.started_at))
    return TraceRows(header=header, steps=tuple((index, text) for index, text, _ in steps), calls=calls)


def _call_rows(trace_id: str, step: Mapping[str, Any], day_time: float | None) -> list[tuple[Any, ...]]:
    rows = []
    for position, call in enumerate(step["calls"]):
        outcome = call.get("outcome") or {}
        tool = call.get("tool") or call["name"]
        rows.append(
            (
                trace_id,
                step["index"],
                position,
                storable(call["call_id"]),
                storable(tool),
                storable(call["name"]),
                storable(tool.rpartition("/")[0]),
                outcome.get("status", ""),
                outcome.get("error_kind") or "",
                outcome.get("latency_ms"),
                call.get("started_at", day_time),
            )
        )
    return rows


def storable(text: str) -> str:
    """A text that a database column can hold: lone surrogates and zero bytes become the replacement character."""
    if "\x00" in text:
        text = text.replace("\x00", "\ufffd")
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text


def _dump(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":"), default=str)
    return text.replace("\x00", "\\u0000")


def trace_from(body: str, step_bodies: Iterable[str]) -> Trace:
    """The trace out of its header body and step bodies in order."""
    head = from_json(Trace, json.loads(body))
    return replace(head, steps=tuple(from_json(Step, json.loads(text)) for text in step_bodies))


def rollup_rows(calls: Iterable[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """(day, tool, status, error kind, bucket, calls, latency sum, timed calls) of call rows."""
    counted: dict[tuple[str, str, str, str, int], list[float]] = {}
    for row in calls:
        latency, started = row[9], row[10]
        key = (day_of(started), row[4], row[7], row[8], bucket_of(latency))
        entry = counted.setdefault(key, [0, 0.0, 0])
        entry[0] += 1
        if latency is not None:
            entry[1] += latency
            entry[2] += 1
    return [(*key, int(calls), total, int(timed)) for key, (calls, total, timed) in counted.items()]


def over_all_days(rows: Iterable[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Roll-up rows with the day left out and added up."""
    counted: dict[tuple[Any, ...], list[float]] = {}
    for _, tool, status, kind, bucket, calls, total, timed in rows:
        entry = counted.setdefault((tool, status, kind, bucket), [0, 0.0, 0])
        entry[0] += calls
        entry[1] += total
        entry[2] += timed
    return [(*key, int(calls), total, int(timed)) for key, (calls, total, timed) in counted.items()]


def day_of(moment: float | None) -> str:
    """The day of a time in UTC, `0000-00-00` where none is known."""
    if moment is None:
        return "0000-00-00"
    return datetime.fromtimestamp(moment, UTC).date().isoformat()


def bucket_of(latency_ms: float | None) -> int:
    """The latency bucket: -1 unknown, 0 up to 1 ms, then one per half as much again."""
    if latency_ms is None:
        return -1
    return 0 if latency_ms <= 1 else 1 + int(math.log(latency_ms) / _GROWTH)


def upper_bound(bucket: int) -> float:
    """The upper bound of a bucket in ms."""
    return 1.0 if bucket == 0 else math.exp(bucket * _GROWTH)


def statistics_of(rows: Iterable[Sequence[Any]]) -> list[ToolStatistics]:
    """Figures per tool out of (tool, status, error kind, bucket, calls, latency sum, timed) rows, most called first."""
    grouped: dict[str, list[Sequence[Any]]] = {}
    for row in rows:
        grouped.setdefault(row[0], []).append(row)
    found = [_statistics(tool, mine) for tool, mine in grouped.items()]
    return sorted(found, key=lambda one: (-one.calls, one.tool))


def _statistics(tool: str, rows: list[Sequence[Any]]) -> ToolStatistics:
    by_status = {"ok": 0, "failed": 0, "unknown": 0, "": 0}
    kinds: dict[str, int] = {}
    buckets: dict[int, int] = {}
    total, timed = 0.0, 0
    for _, status, kind, bucket, calls, latency_sum, with_time in rows:
        by_status[status] = by_status.get(status, 0) + int(calls)
        if kind:
            kinds[kind] = kinds.get(kind, 0) + int(calls)
        if bucket >= 0:
            buckets[bucket] = buckets.get(bucket, 0) + int(calls)
        total += latency_sum
        timed += int(with_time)
    return ToolStatistics(
        tool=tool,
        calls=sum(by_status.values()),
        ok=by_status["ok"],
        failed=by_status["failed"],
        unknown=by_status["unknown"],
        unanswered=by_status[""],
        error_kinds=kinds,
        latency_mean=total / timed if timed else None,
        latency_p50=_percentile(buckets, 0.5),
        latency_p95=_percentile(buckets, 0.95),
    )


def _percentile(buckets: dict[int, int], share: float) -> float | None:
    wanted = share * sum(buckets.values())
    seen = 0
    for bucket in sorted(buckets):
        seen += buckets[bucket]
        if seen >= wanted:
            return upper_bound(bucket)
    return None


def where_clause(wanted: TraceFilter, mark: str) -> tuple[str, list[Any]]:
    """The SQL condition of a filter over `traces t` and its parameters; `mark` is the driver's placeholder. What is asked of
    calls must hold for one and the same call."""
    parts: list[str] = []
    values: list[Any] = []
    for column, value in (("task_id", wanted.task_id), ("source", wanted.source), ("cause", wanted.cause)):
        if value:
            parts.append(f"t.{column} = {mark}")
            values.append(value)
    of_call: list[str] = []
    for column, value in (
        ("status", wanted.status),
        ("error_kind", wanted.error_kind),
        ("server", wanted.server),
    ):
        if value:
            of_call.append(f"c.{column} = {mark}")
            values.append(value)
    if wanted.tool:
        of_call.append(f"(c.tool = {mark} OR c.name = {mark})")
        values += [wanted.tool, wanted.tool]
    if of_call:
        parts.append(
            f"EXISTS (SELECT 1 FROM calls c WHERE c.trace_id = t.trace_id AND {' AND '.join(of_call)})"
        )
    if wanted.since is not None:
        parts.append(f"t.started_at >= {mark}")
        values.append(wanted.since)
    if wanted.until is not None:
        parts.append(f"t.started_at < {mark}")
        values.append(wanted.until)
    if wanted.text:
        parts.append(f"t.query LIKE {mark} ESCAPE '!'")
        escaped = wanted.text.replace("!", "!!").replace("%", "!%").replace("_", "!_")
        values.append(f"%{escaped}%")
    return (" WHERE " + " AND ".join(parts)) if parts else "", values
