"""Score traces that already exist against a suite: no model, no execution.

`score` groups the traces by task, scores every attempt and builds the report; `score_attempt` is one of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Protocol

from agent_reach.errors import InputError
from agent_reach.evals.report import build_report
from agent_reach.evals.scoring.attempt import score_attempt
from agent_reach.evals.scoring.options import DEFAULT_OPTIONS, ScoreOptions
from agent_reach.evals.scoring.task_score import task_score
from agent_reach.records.codec import content_hash
from agent_reach.records.finding import Finding
from agent_reach.records.message import Message
from agent_reach.records.report import Report, RunInfo
from agent_reach.records.task import Task
from agent_reach.records.trace import Trace
from agent_reach.version import __version__

if TYPE_CHECKING:
    from agent_reach.catalog.catalog import Catalog

__all__ = ["ScorableSuite", "ScoreOptions", "score", "score_attempt"]


class ScorableSuite(Protocol):
    """What scoring needs of a suite."""

    @property
    def tasks(self) -> Sequence[Task]:
        """The tasks."""
        ...

    @property
    def name(self) -> str:
        """The name that the report carries."""
        ...

    @property
    def hash(self) -> str:
        """The content hash."""
        ...


def score(
    suite: ScorableSuite,
    traces: Iterable[Trace],
    catalog: Catalog,
    *,
    options: ScoreOptions | None = None,
    run: RunInfo | None = None,
) -> Report:
    """The report of recorded traces.

    Traces belong to a task by `task_id`, else by `metadata["task_id"]`; a trace of no task and a task without a trace are
    findings. Raises `InputError` for a suite without tasks, and for anything that is not a suite, a trace or a catalog.
    """
    suite, traces = _checked(suite, traces, catalog)
    if not suite.tasks:
        raise InputError(
            "the suite selects no task",
            where=suite.name,
            next_step="check the path and the filter of the suite",
        )
    chosen = options or DEFAULT_OPTIONS
    groups, findings = _grouped(suite, traces)
    scores = []
    for task in suite.tasks:
        own = groups.get(task.id, [])
        attempts = [
            score_attempt(task, trace, catalog, index=number, options=chosen)
            for number, trace in enumerate(own)
        ]
        scores.append(task_score(task, attempts))
        if not own:
            findings.append(
                _finding("task_without_trace", task.id, "no trace for this task", "该任务没有对应的轨迹")
            )
    info = run or RunInfo(
        id=content_hash(
            [suite.hash, catalog.hash, [trace.trace_id for own in groups.values() for trace in own]]
        )[7:19],
        time=datetime.now(UTC).isoformat(timespec="seconds"),
        agent="recorded",
        model=_only({trace.model for own in groups.values() for trace in own}),
        suites={suite.name: suite.hash},
        package_version=__version__,
        repeats=max((len(own) for own in groups.values()), default=1),
    )
    return build_report(info, catalog, scores, findings=findings)


def _checked(suite: Any, traces: Any, catalog: Any) -> tuple[ScorableSuite, Sequence[Trace]]:
    """The same, or a clear error: what people hand over by mistake are the plain forms of these records."""
    tasks = getattr(suite, "tasks", None)
    if not isinstance(tasks, (list, tuple)) or not hasattr(suite, "hash"):
        raise _wrong(
            "suite", suite, "a suite", "load it with Suite.load(...), which takes a path or a list of tasks"
        )
    for index, task in enumerate(tasks):
        if not isinstance(task, Task):
            raise _wrong(f"suite.tasks[{index}]", task, "a task", "load the suite with Suite.load(...)")
    if isinstance(traces, Trace):
        raise _wrong("traces", traces, "a list of traces", "put it in a list")
    if isinstance(traces, (str, bytes, Mapping)) or not isinstance(traces, Iterable):
        raise _wrong("traces", traces, "traces", "read them with `import_traces(path)` or a `TraceStore`")
    kept = list(traces)
    for index, trace in enumerate(kept):
        if not isinstance(trace, Trace):
            next_step = "read a file with `import_traces(path)`, or one record with `from_json(Trace, value)`"
            raise _wrong(f"traces[{index}]", trace, "a trace", next_step)
    if not hasattr(catalog, "tools") or not hasattr(catalog, "resolve"):
        raise _wrong(
            "catalog",
            catalog,
            "a catalog",
            "load it with Catalog.load(...), which takes a path or a list of tools",
        )
    return suite, kept


def _wrong(where: str, value: object, wanted: str, next_step: str) -> InputError:
    kind = type(value).__name__
    return InputError(f"expected {wanted}, found {kind} {value!r:.60}", where=where, next_step=next_step)


def _grouped(
    suite: ScorableSuite, traces: Iterable[Trace]
) -> tuple[Mapping[str, list[Trace]], list[Finding]]:
    known = {task.id for task in suite.tasks}
    groups: dict[str, list[Trace]] = {}
    findings = []
    for trace in traces:
        name = trace.task_id or str(trace.metadata.get("task_id", ""))
        if name in known:
            groups.setdefault(name, []).append(trace)
        else:
            findings.append(
                _finding(
                    "trace_without_task",
                    trace.trace_id,
                    f"the suite has no task {name!r}" if name else "the trace names no task",
                    f"任务集中没有任务 {name!r}" if name else "轨迹没有指明任务",
                )
            )
    for own in groups.values():
        own.sort(key=lambda trace: trace.attempt)
    return groups, findings


def _finding(code: str, subject: str, en: str, zh: str) -> Finding:
    return Finding(code=code, severity="warning", subject=subject, message=Message(en, zh))


def _only(names: set[str]) -> str:
    return next(iter(names)) if len(names) == 1 else ", ".join(sorted(name for name in names if name))
