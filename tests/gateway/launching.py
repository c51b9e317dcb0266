"""Starts gateways and servers for the tests, and speaks to them line by line where no client is to be in between."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import sys
from collections.abc import AsyncIterator, Coroutine
from pathlib import Path
from typing import Any, TypeVar

from agent_reach.config.settings import ProjectConfig
from agent_reach.gateway.caller import Caller
from agent_reach.gateway.gateway import Gateway
from agent_reach.gateway.settings import gateway_settings
from agent_reach.gateway.start import build_gateway

TOOL_SERVER = Path(__file__).parent / "servers" / "tool_server.py"
LEGACY, MODERN = "2025-11-25", "2026-07-28"
Result = TypeVar("Result")


def run(main: Coroutine[Any, Any, Result], seconds: float = 60) -> Result:
    """Run a test's coroutine with a limit that only a hanging test reaches."""

    async def limited() -> Result:
        async with asyncio.timeout(seconds):
            return await main

    return asyncio.run(limited())


def entry(*flags: str, **fields: Any) -> dict[str, Any]:
    """An `mcpServers` entry that starts the tool server."""
    return {"command": sys.executable, "args": ["-S", "-E", str(TOOL_SERVER), *flags], **fields}


def servers(**entries: dict[str, Any]) -> dict[str, Any]:
    """An `mcpServers` document."""
    return {"mcpServers": entries}


def project(folder: Path, catalog: Any, **fields: Any) -> ProjectConfig:
    """A project in a folder."""
    return ProjectConfig(
        folder=str(folder), name="test", catalog=catalog, store=str(folder / "traces.db"), **fields
    )


@contextlib.asynccontextmanager
async def gateway(
    folder: Path, catalog: Any, *, environments: Any = None, overlay: str = "", **settings: Any
) -> AsyncIterator[Gateway]:
    """A gateway in this process; `settings` are those of `reach.yaml`."""
    made = project(folder, catalog, environments=environments or {}, overlay=overlay)
    settings.setdefault("mode", "all")
    built = build_gateway(made, gateway_settings(made, {}, **settings), dict(os.environ))
    try:
        yield built
    finally:
        await built.close()


def caller(version: str = LEGACY, **fields: Any) -> Caller:
    """A client on stdio."""
    fields.setdefault("connection", "stdio")
    return Caller(version=version, modern=version == MODERN, name="tester", **fields)


async def call(
    built: Gateway, name: str, arguments: Any = None, who: Caller | None = None, **more: Any
) -> Any:
    """The result of one tool call."""
    return await built.handle(
        "tools/call", {"name": name, "arguments": arguments or {}, **more}, who or caller()
    )


def said(result: dict[str, Any]) -> str:
    """The text of a result."""
    return "\n".join(block["text"] for block in result["content"] if block["type"] == "text")


def alive(process_id: int) -> bool:
    """Whether a process exists and is no zombie."""
    try:
        stat = Path(f"/proc/{process_id}/stat").read_text()
    except OSError:
        return False
    return stat.rsplit(")", 1)[1].split()[0] != "Z"


def children_of(process_id: int) -> list[int]:
    """The ids of the living children of a process, zombies included."""
    found = []
    for place in Path("/proc").iterdir():
        if place.name.isdigit():
            with contextlib.suppress(OSError, IndexError):
                fields = (place / "stat").read_text().rsplit(")", 1)[1].split()
                if int(fields[1]) == process_id:
                    found.append(int(place.name))
    return found


class Lines:
    """A client that writes and reads lines of JSON."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.garbage: list[bytes] = []
        self.notes: list[dict[str, Any]] = []
        self.asked: list[dict[str, Any]] = []
        self._waiting: dict[Any, asyncio.Future[dict[str, Any]]] = {}
        self._next = 0
        self._reader = asyncio.ensure_future(self._read())

    async def _read(self) -> None:
        assert self.process.stdout is not None
        while line := await self.process.stdout.readline():
            try:
                message = json.loads(line)
            except ValueError:
                self.garbage.append(line)
                continue
            if "method" in message and "id" in message:
                self.asked.append(message)
                if message["method"] == "elicitation/create":
                    answer = {"action": "accept", "content": {"name": "Ada"}}
                    self.send({"jsonrpc": "2.0", "id": message["id"], "result": answer})
            elif "method" in message:
                self.notes.append(message)
            elif message.get("id") in self._waiting:
                self._waiting.pop(message["id"]).set_result(message)
            else:
                self.garbage.append(line)

    def send(self, message: Any) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message).encode() + b"\n")

    def start(
        self, method: str, params: dict[str, Any] | None = None
    ) -> tuple[int, asyncio.Future[dict[str, Any]]]:
        self._next += 1
        future: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._waiting[self._next] = future
        self.send({"jsonrpc": "2.0", "id": self._next, "method": method, "params": params or {}})
        return self._next, future

    async def ask(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        return await self.start(method, params)[1]

    async def open(self, version: str = LEGACY, capabilities: dict[str, Any] | None = None) -> dict[str, Any]:
        params = {
            "protocolVersion": version,
            "capabilities": capabilities or {},
            "clientInfo": {"name": "lines", "version": "1"},
        }
        answer = await self.ask("initialize", params)
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return answer["result"]

    async def close(self) -> None:
        self._reader.cancel()


@contextlib.asynccontextmanager
async def serving(folder: Path, catalog: Any, *flags: str, capabilities: Any = None) -> AsyncIterator[Lines]:
    """`agent-reach serve` on stdio in a process of its own, after its handshake."""
    file = folder / "mcp.json"
    file.write_text(json.dumps(catalog))
    with (folder / "stderr.txt").open("wb") as errors:
        process = await asyncio.create_subprocess_exec(
            *serve_command(file, folder, *flags),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=errors,
            cwd=folder,
            limit=64 * 1024 * 1024,
        )
    lines = Lines(process)
    try:
        if capabilities is not False:
            await lines.open(capabilities=capabilities)
        yield lines
    finally:
        await lines.close()
        if process.returncode is None:
            assert process.stdin is not None
            process.stdin.close()
            try:
                async with asyncio.timeout(10):
                    await process.wait()
            except TimeoutError:
                process.kill()
                await process.wait()
                raise


def serve_command(file: Path, folder: Path, *flags: str) -> list[str]:
    """The command that serves a file of servers."""
    store = ["--store", str(folder / "traces.db")]
    return [sys.executable, "-m", "agent_reach", "serve", str(file), *store, *flags]


@contextlib.asynccontextmanager
async def serving_http(
    folder: Path, catalog: Any, *flags: str, config: str = ""
) -> AsyncIterator[tuple[str, Gateway]]:
    """A gateway over HTTP in this process, as `agent-reach serve --http` would make it; yields its address."""
    from agent_reach.config.project import load_project
    from agent_reach.gateway.web import serve_http

    (folder / "mcp.json").write_text(json.dumps(catalog))
    text = config or "catalog: mcp.json\n"
    (folder / "reach.yaml").write_text(f"{text}\nstore: traces.db\n")
    given: dict[str, Any] = {"port": 0, "stateless": "--stateless" in flags or None}
    if "--mode" in flags:
        given["mode"] = flags[flags.index("--mode") + 1]
    made = load_project(folder / "reach.yaml", {})
    built = build_gateway(made, gateway_settings(made, {}, **given), dict(os.environ), transport="http")
    ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    serving = asyncio.ensure_future(serve_http(built, ready.set_result))
    try:
        await asyncio.wait({ready, serving}, return_when=asyncio.FIRST_COMPLETED)
        assert ready.done(), serving.exception()
        yield ready.result(), built
    finally:
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)
        await built.close()


@contextlib.asynccontextmanager
async def http_process(
    folder: Path, catalog: Any, *flags: str
) -> AsyncIterator[tuple[str, asyncio.subprocess.Process]]:
    """`agent-reach serve --http` in a process of its own; yields its address and the process."""
    file = folder / "mcp.json"
    file.write_text(json.dumps(catalog))
    process = await asyncio.create_subprocess_exec(
        *serve_command(file, folder, "--http", "--port", "0", *flags),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
        cwd=folder,
    )
    assert process.stderr is not None
    told = ""
    try:
        while not (found := re.search(r"serving (http\S+)", told)):
            line = (await process.stderr.readline()).decode()
            assert line, f"the gateway ended before it listened: {told}"
            told += line
        yield found.group(1), process
    finally:
        if process.returncode is None:
            process.terminate()
        async with asyncio.timeout(15):
            await process.communicate()
