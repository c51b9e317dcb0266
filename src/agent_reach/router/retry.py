"""When a failed call may be tried again, and how long to wait before it.

Only what is safe: an outcome that is unknown, or a tool that may have changed something, is not repeated on its own.
Retries of all calls to one server draw on one budget, so that they cannot keep a limit exceeded.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from agent_reach.records.tool import Tool
from agent_reach.records.trace import CallOutcome
from agent_reach.router.execute_records import ExecutionPolicy

_TRANSIENT = frozenset({"rate_limited", "transport", "timeout"})


def may_retry(tool: Tool, outcome: CallOutcome, policy: ExecutionPolicy) -> bool:
    """Whether the same call may be sent again without anybody asking.

    Rate limits, lost connections and time-outs of tools that are safe to repeat; a call that never left, of any tool. An
    `unknown` outcome counts only for a tool declared idempotent.
    """
    if outcome.ok or outcome.error_kind not in _TRANSIENT:
        return False
    if outcome.error_kind == "timeout" and not policy.retry_timeouts:
        return False
    if outcome.status == "unknown":
        return tool.is_idempotent
    if tool.is_idempotent:
        return True
    if not outcome.reached_backend:
        return outcome.error_kind == "transport"
    return outcome.error_kind == "rate_limited" and policy.retry_rate_limited == "all"


def parse_retry_after(value: Any, now: float) -> float | None:
    """Seconds to wait from a Retry-After value: seconds as number or text, or an HTTP date against `now` (seconds since the
    epoch); a past date is 0, anything else None."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, (int, float)):
        return max(0.0, float(value))
    text = str(value).strip()
    try:
        return max(0.0, float(text))
    except ValueError:
        pass
    try:
        moment = parsedate_to_datetime(text)
    except (TypeError, ValueError):
        try:
            moment = datetime.fromisoformat(text.replace("Z", "+00:00"))
        except ValueError:
            return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, moment.timestamp() - now)


def retry_after(outcome: CallOutcome, now: float) -> float | None:
    """What the server said about when to come back, in seconds; None where it said nothing."""
    if outcome.retry_after is not None:
        return max(0.0, outcome.retry_after)
    for key in ("retry_after", "retry-after", "Retry-After"):
        if key in outcome.metadata:
            return parse_retry_after(outcome.metadata[key], now)
    headers = outcome.metadata.get("headers")
    if isinstance(headers, dict):
        for key, value in headers.items():
            if str(key).casefold() == "retry-after":
                return parse_retry_after(value, now)
    return None


def back_off(attempt: int, policy: ExecutionPolicy, random: Callable[[], float], said: float | None) -> float:
    """Seconds before try `attempt` (2 is the first retry): exponential with jitter, never less than the server said.

    Half of the exponential step is fixed and half is random, so that parallel callers drift apart.
    """
    step: float = min(policy.max_delay, policy.base_delay * 2 ** (attempt - 2))
    jittered = step / 2 + step / 2 * random()
    if said is None or said < jittered:
        return jittered
    return said + 0.1 * jittered


@dataclass(slots=True)
class RetryBudget:
    """Tokens for the retries to one server, shared by all calls to it: they come back with time and a little with each
    call, each retry costs one. Times are those of the executor's clock, in seconds."""

    limit: float
    ratio: float
    per_second: float
    tokens: float
    filled_at: float = 0.0

    @classmethod
    def of(cls, policy: ExecutionPolicy, now: float) -> RetryBudget:
        """A full budget."""
        return cls(
            policy.retry_budget,
            policy.retry_budget_ratio,
            policy.retry_budget_per_second,
            policy.retry_budget,
            now,
        )

    def earn(self) -> None:
        """A call went out."""
        self.tokens = min(self.limit, self.tokens + self.ratio)

    def spend(self, now: float) -> bool:
        """Take one token; False where none is left."""
        self.tokens = min(self.limit, self.tokens + max(0.0, now - self.filled_at) * self.per_second)
        self.filled_at = now
        if self.tokens < 1.0:
            return False
        self.tokens -= 1.0
        return True
