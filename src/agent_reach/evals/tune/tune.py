"""Tries proposals one by one, keeps those that help both halves, and drops what no longer helps.

A proposal is first tried on the tasks that asked for it, then on the whole tuning half, then on the held-back half; it is
kept when the tuning half gains and the held-back half agrees. What is kept was chosen by the held-back half too, so the
last comparison is made with fresh attempts wherever the agent does not decide the same each time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from agent_reach.catalog.similar import similar_pairs
from agent_reach.config.settings import RunConfig
from agent_reach.errors import InputError
from agent_reach.evals.interventions.base import Situation
from agent_reach.evals.statistics import ratio_interval
from agent_reach.evals.trials.laboratory import BudgetEnded, Laboratory, LaboratoryOptions
from agent_reach.evals.trials.variant import Variant
from agent_reach.evals.tune.from_catalog import exposure_proposals, lint_proposals
from agent_reach.evals.tune.from_failures import failure_bundles, failure_proposals
from agent_reach.evals.tune.halves import split_halves
from agent_reach.evals.tune.proposals import Proposal, merged
from agent_reach.evals.tune.writer import Writer, written_proposals
from agent_reach.records.context import StateSlot
from agent_reach.records.score import AttemptScore, Interval
from agent_reach.records.task import Task

Fate = Literal["kept", "no_gain", "not_confirmed", "by_chance", "unconfirmed", "removed", "not_tried"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TuneOptions:
    """`repeats` attempts per task and variant; `proposals` is the most to try (those with the most failures first); `seed` of
    the halves; `lint` also tries what lint would write. `unconfirmed` also keeps what helps the tuning half and harms nothing
    where no held-back task needs the tools it is about, so that the held-back half can say nothing."""

    repeats: int = 1
    proposals: int = 40
    seed: int = 0
    lint: bool = True
    unconfirmed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Gain:
    """Mean change of the tasks' standing (share of right decisions less over-calls), with the tasks that got better and
    worse."""

    tasks: int
    mean: float
    interval: Interval | None = None
    better: tuple[str, ...] = ()
    worse: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """What became of a proposal: its gain on both halves, as far as it got."""

    proposal: Proposal
    fate: Fate
    tuning: Gain | None = None
    held_back: Gain | None = None
    spent: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TuneResult:
    """What was tried and kept. `overlay` is the piece of overlay that all kept proposals make together; `before` and `after`
    are mean standings of the halves, `whole` the last comparison on the held-back half."""

    tried: tuple[Tried, ...]
    kept: tuple[Proposal, ...]
    overlay: Mapping[str, Any]
    tuning_tasks: int
    held_back_tasks: int
    before: tuple[float, float]
    after: tuple[float, float]
    whole: Gain | None
    tokens: tuple[int, int]
    spent: int
    lost: int
    ended_early: bool
    agent: str = ""
    model: str = ""
    suite: str = ""
    log: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)


def tune(
    config: RunConfig,
    *,
    suite: Any = None,
    options: TuneOptions | None = None,
    laboratory: LaboratoryOptions | None = None,
    writer: Writer | None = None,
) -> TuneResult:
    """Tune the notes around a catalog for an agent. Nothing that was given is changed; a recorded agent is refused.

    `writer` is a model that may word first lines and borders; without one all wording is made by rule.
    """

    async def run() -> TuneResult:
        opened = Laboratory("tune", config, suite, laboratory)
        opened.refuse_recorded()
        async with opened:
            return await _Tuning(opened, options or TuneOptions(), writer).run()

    return asyncio.run(run())


@dataclass(frozen=True, slots=True)
class TuneCost:
    """Attempts of a tuning: the baseline, and at most for each proposal; `proposals` is the most that are tried."""

    baseline: int
    each: int
    proposals: int

    @property
    def most(self) -> int:
        """All of it, with the removal round and the last comparison."""
        return self.baseline + self.each * (2 * self.proposals + 2)


def tune_cost(
    config: RunConfig,
    *,
    suite: Any = None,
    options: TuneOptions | None = None,
    laboratory: LaboratoryOptions | None = None,
) -> TuneCost:
    """What a tuning may spend at most; nothing is run."""
    opened = Laboratory("tune", config, suite, laboratory)
    opened.refuse_recorded()
    chosen = options or TuneOptions()
    each = (1 if opened.is_exact else chosen.repeats) * len(opened.suite)
    return TuneCost(
        opened.cost([(opened.untouched(t), chosen.repeats) for t in opened.suite]), each, chosen.proposals
    )


class _Tuning:
    def __init__(self, opened: Laboratory, options: TuneOptions, writer: Writer | None) -> None:
        self.opened = opened
        self.options = options
        self.writer = writer
        self.tuning, self.held_back = split_halves(opened.suite.tasks, options.seed)
        self.kept: list[Proposal] = []
        self.tried: list[Tried] = []
        self._variants: dict[str, Variant] = {}
        self._ended = False

    async def run(self) -> TuneResult:
        opened = self.opened
        baseline = opened.cost(
            [(opened.untouched(task), self.options.repeats) for task in opened.suite.tasks]
        )
        if opened.left is not None and baseline > opened.left:
            raise InputError(
                f"the budget of {opened.left} attempts does not reach the baseline of {baseline}",
                where="--budget",
                next_step=f"give at least {baseline}, or a smaller suite; --dry-run says what all of it may cost",
            )
        opened.begin(baseline)
        interrupted = True
        before = after = (0.0, 0.0)
        whole: Gain | None = None
        try:
            with self._within_budget():
                before = after = await self._standings([])
                waiting = await self._proposals()
                while waiting:
                    proposal = waiting.pop(0)
                    if proposal not in self.kept:
                        waiting = self._pieces_first(await self._try_or_tell(proposal), waiting)
                await self._remove()
                after = await self._standings(self.kept)
                whole = await self._last() if self.kept else None
            interrupted = False
        finally:
            opened.end(interrupted=interrupted)
        return self._result(before, after, whole, self._ended)

    @contextmanager
    def _within_budget(self) -> Iterator[None]:
        """Go on behind what the budget does not reach; the rest may need less, or nothing that is not made already."""
        try:
            yield
        except BudgetEnded:
            self._ended = True

    async def _try_or_tell(self, proposal: Proposal) -> Tried:
        tried = Tried(proposal=proposal, fate="not_tried")
        with self._within_budget():
            tried = await self._try(proposal)
        self.tried.append(tried)
        if tried.fate == "kept":
            self.kept += proposal.parts or (proposal,)
            self.tried += [Tried(proposal=part, fate="kept") for part in proposal.parts]
        return tried

    def _pieces_first(self, tried: Tried, waiting: list[Proposal]) -> list[Proposal]:
        """Of a bundle that the tuning half gained by and that was not kept, the pieces whose own tasks got better come next."""
        if tried.fate == "kept" or tried.tuning is None or tried.tuning.mean <= 0:
            return waiting
        helped = [
            piece
            for piece in tried.proposal.parts
            if piece in waiting and set(piece.tasks) & set(tried.tuning.better)
        ]
        return [*helped, *(proposal for proposal in waiting if proposal not in helped)]

    def _result(
        self, before: tuple[float, float], after: tuple[float, float], whole: Gain | None, ended: bool
    ) -> TuneResult:
        opened, info = self.opened, self.opened.agent.info
        return TuneResult(
            tried=tuple(self.tried),
            kept=tuple(self.kept),
            overlay=merged(proposal.patch for proposal in self.kept),
            tuning_tasks=len(self.tuning),
            held_back_tasks=len(self.held_back),
            before=before,
            after=after,
            whole=whole,
            tokens=(self._tokens([]), self._tokens(self.kept)),
            spent=opened.spent,
            lost=opened.lost,
            ended_early=ended,
            agent=info.name,
            model=info.model,
            suite=opened.suite.name,
            log=str(opened.path),
            settings={
                "repeats": self.options.repeats,
                "seed": self.options.seed,
                "catalog_hash": opened.catalog.hash,
            },
        )

    # --- proposals

    async def _proposals(self) -> list[Proposal]:
        situations = await self._situations()
        catalog = self.opened.catalog
        pairs = similar_pairs(catalog)
        found = failure_proposals(situations, self.tuning)
        if self.writer is not None:
            found = await written_proposals(self.writer, found, catalog) + found
        found += exposure_proposals(catalog, pairs, self.opened.config, situations, self.opened.suite.tasks)
        ordered = sorted(_once(found), key=lambda proposal: -len(proposal.tasks))
        asked = [*failure_bundles(ordered), *ordered]
        if self.options.lint:
            concerned = {key for s in situations for key in (*((s.tool.key,) if s.tool else ()), *s.chosen)}
            asked += lint_proposals(catalog, pairs, concerned)
        return _once(asked)[: self.options.proposals]

    async def _situations(self) -> list[Situation]:
        """The lost decisions of the tuning half."""
        opened = self.opened
        found = []
        variants = [self._variant(task, []) for task in self.tuning]
        answered = await opened.ask([(variant, self.options.repeats) for variant in variants])
        for variant, attempts in zip(variants, answered, strict=True):
            exposure = opened.prepared(variant).exposer.expose(variant.task).exposure
            seen: set[tuple[int, str]] = set()
            for attempt in attempts:
                for decision in attempt.decisions:
                    cause = decision.cause
                    if cause is not None and (decision.step, cause.name) not in seen:
                        seen.add((decision.step, cause.name))
                        found.append(Situation(variant, decision, attempt, exposure, cause.name))
        return found

    # --- trying

    async def _try(self, proposal: Proposal) -> Tried:
        spent = self.opened.spent
        changed = [*self.kept, proposal]
        own = [task for task in self.tuning if task.id in proposal.tasks]
        fate: Fate = "no_gain"
        tuning = held = None
        if own:
            tuning = await self._gain(own, self.kept, changed)
        if not own or (tuning is not None and tuning.mean > 0):
            tuning = await self._gain(self.tuning, self.kept, changed)
            if tuning.mean > 0:
                held = await self._gain(self.held_back, self.kept, changed)
                fate = self._fate(proposal, held)
        return Tried(
            proposal=proposal, fate=fate, tuning=tuning, held_back=held, spent=self.opened.spent - spent
        )

    def _fate(self, proposal: Proposal, held: Gain) -> Fate:
        """What the held-back half says of a proposal that the tuning half gains by."""
        if agrees(held):
            return "kept"
        if held.mean > 0:
            return "by_chance"
        if held.mean < 0 or held.worse or not proposal.tools or self._speaks_of(proposal.tools):
            return "not_confirmed"
        return "kept" if self.options.unconfirmed else "unconfirmed"

    def _speaks_of(self, tools: Sequence[str]) -> bool:
        """A held-back task needs or forbids one of these tools."""
        names = {
            name
            for task in self.held_back
            for name in (*(call.tool for path in task.paths for call in path.calls), *task.forbid)
        }
        found = (self.opened.catalog.resolve(name) for name in names)
        return any(tool.key in tools for tool in found if tool is not None)

    async def _remove(self) -> None:
        """Drop kept proposals without which both halves stand as well."""
        for proposal in list(self.kept):
            if len(self.kept) < 2:
                return
            rest = [other for other in self.kept if other is not proposal]
            with self._within_budget():
                tuning = await self._gain(self.tuning, rest, self.kept)
                held = await self._gain(self.held_back, rest, self.kept)
                if tuning.mean <= 0 and held.mean <= 0:
                    self.kept = rest
                    self.tried = [
                        replace(item, fate="removed") if item.proposal is proposal else item
                        for item in self.tried
                    ]

    async def _last(self) -> Gain:
        """All that was kept against nothing on the held-back half, with attempts that nothing was chosen by."""
        fresh = 0 if self.opened.is_exact else self.options.repeats
        return await self._gain(self.held_back, [], self.kept, skip=fresh)

    async def _gain(
        self, tasks: Sequence[Task], before: Sequence[Proposal], after: Sequence[Proposal], *, skip: int = 0
    ) -> Gain:
        old = await self._scores(tasks, before, skip)
        new = await self._scores(tasks, after, skip)
        changes = {
            task_id: new[task_id] - old[task_id]
            for task_id in old
            if old[task_id] is not None and new.get(task_id) is not None
        }  # fmt: skip
        values = list(changes.values())
        if not values:
            return Gain(tasks=0, mean=0.0)
        mean = sum(values) / len(values)
        interval = ratio_interval(values, [1.0] * len(values), is_share=False) if len(values) > 1 else None
        return Gain(
            tasks=len(values),
            mean=mean,
            interval=interval,
            better=tuple(task_id for task_id, change in changes.items() if change > 0),
            worse=tuple(task_id for task_id, change in changes.items() if change < 0),
        )

    async def _standings(self, proposals: Sequence[Proposal]) -> tuple[float, float]:
        found = []
        for half in (self.tuning, self.held_back):
            scores = list((await self._scores(half, proposals, 0)).values())
            found.append(sum(scores) / len(scores) if scores else 0.0)
        return found[0], found[1]

    async def _scores(
        self, tasks: Sequence[Task], proposals: Sequence[Proposal], skip: int
    ) -> dict[str, float]:
        """Task id -> standing; tasks whose attempts were all lost are left out."""
        wanted = [(self._variant(task, proposals), self.options.repeats + skip) for task in tasks]
        answered = await self.opened.ask(wanted)
        found = {}
        for task, attempts in zip(tasks, answered, strict=True):
            counted = [
                attempt for attempt in attempts if attempt.state != "infra_error" and attempt.index >= skip
            ]
            if counted:
                found[task.id] = sum(map(standing, counted)) / len(counted)
        return found

    # --- variants

    def _variant(self, task: Task, proposals: Sequence[Proposal]) -> Variant:
        base = self._base(proposals)
        patch = merged(proposal.patch for proposal in proposals)
        slots = tuple(
            StateSlot(name=str(item["name"]), source=str(item["from"]))
            for item in patch.get("state_slots", ())
        )
        fresh = tuple(
            slot for slot in slots if all(slot.source != known.source for known in task.state_slots)
        )
        hidden = {key for proposal in proposals for key in proposal.hide}
        tools = task.tools
        if hidden and tools:
            resolved = [(name, base.catalog.resolve(name)) for name in tools]
            tools = tuple(name for name, tool in resolved if tool is None or tool.key not in hidden)
        return replace(base, task=replace(task, state_slots=(*task.state_slots, *fresh), tools=tools))

    def _base(self, proposals: Sequence[Proposal]) -> Variant:
        """Catalog and settings with these proposals; made once for each set."""
        place = "\n".join(proposal.name for proposal in proposals)
        known = self._variants.get(place)
        if known is None:
            known = self._variants[place] = changed_variant(self.opened, proposals)
        return known

    def _tokens(self, proposals: Sequence[Proposal]) -> int:
        from agent_reach.text.counting import count_json_tokens

        variant = self._base(proposals)
        hidden = {key for proposal in proposals for key in proposal.hide}
        views = [variant.catalog.model_view(tool) for tool in variant.catalog.tools if tool.key not in hidden]
        return count_json_tokens(views)


def _once(proposals: Iterable[Proposal]) -> list[Proposal]:
    """The first proposal of each name, in order."""
    found: dict[str, Proposal] = {}
    for proposal in proposals:
        found.setdefault(proposal.name, proposal)
    return list(found.values())


def agrees(held: Gain) -> bool:
    """The held-back half gains, and either no task gets worse or the gain is beyond chance (its interval lies above 0).

    Six better and four worse is a coin that was thrown, not a confirmation.
    """
    sure = held.interval is not None and held.interval.low > 0
    return held.mean > 0 and (sure or not held.worse)


def changed_variant(opened: Laboratory, proposals: Sequence[Proposal]) -> Variant:
    """The run with these proposals: the overlay pieces laid over its catalog, tools hidden, candidates changed."""
    variant = opened.untouched(opened.suite.tasks[0])
    patch = merged(proposal.patch for proposal in proposals)
    if patch.get("tools"):
        variant = replace(variant, catalog=opened.catalog.with_overlay({"tools": patch["tools"]}))
    exposure = opened.config.exposure
    hidden = [key for proposal in proposals for key in proposal.hide]
    if hidden and exposure.mode == "reach":
        settings = {**exposure.settings, "deny": [*exposure.settings.get("deny", ()), *hidden]}
        exposure = replace(exposure, settings=settings)
    elif hidden:
        plain = opened.untouched(replace(opened.suite.tasks[0], tools=()))
        listed = opened.prepared(plain).exposer.expose(plain.task).exposure.offered
        exposure = replace(exposure, mode="names", tools=tuple(key for key in listed if key not in hidden))
    counts = [proposal.candidates for proposal in proposals if proposal.candidates is not None]
    if counts:
        surface = replace(exposure.surface, max_tools=None)
        exposure = replace(exposure, settings={**exposure.settings, "k": counts[-1]}, surface=surface)
    if exposure is not opened.config.exposure:
        variant = replace(variant, config=replace(opened.config, exposure=exposure))
    return variant


def standing(attempt: AttemptScore) -> float:
    """Share of right decisions (1 where nothing is required), less one for an over-call."""
    return (1.0 if attempt.share is None else attempt.share) - attempt.over_called
