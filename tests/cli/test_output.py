"""The one door to the terminal: what tools, tasks and traces say cannot act on it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_reach.cli import main as cli_main
from agent_reach.cli.output import echo, language_of, print_findings, print_json
from agent_reach.records.finding import Finding
from agent_reach.records.message import Message
from agent_reach.reports.figures import display_width, is_control, plain_text

COMMANDS = Path(cli_main.__file__).parent
EVIL = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202egpj.exe\u2066\x08"
ACTING = set("\x1b\x07\x9b\u202e\u2066\x08")


def test_every_command_writes_through_the_one_door():
    for path in sorted(COMMANDS.glob("*.py")):
        if path.name != "output.py":
            text = path.read_text(encoding="utf-8")
            assert "click.echo(" not in text, path.name
            assert "click.secho(" not in text, path.name
            assert "print(" not in text.replace("console.print(", ""), path.name


@given(st.text())
def test_plain_text_keeps_everything_but_controls(text):
    shown = plain_text(text)
    assert len(shown) == len(text)
    for before, after in zip(text, shown, strict=True):
        if before in "\n\t" or not is_control(before):
            assert after == before
        else:
            assert after == "\ufffd"


def test_echo_takes_controls_out_and_json_escapes_them(capsys):
    echo(f"a{EVIL}b\n\tc")
    out = capsys.readouterr().out
    assert not ACTING & set(out)
    assert out.endswith("b\n\tc\n")
    print_json({"a": EVIL, "中": "文"})
    out = capsys.readouterr().out
    assert not ACTING & set(out)
    assert json.loads(out) == {"a": EVIL, "中": "文"}
    assert "文" in out


def test_findings_are_wrapped_and_masked(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    finding = Finding(
        code="server_failed",
        severity="error",
        subject="s",
        message=Message("word " * 60 + "SECRET=hunter2", "字" * 200),
        fix=Message("mend " * 40, "改"),
    )
    for language in ("en", "zh"):
        print_findings([finding], language)
        err = capsys.readouterr().err
        assert all(display_width(line) <= 80 for line in err.splitlines())
        assert "hunter2" not in err


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("zh", "zh"),
        ("zh_CN.UTF-8", "zh"),
        ("ZH-Hans", "zh"),
        ("en_GB", "en"),
        ("C.UTF-8", "en"),
        ("POSIX", "en"),
        ("fr", None),
        ("zhx", None),
        ("", None),
    ],
)
def test_language_of(text, language):
    assert language_of(text) == language


@pytest.fixture
def evil_tools(tmp_path):
    def tool(name: str, words: str) -> dict[str, object]:
        return {
            "name": name,
            "description": words,
            "inputSchema": {
                "type": "object",
                "properties": {f"p{EVIL}": {"type": "string", "description": words}},
                "required": [f"p{EVIL}"],
            },
        }

    old, new = tmp_path / "old.json", tmp_path / "new.json"
    old.write_text(json.dumps({"tools": [tool("find", f"Find orders {EVIL}."), tool(f"x{EVIL}", EVIL)]}))
    new.write_text(
        json.dumps({"tools": [tool("find", f"Find all orders {EVIL} now."), tool(f"y{EVIL}", EVIL)]})
    )
    suite = tmp_path / "core.yaml"
    suite.write_text(
        json.dumps(
            {"tasks": [{"id": "t1", "query": f"find my order {EVIL}", "expected_tools": [f"gone{EVIL}"]}]}
        )
    )
    return tmp_path


@pytest.mark.parametrize(
    "arguments",
    [
        ["catalog", "show", "old.json"],
        ["catalog", "show", "old.json", "--json"],
        ["catalog", "show", "old.json", "--tool", "find"],
        ["catalog", "diff", "old.json", "new.json"],
        ["catalog", "export", "old.json", "--form", "openai"],
        ["snapshot", "old.json"],
        ["lint", "old.json"],
        ["lint", "old.json", "--format", "markdown"],
        ["check", "old.json"],
        ["probe", "old.json"],
        ["route", "find my order", "old.json"],
        ["suite", "list", "core.yaml"],
        ["suite", "lint", "core.yaml", "--catalog", "old.json"],
        ["catalog", "show", "old.json", "--tool", f"nope{EVIL}"],
        ["lint", f"nope{EVIL}.json"],
    ],
)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_hostile_words_do_not_reach_the_terminal(evil_tools, monkeypatch, capsys, arguments, language):
    monkeypatch.chdir(evil_tools)
    monkeypatch.setenv("AGENT_REACH_LANG", language)
    cli_main.run_command_line(arguments)
    captured = capsys.readouterr()
    said = captured.out + captured.err
    assert said.strip()
    assert not ACTING & set(said)
    assert "internal" not in captured.err
    assert "内部" not in captured.err


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize(
    "arguments",
    [
        ["suite", "list", "core.yaml"],
        ["suite", "lint", "core.yaml", "--catalog", "tools.json"],
        ["lint", "--rules"],
        ["route", "find the orders of a customer", "tools.json"],
        ["probe", "tools.json"],
        ["snapshot", "tools.json"],
        ["check", "tools.json"],
    ],
)
def test_lines_fit_eighty_columns(tmp_path, monkeypatch, capsys, arguments, language):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("AGENT_REACH_LANG", language)
    tools = [
        {
            "name": f"find_the_orders_of_a_customer_{number}",
            "description": "Find the orders of a customer. 查询客户的订单。" * 4,
            "inputSchema": {"type": "object", "properties": {"customer": {"type": "string"}}},
        }
        for number in range(3)
    ]
    (tmp_path / "tools.json").write_text(json.dumps({"tools": tools}))
    task = {
        "id": "a-long-name-of-a-task",
        "kind": "must",
        "query": "find the orders of a customer " * 8,
        "tags": ["confusable", "slow"],
        "path": [{"tool": f"find_the_orders_of_a_customer_{number}"} for number in (0, 1, 7)],
    }
    (tmp_path / "core.yaml").write_text(json.dumps({"tasks": [task]}))
    run = cli_main.run_command_line(arguments)
    captured = capsys.readouterr()
    assert run in (0, 1), captured.err
    lines = (captured.out + captured.err).splitlines()
    assert lines
    if arguments[0] == "route":  # the text for the model, between empty lines, is data
        lines = lines[: lines.index("")]
    assert [line for line in lines if display_width(line) > 80] == []
