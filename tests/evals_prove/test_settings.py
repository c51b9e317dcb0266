"""Interventions that change the settings of the configured agent."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.evals_prove.scripted import CutAgent, World, cut_world

from agent_reach.evals.agents import base as agents
from agent_reach.evals.interventions.prove import ProofResult, ProveOptions, prove
from agent_reach.evals.runner import run
from agent_reach.evals.runner_setup import RunOptions
from agent_reach.evals.trials.laboratory import LaboratoryOptions


@pytest.fixture(autouse=True)
def _stands_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(agents.AGENTS, "local", "tests.evals_prove.scripted:build_cut_agent")


def put_to_proof(world: World, folder: Path, *, own_agent: bool = False) -> ProofResult:
    agent = CutAgent(world.config.agent) if own_agent else None
    options = RunOptions(catalog=world.catalog, agent=agent, archive=folder / "runs", concurrency=1)
    report = run(world.config, suite=world.suite, options=options)
    return prove(
        world.config,
        report,
        suite=world.suite,
        options=ProveOptions(attempts=1, all_causes=True),
        laboratory=LaboratoryOptions(run=options),
    )


def test_a_held_reply_and_a_higher_limit_are_each_proved(tmp_path: Path) -> None:
    (decision,) = put_to_proof(cut_world(), tmp_path).decisions
    verdicts = {trial.intervention: trial.verdict for trial in decision.trials["unparsable_call"]}
    assert verdicts == {
        "call_form_stated": "refuted",
        "reply_constrained": "proved",
        "output_limit_raised": "proved",
    }
    changes = [trial.change.en for trial in decision.trials["unparsable_call"]]
    assert "40 output tokens instead of 10" in changes


def test_settings_of_an_agent_that_the_caller_brought_are_left_alone(tmp_path: Path) -> None:
    (decision,) = put_to_proof(cut_world(), tmp_path, own_agent=True).decisions
    assert [trial.intervention for trial in decision.trials["unparsable_call"]] == ["call_form_stated"]


def test_a_limit_that_was_not_set_is_what_the_cut_message_had(tmp_path: Path) -> None:
    world = cut_world()
    agent = replace(world.config.agent, options={"constrained": False}, max_tokens=None)
    planted = replace(world, config=replace(world.config, agent=agent))
    (decision,) = put_to_proof(planted, tmp_path).decisions
    raised = next(t for t in decision.trials["unparsable_call"] if t.intervention == "output_limit_raised")
    assert raised.change.en == "40 output tokens instead of 10"
