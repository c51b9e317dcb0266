"""The servers example: its suite is sound, and with the servers at hand the golden calls are answered as the suite says.

What needs the servers runs where AGENT_REACH_SERVERS names a folder made by `benchmarks/servers/install.py`; the check
against recorded tool lists runs where the real data is.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
import yaml
from tests.examples.perfect import assert_all_right

from agent_reach import Catalog, Suite, run
from agent_reach.catalog.overlay import load_overlay
from agent_reach.config.run import load_run_config
from agent_reach.evals.suite.lint import lint_suite
from agent_reach.records.finding import Finding
from agent_reach.records.report import Report

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "servers"
SERVERS = tuple(json.loads((EXAMPLE / "mcp.json").read_text(encoding="utf-8"))["mcpServers"])


@pytest.fixture(scope="module")
def suite() -> Suite:
    return Suite.load(EXAMPLE / "suite.yaml")


@pytest.fixture
def environment() -> dict[str, str]:
    folder = os.environ.get("AGENT_REACH_SERVERS", "")
    if not folder or not Path(folder, "servers.json").is_file():
        pytest.skip(
            "no published servers: run benchmarks/servers/install.py and set AGENT_REACH_SERVERS to its folder"
        )
    return dict(os.environ)


def wrong(findings: tuple[Finding, ...]) -> list[tuple[str, str]]:
    return [(finding.code, finding.subject) for finding in findings if finding.severity != "info"]


def test_the_suite_is_of_the_size_and_mix_that_it_says(suite: Suite) -> None:
    kinds = Counter(task.kind for task in suite.tasks)
    total = len(suite.tasks)
    assert total >= 25
    assert [round(kinds[kind] / total, 1) for kind in ("must", "may", "forbid")] == [0.6, 0.2, 0.2]
    assert {task.language for task in suite.tasks} == {"en", "zh"}
    tags = Counter(tag for task in suite.tasks for tag in task.tags)
    assert tags["confusable"] >= total / 3
    assert tags["chain"] >= 4
    assert not suite.findings


def test_two_configurations_differ_in_the_agent_alone() -> None:
    plain, golden = (
        yaml.safe_load((EXAMPLE / name).read_text(encoding="utf-8"))
        for name in ("config.yaml", "golden.yaml")
    )
    for settings in (plain, golden):
        for name in ("agent", "exposure", "attempt_timeout", "concurrency"):
            settings.pop(name, None)
    assert plain == golden


def test_every_gold_fits_the_recorded_tool_lists(suite: Suite, real_data: Path) -> None:
    lists = []
    for name in SERVERS:
        recorded = json.loads((real_data / "mcp_servers" / f"{name}.json").read_text(encoding="utf-8"))
        lists.extend({**tool, "server": name} for tool in recorded["tools"])
    catalog = Catalog.load(lists).with_overlay(load_overlay(EXAMPLE / "overlay.yaml"))
    assert not catalog.quarantined
    assert wrong(lint_suite(suite, catalog)) == []


def test_the_scratch_folder_is_the_same_each_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from agent_reach.backends.isolation import AttemptPlace

    monkeypatch.syspath_prepend(str(EXAMPLE))
    import scratch  # type: ignore[import-not-found]

    commits = []
    for name in ("first", "second"):
        folder = tmp_path / name
        folder.mkdir()
        scratch.make(
            AttemptPlace(task_id="t", attempt=0, folder=str(folder), environment={"PATH": os.environ["PATH"]})
        )
        log = subprocess.run(
            ["git", "log", "--format=%H"], cwd=folder / "shop", capture_output=True, text=True, check=True
        )
        commits.append(log.stdout.split())
    assert commits[0] == commits[1]
    assert len(commits[0]) == 2
    files = [
        sorted(str(path.relative_to(tmp_path / name)) for path in (tmp_path / name).rglob("*.*") if ".git/" not in str(path))
        for name in ("first", "second")
    ]  # fmt: skip
    assert files[0] == files[1]
    assert {"shop.db", "todo.txt", "memory.jsonl", "notes/plan.md"} <= set(files[0])


@pytest.mark.live
def test_every_gold_fits_the_live_catalog(suite: Suite, environment: dict[str, str]) -> None:
    config = load_run_config(EXAMPLE / "config.yaml", environment)
    catalog = Catalog.load(config.catalog, overlay=config.overlay, environment=environment)
    assert {tool.server for tool in catalog.tools} == set(SERVERS)
    assert [finding for finding in catalog.findings if finding.severity == "error"] == []
    assert wrong(lint_suite(suite, catalog)) == []


@pytest.mark.live
def test_the_golden_calls_are_right_in_every_figure(
    tmp_path: Path, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    settings = yaml.safe_load((EXAMPLE / "golden.yaml").read_text(encoding="utf-8"))
    settings["archive"] = str(tmp_path / "runs")
    settings = {**settings, "catalog": str(EXAMPLE / "mcp.json"), "overlay": str(EXAMPLE / "overlay.yaml")}
    settings["suites"] = {"servers": str(EXAMPLE / "suite.yaml")}
    settings["agent"] = {"type": "python", "function": str(EXAMPLE / "golden.py") + ":run"}
    monkeypatch.syspath_prepend(str(EXAMPLE))
    report: Report = run(settings, environment=environment)
    assert_all_right(report)
    assert report.metrics["param_hit_rate"].value == 1
    kept = [path for path in Path(tmp_path).iterdir() if path.name != "runs"]
    assert kept == []


def test_the_example_says_which_variable_is_missing() -> None:
    without = {name: value for name, value in os.environ.items() if name != "AGENT_REACH_SERVERS"}
    done = subprocess.run(
        [sys.executable, "-m", "agent_reach", "suite", "lint", "servers", "--config", "config.yaml"],
        cwd=EXAMPLE,
        env=without,
        capture_output=True,
        text=True,
    )
    assert done.returncode != 0
    assert "AGENT_REACH_SERVERS" in done.stdout + done.stderr
