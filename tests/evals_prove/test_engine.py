"""The engine: cost before spending, sharing, budget, resuming, pairs, recorded runs, guarded writes, comparison."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.evals_prove.scripted import LOOK, RIGHT, RIVAL, WRITE, Deed, Seen, World, worlds

from agent_reach.catalog.catalog import Catalog
from agent_reach.config.settings import (
    AgentConfig,
    ExecutionConfig,
    ExposureConfig,
    HookConfig,
    SurfaceConfig,
)
from agent_reach.errors import InputError, ModelError
from agent_reach.evals.agents.base import UnusableModelError
from agent_reach.evals.interventions.prove import (
    ProofResult,
    ProvedDecision,
    ProveOptions,
    proof_cost,
    prove,
)
from agent_reach.evals.runner import run
from agent_reach.evals.runner_setup import RunOptions
from agent_reach.evals.suite.load import Suite
from agent_reach.evals.trials.comparison import Share, difference_interval, judge
from agent_reach.evals.trials.laboratory import LaboratoryOptions
from agent_reach.records.report import Report


def world(cause: str) -> World:
    return next(item for item in worlds() if item.cause == cause)


def lost_report(planted: World, folder: Path) -> Report:
    return run(
        planted.config,
        suite=planted.suite,
        options=RunOptions(catalog=planted.catalog, agent=planted.agent(), archive=folder / "runs"),
    )


def put_to_proof(
    planted: World,
    folder: Path,
    report: Report | None = None,
    *,
    noise: float = 0.0,
    agent: Any = None,
    **more: Any,
) -> ProofResult:
    laboratory = {name: more.pop(name) for name in ("budget", "resume") if name in more}
    options = RunOptions(
        catalog=planted.catalog,
        agent=agent or planted.agent(noise=noise, seed=7),
        archive=folder / "runs",
        concurrency=1,
    )
    return prove(
        planted.config,
        report or lost_report(planted, folder),
        suite=planted.suite,
        options=ProveOptions(**{"attempts": 1, **more}),
        laboratory=LaboratoryOptions(run=options, **laboratory),
    )


def test_the_report_carries_cause_proof_and_cost(tmp_path: Path) -> None:
    planted = world("wrong_format")
    report = lost_report(planted, tmp_path)
    result = put_to_proof(planted, tmp_path, report)
    decision = result.report.tasks[0].attempts[0].decisions[1]
    assert decision.cause is not None
    assert (decision.cause.name, decision.cause.proof) == ("wrong_format", "proved")
    (trial,) = decision.cause.trials
    assert (trial.untouched, trial.changed, trial.spent) == ((0, 1), (1, 1), 1)
    assert result.spent == 2
    before = report.tasks[0].attempts[0].decisions[1].cause
    assert before is not None
    assert before.proof == ""


def test_a_proof_survives_the_file(tmp_path: Path) -> None:
    from agent_reach.reports.json_report import read_report, write_report

    result = put_to_proof(world("wrong_format"), tmp_path)
    write_report(result.report, tmp_path / "r.json")
    assert read_report(tmp_path / "r.json").tasks == result.report.tasks


def test_attempts_are_counted_before_they_are_spent(tmp_path: Path) -> None:
    planted = world("rival_chosen")
    report = lost_report(planted, tmp_path)
    agent = planted.agent(noise=0.001)
    options = RunOptions(catalog=planted.catalog, agent=agent, archive=tmp_path / "runs")
    cost = proof_cost(
        planted.config,
        report,
        suite=planted.suite,
        options=ProveOptions(attempts=7),
        laboratory=LaboratoryOptions(run=options),
    )
    assert agent.attempts == 0
    made = put_to_proof(planted, tmp_path, report, noise=0.001, attempts=7)
    assert cost.singles == made.spent


def test_a_budget_is_never_exceeded_and_resume_makes_only_the_rest(tmp_path: Path) -> None:
    planted = world("context_overload")
    report = lost_report(planted, tmp_path)
    first = put_to_proof(planted, tmp_path, report, noise=0.001, attempts=6, budget=10)
    assert first.spent <= 10
    assert first.ended_early
    second = put_to_proof(planted, tmp_path, report, noise=0.001, attempts=6, resume=True)
    whole = put_to_proof(planted, tmp_path, report, noise=0.001, attempts=6)
    assert first.kept == second.kept != whole.kept
    assert first.spent + second.spent == whole.spent
    assert second.decisions[0].verdicts["context_overload"] == "proved"


def many(planted: World, count: int) -> World:
    """The same task several times."""

    @dataclass(frozen=True)
    class Many(World):
        @property
        def suite(self) -> Suite:
            tasks = [replace(planted.task, id=f"task_{number}") for number in range(count)]
            return Suite.from_tasks(tasks, name="planted")

    return Many(**{item.name: getattr(planted, item.name) for item in fields(planted)})


def test_a_budget_is_spent_on_every_decision_before_any_gets_a_second_experiment(tmp_path: Path) -> None:
    planted = many(world("context_overload"), 4)
    report = lost_report(planted, tmp_path)
    first = put_to_proof(
        planted, tmp_path, report, noise=0.001, attempts=3, budget=4 * 2 * 3, all_causes=True
    )
    assert first.spent == 24
    assert first.ended_early
    for decision in first.decisions:
        assert decision.untouched[1] == 3
        assert {len(made) for made in run_trials(decision).values()} <= {0, 1}
        assert run_trials(decision)[decision.suspected[0]], decision.task_id
        assert not decision.pairs
    rest = put_to_proof(planted, tmp_path, report, noise=0.001, attempts=3, resume=True, all_causes=True)
    whole = put_to_proof(planted, tmp_path, report, noise=0.001, attempts=3, all_causes=True)
    assert first.spent + rest.spent == whole.spent


def run_trials(decision: ProvedDecision) -> dict[str, list[str]]:
    return {
        cause: [trial.intervention for trial in trials if not trial.not_run]
        for cause, trials in decision.trials.items()
    }


def test_what_was_not_run_says_what_it_needs_and_nothing_else(tmp_path: Path) -> None:
    from agent_reach.reports.proof_text import trial_text

    planted = world("wrong_format")
    result = put_to_proof(planted, tmp_path, noise=0.001, attempts=5, budget=9)
    assert result.spent == 0
    (decision,) = result.decisions
    (trial,) = decision.trials["wrong_format"]
    assert (trial.not_run, trial.more, trial.untouched, trial.changed) == (True, 5, (0, 0), (0, 0))
    assert trial_text(trial, "en").endswith(" (not run: the budget ended; it needs 5 attempts a side)")
    assert trial_text(trial, "zh").endswith("（未运行：预算已用完；每侧需要 5 次尝试）")


def test_an_endpoint_that_dies_leaves_a_state_to_go_on_from(tmp_path: Path) -> None:
    planted = world("rival_chosen")
    report = lost_report(planted, tmp_path)
    dying = planted.agent(noise=0.001)
    real = dying.run

    async def run_until_dead(session: Any) -> None:
        if dying.attempts >= 5:
            raise UnusableModelError("gone")
        await real(session)

    dying.run = run_until_dead  # type: ignore[method-assign]
    with pytest.raises(ModelError):
        put_to_proof(planted, tmp_path, report, attempts=4, agent=dying)
    rest = put_to_proof(planted, tmp_path, report, noise=0.001, attempts=4, resume=True)
    assert rest.spent == 3
    assert rest.decisions[0].verdicts["rival_chosen"] == "proved"


def test_lost_attempts_count_nowhere_and_are_not_made_for_ever(tmp_path: Path) -> None:
    planted = world("rival_chosen")
    report = lost_report(planted, tmp_path)
    flaky = planted.agent(noise=0.001)

    async def never(session: Any) -> None:
        flaky.attempts += 1
        raise ModelError("busy")

    flaky.run = never  # type: ignore[method-assign]
    result = put_to_proof(planted, tmp_path, report, attempts=3, agent=flaky)
    assert result.lost == result.spent == flaky.attempts
    assert result.spent <= 2 * 3 * 4
    assert set(result.decisions[0].verdicts.values()) == {"undecided"}
    assert result.decisions[0].untouched == (0, 0)


def test_causes_that_only_help_together_are_found_as_a_pair(tmp_path: Path) -> None:
    def both(seen: Seen) -> Deed:
        if RIVAL in seen.names:
            return Deed(tool=RIVAL)
        return RIGHT if "\n" not in seen.definition(WRITE)["description"] else Deed(words="Have a nice day.")

    planted = replace(world("no_call"), rule=both)
    result = put_to_proof(planted, tmp_path, all_causes=True, pairs=20)
    (decision,) = result.decisions
    assert {cause for cause, verdict in decision.verdicts.items() if verdict == "proved"} == {
        "rival_chosen",
        "no_call",
    }
    assert "+" in decision.trials["rival_chosen"][-1].intervention


def test_a_recorded_run_says_that_it_cannot_be_run_again(tmp_path: Path) -> None:
    planted = world("rival_chosen")
    report = lost_report(planted, tmp_path)
    config = replace(planted.config, agent=AgentConfig(type="recorded", traces=str(tmp_path / "t.jsonl")))
    from agent_reach.records.codec import to_json

    trace = report.tasks[0].attempts[0].trace
    (tmp_path / "t.jsonl").write_text(json.dumps(to_json(trace)) + "\n")
    with pytest.raises(InputError, match="cannot be run again"):
        prove(
            config, report, suite=planted.suite,
            laboratory=LaboratoryOptions(run=RunOptions(catalog=planted.catalog, archive=tmp_path / "runs")),
        )  # fmt: skip


def test_a_suite_that_asks_something_else_is_refused(tmp_path: Path) -> None:
    planted = world("rival_chosen")
    report = lost_report(planted, tmp_path)
    with pytest.raises(InputError, match="not in the suite as the report scored it"):
        put_to_proof(replace(planted, task=replace(planted.task, query="something else")), tmp_path, report)


def test_live_writes_stay_guarded(tmp_path: Path) -> None:
    planted = world("wrong_format")
    module = tmp_path / "shop_tools.py"
    module.write_text(
        "from agent_reach import tool\n\n\n@tool\ndef query_stock(product_id: str):\n    return {'product_id': product_id, 'warehouse_id': 'WH-SH-01'}\n\n"
        "@tool\ndef update_stock(product_id: str, warehouse_id: str, amount: int, day: str, level: str):\n"
        f"    open({str(tmp_path / 'written')!r}, 'a').write('x')\n    return 'done'\n"
    )
    config = replace(
        planted.config,
        execution=ExecutionConfig(backend="python", handlers=str(module), recorded_fallback=False),
    )
    put_to_proof(replace(planted, config=config), tmp_path, all_causes=True)
    assert not (tmp_path / "written").exists()


def test_functions_that_a_setup_resets_are_not_taken_as_exact(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A setup says nothing of clocks and of what it forgets: here the answer changes from attempt to attempt."""
    planted = world("wrong_format")
    monkeypatch.syspath_prepend(tmp_path)
    module = tmp_path / "moody_tools.py"
    module.write_text(
        "from agent_reach import tool\n\nseen = []\n\n\ndef reset(place):\n    pass\n\n\n@tool\ndef query_stock(product_id: str):\n"
        "    seen.append(product_id)\n    return {'product_id': product_id, 'warehouse_id': f'WH-{len(seen) % 2}'}\n"
    )
    execution = ExecutionConfig(
        backend="python",
        handlers=str(module),
        recorded_fallback=True,
        setup=HookConfig(function="moody_tools:reset"),
    )
    config = replace(planted.config, execution=execution, folder=str(tmp_path))
    result = put_to_proof(replace(planted, config=config), tmp_path, attempts=3)
    assert result.decisions[0].untouched[1] == 3


def test_nothing_given_is_changed(tmp_path: Path) -> None:
    planted = world("enum_synonym")
    before = (planted.catalog.hash, repr(planted.task), repr(planted.config))
    put_to_proof(planted, tmp_path, all_causes=True)
    assert (planted.catalog.hash, repr(planted.task), repr(planted.config)) == before


@given(st.integers(0, 40), st.integers(0, 40), st.integers(1, 40), st.integers(1, 40))
def test_intervals_hold_the_difference_and_verdicts_follow_them(a: int, b: int, m: int, n: int) -> None:
    before, after = Share(min(a, m), m), Share(min(b, n), n)
    found = judge(before, after)
    interval = difference_interval(before, after)
    assert interval is not None
    assert found.interval == interval
    assert -1 <= interval.low <= found.gain + 1e-9
    assert found.gain - 1e-9 <= interval.high <= 1
    assert (found.verdict == "proved") == (interval.low > 0)
    if found.verdict == "undecided" and found.more is not None:
        assert found.more >= 1


def test_newcombe_example() -> None:
    """Newcombe 1998, table II: 56/70 - 48/80 by method 10 is 0.2000 with 0.0524 to 0.3339."""
    interval = difference_interval(Share(48, 80), Share(56, 70))
    assert interval is not None
    assert (round(interval.low, 4), round(interval.high, 4)) == (0.0524, 0.3339)


def test_more_attempts_really_decide() -> None:
    found = judge(Share(0, 10), Share(0, 10))
    assert found.verdict == "undecided"
    assert found.more is not None
    total = 10 + found.more
    assert judge(Share(0, total), Share(0, total)).verdict == "refuted"
    assert judge(Share(0, total - 1), Share(0, total - 1)).verdict == "undecided"


def test_narrowed_results_keep_only_what_holds_the_value() -> None:
    from agent_reach.evals.interventions.entities_narrowed import narrow

    value = {"id": 1, "items": [{"code": "A-1"}, {"code": "B-2"}], "other": ["C-3"]}
    assert narrow(value, ("B-2",)) == {"id": 1, "items": [{"code": "B-2"}], "other": []}
    assert narrow(value, ("Z-9",)) == value


def test_faults_that_are_drawn_leave_something_to_chance(tmp_path: Path) -> None:
    planted = world("tool_failed")
    rule = replace(planted.config.execution.faults[0], probability=0.5)
    drawn = replace(planted, config=replace(planted.config, execution=ExecutionConfig(faults=(rule,))))
    report = lost_report(planted, tmp_path)
    result = put_to_proof(drawn, tmp_path, report, attempts=6)
    assert result.decisions[0].untouched[1] == 6
    assert 0 < result.decisions[0].untouched[0] < 6


def test_what_cannot_decide_says_why(tmp_path: Path) -> None:
    from agent_reach.records.message import Message
    from agent_reach.records.score import ProofTrial
    from agent_reach.reports.proof_text import trial_text

    def told(**more: Any) -> str:
        trial = ProofTrial(intervention="x", change=Message("y", "y"), verdict="undecided", **more)
        return trial_text(trial, "en") + trial_text(trial, "zh")

    assert "lost to infrastructure" in told(untouched=(0, 3))
    assert "基础设施" in told(changed=(0, 3))
    assert "no number of attempts in reach" in told(untouched=(1, 3), changed=(1, 3))
    assert "1 more attempt a side would decide" in told(untouched=(0, 3), changed=(1, 3), more=1)


def test_the_cost_of_a_proof_is_told_whole_after_resuming(tmp_path: Path) -> None:
    planted = world("rival_chosen")
    report = lost_report(planted, tmp_path)
    whole = put_to_proof(planted, tmp_path, report, noise=0.001, attempts=4)
    again = put_to_proof(planted, tmp_path, report, noise=0.001, attempts=4, resume=True)
    assert again.spent == 0
    assert again.decisions == whole.decisions
    assert (
        sum(trial.spent for trials in whole.decisions[0].trials.values() for trial in trials) + 4
        == whole.spent
    )


def stand_in_of(planted: World, folder: Path) -> tuple[str, Any]:
    """Verdict, and the tool that stood in."""
    from agent_reach.evals.interventions.planning import plan_proofs
    from agent_reach.evals.trials.laboratory import Laboratory

    report = lost_report(planted, folder)
    options = LaboratoryOptions(
        run=RunOptions(catalog=planted.catalog, agent=planted.agent(), archive=folder / "runs")
    )
    plans = plan_proofs(Laboratory("prove", planted.config, planted.suite, options), report)
    (trial,) = [t for plan in plans for t in plan.trials if t.name == "tool_stood_in"]
    (decision,) = put_to_proof(planted, folder, report, attempts=6).decisions
    return decision.verdicts["unavailable"], trial.variant.catalog.resolve(WRITE)


def test_a_broken_definition_is_used_as_far_as_it_goes(tmp_path: Path) -> None:
    planted = world("unavailable")
    listed = [
        {"name": tool.name, "description": tool.description, "inputSchema": dict(tool.input_schema)}
        for tool in planted.catalog.tools
    ]
    broken = {"name": WRITE, "description": "Writes the final count.", "inputSchema": {"type": "array"}}
    catalog = Catalog.load({"tools": [*listed, broken]})
    assert [item.key for item in catalog.quarantined] == [WRITE]
    verdict, tool = stand_in_of(replace(planted, catalog=catalog), tmp_path)
    assert verdict == "proved"
    assert tool.description == "Writes the final count."
    assert tool.parameters["amount"] == {"type": "integer"}
    assert set(tool.required) == set(tool.parameters)


@pytest.mark.parametrize(
    "exposure",
    [
        ExposureConfig(mode="names", tools=(LOOK,)),
        ExposureConfig(mode="reach", settings={"k": 1}, pinned=(LOOK,)),
        ExposureConfig(surface=SurfaceConfig(max_tools=2), pinned=(LOOK,)),
    ],
    ids=["names", "reach", "limit"],
)
def test_a_tool_that_stands_in_is_offered_in_every_exposure(exposure: ExposureConfig, tmp_path: Path) -> None:
    planted = world("unavailable")
    verdict, _ = stand_in_of(replace(planted, config=replace(planted.config, exposure=exposure)), tmp_path)
    assert verdict == "proved"


def test_nothing_real_answers_for_a_tool_that_stands_in(tmp_path: Path) -> None:
    planted = world("unavailable")
    module = tmp_path / "real_tools.py"
    module.write_text(
        "from agent_reach import tool\n\n\n@tool\ndef query_stock(product_id: str):\n"
        "    return {'product_id': product_id, 'warehouse_id': 'WH-SH-01'}\n\n\n@tool\n"
        "def update_stock(product_id: str, warehouse_id: str, amount: int, day: str, level: str):\n"
        f"    open({str(tmp_path / 'written')!r}, 'a').write('x')\n    return 'done'\n"
    )
    execution = ExecutionConfig(backend="python", handlers=str(module), allow_writes=("*",))
    live = replace(planted, config=replace(planted.config, execution=execution))
    assert stand_in_of(live, tmp_path)[0] == "proved"
    assert not (tmp_path / "written").exists()
