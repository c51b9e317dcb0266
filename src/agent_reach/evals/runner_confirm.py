"""Repeats only the tasks that moved against a baseline, until the verdict is clear or a budget ends.

One attempt of every task says where something may have moved; further attempts of those tasks say whether it did. Tasks
that did not move are not paid for again.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from agent_reach.config.settings import RunConfig
from agent_reach.evals.archive import ATTEMPTS, Archive
from agent_reach.evals.runner import RunSession, open_run
from agent_reach.evals.runner_log import AttemptLog
from agent_reach.evals.runner_setup import RunOptions
from agent_reach.records.gate import GateResult
from agent_reach.records.report import Report
from agent_reach.records.score import TaskScore

UNCLEAR = frozenset({"suspect", "regression"})
MAX_ATTEMPTS = 30


def confirm_run(
    config: RunConfig,
    baseline: Path | Report,
    *,
    suite: Any = None,
    report: str | Path | None = None,
    options: RunOptions | None = None,
    budget: int = 200,
    threshold: float = 0.02,
) -> tuple[Report, GateResult]:
    """Run, compare with the baseline, and repeat what moved. `budget` is the most further attempts.

    The verdict is clear when it is neither a suspect nor an unconfirmed regression, or when every task that moved has as
    many attempts as the budget allows.
    """
    return asyncio.run(
        _confirm(config, baseline, suite, report, options or RunOptions(), budget=budget, threshold=threshold)
    )


async def _confirm(
    config: RunConfig,
    baseline: Path | Report,
    suite: Any,
    report_path: str | Path | None,
    options: RunOptions,
    *,
    budget: int,
    threshold: float,
) -> tuple[Report, GateResult]:
    from agent_reach.evals.gate import diff
    from agent_reach.reports.json_report import read_report

    confirmed = baseline if isinstance(baseline, Report) else read_report(baseline)
    async with open_run(config, suite, options) as (session, archive, run_id):
        report = await session.run(report_path)
        result = diff(confirmed, report, threshold=threshold)
        repeats = {task.task_id: len(task.attempts) for task in report.tasks}
        while result.verdict in UNCLEAR and budget > 0:
            moved = moved_tasks(confirmed, report)
            chosen = [name for name in moved if repeats[name] < MAX_ATTEMPTS][:budget]
            if not chosen:
                break
            before = result
            report, made = await _repeat(session, archive, run_id, chosen, repeats)
            budget -= made
            result = diff(confirmed, report, threshold=threshold)
            if (
                result.verdict == before.verdict == "regression"
                and min(repeats[name] for name in chosen) >= 5
            ):
                break
        session.finish(report, report_path, attempts=sum(repeats.values()))
    return report, result


async def _repeat(
    session: RunSession, archive: Archive, run_id: str, chosen: list[str], repeats: dict[str, int]
) -> tuple[Report, int]:
    """One more attempt of each chosen task."""
    with AttemptLog(archive.path(run_id) / ATTEMPTS, session.clean) as log:
        work = [(session.task(name), repeats[name]) for name in chosen]
        await session.make(work, log)
        for name in chosen:
            repeats[name] += 1
        return session.report(log, repeats), len(work)


def moved_tasks(baseline: Report, current: Report) -> list[str]:
    """Tasks of both runs whose mean share of right decisions, or whose over-calls, differ; worst first."""
    before = {task.task_id: task for task in baseline.tasks}
    moved: list[tuple[float, str]] = []
    for task in current.tasks:
        known = before.get(task.task_id)
        if known is None or known.content_hash != task.content_hash:
            continue
        difference = _standing(task) - _standing(known)
        if difference:
            moved.append((difference, task.task_id))
    return [name for _, name in sorted(moved)]


def _standing(task: TaskScore) -> float:
    """Mean share of right decisions less the share of attempts with an over-call."""
    attempts = [attempt for attempt in task.attempts if attempt.state != "infra_error"]
    if not attempts:
        return 0.0
    return sum((attempt.share or 0.0) - attempt.over_called for attempt in attempts) / len(attempts)
