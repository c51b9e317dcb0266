"""Reads names: the words of a field, the thing and attribute it speaks of, the verb and the result of a tool name."""

from __future__ import annotations

from functools import lru_cache

from agent_reach.graph.words.chinese import chinese_words
from agent_reach.graph.words.fields import GENERIC, SUFFIXES
from agent_reach.graph.words.fillers import LIGHT_TAILS, OWNERS, PREPOSITIONS, QUALIFIERS
from agent_reach.graph.words.forms import ABBREVIATIONS, singular
from agent_reach.graph.words.verbs import ACTIONS, METHOD_VERBS, METHODS, PAIRED, VERBS
from agent_reach.text.tokens import split_identifier


@lru_cache(maxsize=65536)
def name_words(name: str) -> tuple[str, ...]:
    """The singular words of a field or tool name, abbreviations written out, joined words split, digits cut.

    `userIds` -> user, id; `cityA` -> city; `file_name2` -> file, name; `订单编号` -> order, id.
    """
    found: list[str] = []
    for word in split_identifier(name):
        if not word.isascii():
            found.extend(chinese_words(word))
            continue
        if word.isdigit():
            continue
        word = singular(word)
        for part in ABBREVIATIONS.get(word, word).split("_"):
            found.append(part)
    if len(found) > 1 and len(found[-1]) == 1 and found[-1].isalpha():
        found.pop()
    return tuple(found)


@lru_cache(maxsize=65536)
def entity_and_attribute(words: tuple[str, ...]) -> tuple[tuple[str, ...], str]:
    """The thing a name speaks of and what of it: (order, id) for `order_id`; ('', ...) where it names no thing."""
    if words and words[-1] in SUFFIXES:
        return words[:-1], SUFFIXES[words[-1]]
    return words, ""


@lru_cache(maxsize=65536)
def tool_noun(name: str) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """(verbs, words of the result, words after the preposition) of a tool name.

    `find_user_id_by_email` -> (find), (user, id), (email); `get_order_details` -> (get), (order), ().
    """
    words = [ABBREVIATIONS.get(word, word) if len(word) < 4 else word for word in split_identifier(name)]
    raw = [part for word in words for part in ABBREVIATIONS.get(word, word).split("_") if not part.isdigit()]
    verbs: list[str] = []
    while raw and raw[0] in VERBS and (len(raw) > 1 or not verbs):
        verbs.append(raw.pop(0))
        paired = bool(raw) and verbs[0] in PAIRED and raw[0] in PAIRED
        by_method = len(raw) > 1 and verbs[0] in METHODS and raw[0] in METHOD_VERBS
        if len(verbs) == 2 or not (paired or by_method):
            break
    if not verbs:
        middle = next((index for index, word in enumerate(raw) if word in VERBS and index), None)
        if middle is not None and raw[middle] in ACTIONS:
            verbs = [raw[middle]]
            if middle + 1 < len(raw) and raw[middle + 1] not in PREPOSITIONS:
                raw = raw[middle + 1 :]
    cut = next((index for index, word in enumerate(raw) if word in PREPOSITIONS and index), None)
    head = raw if cut is None else raw[:cut]
    tail = [] if cut is None else [word for word in raw[cut + 1 :] if word not in PREPOSITIONS]
    kept = [word for word in head if word not in QUALIFIERS]
    if not kept or all(singular(word) in GENERIC for word in kept):
        kept = [word for word in head if word not in QUALIFIERS or word in OWNERS] or head
    while len(kept) > 1 and kept[-1] in LIGHT_TAILS:
        kept.pop()
    return tuple(verbs), tuple(singular(word) for word in kept), tuple(singular(word) for word in tail)
