"""What carries messages: a pipe to a process or an HTTP connection, seen alike by the peer above it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from agent_reach.records.finding import Finding
from agent_reach.wire.protocol import Message


class Receiver(Protocol):
    """Who is told what a channel brings."""

    def receive(self, message: Message) -> None:
        """One protocol message arrived."""

    def lost(self, reason: str) -> None:
        """The channel ended; nothing will arrive any more. Told at most once."""

    def refused(
        self, request_id: int, message: str, *, status: int | None, retry_after: float | None, sent: bool
    ) -> None:
        """One request was refused, or could not be delivered, below the protocol."""


class Channel(Protocol):
    """One connection to one server."""

    async def open(self, receiver: Receiver) -> None:
        """Connect; raises `ServerError` where that fails."""

    def send(self, message: Message, headers: Mapping[str, str] | None = None) -> None:
        """Send one message; never waits. What can no longer be sent is told by `Receiver.lost`."""

    async def close(self) -> None:
        """End the connection and everything it started; may be called twice, from any state."""

    def stderr_tail(self) -> str:
        """The last lines that the server wrote to stderr; empty where there is none."""

    def findings(self) -> tuple[Finding, ...]:
        """What was odd about the connection so far."""
