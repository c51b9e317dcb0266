"""Recall: from all tools to the few dozen that share words with a request, in well under a millisecond.

An inverted index with field weights (BM25F: Robertson, Zaragoza and Taylor, Simple BM25 extension to multiple weighted
fields, 2004). Everything that does not depend on the request is computed when the index is built. It reads words, not
meaning, beyond a small table of related words (`text.concepts`); where request and catalog share no words it finds
nothing and says so.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from agent_reach.records.tool import Tool
from agent_reach.router.fingerprint import kinds_of_tool
from agent_reach.router.recall_fields import FIELDS, field_texts
from agent_reach.router.request import Request
from agent_reach.text.concepts import concepts_of_run
from agent_reach.text.tokens import run_terms, runs

KEPT_GAINS = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallWeights:
    """The numbers of the measure; `fields` and `lengths` follow `FIELDS` (weight, and how far length counts)."""

    fields: tuple[float, ...] = (2.5, 2.0, 2.0, 1.2, 0.6, 0.4, 0.4, 0.5)
    lengths: tuple[float, ...] = (0.15, 0.5, 0.3, 0.55, 0.3, 0.8, 0.4, 0.45)
    saturation: float = 1.2
    name_coverage: float = 1.5
    related: float = 0.35
    repeats: float = 0.35
    before: float = 0.6
    kind: float = 0.25


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the words of a request say about the tool slots of an index.

    `total` (slots) is the sum of what each item of the request gives; `by_need` (needs x slots) the same of each separate
    need, None with fewer than two; `ideal` (items) what an item would give a tool whose only word it is (an unknown word
    is as rare as can be); `entries` are the gains one by one: item, slot, value; `support` is how sure (0..1) history or
    vectors are of their best tool, whatever the words say.
    """

    keys: tuple[str, ...]
    total: Any
    by_need: Any
    ideal: Any
    entries: tuple[Any, Any, Any]
    support: float = 0.0

    def at(self, slots: Any) -> Any:
        """The gains of some slots, item by item (items and kinds x slots); without what history and vectors added."""
        import numpy as np

        items, places, values = self.entries
        position = np.full(len(self.total), -1, dtype=np.int32)
        position[slots] = np.arange(len(slots), dtype=np.int32)
        column = position[places]
        kept = column >= 0
        table = np.zeros((len(self.keys), len(slots)), dtype=np.float32)
        table[items[kept], column[kept]] = values[kept]
        return table

    def coverage(self, slots: Any) -> Any:
        """The share of the request's weight that the words of each slot cover, between 0 and 1."""
        import numpy as np

        count = len(self.ideal)
        whole = float(self.ideal.sum()) or 1.0
        return np.minimum(self.at(slots)[:count], self.ideal[:, None]).sum(0) / whole


class LexicalIndex:
    """Tools by their words. Slots are numbered by tool key, so that no order of discovery can show through."""

    def __init__(self, tools: Iterable[Tool], weights: RecallWeights | None = None) -> None:
        self.weights = weights or RecallWeights()
        self.version = 0
        self._build(sorted(tools, key=lambda tool: tool.key))

    def __len__(self) -> int:
        return len(self.slot_of)

    @property
    def slots(self) -> int:
        """The number of slots, those of removed tools included."""
        return self._size + len(self._appended)

    def _build(self, tools: list[Tool]) -> None:
        self.tools: list[Tool] = tools
        self.slot_of = {tool.key: slot for slot, tool in enumerate(tools)}
        self.dead: list[int] = []
        self._known_gains: dict[tuple[tuple[str, ...], tuple[str, ...]], tuple[Any, Any, float]] = {}
        self._extra: dict[int, list[tuple[int, float]]] = {}
        self._appended: list[Tool] = []
        self._vocabulary: dict[str, int] = {}
        self._marks: set[int] = set()  # numbers of groups of related words and of kinds: no words of a name
        self._runs: dict[str, tuple[tuple[int, ...], int]] = {}
        occurrences = array("i")  # term numbers, tool by tool and field by field
        counts = array("i")  # how many of them each (tool, field) has
        lengths = array("i")  # words of each (tool, field); related groups do not count
        for tool in tools:
            self._collect(tool, occurrences, counts, lengths)
        self._postings(occurrences, counts, lengths, len(tools))
        self._runs = {}

    def _collect(self, tool: Tool, occurrences: array[int], counts: array[int], lengths: array[int]) -> None:
        known = self._runs
        for number, texts in enumerate(field_texts(tool)):
            before = len(occurrences)
            length = 0
            for text in texts:
                for run in runs(text):
                    entry = known.get(run)
                    if entry is None:
                        entry = known[run] = self._number_run(run)
                    occurrences.extend(entry[0])
                    length += entry[1]
            if number == len(FIELDS) - 1:
                occurrences.extend(self._term(f"@{kind}") for kind in sorted(kinds_of_tool(tool)))
            counts.append(len(occurrences) - before)
            lengths.append(length)

    def _number_run(self, run: str) -> tuple[tuple[int, ...], int]:
        terms = run_terms(run)
        return tuple(self._term(term) for term in (*terms, *concepts_of_run(run))), len(terms)

    def _term(self, term: str) -> int:
        number = self._vocabulary.get(term)
        if number is None:
            number = self._vocabulary[term] = len(self._vocabulary)
            if term[0] in "#@":
                self._marks.add(number)
        return number

    def _postings(self, occurrences: array[int], counts: array[int], lengths: array[int], size: int) -> None:
        """Impact of every (term, tool) pair: saturated weighted frequency and share of the name, times rarity."""
        import numpy as np

        fields = len(FIELDS)
        vocabulary = len(self._vocabulary)
        length = (
            np.frombuffer(lengths, dtype=np.int32).reshape(-1, fields).astype(np.float64)
            if size
            else np.zeros((0, fields))
        )
        used = np.maximum(1, (length > 0).sum(0))
        self._average = np.maximum(1.0, length.sum(0) / used)
        slope = np.array(self.weights.lengths)
        stretch = np.maximum(0.1, 1 - slope + slope * length / self._average)
        gain = np.array(self.weights.fields) / stretch
        count = np.frombuffer(counts, dtype=np.int32) if size else np.zeros(0, dtype=np.int32)
        place = np.repeat(np.arange(size * fields, dtype=np.int64), count)
        term = (
            np.frombuffer(occurrences, dtype=np.int32).astype(np.int64)
            if len(occurrences)
            else np.zeros(0, np.int64)
        )
        key, inverse = np.unique(term * max(1, size) + place // fields, return_inverse=True)
        frequency = np.bincount(inverse, weights=gain.ravel()[place], minlength=len(key))
        in_name = np.bincount(inverse, weights=(place % fields == 0), minlength=len(key)) > 0
        terms = key // max(1, size)
        self._slots = (key % max(1, size)).astype(np.int32)
        documents = np.bincount(terms, minlength=vocabulary)
        self._rarity = np.log1p((size - documents + 0.5) / (documents + 0.5))
        plain = np.ones(vocabulary, dtype=bool)
        plain[list(self._marks)] = False
        named = (in_name & plain[terms]) * self._rarity[terms]
        whole = np.bincount(self._slots, weights=named, minlength=size)
        self._size = size
        self._unseen = math.log1p((size + 0.5) / 0.5)
        impact = frequency / (frequency + self.weights.saturation) * self._rarity[terms]
        impact += self.weights.name_coverage * named / np.maximum(whole[self._slots], 1e-9)
        self._impact = impact.astype(np.float32)
        self._starts = np.searchsorted(terms, np.arange(vocabulary + 1)).tolist()

    def score(self, request: Request) -> Evidence:
        """What the words of the request say about every slot (arrays in slot order; removed tools have 0)."""
        import numpy as np

        weights = self.weights
        gains = [self._gains(item.terms, item.groups) for item in request.items.values()]
        strengths = [
            item.strength(weights.repeats) * (weights.before if key in request.before else 1.0)
            for key, item in request.items.items()
        ]
        ideal = np.array([gain[2] for gain in gains], dtype=np.float32) * np.array(
            strengths, dtype=np.float32
        )
        gains.extend(self._gains((f"@{kind}",), ()) for kind in request.kinds)
        strengths.extend(weights.kind for _ in request.kinds)
        keys = (*request.items, *(f"@{kind}" for kind in request.kinds))
        if not gains:
            empty = np.zeros(0, dtype=np.int64)
            return Evidence((), np.zeros(self.slots), None, ideal, (empty, empty, np.zeros(0)))
        sizes = [len(gain[0]) for gain in gains]
        places = np.concatenate([gain[0] for gain in gains])
        values = np.concatenate([gain[1] for gain in gains]) * np.repeat(
            np.array(strengths, np.float32), sizes
        )
        items = np.repeat(np.arange(len(gains)), sizes)
        total = np.bincount(places, weights=values, minlength=self.slots)
        by_need = self._by_need(request, places, values, sizes)
        if self.dead:
            total[self.dead] = 0
            if by_need is not None:
                by_need[:, self.dead] = 0
        return Evidence(keys, total, by_need, ideal, (items, places, values))

    def _by_need(self, request: Request, places: Any, values: Any, sizes: list[int]) -> Any:
        import numpy as np

        if not request.needs:
            return None
        row_of = {key: row for row, key in enumerate(request.items)}
        ends = np.cumsum(sizes).tolist()
        table = np.zeros((len(request.needs), self.slots))
        for number, need in enumerate(request.needs):
            spans = [slice(ends[row] - sizes[row], ends[row]) for row in (row_of[key] for key in need)]
            table[number] = np.bincount(
                np.concatenate([places[span] for span in spans]),
                weights=np.concatenate([values[span] for span in spans]),
                minlength=self.slots,
            )
        return table

    def _gains(self, terms: tuple[str, ...], groups: tuple[str, ...]) -> tuple[Any, Any, float]:
        """Slots, what an item of weight 1 gives each of them, and the greatest rarity of its terms; the last few thousand
        are kept, because requests share words.

        A related word counts only where the word itself is absent or says less.
        """
        known = self._known_gains.get((terms, groups))
        if known is None:
            if len(self._known_gains) >= KEPT_GAINS:
                self._known_gains.clear()
            known = self._known_gains[(terms, groups)] = self._make_gains(terms, groups)
        return known

    def _make_gains(self, terms: tuple[str, ...], groups: tuple[str, ...]) -> tuple[Any, Any, float]:
        import numpy as np

        rarest = 0.0
        found: list[tuple[Any, Any]] = []
        for term in terms:
            number = self._vocabulary.get(term)
            rarest = max(rarest, self._unseen if number is None else self.rarity(number))
            if number is not None:
                found.append(self._posting(number))
        numbers = [self._vocabulary[group] for group in groups if group in self._vocabulary]
        related = [self._posting(number) for number in numbers]
        if not terms:
            rarest = self.weights.related * max(map(self.rarity, numbers), default=0.0)
        if len(found) == 1 and not related:
            return (*found[0], rarest)
        if not found and not related:
            return np.zeros(0, np.int32), np.zeros(0, np.float32), rarest
        row = np.zeros(self.slots, dtype=np.float32)
        for slots, impact in found:
            row[slots] += impact
        for slots, impact in related:
            row[slots] = np.maximum(row[slots], impact * np.float32(self.weights.related))
        slots = np.flatnonzero(row).astype(np.int32)
        return slots, row[slots], rarest

    def _posting(self, number: int) -> tuple[Any, Any]:
        """Slots and impacts of a term, changes since the last build included."""
        import numpy as np

        if number + 1 < len(self._starts):
            start, stop = self._starts[number], self._starts[number + 1]
            slots, impact = self._slots[start:stop], self._impact[start:stop]
        else:
            slots, impact = self._slots[:0], self._impact[:0]
        extra = self._extra.get(number)
        if extra is None:
            return slots, impact
        return (
            np.concatenate([slots, np.array([slot for slot, _ in extra], dtype=np.int32)]),
            np.concatenate([impact, np.array([value for _, value in extra], dtype=np.float32)]),
        )

    def rarity(self, number: int) -> float:
        """The inverse document frequency of a term number, as of the last build."""
        return float(self._rarity[number]) if number < len(self._rarity) else self._unseen

    def update(self, tool: Tool) -> None:
        """Replace the tool of that key, or add it; costs what one tool weighs, not what the index weighs.

        Rarity and average lengths stay those of the last build until a quarter of the index has changed.
        """
        self.remove(tool.key)
        self.version += 1
        self._known_gains.clear()
        if len(self._appended) >= max(64, self._size // 4):
            self._build(sorted([*self.live_tools(), tool], key=lambda one: one.key))
            return
        slot = self._size + len(self._appended)
        self._appended.append(tool)
        self.slot_of[tool.key] = slot
        self.tools.append(tool)
        occurrences, counts, lengths = array("i"), array("i"), array("i")
        self._collect(tool, occurrences, counts, lengths)
        self._runs = {}
        for number, value in self._impacts_of(occurrences, counts, lengths).items():
            self._extra.setdefault(number, []).append((slot, value))

    def remove(self, key: str) -> None:
        """Take a tool out; nothing happens when there is none of that key."""
        slot = self.slot_of.pop(key, None)
        if slot is not None:
            self.dead.append(slot)
            self.version += 1

    def live_tools(self) -> list[Tool]:
        """The tools that are searched, in slot order."""
        return [self.tools[slot] for slot in sorted(self.slot_of.values())]

    def _impacts_of(
        self, occurrences: array[int], counts: array[int], lengths: array[int]
    ) -> dict[int, float]:
        stretch = [
            max(0.1, 1 - slope + slope * length / average)
            for slope, length, average in zip(
                self.weights.lengths, lengths, self._average.tolist(), strict=True
            )
        ]
        frequency: dict[int, float] = {}
        in_name: set[int] = set()
        position = 0
        for number, count in enumerate(counts):
            gain = self.weights.fields[number] / stretch[number]
            for term in occurrences[position : position + count]:
                frequency[term] = frequency.get(term, 0.0) + gain
                if number == 0:
                    in_name.add(term)
            position += count
        named = {term: self.rarity(term) for term in in_name if term not in self._marks}
        whole = sum(named.values()) or 1.0
        coverage = self.weights.name_coverage
        return {
            term: value / (value + self.weights.saturation) * self.rarity(term)
            + coverage * named.get(term, 0.0) / whole
            for term, value in frequency.items()
        }
