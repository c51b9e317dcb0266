"""Suites, figures and findings as lines and JSON for the command line, in either language."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from agent_reach.catalog.catalog import Catalog
from agent_reach.evals.suite.checks.balance import SuiteFigures
from agent_reach.evals.suite.load import Suite
from agent_reach.evals.suite.project import Surroundings
from agent_reach.records.finding import Finding
from agent_reach.records.message import Language, Message


def suites_lines(around: Surroundings, language: Language) -> Iterator[str]:
    """The suites by name, with what is wrong with those that cannot be loaded."""
    from agent_reach.errors import InputError

    if not around.suites:
        yield Message(
            "no suite is named in config.yaml or reach.yaml; `agent-reach init` writes a project",
            "config.yaml 和 reach.yaml 中都没有测试集；`agent-reach init` 可生成项目",
        ).text(language)
    for name, path in around.suites.items():
        try:
            suite = Suite.load(Path(path), name=name)
            said = Message(f"{len(suite)} tasks", f"{len(suite)} 个任务").text(language)
            yield f"{name}  {path}  {said}  {suite.hash[:19]}"
        except InputError as error:
            yield f"{name}  {path}  {error.message.splitlines()[0]}"


def suite_lines(suite: Suite, language: Language) -> Iterator[str]:
    """One line per task: id, kind, golden tools, tags, request."""
    width = max((len(task.id) for task in suite), default=0)
    for task in suite:
        golden = " > ".join(call.tool for call in task.paths[0].calls) if task.paths else "-"
        tags = f" [{', '.join(task.tags)}]" if task.tags else ""
        mark = " *" if task.review else ""
        yield f"{task.id:<{width}}  {task.kind:<6}  {golden}{tags}{mark}  {_short(task.query)}"
    yield Message(f"{len(suite)} tasks, {suite.hash}", f"{len(suite)} 个任务，{suite.hash}").text(language)


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 60 else f"{line[:57]}..."


def tasks_document(suite: Suite) -> dict[str, Any]:
    """The suite as JSON: name, hash, tasks in the written form with their hashes."""
    from agent_reach.evals.suite.writing import dump_task

    return {
        "name": suite.name,
        "hash": suite.hash,
        "tasks": [{**dump_task(task), "content_hash": suite.hashes[task.id]} for task in suite],
    }


def figure_lines(figures: SuiteFigures, findings: Sequence[Finding], language: Language) -> Iterator[str]:
    """The counts under the findings."""
    mix = " : ".join(str(figures.kinds.get(kind, 0)) for kind in ("must", "may", "forbid"))
    missing = len(figures.tools_without_task)
    yield Message(
        f"{figures.tasks} tasks (must : may : forbid {mix}), {figures.decisions} required decisions, "
        f"{figures.confusable} confusable, {figures.review} to review; "
        f"{figures.tools - missing} of {figures.tools} tools covered",
        f"{figures.tasks} 个任务（must : may : forbid {mix}），{figures.decisions} 个必需决策，"
        f"{figures.confusable} 个易混淆，{figures.review} 个待确认；覆盖 {figures.tools} 个工具中的 {figures.tools - missing} 个",
    ).text(language)
    counts = {
        severity: sum(item.severity == severity for item in findings)
        for severity in ("error", "warning", "info")
    }
    yield Message(
        f"{counts['error']} errors, {counts['warning']} warnings, {counts['info']} remarks",
        f"{counts['error']} 个错误，{counts['warning']} 个警告，{counts['info']} 条提示",
    ).text(language)


def lint_document(
    suite: Suite, catalog: Catalog, figures: SuiteFigures, findings: Sequence[Finding], language: Language
) -> dict[str, Any]:
    """Figures and findings as JSON."""
    from dataclasses import asdict

    from agent_reach.records.codec import to_json

    return {
        "suite": {"name": suite.name, "hash": suite.hash, "source": suite.source},
        "catalog": {"hash": catalog.hash, "tools": len(catalog.tools)},
        "figures": to_json(asdict(figures)),
        "findings": [
            {
                **to_json(finding),
                "message": finding.message.text(language),
                **({"fix": finding.fix.text(language)} if finding.fix else {}),
            }
            for finding in findings
        ],
    }
