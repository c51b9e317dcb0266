"""Task suites: read from YAML, JSON, JSON Lines or a list, checked for what cannot be understood, filtered, hashed.

Whether the golds make sense for a catalog is the business of `lint`. An empty suite or an empty selection is an error,
because a run that found nothing must never look like a run that found nothing wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from agent_reach.config.documents import (
    Document,
    Steps,
    parse_json,
    parse_json_lines,
    parse_yaml,
    read_text,
)
from agent_reach.config.fields import Section, did_you_mean, shown
from agent_reach.config.problems import Problems
from agent_reach.errors import SuiteError
from agent_reach.evals.suite.reading import KINDS, TASK_KEYS, read_match, read_task
from agent_reach.evals.suite.writing import suite_hash, task_hash
from agent_reach.records.finding import Finding
from agent_reach.records.message import Message
from agent_reach.records.task import Task

JSON_LINES_SUFFIXES = (".jsonl", ".ndjson")
SUITE_SUFFIXES = (*JSON_LINES_SUFFIXES, ".json", ".yaml", ".yml")


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """Tasks with a name and a content hash.

    `hash` covers every task by id and content and depends neither on the order of tasks nor on the order of keys;
    `hashes` maps a task id to the hash of what it asks and wants; `findings` are remarks that did not keep it from
    loading.
    """

    tasks: tuple[Task, ...]
    name: str = ""
    source: str = ""
    description: str = ""
    findings: tuple[Finding, ...] = ()
    hash: str = ""
    hashes: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def load(cls, source: Any, *, name: str = "", allow_empty: bool = False) -> Suite:
        """The suite in a file (or a folder of files), or of a list of tasks in the written form or as records.

        Raises `SuiteError` that names every line or task that cannot be understood; the suite is loaded whole or not
        at all.
        """
        if isinstance(source, Suite):
            return source
        if isinstance(source, (str, Path)):
            documents = _documents(Path(source))
            where, title = str(source), name or Path(source).stem
        elif isinstance(source, Mapping) or (isinstance(source, Iterable) and not isinstance(source, bytes)):
            value = source if isinstance(source, Mapping) else list(source)
            if isinstance(value, list) and value and all(isinstance(item, Task) for item in value):
                return cls.from_tasks(value, name=name)
            documents, where, title = [Document(value=value)], "", name
        else:
            raise SuiteError(
                f"a suite is a path or a list of tasks, not {shown(source)}",
                next_step="give a .yaml or .jsonl file",
            )
        return _load(documents, where, title, named=bool(name), allow_empty=allow_empty)

    @classmethod
    def from_tasks(
        cls,
        tasks: Iterable[Task],
        *,
        name: str = "",
        source: str = "",
        description: str = "",
        findings: Iterable[Finding] = (),
        allow_empty: bool = False,
    ) -> Suite:
        """A suite of records; refuses double ids, and no tasks at all unless `allow_empty`."""
        kept = tuple(tasks)
        problems = Problems(SuiteError, source)
        _check_unique(kept, problems)
        problems.raise_if_any()
        if not kept and not allow_empty:
            raise _empty(source)
        return cls(
            tasks=kept,
            name=name,
            source=source,
            description=description,
            findings=tuple(findings),
            hash=suite_hash(kept),
            hashes={task.id: task_hash(task) for task in kept},
        )

    def __len__(self) -> int:
        return len(self.tasks)

    def __iter__(self) -> Iterator[Task]:
        return iter(self.tasks)

    def task(self, task_id: str) -> Task:
        """The task of that id; raises `SuiteError` with the nearest ids."""
        for task in self.tasks:
            if task.id == task_id:
                return task
        raise SuiteError(
            f"no task has the id {task_id!r}",
            where=self.source or self.name,
            next_step=did_you_mean(task_id, self.hashes),
        )

    def select(
        self,
        *,
        tags: Sequence[str] = (),
        ids: Sequence[str] = (),
        kinds: Sequence[str] = (),
        patterns: Sequence[str] = (),
        languages: Sequence[str] = (),
        allow_empty: bool = False,
    ) -> Suite:
        """The tasks that pass every given filter (any word of one filter will do).

        `ids` are exact, `patterns` are globs over ids, a tag with a leading `!` must be absent. An unknown id or kind
        and an empty selection are errors that name the filter.
        """
        for task_id in ids:
            self.task(task_id)
        for kind in kinds:
            if kind not in KINDS:
                raise SuiteError(
                    f"{kind!r} is no kind of task", where="kinds", next_step=did_you_mean(kind, KINDS)
                )
        wanted = {tag for tag in tags if not tag.startswith("!")}
        unwanted = {tag[1:] for tag in tags if tag.startswith("!")}
        kept = [
            task
            for task in self.tasks
            if (not ids or task.id in ids)
            and (not kinds or task.kind in kinds)
            and (not languages or task.language in languages)
            and (not wanted or wanted & set(task.tags))
            and not unwanted & set(task.tags)
            and (not patterns or any(fnmatchcase(task.id, pattern) for pattern in patterns))
        ]
        filters: dict[str, Sequence[str]] = {
            "tags": tags,
            "ids": ids,
            "kinds": kinds,
            "patterns": patterns,
            "languages": languages,
        }
        if not kept and not allow_empty:
            raise self._nothing_selected({name: values for name, values in filters.items() if values})
        return Suite.from_tasks(
            kept,
            name=self.name,
            source=self.source,
            description=self.description,
            findings=self.findings,
            allow_empty=allow_empty,
        )

    def _nothing_selected(self, filters: Mapping[str, Sequence[str]]) -> SuiteError:
        said = ", ".join(f"{name} {', '.join(map(repr, values))}" for name, values in filters.items())
        known: dict[str, list[str]] = {
            "tags": sorted({tag for task in self.tasks for tag in task.tags}),
            "patterns": [task.id for task in self.tasks],
            "kinds": sorted({task.kind for task in self.tasks}),
            "languages": sorted({task.language for task in self.tasks if task.language}),
        }
        hints = []
        for name, values in filters.items():
            names = known.get(name, [])
            hints += [
                hint for value in values if value not in names and (hint := did_you_mean(value, names[:50]))
            ]
        return SuiteError(
            f"no task of {len(self.tasks)} passes the filter {said}",
            where=self.source or self.name,
            next_step=hints[0] if hints else "loosen the filter",
        )


def _empty(source: str) -> SuiteError:
    return SuiteError(
        "the suite holds no task",
        where=source,
        next_step="add tasks, or give another file; `agent-reach init` writes 20",
    )


def _documents(path: Path) -> list[Document]:
    if path.is_dir():
        files = sorted(item for item in path.iterdir() if item.suffix.lower() in SUITE_SUFFIXES)
        if not files:
            raise SuiteError(
                "the folder holds no suite",
                where=str(path),
                next_step=f"files end in {', '.join(SUITE_SUFFIXES)}",
            )
        return [parse_suite_text(read_text(item, error=SuiteError, what="suite"), item) for item in files]
    return [parse_suite_text(read_text(path, error=SuiteError, what="suite"), path)]


def parse_suite_text(text: str, path: Path) -> Document:
    """The document in a suite file: JSON Lines, JSON or YAML by suffix, else by its first character."""
    suffix, source = path.suffix.lower(), str(path)
    if not text.strip():
        return Document(value=[], source=source)
    looks_like_lines = text.lstrip()[0] == "{" and _is_object(text.lstrip().split("\n", 1)[0])
    if suffix in JSON_LINES_SUFFIXES or (suffix not in (".yaml", ".yml") and looks_like_lines):
        return parse_json_lines(text, source, error=SuiteError)
    if suffix == ".json" or (suffix not in (".yaml", ".yml") and text.lstrip()[0] in "[{"):
        return parse_json(text, source, error=SuiteError)
    return parse_yaml(text, source, error=SuiteError)


def _is_object(row: str) -> bool:
    import json

    try:
        return isinstance(json.loads(row), dict)
    except ValueError:
        return False


def _load(documents: Sequence[Document], where: str, title: str, *, named: bool, allow_empty: bool) -> Suite:
    problems = Problems(SuiteError, where)
    tasks: list[Task] = []
    findings: list[Finding] = []
    description = ""
    for document in documents:
        header, defaults, rows = _layout(document, problems)
        title = title if named else header.get("name") or title
        description = header.get("description") or description
        for path in rows:
            value = _at(document.value, path)
            task = (
                value if isinstance(value, Task) else read_task(document, path, problems, defaults=defaults)
            )
            if task is not None:
                tasks.append(task)
    _check_unique(tasks, problems)
    problems.raise_if_any()
    findings += [finding for task in tasks for finding in task_remarks(task)]
    return Suite.from_tasks(
        tasks, name=title, source=where, description=description, findings=findings, allow_empty=allow_empty
    )


def _at(value: Any, path: Steps) -> Any:
    for step in path:
        value = value[step]
    return value


def _layout(document: Document, problems: Problems) -> tuple[dict[str, str], Mapping[str, Any], list[Steps]]:
    """Name and description, defaults of all tasks, and where the tasks stand.

    A suite is a list of tasks, or a mapping with `tasks` beside `name`, `description`, `match` and `defaults`; in JSON
    Lines a first line `{"suite": {...}}` carries the same.
    """
    value = document.value
    if value is None:
        return {}, {}, []
    if isinstance(value, list):
        first = value[0] if value else None
        if isinstance(first, Mapping) and set(first) == {"suite"}:
            section = Section(document, first["suite"], (0, "suite"), problems=problems, base=1)
            header, defaults = _header(section)
            section.finish()
            return header, defaults, [(index,) for index in range(1, len(value))]
        return {}, {}, [(index,) for index in range(len(value))]
    if isinstance(value, Mapping) and "tasks" not in value and {"id", "kind"} & set(value):
        return {}, {}, [()]
    section = Section(document, value, problems=problems, synonyms={"cases": "tasks", "items": "tasks"})
    header, defaults = _header(section)
    tasks = section.raw("tasks")
    if not isinstance(tasks, (list, tuple)):
        section.refuse(
            "tasks", "must be a list of tasks" if section.has("tasks") else "is missing", "tasks: [...]"
        )
        tasks = ()
    section.finish("schema_version")
    return header, defaults, [("tasks", index) for index in range(len(tasks))]


def _header(section: Section) -> tuple[dict[str, str], Mapping[str, Any]]:
    header = {"name": section.text("name"), "description": section.text("description")}
    section.raw("metadata")
    defaults = section.mapping("defaults")
    for key in defaults:
        if key not in TASK_KEYS or key == "id":
            section.refuse(
                "defaults", f"unknown key {key!r}", did_you_mean(key, set(TASK_KEYS) - {"id"}), key
            )
    if section.raw("match") is not None:
        read_match(section.section("match"))
        match = section.raw("match")
        own = defaults.get("match")
        if isinstance(match, Mapping):
            defaults["match"] = {**match, **own} if isinstance(own, Mapping) else dict(match)
    return header, defaults


def _check_unique(tasks: Iterable[Task], problems: Problems) -> None:
    seen: dict[str, Task] = {}
    for task in tasks:
        first = seen.setdefault(task.id, task)
        if first is not task:
            problems.add(
                _place(task),
                f"task {task.id!r}: this id is used twice, first at {_place(first) or 'an earlier task'}",
                "give each task its own id",
            )


def _place(task: Task) -> str:
    if task.line is None:
        return task.source
    return f"{task.source}:{task.line}" if task.source else f"line {task.line}"


def task_remarks(task: Task) -> Iterator[Finding]:
    """What is odd about a task whatever the catalog is."""
    from datetime import datetime

    if task.now and datetime.fromisoformat(task.now).tzinfo is None:
        yield Finding(
            code="now_without_zone",
            severity="warning",
            message=Message(
                f"the task's clock {task.now!r} has no time zone: 'tomorrow' would depend on the machine",
                f"任务的时钟 {task.now!r} 没有时区：“明天”会随机器而变",
            ),
            subject=task.id,
            pointer="/now",
            source=task.source,
            line=task.line,
            fix=Message(
                "add the zone, as in 2025-12-10T10:00:00+08:00", "补上时区，如 2025-12-10T10:00:00+08:00"
            ),
        )
