"""Agent-Reach's own JSONL: one trace a line, as the store exports it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from agent_reach.errors import InputError
from agent_reach.records.codec import from_json
from agent_reach.records.message import Message
from agent_reach.records.trace import Trace
from agent_reach.traces.importers.base import Entry, ImportLog


def detect_own(first: Any) -> bool:
    """A mapping with `trace_id` and `steps`."""
    return (
        isinstance(first, Mapping)
        and "trace_id" in first
        and isinstance(first.get("steps", []), list)
        and ("steps" in first or "exposure" in first)
    )


def read_own(entries: Iterable[Entry], log: ImportLog) -> Iterator[Trace]:
    """The traces; a line of another shape is a finding."""
    for entry in entries:
        for row in entry.value if isinstance(entry.value, list) else [entry.value]:
            try:
                yield from_json(Trace, row)
            except (InputError, TypeError, AttributeError) as error:
                log.add(
                    "unreadable_record", Message(f"no trace: {error}", f"不是轨迹：{error}"), line=entry.line
                )
