"""Finding: the stages recall, history, vectors and rank in one callable, with names, pins and bans respected.

The order of the tools it was given never shows: slots are numbered by key, ties go by key. It says nothing about
arguments and executes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from agent_reach.records.finding import Finding
from agent_reach.records.message import Message
from agent_reach.records.tool import Tool
from agent_reach.router.history import History
from agent_reach.router.rank import Ranked, RankWeights, group_of, rank
from agent_reach.router.rank_names import NameTable
from agent_reach.router.recall import Evidence, LexicalIndex, RecallWeights
from agent_reach.router.recall_vectors import VectorIndex
from agent_reach.router.request import Request, RequestWeights, analyse_request
from agent_reach.router.stages import Candidate, Found
from agent_reach.text.segmenting import WordBorders
from agent_reach.text.tokens import is_cjk, nearest_names, runs

MAX_NEAREST = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteWeights:
    """The numbers of all stages of finding; the defaults are what `benchmarks/route.py` measures."""

    request: RequestWeights = field(default_factory=RequestWeights)
    recall: RecallWeights = field(default_factory=RecallWeights)
    rank: RankWeights = field(default_factory=RankWeights)


class Finder:
    """Finds tools for a request. `hidden` maps tool keys to why they may not be offered; `pins` are always offered.

    `borders` tells where the words of a Chinese request begin and end; the index is the same with and without.
    """

    def __init__(
        self,
        tools: Iterable[Tool],
        *,
        history: History | None = None,
        vectors: VectorIndex | None = None,
        pins: Sequence[str] = (),
        hidden: Mapping[str, str] | None = None,
        weights: RouteWeights | None = None,
        borders: WordBorders | None = None,
    ) -> None:
        self.weights = weights or RouteWeights()
        self.borders = borders
        self.history = history
        self.vectors = vectors
        self.pins = tuple(dict.fromkeys(pins))
        self.hidden = dict(hidden or {})
        self.index = LexicalIndex(
            (tool for tool in tools if tool.key not in self.hidden), self.weights.recall
        )
        self.names = NameTable(self.index.tools)
        self._group_numbers: dict[str, int] = {}
        self._groups = [self._group(tool) for tool in self.index.tools]
        self._scripts: tuple[int, float] = (-1, 0.0)

    def __call__(self, query: str, k: int = 6, *, now: float | None = None, past: bool = True) -> Found:
        """The best `k` tools, best first; tools named outright and pins come on top of `k` where they do not fit.

        `now` (seconds since the epoch) is what the age of history is measured against; without `past` history has no say,
        so that the answer stays the same.
        """
        request = analyse_request(query, self.weights.request, self.borders)
        differ = self.scripts_differ(request)
        evidence = self.evidence(request, scripts_differ=differ, now=now, past=past)
        ranked = rank(evidence, self._groups, self.weights.rank, k)
        if not differ and evidence.support < self.weights.rank.support:
            ranked = self._fitting(ranked, request)
        named = [key for key in self.names.named_in(query) if key in self.index.slot_of]
        candidates = self._candidates(request, evidence, ranked, named, k)
        return Found(
            candidates,
            findings=self._findings(request, differ),
            nearest_names=() if candidates else self._nearest(request),
        )

    def evidence(
        self, request: Request, *, scripts_differ: bool = False, now: float | None = None, past: bool = True
    ) -> Evidence:
        """What words, history and vectors say about every slot."""
        evidence = self.index.score(request)
        if self.vectors is not None:
            evidence = self.vectors.weigh(evidence, request, self.index, scripts_differ=scripts_differ)
        if self.history is not None and past:
            evidence = self.history.weigh(evidence, request, self.index, now=now)
        return evidence

    def update(self, tool: Tool) -> None:
        """Replace or add one tool; what else is indexed stays as it is."""
        if tool.key in self.hidden:
            return
        self.index.update(tool)
        self.names.add(tool)
        if len(self._groups) > self.index.slots:
            self._groups = [self._group(one) for one in self.index.tools]
        else:
            self._groups.extend(self._group(one) for one in self.index.tools[len(self._groups) :])
        if self.vectors is not None:
            self.vectors.update(tool)

    def scripts_differ(self, request: Request) -> bool:
        """True where the request is written in Chinese and the catalog is not, or the other way round."""
        letters = [run for run in runs(request.text) if not run[0].isdigit()]
        if not letters:
            return False
        chinese = sum(len(run) for run in letters if is_cjk(run))
        other = sum(1 for run in letters if not is_cjk(run))
        share = self._chinese_share()
        if chinese > 2 * other:
            return share < 0.1
        return chinese == 0 and other > 1 and share > 0.9

    def _chinese_share(self) -> float:
        """The share of tools that are described in Chinese."""
        if self._scripts[0] != self.index.version:
            tools = self.index.live_tools()
            described = (tool.description for tool in tools if not tool.description.isascii())
            chinese = sum(1 for text in described if any(map(is_cjk, text)))
            self._scripts = (self.index.version, chinese / max(1, len(tools)))
        return self._scripts[1]

    def _group(self, tool: Tool) -> int:
        name = group_of(tool)
        return self._group_numbers.setdefault(name, len(self._group_numbers)) if name else -1

    def _fitting(self, ranked: list[Ranked], request: Request) -> list[Ranked]:
        if not request.has_subject:
            return []
        weights = self.weights.rank
        least = weights.least if request.text.isascii() else weights.least_chinese
        return ranked if any(one.coverage >= least for one in ranked) else []

    def _candidates(
        self, request: Request, evidence: Evidence, ranked: list[Ranked], named: list[str], k: int
    ) -> list[Candidate]:
        slot_of, tools = self.index.slot_of, self.index.tools
        first = [slot_of[key] for key in named]
        pinned = [slot for pin in self.pins if (slot := slot_of.get(pin)) is not None and slot not in first]
        fixed = set(first) | set(pinned)
        room = max(0, k - len(fixed))
        others = [one for one in ranked if one.slot not in fixed][:room]
        highest = max((one.score for one in ranked), default=0.0) or 1.0
        of_slot = {one.slot: one for one in ranked}
        found = [Candidate(tools[slot], 1.0, "named in the request") for slot in first]
        for one in others:
            score = round(min(1.0, one.score / highest) * (0.5 + 0.5 * min(1.0, 2 * one.coverage)), 4)
            found.append(Candidate(tools[one.slot], score, partial(self._why, request, evidence, one.slot)))
        for slot in pinned:
            known = of_slot.get(slot)
            found.append(Candidate(tools[slot], round(known.score / highest, 4) if known else 0.0, "pinned"))
        return found

    @staticmethod
    def _why(request: Request, evidence: Evidence, slot: int) -> str:
        """The three things of the request that speak most for the tool, and whether more than words did."""
        import numpy as np

        column = evidence.at(np.array([slot]))[:, 0].tolist()
        pairs = zip(column, evidence.keys, strict=True)
        best = sorted(((value, key) for value, key in pairs if value > 0), reverse=True)[:3]
        words = [key for _, key in best if key[0] not in "#@"]
        words.extend(f"a {key[1:]}" for _, key in best if key[0] == "@")
        if any(key[0] == "#" for _, key in best):
            words.append("related words")
        if float(evidence.total[slot]) > 1.05 * sum(column) + 1e-3:
            words.append("what is known of likeness and past requests")
        return ", ".join(words)

    def _nearest(self, request: Request) -> list[str]:
        """Names close to the words of a request that nothing fits."""
        names = [tool.name for tool in self.index.live_tools()] if len(self.index) <= 2000 else []
        found: dict[str, None] = {}
        for key in list(request.items)[:8]:
            found.update(dict.fromkeys(nearest_names(key, names, limit=2)))
        return list(found)[:MAX_NEAREST]

    def _findings(self, request: Request, differ: bool) -> tuple[Finding, ...]:
        findings: list[Finding] = []
        if self.vectors is not None and self.vectors.failure is not None:
            findings.append(
                Finding(
                    code="embedder_failed",
                    severity="warning",
                    message=Message(
                        f"the embedder failed, words decide alone: {self.vectors.failure}",
                        f"向量模型出错，仅按词语检索：{self.vectors.failure}",
                    ),
                )
            )
        if self.borders is not None and self.borders.failure is not None:
            findings.append(
                Finding(
                    code="segmenter_failed",
                    severity="warning",
                    message=Message(
                        f"the segmenter failed, pairs of characters count alike: {self.borders.failure}",
                        f"分词器出错，字对按同等权重检索：{self.borders.failure}",
                    ),
                )
            )
        if differ and (self.vectors is None or self.vectors.failure is not None):
            findings.append(script_finding(request))
        return tuple(findings)


def script_finding(request: Request) -> Finding:
    """The warning that words cannot bridge the languages of this request and this catalog."""
    return Finding(
        code="script_mismatch",
        severity="warning",
        message=Message(
            "the request and the tool descriptions are written in different scripts and no embedder is installed: "
            "words alone find few of the right tools",
            "请求与工具描述使用不同的文字，且未安装向量模型：仅凭词语很难找到正确的工具",
        ),
        fix=Message(
            "pip install 'agent-reach-toolkit[vectors]' and pass embedder='encoder', or write notes with triggers in the"
            " language of the requests",
            "安装 'agent-reach-toolkit[vectors]' 并传入 embedder='encoder'，或在工具备注中用请求的语言写触发语",
        ),
        data={"request": request.text[:200]},
    )


def hidden_tools(
    tools: Iterable[Tool], allow: Sequence[str], deny: Sequence[str], permissions: Any
) -> tuple[dict[str, str], list[Finding]]:
    """Tool key -> why it may not be offered, and a finding for each pattern that matches nothing.

    Patterns are shell patterns over keys and names; `permissions` maps keys to what is missing (empty: nothing), or is
    a function of a tool that returns it.
    """
    from fnmatch import fnmatchcase

    tools = list(tools)
    hidden: dict[str, str] = {}
    used: set[str] = set()

    def matches(tool: Tool, pattern: str) -> bool:
        fits = fnmatchcase(tool.key, pattern) or fnmatchcase(tool.name, pattern)
        if fits:
            used.add(pattern)
        return fits

    for tool in tools:
        allowed = [matches(tool, pattern) for pattern in allow]
        denied = [matches(tool, pattern) for pattern in deny]
        missing = permissions(tool) if callable(permissions) else (permissions or {}).get(tool.key, "")
        if any(denied) or (allow and not any(allowed)):
            hidden[tool.key] = "not_listed"
        elif missing:
            hidden[tool.key] = "permission"
    findings = [
        Finding(
            code="pattern_matches_nothing",
            severity="warning",
            subject=pattern,
            message=Message(f"the pattern {pattern!r} matches no tool", f"模式 {pattern!r} 未匹配任何工具"),
        )
        for pattern in dict.fromkeys((*allow, *deny))
        if pattern not in used
    ]
    return hidden, findings
