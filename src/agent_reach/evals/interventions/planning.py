"""What a proof would try: for each lost decision its suspected causes, and for each cause the interventions that apply.

Nothing is run here; a plan can be counted before it is paid for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from agent_reach.errors import InputError
from agent_reach.evals.attribution.table import CAUSE_ORDER
from agent_reach.evals.interventions.base import Changed, Intervention, Situation
from agent_reach.evals.interventions.table import interventions_for
from agent_reach.evals.scoring.task_score import task_content_hash
from agent_reach.evals.trials.laboratory import Laboratory
from agent_reach.evals.trials.variant import Variant
from agent_reach.records.message import Message
from agent_reach.records.report import Report
from agent_reach.records.score import AttemptScore, Decision, TaskScore

UNWANTED_KINDS = frozenset(("forbidden", "over_call"))
"""Kinds of calls that are a failure of their own, whether or not a decision was lost."""
_OF_UNWANTED_CALLS = ("context_overload", "over_called")


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One intervention on one decision; `causes` are what it removes there (two of them for a pair)."""

    causes: tuple[str, ...]
    interventions: tuple[Intervention, ...]
    variant: Variant
    what: Message

    @property
    def name(self) -> str:
        """Names of the interventions."""
        return " + ".join(item.name for item in self.interventions)


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionPlan:
    """A lost decision and what would be tried on it. `suspected` are the causes that were put down for it; those that no
    intervention removes here are in `untestable`.

    Calls that should not have been made are one plan of their own for each task: `unwanted` are their tools, and the
    decision stands for "no such call" (`step` -1).
    """

    task_id: str
    decision: Decision
    path_index: int | None
    untouched: Variant
    suspected: tuple[str, ...]
    trials: tuple[Trial, ...]
    untestable: tuple[str, ...] = ()
    pairs: tuple[Trial, ...] = ()
    unwanted: tuple[str, ...] = ()


def plan_proofs(
    laboratory: Laboratory,
    report: Report,
    *,
    tasks: Sequence[str] = (),
    all_causes: bool = False,
    pairs: int = 6,
) -> tuple[DecisionPlan, ...]:
    """A plan for every lost decision of the report (or of these tasks), and for the calls that a task did not want.

    `all_causes` tries every intervention that applies, not only those of suspected causes; `pairs` is the most pairs per
    decision. Raises `InputError` where the suite asks something else now than the report scored.
    """
    found = []
    for scored in report.tasks:
        if tasks and scored.task_id not in tasks:
            continue
        lost: list[tuple[list[Lost], tuple[str, ...]]] = [(group, ()) for group in _lost(scored)]
        unwanted = _unwanted(scored)
        if unwanted:
            lost.append((unwanted, _unwanted_tools(laboratory, unwanted)))
        if lost:
            _check_same(laboratory, scored)
        for group, tools in lost:
            found.append(_plan(laboratory, scored, group, tools, all_causes=all_causes, pairs=pairs))
    return tuple(found)


def _check_same(laboratory: Laboratory, scored: TaskScore) -> None:
    current = laboratory.suite.hashes.get(scored.task_id)
    if current is not None:
        known = (current, task_content_hash(laboratory.suite.task(scored.task_id)))
        if not scored.content_hash or scored.content_hash in known:
            return
    raise InputError(
        f"the task {scored.task_id!r} is not in the suite as the report scored it",
        where=laboratory.suite.source or laboratory.suite.name,
        next_step="name the suite of the report with --suite, or run it anew",
    )


Lost = tuple[Decision, AttemptScore]


def _lost(scored: TaskScore) -> Iterator[list[Lost]]:
    """Lost decisions with a cause, those of one golden call together."""
    groups: dict[tuple[int | None, int], list[Lost]] = {}
    for attempt in scored.attempts:
        for decision in attempt.decisions:
            if decision.cause is not None:
                groups.setdefault((attempt.path_index, decision.step), []).append((decision, attempt))
    yield from groups.values()


def _unwanted(scored: TaskScore) -> list[Lost]:
    """The attempts with calls that should not have been made, each with a decision that stands for making none."""
    found: list[Lost] = []
    for attempt in scored.attempts:
        cause = next(
            (extra.cause for extra in attempt.extra_calls if extra.kind in UNWANTED_KINDS and extra.cause),
            None,
        )
        if cause is not None:
            none = Decision(
                task_id=scored.task_id,
                attempt=attempt.index,
                step=-1,
                golden_id="",
                expected_tool="",
                expected_arguments={},
                cause=cause,
            )
            found.append((none, attempt))
    return found


def _unwanted_tools(laboratory: Laboratory, group: list[Lost]) -> tuple[str, ...]:
    """Keys of the tools that were called in any of the attempts and should not have been."""
    names = dict.fromkeys(
        extra.tool or extra.name
        for _, attempt in group
        for extra in attempt.extra_calls
        if extra.kind in UNWANTED_KINDS
    )
    tools = (laboratory.catalog.resolve(name) for name in names)
    return tuple(dict.fromkeys(tool.key for tool in tools if tool is not None))


def _plan(
    laboratory: Laboratory,
    scored: TaskScore,
    group: list[Lost],
    unwanted: tuple[str, ...],
    *,
    all_causes: bool,
    pairs: int,
) -> DecisionPlan:
    untouched = laboratory.untouched(laboratory.suite.task(scored.task_id))
    exposure = laboratory.prepared(untouched).exposer.expose(untouched.task).exposure
    suspected = _suspected(group)
    no_call = group[0][0].step < 0
    further = _OF_UNWANTED_CALLS if no_call else CAUSE_ORDER
    names = tuple(dict.fromkeys([*suspected, *further])) if all_causes else suspected
    trials: list[Trial] = []
    situations: dict[str, Situation] = {}
    for cause in names:
        decision, attempt = _telling(group, cause)
        situation = Situation(
            untouched,
            decision,
            attempt,
            exposure,
            cause,
            unwanted=unwanted,
            own_agent=laboratory.options.run.agent is not None,
        )
        situations[cause] = situation
        for intervention in interventions_for(cause):
            changed = intervention.change(situation)
            if changed is not None:
                trials.append(_trial(cause, intervention, changed))
    merged = _merged(trials)
    tested = {cause for trial in merged for cause in trial.causes}
    return DecisionPlan(
        task_id=scored.task_id,
        decision=group[0][0],
        path_index=group[0][1].path_index,
        untouched=untouched,
        suspected=suspected,
        trials=merged,
        untestable=tuple(cause for cause in suspected if cause not in tested),
        pairs=tuple(_pairs(merged, situations, pairs)),
        unwanted=unwanted,
    )


def _suspected(group: list[Lost]) -> tuple[str, ...]:
    """Primary causes, most frequent first, then those that also hold."""
    primary = [decision.cause.name for decision, _ in group if decision.cause is not None]
    also = [cause.name for decision, _ in group for cause in decision.also]
    order = sorted(dict.fromkeys(primary), key=lambda name: -primary.count(name))
    return tuple(dict.fromkeys([*order, *also]))


def _telling(group: list[Lost], cause: str) -> Lost:
    """The attempt that shows this cause best: where it was the first, else where it also held, else the first one."""
    for decision, attempt in group:
        if decision.cause is not None and decision.cause.name == cause:
            return decision, attempt
    for decision, attempt in group:
        if any(other.name == cause for other in decision.also):
            return decision, attempt
    return group[0]


def _trial(cause: str, intervention: Intervention, changed: Changed) -> Trial:
    return Trial(causes=(cause,), interventions=(intervention,), variant=changed.variant, what=changed.what)


def _merged(trials: Sequence[Trial]) -> tuple[Trial, ...]:
    """Trials that change the very same thing, once; they speak for all their causes."""
    kept: dict[tuple[str, str], Trial] = {}
    for trial in trials:
        place = (trial.name, trial.what.en)
        known = kept.get(place)
        if known is None:
            kept[place] = trial
        else:
            causes = tuple(dict.fromkeys([*known.causes, *trial.causes]))
            kept[place] = Trial(
                causes=causes, interventions=known.interventions, variant=known.variant, what=known.what
            )
    return tuple(kept.values())


def _pairs(trials: Sequence[Trial], situations: dict[str, Situation], most: int) -> Iterator[Trial]:
    """Two interventions on different causes at once, in the order of the single ones."""
    made = 0
    for first, second in combinations(trials, 2):
        if made >= most:
            return
        if set(first.causes) & set(second.causes):
            continue
        situation = situations[second.causes[0]].within(first.variant)
        changed = second.interventions[0].change(situation)
        if changed is None:
            continue
        made += 1
        yield Trial(
            causes=(*first.causes, *second.causes),
            interventions=(*first.interventions, *second.interventions),
            variant=changed.variant,
            what=Message(f"{first.what.en}; {changed.what.en}", f"{first.what.zh}；{changed.what.zh}"),
        )
