"""What the gate says about a report beside a baseline."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from agent_reach.records.finding import Finding
from agent_reach.records.message import Message

GateVerdict = Literal["regression", "suspect", "incomparable", "insufficient", "pass", "improved"]
GATE_VERDICTS: tuple[GateVerdict, ...] = (
    "regression",
    "suspect",
    "incomparable",
    "insufficient",
    "pass",
    "improved",
)
"""Worst first."""
MovementVerdict = Literal[
    "regression", "suspect", "incomparable", "insufficient", "pass", "improved", "not_evaluated"
]
"""What is said of one metric: `not_evaluated` where there was nothing to compare, which is no pass."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricMovement:
    """One metric in both runs, over the tasks they have in common.

    `change` is current - baseline; `drop` is how much worse it got (0 or less: it did not), exact before rounding;
    `test` is `sign_test`, `attempts_bootstrap`, `task_bootstrap`, `deterministic`, `unmoved`, or
    `not_tested` (a metric that is only shown, with several attempts); `p_value` belongs to the sign test,
    `bounds` (one-sided 95%, of the change) to the bootstraps; `repeats_needed` estimates how many attempts per task would
    decide a suspect.
    """

    name: str
    verdict: MovementVerdict
    gated: bool = True
    baseline: float | None = None
    current: float | None = None
    baseline_counts: tuple[float, float] = (0, 0)
    current_counts: tuple[float, float] = (0, 0)
    change: float | None = None
    drop: float = 0.0
    significant: bool = False
    test: str = ""
    p_value: float | None = None
    bounds: tuple[float, float] | None = None
    worse: int = 0
    better: int = 0
    repeats_needed: int | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Flip:
    """A task (`decision` empty), a decision or a forbidden call that was right in every attempt of one run and in none of
    the other; `fails_alone` when that is enough for a regression."""

    task_id: str
    decision: str = ""
    kind: Literal["lost", "won", "forbidden_call"] = "lost"
    baseline: tuple[int, int] = (0, 0)
    current: tuple[int, int] = (0, 0)
    fails_alone: bool = False
    cause: str = ""
    detail: str = ""

    @property
    def name(self) -> str:
        """`task` or `task.decision`."""
        return f"{self.task_id}.{self.decision}" if self.decision else self.task_id


@dataclass(frozen=True, slots=True, kw_only=True)
class RunChange:
    """One thing that differs between the runs: `where` is `model`, `template`, a suite, or a tool's field."""

    where: str
    before: Any = None
    after: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolMovement:
    """A tool whose definition or reachability moved: (reached, required) in both runs beside its changed fields."""

    tool: str
    baseline: tuple[int, int] = (0, 0)
    current: tuple[int, int] = (0, 0)
    changes: tuple[RunChange, ...] = ()
    message: Message | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GateResult:
    """The verdict of `diff`; `exit_code` is 0 good, 1 the gate says no, 3 not decidable."""

    verdict: GateVerdict
    exit_code: int
    threshold: float
    headline: Message
    metrics: tuple[MetricMovement, ...] = ()
    regressions: tuple[Flip, ...] = ()
    improvements: tuple[Flip, ...] = ()
    tools: tuple[ToolMovement, ...] = ()
    changes: tuple[RunChange, ...] = ()
    tasks_compared: int = 0
    only_in_baseline: tuple[str, ...] = ()
    only_in_current: tuple[str, ...] = ()
    content_changed: tuple[str, ...] = ()
    population: bool = False
    findings: tuple[Finding, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @property
    def moved_tasks(self) -> tuple[str, ...]:
        """Ids of the tasks that flipped either way, for repeating only those."""
        return tuple(dict.fromkeys(flip.task_id for flip in (*self.regressions, *self.improvements)))
