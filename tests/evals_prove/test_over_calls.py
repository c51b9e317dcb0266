"""Calls that should not have been made: planned, tried and told in tasks of every kind, in every report."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.evals_prove.scripted import (
    OTHER,
    RIGHT,
    RIVAL,
    Deed,
    ScriptedAgent,
    Seen,
    World,
    passages,
    worlds,
)

from agent_reach.catalog.catalog import Catalog
from agent_reach.config.settings import ContextConfig, ExposureConfig, RunConfig
from agent_reach.evals.interventions.prove import ProofResult, ProveOptions, proof_cost, prove
from agent_reach.evals.runner import run
from agent_reach.evals.runner_setup import RunOptions
from agent_reach.evals.trials.laboratory import LaboratoryOptions
from agent_reach.records.message import Language
from agent_reach.records.report import Report
from agent_reach.reports.base import load_format
from agent_reach.reports.explain import explain_lines, find_task


def world(kind: str) -> World:
    return next(item for item in worlds() if item.cause == "over_called" and item.task.kind == kind)


def options(planted: World, folder: Path) -> RunOptions:
    return RunOptions(catalog=planted.catalog, agent=planted.agent(), archive=folder / "runs", concurrency=1)


def lost_report(planted: World, folder: Path) -> Report:
    return run(planted.config, suite=planted.suite, options=options(planted, folder))


def put_to_proof(planted: World, folder: Path, *, all_causes: bool = False) -> ProofResult:
    return prove(
        planted.config,
        lost_report(planted, folder),
        suite=planted.suite,
        options=ProveOptions(attempts=1, all_causes=all_causes),
        laboratory=LaboratoryOptions(run=options(planted, folder)),
    )


@pytest.mark.parametrize("kind", ["may", "forbid"])
def test_a_task_without_required_decisions_is_put_to_the_proof(kind: str, tmp_path: Path) -> None:
    planted = world(kind)
    report = lost_report(planted, tmp_path)
    assert report.tasks[0].attempts[0].passed is False
    cost = proof_cost(
        planted.config,
        report,
        suite=planted.suite,
        options=ProveOptions(attempts=1),
        laboratory=LaboratoryOptions(run=options(planted, tmp_path)),
    )
    result = put_to_proof(planted, tmp_path)
    assert cost.singles == result.spent == 4
    (decision,) = result.decisions
    assert (decision.step, decision.unwanted, decision.untouched) == (None, (OTHER,), (0, 1))
    assert decision.verdicts == {"over_called": "proved"}
    assert {trial.intervention: trial.verdict for trial in decision.trials["over_called"]} == {
        "unwanted_hidden": "proved",
        "told_to_hold_back": "refuted",
        "request_excluded": "refuted",
    }
    (extra,) = [item for item in result.report.tasks[0].attempts[0].extra_calls if item.cause]
    assert extra.cause is not None
    assert (extra.cause.proof, len(extra.cause.trials)) == ("proved", 3)


def test_a_forbidden_call_after_right_decisions_is_put_to_the_proof_too(tmp_path: Path) -> None:
    planted = world("must")
    late = replace(planted, task=replace(planted.task, order="any_order"), rule=lambda seen: LATE)
    report = lost_report(late, tmp_path)
    assert report.tasks[0].attempts[0].over_called
    result = put_to_proof(late, tmp_path)
    assert any(item.step is None and item.unwanted == (OTHER,) for item in result.decisions)


LATE = Deed(before=(OTHER,))


def test_an_agent_that_then_calls_something_else_refutes_hiding(tmp_path: Path) -> None:
    def restless(seen: Seen) -> Deed:
        return Deed(before=(OTHER if OTHER in seen.names else RIVAL,), idle=True)

    result = put_to_proof(replace(world("forbid"), rule=restless), tmp_path)
    trials = {item.intervention: item for item in result.decisions[0].trials["over_called"]}
    assert trials["unwanted_hidden"].verdict == "refuted"


def test_the_only_tool_can_be_hidden(tmp_path: Path) -> None:
    planted = world("forbid")
    only = Catalog.from_tools(tool for tool in planted.catalog.tools if tool.name == OTHER)
    result = put_to_proof(replace(planted, catalog=only), tmp_path)
    assert result.decisions[0].verdicts == {"over_called": "proved"}


def test_unwanted_calls_behind_the_reach_layer(tmp_path: Path) -> None:
    planted = replace(
        world("forbid"),
        config=RunConfig(exposure=ExposureConfig(mode="reach", settings={"k": 2})),
        task=replace(world("forbid").task, query="Say what a newsletter is."),
    )
    result = put_to_proof(planted, tmp_path)
    assert result.decisions[0].verdicts == {"over_called": "proved"}


def test_a_proved_cause_that_nobody_suspected_stands_beside_the_call(tmp_path: Path) -> None:
    planted = replace(
        world("may"),
        rule=lambda seen: Deed(before=(OTHER,)) if seen.passages else RIGHT,
        task=replace(world("may").task, context=passages(6)),
        config=RunConfig(context=ContextConfig(max_passages=None)),
    )
    result = put_to_proof(planted, tmp_path, all_causes=True)
    assert result.decisions[0].verdicts == {"over_called": "refuted", "context_overload": "proved"}
    (extra,) = [item for item in result.report.tasks[0].attempts[0].extra_calls if item.cause]
    assert [(cause.name, cause.proof) for cause in extra.also] == [("context_overload", "proved")]
    assert "no passage instead of 6" in load_format("markdown").render(result.report, "en")


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("en", ("proved", "not offered: send_newsletter", "cost: 3 attempts with a change, against 1 untouched")),
        ("zh", ("已证实", "不提供：send_newsletter", "花费：改动后 3 次尝试，对照未改动 1 次")),
    ],
)  # fmt: skip
@pytest.mark.parametrize("kind", ["may", "forbid"])
def test_every_report_tells_cause_proof_and_cost(
    kind: str, language: Language, words: tuple[str, ...], tmp_path: Path
) -> None:
    report = put_to_proof(world(kind), tmp_path).report
    task = find_task(report, "planted")
    texts = {
        "terminal": "\n".join(explain_lines(task, task.attempts[0], language, full=True, width=400)),
        "markdown": load_format("markdown").render(report, language),
        "html": load_format("html").render(report, language),
    }
    for name, text in texts.items():
        for word in words:
            assert word in text, name


def test_a_tool_found_for_later_words_is_hidden_too(tmp_path: Path) -> None:
    from agent_reach.evals.agents.session import AttemptSession
    from agent_reach.records.task import ScriptedTurn

    class TwoTurns:
        def __init__(self, inner: ScriptedAgent) -> None:
            self.info = inner.info

        async def run(self, session: AttemptSession) -> None:
            session.next_turn()
            if any(tool.name == OTHER for tool in session.tools):
                await session.call(OTHER, {"topic": "x"})

        async def aclose(self) -> None:
            """Nothing to give back."""

    planted = world("forbid")
    turns = (ScriptedTurn(user="stock of a product"), ScriptedTurn(user="Say what a newsletter is."))
    later = replace(
        planted,
        config=RunConfig(exposure=ExposureConfig(mode="reach", settings={"k": 1})),
        task=replace(planted.task, query=turns[0].user, turns=turns),
    )
    chosen = replace(options(later, tmp_path), agent=TwoTurns(later.agent()))
    report = run(later.config, suite=later.suite, options=chosen)
    result = prove(
        later.config,
        report,
        suite=later.suite,
        options=ProveOptions(attempts=1),
        laboratory=LaboratoryOptions(run=chosen),
    )
    assert result.decisions[0].verdicts == {"over_called": "proved"}
