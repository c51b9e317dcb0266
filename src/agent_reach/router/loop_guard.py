"""Stops a call that was made with the same arguments and gave the same result several times in one request.

The order of keys does not matter; a result that changes (polling) starts the count anew, and so does a pause longer than
the window: a request that lives for hours may ask the same again. Only digests are kept.
"""

from __future__ import annotations

import hashlib
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any

from agent_reach.records.codec import canonical_json
from agent_reach.records.trace import CallOutcome

_MAX_CALLS = 10_000


class LoopGuard:
    """Counts identical rounds of (tool, arguments, result)."""

    def __init__(
        self, limit: int, *, window: float = 600.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.limit, self.window, self.clock = limit, window, clock
        self._rounds: OrderedDict[str, tuple[str, int, float]] = OrderedDict()

    def rounds(self, tool: str, arguments: Mapping[str, Any]) -> int:
        """How often in a row this call gave the same result so far."""
        _, count, at = self._rounds.get(_digest(tool, arguments), ("", 0, 0.0))
        return count if self.clock() - at <= self.window else 0

    def blocks(self, tool: str, arguments: Mapping[str, Any]) -> bool:
        """Whether another round would be one too many."""
        return self.limit > 0 and self.rounds(tool, arguments) >= self.limit

    def record(self, tool: str, arguments: Mapping[str, Any], outcome: CallOutcome) -> int:
        """Count the result of a call; the number of identical rounds."""
        key = _digest(tool, arguments)
        result = _digest(outcome.status, [outcome.error_kind, outcome.value, outcome.text, outcome.message])
        known, count, at = self._rounds.pop(key, ("", 0, 0.0))
        fresh = self.clock() - at <= self.window
        count = count + 1 if known == result and fresh else 1
        self._rounds[key] = (result, count, self.clock())
        if len(self._rounds) > _MAX_CALLS:
            self._rounds.popitem(last=False)
        return count


def _digest(head: str, value: Any) -> str:
    try:
        text = canonical_json(value)
    except (TypeError, ValueError):
        text = repr(value)
    return hashlib.sha256(f"{head}\n{text}".encode("utf-8", "surrogatepass")).hexdigest()
