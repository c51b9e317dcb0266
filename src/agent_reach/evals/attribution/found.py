"""What a detector answers: the evidence in both languages, data for programs, and the step it points to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from agent_reach.evals.attribution.evidence import DecisionEvidence
from agent_reach.records.message import Message


@dataclass(frozen=True, slots=True)
class Found:
    """A cause that holds."""

    evidence: Message
    data: Mapping[str, Any] = field(default_factory=dict)
    step: str = ""


Detector = Callable[[DecisionEvidence], Found | None]


def found(en: str, zh: str, *, step: str = "", **data: Any) -> Found:
    """A cause that holds, with its evidence in both languages."""
    return Found(Message(en, zh), data, step)
