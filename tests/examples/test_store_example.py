"""The bundled store: its tools load, its suite is sound, its recordings score, the demo runs offline."""

from __future__ import annotations

import json
from pathlib import Path

from agent_reach import Catalog, Suite
from agent_reach.cli.main import run_command_line
from agent_reach.evals.demo import recordings, store_folder
from agent_reach.evals.suite.lint import lint_suite
from agent_reach.records.report import METRIC_NAMES
from agent_reach.traces.importers.read import import_traces


def store_catalog() -> Catalog:
    folder = store_folder()
    return Catalog.load(folder / "back_office", overlay=folder / "overlay.yaml")


def test_the_tools_load_and_the_overlay_fits_them():
    catalog = store_catalog()
    assert len(catalog) == 63
    assert [finding.code for finding in catalog.findings if finding.severity != "info"] == []


def test_the_suite_is_sound_and_mixed():
    suite = Suite.load(store_folder() / "suite.yaml")
    kinds = [task.kind for task in suite.tasks]
    assert (kinds.count("must"), kinds.count("may"), kinds.count("forbid")) == (40, 13, 13)
    assert [finding for finding in lint_suite(suite, store_catalog()) if finding.severity == "error"] == []


def test_recordings_say_what_was_recorded():
    suite = Suite.load(store_folder() / "suite.yaml")
    wanted = {task.id for task in suite.tasks}
    for path in recordings(store_folder()).values():
        traces = list(import_traces(path))
        assert {trace.task_id for trace in traces} == wanted
        for trace in traces:
            facts = trace.metadata["recording"]
            assert facts["digest"].startswith("sha256:")
            assert facts["recorded"]
            assert trace.model


def test_the_demo_runs_offline_and_leaves_its_reports(tmp_path: Path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert run_command_line(["demo"]) == 0
    shown = capsys.readouterr().out
    assert "agent-reach explain" in shown
    report = json.loads((tmp_path / "agent-reach-demo" / "report.json").read_text(encoding="utf-8"))
    assert set(METRIC_NAMES) <= set(report["metrics"])
    assert report["metrics"]["tool_reachability"]["denominator"] == 46
    assert report["run"]["model"].startswith("qwen2.5")
    assert (tmp_path / "agent-reach-demo" / "report.html").stat().st_size > 50_000
    assert (tmp_path / "agent-reach-demo" / "report-lexical.json").exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["agent-reach-demo"]


def test_the_demo_refuses_a_model_that_is_not_there(tmp_path: Path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert run_command_line(["demo", "--live", "none.gguf"]) == 2
    assert "no such model file" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
