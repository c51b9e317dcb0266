"""Runs interventions against untouched attempts of the same task, and says which suspected causes were causes.

The attempts in which a decision was lost are not compared with: they were picked because they failed, and the next ones
would be better by themselves. Both sides are made anew.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from agent_reach.config.settings import RunConfig
from agent_reach.errors import InputError
from agent_reach.evals.interventions.experiments import Experiments, Findings, holds
from agent_reach.evals.interventions.planning import DecisionPlan, plan_proofs
from agent_reach.evals.interventions.writing import with_proofs
from agent_reach.evals.trials.comparison import Share
from agent_reach.evals.trials.laboratory import Laboratory, LaboratoryOptions
from agent_reach.records.report import Report
from agent_reach.records.score import ProofTrial


@dataclass(frozen=True, slots=True, kw_only=True)
class ProveOptions:
    """`attempts` a side (one is enough for an agent that decides the same each time); `tasks` to look at (empty: all with a
    lost decision); `all_causes` tries every intervention that applies; `pairs` is the most pairs per decision, tried where
    no single one helped."""

    attempts: int = 10
    tasks: tuple[str, ...] = ()
    all_causes: bool = False
    pairs: int = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class ProvedDecision:
    """What was found out about one lost decision: cause -> verdict (empty: no intervention removes it here), the
    experiments, and the rate of untouched attempts.

    `step` is None for calls that should not have been made: `unwanted` are their tools, and right means none of them.
    """

    task_id: str
    step: int | None
    expected_tool: str
    suspected: tuple[str, ...]
    verdicts: dict[str, str]
    trials: dict[str, tuple[ProofTrial, ...]]
    untouched: tuple[int, int]
    pairs: tuple[ProofTrial, ...] = ()
    unwanted: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ProofResult:
    """The report with its causes proved or not, what was found out, and the cost in attempts. `ended_early`: the budget did
    not reach for everything; `kept` is the file of the attempts."""

    report: Report
    decisions: tuple[ProvedDecision, ...]
    spent: int
    lost: int
    ended_early: bool
    kept: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ProofCost:
    """Attempts a proof would make: for single interventions, and at most for pairs where no single one helps."""

    decisions: int
    singles: int
    pairs: int
    plans: tuple[DecisionPlan, ...] = field(default=(), repr=False)


def prove(
    config: RunConfig,
    report: Report,
    *,
    suite: Any = None,
    options: ProveOptions | None = None,
    laboratory: LaboratoryOptions | None = None,
) -> ProofResult:
    """Put the causes of a report to the proof. Raises `InputError` for a recorded run, which cannot be run again."""
    return asyncio.run(prove_async(config, report, suite=suite, options=options, laboratory=laboratory))


async def prove_async(
    config: RunConfig,
    report: Report,
    *,
    suite: Any = None,
    options: ProveOptions | None = None,
    laboratory: LaboratoryOptions | None = None,
) -> ProofResult:
    """The same inside a running event loop."""
    chosen = options or ProveOptions()
    async with _open(config, report, suite, laboratory) as opened:
        plans = _plans(opened, report, chosen)
        cost = _cost(opened, plans, chosen.attempts)
        opened.begin(cost.singles)
        experiments = Experiments(opened, chosen.attempts)
        interrupted = True
        try:
            findings = await experiments.run(plans)
            interrupted = False
        finally:
            opened.end(interrupted=interrupted)
        found = [_proved(item, experiments.attempts) for item in findings]
        return ProofResult(
            report=with_proofs(report, found),
            decisions=tuple(found),
            spent=opened.spent,
            lost=opened.lost,
            ended_early=experiments.ended_early,
            kept=str(opened.path),
        )


def proof_cost(
    config: RunConfig,
    report: Report,
    *,
    suite: Any = None,
    options: ProveOptions | None = None,
    laboratory: LaboratoryOptions | None = None,
) -> ProofCost:
    """What `prove` would spend; nothing is run."""

    async def count() -> ProofCost:
        async with _open(config, report, suite, laboratory) as opened:
            chosen = options or ProveOptions()
            return _cost(opened, _plans(opened, report, chosen), chosen.attempts)

    return asyncio.run(count())


def refuse_recorded(config: RunConfig) -> None:
    """Raise `InputError` where the configuration names an agent that only hands out what was recorded."""
    if config.agent.type == "recorded":
        raise InputError(
            "a recorded run cannot be run again: its agent only hands out what was recorded",
            where=config.source or "agent",
            next_step="name the live agent in the configuration (`agent: {type: chat, ...}`)",
        )


def _open(config: RunConfig, report: Report, suite: Any, options: LaboratoryOptions | None) -> Laboratory:
    opened = Laboratory("prove", config, suite, options)
    opened.refuse_recorded()
    if report.run.placed_by == "recorded":
        raise InputError(
            "the report was made from recordings; they cannot be run again",
            where=report.run.id,
            next_step="run the suite with the live agent, then prove that report",
        )
    return opened


def _plans(opened: Laboratory, report: Report, options: ProveOptions) -> tuple[DecisionPlan, ...]:
    return plan_proofs(
        opened, report, tasks=options.tasks, all_causes=options.all_causes, pairs=options.pairs
    )


def _cost(opened: Laboratory, plans: Sequence[DecisionPlan], attempts: int) -> ProofCost:
    singles = [(variant, attempts) for plan in plans if plan.trials for variant in _variants(plan)]
    pairs = [(trial.variant, attempts) for plan in plans for trial in plan.pairs]
    alone = opened.cost(singles)
    return ProofCost(
        decisions=len(plans), singles=alone, pairs=opened.cost([*singles, *pairs]) - alone, plans=tuple(plans)
    )


def _variants(plan: DecisionPlan) -> list[Any]:
    return [plan.untouched, *(trial.variant for trial in plan.trials)]


def _proved(findings: Findings, attempts: int) -> ProvedDecision:
    plan = findings.plan
    before = findings.before or Share(0, 0)
    trials = findings.trials(attempts)
    verdicts = {cause: _verdict(items) for cause, items in trials.items()}
    verdicts.update(dict.fromkeys(plan.untestable, ""))
    return ProvedDecision(
        task_id=plan.task_id,
        step=plan.decision.step if plan.decision.step >= 0 else None,
        expected_tool=plan.decision.expected_tool,
        unwanted=plan.unwanted,
        suspected=plan.suspected,
        verdicts=verdicts,
        trials=trials,
        untouched=(int(before.right), int(before.attempts)),
        pairs=tuple(result for _, result in findings.pairs),
    )


def _verdict(trials: Sequence[ProofTrial]) -> str:
    """Proved where any experiment proves it, refuted where all do; else undecided."""
    if any(trial.verdict == "proved" for trial in trials):
        return "proved"
    return "refuted" if all(trial.verdict == "refuted" for trial in trials) else "undecided"


__all__ = [
    "ProofCost",
    "ProofResult",
    "ProveOptions",
    "ProvedDecision",
    "holds",
    "proof_cost",
    "prove",
    "prove_async",
    "refuse_recorded",
]
