"""Tasks drafted from what really happened, failures first: the request, what was given, the calls that worked, their answers.

What a trace did is not what would have been right; a person says so. Values that came out of an earlier result become
references to it, so that the task asks for the hop and not for the value.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from agent_reach.evals.suite.language import language_of
from agent_reach.records.context import ContextBlock
from agent_reach.records.task import GoldenCall, GoldenPath, RecordedResult, ScriptedTurn, Task
from agent_reach.records.trace import Call, Trace
from agent_reach.text.tokens import split_identifier

if TYPE_CHECKING:
    from agent_reach.catalog.catalog import Catalog

_KEPT_BLOCKS = ("instruction", "constraint", "history", "retrieval")


def is_failure(trace: Trace) -> bool:
    """A call failed, or ended unknown, or could not be read, or nothing was called at all."""
    calls = trace.calls
    return (
        not calls
        or any(step.problems for step in trace.steps)
        or any(call.outcome is None or not call.outcome.ok for call in calls)
    )


def drafted_from_traces(traces: Iterable[Trace], catalog: Catalog | None = None) -> list[Task]:
    """A task for each trace that has a request, failures first; ids are made unique."""
    asked = [trace for trace in traces if trace.query.strip()]
    asked.sort(key=lambda trace: not is_failure(trace))
    found: list[Task] = []
    used: set[str] = set()
    for trace in asked:
        task = _task(trace, catalog)
        name, number = task.id, 2
        while name in used:
            name, number = f"{task.id}-{number}", number + 1
        used.add(name)
        found.append(replace(task, id=name))
    return found


def _task(trace: Trace, catalog: Catalog | None) -> Task:
    failure = is_failure(trace)
    placed, results = _calls(trace, catalog)
    stages = [stage for _, stage in placed]
    tags = ("from-trace", "failure") if failure else ("from-trace",)
    return Task(
        id=_id(trace),
        kind="must" if stages else "may",
        query=trace.query,
        language=language_of(trace.query),
        tags=tags,
        now=_moment(trace.started_at),
        turns=_turns(trace, placed),
        context=_context(trace),
        paths=(GoldenPath(stages=tuple(stages)),) if stages else (),
        results=tuple(results),
        metadata={"trace": trace.trace_id, "source": trace.source, "remarks": _remarks(trace)},
        review=True,
    )


def _turns(trace: Trace, placed: list[tuple[int, tuple[GoldenCall, ...]]]) -> tuple[ScriptedTurn, ...]:
    """Every turn of the user with the calls that followed it; empty for a single turn."""
    words = [trace.query, *(step.text for step in trace.steps if step.kind == "user")]
    if len(words) == 1:
        return ()
    turns = []
    for number, text in enumerate(words):
        stages = tuple(stage for turn, stage in placed if turn == number)
        turns.append(ScriptedTurn(user=text, paths=(GoldenPath(stages=stages),) if stages else ()))
    return tuple(turns)


def _id(trace: Trace) -> str:
    words = split_identifier(trace.task_id or trace.query)[:5]
    return "trace-" + ("-".join(word[:12] for word in words) or trace.trace_id[:12])


def _moment(started_at: float | None) -> str:
    return "" if started_at is None else datetime.fromtimestamp(started_at, UTC).isoformat(timespec="seconds")


def _context(trace: Trace) -> tuple[ContextBlock, ...]:
    """What was given from the start; the request itself is no block."""
    return tuple(
        replace(block, call_id="")
        for block in trace.blocks
        if block.kind in _KEPT_BLOCKS and block.from_step < 0 and block.text and block.text != trace.query
    )


def _calls(
    trace: Trace, catalog: Catalog | None
) -> tuple[list[tuple[int, tuple[GoldenCall, ...]]], list[RecordedResult]]:
    """(stages of the calls that worked, each with its turn, answers of those that did not); without any that worked, the last one that was tried."""
    stages: list[tuple[int, tuple[GoldenCall, ...]]] = []
    results: list[RecordedResult] = []
    earlier: list[tuple[str, Any]] = []
    number = turn = 0
    for step in trace.steps:
        turn += step.kind == "user"
        stage: list[GoldenCall] = []
        fresh: list[tuple[str, Any]] = []
        for call in step.calls:
            name, arguments = _name(call, catalog), _arguments(call)
            if name is None:
                continue
            if call.outcome is None or not call.outcome.ok:
                results.append(_failed(name, arguments, call))
                continue
            if call.metadata.get("duplicate_of"):
                continue
            number += 1
            own = f"step{number}"
            stage.append(
                GoldenCall(
                    tool=name,
                    id=own,
                    args={key: _referenced(value, trace.query, earlier) for key, value in arguments.items()},
                    result=call.outcome.value if call.outcome.value is not None else call.outcome.text,
                    has_result=True,
                )
            )
            fresh.append((own, call.outcome.value))
        earlier += fresh
        if stage:
            stages.append((turn, tuple(stage)))
    if not stages and results:
        last = results[-1]
        tried = GoldenCall(
            tool=last.tool, id="step1", args=last.args or {}, error=last.error, error_kind=last.error_kind
        )
        return [(0, (tried,))], results[:-1]
    return stages, results


def _name(call: Call, catalog: Catalog | None) -> str | None:
    """The key of the tool that was called; None for a name that no tool of the catalog has."""
    if catalog is None:
        return call.tool or call.name
    from agent_reach.catalog.naming import resolve_emitted_name

    tool = resolve_emitted_name(call.tool or call.name, catalog).tool
    return tool.key if tool is not None else None


def _arguments(call: Call) -> Mapping[str, Any]:
    sent = call.sent_arguments if call.sent_arguments is not None else call.arguments
    return sent or {}


def _failed(name: str, arguments: Mapping[str, Any], call: Call) -> RecordedResult:
    outcome = call.outcome
    kind = (outcome.error_kind or "") if outcome is not None else "cancelled"
    message = (outcome.message or outcome.text) if outcome is not None else "no answer was recorded"
    return RecordedResult(tool=name, args=dict(arguments), error=message or kind or "failed", error_kind=kind)


def _referenced(value: Any, query: str, earlier: list[tuple[str, Any]]) -> Any:
    """A reference to the latest earlier result that holds the value, where the request does not say it."""
    telling = isinstance(value, str) and len(value) >= 3
    telling = telling or (
        isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) >= 100
    )
    if telling and str(value) not in query:
        for step, result in reversed(earlier):
            place = next((place for place, leaf in _places(result) if leaf == value), "")
            if place:
                return {"$from": f"{step}.{place}"}
    if isinstance(value, Mapping) and any(str(key).startswith("$") for key in value):
        return {"$one_of": [dict(value)]}
    return value


def _places(value: Any, place: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            if "." not in str(key):
                yield from _places(item, f"{place}.{key}" if place else str(key))
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            yield from _places(item, f"{place}.{index}" if place else str(index))
    elif place:
        yield place, value


def _remarks(trace: Trace) -> list[str]:
    """What a person should look at before the task counts."""
    found = []
    unread = sum(len(step.problems) for step in trace.steps)
    if not trace.calls:
        found.append("nothing was called: say whether something should have been")
    if unread:
        found.append(f"{unread} calls could not be read")
    for call in trace.calls:
        if call.outcome is None:
            found.append(f"{call.name}: no outcome was recorded")
        elif not call.outcome.ok:
            found.append(f"{call.name}: {call.outcome.error_kind or call.outcome.status}")
    return found
