"""Calls as columns in a Parquet file, one row per call, for other tools to query. Needs the extra `parquet`."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from agent_reach.errors import MissingExtraError, TraceError
from agent_reach.records.trace import Trace

_BATCH = 10_000


def write_parquet(traces: Iterable[Trace], path: Path) -> int:
    """Write one row per call, whole or not at all; the number of rows. Columns: trace_id, query, task_id, agent, model,
    started_at (s), step, call_id, tool, name, arguments (JSON), status, error_kind, latency_ms, result (JSON)."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise MissingExtraError("pyarrow", "parquet") from error
    text, real, whole = pyarrow.string(), pyarrow.float64(), pyarrow.int64()
    schema = pyarrow.schema(
        [
            ("trace_id", text), ("query", text), ("task_id", text), ("agent", text), ("model", text), ("started_at", real),
            ("step", whole), ("call_id", text), ("tool", text), ("name", text), ("arguments", text), ("status", text),
            ("error_kind", text), ("latency_ms", real), ("result", text),
        ]
    )  # fmt: skip
    partial = path.with_name(f".{path.name}.partial")
    count = 0
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with parquet.ParquetWriter(partial, schema) as writer:
            rows: list[dict[str, Any]] = []
            for trace in traces:
                rows.extend(_rows(trace))
                if len(rows) >= _BATCH:
                    writer.write_table(pyarrow.Table.from_pylist(rows, schema=schema))
                    count += len(rows)
                    rows = []
            writer.write_table(pyarrow.Table.from_pylist(rows, schema=schema))
            count += len(rows)
        partial.replace(path)
    except OSError as error:
        raise TraceError(f"cannot write: {error}", where=str(path)) from error
    finally:
        partial.unlink(missing_ok=True)
    return count


def _rows(trace: Trace) -> list[dict[str, Any]]:
    return [
        {
            "trace_id": trace.trace_id,
            "query": trace.query,
            "task_id": trace.task_id,
            "agent": trace.agent,
            "model": trace.model,
            "started_at": call.started_at if call.started_at is not None else trace.started_at,
            "step": step.index,
            "call_id": call.call_id,
            "tool": call.tool or call.name,
            "name": call.name,
            "arguments": _json(call.arguments),
            "status": call.outcome.status if call.outcome is not None else None,
            "error_kind": call.outcome.error_kind if call.outcome is not None else None,
            "latency_ms": call.outcome.latency_ms if call.outcome is not None else None,
            "result": _json(call.outcome.value) if call.outcome is not None else None,
        }
        for step in trace.steps
        for call in step.calls
    ]


def _json(value: Any) -> str | None:
    return None if value is None else json.dumps(value, ensure_ascii=False, default=str)
