"""Ids of calls: made unique inside a conversation, rewritten to an endpoint's rule, and paired with their results.

Identity inside Agent-Reach is the unique id; what the model wrote is kept beside it. It knows no transport.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

OPENAI_RULE = r"^[a-zA-Z0-9_-]{1,40}$"


def unique_id(emitted: str, used: set[str]) -> str:
    """An id that is not in `used`, and is then added: the emitted one, else `<emitted>~2`, else `call_<n>`."""
    base = emitted or "call_0"
    candidate = base
    number = 1
    while candidate in used:
        number += 1
        candidate = f"{emitted}~{number}" if emitted else f"call_{number - 1}"
    used.add(candidate)
    return candidate


def map_ids(ids: Iterable[str], rule: str = OPENAI_RULE) -> dict[str, str]:
    """Each id -> an id that fits the rule: deterministic, without collisions, conforming ids unchanged.

    Raises `ValueError` when no candidate shape fits the rule (`call_` + hex, hex, digits of 1 to 64 characters).
    """
    pattern = re.compile(rule)
    ordered = list(dict.fromkeys(ids))
    mapping = {identifier: identifier for identifier in ordered if pattern.fullmatch(identifier)}
    taken = set(mapping)
    for identifier in ordered:
        if identifier in mapping:
            continue
        new = _conforming(identifier, pattern, taken)
        mapping[identifier] = new
        taken.add(new)
    return mapping


def _conforming(identifier: str, pattern: re.Pattern[str], taken: set[str]) -> str:
    for salt in range(1000):
        material = identifier.encode("utf-8", "surrogatepass") + (
            b"" if salt == 0 else f"\x00{salt}".encode()
        )
        digest = hashlib.sha256(material).hexdigest()
        for candidate in _shapes(digest):
            if pattern.fullmatch(candidate):
                if candidate not in taken:
                    return candidate
                break
    raise ValueError(f"no id can be made that fits {pattern.pattern!r}")


def _shapes(digest: str) -> Iterable[str]:
    yield f"call_{digest[:24]}"
    yield digest[:32]
    for length in (24, 16, 12, 9, 8, 6, 4):
        yield digest[:length]
    digits = str(int(digest, 16))
    for length in (32, 16, 9, 8):
        yield digits[:length]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairing:
    """Which result belongs to which call, by their positions.

    `results` maps a call to its result, `ambiguous` a result to the calls that could own it; `unmatched` results belong to
    no open call.
    """

    results: Mapping[int, int] = field(default_factory=dict)
    ambiguous: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    unmatched: tuple[int, ...] = ()


def pair_results(calls: Sequence[tuple[str, str]], results: Sequence[tuple[str, str]]) -> Pairing:
    """Pair results with calls: by id first, equal ids in order, then by name where exactly one call is left.

    Both are pairs of (id, name), empty where there is none; a result without either fits any call. A result that several
    calls could own is ambiguous, never first come first served.
    """
    paired: dict[int, int] = {}
    unmatched: list[int] = []
    for position, (identifier, _) in enumerate(results):
        if not identifier:
            continue
        free = [index for index, call in enumerate(calls) if call[0] == identifier and index not in paired]
        if free:
            paired[free[0]] = position
        else:
            unmatched.append(position)
    ambiguous: dict[int, tuple[int, ...]] = {}
    left = [index for index in range(len(calls)) if index not in paired]
    for position, (identifier, name) in enumerate(results):
        if identifier:
            continue
        owners = tuple(index for index in left if not name or calls[index][1] == name)
        if len(owners) > 1:
            ambiguous[position] = owners
        elif owners and owners[0] not in paired:
            paired[owners[0]] = position
        else:
            unmatched.append(position)
    return Pairing(results=paired, ambiguous=ambiguous, unmatched=tuple(sorted(unmatched)))
