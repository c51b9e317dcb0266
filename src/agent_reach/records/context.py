"""What a model was given, in labelled blocks, and what was lost on the way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

BlockKind = Literal["instruction", "constraint", "tools", "state_slot", "tool_result", "history", "retrieval"]
BLOCK_KINDS: tuple[str, ...] = get_args(BlockKind)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextBlock:
    """A labelled piece of what the model was given.

    `facts` are declared key facts (they identify the block even when another block holds them too); `score` is the
    rank score of a retrieved passage; `partition` the retrieval partition it came from; `call_id` the call whose
    result a `tool_result` block is; `from_step` the model step after which the block appeared (-1: from the start).
    """

    id: str
    kind: BlockKind
    text: str
    partition: str = ""
    facts: tuple[str, ...] = ()
    score: float | None = None
    call_id: str = ""
    from_step: int = -1
    value: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DroppedBlock:
    """A block, or part of one, that the model did not see.

    `reason`: `max_passages`, `token_budget` (never sent), `cut` (sent up to `kept_characters`) or `out_of_window` (sent
    once, gone from step `from_step` on).
    """

    block_id: str
    kind: BlockKind
    reason: Literal["max_passages", "token_budget", "cut", "out_of_window"]
    kept_characters: int = 0
    from_step: int = -1
    tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class StateSlot:
    """A named value taken from a result by rule: `source` is `tool.path.to.value`."""

    name: str
    source: str
    value: Any = None
    filled: bool = False
    metadata: Mapping[str, Any] = field(default_factory=dict)
