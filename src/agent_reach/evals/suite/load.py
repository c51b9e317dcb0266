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

from agent_reach.config.documents import Document, Steps
from agent_reach.config.fields import did_you_mean, shown
from agent_reach.config.problems import Problems
from agent_reach.errors import SuiteError
from agent_reach.evals.suite.layout import suite_documents, suite_layout
from agent_reach.evals.suite.reading import KINDS, read_task
from agent_reach.evals.suite.remarks import task_remarks
from agent_reach.evals.suite.writing import suite_hash, task_hash
from agent_reach.records.finding import Finding
from agent_reach.records.task import Task


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
            documents = suite_documents(Path(source))
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
        hashes = {task.id: task_hash(task) for task in kept}
        return cls(
            tasks=kept,
            name=name,
            source=source,
            description=description,
            findings=tuple(findings),
            hash=suite_hash(hashes),
            hashes=hashes,
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


def _load(documents: Sequence[Document], where: str, title: str, *, named: bool, allow_empty: bool) -> Suite:
    problems = Problems(SuiteError, where)
    tasks: list[Task] = []
    findings: list[Finding] = []
    description = ""
    for document in documents:
        header, defaults, rows = suite_layout(document, problems)
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
