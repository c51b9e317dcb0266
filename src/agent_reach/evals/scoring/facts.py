"""The facts of a text that can tell where a value came from: numbers, ids, dates, quoted strings, names.

Booleans, small whole numbers and plain words say nothing. Facts are folded (NFKC, lower case, numbers without thousands
marks, dates in ISO form), so that the same fact reads the same in a block, an argument and an answer.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from agent_reach.evals.scoring.dates import parse_date
from agent_reach.evals.scoring.values import parsed_text
from agent_reach.text.pointers import escape_pointer

_DATE = re.compile(
    r"\d{4}\s?年\s?\d{1,2}\s?月\s?\d{1,2}\s?[日号]|\d{4}[-/.]\d{1,2}[-/.]\d{1,2}(?!\d)"
    r"|[A-Z][a-z]{2,8}\.? \d{1,2}(?:st|nd|rd|th)?,? \d{4}|\d{1,2} [A-Z][a-z]{2,8} \d{4}"
)
_TOKEN = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9]|[_\-.:@/#,](?=[A-Za-z0-9]))*")
_NAME = re.compile(r"\b[A-Z][\w'-]+(?: [A-Z][\w'-]+)+")
_QUOTED = re.compile(r"[\"“「『《']([^\"”」』》'\n]{3,60})[\"”」』》']")
_NUMBER = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?\Z|\d+(?:\.\d+)?\Z")
_DIGIT = re.compile(r"[0-9]")
_HAN_RUN = re.compile(r"[\u3400-\u9fff]+")
_WORD = re.compile(r"[a-z0-9]+(?:['_-][a-z0-9]+)*")
_SHINGLE_WORDS = 4
_SHINGLE_HAN = 6


def folded(text: str) -> str:
    """NFKC and lower case."""
    return text.lower() if text.isascii() else unicodedata.normalize("NFKC", text).lower()


def number_fact(value: float) -> str:
    """A number as a fact: whole floats as whole numbers."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        value = int(value)
    return str(abs(value))


@lru_cache(maxsize=8192)
def token_fact(token: str) -> str | None:
    """The fact that a single token is: a number of three digits or more, an id or a mail address; else None."""
    digits = len(_DIGIT.findall(token))
    if not digits and token.islower() and token.isalpha():
        return None
    if _NUMBER.match(token):
        if digits < 3:
            return None
        plain = token.replace(",", "")
        return number_fact(float(plain)) if "." in plain else str(int(plain))
    if digits and len(token) >= 4 and any(character.isalpha() for character in token):
        return token.lower()
    if digits >= 4:
        return token.lower()
    if "@" in token or (len(token) >= 5 and any(mark in token for mark in "_#")):
        return token.lower()
    parts = token.split("-")
    if len(parts) > 1 and len(token) >= 5 and token.upper() == token:
        return token.lower()
    return None


@lru_cache(maxsize=4096)
def text_facts(text: str) -> frozenset[str]:
    """All facts of a text; where it is JSON, of its leaves (names of fields are no facts)."""
    value = parsed_text(text)
    if not isinstance(value, str):
        return frozenset(value_facts(value))
    return frozenset(_prose_facts(text if text.isascii() else unicodedata.normalize("NFKC", text)))


def value_facts(value: Any) -> set[str]:
    """All facts of a JSON value."""
    found: set[str] = set()
    for _, leaf in leaves(value):
        found |= leaf_facts(leaf)
    return found


def leaf_facts(leaf: Any) -> set[str]:
    """The facts of one leaf: of a long text those inside it, of a short string also the string itself."""
    if isinstance(leaf, bool) or leaf is None:
        return set()
    if isinstance(leaf, (int, float)):
        fact = number_fact(leaf)
        return {fact} if sum(character.isdigit() for character in fact) >= 3 else set()
    return set(_short_facts(leaf)) if isinstance(leaf, str) else set()


@lru_cache(maxsize=16384)
def _short_facts(leaf: str) -> frozenset[str]:
    text = leaf if leaf.isascii() else unicodedata.normalize("NFKC", leaf)
    found = set(_prose_facts(text))
    stripped = text.strip()
    if 3 <= len(stripped) <= 80 and not found and _is_distinctive(stripped):
        found.add(stripped.lower())
    return frozenset(found)


def _is_distinctive(text: str) -> bool:
    """A string that is no mere enum word: several words, a capital inside, or Han of four characters or more."""
    if " " in text or len(_HAN_RUN.sub("", text)) <= len(text) - 4:
        return True
    return any(character.isupper() for character in text[1:]) or any(
        character.isdigit() for character in text
    )


def _prose_facts(text: str) -> Iterator[str]:
    dates = []
    for found in _DATE.finditer(text):
        written = parse_date(found[0])
        if written is not None:
            dates.append(found.span())
            yield written.isoformat()
    for found in _TOKEN.finditer(text):
        if dates and any(start <= found.start() < end for start, end in dates):
            continue
        fact = token_fact(found[0])
        if fact is not None:
            yield fact
    for found in _NAME.finditer(text):
        yield found[0].lower()
    for found in _QUOTED.finditer(text):
        if _is_distinctive(found[1].strip()):
            yield found[1].strip().lower()


def leaves(value: Any, pointer: str = "") -> Iterator[tuple[str, Any]]:
    """JSON pointer and value of every leaf; empty containers have none."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from leaves(item, f"{pointer}/{escape_pointer(key)}")
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            yield from leaves(item, f"{pointer}/{index}")
    else:
        yield pointer, value


def spans(text: str) -> set[str]:
    """Every run of four words or six Han characters of a folded text: rare where no other block has it."""
    words = _WORD.findall(text)
    found = {" ".join(words[i : i + _SHINGLE_WORDS]) for i in range(len(words) - _SHINGLE_WORDS + 1)}
    for run in _HAN_RUN.findall(text):
        found.update(run[i : i + _SHINGLE_HAN] for i in range(len(run) - _SHINGLE_HAN + 1))
    return found


@lru_cache(maxsize=1024)
def text_spans(text: str) -> frozenset[str]:
    """The spans of a block, remembered because blocks repeat over attempts."""
    return frozenset(spans(folded(text)))


def contains(text: str, fact: str) -> bool:
    """A folded text holds a folded fact as a whole word or run (`12` is not in `123`)."""
    start = text.find(fact)
    while start >= 0:
        end = start + len(fact)
        before = text[start - 1] if start else " "
        after = text[end] if end < len(text) else " "
        if not (_joins(before) and _joins(fact[0])) and not (_joins(after) and _joins(fact[-1])):
            return True
        start = text.find(fact, start + 1)
    return False


def _joins(character: str) -> bool:
    return character.isascii() and (character.isalnum() or character == "_")
