"""The lint command: its settings are checked, its findings lie on the file that was linted, its inputs stay."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent_reach.cli.main import run_command_line

TOOLS = {"tools": [{"name": "look", "description": "x", "inputSchema": {"type": "object"}}]}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tools.json").write_text(json.dumps(TOOLS))
    return tmp_path


def project(folder: Path, lint: str) -> None:
    (folder / "reach.yaml").write_text(f"catalog: tools.json\nlint: {lint}\n")


@pytest.mark.parametrize("level", ["maybe", "3", "[error]", "true"])
def test_fail_on_must_be_a_level(folder, capsys, level):
    project(folder, f"{{fail_on: {level}}}")
    for arguments in (["lint"], ["lint", "--fail-on", "error"]):
        assert run_command_line(arguments) == 2
        err = capsys.readouterr().err
        assert "lint.fail_on" in err
        assert "error, warning, info, never" in err


@pytest.mark.parametrize(("level", "code"), [("never", 0), ("info", 1), ("null", 0)])
def test_fail_on_is_followed(folder, level, code):
    project(folder, f"{{fail_on: {level}}}")
    assert run_command_line(["lint"]) == code
    assert run_command_line(["lint", "--fail-on", "never"]) == 0


def places(text: str) -> set[str]:
    results = json.loads(text)["runs"][0]["results"]
    assert results
    return {
        place["physicalLocation"]["artifactLocation"]["uri"]
        for result in results
        for place in result["locations"]
    }


def test_sarif_lies_on_the_linted_file(folder, capsys):
    run_command_line(["lint", "tools.json", "--format", "sarif"])
    assert places(capsys.readouterr().out) == {"tools.json"}
    project(folder, "{}")
    run_command_line(["lint", "--format", "sarif"])
    assert places(capsys.readouterr().out) == {"tools.json"}


def test_the_output_is_no_input(folder, capsys):
    before = (folder / "tools.json").read_bytes()
    for arguments in (
        ["lint", "tools.json", "--output", "tools.json"],
        ["snapshot", "tools.json", "--output", "tools.json"],
        ["catalog", "export", "tools.json", "--output", "./tools.json"],
    ):
        assert run_command_line(arguments) == 2
        assert "would be overwritten" in capsys.readouterr().err
    assert (folder / "tools.json").read_bytes() == before
