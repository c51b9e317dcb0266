"""Inputs that are wrong in ways a person makes them: each is told for what it is, and nothing is left behind."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from agent_reach.cli.main import run_command_line

TOOLS = {
    "tools": [
        {
            "name": "get_order",
            "description": "Look up one order by its id. Use when the user names an order.",
            "inputSchema": {
                "type": "object",
                "properties": {"order_id": {"type": "string"}},
                "required": ["order_id"],
            },
        }
    ]
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tools.json").write_text(json.dumps(TOOLS))
    return tmp_path


@pytest.mark.parametrize("command", [["lint"], ["check"], ["probe"], ["snapshot"], ["route", "an order"]])
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "names no catalog"),
        ("# later\n", "names no catalog"),
        ("[]", "must be a mapping"),
        ("5", "must be a mapping"),
    ],
)
def test_an_empty_project_file_is_told_as_such(folder, capsys, command, text, said):
    (folder / "reach.yaml").write_text(text)
    assert run_command_line(command) == 2
    err = capsys.readouterr().err
    assert said in err
    assert "reach.yaml" in err
    assert "no project here" not in err


@pytest.mark.parametrize("now", ["nonsense", "2025-13-45", ""])
@pytest.mark.parametrize("form", ["text", "json", "openai"])
def test_a_wrong_now_is_told_before_anything_is_printed(folder, capsys, now, form):
    assert run_command_line(["route", "look up an order", "tools.json", "--now", now, "--format", form]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "ISO date-time" in captured.err


@pytest.mark.parametrize(
    "command", [["migrate"], ["migrate", "--to", "other.db"], ["prune", "--before", "30d"]]
)
@pytest.mark.parametrize("store", ["typo.db", "sqlite:///typo.db"])
def test_a_store_that_is_not_there_is_not_made(folder, capsys, command, store):
    assert run_command_line(["traces", *command, "--store", store]) == 2
    assert "there is no such store" in capsys.readouterr().err
    assert [path.name for path in folder.iterdir()] == ["tools.json"]


def test_an_unknown_kind_of_store_is_told_without_its_password(folder, capsys):
    assert run_command_line(["traces", "list", "--store", "mysql://user:secretpw@host/db"]) == 2
    err = capsys.readouterr().err
    assert "'mysql' is no kind of store" in err
    assert "secretpw" not in err


@pytest.mark.parametrize("language", ["en", "zh"])
def test_init_on_one_tool_passes_its_own_lint(folder, capsys, language):
    assert run_command_line(["init", "--lang", language]) == 0
    capsys.readouterr()
    assert run_command_line(["suite", "lint", "core-suite", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["figures"]["tasks"] == 20
    assert not {"duplicate_task", "near_duplicate_tasks"} & {item["code"] for item in document["findings"]}


def configured(folder: Path, agent: str, more: str = "") -> None:
    (folder / "core.yaml").write_text(
        "tasks:\n  - {id: t1, kind: must, query: Look up order A1, path: [{tool: get_order, args: {order_id: A1}}]}\n"
    )
    (folder / "config.yaml").write_text(
        f"catalog: tools.json\nsuites: {{core: core.yaml}}\nagent: {agent}\nexecution: recorded\n{more}"
    )


def test_a_dead_endpoint_leaves_no_run_behind(folder, capsys):
    configured(folder, "{type: chat, model: m, base_url: 'http://127.0.0.1:9/v1'}")
    assert run_command_line(["run", "--suite", "core", "--quiet"]) == 2
    assert "no connection to the endpoint" in capsys.readouterr().err
    runs = folder / ".agent-reach" / "runs"
    assert [path.name for path in runs.iterdir() if path.is_dir()] == []


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("def run(request):\n    yield 'x'\n", "the function is a generator"),
        ("async def run(request):\n    yield 'x'\n", "the function is a generator"),
        ("def run(request):\n    return (word for word in 'ab')\n", "the function is a generator"),
        ("run = 5\n", "is int, not a function"),
    ],
)
def test_an_agent_that_cannot_run_is_a_clear_error(folder, code, said):
    (folder / "odd_agent.py").write_text(code)
    configured(folder, "{type: python, function: 'odd_agent:run'}")
    command = [sys.executable, "-m", "agent_reach", "run", "--suite", "core", "--quiet"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 2, done.stdout
    assert said in done.stderr
    runs = folder / ".agent-reach" / "runs"
    assert not runs.exists() or not [path for path in runs.iterdir() if path.is_dir()]


@pytest.mark.parametrize(
    ("template", "said"),
    [
        ("{{ request", "context.template, line 1"),
        ("{{ nothing_like_it }}", "context.template: "),
        ("{{ 1 / 0 }}", "the template raised ZeroDivisionError"),
        ("{{ request + 5 }}", "the template raised TypeError"),
    ],
)
def test_a_wrong_template_is_not_the_agents_fault(folder, template, said):
    (folder / "fine_agent.py").write_text("async def run(request):\n    return 'fine'\n")
    configured(
        folder,
        "{type: python, function: 'fine_agent:run'}",
        f"context: {{template: {json.dumps(template)}}}\n",
    )
    command = [sys.executable, "-m", "agent_reach", "run", "--suite", "core", "--quiet"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 2, done.stdout
    assert said in done.stderr
    assert "the agent raised" not in done.stderr
