"""What one call may take: time, a place among parallel calls, and bytes of its result.

A result over the cap is cut so that it stays readable JSON: long lists are shortened, then long texts, and a last line
says what was left out, how large the whole is, and where it is kept. Retries and back-off are not decided here.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from agent_reach.backends.base import Backend, failure, value_text
from agent_reach.records.finding import Finding
from agent_reach.records.message import Message
from agent_reach.records.tool import Tool
from agent_reach.records.trace import CallOutcome

Keep = Callable[[str, CallOutcome], str]
"""Keeps a whole result (given its call id) and returns how it is referred to."""

_SLACK = 1.0
"""Seconds that a backend gets, beyond twice the limit, to report its own time-out: a server may have to start first."""
_KEPT_RESULTS = 32


class LimitsBackend:
    """Wraps `inner` with limits; each None is no limit.

    `timeout` is the longest limit of one call in seconds; `concurrency` the number of parallel calls per server;
    `max_bytes` the size of a result's text in UTF-8. The whole of a cut result is kept by `keep`, by default here in
    memory (the last 32, see `full_result`).
    """

    def __init__(
        self,
        inner: Backend,
        *,
        timeout: float | None = None,
        concurrency: int | None = None,
        max_bytes: int | None = None,
        keep: Keep | None = None,
    ) -> None:
        self._inner = inner
        self._timeout = timeout
        self._concurrency = concurrency
        self._max_bytes = max_bytes
        self._keep = keep or self._remember
        self._gates: dict[str, asyncio.Semaphore] = {}
        self._full: OrderedDict[str, CallOutcome] = OrderedDict()

    async def call(
        self, tool: Tool, arguments: Mapping[str, Any], *, call_id: str = "", timeout: float | None = None
    ) -> CallOutcome:
        """Execute within the limits."""
        limits = [limit for limit in (timeout, self._timeout) if limit is not None]
        limit = min(limits) if limits else None
        if self._concurrency is None:
            outcome = await self._timed(tool, arguments, call_id, limit)
        else:
            gate = self._gates.setdefault(tool.server, asyncio.Semaphore(self._concurrency))
            async with gate:
                outcome = await self._timed(tool, arguments, call_id, limit)
        if self._max_bytes is None:
            return outcome
        return self._capped(outcome, self._max_bytes, call_id)

    async def aclose(self) -> None:
        """Close what is inside."""
        await self._inner.aclose()

    def full_result(self, reference: str) -> CallOutcome | None:
        """The whole of a result that was cut, by the reference in its note."""
        return self._full.get(reference)

    async def _timed(
        self, tool: Tool, arguments: Mapping[str, Any], call_id: str, limit: float | None
    ) -> CallOutcome:
        if limit is None:
            return await self._inner.call(tool, arguments, call_id=call_id)
        started = time.perf_counter()
        try:
            async with asyncio.timeout(2 * limit + _SLACK):
                return await self._inner.call(tool, arguments, call_id=call_id, timeout=limit)
        except TimeoutError:
            elapsed = time.perf_counter() - started
            message = f"{tool.key} gave no answer within {limit:g} s ({elapsed:.1f} s elapsed)"
            return failure("timeout", message, tool=tool, latency_ms=elapsed * 1000)

    def _capped(self, outcome: CallOutcome, max_bytes: int, call_id: str) -> CallOutcome:
        size = len(outcome.text.encode("utf-8", "surrogatepass"))
        if size <= max_bytes:
            return outcome
        reference = self._keep(call_id, outcome)
        cut = cut_result(outcome.value, outcome.text, max_bytes, reference=reference)
        return replace(
            outcome,
            value=cut.value,
            text=cut.text,
            truncated=True,
            findings=(*outcome.findings, _cut_finding(size, max_bytes)),
            metadata={
                **outcome.metadata,
                "original_bytes": size,
                "full_result": reference,
                "cut": list(cut.places),
            },
        )

    def _remember(self, call_id: str, outcome: CallOutcome) -> str:
        digest = hashlib.sha256(outcome.text.encode("utf-8", "surrogatepass")).hexdigest()[:12]
        reference = f"result-{call_id or digest}"
        self._full[reference] = outcome
        while len(self._full) > _KEPT_RESULTS:
            self._full.popitem(last=False)
        return reference


@dataclass(frozen=True, slots=True, kw_only=True)
class CutResult:
    """A result cut to size: `places` says what is missing where."""

    value: Any
    text: str
    places: tuple[str, ...] = ()


def cut_result(value: Any, text: str, max_bytes: int, *, reference: str = "") -> CutResult:
    """The result in at most `max_bytes` bytes of text: JSON with shorter lists and texts, or the head of a plain text.

    The first line (or lines) of the text stay valid JSON where `value` is a list or mapping; the note comes after them.
    """
    size = len(text.encode("utf-8", "surrogatepass"))
    if isinstance(value, (list, Mapping)):
        found = _shrink(value, size, max_bytes, reference)
        if found is not None:
            return found
    note = _note(size, (), reference)
    room = max_bytes - len(note.encode()) - 1
    if room <= 0:
        head = _head(note, max_bytes)
        return CutResult(value=head, text=head)
    head = _head(value_text(text), room)
    return CutResult(value=head, text=f"{head}\n{note}")


def _shrink(value: Any, size: int, max_bytes: int, reference: str) -> CutResult | None:
    """The longest lists that fit, with texts as long as possible; None where not even one entry each fits."""

    def attempt(entries: int, characters: int) -> CutResult | None:
        places: list[str] = []
        small = _pruned(value, entries, characters, "", places, 0)
        text = f"{value_text(small)}\n{_note(size, tuple(places), reference)}"
        if len(text.encode("utf-8", "surrogatepass")) > max_bytes:
            return None
        return CutResult(value=small, text=text, places=tuple(places))

    for characters in (1_000_000_000, 4000, 1000, 200, 40):
        best = attempt(1, characters)
        if best is None:
            continue
        low, high = 1, max(2, _longest(value))
        while low < high:
            middle = (low + high + 1) // 2
            found = attempt(middle, characters)
            if found is None:
                high = middle - 1
            else:
                best, low = found, middle
        return best
    return None


def _pruned(value: Any, entries: int, characters: int, pointer: str, places: list[str], depth: int) -> Any:
    if isinstance(value, str):
        if len(value) <= characters:
            return value
        places.append(f"{pointer or '/'}: {characters} of {len(value)} characters")
        return value[:characters] + "…"
    if depth > 60 or not isinstance(value, (list, Mapping)):
        return value
    if isinstance(value, list):
        if len(value) > entries:
            places.append(f"{pointer or '/'}: {entries} of {len(value)} items")
        return [
            _pruned(item, entries, characters, f"{pointer}/{index}", places, depth + 1)
            for index, item in enumerate(value[:entries])
        ]
    keep = max(entries, 20)
    if len(value) > keep:
        places.append(f"{pointer or '/'}: {keep} of {len(value)} keys")
    return {
        key: _pruned(item, entries, characters, f"{pointer}/{key}", places, depth + 1)
        for key, item in list(value.items())[:keep]
    }


def _longest(value: Any, depth: int = 0) -> int:
    if depth > 60:
        return 0
    if isinstance(value, list):
        return max([len(value), *(_longest(item, depth + 1) for item in value)])
    if isinstance(value, Mapping):
        return max([len(value), *(_longest(item, depth + 1) for item in value.values())])
    return 0


def _note(size: int, places: tuple[str, ...], reference: str) -> str:
    shown = "; ".join(places[:3]) + (f"; and {len(places) - 3} more places" if len(places) > 3 else "")
    parts = [f"cut: the whole result has {size:,} bytes"]
    if shown:
        parts.append(f"shown are {shown}")
    parts.append("ask for less: filter, page or name fields")
    if reference:
        parts.append(f"kept in full as {reference}")
    return "[" + "; ".join(parts) + "]"


def _head(text: str, room: int) -> str:
    """The head of a text in so many bytes, at a line's end where one is near."""
    head = text.encode("utf-8", "replace")[:room].decode("utf-8", "ignore")
    end = head.rfind("\n")
    return head[:end] if end > len(head) * 0.8 else head


def _cut_finding(size: int, max_bytes: int) -> Finding:
    return Finding(
        code="result_cut",
        severity="info",
        message=Message(
            f"the result of {size:,} bytes was cut to {max_bytes:,}",
            f"{size:,} 字节的结果被裁剪到 {max_bytes:,} 字节",
        ),
        data={"original_bytes": size, "max_bytes": max_bytes},
    )
