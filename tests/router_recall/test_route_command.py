"""The command `route`: what it prints, in both languages, and its exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent_reach.cli.main import EXIT_GATE, EXIT_GOOD, EXIT_INPUT, run_command_line

TOOLS = {
    "tools": [
        {
            "name": "get_weather",
            "description": "Weather forecast for a city",
            "inputSchema": {
                "type": "object",
                "properties": {"city": {"type": "string"}, "date": {"type": "string", "format": "date"}},
                "required": ["city"],
            },
        },
        {
            "name": "send_mail",
            "description": "Send a mail",
            "inputSchema": {"type": "object", "properties": {}},
        },
    ]
}


@pytest.fixture
def tools_file(tmp_path: Path) -> str:
    path = tmp_path / "tools.json"
    path.write_text(json.dumps(TOOLS), encoding="utf-8")
    return str(path)


def test_text_shows_score_why_arguments_and_saving(
    tools_file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code = run_command_line(["route", "weather tomorrow", tools_file, "--now", "2026-05-20T10:00:00+08:00"])
    printed = capsys.readouterr().out
    assert code == EXIT_GOOD
    assert "get_weather" in printed
    assert "weather" in printed
    assert "date = '2026-05-21'" in printed
    assert "tokens shown" in printed
    assert "send_mail" not in printed


def test_json_is_machine_readable(tools_file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["route", "weather", tools_file, "--json"]) == EXIT_GOOD
    document = json.loads(capsys.readouterr().out)
    assert [one["tool"] for one in document["candidates"]] == ["get_weather"]
    assert document["tokens"]["shown"] < document["tokens"]["all"]


@pytest.mark.parametrize(
    ("form", "mark"),
    [("openai", '"function"'), ("openai-search", "tool_search_output"), ("anthropic", "tool_reference"), ("lines", "get_weather(city")],
)  # fmt: skip
def test_forms(form: str, mark: str, tools_file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["route", "weather", tools_file, "--format", form]) == EXIT_GOOD
    assert mark in capsys.readouterr().out


@pytest.mark.parametrize(("language", "words"), [("en", "No tool fits."), ("zh", "没有适合的工具。")])
def test_nothing_fits_is_exit_one(
    language: str, words: str, tools_file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command_line(["route", "hello", tools_file, "--lang", language]) == EXIT_GATE
    assert words in capsys.readouterr().out


def test_other_script_is_told_on_stderr(tools_file: str, capsys: pytest.CaptureFixture[str]) -> None:
    run_command_line(["route", "明天会下雨吗", tools_file, "--lang", "zh"])
    assert "script_mismatch" in capsys.readouterr().err


def test_pins_and_bans(tools_file: str, capsys: pytest.CaptureFixture[str]) -> None:
    run_command_line(["route", "weather", tools_file, "--pin", "send_mail", "--json"])
    assert [one["tool"] for one in json.loads(capsys.readouterr().out)["candidates"]] == [
        "get_weather",
        "send_mail",
    ]
    assert run_command_line(["route", "weather", tools_file, "--deny", "get_*"]) == EXIT_GATE


def test_no_tools_to_read_is_an_input_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["route", "weather", str(tmp_path / "none.json")]) == EXIT_INPUT
    assert "none.json" in capsys.readouterr().err
