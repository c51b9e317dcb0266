"""What the gateway remembers of a client between its requests: the last search, failing rounds, calls per minute.

Kept for the latest thousand clients. A client without a connection of its own (the current era over HTTP) is remembered by
its token and name.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

from agent_reach.gateway.caller import Caller
from agent_reach.gateway.settings import Limits
from agent_reach.records.trace import CandidateScore
from agent_reach.router.loop_guard import LoopGuard

_REMEMBERED = 1000


@dataclass(slots=True)
class ClientMemory:
    """One client: its last search (words, a name for it, what it found), the lists it was shown, the tools it has found."""

    guard: LoopGuard
    query: str = ""
    search: str = ""
    candidates: tuple[CandidateScore, ...] = ()
    listed: str = ""
    found: dict[str, None] = field(default_factory=dict)
    told_offer: str = ""


class Memory:
    """Memories of clients by key."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._clients: OrderedDict[str, ClientMemory] = OrderedDict()

    def of(self, caller: Caller) -> ClientMemory:
        """The memory of a client, made when it first comes."""
        key = caller.key
        known = self._clients.get(key)
        if known is None:
            known = self._clients[key] = ClientMemory(LoopGuard(self._limits.failing_rounds))
            if len(self._clients) > _REMEMBERED:
                self._clients.popitem(last=False)
        else:
            self._clients.move_to_end(key)
        return known

    def guard(self, caller: Caller) -> LoopGuard | None:
        """Counts identical failing rounds; None where they are free."""
        return self.of(caller).guard if self._limits.failing_rounds else None

    def __len__(self) -> int:
        return len(self._clients)


class RateLimits:
    """Calls per minute of each client, as a bucket that fills evenly."""

    def __init__(self, per_minute: int | None, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_minute = per_minute
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def refused(self, caller: Caller) -> float | None:
        """Seconds until the client may call again; None when it may now, which takes one call from its bucket."""
        limit = caller.rule.per_minute or self._per_minute
        if limit is None:
            return None
        key = caller.rule.name if caller.rule.token or caller.rule.name else caller.key
        now = self._clock()
        left, then = self._buckets.pop(key, (float(limit), now))
        left = min(float(limit), left + (now - then) * limit / 60)
        allowed = left >= 1
        self._buckets[key] = (left - 1 if allowed else left, now)
        if len(self._buckets) > _REMEMBERED:
            self._buckets.popitem(last=False)
        return None if allowed else (1 - left) * 60 / limit
