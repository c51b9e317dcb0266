"""Executes a normalised call: checked here first, within a deadline, tried again and moved elsewhere only where that is safe.

It never decides what to call. Without a finder and fallbacks it stays with the tool it was given.
"""

from __future__ import annotations

import asyncio
import random as _random
import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from agent_reach.backends.base import Backend, failure
from agent_reach.catalog.catalog import Catalog
from agent_reach.catalog.schema import argument_problems
from agent_reach.records.finding import Finding
from agent_reach.records.message import Message
from agent_reach.records.tool import Tool
from agent_reach.records.trace import ArgumentProblem, CallOutcome
from agent_reach.router.circuit import Circuit
from agent_reach.router.execute_cap import ResultStore, cap_result
from agent_reach.router.execute_records import ExecutionPolicy, ExecutionRecord, Switch, Try
from agent_reach.router.loop_guard import LoopGuard
from agent_reach.router.normalize import NormalizedCall, NormalizeOptions
from agent_reach.router.retry import RetryBudget, back_off, may_retry, retry_after
from agent_reach.router.switch import (
    Finder,
    StandIn,
    SwitchRequest,
    counts_as_failure,
    may_fail_over,
    stand_ins,
)

Sleep = Callable[[float], Awaitable[None]]


@dataclass(slots=True)
class RequestState:
    """What one request of a user remembers between its calls: rounds, failures in a row, words and now for a switch, and
    the records of its latest thousand calls."""

    guard: LoopGuard
    query: str = ""
    conversation: Any = None
    now: Any = None
    options: NormalizeOptions | None = None
    failures: dict[str, int] = field(default_factory=dict)
    records: deque[ExecutionRecord] = field(default_factory=lambda: deque(maxlen=1000))


@dataclass(slots=True)
class _Server:
    """What all calls to one server share."""

    budget: RetryBudget
    circuit: Circuit
    gate: asyncio.Semaphore


class Executor:
    """Executes calls over one backend.

    `finder` ranks the rest of the tools when one keeps failing (None: no switch). `clock` (seconds, monotonic), `sleep`,
    `wall_clock` (seconds since the epoch, for Retry-After dates) and `random` (0 to 1) are injected. `max_result_bytes`
    and all limits are in `policy`. An executor belongs to one event loop.
    """

    def __init__(
        self,
        backend: Backend,
        catalog: Catalog,
        *,
        finder: Finder | None = None,
        policy: ExecutionPolicy | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Sleep = asyncio.sleep,
        wall_clock: Callable[[], float] = time.time,
        random: Callable[[], float] = _random.random,
    ) -> None:
        self.backend = backend
        self.catalog = catalog
        self.finder = finder
        self.policy = policy or ExecutionPolicy()
        self.clock, self.sleep, self.wall_clock, self.random = clock, sleep, wall_clock, random
        self.results = ResultStore()
        self._servers: dict[str, _Server] = {}
        self._gate = asyncio.Semaphore(self.policy.concurrency)
        self._default = self.request()

    def request(
        self,
        query: str = "",
        *,
        conversation: Any = None,
        now: Any = None,
        options: NormalizeOptions | None = None,
    ) -> RequestState:
        """The memory of one request; give it to every call of that request."""
        guard = LoopGuard(self.policy.loop_limit, window=self.policy.loop_window, clock=self.clock)
        return RequestState(guard, query, conversation, now, options)

    async def execute(
        self,
        call: NormalizedCall,
        *,
        request: RequestState | None = None,
        call_id: str = "",
        cancel: asyncio.Event | None = None,
    ) -> ExecutionRecord:
        """Execute one call; never raises for a failed call, only passes on the cancellation of its own task.

        Without `request` all calls of this executor count as one request. Setting `cancel` ends the call with
        `cancelled`, and the backend is told.
        """
        state = request or self._default
        refused = self._refusal(call)
        if refused is not None:
            return self._finish(state, ExecutionRecord(tool=call.tool, arguments=call.arguments or {}, outcome=refused, first_outcome=refused, before_switch=refused))  # fmt: skip
        deadline = self.clock() + self.policy.total_timeout
        arguments = call.arguments or {}
        if cancel is None:
            record = await self._with_stand_ins(state, call.tool, arguments, deadline, call_id)
        else:
            record = await self._until_cancelled(state, call.tool, arguments, deadline, call_id, cancel)
        return self._finish(state, record)

    def _refusal(self, call: NormalizedCall) -> CallOutcome | None:
        """All problems at once, before anything is sent."""
        problems: tuple[ArgumentProblem, ...] = call.problems or argument_problems(call.tool, call.arguments)
        if not problems and call.arguments is not None:
            return None
        told = "; ".join(_told(problem) for problem in problems)
        outcome = failure(
            "argument", f"not sent, {len(problems)} problem(s): {told}", tool=call.tool, sent=False
        )
        return replace(
            outcome,
            metadata={
                "problems": [{"code": p.code, "pointer": p.pointer, "message": p.message} for p in problems],
                "missing": [p.expected for p in problems if p.code == "missing_required"],
            },
        )

    async def _until_cancelled(
        self,
        state: RequestState,
        tool: Tool,
        arguments: Mapping[str, Any],
        deadline: float,
        call_id: str,
        cancel: asyncio.Event,
    ) -> ExecutionRecord:
        work = asyncio.ensure_future(self._with_stand_ins(state, tool, arguments, deadline, call_id))
        stop = asyncio.ensure_future(cancel.wait())
        try:
            await asyncio.wait({work, stop}, return_when=asyncio.FIRST_COMPLETED)
            if work.done():
                return work.result()
            work.cancel()
            await asyncio.gather(work, return_exceptions=True)
        finally:
            stop.cancel()
            work.cancel()
        outcome = failure("cancelled", f"{tool.key} was cancelled by the caller", tool=tool)
        return ExecutionRecord(
            tool=tool, arguments=arguments, outcome=outcome, first_outcome=outcome, before_switch=outcome
        )

    async def _with_stand_ins(
        self, state: RequestState, tool: Tool, arguments: Mapping[str, Any], deadline: float, call_id: str
    ) -> ExecutionRecord:
        """The tool itself, then its fallbacks, then similar tools once it has failed often enough."""
        record = await self._attempts(state, tool, arguments, deadline, call_id)
        first, before = record.first_outcome, record.outcome
        tried = {tool.key}
        for _ in range(self.policy.max_switches + len(self.policy.fallbacks.get(tool.key, ()))):
            chosen = self._next(state, record, tried)
            if chosen is None or self.clock() >= deadline:
                break
            reason, stand_in = chosen
            tried.add(stand_in.tool.key)
            moved = await self._attempts(state, stand_in.tool, stand_in.arguments, deadline, call_id)
            switch = Switch(
                source=record.tool.key,
                target=stand_in.tool.key,
                reason="failover" if reason == "failover" else "switch",
                arguments=stand_in.arguments,
                changes=stand_in.changes,
            )
            record = replace(
                moved,
                tries=(*record.tries, *moved.tries),
                switches=(*record.switches, switch),
                findings=(*record.findings, *moved.findings),
                outcome=replace(
                    moved.outcome,
                    metadata={**moved.outcome.metadata, "route": [*record.route, stand_in.tool.key]},
                ),
            )
        return replace(record, first_outcome=first, before_switch=before)

    def _next(
        self, state: RequestState, record: ExecutionRecord, tried: set[str]
    ) -> tuple[str, StandIn] | None:
        """Where to go after a failure: a declared fallback at once, a similar tool after enough failures in a row."""
        outcome, tool = record.outcome, record.tool
        if outcome.ok or outcome.status == "unknown":
            return None
        wish = SwitchRequest(
            tool=tool, arguments=record.arguments, query=state.query, exclude=frozenset(tried), limit=5
        )
        known = {"conversation": state.conversation, "now": state.now, "options": state.options}
        keys = self.policy.fallbacks.get(tool.key, ())
        if keys and may_fail_over(tool, outcome):
            named = [found for key in keys if (found := self.catalog.resolve(key)) is not None]
            # A declared fallback is the user's own word, so it may be entered although it is not known to be read-only.
            policy = replace(
                self.policy, allow_write_switch=self.policy.allow_write_switch | {tool.key, *keys}
            )
            options = stand_ins(wish, lambda _: named, policy, **known)
            if options:
                return "failover", options[0]
        if self.finder is None or not counts_as_failure(outcome):
            return None
        if state.failures.get(tool.key, 0) < self.policy.switch_after:
            return None
        options = stand_ins(wish, self.finder, self.policy, **known)
        return ("switch", options[0]) if options else None

    async def _attempts(
        self, state: RequestState, tool: Tool, arguments: Mapping[str, Any], deadline: float, call_id: str
    ) -> ExecutionRecord:
        """One tool with its retries."""
        tries: list[Try] = []
        first: CallOutcome | None = None
        waited_in_all = waited = 0.0
        server = self._server(tool.server)
        server.budget.earn()
        while True:
            blocked = self._blocked(state, server, tool, arguments, first=not tries)
            whole = blocked or await self._once(server, tool, arguments, deadline, call_id)
            if blocked is None:
                state.failures[tool.key] = (
                    state.failures.get(tool.key, 0) + 1 if counts_as_failure(whole) else 0
                )
            outcome = cap_result(whole, self.policy.max_result_bytes, self.results)
            first = first or outcome
            tries.append(_try_of(tool, outcome, waited, self.clock()))
            delay = (
                None if blocked else self._delay(server, tool, outcome, len(tries), waited_in_all, deadline)
            )
            if delay is None:
                break
            # Rounds are counted per call, not per try: waiting out a rate limit is no loop.
            await self.sleep(delay)
            waited, waited_in_all = delay, waited_in_all + delay
        if blocked is None:
            state.guard.record(tool.key, arguments, whole)
        final = replace(outcome, attempts=len(tries))
        return ExecutionRecord(
            tool=tool, arguments=arguments, outcome=final, first_outcome=first, before_switch=final, tries=tuple(tries),
            findings=tuple(finding for finding in outcome.findings),
        )  # fmt: skip

    def _delay(
        self, server: _Server, tool: Tool, outcome: CallOutcome, tries: int, waited: float, deadline: float
    ) -> float | None:
        """Seconds until the next try, None where there is to be none."""
        policy = self.policy
        if tries >= policy.max_attempts or not may_retry(tool, outcome, policy):
            return None
        delay = back_off(tries + 1, policy, self.random, retry_after(outcome, self.wall_clock()))
        if waited + delay > policy.max_wait or self.clock() + delay >= deadline:
            return None
        return delay if server.budget.spend(self.clock()) else None

    def _blocked(
        self, state: RequestState, server: _Server, tool: Tool, arguments: Mapping[str, Any], *, first: bool
    ) -> CallOutcome | None:
        """A refusal before sending: the same round too often, or a server that cannot be reached."""
        if first and state.guard.blocks(tool.key, arguments):
            rounds = state.guard.rounds(tool.key, arguments)
            message = Message(
                f"{tool.key} was called {rounds} times with the same arguments and the same result: "
                "change the arguments, use another tool, or answer with what is known",
                f"{tool.key} 已用相同参数调用 {rounds} 次且结果相同：请修改参数、换一个工具，或用已知信息作答",
            )
            finding = Finding(
                code="loop", severity="warning", message=message, subject=tool.key, data={"rounds": rounds}
            )
            outcome = failure("tool_error", str(message), tool=tool, sent=False, findings=(finding,))
            return replace(outcome, metadata={"loop": True, "rounds": rounds})
        left = server.circuit.wait(self.clock())
        if left is None:
            return None
        return failure(
            "transport",
            f"the server {tool.server or 'of ' + tool.name!r} could not be reached several times; not tried again for {left:.0f} s",
            tool=tool,
            sent=False,
            retry_after=left,
            metadata={"circuit": "open"},
        )

    async def _once(
        self, server: _Server, tool: Tool, arguments: Mapping[str, Any], deadline: float, call_id: str
    ) -> CallOutcome:
        """One try under the gates and the limit."""
        async with self._gate, server.gate:
            began = self.clock()
            limit = min(self.policy.timeout, deadline - began)
            if limit <= 0:
                return failure(
                    "timeout", f"{tool.key}: no time left before it was sent", tool=tool, sent=False
                )
            try:
                async with asyncio.timeout(limit + 0.25):
                    outcome = await self.backend.call(tool, dict(arguments), call_id=call_id, timeout=limit)
            except TimeoutError:
                elapsed = self.clock() - began
                outcome = failure(
                    "timeout",
                    f"{tool.key} gave no answer within {elapsed:.1f} s (limit {limit:.1f} s)",
                    tool=tool,
                )
            except Exception as error:
                outcome = failure("tool_error", f"{tool.key}: {type(error).__name__}: {error}", tool=tool)
            if outcome.latency_ms is None:
                outcome = replace(outcome, latency_ms=1000 * (self.clock() - began))
            if outcome.reached_backend or outcome.error_kind == "transport":
                server.circuit.record(outcome, self.clock())
            return outcome

    def _server(self, name: str) -> _Server:
        known = self._servers.get(name)
        if known is None:
            known = _Server(
                RetryBudget.of(self.policy, self.clock()),
                Circuit(self.policy.circuit_failures, self.policy.circuit_reset),
                asyncio.Semaphore(self.policy.concurrency_per_server),
            )
            self._servers[name] = known
        return known

    def _finish(self, state: RequestState, record: ExecutionRecord) -> ExecutionRecord:
        if not record.tries:
            failed = counts_as_failure(record.outcome)
            state.failures[record.tool.key] = state.failures.get(record.tool.key, 0) + 1 if failed else 0
        state.records.append(record)
        return record


def _told(problem: ArgumentProblem) -> str:
    message = problem.message or problem.code
    return message if not problem.pointer or problem.pointer in message else f"{problem.pointer}: {message}"


def _try_of(tool: Tool, outcome: CallOutcome, waited: float, now: float) -> Try:
    return Try(
        tool=tool.key,
        status=outcome.status,
        error_kind=outcome.error_kind,
        waited=waited,
        started=now - (outcome.latency_ms or 0.0) / 1000,
        latency_ms=outcome.latency_ms,
        reached_backend=outcome.reached_backend,
        message=outcome.message,
    )
