"""What is asked of an agent and what would be right: tasks, golden paths, matching options.

A path is a sequence of stages; the calls of one stage have no order among themselves. Matchers (`{"$one_of": [...]}`)
stay plain mappings here; what they mean is the business of `evals/scoring`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from agent_reach.records.context import ContextBlock, StateSlot

TaskKind = Literal["must", "may", "forbid"]
OrderMode = Literal["in_order", "any_order", "exact"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldenCall:
    """One call of a golden path. `result` or `error` is the recorded answer; `has_result` tells a null from none."""

    tool: str
    id: str = ""
    args: Mapping[str, Any] = field(default_factory=dict)
    optional: Mapping[str, Any] = field(default_factory=dict)
    result: Any = None
    has_result: bool = False
    error: str = ""
    error_kind: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldenPath:
    """One accepted way: stages in order, the calls of a stage unordered."""

    stages: tuple[tuple[GoldenCall, ...], ...] = ()

    @property
    def calls(self) -> tuple[GoldenCall, ...]:
        """All calls in written order."""
        return tuple(call for stage in self.stages for call in stage)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedResult:
    """An answer of the task's `results`: for any call of `tool`, or only for one with exactly `args`."""

    tool: str
    args: Mapping[str, Any] | None = None
    result: Any = None
    error: str = ""
    error_kind: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchOptions:
    """How values are compared: `strings` nfc, nfkc, casefold or raw; `ignore_args` names or `tool.path`; `mode` path or
    end_state; `float_tolerance` is relative and never applied to whole numbers."""

    strings: Literal["raw", "nfc", "nfkc", "casefold"] = "nfc"
    ignore_args: tuple[str, ...] = ()
    float_tolerance: float = 0.0
    mode: Literal["path", "end_state"] = "path"


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptedTurn:
    """A user turn of a scripted conversation, with the golden paths expected after it (before the next turn)."""

    user: str
    paths: tuple[GoldenPath, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One task of a suite.

    `messages` is a whole conversation in OpenAI form where one is given (`query` then is its last user message);
    `turns` are all scripted user turns, the first being `query` itself (empty: a single turn); `paths` are the accepted golden paths over all turns (empty: none given);
    `max_extra` None is no limit; `source` and `line` say where it was written; `environment` names setup, teardown and
    free settings of the backend.
    """

    id: str
    kind: TaskKind
    query: str
    messages: tuple[Mapping[str, Any], ...] = ()
    turns: tuple[ScriptedTurn, ...] = ()
    tags: tuple[str, ...] = ()
    language: str = ""
    now: str = ""
    context: tuple[ContextBlock, ...] = ()
    state_slots: tuple[StateSlot, ...] = ()
    paths: tuple[GoldenPath, ...] = ()
    order: OrderMode = "in_order"
    forbid: tuple[str, ...] = ()
    max_extra: int | None = None
    match: MatchOptions = field(default_factory=MatchOptions)
    results: tuple[RecordedResult, ...] = ()
    tools: tuple[str, ...] = ()
    environment: Mapping[str, Any] = field(default_factory=dict)
    metadata: Mapping[str, Any] = field(default_factory=dict)
    review: bool = False
    source: str = ""
    line: int | None = None
