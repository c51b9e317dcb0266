"""A call that was made before with the same arguments, and got the same answer, gets it with a remark that says so.

Only the words around the result change: the back end is asked as before, and an answer that has changed stays without a
remark. What does not reach a back end (a tool that is not offered, arguments that are refused) is not seen here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from agent_reach.backends.base import Backend
from agent_reach.evals.interventions.base import Changed, Intervention, Situation
from agent_reach.evals.trials.variant import BackendWrapper
from agent_reach.records.message import Message
from agent_reach.records.task import Task
from agent_reach.records.tool import Tool
from agent_reach.records.trace import CallOutcome

LEAST_REPEATS = 3
_REMARK = Message(
    "This call was made before with the same arguments and gave the same result; go on with the next step.",
    "此前已用相同参数调用过，结果相同；请继续下一步。",
)


class RemarkedRepeats:
    """Remembers what the calls of one attempt were answered, and remarks on an answer that came before."""

    def __init__(self, inner: Backend, remark: str) -> None:
        self._inner = inner
        self._remark = remark
        self._answers: dict[str, tuple[Any, ...]] = {}

    async def call(
        self, tool: Tool, arguments: Mapping[str, Any], *, call_id: str = "", timeout: float | None = None
    ) -> CallOutcome:
        """Execute one call."""
        outcome = await self._inner.call(tool, arguments, call_id=call_id, timeout=timeout)
        call = _written(tool.key, arguments)
        answer = (outcome.status, outcome.error_kind, outcome.value, outcome.text)
        is_known = self._answers.get(call) == answer
        self._answers[call] = answer
        return replace(outcome, text=f"{self._remark}\n{outcome.text}") if is_known else outcome

    async def aclose(self) -> None:
        """Close what is inside."""
        await self._inner.aclose()


def repeated_call(situation: Situation) -> str:
    """The tool that was called most often with the same arguments; empty where none was called three times so."""
    trace = situation.attempt.trace
    calls = trace.calls if trace is not None else ()
    counts = Counter((call.tool or call.name, _written("", call.arguments or {})) for call in calls)
    for (name, _), count in counts.most_common(1):
        return name if count >= LEAST_REPEATS else ""
    return ""


def _written(key: str, arguments: Mapping[str, Any]) -> str:
    return f"{key} {sorted(arguments.items())!r}"


def _change(situation: Situation) -> Changed | None:
    name = repeated_call(situation)
    if not name:
        return None
    wrapper = BackendWrapper("repeated calls remarked", _wrapped)
    return Changed(
        replace(situation.variant, wrappers=(*situation.variant.wrappers, wrapper)),
        Message(
            f"repeating {name} is answered with the remark that the result is known",
            f"重复调用 {name} 时提示结果已知",
        ),
    )


def _wrapped(inner: Backend, task: Task) -> Backend:
    return RemarkedRepeats(inner, _REMARK.text("zh" if task.language == "zh" else "en"))


INTERVENTION = Intervention(
    name="repeat_remarked",
    removes=("loop",),
    summary=Message(
        "A repeated call is answered with the remark that its result is known.",
        "重复的调用会得到“结果已知”的提示。",
    ),
    change=_change,
)
