"""What happened: one request from the user's words to the last call.

A `Trace` holds `Step`s (one model message or one user turn each); a step holds the `Call`s it made; a call holds its
`CallOutcome`. Unknown stays unknown: an absent field is None or empty, never a guess.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from agent_reach.records.context import ContextBlock, DroppedBlock, StateSlot
from agent_reach.records.finding import Finding

CallStatus = Literal["ok", "failed", "unknown"]
ErrorKind = Literal[
    "argument",
    "not_found",
    "permission",
    "rate_limited",
    "timeout",
    "transport",
    "tool_error",
    "malformed_result",
    "empty",
    "cancelled",
    "write_blocked",
    "context_lost",
]
ERROR_KINDS: tuple[str, ...] = get_args(ErrorKind)


@dataclass(frozen=True, slots=True, kw_only=True)
class ArgumentProblem:
    """One way in which arguments do not fit a schema.

    `code`: `missing_required`, `unknown_argument`, `wrong_type`, `wrong_format`, `not_in_enum`, `out_of_range`,
    `wrong_shape`, `unparsable`, `truncated`, `ambiguous`. `pointer` is a JSON pointer into the arguments.
    """

    code: str
    pointer: str = ""
    message: str = ""
    expected: Any = None
    actual: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ArgumentChange:
    """One change that the normaliser made: `rule` names it, `source` and `span` say where the new value came from
    (span: start and end offset in characters of the source text)."""

    rule: str
    pointer: str
    before: Any = None
    after: Any = None
    source: str = ""
    span: tuple[int, int] | None = None
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallOutcome:
    """How a call ended.

    `status` `unknown` means it may have happened (a time-out after sending, a dropped connection). `value` is the usable
    result (structured where there is any), `text` what the model is shown; `latency_ms` includes waits; `attempts` counts
    tries; `retry_after` is in seconds; `reached_backend` is False for a call refused before it was sent.
    """

    status: CallStatus
    error_kind: ErrorKind | None = None
    value: Any = None
    text: str = ""
    message: str = ""
    latency_ms: float | None = None
    attempts: int = 1
    retry_after: float | None = None
    reached_backend: bool = True
    truncated: bool = False
    off_recording: bool = False
    findings: tuple[Finding, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """The call worked."""
        return self.status == "ok"

    @property
    def was_executed(self) -> bool:
        """Something answered the call itself: it reached a backend, and no recording of other arguments, or of nothing,
        stood in (`off_recording`), which says nothing about whether the call would have worked."""
        return self.reached_backend and not self.off_recording


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateScore:
    """A tool that the reach layer offered: `why` names what spoke for it."""

    tool: str
    score: float
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One tool call.

    `name` is what was emitted; `tool` the key of the catalog's tool it resolves to (None: no such tool); `arguments` as
    emitted and parsed (None: unparsable, see `problems`); `raw_arguments` the emitted text; `sent_arguments` what went to
    the backend (None: not sent, or the same as `arguments`).
    """

    call_id: str
    name: str
    tool: str | None = None
    arguments: Mapping[str, Any] | None = field(default_factory=dict)
    raw_arguments: str = ""
    sent_arguments: Mapping[str, Any] | None = None
    changes: tuple[ArgumentChange, ...] = ()
    problems: tuple[ArgumentProblem, ...] = ()
    outcome: CallOutcome | None = None
    started_at: float | None = None
    agent: str = ""
    retry_of: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One message of the conversation: by the model (`kind` model) or a later turn of the user.

    `raw` is the model's output as received; `problems` are calls that could not be read; `offered` the tool keys offered
    for this message, empty when the same as the trace's; `started_at` in seconds since the epoch.
    """

    index: int
    kind: Literal["model", "user"] = "model"
    text: str = ""
    raw: str = ""
    reasoning: str = ""
    calls: tuple[Call, ...] = ()
    problems: tuple[ArgumentProblem, ...] = ()
    offered: tuple[str, ...] = ()
    candidates: tuple[CandidateScore, ...] = ()
    plan: tuple[str, ...] = ()
    started_at: float | None = None
    latency_ms: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    finish_reason: str = ""
    agent: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exposure:
    """How tools were shown: `mode` all, names or reach; `offered` tool keys in order as sent; `hidden` maps a tool that was
    kept back to the reason (`permission`, `not_listed`, `limit`, `not_recalled`, `unavailable`, `quarantined`);
    `cut_descriptions` maps a tool to the number of characters of its description that were shown."""

    mode: str = "all"
    offered: tuple[str, ...] = ()
    hidden: Mapping[str, str] = field(default_factory=dict)
    cut_descriptions: Mapping[str, int] = field(default_factory=dict)
    placed_by: str = ""
    tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """One request from the user's words to the last call.

    `blocks` are all context blocks that were given (tool results included); `dropped` those that were cut or lost;
    `permissions_missing` maps a tool key to what it lacks; `started_at` in seconds since the epoch.
    """

    trace_id: str
    query: str = ""
    task_id: str = ""
    attempt: int = 0
    agent: str = ""
    model: str = ""
    source: str = ""
    started_at: float | None = None
    ended_at: float | None = None
    exposure: Exposure = field(default_factory=Exposure)
    steps: tuple[Step, ...] = ()
    blocks: tuple[ContextBlock, ...] = ()
    dropped: tuple[DroppedBlock, ...] = ()
    state_slots: tuple[StateSlot, ...] = ()
    final_text: str = ""
    findings: tuple[Finding, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    permissions_missing: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def calls(self) -> tuple[Call, ...]:
        """All calls in order."""
        return tuple(call for step in self.steps for call in step.calls)
