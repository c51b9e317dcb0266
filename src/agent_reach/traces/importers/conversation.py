"""A conversation, message by message, into one trace: calls paired with results, orphans and repeats told.

Shared by all forms that store messages. The forms bring their messages here as `ChatMessage`s; how a message looks on
disk is their business.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from agent_reach.calls.identifiers import pair_results, unique_id
from agent_reach.calls.records import ParsedCall
from agent_reach.records.context import ContextBlock
from agent_reach.records.message import Message
from agent_reach.records.trace import ArgumentProblem, Call, CallOutcome, Exposure, Step, Trace
from agent_reach.traces.importers.base import ImportLog


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredResult:
    """A result as stored: the id or name of its call, and what it says."""

    call_id: str = ""
    name: str = ""
    outcome: CallOutcome
    agent: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatMessage:
    """One stored message: `role` is system, user, assistant or tool."""

    role: str
    text: str = ""
    raw: str = ""
    reasoning: str = ""
    calls: tuple[ParsedCall, ...] = ()
    problems: tuple[ArgumentProblem, ...] = ()
    results: tuple[StoredResult, ...] = ()
    time: float | None = None
    agent: str = ""
    model: str = ""
    input_tokens: int | None = None
    output_tokens: int | None = None
    finish_reason: str = ""


@dataclass(kw_only=True)
class _Building:
    steps: list[Step] = field(default_factory=list)
    blocks: list[ContextBlock] = field(default_factory=list)
    outcomes: dict[str, StoredResult] = field(default_factory=dict)
    pending: list[Call] = field(default_factory=list)
    used: set[str] = field(default_factory=set)
    query: str = ""
    started: bool = False
    final: str = ""
    model: str = ""


def build_trace(
    messages: Iterable[ChatMessage],
    log: ImportLog,
    *,
    trace_id: str,
    source: str,
    offered: Sequence[str] = (),
    task_id: str = "",
    attempt: int = 0,
    model: str = "",
    agent: str = "",
    metadata: Mapping[str, Any] | None = None,
) -> Trace:
    """The trace of one conversation. Findings: `unanswered_call`, `orphan_result`, `ambiguous_result`, `duplicate_call_id`."""
    state = _Building()
    first_time: float | None = None
    last_time: float | None = None
    for message in messages:
        if message.time is not None:
            first_time = message.time if first_time is None else min(first_time, message.time)
            last_time = message.time if last_time is None else max(last_time, message.time)
        _take(state, message, log, trace_id)
    for call in state.pending:
        log.add(
            "unanswered_call",
            Message(
                f"call {call.call_id!r} of {call.name!r} has no result",
                f"调用 {call.call_id!r}（{call.name!r}）没有结果",
            ),
            subject=trace_id,
        )
    steps = tuple(_with_outcomes(step, state.outcomes) for step in state.steps)
    return Trace(
        trace_id=trace_id,
        query=state.query,
        task_id=task_id,
        attempt=attempt,
        agent=agent,
        model=model or state.model,
        source=source,
        started_at=first_time,
        ended_at=last_time,
        exposure=Exposure(mode="all" if offered else "", offered=tuple(offered)),
        steps=steps,
        blocks=tuple(state.blocks),
        final_text=state.final,
        metadata=dict(metadata or {}),
    )


def _take(state: _Building, message: ChatMessage, log: ImportLog, trace_id: str) -> None:
    state.model = state.model or message.model
    if message.role in ("system", "developer"):
        state.blocks.append(
            ContextBlock(id=f"system_{len(state.blocks)}", kind="constraint", text=message.text)
        )
        return
    if message.results:
        _pair(state, message.results, log, trace_id)
    if message.role == "user" and message.calls:
        _take_assistant(state, message, log, trace_id, kind="user")
    elif message.role == "user" and message.text:
        _take_user(state, message)
    elif message.role == "assistant":
        _take_assistant(state, message, log, trace_id)


def _take_user(state: _Building, message: ChatMessage) -> None:
    if not state.query:
        state.query = message.text
        state.blocks.append(ContextBlock(id="request", kind="instruction", text=message.text))
    else:
        state.steps.append(
            Step(
                index=len(state.steps),
                kind="user",
                text=message.text,
                started_at=message.time,
                agent=message.agent,
            )
        )
        state.blocks.append(
            ContextBlock(
                id=f"user_{len(state.blocks)}",
                kind="history",
                text=message.text,
                from_step=len(state.steps) - 1,
            )
        )


def _take_assistant(
    state: _Building,
    message: ChatMessage,
    log: ImportLog,
    trace_id: str,
    *,
    kind: Literal["model", "user"] = "model",
) -> None:
    """A message with calls: the model's, or the user's where a simulated user has tools of its own."""
    calls = []
    for parsed in message.calls:
        call_id = unique_id(parsed.call_id, state.used)
        if parsed.call_id and call_id != parsed.call_id:
            log.add(
                "duplicate_call_id",
                Message(
                    f"the call id {parsed.call_id!r} is used twice; the second is now {call_id!r}",
                    f"调用编号 {parsed.call_id!r} 重复；第二个改为 {call_id!r}",
                ),
                subject=trace_id,
            )
        metadata: dict[str, Any] = {"emitted_id": parsed.emitted_id or parsed.call_id}
        if not (parsed.emitted_id or parsed.call_id):
            metadata = {"synthetic_id": True}
        if parsed.repairs:
            metadata["repairs"] = list(parsed.repairs)
        calls.append(
            Call(
                call_id=call_id,
                name=parsed.name,
                arguments=parsed.arguments,
                raw_arguments=parsed.raw_arguments,
                problems=parsed.problems,
                started_at=message.time,
                agent=message.agent,
                metadata=metadata,
            )
        )
    state.pending.extend(calls)
    if kind == "model":
        state.final = message.text or state.final
    state.steps.append(
        Step(
            index=len(state.steps),
            kind=kind,
            text=message.text,
            raw=message.raw,
            reasoning=message.reasoning,
            calls=tuple(calls),
            problems=message.problems,
            started_at=message.time,
            input_tokens=message.input_tokens,
            output_tokens=message.output_tokens,
            finish_reason=message.finish_reason,
            agent=message.agent,
        )
    )


def _pair(state: _Building, results: Sequence[StoredResult], log: ImportLog, trace_id: str) -> None:
    """Give the results of one message to the calls that wait for them."""
    waiting = list(state.pending)
    pairing = pair_results(
        [(str(call.metadata.get("emitted_id") or ""), call.name) for call in waiting],
        [(result.call_id, result.name) for result in results],
    )
    for position in pairing.unmatched:
        named = results[position].call_id or results[position].name
        log.add(
            "orphan_result",
            Message(f"a result belongs to no open call: {named!r}", f"结果没有对应的调用：{named!r}"),
            subject=trace_id,
        )
    for position, owners in pairing.ambiguous.items():
        name = results[position].name
        log.add(
            "ambiguous_result",
            Message(
                f"a result of {name!r} without id could belong to {len(owners)} calls",
                f"{name!r} 的无编号结果可能属于 {len(owners)} 个调用",
            ),
            subject=trace_id,
        )
    for owner, position in sorted(pairing.results.items(), key=lambda pair: pair[1]):
        _answer(state, waiting[owner], results[position])


def _answer(state: _Building, call: Call, result: StoredResult) -> None:
    state.pending.remove(call)
    state.outcomes[call.call_id] = result
    state.blocks.append(
        ContextBlock(
            id=f"result_{call.call_id}",
            kind="tool_result",
            text=result.outcome.text,
            call_id=call.call_id,
            from_step=len(state.steps) - 1,
            value=result.outcome.value,
        )
    )


def _with_outcomes(step: Step, outcomes: Mapping[str, StoredResult]) -> Step:
    if not step.calls:
        return step
    return replace(
        step,
        calls=tuple(
            replace(call, outcome=outcomes[call.call_id].outcome) if call.call_id in outcomes else call
            for call in step.calls
        ),
    )
