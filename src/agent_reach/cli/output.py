"""What commands share for talking to a person: the language option, the one door to the terminal, whole-file writes.

Data goes to stdout, progress and remarks to stderr. Every line passes `echo`, which takes out what a terminal would act
on: tools, tasks and traces are written by others. JSON keeps its values; what a terminal acts on is escaped in it.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from agent_reach.records.finding import Finding
from agent_reach.records.message import Language

Function = TypeVar("Function", bound=Callable[..., Any])

LANGUAGE_VARIABLE = "AGENT_REACH_LANG"
_MARKS = {"error": "x", "warning": "!", "info": "-"}
_NARROWEST = 40
_WIDEST = 160


if TYPE_CHECKING:
    _ParamType = click.ParamType[Language]
else:  # older releases of click have no type argument there
    _ParamType = click.ParamType


class _LanguageType(_ParamType):
    """`en` or `zh`, also in the forms of locales: `zh_CN.UTF-8`, `en-US`, `C`."""

    name = "language"

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        return "[en|zh]"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Language:
        language = language_of(str(value))
        if language is not None:
            return language
        from click.core import ParameterSource

        given = ctx is not None and param is not None and param.name is not None
        where = ctx.get_parameter_source(param.name) if given else None  # type: ignore[union-attr]
        message = f"{value!r} is neither 'en' nor 'zh'."
        if where is ParameterSource.ENVIRONMENT:
            raise click.BadParameter(
                message, ctx=ctx, param_hint=f"the environment variable {LANGUAGE_VARIABLE}"
            )
        raise click.BadParameter(message, ctx=ctx, param=param)


def language_of(text: str) -> Language | None:
    """The language a text names (`zh`, `zh_CN.UTF-8`, `en-US`, the locales `C` and `POSIX`); None for any other."""
    first = re.split(r"[-_.@]", text.strip().lower(), maxsplit=1)[0]
    known: dict[str, Language] = {"zh": "zh", "en": "en", "c": "en", "posix": "en"}
    return known.get(first)


def language_option(function: Function) -> Function:
    """The option `--lang en|zh` (default from AGENT_REACH_LANG, else English)."""
    return click.option(
        "--lang",
        "language",
        type=_LanguageType(),
        envvar=LANGUAGE_VARIABLE,
        default="en",
        help="Language of what is printed and written.",
    )(function)


def echo(text: object = "", *, err: bool = False, nl: bool = True) -> None:
    """Write text for a person; what a terminal would act on does nothing."""
    from agent_reach.reports.figures import plain_text

    click.echo(plain_text(str(text)), err=err, nl=nl)


def terminal_width() -> int:
    """Columns of the terminal (or of COLUMNS), 80 where there is none."""
    return min(_WIDEST, max(_NARROWEST, shutil.get_terminal_size((80, 24)).columns))


def echo_wrapped(text: str, *, first: str = "", indent: str = "    ", err: bool = False) -> None:
    """Write a sentence or a row in lines that the terminal holds; further lines are indented. What fits keeps its blanks."""
    echo("\n".join(fitting_lines(text, first=first, indent=indent)), err=err)


def fitting_lines(text: str, *, first: str = "", indent: str = "    ") -> list[str]:
    """The text as one line where the terminal holds it, else in several."""
    from agent_reach.reports.figures import display_width, wrap

    whole = first + text
    if "\n" not in whole and display_width(whole) <= terminal_width():
        return [whole]
    return wrap(text, terminal_width(), first=first, indent=indent)


def echo_json_text(text: str, *, nl: bool = True) -> None:
    """Write JSON text, what a terminal acts on escaped; the values stay the same."""
    from agent_reach.reports.figures import is_control

    if not text.isascii() or "\x7f" in text:
        text = "".join(
            f"\\u{ord(character):04x}" if character not in "\n\t\r" and is_control(character) else character
            for character in text
        )
    click.echo(text, nl=nl)


def print_json(value: Any) -> None:
    """Write a JSON value to stdout."""
    echo_json_text(json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False))


def print_findings(findings: Iterable[Finding], language: Language, *, err: bool = True) -> None:
    """Write findings, a few lines each, secrets masked."""
    from agent_reach.redact.redactor import Redactor

    redactor = Redactor.standard()
    for finding in findings:
        place = " ".join(part for part in (finding.subject, finding.pointer) if part)
        head = f"{_MARKS[finding.severity]} {finding.code} {place}".rstrip()
        echo_wrapped(redactor.text(f"{head}: {finding.message.text(language)}"), err=err)
        if finding.fix is not None:
            echo_wrapped(redactor.text(finding.fix.text(language)), first="    ", indent="    ", err=err)


def write_whole(path: Path, text: str) -> None:
    """Write a text file whole or not at all."""
    from agent_reach.config.whole_file import write_whole_file

    write_whole_file(path, [text])
