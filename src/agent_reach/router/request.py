"""What a request asks for, in the terms of the index: weighted words, related groups, named kinds, separate needs."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from agent_reach.router.fingerprint import DATE_WORDS, kinds_in_text
from agent_reach.router.needs import split_needs
from agent_reach.text.concepts import concepts_of_run
from agent_reach.text.segmenting import WordBorders
from agent_reach.text.stopwords import TALK, is_frame_word, is_function_word
from agent_reach.text.tokens import is_cjk, run_terms, runs

MAX_CHARACTERS = 6000
_SPEAKER = re.compile(r"(?m)^(user|human|system|assistant|ai|tool):\s", re.IGNORECASE)


@dataclass(slots=True)
class Item:
    """One thing of a request that tools are matched with: its terms, groups of related words, weight and count.

    `share` is how much of the weight counts: less than 1 for a pair across a border of words, where a segmenter says so.
    """

    terms: tuple[str, ...]
    groups: tuple[str, ...] = ()
    weight: float = 1.0
    count: int = 1
    share: float = 1.0

    def strength(self, repeats: float) -> float:
        """The share of the weight, raised by repetition."""
        weight = self.weight * self.share
        return weight * (1.0 + repeats * math.log(self.count)) if self.count > 1 else weight


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """An analysed request: items by key, and the keys of each separate need (empty with fewer than two needs).

    `before` holds keys that stand only in what was said ahead of the first need.
    """

    text: str
    items: Mapping[str, Item]
    needs: tuple[tuple[str, ...], ...] = ()
    need_texts: tuple[str, ...] = ()
    before: frozenset[str] = frozenset()
    kinds: tuple[str, ...] = ()

    @property
    def has_subject(self) -> bool:
        """At least one word that is neither of the frame of a request nor a number or a date."""
        return any(item.weight >= 1 for item in self.items.values())

    @property
    def has_words(self) -> bool:
        """At least one word that is no function word."""
        return bool(self.items)


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestWeights:
    """How much frames ("can you provide"), numbers and sounding-alike joined words count beside plain words (1)."""

    frame: float = 0.3
    number: float = 0.5


@lru_cache(maxsize=65536)
def _run_item(run: str) -> tuple[tuple[str, ...], tuple[str, ...], str] | None:
    """Terms, groups and class (`word`, `frame`, `number`) of one run that is not Chinese; None for a function word."""
    low = run.lower()
    if is_function_word(low):
        return None
    if is_frame_word(low):
        return run_terms(run), (), "frame"
    if (
        low in DATE_WORDS
        or low[0].isdigit()
        or (len(low) > 6 and any(character.isdigit() for character in low))
    ):
        return run_terms(run), (), "number"
    return run_terms(run), concepts_of_run(run), "word"


def analyse_request(
    text: str, weights: RequestWeights | None = None, borders: WordBorders | None = None
) -> Request:
    """The request as items; only the user's lines of a transcript written as `user: ...` / `system: ...` count.

    `borders` (optional) tells which pairs of Chinese characters lie across a border of words and count less.
    """
    weights = weights or RequestWeights()
    text = user_words(text)[:MAX_CHARACTERS]
    needs, before = split_needs(text)
    items: dict[str, Item] = {}
    keys_before: set[str] = set()
    for part in before:
        keys_before.update(_add(items, part, weights, borders))
    need_keys = [_add(items, part, weights, borders) for part in needs]
    alone = runs(text) if not items and len(text) <= 40 else []
    if len(alone) == 1 and alone[0].lower() not in TALK:
        # one word alone is what is searched for, whatever kind of word it is
        items.update((term, Item((term,))) for term in run_terms(alone[0]))
    kept = [tuple(keys) for keys in need_keys if keys]
    need_texts = tuple(part for part, keys in zip(needs, need_keys, strict=True) if keys)
    for keys in kept:
        keys_before.difference_update(keys)
    return Request(
        text=text,
        items=items,
        needs=tuple(kept) if len(kept) > 1 else (),
        need_texts=need_texts if len(kept) > 1 else (),
        before=frozenset(keys_before) if kept else frozenset(),
        kinds=kinds_in_text(text),
    )


def user_words(text: str) -> str:
    """The user's lines of a transcript; the text itself when it is none."""
    if not _SPEAKER.search(text):
        return text
    pieces = _SPEAKER.split(text)
    said = [
        body.strip()
        for speaker, body in zip(pieces[1::2], pieces[2::2], strict=True)
        if speaker.lower() in ("user", "human")
    ]
    return "\n".join(part for part in (pieces[0].strip(), *said) if part) if said else text


def _add(
    items: dict[str, Item], text: str, weights: RequestWeights, borders: WordBorders | None
) -> list[str]:
    """Add the words of a part of the request; the keys they have, each once."""
    keys: dict[str, None] = {}
    for run in runs(text):
        if is_cjk(run):
            _add_chinese(items, keys, run, weights, borders)
            continue
        known = _run_item(run)
        if known is None:
            continue
        terms, groups, kind = known
        key = run.lower()
        item = items.get(key)
        if item is None:
            weight = weights.frame if kind == "frame" else weights.number if kind == "number" else 1.0
            items[key] = Item(terms, groups, weight)
        else:
            item.count += 1
        keys[key] = None
    return list(keys)


def _add_chinese(
    items: dict[str, Item],
    keys: dict[str, None],
    run: str,
    weights: RequestWeights,
    borders: WordBorders | None,
) -> None:
    """Each bigram of a Chinese run is an item, and so is each group of related words in it."""
    bigrams = run_terms(run)
    shares = borders.shares(run) if borders is not None else (1.0,) * len(bigrams)
    entries: list[tuple[tuple[str, ...], tuple[str, ...], str, float]]
    entries = [
        ((term,), (), term, share)
        for term, share in zip(bigrams, shares, strict=True)
        if not is_function_word(term)
    ]
    entries.extend(((), (group,), group, 1.0) for group in concepts_of_run(run))
    for terms, groups, key, share in entries:
        item = items.get(key)
        if item is None:
            weight = weights.frame if is_frame_word(key) else 1.0
            items[key] = Item(terms, groups, weight, share=share)
        else:
            item.count += 1
            item.share = max(item.share, share)
        keys[key] = None
