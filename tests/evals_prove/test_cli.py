"""The command line of proofs, on a small project with an agent that is a Python function."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agent_reach.cli.main import run_command_line

TOOLS = [
    {
        "name": "set_stock",
        "description": "Set the stock.",
        "inputSchema": {"type": "object", "properties": {"day": {"type": "string"}}, "required": ["day"]},
    },
    {"name": "send_mail", "description": "Send a mail.", "inputSchema": {"type": "object", "properties": {}}},
]
AGENT = """
import json

async def run(request):
    known = "YYYY-MM-DD" in json.dumps(request.definitions)
    await request.call("set_stock", {"day": "2030-01-02" if known else "02/01/2030"})

run.deterministic = True
"""
SUITE = [
    {
        "id": "a",
        "kind": "must",
        "query": "Set it for 2 January 2030.",
        "path": [{"tool": "set_stock", "args": {"day": "2030-01-02"}, "result": "ok"}],
    }
]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "tools.json").write_text(json.dumps({"tools": TOOLS}))
    (tmp_path / "agent_of_day.py").write_text(AGENT)
    (tmp_path / "suite.json").write_text(json.dumps(SUITE))
    (tmp_path / "config.yaml").write_text(
        "catalog: tools.json\nsuites: {days: suite.json}\nagent: {type: python, function: 'agent_of_day.py:run'}\n"
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path


def out(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = run_command_line(list(arguments))
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_explain_prove_says_what_it_would_spend_then_proves(project: Path, capsys: Any) -> None:
    assert out(capsys, "run", "--suite", "days", "--report", "r.json", "--quiet")[0] == 0
    code, said, _ = out(capsys, "explain", "r.json", "a", "--prove", "--dry-run")
    assert code == 0
    assert "2 attempts" in said
    code, said, _ = out(capsys, "explain", "r.json", "a", "--prove", "--output", "proved.json")
    assert code == 0
    assert "Wrong format: proved" in said
    code, said, _ = out(capsys, "explain", "proved.json", "a")
    assert "proved" in said
    assert "format and example added" in said
    assert "cost: 1 attempt with a change, against 1 untouched" in said
    code, said, _ = out(
        capsys, "report", "render", "proved.json", "--format", "html", "--output", "proved.html"
    )
    assert "format and example added" in (project / "proved.html").read_text()
    code, said, _ = out(capsys, "explain", "r.json", "a", "--prove", "--lang", "zh")
    assert "已证实" in said


def test_run_prove_writes_the_proofs_into_the_report(project: Path, capsys: Any) -> None:
    code, said, _ = out(
        capsys, "run", "--suite", "days", "--report", "r.json", "--quiet", "--prove", "--json"
    )
    assert code == 0
    json.loads(said)
    attempt = json.loads((project / "r.json").read_text())["tasks"][0]["attempts"][0]
    assert attempt["decisions"][0]["cause"]["proof"] == "proved"
    archived = next((project / ".agent-reach" / "runs").glob("*/report.json"))
    assert "newcombe" not in archived.read_text()
    assert json.loads(archived.read_text())["tasks"] == json.loads((project / "r.json").read_text())["tasks"]


def test_a_recorded_run_exits_with_2(project: Path, capsys: Any) -> None:
    assert out(capsys, "run", "--suite", "days", "--report", "r.json", "--quiet")[0] == 0
    report = json.loads((project / "r.json").read_text())
    (project / "t.jsonl").write_text(json.dumps(report["tasks"][0]["attempts"][0]["trace"]) + "\n")
    (project / "recorded.yaml").write_text(
        "catalog: tools.json\nsuites: {days: suite.json}\nagent: {type: recorded, traces: t.jsonl}\n"
    )
    code, _, err = out(capsys, "explain", "r.json", "a", "--prove", "--config", "recorded.yaml")
    assert code == 2
    assert "cannot be run again" in err
