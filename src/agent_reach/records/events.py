"""What a run tells while it lasts. The runner emits; progress bars, logs and reporters listen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from agent_reach.records.finding import Finding
from agent_reach.records.score import AttemptScore


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStarted:
    """A run begins: `resumed` attempts were already finished before."""

    run_id: str
    tasks: int
    attempts: int
    resumed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptStarted:
    """An attempt begins."""

    task_id: str
    attempt: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptFinished:
    """An attempt is over and safely written."""

    task_id: str
    attempt: int
    score: AttemptScore


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingForModel:
    """The model's endpoint asked to wait; this is never a decision."""

    seconds: float
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingRaised:
    """Something worth knowing turned up."""

    finding: Finding


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFinished:
    """A run is over; `interrupted` when it was stopped and can be resumed."""

    run_id: str
    attempts: int
    interrupted: bool = False


Event = RunStarted | AttemptStarted | AttemptFinished | WaitingForModel | FindingRaised | RunFinished
Listener = Callable[[Event], None]
