"""The fixed JSON shapes that other programs read: own trace, reach record, path. Field names are a contract."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from agent_reach.records.codec import to_json
from agent_reach.records.trace import Call, Trace


def own_rows(trace: Trace) -> Iterator[dict[str, Any]]:
    """The trace itself, whole; reads back equal."""
    yield to_json(trace)


def reach_records(trace: Trace) -> Iterator[dict[str, Any]]:
    """One record per call (one with nulls for a request without calls): `request_id, user_query, candidates[{tool, score}],
    selected_tool, param_after_normalize, exec_result{status, latency_ms}, error_msg`."""
    seen = False
    for step in trace.steps:
        for call in step.calls:
            seen = True
            candidates = [{"tool": one.tool, "score": one.score} for one in step.candidates]
            yield _record(trace, candidates, call)
    if not seen:
        candidates = [
            {"tool": one.tool, "score": one.score} for step in trace.steps for one in step.candidates
        ]
        yield _record(trace, candidates, None)


def _record(trace: Trace, candidates: list[dict[str, Any]], call: Call | None) -> dict[str, Any]:
    outcome = call.outcome if call is not None else None
    sent = None
    if call is not None:
        sent = call.sent_arguments if call.sent_arguments is not None else call.arguments
    return {
        "request_id": trace.trace_id,
        "user_query": trace.query,
        "candidates": candidates,
        "selected_tool": (call.tool or call.name) if call is not None else None,
        "param_after_normalize": dict(sent) if sent is not None else None,
        "exec_result": {
            "status": outcome.status if outcome is not None else None,
            "latency_ms": outcome.latency_ms if outcome is not None else None,
        },
        "error_msg": (outcome.message or outcome.error_kind or "")
        if outcome is not None and not outcome.ok
        else "",
    }


def paths(trace: Trace) -> Iterator[dict[str, Any]]:
    """The way through the tools: `trace_id, steps[{tool, next, ts}]`; `next` is null for the last call, `ts` ISO time."""
    calls = list(trace.calls)
    names = [call.tool or call.name for call in calls]
    yield {
        "trace_id": trace.trace_id,
        "steps": [
            {
                "tool": name,
                "next": names[index + 1] if index + 1 < len(names) else None,
                "ts": _iso(
                    calls[index].started_at if calls[index].started_at is not None else trace.started_at
                ),
            }
            for index, name in enumerate(names)
        ],
    }


def _iso(moment: float | None) -> str | None:
    return datetime.fromtimestamp(moment, UTC).isoformat() if moment is not None else None
