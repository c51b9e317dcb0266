"""Outside programs as agents of a run: started by command or called over HTTP, recorded through their own address."""

from __future__ import annotations

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from agent_reach.errors import ConfigError, ModelError
from agent_reach.evals.runner import run
from agent_reach.evals.runner_setup import RunOptions

pytestmark = pytest.mark.live

PROGRAM = """
import json, os, sys, time, urllib.request

request = json.load(sys.stdin)
url = request["mcp"]["url"]
assert url == os.environ["AGENT_REACH_MCP_URL"]
assert json.load(open(os.environ["AGENT_REACH_MCP_CONFIG"]))["mcpServers"]["tools"]["url"] == url
session, number = {}, 0


def ask(method, params):
    global number
    number += 1
    body = json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode()
    headers = {"accept": "application/json, text/event-stream", "content-type": "application/json", **session}
    with urllib.request.urlopen(urllib.request.Request(url, body, headers)) as answer:
        if answer.headers.get("mcp-session-id"):
            session["mcp-session-id"] = answer.headers["mcp-session-id"]
        text = answer.read().decode()
    lines = [line[6:] for line in text.splitlines() if line.startswith("data: {")] or [text]
    return json.loads(lines[-1])["result"]


def call(tool, arguments):
    return ask("tools/call", {"name": tool, "arguments": arguments})


if "crash" in request["query"]:
    sys.exit("no model here")
if "sleep" in request["query"]:
    time.sleep(60)
client = {"name": "program", "version": "1"}
ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client})
names = [tool["name"] for tool in ask("tools/list", {})["tools"]]
stock = {"product_id": "PDT-1001"}
if "nothing" not in request["query"]:
    if "find" in names:
        call("find", {"query": request["query"]})
        result = call("call_read", {"name": "query_stock", "arguments": stock})
    else:
        result = call("query_stock", stock)
    print("quantity", json.loads(result["content"][0]["text"])["quantity"])
if "wrong" in request["query"]:
    assert call("no_such_tool", {})["isError"]
"""
OFFICIAL = """
import asyncio, json, os

from mcp.client.client import Client


async def main():
    async with Client(os.environ["AGENT_REACH_MCP_URL"], mode="auto") as client:
        await client.list_tools()
        result = await client.call_tool("query_stock", {"product_id": "PDT-1001"})
        print("quantity", json.loads(result.content[0].text)["quantity"])

asyncio.run(main())
"""
SUITE = """
- {id: look, kind: must, query: how many PDT-1001 are there, path: [{tool: query_stock, args: {product_id: PDT-1001}, result: {quantity: 12}}]}
- {id: lazy, kind: must, query: nothing to do, path: [{tool: query_stock, args: {product_id: PDT-1001}, result: {quantity: 12}}]}
- {id: wrong, kind: must, query: wrong names, path: [{tool: query_stock, args: {product_id: PDT-1001}, result: {quantity: 12}}]}
"""
TOOLS = {
    "tools": [
        {
            "name": "query_stock",
            "description": "How many of a product are there.",
            "inputSchema": {"type": "object", "properties": {"product_id": {"type": "string"}}, "required": ["product_id"]},
            "annotations": {"readOnlyHint": True},
        },
        {"name": "update_stock", "description": "Set a number.", "inputSchema": {"type": "object", "properties": {"quantity": {"type": "integer"}}}},
    ]
}  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "suite.yaml").write_text(SUITE)
    (tmp_path / "tools.json").write_text(json.dumps(TOOLS))
    return tmp_path


def _run(folder: Path, agent: dict[str, Any], **config: Any) -> Any:
    import os

    settings = {
        "catalog": "tools.json",
        "suites": {"core": "suite.yaml"},
        "agent": {"type": "mcp-client", **agent},
        **config,
    }
    file = folder / "config.json"
    file.write_text(json.dumps(settings))
    return run(file, suite="core", options=RunOptions(environment=dict(os.environ)))


def _attempts(report: Any) -> dict[str, Any]:
    return {task.task_id: task.attempts[0] for task in report.tasks}


def test_the_official_client_of_the_current_era_is_an_agent_too(folder: Path) -> None:
    (folder / "program.py").write_text(OFFICIAL)
    (folder / "suite.yaml").write_text(SUITE.splitlines()[1])
    report = _run(folder, {"start": {"command": [sys.executable, "program.py"]}})
    assert report.metrics["tool_reachability"].value == 1
    assert _attempts(report)["look"].trace.final_text == "quantity 12"


def test_a_started_program_is_scored_by_its_calls(folder: Path) -> None:
    report = _run(folder, {"start": {"command": [sys.executable, "program.py"]}})
    attempts = _attempts(report)
    assert {name: attempt.state for name, attempt in attempts.items()} == dict.fromkeys(
        ("look", "lazy", "wrong"), "scored"
    )
    assert report.metrics["tool_reachability"].numerator == 2
    assert report.metrics["tool_reachability"].denominator == 3
    trace = attempts["look"].trace
    assert [(call.name, call.arguments) for call in trace.calls] == [
        ("query_stock", {"product_id": "PDT-1001"})
    ]
    assert trace.final_text == "quantity 12"
    assert [call.name for call in attempts["wrong"].trace.calls] == ["query_stock", "no_such_tool"]
    assert report.run.placed_by == "agent"


def test_in_search_mode_the_meta_tools_are_un_nested(folder: Path) -> None:
    report = _run(
        folder, {"start": {"command": f"{sys.executable} program.py"}, "options": {"mode": "search"}}
    )
    trace = _attempts(report)["look"].trace
    assert [call.tool for call in trace.calls] == ["query_stock"]
    assert report.metrics["tool_reachability"].numerator == 2


def test_a_program_that_fails_or_hangs_is_told_apart_from_a_wrong_decision(folder: Path) -> None:
    (folder / "suite.yaml").write_text(
        SUITE.replace("nothing to do", "crash please").replace("wrong names", "sleep on")
    )
    report = _run(folder, {"start": {"command": [sys.executable, "program.py"]}}, attempt_timeout=4)
    attempts = _attempts(report)
    assert {name: attempt.state for name, attempt in attempts.items()} == {
        "look": "scored",
        "lazy": "infra_error",
        "wrong": "agent_timeout",
    }
    assert "no model here" in attempts["lazy"].error


def test_a_program_that_runs_already_is_called(folder: Path) -> None:
    import subprocess

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            import os

            body = self.rfile.read(int(self.headers["content-length"]))
            request = json.loads(body)
            config = folder / "client.json"
            config.write_text(json.dumps({"mcpServers": {"tools": {"url": request["mcp"]["url"]}}}))
            environment = {
                **os.environ,
                "AGENT_REACH_MCP_URL": request["mcp"]["url"],
                "AGENT_REACH_MCP_CONFIG": str(config),
            }
            command = [sys.executable, str(folder / "program.py")]
            done = subprocess.run(command, input=body, capture_output=True, env=environment, check=True)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps({"text": done.stdout.decode().strip()}).encode())

        def log_message(self, *_: Any) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        report = _run(
            folder, {"start": {"http": f"http://127.0.0.1:{server.server_port}/run"}}, concurrency=1
        )
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
    assert report.metrics["tool_reachability"].numerator == 2
    assert _attempts(report)["look"].trace.final_text == "quantity 12"


def test_a_program_that_is_not_there_stops_the_run(folder: Path) -> None:
    with pytest.raises(ModelError, match="/no/such/program"):
        _run(folder, {"start": {"command": ["/no/such/program"]}})


def test_unknown_options_are_refused(folder: Path) -> None:
    with pytest.raises(ConfigError, match="mood"):
        _run(folder, {"start": {"command": ["x"]}, "options": {"mood": "search"}})
