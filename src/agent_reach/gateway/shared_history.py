"""Past requests that worked, of this gateway and of every other that writes into the same store.

Read in a thread of its own, when the first search comes and then at intervals, so that no client waits for it. A call of a
client teaches only what its last search had found: what else it calls afterwards says nothing about those words. What is
older than the latest `LIMIT` requests is not read.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from agent_reach.gateway.recording import SOURCE
from agent_reach.records.trace import Trace
from agent_reach.router.history import History, PastRequest
from agent_reach.traces.store.base import TraceFilter

if TYPE_CHECKING:
    from agent_reach.traces.store.base import TraceStore

LIMIT = 20_000
FIRST_WAIT = 5.0
"""Seconds that the first search waits for the store."""
OVERLAP = 120.0
"""Seconds that are read again each time: a trace is written some time after its request began, and clocks differ."""


class SharedHistory:
    """A `History` that follows a store; `history` is given to the views and stays the same object."""

    def __init__(self, store: TraceStore, *, half_life_days: float = 30.0, seconds: float = 30.0) -> None:
        self.history = History(half_life_days=half_life_days, limit=LIMIT)
        self._store = store
        self._seconds = seconds
        self._half_life_days = half_life_days
        self._past: dict[str, PastRequest] = {}
        self._read_at = float("-inf")
        self._since: float | None = None
        self._reading: asyncio.Task[None] | None = None
        self.failure: Exception | None = None

    async def follow(self) -> None:
        """Called before a search: the first one waits for what is there, later ones start a look at what is new."""
        if time.monotonic() - self._read_at < self._seconds:
            return
        if self._reading is None or self._reading.done():
            self._reading = asyncio.ensure_future(self._refresh())
        if self._since is None:
            await asyncio.wait({self._reading}, timeout=FIRST_WAIT)

    async def _refresh(self) -> None:
        try:
            fresh = await asyncio.to_thread(self._read)
        except Exception as error:  # a store that fails must not fail the search
            self.failure = error
        else:
            self.failure = None
            if fresh is not None:
                self.history.adopt(fresh)
        self._read_at = time.monotonic()

    def _read(self) -> History | None:
        """The history with what came since the last look; None where nothing did."""
        began = time.time()
        since = self._since
        wanted = TraceFilter(status="ok", since=since, limit=LIMIT if since is None else None)
        changed = [self._learn(trace) for trace in self._store.iterate(wanted)]
        self._since = began - OVERLAP
        if not any(changed):
            return None
        ordered = sorted(self._past.items(), key=lambda one: one[1].when)
        self._past = dict(ordered[-LIMIT:])
        fresh = History(self._past.values(), half_life_days=self._half_life_days, limit=LIMIT)
        fresh.prepare()
        return fresh

    def _learn(self, trace: Trace) -> bool:
        """Take what a trace teaches; whether that was new. All calls of one search are one past request."""
        past = past_request(trace)
        if past is None:
            return False
        key = str(trace.metadata.get("search") or trace.trace_id)
        known = self._past.get(key)
        if known is not None:
            tools = tuple(dict.fromkeys((*known.tools, *past.tools)))
            if len(tools) == len(known.tools):
                return False
            past = replace(past, tools=tools)
        self._past[key] = past
        return True

    async def close(self) -> None:
        """End a look that is under way."""
        if self._reading is not None:
            await asyncio.gather(self._reading, return_exceptions=True)


def past_request(trace: Trace) -> PastRequest | None:
    """What a trace teaches; None where it teaches nothing."""
    tools: dict[str, None] = {}
    for step in trace.steps:
        found = {candidate.tool for candidate in step.candidates}
        for call in step.calls:
            worked = call.outcome is not None and call.outcome.ok
            if call.tool and worked and (trace.source != SOURCE or call.tool in found):
                tools[call.tool] = None
    if not tools or not trace.query.strip() or trace.started_at is None:
        return None
    return PastRequest(query=trace.query, tools=tuple(tools), when=trace.started_at)
