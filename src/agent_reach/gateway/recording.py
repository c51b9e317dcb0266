"""One trace per call and per search, in the shape every other part reads.

The tool that was meant stands in the trace, whichever door it was called through; the door is told in the metadata.
"""

from __future__ import annotations

import asyncio
import uuid
from collections import deque
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from agent_reach.gateway.caller import Caller
from agent_reach.gateway.metrics import Metrics
from agent_reach.records.trace import Exposure, Step, Trace

if TYPE_CHECKING:
    from agent_reach.traces.store.base import TraceStore

SOURCE = "gateway"
_EXPOSURE = {"all": "all", "top": "names", "search": "reach"}


class Recording:
    """Writes what clients did into a store (None: nowhere).

    A trace is made after its answer has been written, so that a client does not wait for it; a durable recording is
    committed before the answer.
    """

    def __init__(self, store: TraceStore | None, metrics: Metrics, *, durable: bool = False) -> None:
        self.store = store
        self._metrics = metrics
        self._durable = durable
        self._waiting: deque[Callable[[], Trace]] = deque()

    async def take(self, make: Callable[[], Trace]) -> None:
        """Record the trace that `make` gives."""
        if self.store is None:
            return
        if self._durable:
            await asyncio.to_thread(self._add, make(), wait=True)
            return
        self._waiting.append(make)
        asyncio.get_running_loop().call_soon(self._write_next)

    def flush(self) -> None:
        """Make and hand over what still waits."""
        while self._waiting:
            self._write_next()

    def _write_next(self) -> None:
        if self._waiting:
            self._add(self._waiting.popleft()(), wait=False)

    def _add(self, trace: Trace, *, wait: bool) -> None:
        if self.store is None:
            return
        try:
            self.store.add(trace, wait=wait)
            self._metrics.traces += 1
        except Exception:
            self._metrics.traces_lost += 1  # a store that fails must not fail the calls


def gateway_trace(
    caller: Caller,
    step: Step,
    *,
    mode: str,
    started_at: float,
    ended_at: float,
    query: str = "",
    offered: tuple[str, ...] = (),
    hidden: Mapping[str, str] | None = None,
    lacks: Mapping[str, tuple[str, ...]] | None = None,
    metadata: Mapping[str, Any],
) -> Trace:
    """The trace of one request of a client."""
    return Trace(
        trace_id=uuid.uuid4().hex,
        query=query,
        agent=caller.name,
        source=SOURCE,
        started_at=started_at,
        ended_at=ended_at,
        exposure=Exposure(mode=_EXPOSURE[mode], offered=offered, hidden=dict(hidden or {})),
        steps=(step,),
        permissions_missing=dict(lacks or {}),
        metadata={
            "transport": caller.transport,
            "protocol": caller.version,
            "client": caller.rule.name,
            **metadata,
        },
    )
