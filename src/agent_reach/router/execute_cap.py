"""Results too large for a model: cut so that JSON stays readable, with a note of what is missing; the whole is kept.

The cap comes before anything else looks at a result. Sizes are bytes of UTF-8.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from dataclasses import replace
from typing import Any

from agent_reach.records.trace import CallOutcome

_NOTE_ROOM = 400
_KEPT_RESULTS = 100


class ResultStore:
    """Complete results behind a handle, the latest hundred of them."""

    def __init__(self) -> None:
        self._results: OrderedDict[str, CallOutcome] = OrderedDict()
        self._count = 0

    def keep(self, outcome: CallOutcome) -> str:
        """A handle for the complete outcome."""
        self._count += 1
        handle = f"result-{self._count}"
        self._results[handle] = outcome
        if len(self._results) > _KEPT_RESULTS:
            self._results.popitem(last=False)
        return handle

    def get(self, handle: str) -> CallOutcome | None:
        """The complete outcome, None where it is no longer kept."""
        return self._results.get(handle)


def cap_result(outcome: CallOutcome, limit: int | None, store: ResultStore) -> CallOutcome:
    """The outcome with text and value within `limit` bytes; the same object where they are."""
    if limit is None:
        return outcome
    value_bytes = size_of(_dumped(outcome.value)) if outcome.value is not None else 0
    if size_of(outcome.text) <= limit and value_bytes <= limit:
        return outcome
    handle = store.keep(outcome)
    value = outcome.value if outcome.value is not None else _parsed(outcome.text)
    room = max(200, limit - _NOTE_ROOM)
    total = max(size_of(outcome.text), value_bytes)
    if isinstance(value, (list, dict)):
        kept, told = _cut_value(value, room)
        body = _dumped(kept)
    else:
        kept = cut_text(value if isinstance(value, str) else outcome.text, room)
        body, told = kept, f"first {size_of(kept)} bytes"
    note = (
        f"\n[cut: {told} of {total} bytes; the complete result is {handle}. "
        "Ask for less: a filter, a smaller range, a page or fewer fields.]"
    )
    keep_value = outcome.value is not None
    return replace(
        outcome,
        text=cut_text(body, max(0, limit - size_of(note))) + note,
        value=kept if keep_value else None,
        truncated=True,
        metadata={**outcome.metadata, "full_result": handle, "original_bytes": total},
    )


def size_of(text: str) -> int:
    """Bytes of the text in UTF-8."""
    return len(text.encode("utf-8", "surrogatepass"))


def cut_text(text: str, limit: int) -> str:
    """The beginning of the text within so many bytes, no character torn."""
    if size_of(text) <= limit:
        return text
    return text.encode("utf-8", "replace")[:limit].decode("utf-8", "ignore")


def _dumped(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _cut_value(value: Any, limit: int) -> tuple[Any, str]:
    """A JSON value within so many bytes and what was kept of it; long strings are shortened first, then lists."""
    if isinstance(value, list):
        kept: list[Any] = []
        used = 2
        for item in value:
            size = size_of(_dumped(item)) + 1
            if used + size > limit:
                break
            kept.append(item)
            used += size
        if not kept and value:
            kept = [_fit(value[0], max(50, limit - 2))]
        return kept, f"{len(kept)} of {len(value)} items"
    return _fit(value, limit), "shortened fields"


def _fit(value: Any, limit: int) -> Any:
    if size_of(_dumped(value)) <= limit:
        return value
    if isinstance(value, str):
        return cut_text(value, max(0, limit - 8)) + "…"
    if isinstance(value, list):
        return _cut_value(value, limit)[0]
    if isinstance(value, dict) and value:
        sizes = {key: size_of(_dumped(item)) for key, item in value.items()}
        overhead = sum(size_of(_dumped(key)) + 2 for key in value) + 2
        made: dict[Any, Any] = {}
        room, waiting = limit - overhead, len(value)
        for key, _ in sorted(sizes.items(), key=lambda pair: pair[1]):
            share = max(0, room // max(1, waiting))
            made[key] = _fit(value[key], share)
            room -= size_of(_dumped(made[key]))
            waiting -= 1
        ordered = {key: made[key] for key in value}
        if size_of(_dumped(ordered)) > limit and len(ordered) > 1:
            half = dict(list(ordered.items())[: len(ordered) // 2])
            return _fit(half, limit)
        return ordered
    return value
