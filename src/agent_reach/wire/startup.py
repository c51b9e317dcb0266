"""Many servers at once: started side by side, each with its own limit, those that fail told and the rest used.

Starting is bounded in number, for a laptop with twenty servers does not start them faster all at once. What their
tools mean is not looked at.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from agent_reach.errors import ServerError
from agent_reach.records.finding import Finding
from agent_reach.records.message import Message
from agent_reach.wire.servers import ServerConfig
from agent_reach.wire.session import ServerSession, SessionOptions

AT_ONCE = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerListing:
    """What one server offers: raw tool definitions in its own order, or the error that kept it from saying so.

    `seconds` is the time from start to the whole list. `error` None means it was reached.
    """

    config: ServerConfig
    tools: tuple[dict[str, Any], ...] = ()
    findings: tuple[Finding, ...] = ()
    error: ServerError | None = None
    protocol_version: str = ""
    info: Mapping[str, Any] = field(default_factory=dict)
    capabilities: Mapping[str, Any] = field(default_factory=dict)
    instructions: str = ""
    pages: int = 0
    seconds: float = 0.0

    @property
    def name(self) -> str:
        """The server's name."""
        return self.config.name


@dataclass(frozen=True, slots=True, kw_only=True)
class StartedServers:
    """Running sessions by name, and a finding for each server that is not among them."""

    sessions: Mapping[str, ServerSession]
    missing: Mapping[str, ServerError]
    findings: tuple[Finding, ...] = ()

    @property
    def ready(self) -> tuple[str, ...]:
        """Names of the servers that run."""
        return tuple(self.sessions)

    async def close(self) -> None:
        """End all of them."""
        await asyncio.gather(*(session.close() for session in self.sessions.values()))


async def list_servers(
    configs: Iterable[ServerConfig], options: SessionOptions | None = None, *, at_once: int = AT_ONCE
) -> tuple[ServerListing, ...]:
    """Start each server, read its whole tool list, end it; in the order of `configs`. Never raises for one server."""
    gate = asyncio.Semaphore(at_once)

    async def listed(config: ServerConfig) -> ServerListing:
        async with gate:
            return await list_server(config, options)

    return tuple(await asyncio.gather(*(listed(config) for config in configs)))


async def list_server(config: ServerConfig, options: SessionOptions | None = None) -> ServerListing:
    """The listing of one server; a failure is inside it."""
    started = time.monotonic()
    session = ServerSession(config, options)
    try:
        async with session:
            tools, findings = await session.list_tools()
            return ServerListing(
                config=config,
                tools=tools,
                findings=(*session.findings, *findings),
                protocol_version=session.protocol_version,
                info=session.info,
                capabilities=session.capabilities,
                instructions=session.instructions,
                pages=session.pages,
                seconds=time.monotonic() - started,
            )
    except ServerError as error:
        return ServerListing(
            config=config,
            findings=(*session.findings, failure_finding(config, error)),
            error=error,
            seconds=time.monotonic() - started,
        )


async def start_servers(
    configs: Iterable[ServerConfig],
    options: SessionOptions | None = None,
    *,
    budget: float = 60.0,
    retries: int = 1,
    at_once: int = AT_ONCE,
) -> StartedServers:
    """Start servers side by side and wait for all of them, `budget` seconds at most.

    One that fails is tried again `retries` times with a growing wait. What is not ready in the end is in `missing`, with
    a finding; no process of it is left.
    """
    gate = asyncio.Semaphore(at_once)
    sessions: dict[str, ServerSession] = {}
    missing: dict[str, ServerError] = {}
    deadline = time.monotonic() + budget
    ordered = list(configs)

    async def start(config: ServerConfig) -> None:
        for attempt in range(retries + 1):
            try:
                async with asyncio.timeout(max(0.0, deadline - time.monotonic())), gate:
                    session = ServerSession(config, options)
                    await session.open()
            except TimeoutError:
                missing.setdefault(
                    config.name,
                    ServerError(f"not ready within the {budget:g} s of all servers", where=config.label),
                )
                return
            except ServerError as error:
                missing[config.name] = error
                wait = 0.25 * 2**attempt
                if attempt == retries or not config.usable or time.monotonic() + wait >= deadline:
                    return
                await asyncio.sleep(wait)
            else:
                sessions[config.name] = session
                missing.pop(config.name, None)
                return

    try:
        await asyncio.gather(*(start(config) for config in ordered))
    except BaseException:
        await asyncio.gather(*(session.close() for session in sessions.values()))
        raise
    by_name = {config.name: config for config in ordered}
    return StartedServers(
        sessions={config.name: sessions[config.name] for config in ordered if config.name in sessions},
        missing=missing,
        findings=tuple(failure_finding(by_name[name], error) for name, error in missing.items()),
    )


def failure_finding(config: ServerConfig, error: ServerError) -> Finding:
    """The finding for a server that could not be used."""
    return Finding(
        code="server_failed",
        severity="error",
        subject=config.name,
        source=config.where,
        message=Message(
            f"the server could not be used: {error.message}", f"无法使用该服务器：{error.message}"
        ),
        fix=Message(error.next_step, error.next_step) if error.next_step else None,
        data={"server": config.name},
    )
