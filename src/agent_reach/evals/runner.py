"""Runs a suite against an agent: attempts side by side, each on disk before it counts, a report at the end.

The runner emits events and never prints. What an attempt is, is told in `runner_attempt`; where things are kept, in
`archive` and `runner_log`.
"""

from __future__ import annotations

import asyncio
import dataclasses
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from agent_reach.config.run import public_settings
from agent_reach.config.settings import RunConfig
from agent_reach.errors import ModelError
from agent_reach.evals.agents.base import UnusableModelError, checked_agent
from agent_reach.evals.archive import ATTEMPTS, REPORT, SNAPSHOT, Archive, ArchivedRun, new_run_id, write_json
from agent_reach.evals.runner_attempt import run_attempt
from agent_reach.evals.runner_log import AttemptLog
from agent_reach.evals.runner_setup import Prepared, RunOptions, prepare, resolve_config
from agent_reach.records.codec import content_hash
from agent_reach.records.events import AttemptFinished, AttemptStarted, FindingRaised, RunFinished, RunStarted
from agent_reach.records.report import Report, RunInfo
from agent_reach.records.score import AttemptScore, TaskScore
from agent_reach.records.task import Task
from agent_reach.version import __version__

Work = tuple[Task, int]


def run(
    config: RunConfig | str | Path | Mapping[str, Any],
    *,
    suite: Any = None,
    report: str | Path | None = None,
    options: RunOptions | None = None,
    **more: Any,
) -> Report:
    """Run a suite and return its report; see `run_async`. Not for use inside a running event loop."""
    try:
        return asyncio.run(run_async(config, suite=suite, report=report, options=options, **more))
    except SystemExit as error:
        # A task that the agent started by itself can end the loop, and nothing inside it can stop that.
        raise ModelError(
            f"the agent ended the run: {type(error).__name__}: {error}",
            next_step="take sys.exit out of what it starts in the background; --resume continues",
        ) from error


async def run_async(
    config: RunConfig | str | Path | Mapping[str, Any],
    *,
    suite: Any = None,
    report: str | Path | None = None,
    options: RunOptions | None = None,
    **more: Any,
) -> Report:
    """Run a suite against the configured agent and return the report.

    `config` is a file, a mapping in its form, or a record; `suite` a name of the configuration, a file, a `Suite` or tasks;
    `report` a file to write. `more` are fields of `RunOptions` (`repeats`, `resume`, `listeners`, ...). Raises `InputError`
    before anything is run when something given is wrong, `UnusableModelError` when the model cannot be used at all. A
    cancelled run can be continued with `resume`.
    """
    chosen = dataclasses.replace(options or RunOptions(), **more)
    async with open_run(config, suite, chosen) as (session, _, _):
        return await session.run(report)


@asynccontextmanager
async def open_run(
    config: RunConfig | str | Path | Mapping[str, Any], suite: Any, options: RunOptions
) -> AsyncIterator[tuple[RunSession, Archive, str]]:
    """(session, archive, run id) of a run that is ready to begin; everything is closed at the end."""
    if options.agent is not None:
        checked_agent(options.agent)
    settings = resolve_config(config, options.environment)
    prepared = prepare(settings, suite, options)
    try:
        archive = Archive(Path(options.archive or settings.archive))
        archived = _archived(prepared, archive, resume=options.resume)
        yield RunSession(prepared, archive, archived), archive, archived.id
    finally:
        await prepared.agent.aclose()
        await prepared.backends.aclose()


class RunSession:
    """One run while it lasts: its log, its workers, and the report made of what is on disk."""

    def __init__(self, prepared: Prepared, archive: Archive, archived: ArchivedRun) -> None:
        self._prepared = prepared
        self._archive = archive
        self._archived = archived
        self._folder = archive.path(archived.id)
        self._started = time.time()

    def task(self, task_id: str) -> Task:
        """The task of that id."""
        return self._prepared.suite.task(task_id)

    def clean(self, value: Any) -> Any:
        """A JSON value without secrets."""
        return self._prepared.redactor.value(value)

    async def run(self, report_path: str | Path | None = None) -> Report:
        """Make every attempt that is not on disk yet, then write and return the report."""
        prepared = self._prepared
        _check_writable(report_path)
        write_snapshot(prepared, self._folder / SNAPSHOT)
        with AttemptLog(self._folder / ATTEMPTS, self.clean) as log:
            waiting = list(self._waiting(log))
            total = len(prepared.suite.tasks) * prepared.repeats
            prepared.notify(
                RunStarted(
                    run_id=self._archived.id,
                    tasks=len(prepared.suite.tasks),
                    attempts=total,
                    resumed=total - len(waiting),
                )
            )
            for finding in (*prepared.catalog.findings, *prepared.suite.findings):
                if finding.severity == "error":
                    prepared.notify(FindingRaised(finding=finding))
            try:
                await self.make(waiting, log)
            except BaseException:
                done = len(log.finished)
                prepared.notify(RunFinished(run_id=self._archived.id, attempts=done, interrupted=True))
                if not done:  # nothing to go on with: a folder without an attempt only stands in the way
                    self._archive.drop(self._archived.id)
                raise
            report = self.report(log, {task.id: prepared.repeats for task in prepared.suite.tasks})
        self.finish(report, report_path, attempts=total)
        return report

    def finish(self, report: Report, report_path: str | Path | None, *, attempts: int) -> None:
        """Write the report into the archive and to its place, and mark the run as finished."""
        from agent_reach.reports.json_report import write_report

        write_report(report, self._folder / REPORT)
        if report_path is not None:
            write_report(report, Path(report_path))
        self._archive.write(dataclasses.replace(self._archived, state="finished", attempts=attempts))
        self._prepared.notify(RunFinished(run_id=self._archived.id, attempts=attempts))

    def _waiting(self, log: AttemptLog) -> Iterator[Work]:
        """Attempts still to be made: the first attempt of every task before the second of any."""
        for index in range(self._prepared.repeats):
            for task in self._prepared.suite.tasks:
                if (task.id, index) not in log.finished:
                    yield task, index

    async def make(self, work: Sequence[Work], log: AttemptLog) -> None:
        """Make these attempts, several at a time; the first error that concerns all of them ends the run."""
        pending = iter(work)

        async def worker() -> None:
            for task, index in pending:
                score = await self._one(task, index, log)
                group.create_task(self._tell(task, index, score, log))

        workers = min(self._prepared.concurrency, max(1, len(work)))
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(workers):
                    group.create_task(worker())
        except BaseExceptionGroup as errors:
            raise _first(errors) from None

    async def _tell(self, task: Task, index: int, score: AttemptScore, log: AttemptLog) -> None:
        """An attempt is told when it is on disk."""
        await log.sync()
        self._prepared.notify(AttemptFinished(task_id=task.id, attempt=index, score=score))

    async def _one(self, task: Task, index: int, log: AttemptLog) -> AttemptScore:
        prepared = self._prepared
        prepared.notify(AttemptStarted(task_id=task.id, attempt=index))
        attempted = await run_attempt(prepared, task, index, self._archived.id)
        if isinstance(attempted.failure, UnusableModelError) and not log.finished:
            raise attempted.failure
        return log.append(task.id, attempted.score)

    def report(self, log: AttemptLog, repeats: Mapping[str, int]) -> Report:
        """The report of what is on disk; `repeats` says how many attempts of each task belong to it."""
        from agent_reach.evals.report import build_report
        from agent_reach.evals.scoring.task_score import task_score

        prepared = self._prepared
        scores: list[TaskScore] = []
        for task in prepared.suite.tasks:
            attempts = log.attempts_of(task.id, repeats.get(task.id, prepared.repeats))
            scored = task_score(task, attempts)
            scores.append(dataclasses.replace(scored, query=prepared.redactor.text(scored.query)))
        return build_report(
            self.info(),
            prepared.catalog,
            scores,
            findings=(*prepared.suite.findings, *prepared.catalog.findings),
        )

    def info(self) -> RunInfo:
        """What was run."""
        prepared = self._prepared
        config = prepared.config
        agent = prepared.agent.info
        settings: Any = prepared.redactor.value(dict(agent.settings))
        return RunInfo(
            id=self._archived.id,
            time=datetime.fromtimestamp(self._archived.started_at, UTC).isoformat(timespec="seconds"),
            agent=agent.name,
            model=agent.model,
            model_settings=settings,
            prompt_hash=content_hash({"system": agent.system_prompt, "template": config.context.template}),
            template=prepared.layout.settings,
            exposure=public_settings(config.exposure),
            execution=prepared.redactor.value(public_settings(config.execution)),
            suites={prepared.suite.name: prepared.suite.hash},
            git_commit=prepared.catalog.provenance.git_commit,
            package_version=__version__,
            deterministic=agent.deterministic and prepared.backends.is_repeatable,
            repeats=prepared.repeats,
            seed=config.seed,
            placed_by=agent.placed_by,
            duration_s=round(time.time() - self._started, 3),
        )


def _first(errors: BaseExceptionGroup[BaseException]) -> BaseException:
    """The error that a person should see: the first real one of a group."""
    for error in errors.exceptions:
        found = _first(error) if isinstance(error, BaseExceptionGroup) else error
        if not isinstance(found, asyncio.CancelledError):
            return found
    return errors.exceptions[0]


def _archived(prepared: Prepared, archive: Archive, *, resume: bool) -> ArchivedRun:
    """The run to continue, or a new one."""
    if resume:
        known = archive.newest(prepared.key)
        if known is not None:
            return known
    now = time.time()
    info = prepared.agent.info
    run = ArchivedRun(
        id=new_run_id(prepared.key, now),
        key=prepared.key,
        started_at=now,
        agent=info.name,
        model=info.model,
        suite=prepared.suite.name,
        repeats=prepared.repeats,
        catalog_hash=prepared.catalog.hash,
        suite_hash=prepared.suite.hash,
        settings=prepared.redactor.value(public_settings(prepared.config)),
    )
    archive.create(run)
    return run


def write_snapshot(prepared: Prepared, path: Path) -> None:
    """Freeze the run's tool list beside its log."""
    if path.exists():
        return
    from agent_reach.catalog.snapshot import snapshot_document

    write_json(path, snapshot_document(prepared.catalog))


def _check_writable(path: str | Path | None) -> None:
    """A report that cannot be written is told before the run, not after it."""
    from agent_reach.errors import InputError

    if path is None:
        return
    target = Path(path)
    if target.is_dir():
        raise InputError("this is a folder", where=str(target), next_step="give a file name")
    parent = target.parent
    while not parent.exists():
        parent = parent.parent
    import os

    if not parent.is_dir() or not os.access(parent, os.W_OK):
        raise InputError(
            "the report cannot be written here", where=str(target), next_step="give another path"
        )
