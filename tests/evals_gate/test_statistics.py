"""Intervals and tests against known values and simulation."""

from __future__ import annotations

import pytest

from agent_reach.evals.statistics import attempts_bootstrap, ratio_interval, sign_test, wilson


def test_wilson_known_values() -> None:
    found = wilson(8, 10)
    assert found is not None
    assert (found.low, found.high) == (pytest.approx(0.4902, abs=1e-4), pytest.approx(0.9433, abs=1e-4))
    edge = wilson(10, 10)
    assert edge is not None
    assert (edge.low, edge.high) == (pytest.approx(0.7225, abs=1e-4), 1.0)
    assert wilson(0, 0) is None


def test_wilson_only_for_one_decision_per_task() -> None:
    single = ratio_interval([1, 0, 1, 1], [1, 1, 1, 1])
    assert single is not None
    assert single.method == "wilson"
    several = ratio_interval([2, 0, 1, 3], [2, 2, 2, 3])
    assert several is not None
    assert several.method == "bootstrap"
    alike = ratio_interval([2, 2, 2], [2, 2, 2])
    assert alike is not None
    assert alike.method == "wilson_tasks"
    assert alike.low < 1
    assert ratio_interval([0, 0], [0, 0]) is None


def test_bootstrap_is_repeatable_and_covers() -> None:
    import numpy as np

    first = ratio_interval([2, 0, 1, 3] * 5, [2, 2, 2, 3] * 5, seed=3)
    assert first == ratio_interval([2, 0, 1, 3] * 5, [2, 2, 2, 3] * 5, seed=3)
    generator = np.random.default_rng(1)
    covered = 0
    for trial in range(100):
        tops = generator.binomial(4, generator.beta(6, 2, size=40))
        interval = ratio_interval([float(top) for top in tops], [4.0] * 40, seed=trial)
        assert interval is not None
        covered += interval.low <= 0.75 <= interval.high
    assert covered >= 86


def test_sign_test() -> None:
    assert sign_test(0, 0) == 1.0
    assert sign_test(5, 0) == 1 / 32
    assert sign_test(4, 1) == 6 / 32
    assert sign_test(0, 5) == 1.0


def test_attempts_bootstrap_false_alarms_stay_near_five_percent() -> None:
    import numpy as np

    generator = np.random.default_rng(7)
    alarms = 0
    for trial in range(120):
        shares = generator.beta(4, 2, size=30)
        runs = [
            [[(float(generator.random() < share), 1.0) for _ in range(4)] for share in shares]
            for _ in range(2)
        ]
        _, high = attempts_bootstrap(runs[0], runs[1], seed=trial, draws=800)
        alarms += high < 0
    assert alarms / 120 <= 0.10


def test_two_of_two_against_none_of_two_is_no_certainty() -> None:
    still = [[(1.0, 1.0)] * 2] * 20
    _, high = attempts_bootstrap([*still, [(1.0, 1.0)] * 2], [*still, [(0.0, 1.0)] * 2])
    assert high >= 0
    five = [[(1.0, 1.0)] * 5] * 20
    _, high = attempts_bootstrap([*five, [(1.0, 1.0)] * 5], [*five, [(0.0, 1.0)] * 5])
    assert high < 0
