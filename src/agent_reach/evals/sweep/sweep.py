"""Runs the points of a sweep and reads the curves: metrics with intervals, and the capacity."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agent_reach.config.settings import RunConfig
from agent_reach.evals.figures import metrics_of, task_counts
from agent_reach.evals.scoring.task_score import task_score
from agent_reach.evals.sweep.points import Axis, Exposed, PointPlan, SweepOptions, plan_points
from agent_reach.evals.trials.laboratory import BudgetEnded, Laboratory, LaboratoryOptions
from agent_reach.records.score import AttemptScore, Metric, TaskScore

REACH = "tool_reachability"


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepPoint:
    """One point: `tools` offered and `tokens` of their definitions are means over attempts; `attempts` counted, `lost` not."""

    axis: Axis
    value: float
    exposure: Exposed
    metrics: Mapping[str, Metric]
    tools: float
    tokens: float
    attempts: int
    lost: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Capacity:
    """The largest tool count up to which reach stays at the target: by its value, and by the lower end of its interval. None:
    the smallest count is already below."""

    exposure: Exposed
    target: float
    value: int | None
    sure: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepResult:
    """The curves. `planned` attempts without sharing, `spent` made now; `ended_early`: the budget did not reach."""

    points: tuple[SweepPoint, ...]
    capacities: tuple[Capacity, ...]
    agent: str
    model: str
    suite: str
    tasks: int
    target: float
    planned: int
    spent: int
    lost: int
    ended_early: bool = False
    kept: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepCost:
    """Attempts of a sweep: what the points ask for, and what has to be made when equal ones are shared."""

    points: int
    asked: int
    needed: int


def sweep(
    config: RunConfig,
    options: SweepOptions,
    *,
    suite: Any = None,
    laboratory: LaboratoryOptions | None = None,
) -> SweepResult:
    """Run a sweep. Raises `InputError` for a recorded agent, which cannot be run at other points."""
    return asyncio.run(sweep_async(config, options, suite=suite, laboratory=laboratory))


async def sweep_async(
    config: RunConfig,
    options: SweepOptions,
    *,
    suite: Any = None,
    laboratory: LaboratoryOptions | None = None,
) -> SweepResult:
    """The same inside a running event loop."""
    async with _open(config, suite, laboratory) as opened:
        plans = plan_points(opened, options)
        cost = _cost(opened, plans, options.repeats)
        opened.begin(cost.needed)
        points: list[SweepPoint] = []
        ended, interrupted = False, True
        try:
            for plan in plans:
                points.append(await _point(opened, plan, options.repeats))
            interrupted = False
        except BudgetEnded:
            ended, interrupted = True, False
        finally:
            opened.end(interrupted=interrupted)
        info = opened.agent.info
        return SweepResult(
            points=tuple(points),
            capacities=tuple(capacities(points, options)),
            agent=info.name,
            model=info.model,
            suite=opened.suite.name,
            tasks=len(opened.suite),
            target=options.target,
            planned=cost.asked,
            spent=opened.spent,
            lost=opened.lost,
            ended_early=ended,
            kept=str(opened.path),
            settings={
                "distractors": "another catalog" if options.other is not None else options.distractors,
                "repeats": options.repeats,
                "seed": options.seed,
                "at_tools": options.at_tools or len(opened.catalog),
                "catalog_hash": opened.catalog.hash,
                "suite_hash": opened.suite.hash,
            },
        )


def sweep_cost(
    config: RunConfig,
    options: SweepOptions,
    *,
    suite: Any = None,
    laboratory: LaboratoryOptions | None = None,
) -> SweepCost:
    """What a sweep would spend; nothing is run."""

    async def count() -> SweepCost:
        async with _open(config, suite, laboratory) as opened:
            return _cost(opened, plan_points(opened, options), options.repeats)

    return asyncio.run(count())


def _open(config: RunConfig, suite: Any, options: LaboratoryOptions | None) -> Laboratory:
    opened = Laboratory("sweep", config, suite, options)
    opened.refuse_recorded()
    return opened


def _cost(opened: Laboratory, plans: Sequence[PointPlan], repeats: int) -> SweepCost:
    wanted = [(variant, repeats) for plan in plans for variant in plan.variants.values()]
    each = 1 if opened.is_exact else repeats
    return SweepCost(points=len(plans), asked=each * len(wanted), needed=opened.cost(wanted))


async def _point(opened: Laboratory, plan: PointPlan, repeats: int) -> SweepPoint:
    answered = await opened.ask([(variant, repeats) for variant in plan.variants.values()])
    scores: list[TaskScore] = []
    offered: list[int] = []
    tokens: list[int] = []
    lost = counted = 0
    for (task_id, _), attempts in zip(plan.variants.items(), answered, strict=True):
        scores.append(task_score(opened.suite.task(task_id), attempts))
        for attempt in attempts:
            if attempt.state == "infra_error":
                lost += 1
                continue
            counted += 1
            seen = _exposure(attempt)
            offered.append(seen[0])
            tokens.append(seen[1])
    evaluated = [score for score in scores if score.state == "evaluated"]
    return SweepPoint(
        axis=plan.axis,
        value=plan.value,
        exposure=plan.exposure,
        metrics=metrics_of([task_counts(score) for score in evaluated]),
        tools=_mean(offered),
        tokens=_mean(tokens),
        attempts=counted,
        lost=lost,
    )


def _exposure(attempt: AttemptScore) -> tuple[int, int]:
    if attempt.trace is None:
        return 0, 0
    exposure = attempt.trace.exposure
    return len(exposure.offered), exposure.tokens or 0


def _mean(values: Sequence[float]) -> float:
    return round(sum(values) / len(values), 2) if values else 0.0


def capacities(points: Sequence[SweepPoint], options: SweepOptions) -> list[Capacity]:
    """The capacity under each exposure; empty where tool counts were not swept."""
    found = []
    for exposure in options.exposure:
        curve = sorted(
            (point for point in points if point.axis == "tools" and point.exposure == exposure),
            key=lambda point: point.value,
        )
        if curve:
            by_value = [point.metrics[REACH].value for point in curve]
            by_low = [
                interval.low if (interval := point.metrics[REACH].interval) else None for point in curve
            ]
            found.append(
                Capacity(
                    exposure=exposure,
                    target=options.target,
                    value=_largest(curve, by_value, options.target),
                    sure=_largest(curve, by_low, options.target),
                )
            )
    return found


def _largest(curve: Sequence[SweepPoint], values: Sequence[float | None], target: float) -> int | None:
    largest: int | None = None
    for point, value in zip(curve, values, strict=True):
        if value is None or value < target:
            break
        largest = round(point.value)
    return largest
