"""Assignment and alignment against brute force."""

from __future__ import annotations

from itertools import combinations, permutations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.evals_scoring.building import catalog, gold, path, task, tool, trace

from agent_reach.evals.scoring.assignment import assign
from agent_reach.evals.scoring.attempt import compiled_task
from agent_reach.evals.scoring.calls import seen_calls
from agent_reach.evals.scoring.pairing import Pairing

WEIGHTS = st.floats(min_value=0, max_value=10, allow_nan=False, width=16)


@st.composite
def matrices(draw: st.DrawFn) -> list[list[float]]:
    rows, columns = draw(st.integers(1, 5)), draw(st.integers(1, 5))
    return [[draw(WEIGHTS) for _ in range(columns)] for _ in range(rows)]


@given(matrices())
@settings(deadline=None)
def test_assignment_is_the_best_one_to_one_pairing(weights: list[list[float]]) -> None:
    rows, columns = len(weights), len(weights[0])
    found = assign(weights)
    used = [column for column in found if column >= 0]
    assert len(used) == len(set(used))
    total = sum(weights[row][column] for row, column in enumerate(found) if column >= 0)
    size = min(rows, columns)
    best = max(
        sum(weights[row][column] for row, column in zip(chosen, order, strict=True))
        for chosen in combinations(range(rows), size)
        for order in permutations(range(columns), size)
    )
    assert total == pytest.approx(best)


def test_assignment_never_takes_what_is_worth_nothing() -> None:
    assert assign([[0.0, 0.0], [0.0, 3.0]]) == [-1, 1]
    assert assign([]) == []
    assert assign([[1.0], [2.0], [0.5]]) == [-1, 0, -1]


CATALOG = catalog(tool("a"), tool("b"), tool("c"))
NAMES = st.sampled_from("abc")
STAGES = st.lists(
    st.lists(st.tuples(NAMES, st.integers(0, 1)), min_size=1, max_size=3), min_size=1, max_size=3
)
MESSAGES = st.lists(
    st.lists(st.tuples(NAMES, st.integers(0, 1)), min_size=1, max_size=3), min_size=0, max_size=4
)


def paired(stages: Any, messages: Any, order: str) -> Pairing:
    wanted = task(
        path(*([gold(name, {"n": number}) for name, number in stage] for stage in stages)), order=order
    )
    attempt = trace(*([(name, {"n": number}) for name, number in message] for message in messages))
    compiled = compiled_task(wanted, CATALOG)
    return Pairing(compiled.paths[0], seen_calls(attempt, compiled), order)


def worth(pairing: Pairing) -> tuple[int, int]:
    """(right tools, fully right calls) of the pairs in order."""
    found = [evaluation for evaluation in pairing.evaluations if evaluation is not None]
    return len(found), sum(evaluation.success for evaluation in found)


def brute_force(pairing: Pairing, order: str) -> tuple[int, int]:
    """The best worth of any legal set of pairs, by trying all."""
    golds, calls = pairing.path.golds, pairing.calls

    def legal(pairs: list[tuple[int, int]]) -> bool:
        if order == "any_order":
            return True
        return all(
            not (golds[one].stage < golds[other].stage and calls[first].message > calls[second].message)
            for one, first in pairs
            for other, second in pairs
        )

    best = (0, 0)

    def extend(index: int, pairs: list[tuple[int, int]], right: int) -> None:
        nonlocal best
        if index == len(golds):
            if legal(pairs):
                best = max(best, (len(pairs), right))
            return
        extend(index + 1, pairs, right)
        for position, seen in enumerate(calls):
            if seen.key == golds[index].key and all(position != other for _, other in pairs):
                success = golds[index].evaluate(seen.arguments, seen.problem_names, None).success
                extend(index + 1, [*pairs, (index, position)], right + success)

    extend(0, [], 0)
    return best


@given(STAGES, MESSAGES)
@settings(deadline=None, max_examples=150)
def test_in_order_alignment_is_the_heaviest(stages: Any, messages: Any) -> None:
    pairing = paired(stages, messages, "in_order")
    assert worth(pairing) == brute_force(pairing, "in_order")


@given(STAGES, MESSAGES)
@settings(deadline=None, max_examples=100)
def test_any_order_is_the_heaviest_assignment(stages: Any, messages: Any) -> None:
    pairing = paired(stages, messages, "any_order")
    assert worth(pairing) == brute_force(pairing, "any_order")


@given(STAGES, MESSAGES)
@settings(deadline=None, max_examples=100)
def test_pairs_are_one_to_one_and_never_of_different_tools(stages: Any, messages: Any) -> None:
    for order in ("in_order", "any_order", "exact"):
        pairing = paired(stages, messages, order)
        positions = [item for item in (*pairing.positions, *pairing.displaced) if item >= 0]
        assert len(positions) == len(set(positions))
        for item in pairing.path.golds:
            for position in (pairing.positions[item.index], pairing.displaced[item.index]):
                assert position < 0 or pairing.calls[position].key == item.key


def test_large_parallel_groups_stay_exact_and_fast() -> None:
    golds = [gold("a", {"n": number}) for number in range(14)]
    wanted = task(path(golds, gold("b")))
    attempt = trace(*(("a", {"n": number}) for number in reversed(range(14))), ("b", {}))
    compiled = compiled_task(wanted, CATALOG)
    pairing = Pairing(compiled.paths[0], seen_calls(attempt, compiled), "in_order")
    assert worth(pairing) == (15, 15)
