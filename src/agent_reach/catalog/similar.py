"""Tools that look alike, found by a fixed lexical measure through an index.

The measure does not depend on the rest of the catalog, so that a pair keeps its score when tools come and go; it has a
version, and every figure made with it names that. Candidates come from an index: two tools are compared when they share
two words of their names, or one and a parameter; never all pairs.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent_reach.records.report import SimilarPair
from agent_reach.records.tool import Tool
from agent_reach.text.tokens import split_identifier, words

if TYPE_CHECKING:
    from agent_reach.catalog.catalog import Catalog

SIMILARITY_MEASURE = "agent-reach-lookalike-1"
SIMILARITY_THRESHOLD = 0.6
_NAME, _TEXT, _PARAMETERS = 0.45, 0.35, 0.2
_MAX_POSTINGS = 400
_MAX_KEY_PARTS = 24
_STOPPED = (
    "a an and any are as at be by can for from given has have if in into is it its of on one only or other out that the"
    " their them then there these this to use used uses using via was when where which will with within you your tool"
    " function returns return api not do does e g i"
)
_STOP_WORDS = frozenset(_STOPPED.split())


@dataclass(frozen=True, slots=True)
class _Features:
    key: str
    name: frozenset[str]
    text: Counter[str]
    norm: float
    parameters: frozenset[str]
    written: Mapping[str, str]
    """Stem -> the word as it stands in the tool, for showing."""


def similar_pairs(
    source: Catalog | Iterable[Tool], *, threshold: float = SIMILARITY_THRESHOLD, limit: int | None = None
) -> tuple[SimilarPair, ...]:
    """The pairs of tools whose score reaches the threshold, most alike first.

    Score = 0.45 names + 0.35 descriptions + 0.2 parameters: Dice coefficient of the names' words, cosine of the
    descriptions' word counts (logarithmic, stop words left out; bigrams for Chinese), Dice coefficient of the parameters'
    names; a side that both tools lack gives its weight to the others. English word endings are folded. Below a
    threshold of 0.56, pairs without a shared word in their names are not looked for; keys of the index that more than 400
    tools share open no comparison by themselves.
    """
    features = [_features(tool) for tool in source]
    found = [
        pair
        for first, second in _candidates(features)
        if (pair := _compare(features[first], features[second], threshold)) is not None
    ]
    found.sort(key=lambda pair: (-pair.score, pair.left, pair.right))
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
    named = _name_words(tool.name)
    told = [word for word in words(tool.description[:4000]) if word not in _STOP_WORDS and not word.isdigit()]
    written = {_stem(word): word for word in reversed([*named, *told])}
    name = frozenset(map(_stem, named))
    text: Counter[str] = Counter(map(_stem, told))
    norm = math.sqrt(sum((1 + math.log(count)) ** 2 for count in text.values()))
    parameters = frozenset("_".join(split_identifier(name)) for name in tool.parameters)
    return _Features(tool.key, name, text, norm, parameters, written)


def _name_words(name: str) -> list[str]:
    if name.isascii():
        return split_identifier(name)
    return words(name)


def _candidates(features: list[_Features]) -> Iterator[tuple[int, int]]:
    """Pairs that may reach the threshold, each once.

    A score of 0.6 cannot be had without a shared word in the names; and with no shared parameter either, the names must
    be so alike that they share two words (or all of a single one). So tools are filed under pairs of their name's words,
    and under a word with a parameter (or with "no parameters").
    """
    postings: dict[tuple[str, str], list[int]] = defaultdict(list)
    for index, item in enumerate(features):
        for key in _keys(item):
            postings[key].append(index)
    partners: dict[int, set[int]] = defaultdict(set)
    for posting in postings.values():
        if 1 < len(posting) <= _MAX_POSTINGS:
            for position, first in enumerate(posting):
                partners[first].update(posting[position + 1 :])
    for first, others in partners.items():
        for second in others:
            yield first, second


def _keys(item: _Features) -> Iterator[tuple[str, str]]:
    names = sorted(item.name)[:_MAX_KEY_PARTS]
    if len(names) <= 2:
        for word in names:
            yield "single", word
    for position, word in enumerate(names):
        for other in names[position + 1 :]:
            yield word, other
        for parameter in sorted(item.parameters)[:_MAX_KEY_PARTS] or [""]:
            yield word, "=" + parameter


def _cosine(first: _Features, second: _Features) -> float | None:
    if not first.text and not second.text:
        return None
    if not first.text or not second.text:
        return 0.0
    small, large = sorted((first.text, second.text), key=len)
    dot = sum((1 + math.log(small[word])) * (1 + math.log(large[word])) for word in small if word in large)
    return dot / (first.norm * second.norm)


def _compare(first: _Features, second: _Features, threshold: float) -> SimilarPair | None:
    # called for every candidate: a pair that not even equal descriptions would save is given up in two set operations
    name_count = len(first.name) + len(second.name)
    parameter_count = len(first.parameters) + len(second.parameters)
    names = 2 * len(first.name & second.name) / name_count if name_count else None
    parameters = 2 * len(first.parameters & second.parameters) / parameter_count if parameter_count else None
    share = _TEXT if first.text or second.text else 0.0
    weight = (_NAME if name_count else 0.0) + (_PARAMETERS if parameter_count else 0.0) + share
    total = _NAME * (names or 0.0) + _PARAMETERS * (parameters or 0.0)
    if not weight or total + share < threshold * weight - 1e-9:
        return None
    if second.key < first.key:
        first, second = second, first
    text = _cosine(first, second)
    score = min(1.0, (total + _TEXT * (text or 0.0)) / weight)
    if score < threshold:
        return None
    parts = (names, text, parameters)
    own_first = first.name | set(first.text)
    own_second = second.name | set(second.text)
    return SimilarPair(
        left=first.key,
        right=second.key,
        score=round(score, 4),
        name_score=round(parts[0] or 0.0, 4),
        description_score=round(parts[1] or 0.0, 4),
        parameter_score=round(parts[2] or 0.0, 4),
        shared_words=tuple(first.written[stem] for stem in sorted(own_first & own_second)[:20]),
        left_only=_separating(first, own_first - own_second),
        right_only=_separating(second, own_second - own_first),
    )


def _separating(one: _Features, stems: set[str] | frozenset[str]) -> tuple[str, ...]:
    """The words that only one of the two has, those of its name first."""
    ordered = sorted(stems, key=lambda stem: (stem not in one.name, stem))
    return tuple(one.written[stem] for stem in ordered[:20])
