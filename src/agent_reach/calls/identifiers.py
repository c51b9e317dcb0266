"""Ids of calls: made unique inside a conversation, rewritten to an endpoint's rule, and paired with their results.

Identity inside Agent-Reach is the unique id; what the model wrote is kept beside it. It knows no transport.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agent_reach.records.finding import Finding
from agent_reach.records.message import Message

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
    """Which result belongs to which call: `results` maps the position of a call to the position of its result."""

    results: Mapping[int, int] = field(default_factory=dict)
    ambiguous: tuple[int, ...] = ()
    unmatched: tuple[int, ...] = ()
    findings: tuple[Finding, ...] = ()


def pair_results(calls: Sequence[Mapping[str, Any]], results: Sequence[Mapping[str, Any]]) -> Pairing:
    """Pair results with calls: by id first, equal ids in order, then by name where exactly one call is left.

    A call has `id` and `name`, a result `id` (or `tool_call_id`) and `name`. A result that several calls could own is
    ambiguous: a finding, never first come first served.
    """
    paired: dict[int, int] = {}
    findings: list[Finding] = []
    waiting: list[int] = []
    for position, result in enumerate(results):
        identifier = str(result.get("id") or result.get("tool_call_id") or "")
        if not identifier:
            waiting.append(position)
            continue
        owners = [index for index, call in enumerate(calls) if str(call.get("id") or "") == identifier]
        free = [index for index in owners if index not in paired]
        if free:
            paired[free[0]] = position
            if len(owners) > 1 and free[0] == owners[0]:
                findings.append(_duplicate_id(identifier, len(owners)))
        else:
            findings.append(_unmatched(identifier))
    ambiguous, unmatched = _pair_by_name(calls, results, waiting, paired, findings)
    return Pairing(
        results=paired, ambiguous=tuple(ambiguous), unmatched=tuple(unmatched), findings=tuple(findings)
    )


def _pair_by_name(
    calls: Sequence[Mapping[str, Any]],
    results: Sequence[Mapping[str, Any]],
    waiting: Sequence[int],
    paired: dict[int, int],
    findings: list[Finding],
) -> tuple[list[int], list[int]]:
    ambiguous: list[int] = []
    unmatched: list[int] = []
    free_before = [index for index in range(len(calls)) if index not in paired]
    for position in waiting:
        name = str(results[position].get("name") or "")
        owners = [index for index in free_before if not name or calls[index].get("name") == name]
        if len(owners) == 1 and owners[0] not in paired:
            paired[owners[0]] = position
        elif len(owners) > 1:
            ambiguous.append(position)
            findings.append(_ambiguous(name, [str(calls[index].get("id") or index) for index in owners]))
        else:
            unmatched.append(position)
            findings.append(_unmatched(name))
    return ambiguous, unmatched


def _duplicate_id(identifier: str, count: int) -> Finding:
    return Finding(
        code="duplicate_call_id",
        severity="warning",
        subject=identifier,
        message=Message(
            f"{count} calls share the id {identifier!r}; their results were paired in order",
            f"{count} 个调用共用编号 {identifier!r}；结果按先后顺序配对",
        ),
    )


def _ambiguous(name: str, owners: Sequence[str]) -> Finding:
    return Finding(
        code="ambiguous_result",
        severity="error",
        subject=name,
        message=Message(
            f"a result of {name!r} without an id could belong to {', '.join(owners)}; it was given to none",
            f"{name!r} 的一个结果没有编号，可能属于 {'、'.join(owners)}；未作配对",
        ),
    )


def _unmatched(name: str) -> Finding:
    return Finding(
        code="unmatched_result",
        severity="warning",
        subject=name,
        message=Message(f"no open call for the result {name!r}", f"没有与结果 {name!r} 对应的调用"),
    )
