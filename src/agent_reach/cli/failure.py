"""How an error ends a command: one clear text on stderr, without secrets and without anything a terminal acts on.

The frame (error, next step) is in the person's language; the texts of errors are English. Imported only when something
went wrong.
"""

from __future__ import annotations

import os
import traceback
from collections.abc import Sequence

import click

from agent_reach.cli.output import LANGUAGE_VARIABLE, echo, language_of
from agent_reach.errors import AgentReachError
from agent_reach.records.message import Language, Message
from agent_reach.redact.redactor import Redactor

TRACEBACK_VARIABLE = "AGENT_REACH_TRACEBACK"
_ERROR = Message("error: ", "错误：")
_NEXT = Message("  next: ", "  下一步：")
_STOPPED = Message("stopped", "已停止")
_INTERNAL = Message("internal error: ", "内部错误：")
_REPORT = Message(
    f"report it with this line, the command and `agent-reach --version` to the maintainers of Agent-Reach;"
    f" {TRACEBACK_VARIABLE}=1 shows where it happened",
    f"请把这一行、所用命令和 `agent-reach --version` 的输出报告给 Agent-Reach 的维护者；"
    f"设置 {TRACEBACK_VARIABLE}=1 可显示出错位置",
)


def tell(error: Exception, arguments: Sequence[str]) -> None:
    """Write what went wrong to stderr; `arguments` say in which language the frame is."""
    language = language_in(arguments)
    echo(Redactor.standard().text("\n".join(error_lines(error, language))), err=True)
    if os.environ.get(TRACEBACK_VARIABLE) == "1" and not isinstance(error, click.ClickException):
        echo(Redactor.standard().text("".join(traceback.format_exception(error))), err=True)


def tell_stopped(arguments: Sequence[str]) -> None:
    """Say that a person ended the command."""
    echo(_STOPPED.text(language_in(arguments)), err=True)


def error_lines(error: Exception, language: Language) -> list[str]:
    """The lines for an error: what, where and the next step where it is one of ours or of the command line; one line for
    the operating system's; the type and where to report anything else."""
    if isinstance(error, click.ClickException):
        return _usage_lines(error, language)
    if isinstance(error, AgentReachError):
        text = f"{error.where}: {error.message}" if error.where else error.message
        step, frame = error.next_step, _ERROR
    elif isinstance(error, OSError):
        where = f"{_short(str(error.filename))}: " if error.filename is not None else ""
        text, step, frame = f"{where}{error.strerror or error}", "", _ERROR
    else:
        said = " ".join(str(error).split())
        text = f"{type(error).__name__}: {said}" if said else type(error).__name__
        step, frame = _REPORT.text(language), _INTERNAL
    lines = [frame.text(language) + text]
    if step:
        lines.append(_NEXT.text(language) + step)
    return lines


def _usage_lines(error: click.ClickException, language: Language) -> list[str]:
    lines = []
    context = getattr(error, "ctx", None)
    if context is not None:
        lines.append(context.get_usage())
        if context.command.get_help_option(context) is not None:
            hint = f"{context.command_path} {context.help_option_names[-1]}"
            lines.append(Message(f"Try '{hint}' for help.", f"输入 '{hint}' 查看帮助。").text(language))
        lines.append("")
    return [*lines, _ERROR.text(language) + error.format_message()]


def language_in(arguments: Sequence[str]) -> Language:
    """The language that the arguments or the environment ask for; English when they say nothing that is known."""
    said = ""
    for position, argument in enumerate(arguments):
        if argument == "--lang" and position + 1 < len(arguments):
            said = arguments[position + 1]
        elif argument.startswith("--lang="):
            said = argument.removeprefix("--lang=")
    return language_of(said) or language_of(os.environ.get(LANGUAGE_VARIABLE, "")) or "en"


def _short(name: str) -> str:
    return name if len(name) <= 200 else f"{name[:197]}..."
