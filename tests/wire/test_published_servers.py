"""Published servers, each a real process: started side by side in both eras, one killed while it lists.

Runs where AGENT_REACH_SERVERS names a folder made by `benchmarks/servers/install.py`.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import json
import os
import signal
import socket
from pathlib import Path
from typing import Any

import pytest
from tests.wire.launching import alive, run

from agent_reach.backends.mcp import McpBackend
from agent_reach.records.tool import Tool
from agent_reach.wire.results import outcome_of_result
from agent_reach.wire.servers import ServerConfig, parse_servers
from agent_reach.wire.session import ServerSession, SessionOptions
from agent_reach.wire.startup import ServerListing, list_servers, start_servers

pytestmark = pytest.mark.live
OPTIONS = SessionOptions(startup_timeout=50)


@pytest.fixture(scope="module")
def configs() -> tuple[ServerConfig, ...]:
    folder = os.environ.get("AGENT_REACH_SERVERS", "")
    path = Path(folder, "servers.json")
    if not folder or not path.is_file():
        pytest.skip(
            "no published servers: run benchmarks/servers/install.py and set AGENT_REACH_SERVERS to its folder"
        )
    found = parse_servers(json.loads(path.read_text()), dict(os.environ), str(path))
    assert all(config.usable for config in found)
    return found


@pytest.fixture(scope="module")
def listings(configs: tuple[ServerConfig, ...]) -> tuple[ServerListing, ...]:
    return run(list_servers(configs, OPTIONS, at_once=4))


def test_at_least_ten_servers_list_their_tools_in_both_eras(listings: tuple[ServerListing, ...]) -> None:
    failed = {listing.name: str(listing.error) for listing in listings if listing.error}
    assert failed == {}
    assert len(listings) >= 10
    assert all(listing.tools for listing in listings)
    assert {listing.protocol_version for listing in listings} >= {"2025-11-25", "2026-07-28"}


def test_the_lists_are_those_recorded_from_the_same_servers(
    listings: tuple[ServerListing, ...], real_data: Path
) -> None:
    recorded: dict[str, set[str]] = {}
    for path in sorted((real_data / "mcp_servers").glob("*.json")):
        document = json.loads(path.read_text(encoding="utf-8"))
        tools = document.get("tools", document.get("result", {}).get("tools", []))
        recorded[path.stem] = {tool["name"] for tool in tools}
    compared = [listing for listing in listings if listing.name in recorded]
    if not compared:
        pytest.skip("no recorded list of these servers")
    for listing in compared:
        assert {tool["name"] for tool in listing.tools} == recorded[listing.name], listing.name


def test_one_killed_while_listing_leaves_the_others_whole(configs: tuple[ServerConfig, ...]) -> None:
    victim = next(config for config in configs if config.name in ("time", "git"))
    others = [config for config in configs if config.name in ("filesystem", "memory", "sqlite", "calculator")]

    async def main() -> None:
        session = ServerSession(victim, OPTIONS)
        await session.open()
        assert session.process_id is not None
        os.kill(session.process_id, signal.SIGSTOP)  # it is certainly still listing when the kill comes
        listing = asyncio.create_task(session.list_tools())
        healthy = asyncio.create_task(list_servers(others, OPTIONS))
        await asyncio.sleep(0.2)
        os.kill(session.process_id, signal.SIGKILL)
        with pytest.raises(Exception, match="SIGKILL"):
            await listing
        assert all(found.tools and found.error is None for found in await healthy)
        await session.close()
        assert not alive(session.process_id)

    run(main())


def test_calls_on_real_servers_and_no_process_left(configs: tuple[ServerConfig, ...]) -> None:
    by_name = {config.name: config for config in configs}
    wanted: list[tuple[str, str, dict[str, Any], str]] = [
        ("time", "get_current_time", {"timezone": "Asia/Shanghai"}, "Asia/Shanghai"),
        ("calculator", "calculate", {"expression": "6*7"}, "42"),
        ("sqlite", "read_query", {"query": "select 1 + 1 as two"}, "two"),
        ("everything", "echo", {"message": "hello"}, "hello"),
        ("git", "git_status", {"repo_path": "{scratch}/repository"}, "branch"),
        ("filesystem", "list_directory", {"path": "{scratch}"}, ""),
        ("memory", "read_graph", {}, "entities"),
    ]
    chosen = [config for config in configs if config.name in {name for name, *_ in wanted}]

    async def main() -> None:
        backend = McpBackend(chosen, options=OPTIONS)
        processes = []
        try:
            for server, name, arguments, said in wanted:
                if server not in by_name:
                    continue
                filled = {
                    key: value.replace("{scratch}", by_name[server].cwd) if isinstance(value, str) else value
                    for key, value in arguments.items()
                }
                outcome = await backend.call(Tool(name=name, server=server), filled, timeout=30)
                assert outcome.ok, (server, outcome)
                assert said in outcome.text
                session = backend.session_of(server)
                assert session is not None
                processes.append(session.process_id or 0)
            assert all(alive(process) for process in processes)
        finally:
            await backend.aclose()
        assert not any(alive(process) for process in processes)

    run(main())


def test_progress_and_long_work_of_the_everything_server(configs: tuple[ServerConfig, ...]) -> None:
    config = next((config for config in configs if config.name == "everything"), None)
    if config is None:
        pytest.skip("the everything server is not installed")

    async def main() -> None:
        async with ServerSession(config, OPTIONS) as session:
            seen: list[Any] = []
            raw = await session.call_tool(
                "trigger-long-running-operation",
                {"duration": 3, "steps": 3},
                timeout=2,
                on_progress=seen.append,
            )
            assert outcome_of_result(raw, Tool(name="t")).ok
            assert len(seen) >= 2
            picture = outcome_of_result(await session.call_tool("get-tiny-image"), Tool(name="t"))
            assert picture.ok
            assert any(isinstance(block, dict) and block.get("type") == "image" for block in picture.value)

    run(main())


def test_the_old_handshake_with_servers_that_speak_both(configs: tuple[ServerConfig, ...]) -> None:
    chosen = [config for config in configs if config.name in ("time", "git", "excel")]
    options = dataclasses.replace(OPTIONS, era="legacy")

    async def main() -> None:
        started = await start_servers(chosen, options, budget=55)
        try:
            assert started.missing == {}
            for session in started.sessions.values():
                assert session.protocol_version == "2025-11-25"
                tools, _ = await session.list_tools()
                assert tools
        finally:
            await started.close()

    run(main())


@pytest.mark.parametrize(("word", "path"), [("streamableHttp", "/mcp"), ("sse", "/sse")])
def test_the_everything_server_over_http(configs: tuple[ServerConfig, ...], word: str, path: str) -> None:
    config = next((config for config in configs if config.name == "everything"), None)
    if config is None:
        pytest.skip("the everything server is not installed")

    async def main() -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        process = await asyncio.create_subprocess_exec(
            config.command,
            word,
            env={**config.env, "PORT": str(port)},
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            while True:
                with contextlib.suppress(OSError):
                    _, writer = await asyncio.open_connection("127.0.0.1", port)
                    writer.close()
                    break
                await asyncio.sleep(0.1)
            far = ServerConfig(name="far", transport="auto", url=f"http://127.0.0.1:{port}{path}")
            async with ServerSession(far, OPTIONS) as session:
                assert session.protocol_version == "2025-11-25"
                tools, _ = await session.list_tools()
                assert len(tools) >= 10
                seen: list[Any] = []
                raw = await session.call_tool(
                    "trigger-long-running-operation", {"duration": 2, "steps": 2}, on_progress=seen.append
                )
                assert outcome_of_result(raw, Tool(name="t")).ok
                assert seen
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            await process.wait()

    run(main())
