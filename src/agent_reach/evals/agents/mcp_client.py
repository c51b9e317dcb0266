"""The `mcp-client` agent: an outside program that reaches the tools through a recording MCP address of its own.

The program is started by command, or called over HTTP, once per turn of the user, and told one address per attempt. It
decides by itself; what it calls there is executed and recorded like the calls of any other agent. What it says to its own
model is not seen: a step holds calls and no words.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, cast

from agent_reach.config.run import public_settings
from agent_reach.config.settings import AgentConfig, StartConfig
from agent_reach.errors import ConfigError, ModelError
from agent_reach.evals.agents.base import Agent, AgentInfo, AgentSetup, UnusableModelError
from agent_reach.evals.agents.session import AttemptSession
from agent_reach.gateway.attempt_address import AttemptAddresses, AttemptHandler

_STDERR_TOLD = 600
_GRACE = 2.0
OPTIONS = ("mode", "deterministic")


class McpClientAgent:
    """Starts the program, or calls it, for each turn.

    `options: {mode: search}` shows it the meta-tools `find`, `describe`, `call_read` and `call_write` in place of the tools;
    `{deterministic: true}` says that it decides the same on every run.
    """

    def __init__(self, config: AgentConfig, setup: AgentSetup) -> None:
        self._config = config
        self._start: StartConfig = config.start
        self._environment = setup.environment
        self._mode = cast(Literal["all", "search"], config.options.get("mode", "all"))
        self._addresses = AttemptAddresses()

    @property
    def info(self) -> AgentInfo:
        """What it is: the command or the address stands for the name."""
        named = self._config.name or (self._start.command[0] if self._start.command else self._start.http)
        return AgentInfo(
            name=named,
            model=self._config.model,
            settings=public_settings(self._config),
            deterministic=bool(self._config.options.get("deterministic", False)),
            placed_by="agent",
            system_prompt=self._config.system,
        )

    async def run(self, session: AttemptSession) -> None:
        """One attempt: an address is opened, the program told of it, its last words are the final text."""

        async def call(name: str, arguments: Any) -> Any:
            return await session.call(name, arguments)

        handler = AttemptHandler(
            lambda: definitions_of(session),
            call,
            mode=self._mode,
            catalog=lambda: session.catalog.subset([tool.key for tool in session.tools]),
        )
        async with self._addresses.open(handler) as address:
            while True:
                said = await self._turn(session, address)
                if said:
                    session.say(said)
                if session.next_turn() is None:
                    return
                await handler.offer_changed()

    async def _turn(self, session: AttemptSession, address: str) -> str:
        request = {
            "task_id": session.task.id,
            "attempt": session.attempt,
            "query": session.query,
            "messages": session.messages(),
            "now": session.task.now,
            "mcp": {"url": address, "type": "http"},
            "system": self._config.system,
        }
        if self._start.http:
            return await _call(self._start.http, request, self._config.headers)
        return await self._command(request, address)

    async def _command(self, request: Mapping[str, Any], address: str) -> str:
        """The program's output; its stdin holds the request as JSON."""
        with tempfile.TemporaryDirectory(prefix="agent-reach-client-") as scratch:
            servers = Path(scratch) / "mcp.json"
            servers.write_text(
                json.dumps({"mcpServers": {"tools": {"type": "http", "url": address}}}), encoding="utf-8"
            )
            facts = {
                "url": address,
                "config": str(servers),
                "query": str(request["query"]),
                "task": str(request["task_id"]),
                "now": str(request["now"]),
            }
            words = [_filled(word, facts) for word in self._start.command]
            environment = {
                **self._environment,
                **{name: _filled(value, facts) for name, value in self._start.environment.items()},
                "AGENT_REACH_MCP_URL": address,
                "AGENT_REACH_MCP_CONFIG": str(servers),
                "AGENT_REACH_QUERY": facts["query"],
                "AGENT_REACH_TASK": facts["task"],
                "AGENT_REACH_NOW": facts["now"],
            }
            output, errors, code = await self._process(words, environment, request)
        if code != 0:
            told = errors.decode("utf-8", "replace").strip()[-_STDERR_TOLD:]
            raise ModelError(
                f"the program ended with exit code {code}" + (f": {told}" if told else ""),
                where=words[0],
                next_step="run it alone with AGENT_REACH_MCP_URL set to an MCP address",
            )
        return output.decode("utf-8", "replace").strip()

    async def _process(
        self, words: Sequence[str], environment: Mapping[str, str], request: Mapping[str, Any]
    ) -> tuple[bytes, bytes, int]:
        try:
            process = await asyncio.create_subprocess_exec(
                *words,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env=dict(environment),
                cwd=self._start.folder or None,
                start_new_session=True,
            )
        except OSError as error:
            raise UnusableModelError(
                f"the program {words[0]!r} cannot be started: {error.strerror}",
                where="agent.start",
                next_step="correct `start: {command: [program, argument]}`",
            ) from error
        try:
            output, errors = await process.communicate(json.dumps(request, ensure_ascii=False).encode())
        finally:
            await _ended(process)
        return output, errors, process.returncode or 0

    async def aclose(self) -> None:
        """Close the port of the addresses."""
        await self._addresses.close()


def definitions_of(session: AttemptSession) -> list[dict[str, Any]]:
    """The offered tools in protocol form, as the exposure cuts and names them."""
    shown = []
    for tool, definition in zip(session.tools, session.definitions, strict=True):
        function = definition.get("function", definition)
        entry: dict[str, Any] = {
            "name": function["name"],
            "description": function.get("description", ""),
            "inputSchema": function.get("parameters") or {"type": "object", "properties": {}},
        }
        if tool.annotations:
            entry["annotations"] = dict(tool.annotations)
        shown.append(entry)
    return shown


async def _call(address: str, request: Mapping[str, Any], headers: Mapping[str, str]) -> str:
    """Call a program that already runs; it answers when it is done, with JSON that holds `text`, or with text."""
    import httpx2

    try:
        async with httpx2.AsyncClient(timeout=None) as client:
            answer = await client.post(address, json=dict(request), headers=dict(headers))
    except httpx2.HTTPError as error:
        raise ModelError(
            f"the program at {address} did not answer: {type(error).__name__}", where="agent.start"
        ) from error
    if answer.status_code >= 400:
        raise ModelError(
            f"the program at {address} answered with status {answer.status_code}", where="agent.start"
        )
    try:
        body = answer.json()
    except ValueError:
        return answer.text.strip()
    return str(body.get("text", "")) if isinstance(body, dict) else str(body)


async def _ended(process: asyncio.subprocess.Process) -> None:
    """No process of the program's group is left, whatever ended the attempt."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGTERM)
    if process.returncode is None:
        try:
            async with asyncio.timeout(_GRACE):
                await process.wait()
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()


def _filled(word: str, facts: Mapping[str, str]) -> str:
    for name, value in facts.items():
        word = word.replace("{" + name + "}", value)
    return word


def build(config: AgentConfig, setup: AgentSetup) -> Agent:
    """The `mcp-client` agent of a run; raises `ConfigError` for an option it does not know."""
    for name in config.options:
        if name not in OPTIONS:
            raise ConfigError(
                f"unknown option {name!r}", where="agent.options", next_step=f"known: {', '.join(OPTIONS)}"
            )
    if config.options.get("mode", "all") not in ("all", "search"):
        raise ConfigError(
            "`mode` must be all or search", where="agent.options", next_step="write mode: search"
        )
    return McpClientAgent(config, setup)
