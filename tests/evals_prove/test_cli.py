"""The command line of proofs, on a small project with an agent that is a Python function."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agent_reach.cli.main import run_command_line

TOOLS = [
    {
        "name": "set_stock",
        "description": "Set the stock.",
        "inputSchema": {"type": "object", "properties": {"day": {"type": "string"}}, "required": ["day"]},
    },
    {"name": "send_mail", "description": "Send a mail.", "inputSchema": {"type": "object", "properties": {}}},
]
AGENT = """
import json

async def run(request):
    known = "YYYY-MM-DD" in json.dumps(request.definitions)
    await request.call("set_stock", {"day": "2030-01-02" if known else "02/01/2030"})

run.deterministic = True
"""
SUITE = [
    {
        "id": "a",
        "kind": "must",
        "query": "Set it for 2 January 2030.",
        "path": [{"tool": "set_stock", "args": {"day": "2030-01-02"}, "result": "ok"}],
    }
]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "tools.json").write_text(json.dumps({"tools": TOOLS}))
    (tmp_path / "agent_of_day.py").write_text(AGENT)
    (tmp_path / "suite.json").write_text(json.dumps(SUITE))
    (tmp_path / "config.yaml").write_text(
        "catalog: tools.json\nsuites: {days: suite.json}\nagent: {type: python, function: 'agent_of_day.py:run'}\n"
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path


def out(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = run_command_line(list(arguments))
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def joined(text: str) -> str:
    """The text without its line ends."""
    return " ".join(text.split())


def test_explain_prove_says_what_it_would_spend_then_proves(project: Path, capsys: Any) -> None:
    assert out(capsys, "run", "--suite", "days", "--report", "r.json", "--quiet")[0] == 0
    code, said, _ = out(capsys, "explain", "r.json", "a", "--prove", "--dry-run")
    assert code == 0
    assert "2 attempts" in said
    code, said, _ = out(capsys, "explain", "r.json", "a", "--prove", "--output", "proved.json")
    assert code == 0
    assert "Wrong format: proved" in said
    code, said, _ = out(capsys, "explain", "proved.json", "a")
    assert "proved" in said
    assert "format and example added" in said
    assert "cost: 1 attempt with a change, against 1 untouched" in said
    code, said, _ = out(
        capsys, "report", "render", "proved.json", "--format", "html", "--output", "proved.html"
    )
    assert "format and example added" in (project / "proved.html").read_text()
    code, said, _ = out(capsys, "explain", "r.json", "a", "--prove", "--lang", "zh")
    assert "已证实" in said


def test_run_prove_writes_the_proofs_into_the_report(project: Path, capsys: Any) -> None:
    code, said, _ = out(
        capsys, "run", "--suite", "days", "--report", "r.json", "--quiet", "--prove", "--json"
    )
    assert code == 0
    json.loads(said)
    attempt = json.loads((project / "r.json").read_text())["tasks"][0]["attempts"][0]
    assert attempt["decisions"][0]["cause"]["proof"] == "proved"
    archived = next((project / ".agent-reach" / "runs").glob("*/report.json"))
    assert "newcombe" not in archived.read_text()
    assert json.loads(archived.read_text())["tasks"] == json.loads((project / "r.json").read_text())["tasks"]


def test_a_recorded_run_exits_with_2(project: Path, capsys: Any) -> None:
    assert out(capsys, "run", "--suite", "days", "--report", "r.json", "--quiet")[0] == 0
    report = json.loads((project / "r.json").read_text())
    (project / "t.jsonl").write_text(json.dumps(report["tasks"][0]["attempts"][0]["trace"]) + "\n")
    (project / "recorded.yaml").write_text(
        "catalog: tools.json\nsuites: {days: suite.json}\nagent: {type: recorded, traces: t.jsonl}\n"
    )
    code, _, err = out(capsys, "explain", "r.json", "a", "--prove", "--config", "recorded.yaml")
    assert code == 2
    assert "cannot be run again" in err
    (project / "recorded.yaml").rename(project / "config.yaml")
    code, _, err = out(capsys, "run", "--suite", "days", "--report", "again.json", "--quiet", "--prove")
    assert code == 2
    assert "cannot be run again" in err
    assert not (project / "again.json").exists()


def test_a_report_made_from_recordings_exits_with_2(project: Path, capsys: Any) -> None:
    assert out(capsys, "run", "--suite", "days", "--report", "r.json", "--quiet")[0] == 0
    report = json.loads((project / "r.json").read_text())
    (project / "t.jsonl").write_text(json.dumps(report["tasks"][0]["attempts"][0]["trace"]) + "\n")
    (project / "recorded.yaml").write_text(
        "catalog: tools.json\nsuites: {days: suite.json}\nagent: {type: recorded, traces: t.jsonl}\n"
    )
    assert (
        out(capsys, "run", "--suite", "days", "--config", "recorded.yaml", "--report", "s.json", "--quiet")[0]
        == 0
    )
    code, _, err = out(capsys, "explain", "s.json", "a", "--prove", "--dry-run")
    assert code == 2
    assert "cannot be run again" in err


OVER_CALLING = """
import json

async def run(request):
    if any(item["function"]["name"] == "send_mail" for item in request.definitions):
        await request.call("send_mail", {})

run.deterministic = True
"""


@pytest.mark.parametrize("kind", ["may", "forbid"])
def test_over_calls_are_proved_by_run_and_by_explain(kind: str, project: Path, capsys: Any) -> None:
    (project / "agent_of_day.py").write_text(OVER_CALLING)
    path = {"path": SUITE[0]["path"]} if kind == "may" else {}
    (project / "suite.json").write_text(
        json.dumps([{"id": "a", "kind": kind, "query": "What day is it?", **path}])
    )
    assert out(capsys, "run", "--suite", "days", "--report", "r.json", "--quiet")[0] == 0
    code, said, _ = out(capsys, "explain", "r.json", "a", "--prove", "--dry-run")
    assert (code, "1 lost decision: 4 attempts" in said) == (0, True)
    code, said, _ = out(capsys, "explain", "r.json", "a", "--prove")
    assert code == 0
    assert (
        "calls that should not have been made (send_mail): 0 of 1 untouched attempts went without them"
        in joined(said)
    )
    assert "Called what it must not: proved" in said
    code, said, _ = out(capsys, "explain", "r.json", "a", "--prove", "--json")
    (found,) = json.loads(said)["decisions"]
    assert (found["step"], found["unwanted"], found["verdicts"]) == (
        None,
        ["send_mail"],
        {"over_called": "proved"},
    )
    code, said, _ = out(
        capsys, "run", "--suite", "days", "--report", "p.json", "--markdown", "p.md", "--html", "p.html",
        "--quiet", "--prove", "--lang", "zh",
    )  # fmt: skip
    assert code == 0
    assert "不应有的调用（send_mail）" in said
    for name in ("p.md", "p.html"):
        assert "不提供：send_mail" in (project / name).read_text(), name
    _, said, _ = out(capsys, "explain", "p.json", "a")
    assert "not offered: send_mail" in said


DYING = """
import json, os, pathlib

counter = pathlib.Path("count.txt")

async def run(request):
    made = int(counter.read_text() or 0) if counter.exists() else 0
    if os.environ.get("DIE_AT") and made >= int(os.environ["DIE_AT"]):
        os.kill(os.getpid(), 9)
    counter.write_text(str(made + 1))
    known = "YYYY-MM-DD" in json.dumps(request.definitions)
    await request.call("set_stock", {"day": "2030-01-02" if known else "02/01/2030"})
"""


def test_a_killed_proof_loses_no_finished_attempt(project: Path, capsys: Any) -> None:
    (project / "agent_of_day.py").write_text(DYING)
    config = (project / "config.yaml").read_text()
    (project / "config.yaml").write_text(config + "concurrency: 1\n")
    assert out(capsys, "run", "--suite", "days", "--report", "r.json", "--quiet")[0] == 0
    arguments = ["explain", "r.json", "a", "--prove", "--prove-attempts", "6"]
    program = (
        "import sys; from agent_reach.cli.main import run_command_line as go; sys.exit(go(sys.argv[1:]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        env={**os.environ, "DIE_AT": "8"},
        cwd=project,
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == -signal.SIGKILL
    (kept,) = (project / ".agent-reach" / "trials").glob("prove-*.jsonl")
    assert len(kept.read_bytes().splitlines()) == 7
    with kept.open("ab") as file:
        file.write(b'{"task_id": "half a li')
    code, said, _ = out(capsys, *arguments, "--resume", "--json")
    assert code == 0
    found = json.loads(said)
    assert found["attempts"]["made"] == 5
    assert found["decisions"][0]["verdicts"] == {"wrong_format": "proved"}
    assert found["decisions"][0]["trials"]["wrong_format"][0]["spent"] == 6
    assert (project / "count.txt").read_text() == "13"


def test_a_source_is_never_written_over(project: Path, capsys: Any) -> None:
    assert out(capsys, "run", "--suite", "days", "--report", "r.json", "--quiet")[0] == 0
    before = (project / "suite.json").read_bytes()
    code, _, err = out(capsys, "explain", "r.json", "a", "--prove", "--output", "suite.json")
    assert code == 2
    assert "would be overwritten" in err
    assert (project / "suite.json").read_bytes() == before


def test_a_budget_that_ends_says_how_to_go_on(project: Path, capsys: Any) -> None:
    assert out(capsys, "run", "--suite", "days", "--report", "r.json", "--quiet")[0] == 0
    code, said, _ = out(capsys, "explain", "r.json", "a", "--prove", "--budget", "1")
    assert code == 0
    assert "Wrong format: not run" in said
    assert "(not run: the budget ended; it needs 1 attempt a side)" in joined(said)
    assert "causes: 0 proved, 0 refuted, 0 undecided, 1 not run" in said
    assert "go on with --resume" in joined(said)
    for false in ("0/0", "0 of 0", "more attempt", "would decide"):
        assert false not in said


def test_what_was_not_run_has_no_counts_in_any_report(project: Path, capsys: Any) -> None:
    arguments = (
        "--prove",
        "--prove-budget",
        "0",
        "--report",
        "r.json",
        "--markdown",
        "r.md",
        "--html",
        "r.html",
    )
    code, said, _ = out(capsys, "run", "--suite", "days", "--quiet", *arguments)
    assert (code, "1 not run" in said) == (0, True)
    texts = [(project / name).read_text() for name in ("r.md", "r.html")]
    texts += [out(capsys, "explain", "r.json", "a", "--lang", language)[1] for language in ("en", "zh")]
    for text in texts:
        assert "not run: the budget ended" in joined(text) or "未运行：预算已用完" in text
        for false in ("0/0", "0 untouched", "未改动 0", "would decide", "可判定", "0 attempts with"):
            assert false not in text, false


def test_run_tells_the_headline_first_and_the_proofs_in_the_width(
    project: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    tasks = [{**SUITE[0], "id": f"task-{number:02d}"} for number in range(25)]
    (project / "suite.json").write_text(json.dumps(tasks))
    code, said, _ = out(capsys, "run", "--suite", "days", "--report", "r.json", "--quiet", "--prove")
    assert code == 0
    head, _, proofs = said.partition("causes: 25 proved, 0 refuted, 0 undecided, 0 not run\n")
    assert "Tool reachability" in head
    assert "format and example added" not in head
    assert max(len(line) for line in proofs.splitlines() if "/" not in line) <= 60
    assert proofs.count("decision 1 (set_stock)") == 20
    assert "5 more are not shown; the experiments on suspected causes stand in the report" in joined(proofs)
    assert "agent-reach explain r.json TASK" in joined(proofs)


def test_counting_attempts_does_not_come_between_a_proof_and_its_resuming(project: Path, capsys: Any) -> None:
    assert out(capsys, "run", "--suite", "days", "--report", "r.json", "--quiet")[0] == 0
    assert out(capsys, "explain", "r.json", "a", "--prove", "--all-causes", "--budget", "2")[0] == 0
    kept = sorted((project / ".agent-reach" / "trials").iterdir())
    code, said, _ = out(capsys, "explain", "r.json", "a", "--prove", "--all-causes", "--dry-run", "--resume")
    assert (code, "1 attempt," in said) == (0, True)
    assert "3 attempts," in out(capsys, "explain", "r.json", "a", "--prove", "--all-causes", "--dry-run")[1]
    assert sorted((project / ".agent-reach" / "trials").iterdir()) == kept
    code, said, _ = out(capsys, "explain", "r.json", "a", "--prove", "--all-causes", "--resume", "--json")
    assert json.loads(said)["attempts"]["made"] == 1


def test_run_can_try_every_cause(project: Path, capsys: Any) -> None:
    arguments = ("run", "--suite", "days", "--report", "r.json", "--quiet", "--prove")
    few = out(capsys, *arguments)[1]
    many = out(capsys, *arguments, "--prove-all-causes")[1]
    assert "2 attempts made" in few
    assert "2 attempts made" not in many
