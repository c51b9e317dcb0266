"""One draft: tasks from catalog and traces, those that ask what is asked already dropped, and the gaps that are left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from agent_reach.catalog.similar import similar_pairs
from agent_reach.errors import InputError
from agent_reach.evals.draft.from_catalog import CONFUSABLE, drafted_from_catalog
from agent_reach.evals.draft.from_traces import drafted_from_traces
from agent_reach.evals.suite.checks.duplicates import near_duplicates
from agent_reach.evals.suite.load import Suite
from agent_reach.records.message import Language, Message
from agent_reach.records.task import Task
from agent_reach.records.trace import Trace

if TYPE_CHECKING:
    from agent_reach.catalog.catalog import Catalog


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """Drafted tasks (every one marked for review), those that were dropped as near duplicates (with what they repeat), and
    what is still missing from old and new tasks together."""

    tasks: tuple[Task, ...]
    dropped: tuple[tuple[str, str], ...]
    gaps: tuple[Message, ...]


def draft_suite(
    catalog: Catalog | None,
    *,
    traces: Sequence[Trace] = (),
    existing: Suite | None = None,
    from_catalog: bool = True,
    count: int | None = None,
    languages: Sequence[Language] = (),
    per_tool: int = 1,
) -> Draft:
    """Draft tasks. Those from traces come first, failures before the others; raises `InputError` where nothing can be drafted.

    With `existing`, tools that its tasks ask for already are left out of what the catalog gives, and no id is used twice.
    """
    tasks = drafted_from_traces(traces, catalog)
    if from_catalog and catalog is not None:
        asked = _asked(existing, catalog)
        made = drafted_from_catalog(catalog, count=count, languages=languages, per_tool=per_tool)
        tasks += [task for task in made if not _covered(task, asked)]
    if not tasks:
        raise InputError(
            "nothing can be drafted", next_step="give a catalog with tools, or traces that hold a request"
        )
    old = tuple(existing.tasks) if existing is not None else ()
    kept, dropped = _without_duplicates(old, tasks)
    if count is not None:
        kept = kept[:count]
    kept = _fresh_ids(old, kept)
    return Draft(
        tasks=tuple(kept),
        dropped=tuple(dropped),
        gaps=tuple(suite_gaps((*old, *kept), catalog)) if catalog is not None else (),
    )


def _asked(existing: Suite | None, catalog: Catalog) -> set[tuple[str, str, bool]]:
    """(kind, golden tool, confusable) of the tasks that are there."""
    return {
        (task.kind, tool.key, bool(task.forbid))
        for task in (existing.tasks if existing is not None else ())
        for path in task.paths
        for call in path.calls
        if (tool := catalog.resolve(call.tool)) is not None
    }


def _covered(task: Task, asked: set[tuple[str, str, bool]]) -> bool:
    calls = [call.tool for path in task.paths for call in path.calls]
    return (
        bool(calls)
        and task.kind == "must"
        and all(("must", name, bool(task.forbid)) in asked for name in calls)
    )


def _without_duplicates(old: Sequence[Task], new: Sequence[Task]) -> tuple[list[Task], list[tuple[str, str]]]:
    """New tasks that ask neither what an old one asks nor what an earlier new one does."""
    places = [*old, *(replace(task, id=f"\0{index}") for index, task in enumerate(new))]
    repeats: dict[str, str] = {}
    for group in near_duplicates(places):
        first = group[0].id
        for task in group[1:]:
            repeats[task.id] = first
    kept, dropped = [], []
    for index, task in enumerate(new):
        first = repeats.get(f"\0{index}", "")
        if not first:
            kept.append(task)
        else:
            dropped.append((task.id, new[int(first[1:])].id if first.startswith("\0") else first))
    return kept, dropped


def _fresh_ids(old: Sequence[Task], new: Sequence[Task]) -> list[Task]:
    used = {task.id for task in old}
    found = []
    for task in new:
        name, number = task.id, 2
        while name in used:
            name, number = f"{task.id}-{number}", number + 1
        used.add(name)
        found.append(replace(task, id=name))
    return found


def suite_gaps(tasks: Sequence[Task], catalog: Catalog) -> list[Message]:
    """What these tasks leave untested: tools, look-alike pairs, languages."""
    found: list[Message] = []
    alike = similar_pairs(catalog)
    golden: set[str] = set()
    borders: set[frozenset[str]] = set()
    for task in tasks:
        own = {t.key for p in task.paths for c in p.calls if (t := catalog.resolve(c.tool)) is not None}
        barred = {t.key for name in task.forbid if (t := catalog.resolve(name)) is not None}
        golden |= own
        borders |= {frozenset((a, b)) for a in own for b in barred}
        if CONFUSABLE in task.tags:
            borders |= {frozenset((pair.left, pair.right)) for pair in alike if own & {pair.left, pair.right}}
    missing = [tool.key for tool in catalog if tool.key not in golden]
    if missing:
        listed = ", ".join(missing[:10]) + (", ..." if len(missing) > 10 else "")
        found.append(
            Message(
                f"{len(missing)} tools have no task: {listed}", f"{len(missing)} 个工具没有任务：{listed}"
            )
        )
    pairs = [pair for pair in alike if frozenset((pair.left, pair.right)) not in borders]
    if pairs:
        listed = ", ".join(f"{pair.left} / {pair.right}" for pair in pairs[:10]) + (
            ", ..." if len(pairs) > 10 else ""
        )
        found.append(
            Message(
                f"{len(pairs)} look-alike pairs have no confusable task: {listed}",
                f"{len(pairs)} 对相似工具没有易混淆任务：{listed}",
            )
        )
    languages = {task.language for task in tasks}
    for language, english, chinese in (("en", "English", "英文"), ("zh", "Chinese", "中文")):
        if language not in languages:
            found.append(Message(f"no task is in {english}", f"没有{chinese}任务"))
    return found
