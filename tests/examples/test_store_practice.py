"""The store's practice suite: it is sound, apart from the suite that judges, and its golden calls really work."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
import yaml
from tests.examples.perfect import assert_all_right

from agent_reach import Catalog, Suite, run
from agent_reach.cli.main import run_command_line
from agent_reach.evals.demo import store_folder
from agent_reach.evals.suite.checks.duplicates import near_duplicates
from agent_reach.evals.suite.lint import lint_suite
from agent_reach.records.task import Task
from agent_reach.text.folding import fold

STORE = store_folder()


def golden_tools(task: Task) -> set[str]:
    return {call.tool for path in task.paths for stage in path.stages for call in stage}


@pytest.fixture(scope="module")
def suite() -> Suite:
    return Suite.load(STORE / "practice.yaml")


@pytest.fixture(scope="module")
def judge() -> Suite:
    return Suite.load(STORE / "suite.yaml")


def test_every_gold_fits_the_tools(suite: Suite) -> None:
    catalog = Catalog.load(STORE / "back_office", overlay=STORE / "overlay.yaml")
    assert not suite.findings
    # Nearly all tasks must call: what is tuned is which tool is called, so the mix is meant.
    assert {item.code for item in lint_suite(suite, catalog)} <= {"kind_mix"}


def test_what_the_judge_asks_for_is_practised(suite: Suite, judge: Suite) -> None:
    must = [task for task in suite.tasks if task.kind == "must"]
    practised = Counter(tool for task in must for tool in golden_tools(task))
    judged = {tool for task in judge.tasks for tool in golden_tools(task)}
    assert {tool for tool in judged if practised[tool] < 3} == set()
    languages = Counter(task.language for task in suite.tasks)
    assert set(languages) == {"en", "zh"}
    assert min(languages.values()) > 0.4 * len(suite.tasks)
    assert all(task.language in task.tags for task in suite.tasks)


def test_no_request_of_the_judge_is_repeated(suite: Suite, judge: Suite) -> None:
    ours = {task.id for task in suite.tasks}
    assert {fold(task.query) for task in suite.tasks}.isdisjoint(fold(task.query) for task in judge.tasks)
    assert ours.isdisjoint(task.id for task in judge.tasks)
    shared = [
        [task.id for task in group]
        for group in near_duplicates((*suite.tasks, *judge.tasks))
        if any(task.id in ours for task in group)
    ]
    assert shared == []


def test_the_configuration_names_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(STORE)
    assert run_command_line(["suite", "lint", "practice"]) == 0
    assert "176 tasks" in capsys.readouterr().out


def test_the_golden_calls_are_legal_and_succeed(
    suite: Suite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(STORE))
    settings = yaml.safe_load((STORE / "config.yaml").read_text(encoding="utf-8"))
    # The calls themselves are looked at, not what an agent does when one fails.
    del settings["execution"]["faults"]
    settings |= {
        "catalog": str(STORE / "back_office"),
        "overlay": str(STORE / "overlay.yaml"),
        "suites": {"practice": str(STORE / "practice.yaml")},
        "agent": {"type": "python", "function": f"{Path(__file__).with_name('golden_store.py')}:run"},
        "archive": str(tmp_path / "runs"),
    }
    report = run(settings)
    assert_all_right(report)
    steps = sum(len(stage) for task in suite.tasks for path in task.paths for stage in path.stages)
    assert report.metrics["execution_success"].denominator == steps
