"""The suite as a whole: its mix of kinds, its share of confusable tasks, what it leaves untested, what it asks twice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from agent_reach.catalog.catalog import Catalog
from agent_reach.evals.suite.checks.base import placed_calls, resolve
from agent_reach.evals.suite.checks.duplicates import near_duplicates
from agent_reach.evals.suite.load import Suite
from agent_reach.records.finding import Finding
from agent_reach.records.message import Message
from agent_reach.records.report import SimilarPair
from agent_reach.records.task import Task

WANTED_MIX = {"must": 0.6, "may": 0.2, "forbid": 0.2}
MIX_TOLERANCE = 0.1
WANTED_CONFUSABLE = 0.2
SMALLEST_JUDGED = 10
"""Suites with fewer tasks are not judged for their mix."""
CONFUSABLE_TAG = "confusable"


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteFigures:
    """Counts of a suite: tasks per kind, per language and per tag, confusable tasks, tools with and without a task."""

    tasks: int
    kinds: dict[str, int] = field(default_factory=dict)
    languages: dict[str, int] = field(default_factory=dict)
    tags: dict[str, int] = field(default_factory=dict)
    decisions: int = 0
    confusable: int = 0
    review: int = 0
    tools: int = 0
    tools_without_task: tuple[str, ...] = ()


def suite_figures(suite: Suite, catalog: Catalog, pairs: Sequence[SimilarPair] = ()) -> SuiteFigures:
    """What the suite is made of. A task is confusable by its tag, or because a golden tool has a look-alike."""
    alike = {key for pair in pairs for key in (pair.left, pair.right)}
    covered: set[str] = set()
    confusable = decisions = 0
    for task in suite.tasks:
        golden = {placed.tool.key for placed in placed_calls(task, catalog) if placed.tool is not None}
        covered |= golden | {tool.key for name in task.forbid if (tool := resolve(catalog, name)) is not None}
        decisions += len(task.paths[0].calls) if task.paths else 0
        confusable += CONFUSABLE_TAG in task.tags or bool(golden & alike)
    return SuiteFigures(
        tasks=len(suite.tasks),
        kinds=_count(task.kind for task in suite.tasks),
        languages=_count(task.language or "?" for task in suite.tasks),
        tags=_count(tag for task in suite.tasks for tag in task.tags),
        decisions=decisions,
        confusable=confusable,
        review=sum(task.review for task in suite.tasks),
        tools=len(catalog.tools),
        tools_without_task=tuple(tool.key for tool in catalog if tool.key not in covered),
    )


def _count(words: Iterable[str]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for word in words:
        counts[word] = counts.get(word, 0) + 1
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def check_balance(suite: Suite, figures: SuiteFigures, pairs: Sequence[SimilarPair]) -> Iterator[Finding]:
    """Mix, confusable share, review marks, tools without a task, near-duplicate tasks."""
    if figures.tasks >= SMALLEST_JUDGED:
        yield from _check_mix(suite, figures)
        if pairs and figures.confusable / figures.tasks < WANTED_CONFUSABLE:
            yield _suite_finding(
                suite,
                "few_confusable",
                f"{figures.confusable} of {figures.tasks} tasks are confusable, though the catalog has "
                f"{len(pairs)} look-alike pairs: rivals are hardly tested",
                f"{figures.tasks} 个任务中只有 {figures.confusable} 个易混淆，而目录有 {len(pairs)} 对相似工具：几乎没有测试相似工具",
                fix=(
                    f"add tasks for {pairs[0].left} against {pairs[0].right}, tagged {CONFUSABLE_TAG!r}",
                    f"为 {pairs[0].left} 与 {pairs[0].right} 增加任务，并打上 {CONFUSABLE_TAG!r} 标签",
                ),
            )
    if figures.review:
        yield _suite_finding(
            suite,
            "review_pending",
            f"{figures.review} of {figures.tasks} tasks still wait for a person (`review: true`)",
            f"{figures.tasks} 个任务中有 {figures.review} 个仍待人工确认（review: true）",
            fix=("complete each, then remove the mark", "逐个补全后去掉该标记"),
            severity="warning",
        )
    yield from _check_coverage(suite, figures)
    yield from _check_duplicates(suite)


def _check_mix(suite: Suite, figures: SuiteFigures) -> Iterator[Finding]:
    shares = {kind: figures.kinds.get(kind, 0) / figures.tasks for kind in WANTED_MIX}
    if all(abs(shares[kind] - wanted) <= MIX_TOLERANCE for kind, wanted in WANTED_MIX.items()):
        return
    counts = " : ".join(str(figures.kinds.get(kind, 0)) for kind in WANTED_MIX)
    yield _suite_finding(
        suite,
        "kind_mix",
        f"must : may : forbid is {counts}, far from 6 : 2 : 2; "
        + ("over-calls are hardly measured" if shares["forbid"] < 0.1 else "figures lean to one kind"),
        f"must : may : forbid 为 {counts}，偏离 6 : 2 : 2；"
        + ("几乎无法衡量过度调用" if shares["forbid"] < 0.1 else "指标会偏向某一类"),
        fix=("add tasks of the kind that is short", "补充不足的那一类任务"),
    )


def _check_coverage(suite: Suite, figures: SuiteFigures) -> Iterator[Finding]:
    missing = figures.tools_without_task
    if not missing:
        return
    some = ", ".join(missing[:10]) + (", ..." if len(missing) > 10 else "")
    yield _suite_finding(
        suite,
        "tools_without_task",
        f"{len(missing)} of {figures.tools} tools are neither required nor forbidden by any task: {some}",
        f"{figures.tools} 个工具中有 {len(missing)} 个没有任何任务要求或禁止：{some}",
        severity="info",
        data={"tools": list(missing)},
    )


def _check_duplicates(suite: Suite) -> Iterator[Finding]:
    seen: dict[str, Task] = {}
    for task in suite.tasks:
        first = seen.setdefault(suite.hashes[task.id], task)
        if first is not task:
            yield Finding(
                code="duplicate_task",
                severity="warning",
                message=Message(
                    f"asks and wants exactly what {first.id!r} does", f"与 {first.id!r} 的问题和答案完全相同"
                ),
                subject=task.id,
                source=task.source,
                line=task.line,
                fix=Message("remove one of the two", "去掉其中一个"),
            )
    for group in near_duplicates(suite.tasks):
        names = ", ".join(task.id for task in group[:5]) + (", ..." if len(group) > 5 else "")
        yield Finding(
            code="near_duplicate_tasks",
            severity="warning",
            message=Message(
                f"{len(group)} tasks ask almost the same with the same tools: {names}",
                f"{len(group)} 个任务用相同的工具问几乎相同的问题：{names}",
            ),
            subject=group[0].id,
            source=group[0].source,
            line=group[0].line,
            fix=Message(
                "reword some: alike tasks narrow what is measured without telling more",
                "改写其中一些：相似任务不会带来更多信息",
            ),
            data={"tasks": [task.id for task in group]},
        )


def _suite_finding(
    suite: Suite,
    code: str,
    en: str,
    zh: str,
    *,
    fix: tuple[str, str] | None = None,
    severity: str = "warning",
    data: dict[str, object] | None = None,
) -> Finding:
    return Finding(
        code=code,
        severity=severity,  # type: ignore[arg-type]
        message=Message(en, zh),
        subject=suite.name,
        source=suite.source,
        fix=Message(*fix) if fix else None,
        data=data or {},
    )
