"""How a command ends when something is wrong: exit code, one clear text, no secrets, no terminal controls."""

from __future__ import annotations

import errno
import json
import sys

import click
import pytest

from agent_reach.cli import main as cli_main
from agent_reach.cli.failure import error_lines, language_in
from agent_reach.errors import AgentReachError, InputError


@pytest.fixture
def ending(monkeypatch, capsys):
    """Run a command that raises; gives its exit code, stdout and stderr."""

    monkeypatch.delenv("AGENT_REACH_TRACEBACK", raising=False)
    monkeypatch.delenv("AGENT_REACH_LANG", raising=False)

    def run(error: BaseException, *arguments: str) -> tuple[int, str, str]:
        @click.command()
        @click.option("--lang")
        def failing(lang: str | None) -> None:
            raise error

        monkeypatch.setattr(cli_main, "group", failing)
        monkeypatch.setattr(cli_main, "_drop_output", lambda stream: None)
        code = cli_main.run_command_line(list(arguments))
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (
            InputError("no good", where="a.json", next_step="mend it"),
            "error: a.json: no good\n  next: mend it\n",
        ),
        (
            OSError(errno.ENAMETOOLONG, "File name too long", "x" * 900),
            "error: " + "x" * 197 + "...: File name too long\n",
        ),
        (OSError(errno.ENOSPC, "No space left on device"), "error: No space left on device\n"),
    ],
)
def test_an_input_error_is_exit_2_and_one_text(ending, error, said):
    assert ending(error) == (2, "", said)


def test_an_unexpected_error_is_exit_2_with_its_type_and_without_traceback(ending, monkeypatch):
    code, out, err = ending(ZeroDivisionError("division\nby zero"))
    assert (code, out) == (2, "")
    assert err.startswith("internal error: ZeroDivisionError: division by zero\n")
    assert "AGENT_REACH_TRACEBACK=1" in err
    assert "Traceback" not in err
    monkeypatch.setenv("AGENT_REACH_TRACEBACK", "1")
    assert "Traceback (most recent call last)" in ending(ZeroDivisionError("x"))[2]


def test_error_lines_mask_secrets_and_controls(ending):
    _, _, err = ending(
        InputError("mysql://user:secretpw@host \x1b]0;owned\x07 \u202e", where="SECRET=hunter2")
    )
    assert "secretpw" not in err
    assert "hunter2" not in err
    assert not {"\x1b", "\x07", "\u202e"} & set(err)
    assert "mysql://user:" in err


def test_the_frame_is_in_the_language_asked_for(ending, monkeypatch):
    error = InputError("no good", next_step="mend it")
    assert ending(error, "--lang", "zh")[2] == "错误：no good\n  下一步：mend it\n"
    monkeypatch.setenv("AGENT_REACH_LANG", "zh_CN.UTF-8")
    assert ending(error)[2] == "错误：no good\n  下一步：mend it\n"
    assert ending(error, "--lang=en")[2].startswith("error: ")
    assert "内部错误：KeyError" in ending(KeyError("x"))[2]


def test_a_wrong_flag_is_told_with_usage(capsys):
    assert cli_main.run_command_line(["lint", "--nope"]) == 2
    err = capsys.readouterr().err
    assert err.startswith("Usage: ")
    assert "error: No such option '--nope'" in err


def test_a_full_disk_is_no_traceback(monkeypatch, capsys):
    class Full:
        encoding = "utf-8"

        def write(self, text: str) -> int:
            raise OSError(errno.ENOSPC, "No space left on device")

        def flush(self) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

        def isatty(self) -> bool:
            return False

    monkeypatch.setattr(cli_main, "_drop_output", lambda stream: None)
    monkeypatch.setattr(sys, "stdout", Full())
    assert cli_main.run_command_line(["lint", "--rules"]) == 2
    assert capsys.readouterr().err == "error: No space left on device\n"


def test_the_language_variable_takes_locales_and_is_named_when_wrong(monkeypatch, capsys):
    monkeypatch.setenv("AGENT_REACH_LANG", "zh_CN.UTF-8")
    assert cli_main.run_command_line(["lint", "--rules"]) == 0
    assert "工具" in capsys.readouterr().out
    monkeypatch.setenv("AGENT_REACH_LANG", "fr_FR")
    assert cli_main.run_command_line(["lint", "--rules"]) == 2
    assert "environment variable AGENT_REACH_LANG: 'fr_FR'" in capsys.readouterr().err
    assert cli_main.run_command_line(["lint", "--rules", "--lang", "en"]) == 0
    assert "tool" in capsys.readouterr().out
    assert cli_main.run_command_line(["lint", "--rules", "--lang", "de"]) == 2
    assert "'--lang': 'de'" in capsys.readouterr().err


def test_language_in_takes_the_last_word_and_ignores_unknown_ones(monkeypatch):
    monkeypatch.delenv("AGENT_REACH_LANG", raising=False)
    assert language_in(["--lang", "zh", "--lang=en"]) == "en"
    assert language_in(["--lang"]) == "en"
    assert language_in(["--lang", "xx"]) == "en"


def test_our_own_error_without_a_place_has_no_colon():
    assert error_lines(AgentReachError("words"), "en") == ["error: words"]


@pytest.mark.parametrize("value", ["a" * 5000 + ".json", "a\0b.json"])
def test_impossible_paths_are_input_errors(value, capsys):
    assert cli_main.run_command_line(["lint", value]) == 2
    err = capsys.readouterr().err
    assert err.startswith("error: ")
    assert len(err) < 1200


def test_a_folder_as_output_is_refused(tmp_path, monkeypatch, capsys):
    tools = tmp_path / "tools.json"
    tools.write_text(
        json.dumps({"tools": [{"name": "a", "description": "Read a thing.", "inputSchema": {}}]})
    )
    monkeypatch.chdir(tmp_path)
    for command in (
        ["lint", "tools.json", "--output", "."],
        ["snapshot", "tools.json", "--output", "."],
        ["catalog", "export", "tools.json", "--output", "."],
    ):
        assert cli_main.run_command_line(command) == 2, command
        assert "internal" not in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["tools.json"]
