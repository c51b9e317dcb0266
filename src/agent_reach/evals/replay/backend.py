"""Calls answered from a trace, and from nothing else.

`strict` answers a call only with the recording of exactly that call; everything else is a divergence, which fails and
ends the attempt. `fifo` answers each tool with its recordings in their order, whatever the arguments. Neither makes up an
answer. One backend serves one attempt, because it remembers what it gave.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from agent_reach.backends.base import Backend, failure
from agent_reach.evals.trials.variant import BackendWrapper
from agent_reach.records.codec import canonical_json
from agent_reach.records.tool import Tool
from agent_reach.records.trace import Call, CallOutcome, Trace

ReplayMode = Literal["strict", "fifo", "until"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Divergence:
    """A call that the trace does not answer: `why` is `unknown_tool` (never called there), `arguments` (called, with others)
    or `used_up` (called as often as it was recorded)."""

    tool: str
    arguments: Mapping[str, Any]
    why: str
    recorded: tuple[Mapping[str, Any], ...] = ()


class ReplayBackend:
    """Answers the calls of one attempt from a trace's calls."""

    def __init__(
        self, calls: Iterable[Call], *, mode: ReplayMode = "strict", inner: Backend | None = None
    ) -> None:
        self._waiting = [
            call for call in calls if call.outcome is not None and not call.metadata.get("duplicate_of")
        ]
        self._all = tuple(self._waiting)
        self._mode = mode
        self._inner = inner
        self.divergences: list[Divergence] = []

    async def call(
        self, tool: Tool, arguments: Mapping[str, Any], *, call_id: str = "", timeout: float | None = None
    ) -> CallOutcome:
        """Answer one call."""
        started = time.perf_counter()
        index = self._find(tool, arguments)
        if index is None:
            return self._missed(tool, arguments)
        recorded = self._waiting.pop(index)
        assert recorded.outcome is not None
        latency = (time.perf_counter() - started) * 1000
        return replace(
            recorded.outcome,
            latency_ms=latency,
            reached_backend=True,
            metadata={**recorded.outcome.metadata, "replayed": recorded.call_id},
        )

    async def aclose(self) -> None:
        """Close what is inside."""
        if self._inner is not None:
            await self._inner.aclose()

    def _find(self, tool: Tool, arguments: Mapping[str, Any]) -> int | None:
        wanted = canonical_json(arguments)
        for index, call in enumerate(self._waiting):
            if is_call_of(call, tool) and (self._mode == "fifo" or canonical_json(sent(call)) == wanted):
                return index
        return None

    def _missed(self, tool: Tool, arguments: Mapping[str, Any]) -> CallOutcome:
        own = [sent(call) for call in self._all if is_call_of(call, tool)]
        same = any(canonical_json(item) == canonical_json(arguments) for item in own)
        why = "unknown_tool" if not own else "used_up" if same or self._mode == "fifo" else "arguments"
        divergence = Divergence(tool=tool.key, arguments=dict(arguments), why=why, recorded=tuple(own))
        self.divergences.append(divergence)
        said = {
            "unknown_tool": f"the trace holds no call of {tool.key}",
            "used_up": f"the trace holds no further call of {tool.key}",
            "arguments": f"the trace holds no call of {tool.key} with these arguments",
        }[why]
        outcome = failure("not_found", said, metadata={"stop": True, "divergence": why})
        return replace(outcome, off_recording=True)


def sent(call: Call) -> Mapping[str, Any]:
    """The arguments that went to the back end."""
    found = call.sent_arguments if call.sent_arguments is not None else call.arguments
    return found or {}


def is_call_of(call: Call, tool: Tool) -> bool:
    """The recorded call is one of this tool, by key, name or alias."""
    names = (tool.key, tool.name, *tool.aliases)
    return call.tool in names if call.tool else call.name in names


def replayed_from(traces: Mapping[str, Iterable[Call]], mode: ReplayMode) -> BackendWrapper:
    """A wrapper that answers each task (by id) from its trace's calls: replay as the back end of a run."""
    kept = {task_id: tuple(calls) for task_id, calls in traces.items()}
    name = f"replay {mode} " + canonical_json(
        {
            task_id: [[call.name, dict(sent(call)), call.call_id] for call in calls]
            for task_id, calls in kept.items()
        }
    )
    return BackendWrapper(
        name, lambda inner, task: ReplayBackend(kept.get(task.id, ()), mode=mode, inner=inner)
    )


def first_calls(trace: Trace, steps: int) -> tuple[Call, ...]:
    """The calls of the first so many model steps."""
    model = [step for step in trace.steps if step.kind == "model"]
    return tuple(call for step in model[:steps] for call in step.calls)
