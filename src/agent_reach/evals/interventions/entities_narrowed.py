"""Results show only the entity that is meant: items of a list that do not hold the needed value are left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from agent_reach.backends.base import Backend, value_text
from agent_reach.evals.interventions.base import Changed, Intervention, Situation
from agent_reach.evals.trials.variant import BackendWrapper
from agent_reach.records.codec import canonical_json
from agent_reach.records.message import Message
from agent_reach.records.task import Task
from agent_reach.records.tool import Tool
from agent_reach.records.trace import CallOutcome


class NarrowedResults:
    """Leaves out of each list in a result what does not hold one of the needed values, where some item does."""

    def __init__(self, inner: Backend, needed: tuple[Any, ...]) -> None:
        self._inner = inner
        self._needed = needed

    async def call(
        self, tool: Tool, arguments: Mapping[str, Any], *, call_id: str = "", timeout: float | None = None
    ) -> CallOutcome:
        """Execute one call and narrow its result."""
        outcome = await self._inner.call(tool, arguments, call_id=call_id, timeout=timeout)
        if not outcome.ok:
            return outcome
        narrowed = narrow(outcome.value, self._needed)
        if narrowed == outcome.value:
            return outcome
        return replace(outcome, value=narrowed, text=value_text(narrowed))

    async def aclose(self) -> None:
        """Close what is inside."""
        await self._inner.aclose()


def narrow(value: Any, needed: tuple[Any, ...]) -> Any:
    """The value with its lists reduced to items that hold a needed value; lists where no item does are emptied if another
    part of the value holds it, else left alone."""
    if not _holds(value, needed):
        return value
    if isinstance(value, Mapping):
        return {
            key: (
                [] if isinstance(item, (list, tuple)) and not _holds(item, needed) else narrow(item, needed)
            )
            for key, item in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [narrow(item, needed) for item in value if _holds(item, needed)]
    return value


def _holds(value: Any, needed: tuple[Any, ...]) -> bool:
    if isinstance(value, Mapping):
        return any(_holds(item, needed) for item in value.values())
    if isinstance(value, (list, tuple)):
        return any(_holds(item, needed) for item in value)
    return any(value == item and isinstance(value, bool) == isinstance(item, bool) for item in needed)


def _needed(situation: Situation) -> tuple[Any, ...]:
    gold = situation.gold
    found: list[Any] = []
    for name in situation.wrong_arguments:
        spec = gold.args.get(name) if gold is not None else None
        if isinstance(spec, Mapping) and "$from" in spec:
            spec = _referenced(situation, str(spec["$from"]))
        if isinstance(spec, (str, int, float)) and not isinstance(spec, bool) and spec != "":
            found.append(spec)
    return tuple(found)


def _referenced(situation: Situation, reference: str) -> Any:
    step, *path = reference.split(".")
    value: Any = next(
        (call.result for call in situation.path.calls if step in (call.id, call.tool) and call.has_result),
        None,
    )
    for part in path:
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def _change(situation: Situation) -> Changed | None:
    needed = _needed(situation)
    trace = situation.attempt.trace
    results = (
        [call.outcome.value for call in trace.calls if call.outcome is not None] if trace is not None else []
    )
    if not needed or all(narrow(value, needed) == value for value in results):
        return None
    name = f"results narrowed to {canonical_json(list(needed))}"
    wrapper = BackendWrapper(name, lambda inner, task: _wrapped(inner, task, needed))
    listed = ", ".join(map(repr, needed))
    return Changed(
        replace(situation.variant, wrappers=(*situation.variant.wrappers, wrapper)),
        Message(f"results show only what holds {listed}", f"结果只保留包含 {listed} 的条目"),
    )


def _wrapped(inner: Backend, task: Task, needed: tuple[Any, ...]) -> Backend:
    return NarrowedResults(inner, needed)


INTERVENTION = Intervention(
    name="entities_narrowed",
    removes=("wrong_entity",),
    summary=Message("Results show only the entity that is meant.", "结果只展示所指的实体。"),
    change=_change,
)
