"""Stems of English words, so that `translating`, `translates` and `translated` meet.

A light suffix stripper after the idea of Porter's algorithm (An algorithm for suffix stripping, 1980): inflections and
the common derivations, never below a stem of three letters with a vowel. It knows no dictionary and no irregular
forms beyond a short list; two unrelated words may share a stem, and a stem is not meant to be read.
"""

from __future__ import annotations

import re
from functools import lru_cache

_VOWEL = re.compile(r"[aeiouy]")
_MEASURE = re.compile(r"[aeiouy]+[^aeiouy]+")
_KEPT = frozenset({"news", "series", "species", "bus", "gas", "lens", "atlas", "canvas", "address", "status",
                   "process", "access", "business", "this", "is", "was", "has", "as", "its", "us", "plus"})  # fmt: skip
_IRREGULAR = {
    "children": "child",
    "people": "person",
    "men": "man",
    "women": "woman",
    "mice": "mouse",
    "feet": "foot",
    "teeth": "tooth",
    "indices": "index",
    "vertices": "vertex",
    "matrices": "matrix",
    "criteria": "criterion",
    "analyses": "analys",
    "analysis": "analys",
    "bought": "buy",
    "sold": "sell",
    "sent": "send",
    "found": "find",
    "paid": "pay",
    "written": "write",
    "wrote": "write",
    "drawn": "draw",
    "dying": "die",
    "flew": "fly",
    "flown": "fly",
    "held": "hold",
    "made": "make",
    "ran": "run",
    "spoke": "speak",
    "spoken": "speak",
    "taught": "teach",
    "went": "go",
    "gone": "go",
    "won": "win",
}
# Longest first; each leaves the replacement behind when the stem before it is long enough.
_DERIVED = (
    ("izational", "iz", 2),
    ("ational", "at", 1),
    ("ization", "iz", 1),
    ("isation", "iz", 1),
    ("fulness", "", 1),
    ("ousness", "ous", 1),
    ("iveness", "iv", 1),
    ("ication", "ic", 1),
    ("ability", "abl", 1),
    ("ations", "at", 1),
    ("ation", "at", 1),
    ("ators", "at", 1),
    ("ator", "at", 1),
    ("ition", "it", 1),
    ("ction", "ct", 1),
    ("ption", "pt", 1),
    ("ssion", "ss", 1),
    ("ments", "", 2),
    ("ment", "", 2),
    ("ness", "", 1),
    ("able", "", 2),
    ("ible", "", 2),
    ("ical", "ic", 1),
    ("ally", "al", 1),
    ("ize", "iz", 1),
    ("ise", "is", 1),
    ("ive", "iv", 1),
    ("ful", "", 1),
    ("ers", "", 2),
    ("er", "", 2),
    ("or", "", 3),
    ("ly", "", 2),
    ("al", "", 2),
)


def _measure(stem: str) -> int:
    return len(_MEASURE.findall(stem))


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """The stem of a lower-case ASCII word; anything else comes back as it is."""
    if len(word) < 3 or not word.isascii() or not word.isalpha() or word in _KEPT:
        return word
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    word = _without_plural(word)
    word = _without_tense(word)
    if len(word) > 3 and word[-1] == "y" and word[-2] not in "aeiou":
        word = word[:-1] + "i"
    for suffix, replacement, least in _DERIVED:
        if word.endswith(suffix):
            rest = word[: -len(suffix)]
            if len(rest) >= 3 and _measure(rest + replacement) >= least:
                word = rest + replacement
            break
    if len(word) > 4 and word[-1] == "e":
        word = word[:-1]
    return word


def _without_plural(word: str) -> str:
    if word.endswith("sses"):
        return word[:-2]
    if word.endswith("ies"):
        return word[:-3] + "y" if len(word) > 4 else word[:-1]
    if word.endswith(("xes", "ches", "shes", "zes")) and len(word) > 4:
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > 3:
        return word[:-1]
    return word


def _without_tense(word: str) -> str:
    for suffix in ("ing", "ed"):
        if not word.endswith(suffix):
            continue
        rest = word[: -len(suffix)]
        if len(rest) < 3 or not _VOWEL.search(rest):
            return word
        if rest.endswith(("at", "bl", "iz")):
            return rest + "e"
        if rest[-1] == rest[-2] and rest[-1] not in "lsz":
            return rest[:-1]
        return rest
    return word
