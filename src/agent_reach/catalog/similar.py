"""Tools that look alike, found by a fixed lexical measure through an index.

The measure does not depend on the rest of the catalog, so that a pair keeps its score when tools come and go; it has a
version, and every figure made with it names that. Candidates come from an index of words: two tools are compared when
they share a rare word of their names, parameters or descriptions; never all pairs.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent_reach.records.tool import Tool
from agent_reach.text.tokens import split_identifier, words

if TYPE_CHECKING:
    from agent_reach.catalog.catalog import Catalog

SIMILARITY_MEASURE = "agent-reach-lookalike-1"
SIMILARITY_THRESHOLD = 0.6
_WEIGHTS = (0.45, 0.35, 0.2)
_MAX_POSTINGS = 400
_STOP_WORDS = frozenset(
    [
        "a",
        "an",
        "and",
        "any",
        "are",
        "as",
        "at",
        "be",
        "by",
        "can",
        "for",
        "from",
        "given",
        "has",
        "have",
        "if",
        "in",
        "into",
        "is",
        "it",
        "its",
        "of",
        "on",
        "one",
        "only",
        "or",
        "other",
        "out",
        "that",
        "the",
        "their",
        "them",
        "then",
        "there",
        "these",
        "this",
        "to",
        "use",
        "used",
        "uses",
        "using",
        "via",
        "was",
        "when",
        "where",
        "which",
        "will",
        "with",
        "within",
        "you",
        "your",
        "this",
        "tool",
        "function",
        "returns",
        "return",
        "api",
        "not",
        "do",
        "does",
        "e.g",
        "i.e",
    ]
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SimilarPair:
    """Two look-alikes (`first` < `second` by key): score 0..1 and its parts, the shared and the separating words."""

    first: str
    second: str
    score: float
    name_score: float
    description_score: float
    parameter_score: float
    shared_words: tuple[str, ...] = ()
    first_only: tuple[str, ...] = ()
    second_only: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Features:
    key: str
    name: frozenset[str]
    text: Counter[str]
    norm: float
    parameters: frozenset[str]


def similar_pairs(
    source: Catalog | Iterable[Tool], *, threshold: float = SIMILARITY_THRESHOLD, limit: int | None = None
) -> tuple[SimilarPair, ...]:
    """The pairs of tools whose score reaches the threshold, most alike first.

    Score = 0.45 names + 0.35 descriptions + 0.2 parameters: Dice coefficient of the names' words, cosine of the
    descriptions' word counts (logarithmic, stop words left out; bigrams for Chinese), Dice coefficient of the parameters'
    names; a side that both tools lack gives its weight to the others. English word endings are folded. Words that more
    than 400 tools share open no comparison by themselves.
    """
    features = [_features(tool) for tool in source]
    found = [
        pair
        for first, second in sorted(_candidates(features))
        if (pair := _compare(features[first], features[second], threshold)) is not None
    ]
    found.sort(key=lambda pair: (-pair.score, pair.first, pair.second))
    return tuple(found if limit is None else found[:limit])


def similarity(first: Tool, second: Tool) -> float:
    """The score of one pair, 0..1."""
    pair = _compare(_features(first), _features(second), -1.0)
    return pair.score if pair is not None else 0.0


def _stem(word: str) -> str:
    """The word without a plural or verb ending, where enough of it stays."""
    if not word.isascii() or len(word) < 5:
        return (
            word[:-1]
            if word.isascii() and len(word) == 4 and word.endswith("s") and word[-2] != "s"
            else word
        )
    for ending, replacement in (
        ("ies", "y"),
        ("sses", "ss"),
        ("ing", ""),
        ("ed", ""),
        ("es", "e"),
        ("s", ""),
    ):
        if word.endswith(ending) and not word.endswith("ss"):
            return word[: -len(ending)] + replacement
    return word


def _features(tool: Tool) -> _Features:
    name = frozenset(_stem(word) for word in _name_words(tool.name))
    text: Counter[str] = Counter(
        _stem(word)
        for word in words(tool.description[:4000])
        if word not in _STOP_WORDS and not word.isdigit()
    )
    norm = math.sqrt(sum((1 + math.log(count)) ** 2 for count in text.values()))
    parameters = frozenset("_".join(split_identifier(name)) for name in tool.parameters)
    return _Features(tool.key, name, text, norm, parameters)


def _name_words(name: str) -> list[str]:
    if name.isascii():
        return split_identifier(name)
    return words(name)


def _candidates(features: list[_Features]) -> set[tuple[int, int]]:
    postings: dict[str, list[int]] = defaultdict(list)
    for index, item in enumerate(features):
        for word in item.name:
            postings["n:" + word].append(index)
        rare = sorted(item.text, key=lambda word: (-len(word), word))[:12]
        for word in rare:
            postings["t:" + word].append(index)
    shared: Counter[tuple[int, int]] = Counter()
    for token, posting in postings.items():
        if len(posting) > _MAX_POSTINGS:
            continue
        weight = 2 if token.startswith("n:") else 1
        for position, first in enumerate(posting):
            for second in posting[position + 1 :]:
                shared[(first, second)] += weight
    return {pair for pair, count in shared.items() if count >= 2}


def _dice(first: frozenset[str], second: frozenset[str]) -> float | None:
    total = len(first) + len(second)
    return 2 * len(first & second) / total if total else None


def _cosine(first: _Features, second: _Features) -> float | None:
    if not first.text and not second.text:
        return None
    if not first.text or not second.text:
        return 0.0
    small, large = sorted((first.text, second.text), key=len)
    dot = sum((1 + math.log(small[word])) * (1 + math.log(large[word])) for word in small if word in large)
    return dot / (first.norm * second.norm)


def _compare(first: _Features, second: _Features, threshold: float) -> SimilarPair | None:
    if second.key < first.key:
        first, second = second, first
    parts = (
        _dice(first.name, second.name),
        _cosine(first, second),
        _dice(first.parameters, second.parameters),
    )
    weight = sum(share for share, part in zip(_WEIGHTS, parts, strict=True) if part is not None)
    total = sum(share * part for share, part in zip(_WEIGHTS, parts, strict=True) if part is not None)
    score = total / weight if weight else 0.0
    if score < threshold:
        return None
    own_first = first.name | set(first.text)
    own_second = second.name | set(second.text)
    return SimilarPair(
        first=first.key,
        second=second.key,
        score=round(score, 4),
        name_score=round(parts[0] or 0.0, 4),
        description_score=round(parts[1] or 0.0, 4),
        parameter_score=round(parts[2] or 0.0, 4),
        shared_words=tuple(sorted(own_first & own_second)[:20]),
        first_only=tuple(sorted(own_first - own_second)[:20]),
        second_only=tuple(sorted(own_second - own_first)[:20]),
    )
