"""What every importer of task sets offers, and what it hands back.

An importer reads a file, a folder or a wheel, and turns each task into the record; what it cannot carry over it says as a
finding, never silently.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources.abc import Traversable
from typing import Any, Protocol

from agent_reach.config.documents import parse_json, parse_json_lines
from agent_reach.errors import SuiteError
from agent_reach.records.finding import Finding
from agent_reach.records.message import Message
from agent_reach.records.task import Task


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportOptions:
    """`categories` names parts of a data set (empty: all that fit); `limit` the number of tasks; `policy` a text that
    every task gets as a constraint; `writes` the tools known to change something; `prefix` stands before every id."""

    categories: tuple[str, ...] = ()
    limit: int | None = None
    policy: str = ""
    writes: tuple[str, ...] = ()
    prefix: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedTasks:
    """The tasks, what was lost or assumed on the way, and the tool definitions that came with them (may be empty)."""

    tasks: tuple[Task, ...]
    findings: tuple[Finding, ...] = ()
    tools: tuple[Mapping[str, Any], ...] = ()


class SuiteImporter(Protocol):
    """One form of task set."""

    name: str
    summary: str

    def recognizes(self, source: Traversable) -> bool:
        """The source looks like this form."""
        ...

    def read(self, source: Traversable, options: ImportOptions) -> ImportedTasks:
        """All tasks of the source; raises `SuiteError` where it is not of this form at all."""
        ...


@dataclass(slots=True)
class Remarks:
    """Collects findings of one import; equal codes are joined into one finding with a count and examples."""

    source: str
    found: dict[str, tuple[str, Message, Message | None, list[str]]] = field(default_factory=dict)

    def note(
        self, code: str, task_id: str, message: Message, *, severity: str = "info", fix: Message | None = None
    ) -> None:
        """Something that holds for this task."""
        self.found.setdefault(code, (severity, message, fix, []))[3].append(task_id)

    def findings(self) -> tuple[Finding, ...]:
        """One finding per code."""
        out = []
        for code, (severity, message, fix, ids) in self.found.items():
            some = ", ".join(ids[:3]) + (", ..." if len(ids) > 3 else "")
            out.append(
                Finding(
                    code=code,
                    severity=severity,  # type: ignore[arg-type]
                    message=Message(
                        f"{message.en} ({len(ids)} tasks: {some})",
                        f"{message.zh}（{len(ids)} 个任务：{some}）",
                    ),
                    source=self.source,
                    fix=fix,
                    data={"tasks": ids},
                )
            )
        return tuple(out)


def read_rows(source: Traversable) -> list[Any]:
    """The values of a file of JSON Lines, or the items of a JSON list; one object counts as one row."""
    try:
        text = source.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise SuiteError("the file is not UTF-8", where=str(source), next_step="save it as UTF-8") from error
    except OSError as error:
        raise SuiteError(f"cannot read the file: {error.strerror}", where=str(source)) from error
    head = text.lstrip()[:1]
    if head == "{" and not _is_one_value(text):
        rows: list[Any] = parse_json_lines(text, str(source), error=SuiteError).value
        return rows
    if not head:
        raise SuiteError("the file is empty", where=str(source), next_step="check the path")
    value = parse_json(text, str(source), error=SuiteError).value
    return value if isinstance(value, list) else [value]


def _is_one_value(text: str) -> bool:
    try:
        json.JSONDecoder().raw_decode(text.strip().split("\n", 1)[0])
    except ValueError:
        return True
    return "\n" not in text.strip()


def first_rows(source: Traversable, count: int = 3) -> list[Any]:
    """The first rows of a file, for recognition; empty where it cannot be read as rows."""
    if not source.is_file():
        return []
    try:
        return read_rows(source)[:count]
    except SuiteError:
        return []


def shortened(rows: Sequence[Any], limit: int | None) -> Sequence[Any]:
    """The first `limit` rows."""
    return rows if limit is None else rows[:limit]


_READING_VERBS = frozenset(
    [
        "get",
        "list",
        "search",
        "find",
        "calculate",
        "think",
        "query",
        "check",
        "read",
        "look",
        "lookup",
        "show",
        "view",
        "count",
        "describe",
        "fetch",
        "compare",
        "verify",
        "can",
    ]
)


def written_by_name(names: Iterable[str]) -> tuple[str, ...]:
    """Tools that seem to change something, by the first word of their name: a guess, to be said as one."""
    from agent_reach.text.tokens import split_identifier

    return tuple(
        sorted(name for name in set(names) if (split_identifier(name) or [""])[0] not in _READING_VERBS)
    )
