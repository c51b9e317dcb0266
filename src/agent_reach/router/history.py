"""Past requests that worked, as evidence for the next one.

Two views: the profile of each tool (the words of all requests it answered) and the nearest past requests, which vote.
Both fade with a half-life. A tool without a past is not punished for it: it gets what the tools around it got, and
everything is weighted by how much past the likely tools have, so that sparse history cannot hurt. It knows only what
it was told; nothing is learned from a request that failed.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from agent_reach.records.trace import Trace
from agent_reach.router.recall import Evidence, LexicalIndex
from agent_reach.router.request import Request, analyse_request

DAY = 86400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class PastRequest:
    """A request, the keys of the tools that answered it, and when (seconds since the epoch)."""

    query: str
    tools: tuple[str, ...]
    when: float


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryWeights:
    """`profile` and `votes` in units of the best word score; `enough` is the number of past requests per tool at which
    history counts half and `steep` how fast that rises; `near` how close to the best word score a tool must be to be thought likely."""

    profile: float = 5.0
    votes: float = 3.0
    enough: float = 6.0
    steep: float = 2.0
    own: float = 0.5
    near: float = 0.5
    likely: int = 8
    neighbours: int = 15
    related: float = 0.5

    def trust(self, count: Any) -> Any:
        """How far that many past requests per tool are believed, between 0 and 1."""
        raised = count**self.steep
        return raised / (raised + self.enough**self.steep)


class History:
    """Past requests; give it to `Reach` and it is asked for evidence at every search.

    `limit` bounds what is kept (newest first); `half_life_days` is the age at which a request counts half.
    """

    def __init__(
        self,
        past: Iterable[PastRequest] = (),
        *,
        half_life_days: float = 30.0,
        limit: int = 20000,
        weights: HistoryWeights | None = None,
    ) -> None:
        self.half_life = half_life_days * DAY
        self.limit = limit
        self.weights = weights or HistoryWeights()
        self._past: list[PastRequest] = list(past)[-limit:]
        self._added = len(self._past)
        self._tables: _Tables | None = None

    def __len__(self) -> int:
        return len(self._past)

    def add(self, query: str, tools: str | Iterable[str], *, when: float | None = None) -> None:
        """Remember that these tools (keys) answered the request; `when` in seconds since the epoch (default now)."""
        keys = (tools,) if isinstance(tools, str) else tuple(tools)
        if query.strip() and keys:
            self._past.append(
                PastRequest(query=query, tools=keys, when=time.time() if when is None else when)
            )
            self._added += 1
            del self._past[: -self.limit]

    def add_traces(self, traces: Iterable[Trace]) -> int:
        """Remember the requests of traces with the tools whose calls ended `ok`; how many requests were added."""
        before = len(self._past)
        for trace in traces:
            worked = [call.tool for call in trace.calls if call.tool and call.outcome and call.outcome.ok]
            self.add(trace.query, tuple(dict.fromkeys(worked)), when=trace.started_at)
        return len(self._past) - before

    def prepare(self, now: float | None = None) -> None:
        """Make what a search needs now, so that the next one does not wait for it."""
        if self._past:
            self._current(time.time() if now is None else now)

    def adopt(self, other: History) -> None:
        """Become what another history is: one that was read and prepared beside the searches."""
        self._past, self._added, self._tables = other._past, other._added, other._tables

    def weigh(
        self, evidence: Evidence, request: Request, index: LexicalIndex, *, now: float | None = None
    ) -> Evidence:
        """The evidence with what history says added to it, need by need; unchanged where history says nothing."""
        if not self._past or not request.has_words:
            return evidence
        tables = self._current(time.time() if now is None else now)
        slots = tables.slots_in(index)
        if not request.needs or evidence.by_need is None:
            features = _features(request, request.items, self.weights.related)
            gain, sure = self._gain(tables, slots, features, evidence.total, votes=True)
            return replace(evidence, total=evidence.total + gain, support=max(evidence.support, sure))
        import numpy as np

        answers = [
            self._gain(tables, slots, _features(request, keys, self.weights.related), row, votes=False)
            for keys, row in zip(request.needs, evidence.by_need, strict=True)
        ]
        extra = np.array([gain for gain, _ in answers])
        return replace(
            evidence,
            by_need=evidence.by_need + extra,
            total=evidence.total + extra.sum(0),
            support=max(evidence.support, *(sure for _, sure in answers)),
        )

    def _current(self, now: float) -> _Tables:
        """The tables; made again when more than a fiftieth of the past is new, or a day has gone by."""
        tables = self._tables
        if (
            tables is None
            or self._added - tables.added > max(10, tables.size // 50)
            or (self._added > tables.added and tables.size < 500)
            or abs(now - tables.now) > DAY
        ):  # fmt: skip
            tables = self._tables = _Tables(
                self._past, now, self.half_life, self.weights.related, self._added
            )
        return tables

    def _gain(
        self, tables: _Tables, slots: Any, features: Mapping[str, float], words: Any, *, votes: bool
    ) -> tuple[Any, float]:
        """What history adds to every slot, in the unit of the word scores `words` (slots), and how sure it is (0..1)."""
        import numpy as np

        weights = self.weights
        gain = np.zeros(len(words), dtype=np.float64)
        best = float(words.max(initial=0.0))
        profile, vote = tables.compare(features, weights.neighbours)
        highest = float(profile.max(initial=0.0))
        known = slots >= 0
        if highest <= 0 or not known.any():
            return gain, 0.0
        count = np.zeros(len(words))
        count[slots[known]] = tables.count[known]
        gain[slots[known]] = weights.profile * profile[known] / math.sqrt(highest)
        if votes and vote is not None:
            gain[slots[known]] += weights.votes * vote[known]
        trust = weights.trust(count)
        # a likeness of a third to one's own past requests is as much as ordinary rewording leaves
        sure = min(1.0, 3 * float((profile[known] * trust[slots[known]]).max()))
        likely = _likely(words, best, weights)
        if not len(likely):
            # no tool shares a word with the request: what history knows stands alone, as far as it is sure
            return gain * trust, sure
        shared = float(trust[likely].mean())
        tried = likely[count[likely] > 0]
        gain *= shared ** (1 - weights.own) * trust**weights.own
        if len(tried):
            gain[likely[count[likely] == 0]] = float(gain[tried].mean())
        return gain * best, sure


def _likely(words: Any, best: float, weights: HistoryWeights) -> Any:
    """The slots that the words speak for: the first few, none much weaker than the best."""
    import numpy as np

    if best <= 0:
        return np.zeros(0, dtype=np.int64)
    found = np.flatnonzero(words > best * weights.near)
    if len(found) > weights.likely:
        order = np.argsort(-words[found], kind="stable")[: weights.likely]
        found = found[order]
    return found


def _features(request: Request, keys: Iterable[str], related: float) -> dict[str, float]:
    """Term -> weight of some items of a request; groups of related words count less."""
    found: dict[str, float] = {}
    for key in keys:
        item = request.items[key]
        for term in item.terms:
            found[term] = max(found.get(term, 0.0), item.weight)
        for group in item.groups:
            found[group] = max(found.get(group, 0.0), related * item.weight)
    return found


class _Tables:
    """The past as two inverted indexes: term -> tools (profiles) and term -> past requests."""

    def __init__(
        self, past: list[PastRequest], now: float, half_life: float, related: float, added: int
    ) -> None:
        import numpy as np

        self.size, self.now, self.added = len(past), now, added
        self.keys: list[str] = sorted({key for one in past for key in one.tools})
        row_of = {key: row for row, key in enumerate(self.keys)}
        self.vocabulary: dict[str, int] = {}
        rows: list[int] = []
        numbers: list[int] = []
        weights: list[float] = []
        for place, one in enumerate(past):
            request = analyse_request(one.query)
            for name, weight in _features(request, request.items, related).items():
                rows.append(place)
                numbers.append(self.vocabulary.setdefault(name, len(self.vocabulary)))
                weights.append(weight)
        size = len(past)
        row, term = np.array(rows, np.int64), np.array(numbers, np.int64)
        documents = np.bincount(term, minlength=len(self.vocabulary))
        self.rarity = np.log1p(size / np.maximum(documents, 1))
        self.unseen = math.log1p(2 * size)
        value = np.array(weights, np.float64) * self.rarity[term]
        norm = np.sqrt(np.bincount(row, weights=value**2, minlength=size))
        value = value / np.maximum(norm[row], 1e-9)
        self.requests = _Postings(term, row, value, len(self.vocabulary), size)
        pairs = [(row, row_of[key], 1 / len(one.tools)) for row, one in enumerate(past) for key in one.tools]
        self.pair_request, self.pair_tool = (
            np.array([pair[side] for pair in pairs], np.int64) for side in (0, 1)
        )
        fade = np.array([0.5 ** (max(0.0, now - one.when) / half_life) for one in past])
        self.pair_weight = np.array([pair[2] for pair in pairs]) * fade[self.pair_request]
        self.count = np.bincount(self.pair_tool, weights=self.pair_weight, minlength=len(self.keys))
        self.profiles = self._profiles(term, row, value)
        self._slots: tuple[int, int, Any] | None = None

    def _profiles(self, term: Any, row: Any, value: Any) -> _Postings:
        """The unit sum of the requests of each tool."""
        import numpy as np

        order = np.argsort(row, kind="stable")
        starts = np.searchsorted(row[order], np.arange(self.size + 1))
        lengths = np.diff(starts)[self.pair_request]
        offsets = np.repeat(
            starts[self.pair_request] - np.concatenate([[0], np.cumsum(lengths)[:-1]]), lengths
        )
        place = order[np.arange(lengths.sum()) + offsets]
        tool = np.repeat(self.pair_tool, lengths)
        weighted = value[place] * np.repeat(self.pair_weight, lengths)
        key, inverse = np.unique(tool * len(self.vocabulary) + term[place], return_inverse=True)
        total = np.bincount(inverse, weights=weighted)
        tools = key // len(self.vocabulary)
        norm = np.sqrt(np.bincount(tools, weights=total**2, minlength=len(self.keys)))
        unit = total / np.maximum(norm[tools], 1e-9)
        return _Postings(key % len(self.vocabulary), tools, unit, len(self.vocabulary), len(self.keys))

    def slots_in(self, index: LexicalIndex) -> Any:
        """For each remembered tool its slot in the index, -1 where the index does not hold it."""
        import numpy as np

        if self._slots is None or self._slots[:2] != (id(index), index.version):
            slots = np.array([index.slot_of.get(key, -1) for key in self.keys], dtype=np.int64)
            self._slots = (id(index), index.version, slots)
        return self._slots[2]

    def compare(self, features: Mapping[str, float], neighbours: int) -> tuple[Any, Any]:
        """Likeness of each tool's profile, and the votes of the nearest requests times the root of the best likeness."""
        import numpy as np

        weighted: list[tuple[int, float]] = []
        square = 0.0
        for term, weight in features.items():
            number = self.vocabulary.get(term)
            value = weight * (self.unseen if number is None else float(self.rarity[number]))
            square += value * value
            if number is not None:
                weighted.append((number, value))
        norm = math.sqrt(square) or 1.0
        profile = self.profiles.score(weighted) / norm
        likeness = self.requests.score(weighted) / norm
        if len(likeness) > neighbours:
            nearest = np.argpartition(likeness, len(likeness) - neighbours)[-neighbours:]
        else:
            nearest = np.arange(len(likeness))
        strength = np.zeros(self.size)
        strength[nearest] = likeness[nearest] ** 2
        votes = np.bincount(
            self.pair_tool, weights=strength[self.pair_request] * self.pair_weight, minlength=len(self.keys)
        )
        highest = votes.max(initial=0.0)
        if highest <= 0:
            return profile, None
        return profile, votes / highest * math.sqrt(float(likeness[nearest].max()))


class _Postings:
    """Term -> rows with values, as three arrays."""

    def __init__(self, term: Any, row: Any, value: Any, terms: int, rows: int) -> None:
        import numpy as np

        order = np.argsort(term, kind="stable")
        self._rows, self._values = row[order], value[order]
        self._starts = np.searchsorted(term[order], np.arange(terms + 1)).tolist()
        self._size = rows

    def score(self, weighted: list[tuple[int, float]]) -> Any:
        """The weighted sum of the rows' values over these terms."""
        import numpy as np

        if not weighted:
            return np.zeros(self._size)
        rows = [self._rows[self._starts[term] : self._starts[term + 1]] for term, _ in weighted]
        values = [
            self._values[self._starts[term] : self._starts[term + 1]] * weight for term, weight in weighted
        ]
        return np.bincount(np.concatenate(rows), weights=np.concatenate(values), minlength=self._size)
