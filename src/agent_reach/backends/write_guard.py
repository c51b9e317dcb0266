"""Only tools that are known to change nothing are let through, unless more are named.

An evaluation repeats its calls, and must never ship the order twice. Unknown effects count as a write. What a tool
really does is not checked: the guard believes its hints and the overlay.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Any

from agent_reach.backends.base import Backend, failure
from agent_reach.records.tool import Tool
from agent_reach.records.trace import CallOutcome


class WriteGuard:
    """Lets read-only tools through to `inner`, and those whose key or name fits a pattern of `allow_writes`.

    Another call is answered by `recordings` where that knows it, else refused as `write_blocked` without reaching a
    backend.
    """

    def __init__(
        self, inner: Backend, *, allow_writes: Iterable[str] = (), recordings: Backend | None = None
    ) -> None:
        self._inner = inner
        self._allowed = tuple(allow_writes)
        self._recordings = recordings

    def allows(self, tool: Tool) -> bool:
        """Whether a call of that tool is let through."""
        return tool.is_read_only or any(
            fnmatchcase(tool.key, pattern) or fnmatchcase(tool.name, pattern) for pattern in self._allowed
        )

    async def call(
        self, tool: Tool, arguments: Mapping[str, Any], *, call_id: str = "", timeout: float | None = None
    ) -> CallOutcome:
        """Execute, answer from recordings, or refuse."""
        if self.allows(tool):
            return await self._inner.call(tool, arguments, call_id=call_id, timeout=timeout)
        if self._recordings is not None:
            recorded = await self._recordings.call(tool, arguments, call_id=call_id, timeout=timeout)
            if not (recorded.off_recording and recorded.error_kind == "not_found"):
                return recorded
        return failure(
            "write_blocked",
            f"{tool.key} may change something and is not named in `allow_writes`; it was not called",
            sent=False,
        )

    async def aclose(self) -> None:
        """Close what is inside."""
        await self._inner.aclose()
        if self._recordings is not None:
            await self._recordings.aclose()
