"""What adding a catalog would do, said before any model is asked: look-alikes, tokens, expected confusions.

Confusions are calibrated on observed ones: in a report, every right tool of a decision stands beside every other tool that
was offered; how often such a pair was confused, by how alike the two are, is the rate that new tools are counted with. The
calibration is checked on tasks it was not made from and shown with the prediction.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from math import prod
from typing import TYPE_CHECKING

from agent_reach.catalog.similar import SIMILARITY_MEASURE, similar_pairs
from agent_reach.errors import InputError
from agent_reach.evals.statistics import wilson
from agent_reach.records.report import Report, SimilarPair
from agent_reach.records.score import Decision, Interval
from agent_reach.text.counting import count_json_tokens

if TYPE_CHECKING:
    from agent_reach.catalog.catalog import Catalog

BANDS: tuple[float, ...] = (0.0, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
"""Lower bounds of the bands of similarity."""
_NEAR = BANDS[1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Band:
    """Pairs (right tool, other offered tool) of a similarity from `low` to below the next band: how many were seen, how many
    of them confused, and the rate that is predicted with (pooled so that it never falls with similarity)."""

    low: float
    pairs: int
    confused: int
    rate: float
    interval: Interval | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """The calibration tried on tasks that it was not made from: expected and seen confusions."""

    decisions: int
    expected: float
    seen: int
    by_band: tuple[tuple[float, float, int], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRisk:
    """A tool that is there already: the chance that a decision for it is newly lost to one of the added tools."""

    tool: str
    decisions: int
    chance: float
    nearest: str
    similarity: float


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
    near = similar_pairs(whole, threshold=_NEAR)
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
    return _with_confusions(found, catalog, report, near, sorted(new_keys))


def _tokens(catalog: Catalog) -> int:
    views = [{"type": "function", "function": catalog.model_view(tool)} for tool in catalog.tools]
    return count_json_tokens(views)


# -- observed confusions -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Seen:
    """One decision: its tool, what else was offered, what was chosen instead (empty: nothing or the right one)."""

    task_id: str
    gold: str
    offered: tuple[str, ...]
    chosen: str


def _observed(report: Report, catalog: Catalog) -> list[_Seen]:
    found = []
    everything = tuple(tool.key for tool in catalog.tools)
    for task in report.tasks:
        for attempt in task.attempts:
            offered = attempt.trace.exposure.offered if attempt.trace is not None else everything
            for decision in attempt.decisions:
                if decision.expected_tool in (offered or everything):
                    found.append(
                        _Seen(task.task_id, decision.expected_tool, offered or everything, _instead(decision))
                    )
    return found


def _instead(decision: Decision) -> str:
    return decision.selected_tool or "" if not decision.tool_right else ""


class _Nearness:
    """Similarities of pairs that the index found; every other pair is below the first bound."""

    def __init__(self, pairs: Iterable[SimilarPair]) -> None:
        self._near: dict[str, dict[str, float]] = {}
        for pair in pairs:
            self._near.setdefault(pair.left, {})[pair.right] = pair.score
            self._near.setdefault(pair.right, {})[pair.left] = pair.score

    def of(self, key: str) -> Mapping[str, float]:
        """The tools near this one."""
        return self._near.get(key, {})


def _band_of(score: float) -> int:
    return max(index for index, low in enumerate(BANDS) if score >= low)


def calibrate(seen: Sequence[_Seen], near: _Nearness) -> tuple[Band, ...]:
    """The rate of confusion per band, pooled over neighbours until it never falls (pool adjacent violators)."""
    pairs = [0] * len(BANDS)
    confused = [0] * len(BANDS)
    for item in seen:
        close = near.of(item.gold)
        offered = [key for key in item.offered if key != item.gold]
        for key in close:
            if key in offered:
                pairs[_band_of(close[key])] += 1
        pairs[0] += sum(key not in close for key in offered)
        if item.chosen in offered:
            confused[_band_of(close.get(item.chosen, 0.0))] += 1
    rates = _pooled(pairs, confused)
    return tuple(
        Band(
            low=low,
            pairs=pairs[n],
            confused=confused[n],
            rate=rates[n],
            interval=wilson(confused[n], pairs[n]),
        )
        for n, low in enumerate(BANDS)
    )


def _pooled(pairs: Sequence[int], confused: Sequence[int]) -> list[float]:
    blocks: list[list[float]] = []
    for count, hits in zip(pairs, confused, strict=True):
        blocks.append([float(hits), float(count), 1.0])
        while len(blocks) > 1 and _falls(blocks[-2], blocks[-1]):
            above = blocks.pop()
            blocks[-1] = [one + two for one, two in zip(blocks[-1], above, strict=True)]
    rates: list[float] = []
    for block_hits, block_pairs, size in blocks:
        rate = block_hits / block_pairs if block_pairs else (rates[-1] if rates else 0.0)
        rates += [rate] * int(size)
    return rates


def _falls(first: Sequence[float], second: Sequence[float]) -> bool:
    if not second[1]:
        return True  # a band without pairs says nothing: it takes the rate of the one below
    return not first[1] or first[0] / first[1] > second[0] / second[1]


def _expected(seen: Sequence[_Seen], near: _Nearness, bands: Sequence[Band]) -> list[float]:
    """Expected confusions per band for decisions with these offers."""
    found = [0.0] * len(BANDS)
    for item in seen:
        close = near.of(item.gold)
        for key in item.offered:
            if key != item.gold:
                band = _band_of(close.get(key, 0.0))
                found[band] += bands[band].rate
    return found


def _checked(seen: Sequence[_Seen], near: _Nearness) -> Check:
    """Two halves of the tasks, each predicted by the other."""
    halves = ([item for item in seen if _half(item.task_id) == side] for side in (0, 1))
    first, second = halves
    expected = [0.0] * len(BANDS)
    confused = [0] * len(BANDS)
    for learned, tried in ((first, second), (second, first)):
        bands = calibrate(learned, near)
        for band, value in enumerate(_expected(tried, near, bands)):
            expected[band] += value
        for band, item in enumerate(calibrate(tried, near)):
            confused[band] += item.confused
    rows = tuple(zip(BANDS, [round(value, 3) for value in expected], confused, strict=True))
    return Check(decisions=len(seen), expected=round(sum(expected), 3), seen=sum(confused), by_band=rows)


def _half(task_id: str) -> int:
    return sha256(task_id.encode("utf-8", "surrogatepass")).digest()[0] % 2


def _with_confusions(
    found: Prediction, catalog: Catalog, report: Report, pairs: Sequence[SimilarPair], new_keys: Sequence[str]
) -> Prediction:
    seen = _observed(report, catalog)
    if not seen:
        raise InputError(
            "the report has no decision for a tool of the catalog; there is nothing to calibrate on",
            where=report.run.id,
            next_step="give a report of a run on this catalog",
        )
    near = _Nearness(pairs)
    bands = calibrate(seen, near)
    risks = [_risk(key, count, near, bands, new_keys) for key, count in _counted(seen).items()]
    risks.sort(key=lambda risk: (-risk.chance * risk.decisions, risk.tool))
    return replace(
        found,
        decisions=len(seen),
        confusions=sum(risk.chance * risk.decisions for risk in risks),
        risks=tuple(risks),
        bands=bands,
        check=_checked(seen, near),
    )


def _counted(seen: Sequence[_Seen]) -> dict[str, int]:
    """Decisions per tool that were right: only those can be newly lost."""
    counts: dict[str, int] = {}
    for item in seen:
        counts[item.gold] = counts.get(item.gold, 0) + (not item.chosen)
    return counts


def _risk(
    key: str, decisions: int, near: _Nearness, bands: Sequence[Band], new_keys: Sequence[str]
) -> ToolRisk:
    close = near.of(key)
    scores = {new: close.get(new, 0.0) for new in new_keys}
    nearest = max(scores, key=lambda new: (scores[new], new))
    chance = 1 - prod(1 - bands[_band_of(score)].rate for score in scores.values())
    return ToolRisk(tool=key, decisions=decisions, chance=chance, nearest=nearest, similarity=scores[nearest])
