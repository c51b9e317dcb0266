"""What `check` and `probe` say of servers that are down and of lists without tools."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from agent_reach.cli.main import run_command_line
from agent_reach.reports.figures import display_width

GOOD = Path(__file__).parents[1] / "wire" / "servers" / "raw_server.py"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    entries = {
        "good": {"command": sys.executable, "args": ["-S", "-E", str(GOOD)]},
        "gone": {"command": "agent-reach-no-such-command"},
        "dies": {
            "command": sys.executable,
            "args": ["-c", "import sys; sys.exit('no licence: ' + 'x' * 120)"],
        },
    }
    (tmp_path / "mcp.json").write_text(json.dumps({"mcpServers": entries}))
    return tmp_path


def test_failed_servers_are_servers_with_their_own_reasons(folder, capsys):
    assert run_command_line(["check", "mcp.json"]) == 0
    out = capsys.readouterr().out
    assert "2 servers could not be used" in out
    assert "agent-reach-no-such-command" in out
    assert "no licence" in out
    assert run_command_line(["check", "mcp.json", "--json"]) == 0
    look = json.loads(capsys.readouterr().out)
    fixes = [fix for fix in look["fixes"] if fix["code"] == "server_failed"]
    assert len(fixes) == 1
    assert (fixes[0]["servers"], fixes[0].get("tools", 0)) == (2, 0)
    assert sorted(fixes[0]["places"]) == ["dies", "gone"]
    assert "agent-reach-no-such-command" not in json.dumps(fixes)  # one server's reason is not the others'
    reasons = {server["name"]: server["failed"]["en"] for server in look["servers"] if server.get("failed")}
    assert "agent-reach-no-such-command" in reasons["gone"]
    assert "no licence" in reasons["dies"]
    assert run_command_line(["check", "mcp.json", "--strict"]) == 1


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("document", [[], {"tools": []}, {"mcpServers": {"s": {"args": ["--no-tools"]}}}])
def test_a_list_without_tools_is_not_in_order(folder, capsys, document, language):
    if isinstance(document, dict) and "mcpServers" in document:
        script = folder / "empty.py"
        script.write_text(EMPTY)
        document = {"mcpServers": {"s": {"command": sys.executable, "args": [str(script)]}}}
    (folder / "list.json").write_text(json.dumps(document))
    assert run_command_line(["check", "list.json", "--lang", language]) == 0
    out = capsys.readouterr().out
    assert "Nothing to mend" not in out
    assert "没有发现" not in out
    assert ("the list is empty" if language == "en" else "列表是空的") in out


EMPTY = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    if asked["method"] == "initialize":
        result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "e", "version": "1"}}
    elif asked["method"] == "tools/list":
        result = {"tools": []}
    else:
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "error": {"code": -32601, "message": "no"}}), flush=True)
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
"""


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('{"tools": [], "tools": []}', 1),
        ('{"tools": [\n{"name": "a",\n"name": "b"}]}', 3),
        ('[{"name": "a", "inputSchema": {"type": "object", "properties": {"x": {}, "x": {}}}}]', 1),
        ('{"a": ' + "[" * 3000 + '{"k": 1, "k": 2}' + "]" * 3000 + ', "tools": []}', 1),
    ],
)
def test_a_key_written_twice_is_an_error(folder, capsys, text, line):
    (folder / "twice.json").write_text(text)
    assert run_command_line(["check", "twice.json"]) == 2
    err = capsys.readouterr().err
    assert f"twice.json:{line}: the key " in err
    assert "written twice" in err


@pytest.mark.parametrize("language", ["en", "zh"])
def test_probe_counts_blocked_servers_and_fits_the_terminal(folder, capsys, language):
    assert run_command_line(["probe", "mcp.json", "--lang", language]) == 1
    out = capsys.readouterr().out
    said = "2 of 3 servers blocked" if language == "en" else "3 个服务器中有 2 个受阻"
    assert said in out.replace("\n    ", " ")
    assert all(display_width(line) <= 80 for line in out.splitlines())
