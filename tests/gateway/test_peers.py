"""Published servers behind the gateway, driven by the official clients of both eras in both transports.

Servers: AGENT_REACH_SERVERS names a folder made by `benchmarks/servers/install.py`. TypeScript clients: AGENT_REACH_NODE
names a folder made by `benchmarks/servers/install_clients.py`. What is not there is skipped aloud.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from tests.gateway.launching import LEGACY, MODERN, run, serve_command, serving_http

from agent_reach.gateway.eras import client_result
from agent_reach.wire.servers import ServerConfig, parse_servers
from agent_reach.wire.session import ServerSession, SessionOptions

pytestmark = pytest.mark.live
DRIVE = Path(__file__).parent / "peers" / "drive.mjs"
KEYS = ("content", "structuredContent", "isError")
FEW = ("time", "calculator", "everything", "filesystem")

CALLS: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "time": [
        ("convert_time", {"source_timezone": "Asia/Shanghai", "time": "12:30", "target_timezone": "UTC"}),
        ("convert_time", {"source_timezone": "Nowhere/Town", "time": "12:30", "target_timezone": "UTC"}),
    ],
    "git": [("git_log", {"repo_path": "{scratch}/repository", "max_count": 1}), ("git_status", {"repo_path": "/no"})],
    "fetch": [("fetch", {"url": "http://127.0.0.1:9/"})],
    "sqlite": [("list_tables", {}), ("read_query", {"query": "SELECT 1 AS one, 'x' AS two"}), ("read_query", {"query": "nonsense"})],
    "calculator": [("calculate", {"expression": "2 * 21"}), ("calculate", {"expression": "1 / 0"})],
    "excel": [("read_data_from_excel", {"filepath": "missing.xlsx", "sheet_name": "A"})],
    "word": [("get_document_info", {"filename": "missing.docx"})],
    "spreadsheet": [("list_sheets", {"file": "missing.xlsx"})],
    "everything": [
        ("echo", {"message": "你好, world \u2028 😀"}),
        ("get-sum", {"a": 1, "b": 2.5}),
        ("get-tiny-image", {}),
        ("get-structured-content", {"location": "New York"}),
        ("get-annotated-message", {"messageType": "error", "includeImage": True}),
        ("get-resource-links", {"count": 2}),
        ("get-resource-reference", {"resourceType": "Text", "resourceId": 1}),
    ],
    "filesystem": [("list_allowed_directories", {}), ("read_text_file", {"path": "/etc/hostname"})],
    "memory": [("read_graph", {})],
}  # fmt: skip


@pytest.fixture(scope="module")
def published() -> Path:
    folder = os.environ.get("AGENT_REACH_SERVERS", "")
    path = Path(folder, "servers.json")
    if not folder or not path.is_file():
        pytest.skip(
            "no published servers: run benchmarks/servers/install.py and set AGENT_REACH_SERVERS to its folder"
        )
    return path


@pytest.fixture(scope="module")
def clients() -> Path:
    folder = os.environ.get("AGENT_REACH_NODE", "")
    if not folder or not Path(folder, "node_modules", "@modelcontextprotocol").is_dir():
        pytest.skip(
            "no TypeScript clients: run benchmarks/servers/install_clients.py and set AGENT_REACH_NODE to its folder"
        )
    if shutil.which("node") is None:
        pytest.skip("node is not installed")
    return Path(folder)


@pytest.fixture(scope="module")
def configs(published: Path) -> dict[str, ServerConfig]:
    return {
        one.name: one
        for one in parse_servers(json.loads(published.read_text()), dict(os.environ), str(published))
    }


@pytest.fixture(scope="module")
def direct(configs: dict[str, ServerConfig]) -> dict[str, list[tuple[str, dict[str, Any], Any]]]:
    """What each server answers to a connection of its own: raw, in the era it speaks; a refusal is None."""
    gate = asyncio.Semaphore(4)

    async def one(config: ServerConfig) -> list[tuple[str, dict[str, Any], Any]]:
        found: list[tuple[str, dict[str, Any], Any]] = []
        async with gate, ServerSession(config, SessionOptions(startup_timeout=60)) as session:
            tools, _ = await session.list_tools()
            names = {tool["name"] for tool in tools}
            for name, arguments in CALLS.get(config.name, []):
                if name in names:
                    filled = {key: _scratch(value, config) for key, value in arguments.items()}
                    found.append((name, filled, await session.call_tool(name, filled)))
        return found

    async def main() -> dict[str, list[tuple[str, dict[str, Any], Any]]]:
        return dict(zip(configs, await asyncio.gather(*map(one, configs.values())), strict=True))

    answers = run(main(), 120)
    assert sum(map(len, answers.values())) >= 15
    return answers


def _scratch(value: Any, config: ServerConfig) -> Any:
    return value.replace("{scratch}", config.cwd) if isinstance(value, str) else value


def _jobs(direct: dict[str, Any], names: dict[str, str], servers: Any) -> tuple[list[Any], list[Any]]:
    """The calls of these servers under the gateway's names, and their direct answers."""
    calls, answers = [], []
    for server in servers:
        for name, arguments, raw in direct[server]:
            calls.append([names.get(f"{server}/{name}", name), arguments])
            answers.append(raw)
    return calls, answers


def _compare(results: list[dict[str, Any]], answers: list[Any], calls: list[Any], version: str) -> None:
    assert len(results) == len(answers) > 0
    for got, raw, (name, _) in zip(results, answers, calls, strict=True):
        expected = client_result("tools/call", raw, version, {})
        assert "error" not in got, (name, got)
        for key in KEYS:
            left, right = got.get(key), expected.get(key)
            if key == "isError":
                left, right = bool(left), bool(right)
            assert _timeless(left) == _timeless(right), (name, key)


def _timeless(value: Any) -> Any:
    """The value without the times of day that some servers write into their answers."""
    return json.loads(re.sub(r"\d{1,2}:\d\d:\d\d [AP]M", "TIME", json.dumps(value)))


def _named(
    configs: dict[str, ServerConfig], published: Path, chosen: Any
) -> tuple[dict[str, Any], dict[str, str]]:
    entries = json.loads(published.read_text())["mcpServers"]
    return {"mcpServers": {name: entries[name] for name in chosen if name in entries}}, {}


async def _node(clients: Path, **job: Any) -> dict[str, Any]:
    process = await asyncio.create_subprocess_exec(
        "node",
        str(DRIVE),
        str(clients),
        json.dumps(job),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    output, errors = await process.communicate()
    assert process.returncode == 0, errors.decode()[-2000:]
    answer: dict[str, Any] = json.loads(output)
    return answer


async def _python(target: Any, era: str, calls: list[Any]) -> dict[str, Any]:
    async with Client(target, mode=era) as client:
        tools, cursor = [], None
        while True:
            page = await client.list_tools(cursor=cursor)
            tools += [tool.name for tool in page.tools]
            cursor = page.next_cursor
            if cursor is None:
                break
        results = []
        for name, arguments in calls:
            result = await client.call_tool(name, arguments)
            dumped = result.model_dump(mode="json", by_alias=True, exclude_none=True)
            results.append({**dumped, "structuredContent": result.structured_content})
    return {"tools": tools, "results": results}


ERAS = {"python-legacy": LEGACY, "python-modern": MODERN, "sdk": LEGACY, "client": MODERN}


@pytest.mark.parametrize("kind", list(ERAS))
def test_a_client_on_stdio_gets_what_a_direct_connection_gives(
    kind: str, tmp_path: Path, published: Path, configs: dict[str, ServerConfig], direct: Any, request: Any
) -> None:
    catalog, names = _named(configs, published, FEW)
    chosen = list(catalog["mcpServers"])
    file = tmp_path / "mcp.json"
    file.write_text(json.dumps(catalog))
    calls, answers = _jobs(direct, names, chosen)
    command = serve_command(file, tmp_path, "--mode", "all")

    async def main() -> dict[str, Any]:
        if not kind.startswith("python"):
            clients = request.getfixturevalue("clients")
            return await _node(clients, client=kind, command=command, cwd=str(tmp_path), calls=calls)
        parameters = StdioServerParameters(
            command=command[0], args=command[1:], cwd=tmp_path, env=dict(os.environ)
        )
        return await _python(stdio_client(parameters), "legacy" if kind.endswith("legacy") else MODERN, calls)

    if not kind.startswith("python"):
        request.getfixturevalue("clients")
    got = run(main(), 90)
    _compare(got["results"], answers, calls, ERAS[kind])


def test_all_servers_at_once_over_http_for_every_client(
    tmp_path: Path, published: Path, configs: dict[str, ServerConfig], direct: Any
) -> None:
    """One gateway, all servers, the official Python client in both eras and, where they are, both TypeScript clients."""
    folder = os.environ.get("AGENT_REACH_NODE", "")
    kinds = list(ERAS) if folder and shutil.which("node") else ["python-legacy", "python-modern"]
    catalog, _ = _named(configs, published, configs)
    chosen = list(catalog["mcpServers"])

    async def main() -> dict[str, tuple[dict[str, Any], list[Any], list[Any]]]:
        found = {}
        async with serving_http(tmp_path, catalog, "--mode", "all") as (url, _):
            async with Client(url, mode="legacy") as client:
                listed = {tool.name for tool in (await client.list_tools()).tools}
            names = {
                f"{server}/{name}": f"{server}__{name}"
                for server in chosen
                for name, _, _ in direct[server]
                if f"{server}__{name}" in listed
            }
            calls, answers = _jobs(direct, names, chosen)
            for kind in kinds:
                if kind.startswith("python"):
                    era = "legacy" if kind.endswith("legacy") else MODERN
                    got = await _python(url, era, calls)
                else:
                    got = await _node(Path(folder), client=kind, url=url, calls=calls)
                found[kind] = (got, answers, calls)
        return found

    found = run(main(), 150)
    assert len(chosen) >= 10
    for kind, (got, answers, calls) in found.items():
        _compare(got["results"], answers, calls, ERAS[kind])
    lists = [got["tools"] for got, _, _ in found.values()]
    assert all(one == lists[0] for one in lists)
    if len(kinds) < len(ERAS):
        pytest.skip("driven by the Python client only: set AGENT_REACH_NODE for the TypeScript ones")
