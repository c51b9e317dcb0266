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

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from agent_reach.records.finding import Finding
from agent_reach.records.tool import Tool
from agent_reach.records.trace import CandidateScore


class Candidate:
    """A tool that may answer a request; `score` is 0..1 and falls within one answer, `why` names what spoke for it."""

    __slots__ = ("_why", "score", "tool")

    def __init__(self, tool: Tool, score: float, why: str | Callable[[], str] = "") -> None:
        self.tool = tool
        self.score = score
        self._why = why

    @property
    def why(self) -> str:
        """What spoke for the tool; worked out when it is first asked for, because most answers are never explained."""
        if not isinstance(self._why, str):
            self._why = self._why()
        return self._why

    def record(self) -> CandidateScore:
        """The candidate as traces keep it."""
        return CandidateScore(tool=self.tool.key, score=self.score, why=self.why)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Candidate):
            return NotImplemented
        return (self.tool, self.score, self.why) == (other.tool, other.score, other.why)

    def __hash__(self) -> int:
        return hash((self.tool.key, self.score))

    def __repr__(self) -> str:
        return f"Candidate({self.tool.key!r}, {self.score}, {self.why!r})"


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
