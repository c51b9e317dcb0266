"""State slots: named values taken from results by rule and shown to the model as one block."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from typing import Any

from agent_reach.records.context import ContextBlock, StateSlot
from agent_reach.records.tool import Tool

SLOTS_BLOCK = "state_slots"

_ABSENT = object()


def fill_slots(slots: Sequence[StateSlot], tool: Tool, value: Any) -> tuple[StateSlot, ...]:
    """The slots with those filled whose `source` (`tool.path.to.value`) starts with this tool; a later result replaces an
    earlier value, a path that is not there leaves the slot as it was."""
    return tuple(_filled(slot, tool, value) for slot in slots)


def _filled(slot: StateSlot, tool: Tool, value: Any) -> StateSlot:
    for name in (tool.key, tool.name, *tool.aliases):
        if slot.source == name or slot.source.startswith(f"{name}."):
            found = _at_path(value, slot.source[len(name) + 1 :])
            if found is not _ABSENT and found is not None:
                return dataclasses.replace(slot, value=found, filled=True)
    return slot


def _at_path(value: Any, path: str) -> Any:
    if isinstance(value, str) and path:
        try:
            value = json.loads(value)
        except ValueError:
            return _ABSENT
    for part in path.replace("[", ".").replace("]", "").split(".") if path else ():
        if isinstance(value, Mapping) and part in value:
            value = value[part]
        elif isinstance(value, list) and part.lstrip("-").isdigit() and -len(value) <= int(part) < len(value):
            value = value[int(part)]
        else:
            return _ABSENT
    return value


def slots_block(slots: Sequence[StateSlot], *, from_step: int = -1) -> ContextBlock | None:
    """All filled slots as one block, None when none is filled."""
    filled = {slot.name: slot.value for slot in slots if slot.filled}
    if not filled:
        return None
    lines = [
        f"{name}: {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"
        for name, value in filled.items()
    ]
    return ContextBlock(
        id=SLOTS_BLOCK, kind="state_slot", text="\n".join(lines), value=filled, from_step=from_step
    )
