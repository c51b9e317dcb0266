"""Makes the experiments of a proof within a budget, breadth first: every lost decision gets its most likely cause tried
before any gets its second one, and pairs come last.

It does not choose what is tried; see `planning`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any

from agent_reach.evals.interventions.planning import DecisionPlan, Trial
from agent_reach.evals.trials.comparison import Share, judge
from agent_reach.evals.trials.laboratory import BudgetEnded, Laboratory
from agent_reach.records.score import AttemptScore, ProofTrial


@dataclass(slots=True, kw_only=True)
class Findings:
    """What is known of one decision so far: untouched attempts (None: not made), results of single interventions by their
    place in the plan, results of pairs in order."""

    plan: DecisionPlan
    before: Share | None = None
    singles: dict[int, ProofTrial] = field(default_factory=dict)
    pairs: list[tuple[Trial, ProofTrial]] = field(default_factory=list)

    @property
    def is_settled(self) -> bool:
        """A single intervention or a pair has helped."""
        found = [*self.singles.values(), *(result for _, result in self.pairs)]
        return any(result.verdict == "proved" for result in found)

    def trials(self, attempts: int) -> dict[str, tuple[ProofTrial, ...]]:
        """The experiments on each cause; those that were not run say how many `attempts` a side they need."""
        found: dict[str, list[ProofTrial]] = {}
        for place, trial in enumerate(self.plan.trials):
            result = self.singles.get(place) or _not_run(trial, attempts)
            for cause in trial.causes:
                found.setdefault(cause, []).append(result)
        for trial, result in self.pairs:
            if result.verdict == "proved":
                for cause in trial.causes:
                    found.setdefault(cause, []).append(result)
        return {cause: tuple(results) for cause, results in found.items()}


class Experiments:
    """Runs plans in a laboratory, `attempts` a side."""

    def __init__(self, opened: Laboratory, attempts: int) -> None:
        self._opened = opened
        self._attempts = attempts
        self._told: set[str] = set()
        self.ended_early = False

    @property
    def attempts(self) -> int:
        """Attempts a side that an experiment needs here."""
        return 1 if self._opened.is_exact else self._attempts

    async def run(self, plans: Sequence[DecisionPlan]) -> list[Findings]:
        """The findings on each plan, in their order. What the budget does not reach for is left out; what costs nothing,
        because its attempts were kept, is not. No pair is tried before every decision had its single interventions."""
        found = [Findings(plan=plan) for plan in plans]
        for place, row in enumerate(zip_longest(*(plan.trials for plan in plans))):
            for findings, trial in zip(found, row, strict=True):
                if trial is not None:
                    result = await self._try(findings, trial)
                    if result is not None:
                        findings.singles[place] = result
        if self.ended_early:
            return found
        for row in zip_longest(*(plan.pairs for plan in plans)):
            for findings, trial in zip(found, row, strict=True):
                if trial is not None and not findings.is_settled:
                    result = await self._try(findings, trial)
                    if result is not None:
                        findings.pairs.append((trial, result))
        return found

    async def _try(self, findings: Findings, trial: Trial) -> ProofTrial | None:
        """The result; None where the budget does not reach for it. Untouched attempts are made with the first change only:
        alone they decide nothing."""
        sides: list[Any] = [trial.variant]
        if findings.before is None:
            sides.insert(0, findings.plan.untouched)
        try:
            answers = await self._opened.ask([(variant, self._attempts) for variant in sides])
        except BudgetEnded:
            self.ended_early = True
            return None
        if findings.before is None:
            findings.before = _share(answers[0], findings.plan)
        before, after = findings.before, _share(answers[-1], findings.plan)
        key = self._opened.key(trial.variant)
        spent = 0 if key in self._told else self._opened.made(trial.variant, self._attempts)
        self._told.add(key)
        judged = judge(before, after, exact=self._opened.is_exact)
        return ProofTrial(
            intervention=trial.name,
            change=trial.what,
            verdict=judged.verdict,
            untouched=(int(before.right), int(before.attempts)),
            changed=(int(after.right), int(after.attempts)),
            gain=judged.gain,
            interval=judged.interval,
            more=judged.more if judged.verdict == "undecided" else None,
            spent=spent,
        )


def _not_run(trial: Trial, attempts: int) -> ProofTrial:
    return ProofTrial(
        intervention=trial.name, change=trial.what, verdict="undecided", more=attempts, not_run=True
    )


def _share(scores: Sequence[AttemptScore], plan: DecisionPlan) -> Share:
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
