"""What a detector answers: the evidence in both languages, data for programs, and the step it points to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from agent_reach.evals.attribution.evidence import DecisionEvidence
from agent_reach.evals.scoring.making import make_message
from agent_reach.records.message import Message


class Found:
    """A cause that holds."""

    __slots__ = ("data", "evidence", "step")

    def __init__(self, evidence: Message, data: Mapping[str, Any], step: str = "") -> None:
        self.evidence = evidence
        self.data = data
        self.step = step


Detector = Callable[[DecisionEvidence], Found | None]


def found(en: str, zh: str, *, step: str = "", **data: Any) -> Found:
    """A cause that holds, with its evidence in both languages."""
    return Found(make_message(en=en, zh=zh), data, step)
