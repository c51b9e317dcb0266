"""The command line of runs: exit codes, what goes where, both languages, wrong input."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.evals_runner.test_runner import TOOLS, tasks

from agent_reach.cli.main import run_command_line
from agent_reach.cli.progress import Progress, _number
from agent_reach.records.events import AttemptFinished, RunFinished, RunStarted, WaitingForModel
from agent_reach.records.score import AttemptScore

AGENT = """
async def run(request):
    product = request.query.split()[3]
    name = "query_stock" if int(product[-1]) % 4 else "send_note"
    await request.call(name, {"product_id": product} if name == "query_stock" else {"text": product})
    return "done"
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "tools.json").write_text(json.dumps(TOOLS))
    (tmp_path / "core.jsonl").write_text("\n".join(json.dumps(task) for task in tasks(8)))
    (tmp_path / "quarter_wrong_agent.py").write_text(AGENT)
    (tmp_path / "config.yaml").write_text(
        "catalog: tools.json\nsuites: {core-suite: core.jsonl}\n"
        "agent: {type: python, function: 'quarter_wrong_agent:run'}\nexecution: recorded\n"
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path


def call(*arguments: str) -> int:
    return run_command_line(["run", "--config", "config.yaml", *arguments])


def test_a_run_prints_its_summary_and_writes_every_form(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = call(
        *("--suite", "core-suite", "--report", "out/report.json", "--html", "out/report.html"),
        *("--markdown", "out/report.md", "--junit", "out/report.xml"),
    )
    printed = capsys.readouterr()
    assert code == 0
    assert "75.0%" in printed.out
    assert all(len(line) <= 80 for line in printed.out.splitlines())
    assert "8/8 attempts, 6/8 passed" in printed.err
    for name in ("report.json", "report.html", "report.md", "report.xml"):
        assert (project / "out" / name).stat().st_size > 200


def test_json_goes_to_stdout_alone(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call("--suite", "core-suite", "--json", "--quiet") == 0
    printed = capsys.readouterr()
    assert json.loads(printed.out)["metrics"]["tool_reachability"]["value"] == 0.75
    assert printed.err == ""


def test_chinese(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call("--suite", "core-suite", "--lang", "zh") == 0
    printed = capsys.readouterr()
    assert "工具触达率" in printed.out
    assert "次尝试" in printed.err


@pytest.mark.parametrize(
    ("limit", "code"),
    [
        ("0.7", 0),
        ("0.8", 1),
        ("80%", 1),
        ("decision_success=0.75", 0),
        ("over_call_rate=0.1", 2),
        ("1.5", 2),
        ("NaN", 2),
        ("-0.1", 2),
        ("reachability=0.5", 2),
    ],
)
def test_fail_under(project: Path, limit: str, code: int) -> None:
    assert call("--suite", "core-suite", "--fail-under", limit, "--quiet") == code


@pytest.mark.parametrize(
    ("limit", "code"),
    [
        ("over_call_rate=0.1", 3),
        ("optional_unused_rate=0.5", 3),
        ("extra_calls=0.25", 0),
        ("extra_calls=0.2", 1),
        ("extra_calls=2", 0),
        ("may_call_rate=1.5", 2),
        ("tool_reachability=0.5", 2),
        ("0.5", 2),
        ("extra_calls=many", 2),
    ],
)
def test_fail_over(project: Path, limit: str, code: int) -> None:
    assert call("--suite", "core-suite", "--fail-over", limit, "--quiet") == code


def test_a_limit_on_the_wrong_side_is_refused_with_the_right_one(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call("--suite", "core-suite", "--fail-under", "over_call_rate=0.9") == 2
    assert "write --fail-over over_call_rate=0.9" in capsys.readouterr().err
    assert call("--suite", "core-suite", "--fail-over", "task_pass=0.9") == 2
    assert "write --fail-under task_pass=0.9" in capsys.readouterr().err


def test_every_limit_is_told(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    limits = ("--fail-under", "0.9", "--fail-over", "extra_calls=0", "--fail-over", "over_call_rate=0")
    assert call("--suite", "core-suite", "--quiet", *limits) == 1
    err = capsys.readouterr().err
    assert "tool_reachability 75.0% is below 90.0%" in err
    assert "extra_calls 0.25 is above 0.00" in err
    assert "over_call_rate was not evaluated" in err


def test_what_an_agent_prints_does_not_reach_stdout(project: Path) -> None:
    noisy = AGENT.replace('return "done"', 'print("NOISE"); return "done"')
    (project / "quarter_wrong_agent.py").write_text(noisy)
    command = [sys.executable, "-m", "agent_reach", "run", "--suite", "core-suite", "--quiet", "--json"]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["metrics"]["tool_reachability"]["value"] == 0.75
    assert "NOISE" in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("--report", "core.jsonl"),
        ("--html", "config.yaml"),
        ("--markdown", "./tools.json"),
        ("--junit", "quarter_wrong_agent.py"),
        ("--report", "link.json"),
        ("--report", "out.html", "--html", "./out.html"),
        ("--report", "."),
        ("--html", "core.jsonl/deep.html"),
    ],
)
def test_targets_that_would_cost_a_file_are_refused_before_the_run(
    project: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...]
) -> None:
    (project / "link.json").symlink_to("core.jsonl")
    before = {path.name: path.read_bytes() for path in project.iterdir() if path.is_file()}
    assert call("--suite", "core-suite", *arguments) == 2
    assert arguments[-1].removeprefix("./").split("/")[0] in capsys.readouterr().err
    assert {path.name: path.read_bytes() for path in project.iterdir() if path.is_file()} == before
    assert not (project / ".agent-reach").exists()


def test_the_baseline_of_confirm_is_no_target(project: Path) -> None:
    assert call("--suite", "core-suite", "--report", "base.json", "--quiet") == 0
    before = (project / "base.json").read_bytes()
    assert call("--suite", "core-suite", "--confirm", "base.json", "--report", "base.json", "--quiet") == 2
    assert (project / "base.json").read_bytes() == before


@pytest.mark.parametrize(("rate", "said"), [(0.214, "0.21"), (4.21, "4.2"), (213.7, "214"), (2137, "2,137")])
def test_rates_are_plain_numbers(rate: float, said: str) -> None:
    assert _number(rate) == said


def test_the_only_suite_needs_no_name_and_filters_select(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call("--task", "t[0-1]", "--json", "--quiet", "--repeats", "2") == 0
    report = json.loads(capsys.readouterr().out)
    assert report["metrics"]["tool_reachability"]["denominator"] == 4


def test_resume_goes_on(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call("--suite", "core-suite") == 0
    assert call("--suite", "core-suite", "--resume") == 0
    assert "8 already made" in capsys.readouterr().err


def test_confirm_against_a_baseline(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call("--suite", "core-suite", "--report", "baseline.json", "--repeats", "3", "--quiet") == 0
    assert call("--suite", "core-suite", "--confirm", "baseline.json", "--quiet") == 0
    (project / "quarter_wrong_agent.py").write_text("async def run(request):\n    return 'no'\n")
    command = [
        sys.executable,
        "-m",
        "agent_reach",
        "run",
        "--confirm",
        "baseline.json",
        "--confirm-budget",
        "60",
    ]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    assert call("--suite", "core-suite", "--confirm", "gone.json", "--quiet") == 2


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda project: (project / "core.jsonl").write_text(""), "no task"),
        (lambda project: (project / "core.jsonl").write_text('{"id": "a"'), "core.jsonl"),
        (lambda project: (project / "tools.json").unlink(), "tools.json"),
        (lambda project: (project / "config.yaml").unlink(), "config.yaml"),
        (lambda project: edit(project, "function:", "functoin:"), "did you mean"),
        (lambda project: edit(project, "quarter_wrong_agent:run", "quarter_wrong_agent:rnu"), "'run'"),
        (lambda project: edit(project, "type: python", "type: pyhton"), "python"),
        (lambda project: edit(project, "execution: recorded", "execution: python"), "execution.handlers"),
        (lambda project: edit(project, "execution: recorded", "exposure: [query_stok]"), "query_stock"),
    ],
)
def test_wrong_input_exits_with_2_and_writes_nothing(
    project: Path, capsys: pytest.CaptureFixture[str], change: Any, words: str
) -> None:
    change(project)
    assert call("--suite", "core-suite", "--report", "report.json") == 2
    printed = capsys.readouterr()
    assert words in printed.err
    assert "Traceback" not in printed.err
    assert not (project / "report.json").exists()


def edit(project: Path, before: str, after: str) -> None:
    path = project / "config.yaml"
    path.write_text(path.read_text().replace(before, after))


def test_an_agent_that_breaks_leaves_the_run_undecided(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "breaking_agent.py").write_text("async def run(request):\n    raise ValueError('no')\n")
    edit(project, "quarter_wrong_agent", "breaking_agent")
    assert call("--suite", "core-suite", "--report", "report.json") == 3
    assert json.loads((project / "report.json").read_text())["sufficient"] is False


def test_the_model_command_says_where_the_model_lies(tmp_path: Path) -> None:
    environment = {**os.environ, "HOME": str(tmp_path)}
    command = [sys.executable, "-m", "agent_reach", "model", "path", "--json"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert json.loads(done.stdout) == {"path": None}


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("stream", [io.StringIO(), Terminal()])
def test_progress_on_a_terminal_and_elsewhere(stream: io.StringIO) -> None:
    with Progress("en", stream) as progress:
        progress(RunStarted(run_id="r1", tasks=2, attempts=4, resumed=1))
        progress(WaitingForModel(seconds=7, reason="HTTP 429"))
        for index, passed in enumerate((True, False, None)):
            state: Any = "scored" if passed is not None else "infra_error"
            score = AttemptScore(index=index, passed=passed, state=state)
            progress(AttemptFinished(task_id="t", attempt=index, score=score))
        progress(RunFinished(run_id="r1", attempts=4))
    told = stream.getvalue()
    assert "run r1: 2 tasks, 4 attempts, 1 already made" in told
    assert "waiting 7 s for the model (HTTP 429)" in told
    assert "4/4" in told
    assert "1/2" in told
