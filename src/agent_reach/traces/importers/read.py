"""Opens a stored file of any known form and yields its traces, one at a time.

Files with one JSON value a line are streamed; a file that is one JSON value is read whole. A broken line is a finding and
the next one is read.
"""

from __future__ import annotations

import gzip
import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from agent_reach.errors import TraceError
from agent_reach.records.finding import Finding
from agent_reach.records.message import Message
from agent_reach.records.trace import Trace
from agent_reach.text.tokens import nearest_names
from agent_reach.traces.importers.base import Entry, Importer, ImportLog
from agent_reach.traces.importers.table import ALIASES, ENTRY_POINT_GROUP, IMPORTERS


class ImportedTraces:
    """Traces of one file: iterate once; `findings` and `counts` grow while it is read; `format` is the form that was found."""

    def __init__(self, traces: Iterator[Trace], log: ImportLog, format_name: str) -> None:
        self._traces = traces
        self._log = log
        self.format = format_name

    def __iter__(self) -> Iterator[Trace]:
        return self._traces

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What was noticed so far; at most fifty of one code."""
        return tuple(self._log.findings)

    @property
    def counts(self) -> dict[str, int]:
        """How often each code was noticed so far."""
        return dict(self._log.counts)


def import_traces(path: str | Path, format_name: str | None = None) -> ImportedTraces:
    """The traces of a file (`.json`, `.jsonl`, either gzipped).

    `format_name` is one of the table's names or aliases; without it the form is found by looking at the first value. Raises
    `TraceError` for a missing file, an unknown form or a name that is no form.
    """
    place = Path(path)
    log = ImportLog(source=str(place))
    importer = _named(format_name) if format_name else None
    entries = _entries(place, log)
    try:
        head = list(itertools.islice(entries, 20))
    except OSError as error:
        raise TraceError(f"cannot read: {error.strerror or error}", where=str(place)) from error
    if importer is None:
        if not head:
            raise TraceError(
                "the file holds no JSON value",
                where=str(place),
                next_step="is it empty, or compressed otherwise?",
            )
        importer = next(
            (found for found in _all().values() if any(_detects(found, entry.value) for entry in head)), None
        )
    if importer is None:
        known = ", ".join(_all())
        raise TraceError(
            "no known form of traces", where=str(place), next_step=f"name one with --format: {known}"
        )
    return ImportedTraces(importer.read(itertools.chain(head, entries), log), log, importer.name)


def _detects(importer: Importer, value: Any) -> bool:
    """True if the value, or the first of a list of records, is of the importer's form."""
    return importer.detect(value) or (isinstance(value, list) and bool(value) and importer.detect(value[0]))


def _all() -> dict[str, Importer]:
    from importlib.metadata import entry_points

    found = dict(IMPORTERS)
    for point in entry_points(group=ENTRY_POINT_GROUP):
        found[point.name] = point.load()
    return found


def _named(name: str) -> Importer:
    known = _all()
    importer = known.get(ALIASES.get(name, name))
    if importer is None:
        near = nearest_names(name, [*known, *ALIASES], limit=2)
        hint = f"did you mean {' or '.join(map(repr, near))}? " if near else ""
        raise TraceError(f"no importer is named {name!r}", next_step=f"{hint}known: {', '.join(known)}")
    return importer


def _entries(path: Path, log: ImportLog) -> Iterator[Entry]:
    if not path.exists():
        raise TraceError("there is no such file", where=str(path), next_step="check the path")
    if path.is_dir():
        for inner in sorted(item for item in path.iterdir() if item.suffix in (".json", ".jsonl", ".gz")):
            yield from _entries(inner, log)
        return
    opened: Any = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8-sig", errors="replace") as file:
        yield from _values(file, log)


def _values(file: IO[str], log: ImportLog) -> Iterator[Entry]:
    first = ""
    for first in file:
        if first.strip():
            break
    if not first.strip():
        return
    try:
        value = json.loads(first)
    except (ValueError, RecursionError):
        rest = first + file.read()
        try:
            yield Entry(value=json.loads(rest))
            return
        except (ValueError, RecursionError):
            yield from _lines(rest.splitlines(), 1, log)
            return
    yield Entry(value=value, line=1)
    yield from _lines(file, 2, log)


def _lines(lines: Any, start: int, log: ImportLog) -> Iterator[Entry]:
    for number, line in enumerate(lines, start=start):
        if not line.strip():
            continue
        try:
            yield Entry(value=json.loads(line), line=number)
        except (ValueError, RecursionError) as error:
            log.add("unreadable_line", Message(f"no JSON: {error}", f"不是 JSON：{error}"), line=number)
