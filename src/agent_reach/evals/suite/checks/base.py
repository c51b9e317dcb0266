"""What checks share: a finding about a task, and the golden calls of a task with their places."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from agent_reach.catalog.catalog import Catalog
from agent_reach.errors import AmbiguousToolError
from agent_reach.records.finding import Finding, Severity
from agent_reach.records.message import Message
from agent_reach.records.task import GoldenCall, Task
from agent_reach.records.tool import Tool

_LONGEST_SHOWN = 60


def shown(value: Any) -> str:
    """A value for a sentence: short."""
    text = repr(value)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[: _LONGEST_SHOWN - 3]}..."


def task_finding(
    task: Task,
    code: str,
    severity: Severity,
    en: str,
    zh: str,
    *,
    pointer: str = "",
    fix: tuple[str, str] | None = None,
    data: Mapping[str, Any] | None = None,
) -> Finding:
    """A finding about one place of a task, with the file and line of the task."""
    return Finding(
        code=code,
        severity=severity,
        message=Message(en, zh),
        subject=task.id,
        pointer=pointer,
        source=task.source,
        line=task.line,
        fix=Message(*fix) if fix else None,
        data=data or {},
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedCall:
    """A golden call, its JSON pointer in the task, its path and stage, and the tool it resolves to (None: unknown)."""

    call: GoldenCall
    pointer: str
    path: int
    stage: int
    tool: Tool | None


def resolve(catalog: Catalog, name: str) -> Tool | None:
    """The tool of that name, None where it is unknown or ambiguous."""
    try:
        return catalog.resolve(name)
    except AmbiguousToolError:
        return None


def placed_calls(task: Task, catalog: Catalog) -> Iterator[PlacedCall]:
    """All golden calls of all paths."""
    several = len(task.paths) > 1
    for number, path in enumerate(task.paths):
        base = f"/paths/{number}" if several else "/path"
        for position, stage in enumerate(path.stages):
            for index, call in enumerate(stage):
                place = f"{base}/{position}/{index}" if len(stage) > 1 else f"{base}/{position}"
                yield PlacedCall(
                    call=call, pointer=place, path=number, stage=position, tool=resolve(catalog, call.tool)
                )
