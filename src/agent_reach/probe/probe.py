"""Probes servers and tools: starts what can be started, looks for what is needed, calls what is harmless.

A server is started once, its list read, and, where asked, tools that are read-only and need no argument are called once.
Nothing else is ever called. What cannot be decided is `unknown`, which is not `reachable`.
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agent_reach.catalog.catalog import Catalog
from agent_reach.config.settings import EnvironmentGrants
from agent_reach.errors import ServerError
from agent_reach.probe.needs import check_needs
from agent_reach.probe.records import Check, ProbeResult, ReachState, ServerReach, ToolReach
from agent_reach.records.message import Message
from agent_reach.records.tool import Tool
from agent_reach.wire.servers import ServerConfig
from agent_reach.wire.session import ServerSession, SessionOptions
from agent_reach.wire.startup import AT_ONCE

CALL_SECONDS = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeOptions:
    """How far a probe goes: `call` makes harmless calls; `timeout` in seconds limits the start of each server."""

    environment: Mapping[str, str] = field(default_factory=dict)
    grants: EnvironmentGrants | None = None
    folder: Path = Path()
    timeout: float = 30.0
    call: bool = False


@dataclass(kw_only=True)
class _Started:
    reach: ServerReach
    raw_tools: tuple[dict[str, Any], ...] = ()
    calls: dict[str, Check] = field(default_factory=dict)


async def probe_servers(
    configs: Sequence[ServerConfig], options: ProbeOptions, overlay: Any = None
) -> ProbeResult:
    """Probe every server of an `mcpServers` file and every tool it lists, with the needs that an overlay declares."""
    gate = asyncio.Semaphore(AT_ONCE)

    async def one(config: ServerConfig) -> _Started:
        async with gate:
            return await _probe_server(config, options)

    started = await asyncio.gather(*(one(config) for config in configs))
    states = {server.reach.name: server.reach.state for server in started}
    calls = {(server.reach.name, name): check for server in started for name, check in server.calls.items()}
    loaded = [
        Catalog.load({"tools": list(server.raw_tools)}, server=config.name)
        for config, server in zip(configs, started, strict=True)
    ]
    catalog = Catalog.from_tools(
        [tool for one_server in loaded for tool in one_server.tools],
        [
            *(finding for config in configs for finding in config.findings),
            *(finding for one_server in loaded for finding in one_server.findings),
        ],
    )
    if overlay:
        catalog = catalog.with_overlay(overlay)
    tools = []
    for tool in catalog.tools:
        check = calls.get((tool.server, tool.name))
        checks = await _needs_of(tool, options)
        tools.append(_tool_reach(tool, states[tool.server], (*checks, *([check] if check else []))))
    return ProbeResult(
        servers=tuple(server.reach for server in started), tools=tuple(tools), findings=catalog.findings
    )


async def probe_catalog(catalog: Catalog, options: ProbeOptions) -> ProbeResult:
    """Probe the declared needs of tools whose servers are not started here: Python functions that were imported are
    reachable by that alone; tools of a snapshot or an OpenAPI file stay unknown unless a need blocks them."""
    imported = {source.server for source in catalog.provenance.sources if source.kind == "python"}
    tools = [
        _tool_reach(
            tool, "reachable" if tool.server in imported else "unknown", await _needs_of(tool, options)
        )
        for tool in catalog.tools
    ]
    return ProbeResult(servers=(), tools=tuple(tools), findings=catalog.findings)


async def _needs_of(tool: Tool, options: ProbeOptions) -> tuple[Check, ...]:
    return await check_needs(
        tool.needs, environment=options.environment, grants=options.grants, folder=options.folder
    )


def _tool_reach(tool: Tool, server: ReachState, checks: tuple[Check, ...]) -> ToolReach:
    state: ReachState = server
    if any(check.passed is False for check in checks):
        state = "blocked"
    elif any(check.passed is None for check in checks) and state == "reachable":
        state = "unknown"
    return ToolReach(
        tool=tool.key, state=state, checks=checks, called=any(check.kind == "call" for check in checks)
    )


async def _probe_server(config: ServerConfig, options: ProbeOptions) -> _Started:
    checks = _before_start(config, options)
    if any(check.passed is False for check in checks):
        return _Started(reach=ServerReach(name=config.name, state="blocked", checks=checks))
    loop = asyncio.get_running_loop()
    begun = loop.time()
    session = ServerSession(config, SessionOptions(startup_timeout=options.timeout))
    try:
        async with session:
            checks += (
                _passed(
                    "handshake",
                    config.name,
                    f"protocol {session.protocol_version}",
                    f"协议 {session.protocol_version}",
                ),
            )
            raw_tools, _ = await session.list_tools()
            seconds = loop.time() - begun
            checks += (
                _passed("listing", config.name, f"{len(raw_tools)} tools", f"{len(raw_tools)} 个工具"),
            )
            calls = await _harmless_calls(session, raw_tools) if options.call else {}
            reach = ServerReach(
                name=config.name,
                state="reachable",
                checks=checks,
                tools=len(raw_tools),
                protocol_version=session.protocol_version,
                info=session.info,
                seconds=seconds,
            )
            return _Started(reach=reach, raw_tools=raw_tools, calls=calls)
    except ServerError as error:
        failed = Check(
            kind="handshake",
            name=config.name,
            passed=False,
            detail=Message(error.message, error.message),
            fix=Message(
                error.next_step or "start it by hand and read what it prints",
                error.next_step or "手动启动并查看输出",
            ),
        )
        return _Started(
            reach=ServerReach(
                name=config.name, state="blocked", checks=(*checks, failed), seconds=loop.time() - begun
            )
        )


def _before_start(config: ServerConfig, options: ProbeOptions) -> tuple[Check, ...]:
    """What can be seen without starting: mistakes of the entry (unset variables among them) and the command."""
    checks = [
        Check(kind="configuration", name=config.name, passed=False, detail=finding.message, fix=finding.fix)
        for finding in config.findings
        if finding.severity == "error"
    ]
    if config.command:
        search = config.env.get("PATH") or options.environment.get("PATH")
        found = shutil.which(config.command, path=search)
        if found is None and config.cwd and (Path(config.cwd) / config.command).is_file():
            found = config.command
        checks.append(
            Check(
                kind="command",
                name=config.command,
                passed=found is not None,
                detail=Message("found", "已找到")
                if found
                else Message(
                    f"{config.command!r} is not installed or not on PATH",
                    f"{config.command!r} 未安装或不在 PATH 中",
                ),
                fix=None if found else Message("install it, or write its full path", "安装它，或写完整路径"),
            )
        )
    return tuple(checks)


def _passed(kind: str, name: str, en: str, zh: str) -> Check:
    return Check(kind=kind, name=name, passed=True, detail=Message(en, zh))


async def _harmless_calls(session: ServerSession, raw_tools: Sequence[dict[str, Any]]) -> dict[str, Check]:
    """Call every tool that says it is read-only and needs no argument, once."""
    calls = {}
    for raw in raw_tools:
        annotations = raw.get("annotations")
        schema = raw.get("inputSchema")
        read_only = isinstance(annotations, Mapping) and annotations.get("readOnlyHint") is True
        needs_nothing = not (schema.get("required") if isinstance(schema, Mapping) else None)
        name = str(raw.get("name"))
        if not (read_only and needs_nothing):
            continue
        try:
            result = await session.call_tool(name, {}, timeout=CALL_SECONDS)
        except ServerError as error:
            calls[name] = Check(
                kind="call", name=name, passed=False, detail=Message(error.message, error.message)
            )
            continue
        failed = bool(result.get("isError"))
        calls[name] = Check(
            kind="call",
            name=name,
            passed=None if failed else True,
            detail=Message("the call answered with an error", "调用返回错误")
            if failed
            else Message("a call without arguments worked", "无参数调用成功"),
        )
    return calls


def probe(source: Any, options: ProbeOptions, *, overlay: Any = None) -> ProbeResult:
    """Probe a source: an `mcpServers` file or mapping is started; anything else is loaded and its needs are checked."""
    from agent_reach.catalog.sources.mcp import run_apart
    from agent_reach.probe.sources import server_configs

    configs = server_configs(source, options.environment)
    if configs is None:
        catalog = Catalog.load(source, overlay=overlay, environment=options.environment)
        return run_apart(probe_catalog(catalog, options))
    return run_apart(probe_servers(configs, options, overlay))
