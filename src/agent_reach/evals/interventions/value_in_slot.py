"""The value that a call needs from an earlier result is held in a state slot.

The slot has a rule, as a real one would: it is filled from the result when that result comes, never from the gold.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from agent_reach.evals.interventions.base import Changed, Intervention, Situation
from agent_reach.records.context import StateSlot
from agent_reach.records.message import Message


def slot_rules(situation: Situation) -> tuple[StateSlot, ...]:
    """A slot for every argument that was off and whose value stands in an earlier result."""
    gold = situation.gold
    if gold is None:
        return ()
    found = []
    for name in situation.wrong_arguments:
        source = _source(situation, gold.args.get(name))
        if source and all(slot.source != source for slot in situation.task.state_slots):
            found.append(StateSlot(name=name, source=source))
    return tuple(found)


def _source(situation: Situation, spec: Any) -> str:
    """`tool.path` of the earlier result that holds what is wanted; empty where none does."""
    earlier = situation.path.calls[: situation.decision.step]
    if isinstance(spec, Mapping) and "$from" in spec:
        step, _, path = str(spec["$from"]).partition(".")
        tool = next((call.tool for call in earlier if step in (call.id, call.tool)), "")
        return f"{tool}.{path}" if tool else ""
    if isinstance(spec, (bool, Mapping, list, tuple)) or spec in (None, ""):
        return ""
    results = [(call.tool, call.result) for call in reversed(earlier) if call.has_result]
    trace = situation.attempt.trace
    for made in reversed(trace.calls if trace is not None else ()):
        if (
            made.tool
            and made.outcome is not None
            and made.outcome.ok
            and made.call_id != situation.decision.call_id
        ):
            results.append((made.tool, made.outcome.value))
    for tool, result in results:
        place = next((place for place, value in places(result) if value == spec), "")
        if place:
            return f"{tool}.{place}"
    return ""


def places(value: Any, place: str = "") -> Iterator[tuple[str, Any]]:
    """(place, leaf) of everything in a result: `orders[0].id`."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from places(item, f"{place}.{key}" if place else str(key))
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            yield from places(item, f"{place}[{index}]")
    else:
        yield place, value


def _change(situation: Situation) -> Changed | None:
    slots = slot_rules(situation)
    if not slots:
        return None
    variant = situation.variant
    task = replace(variant.task, state_slots=(*variant.task.state_slots, *slots))
    config = replace(variant.config, context=replace(variant.config.context, state_slots=True))
    listed = ", ".join(f"{slot.name} from {slot.source}" for slot in slots)
    return Changed(
        replace(variant, task=task, config=config),
        Message(f"held in a state slot: {listed}", f"存入状态槽：{listed}"),
    )


INTERVENTION = Intervention(
    name="value_in_slot",
    removes=("state_lost",),
    summary=Message("The needed value is held in a state slot.", "所需的值存入状态槽。"),
    change=_change,
)
