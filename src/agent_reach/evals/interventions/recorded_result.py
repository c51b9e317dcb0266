"""The right call is answered by the task's recorded result instead of the back end that failed it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from agent_reach.backends.base import Backend
from agent_reach.backends.recorded import RecordedBackend
from agent_reach.evals.interventions.base import Changed, Intervention, Situation
from agent_reach.evals.interventions.faults_off import KINDS
from agent_reach.evals.trials.variant import BackendWrapper
from agent_reach.records.message import Message
from agent_reach.records.task import Task
from agent_reach.records.tool import Tool
from agent_reach.records.trace import CallOutcome

_CAUSES = ("rate_limited", "timed_out", "tool_failed", "empty_result")


class AnsweredFromRecordings:
    """Answers calls of some tools from the task's recordings where these know the call; everything else goes on to `inner`."""

    def __init__(self, inner: Backend, task: Task, keys: frozenset[str]) -> None:
        self._inner = inner
        self._recordings = RecordedBackend(task)
        self._keys = keys

    async def call(
        self, tool: Tool, arguments: Mapping[str, Any], *, call_id: str = "", timeout: float | None = None
    ) -> CallOutcome:
        """Answer one call."""
        if tool.key in self._keys:
            recorded = await self._recordings.call(tool, arguments, call_id=call_id, timeout=timeout)
            if recorded.ok:
                return recorded
        return await self._inner.call(tool, arguments, call_id=call_id, timeout=timeout)

    async def aclose(self) -> None:
        """Close what is inside."""
        await self._inner.aclose()


def from_recordings(keys: frozenset[str]) -> BackendWrapper:
    """The wrapper for these tools."""
    name = f"recorded result of {', '.join(sorted(keys))}"
    return BackendWrapper(name, lambda inner, task: AnsweredFromRecordings(inner, task, keys))


def has_recording(situation: Situation) -> bool:
    """A result of the right call was recorded."""
    gold = situation.gold
    if gold is None:
        return False
    own = gold.has_result and not gold.error and gold.result not in (None, [], {}, "")
    return own or any(
        item.tool in (gold.tool, situation.decision.expected_tool) and not item.error and not item.error_kind
        for item in situation.task.results
    )


def _change(situation: Situation) -> Changed | None:
    execution = situation.variant.config.execution
    if situation.tool is None or not has_recording(situation):
        return None
    if not situation.outcome_is(*KINDS[situation.cause]):
        return None
    if execution.backend == "recorded" and not execution.faults:
        return None
    wrapper = from_recordings(frozenset({situation.tool.key}))
    return Changed(
        replace(situation.variant, wrappers=(*situation.variant.wrappers, wrapper)),
        Message(f"{situation.tool.key} answered by its recording", f"{situation.tool.key} 由录制结果应答"),
    )


INTERVENTION = Intervention(
    name="recorded_result",
    removes=_CAUSES,
    summary=Message("The recorded result is used.", "使用录制的结果。"),
    change=_change,
)
