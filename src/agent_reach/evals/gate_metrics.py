"""How far one metric moved between two runs, and whether chance explains it.

Exact fractions of per-task means over attempts, so that lost attempts shift no weight between tasks. With one attempt in
either run the tasks that flipped are counted (exact sign test); with more, attempts are drawn again within tasks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import sqrt

from agent_reach.evals.figures import attempt_counts, counted_attempts, counts_decisions
from agent_reach.evals.statistics import attempts_bootstrap, sign_test
from agent_reach.records.gate import GateVerdict, MetricMovement
from agent_reach.records.score import AttemptScore, Decision, TaskScore

GATED_METRICS: tuple[str, ...] = (
    "tool_reachability",
    "param_hit_rate",
    "decision_success",
    "over_call_rate",
)
REPORTED_METRICS: tuple[str, ...] = (
    "first_choice_rate",
    "param_pass_rate",
    "param_legality",
    "param_legality_sent",
    "optional_unused_rate",
    "context_utilization",
    "state_slot_use",
    "may_call_rate",
    "extra_calls",
    "execution_success",
    "call_success",
    "task_pass",
)
LOWER_IS_BETTER = frozenset(("over_call_rate", "optional_unused_rate", "may_call_rate", "extra_calls"))
SIGNIFICANCE = 0.05
_MOST_REPEATS = 50
_Z_ONE_SIDED = 1.6448536269514722

Pair = tuple[Fraction, Fraction]


@dataclass(frozen=True, slots=True)
class Tested:
    """What the test of a movement says (see `MetricMovement`)."""

    significant: bool
    test: str
    p_value: float | None = None
    bounds: tuple[float, float] | None = None


class TaskPair:
    """One task in both runs, attempts that count only."""

    __slots__ = ("after", "after_attempts", "after_counts", "before", "before_attempts", "before_counts")

    def __init__(self, before: TaskScore, after: TaskScore) -> None:
        self.before = before
        self.after = after
        self.before_attempts = counted_attempts(before)
        self.after_attempts = counted_attempts(after)
        self.before_counts = [attempt_counts(before, attempt) for attempt in self.before_attempts]
        self.after_counts = [attempt_counts(after, attempt) for attempt in self.after_attempts]


def movement(
    name: str,
    pairs: Sequence[TaskPair],
    *,
    limit: Fraction,
    gated: bool,
    deterministic: bool,
    population: bool,
    seed: int,
) -> MetricMovement:
    """The movement of one metric over the tasks in common."""
    rows = [(_counts(name, pair, "before"), _counts(name, pair, "after")) for pair in pairs]
    before = _ratio([row[0] for row in rows])
    after = _ratio([row[1] for row in rows])
    if before is None or after is None:
        return _unmeasured(name, pairs, gated=gated, before=before, after=after)
    change = after - before
    drop = change if name in LOWER_IS_BETTER else -change
    worse, better = _moved(rows, name)
    tested = _tested(rows, name, deterministic, population, seed, worse, better, gain=drop < 0, gated=gated)
    verdict: GateVerdict = "pass"
    if drop > limit and tested.test != "not_tested":
        verdict = "regression" if tested.significant else "suspect"
    elif -drop > limit and tested.significant:
        verdict = "improved"
    return MetricMovement(
        name=name,
        verdict=verdict,
        gated=gated,
        baseline=float(before),
        current=float(after),
        baseline_counts=_sums([row[0] for row in rows]),
        current_counts=_sums([row[1] for row in rows]),
        change=float(change),
        drop=float(drop),
        worse=worse,
        better=better,
        repeats_needed=_repeats_needed(worse, better) if verdict == "suspect" else None,
        significant=tested.significant,
        test=tested.test,
        p_value=tested.p_value,
        bounds=tested.bounds,
    )


def _unmeasured(
    name: str, pairs: Sequence[TaskPair], *, gated: bool, before: Fraction | None, after: Fraction | None
) -> MetricMovement:
    """A metric that one run has no value for: a regression where nothing was right any more."""
    own_before, own_after = before, after
    if name == "param_hit_rate":
        own_before = _ratio([_counts("own_param_hit", pair, "before") for pair in pairs])
        own_after = _ratio([_counts("own_param_hit", pair, "after") for pair in pairs])
    gone = own_before is not None and own_after is None
    if gone:
        reason = "nothing was right any more that it could be measured on"
    elif own_before is not None and own_after is not None:
        reason = "no decision was right in both runs"
    else:
        reason = "not evaluated"
    return MetricMovement(
        name=name,
        verdict="regression" if gone and gated else "not_evaluated",
        gated=gated,
        baseline=None if own_before is None else float(own_before),
        current=None if own_after is None else float(own_after),
        reason=reason,
    )


def _attempts(pair: TaskPair, side: str) -> list[AttemptScore]:
    return pair.before_attempts if side == "before" else pair.after_attempts


def _counts(name: str, pair: TaskPair, side: str) -> list[Pair]:
    """(numerator, denominator) of every attempt of one run of a task."""
    task = pair.before if side == "before" else pair.after
    if name in ("param_hit_rate", "own_param_hit"):
        if not counts_decisions(task):
            return []
        both = None
        if name == "param_hit_rate":
            both = _right_keys(pair.before_attempts) & _right_keys(pair.after_attempts)
        return [_argument_pair(attempt, both) for attempt in _attempts(pair, side)]
    counts = pair.before_counts if side == "before" else pair.after_counts
    return [_pair(*entry[name]) if name in entry else _NOTHING for entry in counts]


_NOTHING: Pair = (Fraction(0), Fraction(0))


@lru_cache(maxsize=4096)
def _pair(top: float, bottom: float) -> Pair:
    return _fraction(top), _fraction(bottom)


def _right_keys(attempts: Sequence[AttemptScore]) -> set[tuple[int | None, int]]:
    """The decisions, by path and step, that had the right tool in some attempt."""
    return {
        (attempt.path_index, decision.step)
        for attempt in attempts
        for decision in attempt.decisions
        if decision.tool_right
    }


def _argument_pair(attempt: AttemptScore, both: set[tuple[int | None, int]] | None) -> Pair:
    scores = [
        score
        for decision in attempt.decisions
        if (both is None or (attempt.path_index, decision.step) in both)
        and (score := exact_argument_score(decision)) is not None
    ]
    return sum(scores, Fraction(0)), Fraction(len(scores))


def exact_argument_score(decision: Decision) -> Fraction | None:
    """`Decision.argument_score` as an exact fraction."""
    if decision.argument_score is None:
        return None
    required = Fraction(decision.required_right, decision.required_total) if decision.required_total else None
    optional = Fraction(decision.optional_hit, decision.optional_used) if decision.optional_used else None
    if required is None or optional is None:
        return required if required is not None else optional
    return required * Fraction(7, 10) + optional * Fraction(3, 10)


def _fraction(value: float) -> Fraction:
    return Fraction(int(value)) if value == int(value) else Fraction(value).limit_denominator(10**9)


def _mean(attempts: Sequence[Pair]) -> Pair:
    if not attempts:
        return _NOTHING
    count = len(attempts)
    if count == 1 or all(entry is attempts[0] for entry in attempts):
        return attempts[0]
    return sum((a for a, _ in attempts), Fraction(0)) / count, sum(
        (b for _, b in attempts), Fraction(0)
    ) / count


def _ratio(tasks: Sequence[Sequence[Pair]]) -> Fraction | None:
    means = [_mean(attempts) for attempts in tasks]
    bottom = sum((b for _, b in means), Fraction(0))
    return sum((a for a, _ in means), Fraction(0)) / bottom if bottom else None


def _sums(tasks: Sequence[Sequence[Pair]]) -> tuple[float, float]:
    """Numerator and denominator summed over all attempts, for showing."""
    top = sum((a for attempts in tasks for a, _ in attempts), Fraction(0))
    bottom = sum((b for attempts in tasks for _, b in attempts), Fraction(0))
    return float(top), float(bottom)


def _moved(rows: Sequence[tuple[list[Pair], list[Pair]]], name: str) -> tuple[int, int]:
    """How many tasks got worse and how many better, by their share."""
    worse = better = 0
    for before, after in rows:
        old, new = _ratio([before]), _ratio([after])
        if old is None or new is None or old == new:
            continue
        if (new > old) == (name in LOWER_IS_BETTER):
            worse += 1
        else:
            better += 1
    return worse, better


def _tested(
    rows: Sequence[tuple[list[Pair], list[Pair]]],
    name: str,
    deterministic: bool,
    population: bool,
    seed: int,
    worse: int,
    better: int,
    *,
    gain: bool,
    gated: bool,
) -> Tested:
    """Whether the movement is beyond chance in the direction in which it went; only gated metrics are worth draws."""
    if not (worse or better):
        return Tested(significant=False, test="unmoved")
    if deterministic and not population:
        return Tested(significant=bool(worse or better), test="deterministic")
    repeats = min(
        max((len(before) for before, _ in rows), default=0), max((len(after) for _, after in rows), default=0)
    )
    if repeats <= 1 and not population:
        p_value = sign_test(better, worse) if gain else sign_test(worse, better)
        return Tested(significant=p_value <= SIGNIFICANCE, test="sign_test", p_value=p_value)
    if not gated:
        return Tested(significant=False, test="not_tested")
    low, high = attempts_bootstrap(
        [[(float(a), float(b)) for a, b in before] for before, _ in rows],
        [[(float(a), float(b)) for a, b in after] for _, after in rows],
        seed=seed,
        resample_tasks=population,
    )
    wants_rise = gain != (name in LOWER_IS_BETTER)
    significant = low > 0 if wants_rise else high < 0
    test = "task_bootstrap" if population else "attempts_bootstrap"
    return Tested(significant=significant, test=test, bounds=(low, high))


def _repeats_needed(worse: int, better: int) -> int | None:
    """Attempts per task with which flips like these, if they persist, would be beyond chance; None over 50."""
    net, moved = worse - better, worse + better
    if net <= 0:
        return None
    for repeats in range(2, _MOST_REPEATS + 1):
        share = (repeats + 1) / (repeats + 2)
        noise = sqrt(moved * 2 * share * (1 - share) / repeats)
        if net * repeats / (repeats + 2) >= _Z_ONE_SIDED * noise:
            return repeats
    return None
