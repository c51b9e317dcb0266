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
from agent_reach.evals.interventions.planning import DecisionPlan, Trial, plan_proofs
from agent_reach.evals.interventions.writing import with_proofs
from agent_reach.evals.trials.comparison import Share, judge
from agent_reach.evals.trials.laboratory import BudgetEnded, Laboratory, LaboratoryOptions
from agent_reach.records.message import Message
from agent_reach.records.report import Report
from agent_reach.records.score import AttemptScore, ProofTrial


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
        found: list[ProvedDecision] = []
        told: set[str] = set()
        ended = False
        interrupted = True
        try:
            for plan in plans:
                proved, complete = await _prove_one(opened, plan, chosen.attempts, told)
                ended |= not complete
                found.append(proved)
            interrupted = False
        finally:
            opened.end(interrupted=interrupted)
        return ProofResult(
            report=with_proofs(report, found),
            decisions=tuple(found),
            spent=opened.spent,
            lost=opened.lost,
            ended_early=ended,
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


async def _prove_one(
    opened: Laboratory, plan: DecisionPlan, attempts: int, told: set[str]
) -> tuple[ProvedDecision, bool]:
    """The finding on one decision, and whether everything planned was run; `told` are variants whose cost was told."""
    trials: dict[str, list[ProofTrial]] = {}
    pairs: list[ProofTrial] = []
    complete = True
    before = Share(0, 0)
    if plan.trials:
        try:
            before = await _share(opened, plan, plan.untouched, attempts)
            for trial in plan.trials:
                result = await _run_trial(opened, plan, trial, before, attempts, told)
                for cause in trial.causes:
                    trials.setdefault(cause, []).append(result)
            if not any(item.verdict == "proved" for items in trials.values() for item in items):
                for trial in plan.pairs:
                    result = await _run_trial(opened, plan, trial, before, attempts, told)
                    pairs.append(result)
                    if result.verdict == "proved":
                        for cause in trial.causes:
                            trials[cause].append(result)
                        break
        except BudgetEnded:
            complete = False
            for trial in plan.trials:
                for cause in trial.causes:
                    known = trials.setdefault(cause, [])
                    if all(item.intervention != trial.name for item in known):
                        known.append(_unspent(trial, before, 1 if opened.is_exact else attempts))
    verdicts = {cause: _verdict(items) for cause, items in trials.items()}
    verdicts.update(dict.fromkeys(plan.untestable, ""))
    return (
        ProvedDecision(
            task_id=plan.task_id,
            step=plan.decision.step if plan.decision.step >= 0 else None,
            expected_tool=plan.decision.expected_tool,
            unwanted=plan.unwanted,
            suspected=plan.suspected,
            verdicts=verdicts,
            trials={cause: tuple(items) for cause, items in trials.items()},
            untouched=(int(before.right), int(before.attempts)),
            pairs=tuple(pairs),
        ),
        complete,
    )


def _verdict(trials: Sequence[ProofTrial]) -> str:
    """Proved where any experiment proves it, refuted where all do; else undecided."""
    if any(trial.verdict == "proved" for trial in trials):
        return "proved"
    return "refuted" if all(trial.verdict == "refuted" for trial in trials) else "undecided"


async def _run_trial(
    opened: Laboratory, plan: DecisionPlan, trial: Trial, before: Share, attempts: int, told: set[str]
) -> ProofTrial:
    after = await _share(opened, plan, trial.variant, attempts)
    key = opened.key(trial.variant)
    spent = 0 if key in told else opened.made(trial.variant, attempts)
    told.add(key)
    found = judge(before, after, exact=opened.is_exact)
    return ProofTrial(
        intervention=trial.name,
        change=trial.what,
        verdict=found.verdict,
        untouched=(int(before.right), int(before.attempts)),
        changed=(int(after.right), int(after.attempts)),
        gain=found.gain,
        interval=found.interval,
        more=found.more if found.verdict == "undecided" else None,
        spent=spent,
    )


def _unspent(trial: Trial, before: Share, attempts: int) -> ProofTrial:
    what = Message(f"{trial.what.en} (not run: the budget ended)", f"{trial.what.zh}（未运行：预算已用完）")
    return ProofTrial(
        intervention=trial.name,
        change=what,
        verdict="undecided",
        untouched=(int(before.right), int(before.attempts)),
        more=attempts,
    )


async def _share(opened: Laboratory, plan: DecisionPlan, variant: Any, attempts: int) -> Share:
    scores = (await opened.ask([(variant, attempts)]))[0]
    counted = [score for score in scores if score.state != "infra_error"]
    return Share(sum(holds(score, plan) for score in counted), len(counted))


def holds(score: AttemptScore, plan: DecisionPlan) -> bool:
    """The decision was made right in this attempt: itself, or every decision of another accepted path; of unwanted calls,
    that none was made."""
    if plan.decision.step < 0:
        return score.state == "scored" and not score.over_called
    own = [
        decision
        for decision in score.decisions
        if decision.step == plan.decision.step and decision.expected_tool == plan.decision.expected_tool
    ]
    wanted = own if own and score.path_index == plan.path_index else list(score.decisions)
    return bool(wanted) and all(
        decision.verdict == "right" and decision.call_success is not False for decision in wanted
    )


__all__ = [
    "ProofCost",
    "ProofResult",
    "ProveOptions",
    "ProvedDecision",
    "proof_cost",
    "prove",
    "prove_async",
    "refuse_recorded",
]
