"""A circuit per server: after several transport faults in a row its calls are not sent for a while.

Only transport faults count. A tool that answers with an error is a server that can be reached.
"""

from __future__ import annotations

from dataclasses import dataclass

from agent_reach.records.trace import CallOutcome


@dataclass(slots=True)
class Circuit:
    """State of one server; times are those of the executor's clock, in seconds."""

    failures: int
    reset: float
    count: int = 0
    opened_at: float | None = None
    probing: bool = False

    def wait(self, now: float) -> float | None:
        """Seconds until the server may be tried again; None when it may be tried now (then a probe is under way if it
        was open)."""
        if self.opened_at is None:
            return None
        left = self.opened_at + self.reset - now
        if left > 0 or self.probing:
            return max(left, 0.0)
        self.probing = True
        return None

    def record(self, outcome: CallOutcome, now: float) -> None:
        """Count an outcome of a call that was sent."""
        self.probing = False
        if outcome.error_kind != "transport":
            if outcome.error_kind != "cancelled":
                self.count, self.opened_at = 0, None
            return
        self.count += 1
        if self.count >= self.failures:
            self.opened_at = now
