"""The `recorded` agent: traces that exist already are scored, and no model is asked.

A trace belongs to the task whose id it names, else to the task with the same request; several traces of one task are its
attempts, in file order.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from agent_reach.config.run import public_settings
from agent_reach.config.settings import AgentConfig
from agent_reach.errors import ModelError, TraceError
from agent_reach.evals.agents.base import Agent, AgentInfo, AgentSetup
from agent_reach.evals.agents.session import AttemptSession
from agent_reach.records.codec import from_json
from agent_reach.records.trace import Call, Trace
from agent_reach.text.folding import fold

OWN_FORMATS = ("", "agent-reach", "own")


class RecordedAgent:
    """Hands out recorded traces, completed with what this run knows (tool keys, exposure)."""

    def __init__(self, traces: Iterable[Trace], config: AgentConfig) -> None:
        self._config = config
        self._by_task: dict[str, list[Trace]] = {}
        self._by_query: dict[str, list[Trace]] = {}
        models: dict[str, None] = {}
        for trace in traces:
            task_id = trace.task_id or str(trace.metadata.get("task_id") or "")
            if task_id:
                self._by_task.setdefault(task_id, []).append(trace)
            else:
                self._by_query.setdefault(fold(trace.query), []).append(trace)
            if trace.model:
                models[trace.model] = None
        self._model = config.model or ", ".join(models)

    @property
    def info(self) -> AgentInfo:
        return AgentInfo(
            name=self._config.name or "recorded",
            model=self._model,
            settings=public_settings(self._config),
            deterministic=True,
            placed_by="recorded",
        )

    def attempts_of(self, task_id: str, query: str) -> int:
        """How many traces there are for a task."""
        return len(self._traces(task_id, query))

    async def run(self, session: AttemptSession) -> None:
        task = session.task
        traces = self._traces(task.id, task.query)
        if session.attempt >= len(traces):
            raise ModelError(
                f"{len(traces)} traces are recorded for task {task.id!r}, and attempt {session.attempt + 1} was asked for",
                where=self._config.traces,
                next_step="set `repeats` to the number of traces per task, or select the recorded tasks",
            )
        session.adopt(_completed(traces[session.attempt], session))

    async def aclose(self) -> None:
        """Nothing to give back."""

    def _traces(self, task_id: str, query: str) -> list[Trace]:
        return self._by_task.get(task_id) or self._by_query.get(fold(query), [])


def _completed(trace: Trace, session: AttemptSession) -> Trace:
    """The trace as one of this run: names resolved where that was open, exposure of this run where none is recorded."""
    steps = tuple(
        dataclasses.replace(step, calls=tuple(_resolved(call, session) for call in step.calls))
        for step in trace.steps
    )
    exposure = trace.exposure if trace.exposure.offered else session.exposed.exposure
    blocks = trace.blocks or session.conversation.blocks
    return dataclasses.replace(
        trace,
        task_id=session.task.id,
        attempt=session.attempt,
        query=trace.query or session.task.query,
        steps=steps,
        permissions_missing=trace.permissions_missing or session.exposed.permissions_missing,
        exposure=exposure,
        blocks=tuple(blocks),
    )


def _resolved(call: Call, session: AttemptSession) -> Call:
    if call.tool is not None and call.tool in session.catalog:
        return call
    from agent_reach.catalog.naming import resolve_emitted_name

    tool = resolve_emitted_name(call.name, session.catalog).tool
    return dataclasses.replace(call, tool=tool.key if tool else None)


def read_traces(path: str | Path, trace_format: str = "") -> list[Trace]:
    """The traces in a file: own JSON lines (one trace each, or `{"trace": {...}}`), other formats through the importers.

    Raises `TraceError` with the line that cannot be read.
    """
    file = Path(path)
    if trace_format not in OWN_FORMATS or not _is_own(file):
        return _imported(file, trace_format)
    traces: list[Trace] = []
    for number, row in _rows(file):
        body = row.get("trace", row) if isinstance(row, dict) else row
        traces.append(from_json(Trace, body, where=f"{file}:{number}"))
    if not traces:
        raise TraceError(
            "the file holds no trace", where=str(file), next_step="record a run, or give another file"
        )
    return traces


def _rows(file: Path) -> Iterator[tuple[int, Any]]:
    try:
        text = file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise TraceError(f"the file cannot be read: {error}", where=str(file)) from error
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            yield number, json.loads(line)
        except ValueError as error:
            raise TraceError(f"not JSON: {error}", where=f"{file}:{number}") from error


def _is_own(file: Path) -> bool:
    """True if the first row is a trace of ours."""
    try:
        first = next(_rows(file), None)
    except TraceError:
        return False
    row = first[1] if first else {}
    return first is None or (isinstance(row, dict) and ("trace_id" in row or "trace" in row))


def _imported(file: Path, trace_format: str) -> list[Trace]:
    from agent_reach.traces.importers.read import import_traces

    return list(import_traces(file, trace_format or None))


def build(config: AgentConfig, setup: AgentSetup) -> Agent:
    """The `recorded` agent of a run."""
    return RecordedAgent(read_traces(Path(setup.folder) / config.traces, config.traces_format), config)
