"""A server that answers what a test says, behind a real gateway, without a process."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

from tests.gateway.launching import project

from agent_reach.gateway.gateway import Gateway
from agent_reach.gateway.servers import Servers
from agent_reach.gateway.settings import gateway_settings
from agent_reach.gateway.upstream import Upstream
from agent_reach.records.trace import CallOutcome
from agent_reach.traces.store.base import TraceStore
from agent_reach.wire.servers import ServerConfig
from agent_reach.wire.session import SessionOptions
from agent_reach.wire.startup import ServerListing

Answer = Callable[[str, dict[str, Any], int], Any]
"""From a tool's name, its arguments and the number of the execution to a raw result; may be a coroutine, may raise."""


class ScriptedUpstream(Upstream):
    """Lists `tools` and answers calls with `answer`; `executed` holds what arrived."""

    def __init__(self, config: ServerConfig, tools: list[dict[str, Any]], answer: Answer) -> None:
        super().__init__(config, SessionOptions(), lambda *_: None)
        self.tools = tools
        self.answer = answer
        self.executed: list[tuple[str, dict[str, Any]]] = []

    @property
    def alive(self) -> bool:
        return True

    @property
    def session(self) -> Any:
        return None

    async def list_tools(self) -> ServerListing:
        self.listing = ServerListing(
            config=self.config, tools=tuple(self.tools), protocol_version="2025-11-25"
        )
        return self.listing

    async def request(
        self, method: str, params: Any, origin: Any = None, *, sent: Any = lambda: None, **_: Any
    ) -> Any:
        sent()
        self.executed.append((params["name"], params["arguments"]))
        result = self.answer(params["name"], params["arguments"], len(self.executed))
        return await result if asyncio.iscoroutine(result) else result


@contextlib.asynccontextmanager
async def scripted(
    folder: Path, tools: list[dict[str, Any]], answer: Answer, **settings: Any
) -> AsyncIterator[tuple[Gateway, ScriptedUpstream]]:
    """A gateway over one scripted server named `s`."""
    settings.setdefault("mode", "all")
    config = ServerConfig(name="s", command="x")
    servers = Servers([config], SessionOptions())
    upstream = ScriptedUpstream(config, tools, answer)
    servers.upstreams["s"] = upstream
    store = TraceStore.open(folder / "traces.db")
    built = Gateway(gateway_settings(project(folder, {}), {}, **settings), servers, store=store)
    try:
        yield built, upstream
    finally:
        await built.close()


def tool(name: str, **fields: Any) -> dict[str, Any]:
    """A tool definition."""
    return {"name": name, "description": name, "inputSchema": {"type": "object"}, **fields}


def outcomes(folder: Path) -> list[CallOutcome]:
    """How the calls ended, in order, as their traces say."""
    with TraceStore.open(folder / "traces.db", read_only=True) as store:
        traces = sorted(store.iterate(), key=lambda trace: trace.started_at or 0)
    return [one.outcome for trace in traces for one in trace.calls if one.outcome is not None]
