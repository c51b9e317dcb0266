"""Context blocks and state slots, from the loose form to records."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import cast

from agent_reach.config.fields import Section
from agent_reach.records.context import BLOCK_KINDS, BlockKind, ContextBlock, StateSlot

_BLOCK_SYNONYMS = {"type": "kind", "content": "text", "name": "id"}


def read_context(section: Section) -> tuple[ContextBlock, ...]:
    """The context blocks of a task."""
    blocks: list[ContextBlock] = []
    seen: set[str] = set()
    for index, entry in enumerate(section.sections("context", synonyms=_BLOCK_SYNONYMS)):
        block = _block(entry, index)
        if block.id in seen:
            entry.refuse(
                "id", f"{block.id!r} is the id of another block of this task", "give each block its own id"
            )
        seen.add(block.id)
        blocks.append(block)
    return tuple(blocks)


def _block(entry: Section, index: int) -> ContextBlock:
    value = entry.raw("value")
    entry.check_finite("value", value)
    has_text = entry.raw("text") is not None
    if not has_text and value is None and entry.values:
        entry.refuse("text", "is missing", "add `text: ...`")
    text = (
        entry.text("text", allow_number=True)
        if has_text
        else json.dumps(value, ensure_ascii=False, default=str)
    )
    if entry.raw("kind") is None and entry.values:
        entry.refuse("kind", "is missing", f"add `kind: {' | '.join(BLOCK_KINDS)}`")
    block = ContextBlock(
        id=entry.text("id", allow_number=True) or f"block_{index + 1}",
        kind=cast(
            BlockKind,
            entry.choice("kind", BLOCK_KINDS, "instruction", {"rag": "retrieval", "doc": "retrieval"}),
        ),
        text=text,
        partition=entry.text("partition"),
        facts=entry.texts("facts", numbers=True),
        score=entry.number("score", None, allow_null=True),
        call_id=entry.text("call_id", allow_number=True),
        from_step=entry.whole("from_step", -1, minimum=-1),
        value=value,
    )
    entry.finish()
    return block


def read_state_slots(section: Section) -> tuple[StateSlot, ...]:
    """The state slots of a task, from a list or a mapping of names to sources."""
    value = section.raw("state_slots")
    if isinstance(value, Mapping):
        slots = section.text_mapping("state_slots")
        return tuple(StateSlot(name=name, source=source) for name, source in slots.items())
    found: list[StateSlot] = []
    for entry in section.sections("state_slots", synonyms={"source": "from", "path": "from"}):
        filled = entry.has("value")
        entry.check_finite("value", entry.raw("value"))
        slot = StateSlot(
            name=entry.text("name", required=True),
            source=entry.text("from", required=not filled),
            value=entry.raw("value"),
            filled=filled,
            metadata=entry.mapping("metadata"),
        )
        if any(other.name == slot.name for other in found):
            entry.refuse(
                "name", f"{slot.name!r} is the name of another slot of this task", "give each its own name"
            )
        found.append(slot)
        entry.finish()
    return tuple(found)
