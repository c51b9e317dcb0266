"""The release gate: each check passes, fails, is undecided or is skipped for its own reason."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from agent_reach import Catalog
from agent_reach.catalog.snapshot import write_snapshot
from agent_reach.cli.main import run_command_line
from agent_reach.config.project import load_project
from agent_reach.evals.check.release import release_gate
from agent_reach.evals.report import describe_catalog
from agent_reach.graph.analysis import analyse
from agent_reach.graph.build import ToolGraph
from agent_reach.graph.document import map_document
from agent_reach.records.message import Message
from agent_reach.records.report import Report, RunInfo
from agent_reach.reports.json_report import write_report

TOOLS = [
    {
        "name": "find_user",
        "description": "Find a user by mail. Use when only a mail is known.",
        "inputSchema": {
            "type": "object",
            "properties": {"mail": {"type": "string", "description": "mail, e.g. a@b.c"}},
            "required": ["mail"],
        },
        "outputSchema": {"type": "object", "properties": {"user_id": {"type": "string"}}},
    },
    {
        "name": "close_user",
        "description": "Close an account. Use when the user wants to leave.",
        "inputSchema": {
            "type": "object",
            "properties": {"user_id": {"type": "string", "description": "id from find_user, e.g. U-1"}},
            "required": ["user_id"],
        },
        "outputSchema": {"type": "object", "properties": {"done": {"type": "boolean"}}},
    },
]
NOW = datetime(2026, 6, 1, tzinfo=UTC)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "tools.json").write_text(json.dumps(TOOLS), encoding="utf-8")
    task = {
        "id": "t1",
        "kind": "must",
        "query": "close U-1",
        "path": [{"tool": "close_user", "args": {"user_id": "U-1"}}],
    }
    (tmp_path / "core.jsonl").write_text(json.dumps(task), encoding="utf-8")
    (tmp_path / "reach.yaml").write_text(
        "catalog: tools.json\nsuites: {core: core.jsonl}\nbaseline: baseline.json\n", encoding="utf-8"
    )
    catalog = Catalog.load(tmp_path / "tools.json")
    write_snapshot(catalog, tmp_path / "catalog.lock.json")
    graph = ToolGraph.build(catalog)
    (tmp_path / "map.json").write_text(json.dumps(map_document(graph, analyse(graph))), encoding="utf-8")
    run = RunInfo(id="r", time=(NOW - timedelta(days=3)).isoformat())
    write_report(
        Report(run=run, catalog=describe_catalog(catalog), metrics={}, headline=Message("x", "x")),
        tmp_path / "baseline.json",
    )
    return tmp_path


def states(folder: Path) -> dict[str, str]:
    loaded = load_project(folder / "reach.yaml")
    result = release_gate(loaded, Catalog.load(loaded.catalog), now=NOW)
    return {check.name: check.state for check in result.checks} | {"exit": str(result.exit_code)}


def test_a_project_in_order_passes(project):
    assert states(project) == {
        "servers": "pass",
        "snapshot": "pass",
        "lint": "pass",
        "suites": "pass",
        "map": "pass",
        "baseline": "pass",
        "exit": "0",
    }


def test_a_changed_description_is_drift_and_ages_the_baseline(project):
    changed = [{**TOOLS[0], "description": "Find somebody."}, TOOLS[1]]
    (project / "tools.json").write_text(json.dumps(changed), encoding="utf-8")
    found = states(project)
    assert (found["snapshot"], found["baseline"], found["exit"]) == ("fail", "fail", "1")


def test_a_broken_gold_and_a_lost_tool(project):
    (project / "tools.json").write_text(json.dumps(TOOLS[:1]), encoding="utf-8")
    found = states(project)
    assert found["suites"] == "fail"
    assert found["snapshot"] == "fail"


def test_what_is_missing_is_skipped(project):
    for name in ("catalog.lock.json", "map.json", "baseline.json"):
        (project / name).unlink()
    found = states(project)
    assert {found["snapshot"], found["map"], found["baseline"]} == {"skipped"}
    assert found["exit"] == "0"


def test_what_cannot_be_read_is_undecided(project):
    (project / "map.json").write_text("{broken", encoding="utf-8")
    found = states(project)
    assert (found["map"], found["exit"]) == ("undecided", "3")


def test_the_command_in_a_project(project, monkeypatch, capsys):
    monkeypatch.chdir(project)
    assert run_command_line(["check"]) in (0, 1)
    shown = capsys.readouterr().out
    for name in ("servers", "snapshot", "lint", "suites", "map", "baseline"):
        assert name in shown
    run_command_line(["check", "--json"])
    assert {check["name"] for check in json.loads(capsys.readouterr().out)["checks"]} >= {"servers", "map"}
