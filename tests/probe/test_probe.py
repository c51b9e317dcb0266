"""Physical reach: what blocks a tool is named, what cannot be decided stays unknown, secrets are never shown."""

from __future__ import annotations

import asyncio
import json
import socket
import sys
from pathlib import Path

import pytest

from agent_reach import Catalog
from agent_reach.cli.main import run_command_line
from agent_reach.config.settings import EnvironmentGrants
from agent_reach.errors import InputError
from agent_reach.probe.needs import check_needs
from agent_reach.probe.probe import ProbeOptions, probe
from agent_reach.records.tool import Needs

SERVER = """
import json, sys
TOOLS = [
    {"name": "ping", "description": "Ping.", "inputSchema": {"type": "object", "properties": {}}, "annotations": {"readOnlyHint": True}},
    {"name": "sick", "description": "Sick.", "inputSchema": {"type": "object", "properties": {}}, "annotations": {"readOnlyHint": True}},
    {"name": "drop", "description": "Drop all.", "inputSchema": {"type": "object", "properties": {}}},
]
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    method = message["method"]
    if method == "initialize":
        result = {"protocolVersion": message["params"]["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": {"name": "t", "version": "1"}}
    elif method == "tools/list":
        result = {"tools": TOOLS}
    elif method == "tools/call":
        name = message["params"]["name"]
        assert name != "drop"
        result = {"content": [{"type": "text", "text": name}], "isError": name == "sick"}
    else:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "no"}}), flush=True)
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""


@pytest.fixture
def servers(tmp_path: Path) -> dict[str, object]:
    (tmp_path / "server.py").write_text(SERVER, encoding="utf-8")
    return {
        "mcpServers": {
            "good": {"command": sys.executable, "args": [str(tmp_path / "server.py")]},
            "gone": {"command": "no-such-program-here"},
            "unset": {"command": sys.executable, "env": {"TOKEN": "${NOT_SET_ANYWHERE}"}},
            "dies": {"command": sys.executable, "args": ["-c", "import sys; sys.exit('cannot open port')"]},
        }
    }


@pytest.mark.live
def test_servers_are_started_and_what_blocks_them_is_named(servers, tmp_path):
    overlay = {
        "tools": {
            "good/drop": {"needs": {"env": ["DROP_KEY"], "scopes": ["admin"]}},
            "good/ping": {"needs": {"files": ["server.py"]}},
        }
    }
    options = ProbeOptions(environment={"PATH": "/usr/bin:/bin"}, folder=tmp_path, timeout=20.0, call=True)
    result = probe(servers, options, overlay=overlay)
    states = {server.name: server.state for server in result.servers}
    assert states == {"good": "reachable", "gone": "blocked", "unset": "blocked", "dies": "blocked"}
    reasons = {
        server.name: [check.detail.en for check in server.checks if check.passed is False]
        for server in result.servers
    }
    assert "not installed" in reasons["gone"][0]
    assert "NOT_SET_ANYWHERE" in reasons["unset"][0]
    tools = {tool.tool: tool for tool in result.tools}
    assert tools["good/ping"].state == "reachable"
    assert tools["good/ping"].called
    assert tools["good/sick"].state == "unknown"
    assert tools["good/drop"].state == "blocked"
    assert not tools["good/drop"].called
    assert [check.name for check in tools["good/drop"].blockers] == ["DROP_KEY"]


def test_needs_against_what_is_here(tmp_path):
    (tmp_path / "there.txt").write_text("x", encoding="utf-8")
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    needs = Needs(
        services=(f"127.0.0.1:{port}", "127.0.0.1:1", "billing"),
        scopes=("read", "write"),
        env=("GIVEN", "EMPTY", "ABSENT"),
        files=("there.txt", "gone.txt"),
    )
    with listener:
        without = asyncio.run(
            check_needs(
                needs, environment={"GIVEN": "top-secret-value", "EMPTY": ""}, grants=None, folder=tmp_path
            )
        )
        grants = EnvironmentGrants(name="prod", scopes=("read",), services=("billing",))
        granted = asyncio.run(check_needs(needs, environment={}, grants=grants, folder=tmp_path))
    assert [check.passed for check in without] == [
        True,
        False,
        None,
        None,
        None,
        True,
        False,
        False,
        True,
        False,
    ]
    assert [check.passed for check in granted][2:5] == [True, True, False]
    assert "top-secret-value" not in str(without)


def test_other_sources_are_unknown_unless_blocked_and_functions_are_reachable(tmp_path):
    options = ProbeOptions(environment={}, folder=tmp_path)
    tools = [
        {"name": "a", "description": "A tool.", "inputSchema": {"type": "object"}},
        {"name": "b", "description": "B tool.", "inputSchema": {"type": "object"}},
    ]
    overlay = {"tools": {"b": {"needs": {"env": ["B_KEY"]}}}}
    (tmp_path / "tools.json").write_text(json.dumps(tools), encoding="utf-8")
    states = {
        tool.tool: tool.state for tool in probe(tmp_path / "tools.json", options, overlay=overlay).tools
    }
    assert states == {"a": "unknown", "b": "blocked"}
    (tmp_path / "mine.py").write_text(
        'from agent_reach import tool\n\n\n@tool\ndef add(a: int) -> int:\n    """Add."""\n    return a\n',
        encoding="utf-8",
    )
    states = {tool.tool: tool.state for tool in probe(tmp_path / "mine.py", options).tools}
    assert states == {"add": "reachable"}
    assert len(Catalog.load(tmp_path / "mine.py")) == 1


def test_a_missing_file_is_an_input_error(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        probe(tmp_path / "none.json", ProbeOptions())


@pytest.mark.live
def test_the_command(servers, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mcp.json").write_text(json.dumps(servers), encoding="utf-8")
    assert run_command_line(["probe", "mcp.json", "--timeout", "20", "--lang", "zh"]) == 1
    shown = capsys.readouterr().out
    assert "受阻" in shown
    assert run_command_line(["probe", "mcp.json", "--timeout", "20", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["servers"][0]["state"] == "reachable"
    assert run_command_line(["probe"]) == 2
