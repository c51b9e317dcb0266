"""What the execution of one call leaves behind, and the settings it ran under."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from agent_reach.records.finding import Finding
from agent_reach.records.tool import Tool
from agent_reach.records.trace import ArgumentChange, CallOutcome


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionPolicy:
    """Limits and permissions of execution; all times in seconds.

    `timeout` is for one try, `total_timeout` one deadline over all tries and waits of a call; `max_wait` caps the waits
    alone. `retry_rate_limited` `idempotent` repeats a rate-limited call only of tools that are safe to repeat; `all` also
    of others (a server that answers 429 has not done the work); without `retry_timeouts` no time-out is repeated. `retry_budget`
    tokens are shared by the calls to a server; each retry takes one, each call and each second bring some back. `fallbacks` maps a tool key to the keys that stand in for
    it at once when it is out of reach. `allow_write_switch` names the tools, as source or target, that may be switched
    although they are not known to be read-only. `max_result_bytes` None sends results whole.
    """

    timeout: float = 30.0
    total_timeout: float = 120.0
    max_attempts: int = 3
    base_delay: float = 0.5
    max_delay: float = 20.0
    max_wait: float = 60.0
    retry_rate_limited: Literal["idempotent", "all"] = "idempotent"
    retry_timeouts: bool = True
    retry_budget: float = 10.0
    retry_budget_ratio: float = 0.2
    retry_budget_per_second: float = 0.5
    concurrency: int = 32
    concurrency_per_server: int = 8
    circuit_failures: int = 5
    circuit_reset: float = 30.0
    loop_limit: int = 3
    loop_window: float = 600.0
    max_result_bytes: int | None = 25_000
    switch_after: int = 2
    max_switches: int = 1
    fallbacks: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    allow_write_switch: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Try:
    """One try: which tool, how it ended, how long was waited before it (seconds), when it began (the executor's clock)."""

    tool: str
    status: str
    error_kind: str | None
    waited: float = 0.0
    started: float = 0.0
    latency_ms: float | None = None
    reached_backend: bool = True
    message: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Switch:
    """A move from one tool to another: `reason` `failover` or `switch`, the arguments as they were mapped."""

    source: str
    target: str
    reason: Literal["failover", "switch"]
    arguments: Mapping[str, Any]
    changes: tuple[ArgumentChange, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionRecord:
    """How one call was executed.

    `outcome` is the end of it; `first_outcome` the end of the first try (what a loop without retries would have seen) and
    `before_switch` the end without any switch. `tool` and `arguments` are those that the outcome belongs to.
    """

    tool: Tool
    arguments: Mapping[str, Any]
    outcome: CallOutcome
    first_outcome: CallOutcome
    before_switch: CallOutcome
    tries: tuple[Try, ...] = ()
    switches: tuple[Switch, ...] = ()
    findings: tuple[Finding, ...] = ()

    @property
    def ok(self) -> bool:
        """The call worked in the end."""
        return self.outcome.ok

    @property
    def route(self) -> tuple[str, ...]:
        """The tools that were tried, in order."""
        return (*(switch.source for switch in self.switches), self.tool.key)
