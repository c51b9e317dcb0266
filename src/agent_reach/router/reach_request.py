"""One request of a user from its words to the last call, remembered and written as a trace."""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from agent_reach.records.tool import Tool
from agent_reach.records.trace import Call, CallOutcome, Exposure, Step, Trace
from agent_reach.router.stages import Found

if TYPE_CHECKING:
    from agent_reach.router.normalize import NormalizedCall
    from agent_reach.router.reach import Reach


class RoutedRequest:
    """Use as `async with reach.request(query) as request:`; at the end the trace goes to the store, and what worked into the
    history."""

    def __init__(self, reach: Reach, query: str, *, conversation: Any = None, now: Any = None) -> None:
        self._reach = reach
        self.query = query
        self.conversation = conversation if conversation is not None else [{"role": "user", "content": query}]
        self.now = now
        self.trace_id = uuid.uuid4().hex
        self._started = time.time()
        self._found = Found()
        self._calls: list[Call] = []
        self._state: Any = None
        self._ended: float | None = None

    def find(self, k: int = 6) -> Found:
        """The tools for the request; they count as offered."""
        self._found = self._reach.find(self.query, k)
        return self._found

    def normalize(self, tool: Tool | str, arguments: Any) -> NormalizedCall:
        """As `Reach.normalize`, with the conversation and now of this request."""
        return self._reach.normalize(tool, arguments, conversation=self.conversation, now=self.now)

    async def execute(self, call: NormalizedCall) -> CallOutcome:
        """As `Reach.execute`; failures in a row, loops and switches are counted within this request."""
        executor = self._reach.executor
        if self._state is None:
            self._state = executor.request(
                self.query,
                conversation=self.conversation,
                now=self.now,
                options=self._reach.normalize_options,
            )
        call_id = f"{self.trace_id[:8]}-{len(self._calls)}"
        record = await executor.execute(call, request=self._state, call_id=call_id)
        emitted = call.emitted if isinstance(call.emitted, Mapping) else None
        self._calls.append(
            Call(
                call_id=call_id,
                name=self._reach.catalog.wire_name(call.tool),
                tool=record.tool.key,
                arguments=dict(emitted) if emitted is not None else call.arguments,
                raw_arguments=call.emitted if isinstance(call.emitted, str) else "",
                sent_arguments=dict(record.arguments) if record.outcome.reached_backend else None,
                changes=call.changes,
                problems=call.problems,
                outcome=record.outcome,
                started_at=time.time(),
            )
        )
        return record.outcome

    def trace(self) -> Trace:
        """What happened so far."""
        candidates = tuple(candidate.record() for candidate in self._found)
        offered = tuple(candidate.tool.key for candidate in self._found)
        step = Step(index=0, calls=tuple(self._calls), offered=offered, candidates=candidates)
        return Trace(
            trace_id=self.trace_id,
            query=self.query,
            source="reach",
            started_at=self._started,
            ended_at=self._ended,
            exposure=Exposure(mode="reach", offered=offered, hidden=dict(self._reach.hidden)),
            steps=(step,),
            findings=self._found.findings,
        )

    async def __aenter__(self) -> RoutedRequest:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.finish()

    def finish(self) -> Trace:
        """End the request: its trace is stored, and the tools that worked are remembered for the query."""
        self._ended = time.time()
        trace = self.trace()
        if self._reach.store is not None:
            self._reach.store.add(trace)
        if self._reach.history is not None:
            self._reach.history.add_traces([trace])
        return trace
