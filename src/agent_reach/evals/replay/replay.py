"""Runs an agent on a trace's request again, answered from the trace, and tells the difference.

`until` gives the agent the first steps of the trace as its past and lets it go on from there: calls that the trace
answers are answered from it, the others by the back end of the configuration where one executes, else they diverge.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from agent_reach.backends.base import Backend
from agent_reach.config.settings import RunConfig
from agent_reach.errors import InputError
from agent_reach.evals.draft.from_traces import drafted_from_traces
from agent_reach.evals.replay.backend import ReplayBackend, ReplayMode, first_calls, replayed_from, sent
from agent_reach.evals.replay.compare import StepDifference, compare_walks
from agent_reach.evals.suite.load import Suite
from agent_reach.evals.trials.laboratory import Laboratory, LaboratoryOptions
from agent_reach.evals.trials.variant import BackendWrapper, Variant
from agent_reach.records.task import ScriptedTurn, Task
from agent_reach.records.tool import Tool
from agent_reach.records.trace import CallOutcome, Trace


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayOptions:
    """`mode`, and for `until` the number of model steps that are taken from the trace."""

    mode: ReplayMode = "strict"
    until: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayResult:
    """One trace walked again: the new trace, the difference step by step, and the first call that the recording did not
    answer (empty: none). `error` is what lost the attempt, where model or servers failed."""

    trace_id: str
    query: str
    before: Trace
    after: Trace
    steps: tuple[StepDifference, ...]
    diverged: str = ""
    error: str = ""

    @property
    def is_same(self) -> bool:
        """The same calls with the same arguments in the same order, ended in the same way."""
        return not self.error and not self.diverged and all(step.kind == "same" for step in self.steps)


def replay(
    traces: Sequence[Trace],
    config: RunConfig,
    *,
    options: ReplayOptions | None = None,
    laboratory: LaboratoryOptions | None = None,
) -> list[ReplayResult]:
    """Walk each trace again with the agent, catalog and exposure of `config`; see `replay_async`."""
    return asyncio.run(replay_async(traces, config, options=options, laboratory=laboratory))


async def replay_async(
    traces: Sequence[Trace],
    config: RunConfig,
    *,
    options: ReplayOptions | None = None,
    laboratory: LaboratoryOptions | None = None,
) -> list[ReplayResult]:
    """Raises `InputError` where a trace has no request, or the agent only hands out recordings."""
    chosen = options or ReplayOptions()
    for trace in traces:
        if not trace.query.strip():
            raise InputError("the trace holds no request", where=trace.trace_id)
    tasks = _tasks(traces)
    opened = Laboratory("replay", config, Suite.from_tasks(tasks, name="replay"), laboratory)
    opened.refuse_recorded()
    found = []
    async with opened:
        for trace, task in zip(traces, tasks, strict=True):
            variant = _variant(opened, trace, task, chosen)
            ((score,),) = await opened.ask([(variant, 1)])
            made = score.trace or Trace(trace_id="", query=trace.query)
            after = made
            if chosen.mode == "until":
                past = tuple(step for step in trace.steps if step.kind == "model")[: chosen.until]
                after = replace(made, steps=(*past, *made.steps))
            found.append(
                ReplayResult(
                    trace_id=trace.trace_id,
                    query=trace.query,
                    before=trace,
                    after=after,
                    steps=compare_walks(trace, after),
                    diverged=_diverged(made),
                    error=score.error if score.state == "infra_error" else "",
                )
            )
    return found


def _tasks(traces: Sequence[Trace]) -> list[Task]:
    """A task per trace, in their order; what was right is not asked, so paths are left out."""
    found = []
    for number, trace in enumerate(traces):
        (task,) = drafted_from_traces([trace])
        turns = tuple(replace(turn, paths=()) for turn in task.turns)
        found.append(
            replace(
                task, id=f"replay-{number + 1}", kind="may", paths=(), turns=turns, results=(), review=False
            )
        )
    return found


def _diverged(trace: Trace) -> str:
    for call in trace.calls:
        if call.outcome is not None and call.outcome.metadata.get("divergence"):
            return f"{call.tool or call.name}: {call.outcome.message}"
    return ""


def _variant(opened: Laboratory, trace: Trace, task: Task, options: ReplayOptions) -> Variant:
    base = opened.untouched(task)
    if options.mode != "until":
        return replace(base, wrappers=(replayed_from({task.id: trace.calls}, options.mode),))
    steps = [step for step in trace.steps if step.kind == "model"]
    if not 0 <= options.until <= len(steps):
        raise InputError(
            f"the trace has {len(steps)} model steps",
            where="--step",
            next_step=f"give a number from 0 to {len(steps)}",
        )
    past = first_calls(trace, options.until)
    rest = tuple(call for call in trace.calls if all(call is not done for done in past))
    live = opened.config.execution.backend != "recorded" or opened.options.run.backend is not None
    name = replayed_from({task.id: rest}, "strict").name + (" then live" if live else "")
    wrapper = BackendWrapper(name, lambda inner, task: _Onwards(ReplayBackend(rest), inner if live else None))
    return replace(base, task=_from_there(trace, task, options.until), wrappers=(wrapper,))


def _from_there(trace: Trace, task: Task, count: int) -> Task:
    """The task as it stands after so many model steps: what was said and done is its past, what the user said later is still
    to come."""
    messages = _past(trace, count)
    said = sum(message["role"] == "user" for message in messages)
    words = [trace.query, *(step.text for step in trace.steps if step.kind == "user")]
    ahead = words[said - 1 :]
    turns = tuple(ScriptedTurn(user=text) for text in ahead) if len(ahead) > 1 else ()
    return replace(task, query=ahead[0], turns=turns, messages=tuple(messages))


def _past(trace: Trace, count: int) -> list[Mapping[str, Any]]:
    """The conversation up to that step in the form of the chat API."""
    messages: list[Mapping[str, Any]] = [{"role": "user", "content": trace.query}]
    taken = 0
    for step in trace.steps:
        if step.kind == "user":
            if taken < count:
                messages.append({"role": "user", "content": step.text})
            continue
        if taken >= count:
            break
        taken += 1
        calls = [
            {
                "id": call.call_id,
                "type": "function",
                "function": {
                    "name": call.name,
                    "arguments": json.dumps(dict(sent(call)), ensure_ascii=False),
                },
            }
            for call in step.calls
        ]
        messages.append(
            {"role": "assistant", "content": step.text, **({"tool_calls": calls} if calls else {})}
        )
        for call in step.calls:
            text = (call.outcome.text or call.outcome.message) if call.outcome is not None else ""
            messages.append(
                {
                    "role": "tool",
                    "tool_call_id": call.call_id,
                    "name": call.name,
                    "content": text or "(no output)",
                }
            )
    return messages


class _Onwards:
    """Answers from the trace what it knows, and leaves the rest to a live back end where there is one."""

    def __init__(self, recorded: ReplayBackend, live: Backend | None) -> None:
        self._recorded = recorded
        self._live = live

    async def call(
        self, tool: Tool, arguments: Mapping[str, Any], *, call_id: str = "", timeout: float | None = None
    ) -> CallOutcome:
        """Answer one call."""
        outcome = await self._recorded.call(tool, arguments, call_id=call_id, timeout=timeout)
        if self._live is None or not outcome.metadata.get("divergence"):
            return outcome
        return await self._live.call(tool, arguments, call_id=call_id, timeout=timeout)

    async def aclose(self) -> None:
        """Close what is inside."""
        if self._live is not None:
            await self._live.aclose()
