"""What the stages of the reach layer hand to one another and to the caller.

Each stage is a small callable that can be used alone:

    analyse_request(text)                  -> Request            router.request
    LexicalIndex(tools).score(request)     -> Evidence           router.recall
    History(...).weigh(evidence, ...)      -> Evidence           router.history
    VectorIndex(...).weigh(evidence, ...)  -> Evidence           router.recall_vectors
    rank(evidence, groups, weights, k)     -> list[Ranked]       router.rank
    prefill / normalize_call / Executor                          router.prefill, .normalize, .execute
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from agent_reach.records.finding import Finding
from agent_reach.records.tool import Tool
from agent_reach.records.trace import CandidateScore


@dataclass(frozen=True, slots=True)
class Candidate:
    """A tool that may answer a request; `score` is 0..1 within one answer and falls, `why` names what spoke for it."""

    tool: Tool
    score: float
    why: str = ""

    def record(self) -> CandidateScore:
        """The candidate as traces keep it."""
        return CandidateScore(tool=self.tool.key, score=self.score, why=self.why)


class Found(list[Candidate]):
    """The candidates of one request, best first; empty when nothing fits.

    `findings` says what the caller should know (request and catalog differ in script); `nearest_names` are names close to
    words of the request, given when nothing fits.
    """

    def __init__(
        self,
        candidates: Iterable[Candidate] = (),
        *,
        findings: Sequence[Finding] = (),
        nearest_names: Sequence[str] = (),
    ) -> None:
        super().__init__(candidates)
        self.findings = tuple(findings)
        self.nearest_names = tuple(nearest_names)


class Selection(list[Any]):
    """The tools of a `select`, each exactly as it was given; with findings, and the names that were left out."""

    def __init__(
        self, tools: Iterable[Any] = (), *, findings: Sequence[Finding] = (), left_out: Sequence[str] = ()
    ) -> None:
        super().__init__(tools)
        self.findings = tuple(findings)
        self.left_out = tuple(left_out)
