"""`report.json`: a run report as a file that other programs, later versions and `diff` read.

Written whole or not at all, one task per line, so that a report of ten thousand attempts needs little memory and can be
searched line by line. Metrics always have `value`, `numerator`, `denominator` and `interval`; `docs/report.md`
describes the form and `schemas/report.schema.json` checks it. It judges nothing: what is written is what it was given.
"""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NoReturn

from agent_reach.config.whole_file import write_whole_file
from agent_reach.errors import InputError, ReportError
from agent_reach.records.codec import from_json
from agent_reach.records.garbage import collector_paused
from agent_reach.records.message import Language
from agent_reach.records.report import METRIC_NAMES, REPORT_SCHEMA_VERSION, Report
from agent_reach.records.score import Metric
from agent_reach.reports.json_form import json_text, record_fields


def report_pieces(report: Report) -> Iterator[str]:
    """The text of the report file, piece by piece: one top-level field per line, one task per line."""
    fields = record_fields(report)
    fields["metrics"] = {**{name: Metric(value=None) for name in METRIC_NAMES}, **report.metrics}
    tasks = fields.pop("tasks")
    order = ("schema_version", "run", "headline", "metrics", "sufficient", "causes")
    names = [*order, *(name for name in fields if name not in order)]
    yield "{"
    for name in names:
        yield f"{json_text(name)}:{json_text(fields[name])},\n"
    yield '"tasks":['
    separator = "\n"
    for task in tasks:
        yield separator + json_text(task)
        separator = ",\n"
    yield "\n]}\n"


def report_document(report: Report) -> dict[str, Any]:
    """The report as plain JSON values, exactly what the file holds."""
    document: dict[str, Any] = json.loads("".join(report_pieces(report)))
    return document


def summary_document(report: Report) -> dict[str, Any]:
    """The report without tasks and snapshot: what fits on a screen."""
    document = report_document(dataclasses.replace(report, tasks=()))
    document.pop("tasks")
    document["catalog"].pop("snapshot", None)
    return document


def render_json(report: Report, language: Language = "en") -> str:
    """The text of the report file; it holds both languages, so the language makes no difference."""
    return "".join(report_pieces(report))


def write_report(report: Report, path: str | os.PathLike[str]) -> None:
    """Write the report whole or not at all (a temporary file beside it, then a rename); raises `ReportError`."""
    write_pieces(report_pieces(report), Path(path))


def write_pieces(pieces: Iterator[str], path: Path) -> None:
    """Write text piece by piece into a file that appears only when it is complete; raises `ReportError`."""
    try:
        # A lone surrogate cannot be UTF-8; `\\udc80` is its legal escape inside a JSON string.
        write_whole_file(path, pieces)
    except InputError as error:
        raise ReportError(error.message, where=error.where, next_step=error.next_step) from error


def read_report(source: str | os.PathLike[str] | Mapping[str, Any]) -> Report:
    """The report in a file or in an already parsed document; raises `ReportError` that says what is wrong and where."""
    if isinstance(source, Mapping):
        return _report(source, "report")
    if not isinstance(source, (str, os.PathLike)):
        raise ReportError(
            f"a report is a path or a document, not {type(source).__name__}",
            next_step="give report.json, or what `run` returned",
        )
    path = Path(source)
    with collector_paused():
        return _report(_document(path), str(path))


def _document(path: Path) -> Any:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError as error:
        raise ReportError(
            "no such report", where=str(path), next_step="write one with `agent-reach run --report FILE`"
        ) from error
    except OSError as error:
        raise ReportError(f"cannot read: {error.strerror}", where=str(path)) from error
    except UnicodeDecodeError as error:
        raise ReportError(
            f"is not UTF-8 text (byte {error.start})", where=str(path), next_step="give a report.json"
        ) from error
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise ReportError(
            f"is not JSON: {error.msg}",
            where=f"{path}:{error.lineno}:{error.colno}",
            next_step="give the report.json of a finished run",
        ) from error
    except (ValueError, RecursionError) as error:
        raise ReportError(f"is not JSON: {error}", where=str(path)) from error


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")


def _report(document: Any, where: str) -> Report:
    if not isinstance(document, Mapping):
        raise ReportError(
            f"is not a report: expected an object, found {type(document).__name__}", where=where
        )
    _check_version(document, where)
    try:
        return from_json(Report, dict(document), where="report")
    except InputError as error:
        raise ReportError(
            f"{error.where}: {error.message}",
            where=where,
            next_step="the file was changed by hand or by another program; write it again with `agent-reach run`",
        ) from error
    except (RecursionError, OverflowError) as error:
        raise ReportError(f"cannot be read: {error}", where=where) from error


def _check_version(document: Mapping[str, Any], where: str) -> None:
    version = document.get("schema_version")
    is_number = type(version) is int
    if type(version) is int and version > REPORT_SCHEMA_VERSION:
        raise ReportError(
            f"schema_version {version} is newer than this program knows ({REPORT_SCHEMA_VERSION})",
            where=where,
            next_step="pip install --upgrade agent-reach-toolkit",
        )
    if version is None:
        what = "no schema_version"
    elif not is_number or version != REPORT_SCHEMA_VERSION:
        what = f"schema_version {version!r}"
    elif "metrics" not in document:
        what = "no metrics"
    else:
        return
    found = ", ".join(sorted(map(str, document))[:6]) or "none"
    raise ReportError(
        f"is not a report: {what}; its fields are {found}",
        where=where,
        next_step="give the report.json of a run (`agent-reach run --report FILE`)",
    )
