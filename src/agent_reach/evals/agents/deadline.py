"""The time limit of one attempt, which waiting that is not the agent's own does not use up."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager


class Deadline:
    """A limit that may be bound later; until then nothing moves."""

    def __init__(self) -> None:
        self._limit: asyncio.Timeout | None = None

    def bind(self, limit: asyncio.Timeout) -> None:
        """The limit to move."""
        self._limit = limit

    def extend(self, seconds: float) -> None:
        """The limit moves by as much, unless it has passed."""
        limit = self._limit
        when = limit.when() if limit is not None else None
        if limit is not None and when is not None and seconds > 0 and not limit.expired():
            limit.reschedule(when + seconds)

    @contextmanager
    def suspended(self) -> Iterator[None]:
        """The clock stands still."""
        limit = self._limit
        when = limit.when() if limit is not None else None
        if limit is None or when is None or limit.expired():
            yield
            return
        loop = asyncio.get_running_loop()
        remaining = when - loop.time()
        limit.reschedule(None)
        try:
            yield
        finally:
            limit.reschedule(loop.time() + remaining)
