"""What adding a catalog would do, said before any model is asked: look-alikes, tokens, expected confusions.

Whether a decision is lost to an added tool depends on the request: how much of it the best other tool covers, against how
much the right tool covers. How often decisions of such a margin are lost is calibrated on a report; added tools can only
raise the best other tool, and that raise is what is counted. The calibration is checked on tasks it was not made from and
shown with the prediction.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import TYPE_CHECKING

from agent_reach.catalog.similar import SIMILARITY_MEASURE, similar_pairs
from agent_reach.errors import InputError
from agent_reach.evals.statistics import wilson
from agent_reach.records.report import Report, SimilarPair
from agent_reach.records.score import Decision, Interval
from agent_reach.records.tool import Tool
from agent_reach.text.counting import count_json_tokens
from agent_reach.text.stopwords import is_function_word
from agent_reach.text.tokens import index_terms, split_identifier

if TYPE_CHECKING:
    from agent_reach.catalog.catalog import Catalog

MARGINS: tuple[float, ...] = (-1.0, -0.4, -0.25, -0.15, -0.08, -0.02, 0.02, 0.08, 0.15, 0.25, 0.4)
"""Lower bounds of the bands of margin: share of the request that the best other tool covers, less that of the right tool."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Band:
    """Decisions with a margin from `low` to below the next band: how many were seen, how many of them went to another tool,
    and the rate that is predicted with (pooled so that it never falls with the margin)."""

    low: float
    decisions: int
    confused: int
    rate: float
    interval: Interval | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """The calibration tried on tasks that it was not made from: decisions, expected and seen confusions."""

    decisions: int
    expected: float
    seen: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRisk:
    """A tool that is there already: decisions for it that were right, how many of them are expected to be newly lost, and the
    added tool that covers more of such a request."""

    tool: str
    decisions: int
    lost: float
    rival: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """What adding `added` tools would do. `confusions` is expected newly lost decisions of `decisions`; None without a report
    to calibrate on, as are `bands` and `check`."""

    added: int
    same: tuple[str, ...]
    tools: tuple[int, int]
    tokens: tuple[int, int]
    pairs: tuple[SimilarPair, ...]
    measure: str = SIMILARITY_MEASURE
    decisions: int = 0
    confusions: float | None = None
    risks: tuple[ToolRisk, ...] = ()
    bands: tuple[Band, ...] = ()
    check: Check | None = None


def predict(catalog: Catalog, added: Catalog, report: Report | None = None) -> Prediction:
    """The prediction for adding `added` to `catalog`; `report` is a run on `catalog` to calibrate on.

    Tools that the catalog has already (same identity) are not added; raises `InputError` where nothing is left, or where
    the report has no decision to learn from.
    """
    from agent_reach.catalog.catalog import Catalog as Made

    same = tuple(tool.key for tool in added.tools if tool in catalog)
    fresh = [tool for tool in added.tools if tool not in catalog]
    if not fresh:
        raise InputError("every tool of the added catalog is in the catalog already", where="--predict")
    whole = Made.from_tools([*catalog.tools, *fresh])
    new_keys = {tool.key for tool in fresh}
    alike = similar_pairs(whole)
    pairs = tuple(pair for pair in alike if pair.left in new_keys or pair.right in new_keys)
    found = Prediction(
        added=len(fresh),
        same=same,
        tools=(len(catalog), len(whole)),
        tokens=(_tokens(catalog), _tokens(whole)),
        pairs=pairs,
    )
    if report is None:
        return found
    return _with_confusions(found, catalog, report, Coverage(whole.tools), sorted(new_keys))


def _tokens(catalog: Catalog) -> int:
    views = [{"type": "function", "function": catalog.model_view(tool)} for tool in catalog.tools]
    return count_json_tokens(views)


# -- observed confusions -------------------------------------------------------------------------------------


class Coverage:
    """How much of a request a tool's words cover: the share of the request's weight by rarity, 0..1."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        self._terms = {tool.key: frozenset(_tool_terms(tool)) for tool in tools}
        counts = Counter(term for terms in self._terms.values() for term in terms)
        size = len(self._terms)
        self._rarity = {term: math.log(1 + size / count) for term, count in counts.items()}
        self._unknown = math.log(1 + size)

    def of(self, query: str, keys: Iterable[str]) -> dict[str, float]:
        """Key -> share of the request covered."""
        terms = {term for term in index_terms(query) if not is_function_word(term)}
        weights = {term: self._rarity.get(term, self._unknown) for term in terms}
        total = sum(weights.values()) or 1.0
        found = {}
        for key in keys:
            own = self._terms.get(key, frozenset())
            found[key] = sum(weights[term] for term in terms if term in own) / total
        return found


def _tool_terms(tool: Tool) -> list[str]:
    note = tool.note
    parts = [" ".join(split_identifier(tool.name)), tool.title, tool.description]
    if note is not None:
        parts += [note.summary, *note.triggers]
    return [term for term in index_terms("\n".join(parts)) if not is_function_word(term)]


@dataclass(frozen=True, slots=True)
class _Seen:
    """One decision: its request and tool, what else was offered, whether another tool was taken, whether it was right."""

    task_id: str
    query: str
    gold: str
    offered: tuple[str, ...]
    confused: bool
    right: bool


def _observed(report: Report, catalog: Catalog) -> list[_Seen]:
    found = []
    everything = tuple(tool.key for tool in catalog.tools)
    for task in report.tasks:
        for attempt in task.attempts:
            offered = attempt.trace.exposure.offered if attempt.trace is not None else ()
            shown = tuple(key for key in offered if key in catalog) or everything
            for decision in attempt.decisions:
                if decision.expected_tool in shown:
                    confused = _is_confused(decision)
                    found.append(
                        _Seen(
                            task.task_id,
                            task.query,
                            decision.expected_tool,
                            shown,
                            confused,
                            decision.tool_right,
                        )
                    )
    return found


def _is_confused(decision: Decision) -> bool:
    return bool(decision.selected_tool) and not decision.tool_right


def _margin(item: _Seen, coverage: Coverage, more: Sequence[str] = ()) -> tuple[float, str]:
    """(margin, the other tool that covers most), among the offered tools and `more`."""
    shares = coverage.of(item.query, dict.fromkeys([*item.offered, *more]))
    own = shares.pop(item.gold, 0.0)
    if not shares:
        return -1.0, ""
    best = max(shares, key=lambda key: (shares[key], key))
    return shares[best] - own, best


def _band_of(margin: float) -> int:
    return max(index for index, low in enumerate(MARGINS) if margin >= low or index == 0)


def calibrate(seen: Sequence[_Seen], margins: Mapping[int, float]) -> tuple[Band, ...]:
    """The rate of confusion per band, pooled over neighbours until it never falls (pool adjacent violators). `margins` maps
    the place of a decision in `seen` to its margin."""
    counts = [0] * len(MARGINS)
    confused = [0] * len(MARGINS)
    for place, item in enumerate(seen):
        band = _band_of(margins[place])
        counts[band] += 1
        confused[band] += item.confused
    rates = _pooled(counts, confused)
    return tuple(
        Band(
            low=low,
            decisions=counts[n],
            confused=confused[n],
            rate=rates[n],
            interval=wilson(confused[n], counts[n]),
        )
        for n, low in enumerate(MARGINS)
    )


def _pooled(counts: Sequence[int], confused: Sequence[int]) -> list[float]:
    blocks: list[list[float]] = []
    for count, hits in zip(counts, confused, strict=True):
        blocks.append([float(hits), float(count), 1.0])
        while len(blocks) > 1 and _falls(blocks[-2], blocks[-1]):
            above = blocks.pop()
            blocks[-1] = [one + two for one, two in zip(blocks[-1], above, strict=True)]
    rates: list[float] = []
    for block_hits, block_count, size in blocks:
        rate = block_hits / block_count if block_count else (rates[-1] if rates else 0.0)
        rates += [rate] * int(size)
    return rates


def _falls(first: Sequence[float], second: Sequence[float]) -> bool:
    if not second[1]:
        return True  # a band without decisions says nothing: it takes the rate of the one below
    return bool(first[1]) and first[0] / first[1] > second[0] / second[1]


def _checked(seen: Sequence[_Seen], margins: Mapping[int, float]) -> Check:
    """Two halves of the tasks, each predicted by the other."""
    expected = 0.0
    confused = 0
    for side in (0, 1):
        learned = [place for place, item in enumerate(seen) if _half(item.task_id) == side]
        tried = [place for place, item in enumerate(seen) if _half(item.task_id) != side]
        bands = calibrate([seen[n] for n in learned], {n: margins[place] for n, place in enumerate(learned)})
        for place in tried:
            expected += bands[_band_of(margins[place])].rate
            confused += seen[place].confused
    return Check(decisions=len(seen), expected=round(expected, 3), seen=confused)


def _half(task_id: str) -> int:
    return sha256(task_id.encode("utf-8", "surrogatepass")).digest()[0] % 2


def _with_confusions(
    found: Prediction, catalog: Catalog, report: Report, coverage: Coverage, new_keys: Sequence[str]
) -> Prediction:
    seen = _observed(report, catalog)
    if not seen:
        raise InputError(
            "the report has no decision for a tool of the catalog; there is nothing to calibrate on",
            where=report.run.id,
            next_step="give a report of a run on this catalog",
        )
    before = {place: _margin(item, coverage)[0] for place, item in enumerate(seen)}
    bands = calibrate(seen, before)
    lost: dict[str, float] = {}
    rivals: dict[str, str] = {}
    right = Counter(item.gold for item in seen if item.right)
    for place, item in enumerate(seen):
        if not item.right:
            continue
        margin, rival = _margin(item, coverage, new_keys)
        old, new = bands[_band_of(before[place])].rate, bands[_band_of(margin)].rate
        chance = (new - old) / (1 - old) if new > old else 0.0
        lost[item.gold] = lost.get(item.gold, 0.0) + chance
        if chance > 0:
            rivals[item.gold] = rival
    risks = [
        ToolRisk(tool=key, decisions=right[key], lost=round(value, 4), rival=rivals[key])
        for key, value in lost.items()
        if value > 0
    ]
    risks.sort(key=lambda risk: (-risk.lost, risk.tool))
    return replace(
        found,
        decisions=len(seen),
        confusions=round(sum(lost.values()), 4),
        risks=tuple(risks),
        bands=bands,
        check=_checked(seen, before),
    )
