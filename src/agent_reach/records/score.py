"""What a trace is worth: verdict per required decision, cause of each loss, what each attempt and task add up to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from agent_reach.records.finding import Finding
from agent_reach.records.message import Message
from agent_reach.records.trace import CallOutcome, Trace

Verdict = Literal["right", "deviation", "wrong"]
Layer = Literal["discovery", "understanding", "retention", "execution", "infrastructure"]
AttemptState = Literal["scored", "agent_timeout", "infra_error"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ArgumentScore:
    """How one argument of a right-tool call compares with its gold.

    `verdict`: right, wrong, missing, unused (an expected optional that was left out), legal (no gold, a legal value),
    illegal (no gold, the schema refuses it), unknown (the schema does not know the name), ignored.
    """

    name: str
    verdict: Literal["right", "wrong", "missing", "unused", "legal", "illegal", "unknown", "ignored"]
    required: bool = False
    expected: Any = None
    actual: Any = None
    reason: str = ""
    matched: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A confidence interval: `method` is `wilson`, `bootstrap` (by task), or `wilson_tasks` where all tasks agree and a
    bootstrap would claim certainty (Wilson with tasks as trials); of a difference `newcombe`, or `exact` where nothing is
    left to chance."""

    low: float
    high: float
    level: float = 0.95
    method: str = "wilson"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProofTrial:
    """One experiment on a cause: the task run again with `intervention` (several joined by `+` when only together they
    help) against untouched runs of it. Counts are (right, attempts); `more` further attempts a side would decide; `spent` are
    the attempts with the change, lost ones included (0 where another experiment made the same ones). `not_run`: the budget
    ended before it; `more` is then what it needs."""

    intervention: str
    change: Message
    verdict: Literal["proved", "refuted", "undecided"]
    untouched: tuple[int, int] = (0, 0)
    changed: tuple[int, int] = (0, 0)
    gain: float = 0.0
    interval: Interval | None = None
    more: int | None = None
    spent: int = 0
    not_run: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """Why a decision was lost: a hypothesis until `proof` says otherwise.

    `name` is one of the table in `evals/attribution`; `step` is the golden step it cascaded from; `blame` is `model`,
    `reach_layer`, `normaliser`, `tool` or `undetermined`; `proof` is `proved`, `refuted`, `undecided` or empty,
    `trials` the experiments that say so.
    """

    name: str
    layer: Layer
    evidence: Message
    fix: Message
    blame: str = "undetermined"
    step: str = ""
    proof: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)
    trials: tuple[ProofTrial, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """One required decision of an attempt: the golden call, what was called in its place, and the verdict.

    Carries the fields of the decision log (`step` golden step number from 0, `model_raw`, `selected_tool`, `expected_tool`,
    `arguments`, `expected_arguments`, `error`, `context_blocks`, `used_blocks`) and the counts the metrics are sums of.
    """

    task_id: str
    attempt: int
    step: int
    golden_id: str
    expected_tool: str
    expected_arguments: Mapping[str, Any]
    optional_arguments: Mapping[str, Any] = field(default_factory=dict)
    verdict: Verdict = "wrong"
    selected_tool: str | None = None
    call_id: str = ""
    trace_step: int | None = None
    model_raw: str = ""
    arguments: Mapping[str, Any] | None = None
    sent_arguments: Mapping[str, Any] | None = None
    tool_right: bool = False
    first_choice: bool = False
    order_right: bool = True
    detour: bool = False
    argument_scores: tuple[ArgumentScore, ...] = ()
    required_right: int = 0
    required_total: int = 0
    optional_hit: int = 0
    optional_used: int = 0
    optional_expected: int = 0
    legal_emitted: bool | None = None
    legal_sent: bool | None = None
    decision_success: bool = False
    call_success: bool | None = None
    outcome: CallOutcome | None = None
    error: str = ""
    context_blocks: tuple[str, ...] = ()
    used_blocks: tuple[str, ...] = ()
    cause: Cause | None = None
    also: tuple[Cause, ...] = ()
    tries: int = 0

    @property
    def argument_score(self) -> float | None:
        """`required_ok/required_total * 0.7 + optional_hit/optional_used * 0.3`, the weight of an empty side going to the
        other; None when the tool was not right or there is nothing to score."""
        if not self.tool_right:
            return None
        if self.required_total and self.optional_used:
            return (
                self.required_right / self.required_total * 0.7 + self.optional_hit / self.optional_used * 0.3
            )
        if self.required_total:
            return self.required_right / self.required_total
        if self.optional_used:
            return self.optional_hit / self.optional_used
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockUse:
    """Whether a context block was used: the fact that identified it and where it turned up."""

    block_id: str
    kind: str
    partition: str = ""
    state: Literal["used", "unused", "not_identifiable"] = "unused"
    fact: str = ""
    place: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """Where an argument value came from: block ids, or none (`unsourced`)."""

    call_id: str
    pointer: str
    value: Any
    blocks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtraCall:
    """A call outside the golden path: `kind` exploratory, forbidden, over_call, hallucinated, duplicate; `status` how its last
    try ended (empty: it never reached a backend, or that is unknown); `also` causes that an experiment showed besides."""

    call_id: str
    name: str
    tool: str | None
    kind: Literal["exploratory", "forbidden", "over_call", "hallucinated", "duplicate"]
    trace_step: int | None = None
    cause: Cause | None = None
    status: str = ""
    also: tuple[Cause, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptScore:
    """One try of one task. `passed` is None when it cannot be said; `share` is right decisions / required decisions of
    the path that was taken (`path_index`), None without required decisions."""

    index: int
    state: AttemptState = "scored"
    path_index: int | None = None
    share: float | None = None
    passed: bool | None = None
    decisions: tuple[Decision, ...] = ()
    extra_calls: tuple[ExtraCall, ...] = ()
    over_called: bool = False
    called: bool = False
    blocks: tuple[BlockUse, ...] = ()
    provenance: tuple[Provenance, ...] = ()
    slots_filled: int = 0
    slots_used: int = 0
    legality_emitted: tuple[int, int] = (0, 0)
    legality_sent: tuple[int, int] = (0, 0)
    executed: tuple[int, int] = (0, 0)
    off_recording: bool = False
    end_state_equal: bool | None = None
    error: str = ""
    duration_ms: float | None = None
    findings: tuple[Finding, ...] = ()
    trace: Trace | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskScore:
    """All attempts of one task. `content_hash` tells whether two runs asked the same; `state` is `evaluated` or
    `not_evaluated` with a reason; `pass_hat` maps k to pass^k (all of k tries), `pass_at` to pass@k (one of k tries)."""

    task_id: str
    kind: str
    query: str = ""
    tags: tuple[str, ...] = ()
    language: str = ""
    content_hash: str = ""
    state: Literal["evaluated", "not_evaluated"] = "evaluated"
    reason: str = ""
    attempts: tuple[AttemptScore, ...] = ()
    pass_hat: Mapping[str, float] = field(default_factory=dict)
    flaky: bool = False
    has_forbid: bool = False
    pass_at: Mapping[str, float] = field(default_factory=dict)
    pass_rate: float | None = None
    order: str = "in_order"
    mode: str = "path"


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """A figure with what it was made of; `value` None means not evaluated, and `reason` says why."""

    value: float | None
    numerator: float = 0
    denominator: float = 0
    interval: Interval | None = None
    reason: str = ""
