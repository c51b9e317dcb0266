"""What commands share for talking to a person: the language option, JSON to stdout, findings, whole-file writes.

Data goes to stdout, progress and remarks to stderr.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

import click

from agent_reach.errors import InputError
from agent_reach.records.finding import Finding
from agent_reach.records.message import Language

Function = TypeVar("Function", bound=Callable[..., Any])

_MARKS = {"error": "x", "warning": "!", "info": "-"}


def language_option(function: Function) -> Function:
    """The option `--lang en|zh` (default from AGENT_REACH_LANG, else English)."""
    return click.option(
        "--lang",
        "language",
        type=click.Choice(["en", "zh"]),
        default=lambda: os.environ.get("AGENT_REACH_LANG", "en"),
        help="Language of what is printed and written.",
    )(function)


def print_json(value: Any) -> None:
    """Write a JSON value to stdout."""
    click.echo(json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False))


def print_findings(findings: Iterable[Finding], language: Language, *, err: bool = True) -> None:
    """Write findings, one or two lines each."""
    for finding in findings:
        place = " ".join(part for part in (finding.subject, finding.pointer) if part)
        click.echo(
            f"{_MARKS[finding.severity]} {finding.code} {place}: {finding.message.text(language)}", err=err
        )
        if finding.fix is not None:
            click.echo(f"    {finding.fix.text(language)}", err=err)


def write_whole(path: Path, text: str) -> None:
    """Write a text file whole or not at all (a temporary file beside it, then a rename)."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise InputError(f"cannot write: {error.strerror}", where=str(path)) from error
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)
        os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise
