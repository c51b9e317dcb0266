"""The official Python client in both eras and both transports: questions, progress, changes, prompts and resources."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.subscriptions import ToolsListChanged, listen
from tests.gateway.launching import MODERN, entry, run, serve_command, servers, serving_http

pytestmark = pytest.mark.live
CATALOG = servers(old=entry("--name", "old"), new=entry("--name", "new", "--era", "modern"))


@contextlib.asynccontextmanager
async def connected(folder: Path, transport: str, era: str, **callbacks: Any) -> AsyncIterator[Client]:
    async with contextlib.AsyncExitStack() as stack:
        if transport == "http":
            target: Any = (await stack.enter_async_context(serving_http(folder, CATALOG, "--mode", "all")))[0]
        else:
            file = folder / "mcp.json"
            file.write_text(json.dumps(CATALOG))
            command = serve_command(file, folder, "--mode", "all")
            target = stdio_client(
                StdioServerParameters(command=command[0], args=command[1:], cwd=folder, env=dict(os.environ))
            )
        yield await stack.enter_async_context(Client(target, mode=era, **callbacks))


@pytest.mark.parametrize("transport", ["stdio", "http"])
@pytest.mark.parametrize("era", ["legacy", MODERN])
def test_everything_a_session_offers_passes_through(tmp_path: Path, transport: str, era: str) -> None:
    asked: list[str] = []
    steps: list[float] = []

    async def elicit(context: Any, params: Any) -> types.ElicitResult:
        asked.append(params.message)
        return types.ElicitResult(action="accept", content={"name": "Ada"})

    async def progress(done: float, total: float | None, message: str | None) -> None:
        steps.append(done)

    async def main() -> dict[str, Any]:
        seen: dict[str, Any] = {}
        async with connected(tmp_path, transport, era, elicitation_callback=elicit) as client:
            for server in ("old", "new"):
                result = await client.call_tool(f"{server}__ask", {})
                seen[server] = result.content[0].text
            await client.call_tool("old__steps", {"count": 3}, progress_callback=progress)
            seen["prompt"] = (await client.get_prompt("new__greet", {"who": "Bob"})).messages[0].content.text
            resources = (await client.list_resources()).resources
            seen["resources"] = [str(one.uri) for one in resources]
            seen["read"] = (await client.read_resource(seen["resources"][0])).contents[0].text
            errors = []
            for tool in ("old__refuse", "nonsense"):
                try:
                    await client.call_tool(tool, {})
                except Exception as error:
                    errors.append(getattr(error, "code", None))
            seen["errors"] = errors
        return seen

    seen = run(main())
    assert asked == ["Your name?", "Your name?"]
    assert (seen["old"], seen["new"]) == ("hello Ada", "hello Ada")
    assert steps == [1, 2, 3]
    assert seen["prompt"] == "hello Bob from new"
    assert seen["resources"] == ["memo://old/one", "memo://new/one"]
    assert seen["read"] == "content of memo://old/one"
    assert seen["errors"] == [-32050, -32602]


@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_a_client_of_the_current_era_hears_of_changes_on_its_stream(tmp_path: Path, transport: str) -> None:
    async def main() -> Any:
        async with connected(tmp_path, transport, MODERN) as client:
            before = len((await client.list_tools()).tools)
            async with listen(client.session, tools_list_changed=True) as events:
                await client.call_tool("new__change", {})
                event = await asyncio.wait_for(anext(aiter(events)), 10)
            return event, len((await client.list_tools()).tools) - before

    event, more = run(main())
    assert isinstance(event, ToolsListChanged)
    assert more == 1


def test_an_older_client_over_http_hears_of_changes(tmp_path: Path) -> None:
    heard: list[str] = []

    async def handler(message: Any) -> None:
        heard.append(getattr(message, "method", "") or getattr(getattr(message, "root", None), "method", ""))

    async def main() -> None:
        async with connected(tmp_path, "http", "legacy", message_handler=handler) as client:
            await client.list_tools()
            await client.call_tool("old__change", {})
            while "notifications/tools/list_changed" not in heard:
                await asyncio.sleep(0.02)

    run(main())


def test_a_snapshot_is_approved_on_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from agent_reach.cli.main import run_command_line

    file, lock = tmp_path / "mcp.json", tmp_path / "lock.json"

    def write(version: str) -> None:
        file.write_text(json.dumps(servers(one=entry("--version", version))))

    write("1")
    assert run_command_line(["snapshot", str(file), "--output", str(lock)]) == 0
    write("2")
    assert run_command_line(["snapshot", str(file), "--output", str(lock), "--check"]) == 1
    capsys.readouterr()
    assert run_command_line(["snapshot", str(file), "--output", str(lock), "--approve", "one/versioned"]) == 0
    told = capsys.readouterr().out
    assert "Version 1." in told
    assert "Version 2." in told
    assert "approved one/versioned" in told
    assert run_command_line(["snapshot", str(file), "--output", str(lock), "--check"]) == 0
    assert run_command_line(["snapshot", str(file), "--output", str(lock), "--approve", "no_such"]) == 2
