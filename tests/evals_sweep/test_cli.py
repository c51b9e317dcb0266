"""The command line of sweeps."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agent_reach.cli.main import run_command_line

TOOLS = [
    {
        "name": f"{verb}_{noun}",
        "description": f"{verb} the {noun}",
        "inputSchema": {"type": "object", "properties": {}},
    }
    for verb in ("open", "close", "print")
    for noun in ("door", "window", "letter", "gate")
]
SUITE = [
    {
        "id": tool["name"],
        "kind": "must",
        "query": f"please {tool['description']}",
        "path": [{"tool": tool["name"], "result": "ok"}],
    }
    for tool in TOOLS[:6]
]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "tools.json").write_text(json.dumps({"tools": TOOLS}))
    more = [{"name": "open_doors", "description": "open the door", "inputSchema": {"type": "object"}}]
    (tmp_path / "more.json").write_text(json.dumps({"tools": more}))
    (tmp_path / "suite.json").write_text(json.dumps(SUITE))
    (tmp_path / "config.yaml").write_text("catalog: tools.json\nsuites: {s: suite.json}\nagent: lexical\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_sweep_writes_all_its_forms(project: Path, capsys: Any) -> None:
    arguments = ["sweep", "--tools", "3,12", "--exposure", "all,reach", "--quiet"]
    assert run_command_line([*arguments, "--dry-run"]) == 0
    assert "4 points, 24 attempts" in capsys.readouterr().out
    files = ["--csv", "s.csv", "--svg", "s.svg", "--html", "s.html", "--json-file", "s.json"]
    assert run_command_line([*arguments, *files]) == 0
    said = capsys.readouterr().out
    assert "capacity (all" in said
    assert (project / "s.csv").read_text().count("\n") == 5
    assert (project / "s.svg").read_text().startswith("<svg")
    assert run_command_line([*arguments, "--lang", "zh", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["points"]) == 4


def test_predict_says_what_a_catalog_would_do(project: Path, capsys: Any) -> None:
    assert run_command_line(["sweep", "--predict", "more.json"]) == 0
    said = capsys.readouterr().out
    assert "12 tools become 13" in said
    assert "give --report" in said
    assert run_command_line(["run", "--suite", "s", "--report", "r.json", "--quiet"]) == 0
    capsys.readouterr()
    assert run_command_line(["sweep", "--predict", "more.json", "--report", "r.json", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["check"]["decisions"] == 6


@pytest.mark.parametrize(
    "arguments",
    [["--tools", "ten"], ["--tools", "2.5"], ["--exposure", "some", "--tools", "3"], ["--tools", "99"], []],
)
def test_wrong_axes_exit_with_2(project: Path, capsys: Any, arguments: list[str]) -> None:
    assert run_command_line(["sweep", *arguments]) == 2
    assert "error" in capsys.readouterr().err
