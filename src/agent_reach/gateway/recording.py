"""One trace per call and per search, in the shape every other part reads.

The tool that was meant stands in the trace, whichever door it was called through; the door is told in the metadata.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from agent_reach.gateway.caller import Caller
from agent_reach.gateway.metrics import Metrics
from agent_reach.records.trace import Call, CandidateScore, Exposure, Step, Trace

if TYPE_CHECKING:
    from agent_reach.traces.store.base import TraceStore

SOURCE = "gateway"
_EXPOSURE = {"all": "all", "top": "names", "search": "reach"}


class Recording:
    """Writes what clients did into a store (None: nowhere)."""

    def __init__(self, store: TraceStore | None, metrics: Metrics, *, durable: bool = False) -> None:
        self.store = store
        self._metrics = metrics
        self._durable = durable

    async def call(
        self,
        call: Call,
        caller: Caller,
        *,
        mode: str,
        started_at: float,
        offered: tuple[str, ...] = (),
        hidden: Mapping[str, str] | None = None,
        query: str = "",
        candidates: tuple[CandidateScore, ...] = (),
        metadata: Mapping[str, Any],
    ) -> None:
        """Record one call."""
        step = Step(index=0, calls=(call,), candidates=candidates, started_at=started_at)
        await self._add(caller, mode, started_at, query, offered, hidden, (step,), metadata)

    async def search(
        self,
        query: str,
        candidates: tuple[CandidateScore, ...],
        caller: Caller,
        *,
        mode: str,
        started_at: float,
        hidden: Mapping[str, str],
        metadata: Mapping[str, Any],
    ) -> None:
        """Record one search; what it named counts as offered."""
        offered = tuple(candidate.tool for candidate in candidates)
        step = Step(index=0, candidates=candidates, offered=offered, started_at=started_at)
        await self._add(caller, mode, started_at, query, offered, hidden, (step,), metadata)

    async def _add(
        self,
        caller: Caller,
        mode: str,
        started_at: float,
        query: str,
        offered: tuple[str, ...],
        hidden: Mapping[str, str] | None,
        steps: tuple[Step, ...],
        metadata: Mapping[str, Any],
    ) -> None:
        if self.store is None:
            return
        trace = Trace(
            trace_id=uuid.uuid4().hex,
            query=query,
            agent=caller.name,
            source=SOURCE,
            started_at=started_at,
            ended_at=time.time(),
            exposure=Exposure(mode=_EXPOSURE[mode], offered=offered, hidden=dict(hidden or {})),
            steps=steps,
            metadata={
                "transport": caller.transport,
                "protocol": caller.version,
                "client": caller.rule.name,
                **metadata,
            },
        )
        try:
            if self._durable:
                await asyncio.to_thread(self.store.add, trace, wait=True)
            else:
                self.store.add(trace)
            self._metrics.traces += 1
        except Exception:
            self._metrics.traces_lost += 1  # a store that fails must not fail the calls
