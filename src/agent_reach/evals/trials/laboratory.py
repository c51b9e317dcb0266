"""Makes the attempts that a question asks for: those that exist are not made again, new ones are on disk before they count.

Attempts are counted before they are spent. The laboratory asks no question itself, and never writes to what it is given.
"""

from __future__ import annotations

import asyncio
import dataclasses
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agent_reach.config.run import public_settings
from agent_reach.config.settings import RunConfig
from agent_reach.errors import InputError
from agent_reach.evals.agents.base import Agent, AgentSetup, UnusableModelError, build_agent
from agent_reach.evals.context.options import Layout
from agent_reach.evals.exposure import Exposer
from agent_reach.evals.runner_attempt import run_attempt
from agent_reach.evals.runner_backend import BackendMaker
from agent_reach.evals.runner_log import AttemptLog
from agent_reach.evals.runner_setup import Prepared, RunOptions, prepare
from agent_reach.evals.suite.load import Suite
from agent_reach.evals.trials.variant import Variant, WrappedBackends, trial_key
from agent_reach.records.codec import content_hash
from agent_reach.records.events import AttemptFinished, AttemptStarted, Event, RunFinished, RunStarted
from agent_reach.records.score import AttemptScore
from agent_reach.records.task import Task

Wanted = tuple[Variant, int]
_KEPT = 2000
_MOST_TRIES = 2
"""A lost attempt is made once more when it is asked for again, and then left alone until the next start."""


class BudgetEnded(Exception):
    """The next attempts would cost more than the budget has left; nothing of them was made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LaboratoryOptions:
    """`budget` is the most attempts to make (None: no limit); `folder` is where they are kept; `resume` goes on with the
    newest kept attempts of the same question."""

    budget: int | None = None
    folder: Path | None = None
    resume: bool = False
    run: RunOptions = field(default_factory=RunOptions)


class Laboratory:
    """Attempts of variants of one run. Use it as an async context manager.

    `spent` counts attempts that were made now; `lost` those of them that model, servers or network spoiled.
    """

    def __init__(
        self,
        question: str,
        config: RunConfig,
        suite: Suite | Any = None,
        options: LaboratoryOptions | None = None,
    ) -> None:
        self.options = options or LaboratoryOptions()
        self._base = prepare(config, suite, self.options.run)
        self.config = config
        self.suite: Suite = self._base.suite
        self.catalog = self._base.catalog
        self.agent = self._base.agent
        self.redactor = self._base.redactor
        self.spent = 0
        self.lost = 0
        self._question = question
        self._prepared: dict[tuple[int, int, tuple[str, ...]], tuple[Variant, Prepared]] = {}
        self._tries: dict[tuple[str, int], int] = {}
        self._made: dict[str, BackendMaker] = {}
        self._agents: dict[str, Agent] = {}
        self._keys: dict[int, tuple[Variant, str]] = {}
        self._log: AttemptLog | None = None
        self.path = self._place()

    @property
    def is_exact(self) -> bool:
        """Agent and backends answer the same on every attempt: one attempt says all. Faults that are drawn do not."""
        drawn = any(rule.probability < 1 for rule in self.config.execution.faults)
        return self.agent.info.deterministic and self._base.backends.is_repeatable and not drawn

    @property
    def is_recorded(self) -> bool:
        """The agent hands out what was recorded; nothing can be run again."""
        return self.agent.info.placed_by == "recorded"

    def refuse_recorded(self) -> None:
        """Raise `InputError` where attempts cannot be made again."""
        if self.is_recorded:
            raise InputError(
                "a recorded run cannot be run again: its agent only hands out what was recorded",
                where=self.config.source or "agent",
                next_step="name the live agent in the configuration (`agent: {type: chat, ...}`)",
            )

    def untouched(self, task: Task) -> Variant:
        """The task as the run has it."""
        return Variant(config=self.config, catalog=self.catalog, task=task)

    # --- life

    async def __aenter__(self) -> Laboratory:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        ignore = self.path.parent / ".gitignore"
        if not ignore.exists():
            ignore.write_text("*\n", encoding="utf-8")
        self._log = AttemptLog(self.path, self.redactor.value)
        self._log.__enter__()
        return self

    async def __aexit__(self, *error: Any) -> None:
        if self._log is not None:
            self._log.__exit__(*error)
            if self.path.stat().st_size == 0:  # nothing was asked, only counted
                self.path.unlink()
        for backends in self._made.values():
            await backends.aclose()
        await self._base.backends.aclose()
        for agent in (*self._agents.values(), self.agent):
            await agent.aclose()

    def _place(self) -> Path:
        folder = (
            self.options.folder or Path(self.options.run.archive or self.config.archive).parent / "trials"
        )
        key = content_hash([self._question, self._base.key]).removeprefix("sha256:")[:10]
        stem = f"{self._question}-{key}"
        found = sorted(folder.glob(f"{stem}-*.jsonl"), key=lambda path: path.stem)
        known = [path for path in found if path.stat().st_size] if self.options.resume else []
        if known:
            return known[-1]
        stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
        path = folder / f"{stem}-{stamp}.jsonl"
        number = 2
        while path.exists():
            path = folder / f"{stem}-{stamp}-{number:03d}.jsonl"
            number += 1
        return path

    # --- asking

    def prepared(self, variant: Variant) -> Prepared:
        """Everything that attempts of the variant need; equal ways of execution share their back ends."""
        names = tuple(wrapper.name for wrapper in variant.wrappers)
        place = (id(variant.config), id(variant.catalog), names)
        known = self._prepared.get(place)
        if known is None:
            if len(self._prepared) >= _KEPT:
                self._prepared.clear()
            known = self._prepared[place] = (variant, self._derived(variant))
        return known[1]

    def _derived(self, variant: Variant) -> Prepared:
        config, agent = variant.config, self._agent(variant)
        info = agent.info
        exposer = Exposer(
            variant.catalog,
            config.exposure,
            grants=config.environment,
            seed=config.seed,
            placed_by=info.placed_by,
            reach=self.options.run.reach if variant.catalog is self.catalog else None,
        )
        layout = Layout(
            config=config.context, system_prompt=info.system_prompt, tools_in_system=info.tools_in_system
        )
        backends: Any = self._backends(variant)
        if variant.wrappers:
            backends = WrappedBackends(backends, variant.wrappers)
        return dataclasses.replace(
            self._base,
            config=config,
            catalog=variant.catalog,
            agent=agent,
            exposer=exposer,
            layout=layout,
            backends=backends,
            notify=lambda event: None,
        )

    def _agent(self, variant: Variant) -> Agent:
        """The agent with the variant's settings; one that the caller brought has its own."""
        if self.options.run.agent is not None or variant.config.agent == self.config.agent:
            return self.agent
        place = content_hash(public_settings(variant.config.agent))
        if place not in self._agents:
            setup = AgentSetup(
                folder=self.config.folder,
                seed=self.config.seed,
                catalog=self.catalog,
                environment=self.options.run.environment,
            )
            self._agents[place] = build_agent(variant.config.agent, setup)
        return self._agents[place]

    def _backends(self, variant: Variant) -> Any:
        execution = variant.config.execution
        if execution == self.config.execution and variant.config.seed == self.config.seed:
            return self._base.backends
        place = content_hash([public_settings(execution), variant.config.seed])
        if place not in self._made:
            self._made[place] = BackendMaker(
                execution,
                self.catalog,
                source=self.config.catalog,
                folder=self.config.folder,
                environment=self.options.run.environment,
                seed=variant.config.seed,
                custom=self.options.run.backend,
            )
        return self._made[place]

    def key(self, variant: Variant) -> str:
        """The name of what attempts of the variant mean."""
        known = self._keys.get(id(variant))
        if known is None or known[0] is not variant:
            known = self._keys[id(variant)] = (variant, trial_key(self.prepared(variant), variant))
        return known[1]

    def cost(self, wanted: Iterable[Wanted]) -> int:
        """How many attempts would have to be made for all of this; shared ones count once."""
        most: dict[str, int] = {}
        for variant, count in wanted:
            key = self.key(variant)
            most[key] = max(most.get(key, 0), self._count(count))
        return sum(self._missing(key, count) for key, count in most.items())

    def made(self, variant: Variant, count: int) -> int:
        """How many attempts of the variant there are by now, lost ones included."""
        return 0 if self._log is None else len(self._log.attempts_of(self.key(variant), self._count(count)))

    def _count(self, count: int) -> int:
        return 1 if self.is_exact else count

    def _missing(self, key: str, count: int) -> int:
        if self._log is None:
            return count
        return sum((key, index) not in self._log.finished for index in range(count))

    @property
    def left(self) -> int | None:
        """Attempts that the budget still allows; None without a budget."""
        return None if self.options.budget is None else max(0, self.options.budget - self.spent)

    async def ask(self, wanted: Sequence[Wanted]) -> list[tuple[AttemptScore, ...]]:
        """The attempts of each variant, lost ones included; raises `BudgetEnded` before making any beyond the budget."""
        assert self._log is not None, "open the laboratory first"
        work: dict[tuple[str, int], Variant] = {}
        for variant, count in wanted:
            key = self.key(variant)
            for index in range(self._count(count)):
                place = (key, index)
                if place not in self._log.finished and self._tries.get(place, 0) < _MOST_TRIES:
                    work.setdefault(place, variant)
        if self.left is not None and len(work) > self.left:
            raise BudgetEnded
        await self._make(work)
        return [self._log.attempts_of(self.key(variant), self._count(count)) for variant, count in wanted]

    async def _make(self, work: Mapping[tuple[str, int], Variant]) -> None:
        pending = iter(work.items())

        async def worker() -> None:
            for (key, index), variant in pending:
                await self._one(key, index, variant)

        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(min(self._base.concurrency, max(1, len(work)))):
                    group.create_task(worker())
        except BaseExceptionGroup as errors:
            raise _telling(errors) from None

    async def _one(self, key: str, index: int, variant: Variant) -> None:
        assert self._log is not None
        self._tell(AttemptStarted(task_id=variant.task.id, attempt=index))
        attempted = await run_attempt(self.prepared(variant), variant.task, index, self._question)
        if isinstance(attempted.failure, UnusableModelError):
            raise attempted.failure
        written = self._log.append(key, attempted.score)
        await self._log.sync()
        self._tries[key, index] = self._tries.get((key, index), 0) + 1
        self.spent += 1
        self.lost += written.state == "infra_error"
        self._tell(AttemptFinished(task_id=variant.task.id, attempt=index, score=written))

    # --- telling

    def begin(self, attempts: int) -> None:
        """Tell listeners how much is ahead."""
        self._tell(RunStarted(run_id=self.path.stem, tasks=len(self.suite.tasks), attempts=attempts))

    def end(self, *, interrupted: bool = False) -> None:
        """Tell listeners that it is over."""
        self._tell(RunFinished(run_id=self.path.stem, attempts=self.spent, interrupted=interrupted))

    def _tell(self, event: Event) -> None:
        for listener in self.options.run.listeners:
            listener(event)


def _telling(errors: BaseExceptionGroup[BaseException]) -> BaseException:
    """The error of a group that a person should see: the first that is no mere cancellation."""
    for error in errors.exceptions:
        found = _telling(error) if isinstance(error, BaseExceptionGroup) else error
        if not isinstance(found, asyncio.CancelledError):
            return found
    return errors.exceptions[0]
