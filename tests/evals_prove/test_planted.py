"""Planted truth: one trouble at a time is proved, every other suspected cause is refuted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.evals_prove.scripted import World, worlds

from agent_reach.evals.attribution.table import CAUSE_ORDER
from agent_reach.evals.interventions.prove import ProvedDecision, ProveOptions, prove
from agent_reach.evals.interventions.table import INTERVENTIONS, REMOVABLE
from agent_reach.evals.runner import run
from agent_reach.evals.runner_setup import RunOptions
from agent_reach.evals.trials.laboratory import LaboratoryOptions
from agent_reach.records.report import Report

WORLDS = worlds()
OF_AGENT_SETTINGS = {"reply_constrained", "output_limit_raised"}
"""Interventions on the settings of a configured agent; `test_settings.py` plants what they remove."""


def options(world: World, folder: Path, **agent: Any) -> RunOptions:
    return RunOptions(
        catalog=world.catalog, agent=world.agent(**agent), archive=folder / "runs", concurrency=1
    )


def proved(
    world: World, folder: Path, *, attempts: int = 1, noise: float = 0.0, seed: int = 0
) -> ProvedDecision:
    report = lost_report(world, folder)
    result = prove(
        world.config,
        report,
        suite=world.suite,
        options=ProveOptions(attempts=attempts, all_causes=True),
        laboratory=LaboratoryOptions(run=options(world, folder, noise=noise, seed=seed)),
    )
    return next(item for item in result.decisions if world.cause in item.verdicts)


def lost_report(world: World, folder: Path) -> Report:
    return run(world.config, suite=world.suite, options=options(world, folder))


@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.cause)
def test_the_trouble_is_there_and_is_suspected(world: World, tmp_path: Path) -> None:
    report = lost_report(world, tmp_path)
    causes = [
        cause.name
        for lost in (*report.tasks[0].attempts[0].decisions, *report.tasks[0].attempts[0].extra_calls)
        if lost.cause is not None
        for cause in (lost.cause, *lost.also)
    ]
    assert causes, "the planted trouble loses no decision"


def test_planted_causes_are_proved_and_the_others_refuted(tmp_path: Path) -> None:
    right = total = 0
    wrong: list[str] = []
    helped: set[str] = set()
    for number, world in enumerate(WORLDS):
        found = proved(world, tmp_path / str(number))
        helped |= {
            trial.intervention
            for trial in found.trials.get(world.cause, ())
            if trial.verdict == "proved" and "+" not in trial.intervention
        }
        for cause, verdict in found.verdicts.items():
            if verdict == "":
                continue
            wanted = "proved" if cause == world.cause else "refuted"
            total += 1
            right += verdict == wanted
            if verdict != wanted:
                wrong.append(f"{number} planted {world.cause}: {cause} {verdict}")
        assert found.verdicts.get(world.cause) == "proved", f"{number} {world.cause}: {found.verdicts}"
    assert right / total >= 0.95, wrong
    assert total >= 2 * len(WORLDS)
    assert set(INTERVENTIONS) - helped == OF_AGENT_SETTINGS, "an intervention without a planted trouble"


def test_every_removable_cause_is_planted() -> None:
    assert {world.cause for world in WORLDS} == REMOVABLE == set(CAUSE_ORDER)
