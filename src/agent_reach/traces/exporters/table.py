"""All exporters that write JSON lines, by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from agent_reach.records.trace import Trace
from agent_reach.traces.exporters.shapes import own_rows, paths, reach_records
from agent_reach.traces.exporters.telemetry import otlp_rows

EXPORTERS: dict[str, Callable[[Trace], Iterator[dict[str, Any]]]] = {
    "agent-reach": own_rows,
    "reach-record": reach_records,
    "path": paths,
    "otlp": otlp_rows,
}
