"""Runs end to end: real files, real processes, kills, time limits, losses, secrets."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from agent_reach.config.settings import (
    AgentConfig,
    ExecutionConfig,
    ExposureConfig,
    FaultRule,
    HookConfig,
    RunConfig,
)
from agent_reach.errors import AgentReachError, InputError, ModelError, SuiteError
from agent_reach.evals.agents.base import AgentInfo, UnusableModelError
from agent_reach.evals.archive import Archive
from agent_reach.evals.runner import run
from agent_reach.records.events import AttemptFinished, Event, RunFinished, RunStarted
from agent_reach.records.report import Report
from agent_reach.records.trace import CallOutcome
from agent_reach.reports.json_report import read_report

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "query_stock",
            "description": "Query the stock of a product.",
            "parameters": {
                "type": "object",
                "properties": {"product_id": {"type": "string"}},
                "required": ["product_id"],
            },
        },
    },
    {
        "type": "function",
        "function": {
            "name": "send_note",
            "description": "Send a note.",
            "parameters": {"type": "object", "properties": {"text": {"type": "string"}}},
        },
    },
]


def tasks(count: int = 4) -> list[dict[str, Any]]:
    return [
        {
            "id": f"t{number}",
            "kind": "must",
            "query": f"how many of PDT-{1000 + number} are left in stock?",
            "path": [
                {
                    "tool": "query_stock",
                    "args": {"product_id": f"PDT-{1000 + number}"},
                    "result": {"quantity": number},
                }
            ],
        }
        for number in range(count)
    ]


class Scripted:
    """An agent made of a coroutine function, without a model."""

    def __init__(self, act: Any, deterministic: bool = False) -> None:
        self._act = act
        self.info = AgentInfo(name="scripted", deterministic=deterministic, placed_by="agent")
        self.closed = False

    async def run(self, session: Any) -> None:
        await self._act(session)

    async def aclose(self) -> None:
        self.closed = True


async def right(session: Any) -> None:
    product = session.query.split()[3]
    await session.call("query_stock", {"product_id": product})
    session.say("done")


def config(tmp_path: Path, **fields: Any) -> RunConfig:
    return RunConfig(folder=str(tmp_path), catalog=TOOLS, archive=str(tmp_path / "runs"), **fields)


def go(tmp_path: Path, act: Any = right, *, suite: Any = None, **more: Any) -> Report:
    fields = {
        name: more.pop(name)
        for name in list(more)
        if name in RunConfig.__dataclass_fields__ and name not in ("repeats", "concurrency", "agent")
    }
    return run(
        config(tmp_path, **fields),
        suite=suite or tasks(),
        agent=more.pop("agent", None) or Scripted(act),
        **more,
    )


def test_a_run_is_scored_written_and_found_again(tmp_path: Path) -> None:
    events: list[Event] = []
    place = tmp_path / "out" / "report.json"
    report = go(tmp_path, report=place, listeners=[events.append], repeats=2)
    assert report.metrics["tool_reachability"].value == 1.0
    assert report.sufficient
    assert [len(task.attempts) for task in report.tasks] == [2, 2, 2, 2]
    assert read_report(place).run.id == report.run.id
    archive = Archive(tmp_path / "runs")
    kept = archive.find(report.run.id)
    assert kept.state == "finished"
    assert archive.report_path(report.run.id[:18]).is_file()
    assert (archive.path(kept.id) / "snapshot.json").is_file()
    assert isinstance(events[0], RunStarted)
    assert isinstance(events[-1], RunFinished)
    assert sum(isinstance(event, AttemptFinished) for event in events) == 8
    trace = report.tasks[0].attempts[0].trace
    assert trace is not None
    assert trace.exposure.offered == ("query_stock", "send_note")
    with pytest.raises(InputError, match="no run has the id 'nope'"):
        archive.find("nope")
    go(tmp_path)
    with pytest.raises(InputError, match="runs begin with"):
        archive.find("20")


def test_attempts_run_side_by_side_within_the_bound(tmp_path: Path) -> None:
    running = 0
    most = 0

    async def act(session: Any) -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.01)
        running -= 1

    go(tmp_path, act, suite=tasks(9), concurrency=3)
    assert most == 3


def test_a_slow_agent_times_out_and_that_is_its_failure(tmp_path: Path) -> None:
    async def act(session: Any) -> None:
        await right(session)
        await asyncio.sleep(30)

    report = go(tmp_path, act, attempt_timeout=0.1)
    assert {attempt.state for task in report.tasks for attempt in task.attempts} == {"agent_timeout"}
    assert report.sufficient
    assert report.metrics["task_pass"].value == 0.0
    trace = report.tasks[0].attempts[0].trace
    assert trace is not None
    assert len(trace.calls) == 1


def test_waits_for_the_model_do_not_count_against_the_agent(tmp_path: Path) -> None:
    async def act(session: Any) -> None:
        session.excuse(5.0)
        await asyncio.sleep(0.2)
        await right(session)

    report = go(tmp_path, act, attempt_timeout=0.1)
    assert report.metrics["tool_reachability"].value == 1.0


def test_lost_attempts_are_listed_and_too_many_make_it_insufficient(tmp_path: Path) -> None:
    async def act(session: Any) -> None:
        if session.task.id == "t1":
            raise ModelError("the model is away", next_step="wait")
        await right(session)

    report = go(tmp_path, act)
    assert report.infra_errors == ("t1#0",)
    assert not report.sufficient
    assert report.metrics["tool_reachability"].denominator == 3
    assert "the model is away" in report.tasks[1].attempts[0].error
    mostly = go(tmp_path, act, suite=tasks(40))
    assert mostly.sufficient
    assert mostly.metrics["tool_reachability"].denominator == 39


def test_a_model_that_cannot_be_used_ends_the_run_at_once(tmp_path: Path) -> None:
    asked = 0

    async def act(session: Any) -> None:
        nonlocal asked
        asked += 1
        raise UnusableModelError("wrong key", next_step="check the key")

    place = tmp_path / "report.json"
    agent = Scripted(act)
    with pytest.raises(UnusableModelError, match="wrong key"):
        go(tmp_path, agent=agent, report=place, suite=tasks(30), concurrency=2)
    assert asked <= 2
    assert not place.exists()
    assert agent.closed


def test_resume_makes_only_what_is_missing(tmp_path: Path) -> None:
    made: list[str] = []
    broken = True

    async def act(session: Any) -> None:
        made.append(session.task.id)
        if broken and session.task.id == "t2":
            raise KeyboardInterrupt
        await right(session)

    with pytest.raises(KeyboardInterrupt):
        go(tmp_path, act, concurrency=1)
    broken = False
    events: list[Event] = []
    report = go(tmp_path, act, resume=True, listeners=[events.append])
    assert made == ["t0", "t1", "t2", "t2", "t3"]
    assert events[0].resumed == 2  # type: ignore[union-attr]
    assert report.metrics["tool_reachability"].denominator == 4
    again = go(tmp_path, act, resume=True)
    assert made[5:] == []
    assert again.run.id == report.run.id
    more = go(tmp_path, act, resume=True, repeats=2)
    assert made[5:] == ["t0", "t1", "t2", "t3"]
    assert more.run.id == report.run.id
    go(tmp_path, act, resume=True, suite=tasks(2))
    assert made[9:] == ["t0", "t1"], "another suite is another run"


def test_resume_tries_lost_attempts_again(tmp_path: Path) -> None:
    away = True

    async def act(session: Any) -> None:
        if away and session.task.id == "t0":
            raise ModelError("away")
        await right(session)

    assert not go(tmp_path, act).sufficient
    away = False
    report = go(tmp_path, act, resume=True)
    assert report.sufficient
    assert report.metrics["tool_reachability"].denominator == 4


@pytest.mark.parametrize("cut", [1, 40, 400])
def test_a_half_written_line_is_made_again(tmp_path: Path, cut: int) -> None:
    report = go(tmp_path)
    log = tmp_path / "runs" / report.run.id / "attempts.jsonl"
    log.write_bytes(log.read_bytes()[:-cut])
    made: list[str] = []

    async def act(session: Any) -> None:
        made.append(session.task.id)
        await right(session)

    again = go(tmp_path, act, resume=True)
    assert len(made) == 1
    assert again.metrics["tool_reachability"].denominator == 4
    assert len(log.read_text("utf-8").splitlines()) == 4


def test_a_broken_log_is_told(tmp_path: Path) -> None:
    report = go(tmp_path)
    log = tmp_path / "runs" / report.run.id / "attempts.jsonl"
    log.write_text("{broken}\n" + log.read_text("utf-8"), "utf-8")
    with pytest.raises(InputError, match=r"attempts\.jsonl:1"):
        go(tmp_path, resume=True)


AGENT = """
import asyncio, os
async def run(request):
    product = request.query.split()[3]
    with open(os.environ["STARTED"], "a") as file:
        file.write(product + "\\n")
    await asyncio.sleep(0.03)
    await request.call("query_stock", {"product_id": product})
    return "done"
"""


@pytest.mark.live
@pytest.mark.parametrize("seconds", [0.0, 0.15, 0.4])
def test_a_killed_process_loses_and_doubles_nothing(tmp_path: Path, seconds: float) -> None:
    (tmp_path / "tools.json").write_text(json.dumps(TOOLS))
    (tmp_path / "core.jsonl").write_text("\n".join(json.dumps(task) for task in tasks(96)))
    (tmp_path / "killed_agent.py").write_text(AGENT)
    (tmp_path / "config.yaml").write_text(
        "catalog: tools.json\nsuites: {core: core.jsonl}\nagent: {type: python, function: 'killed_agent:run'}\n"
        "execution: recorded\nconcurrency: 2\n"
    )
    started = tmp_path / "started.txt"
    command = [
        sys.executable,
        "-m",
        "agent_reach",
        "run",
        "--suite",
        "core",
        "--report",
        "report.json",
        "--resume",
    ]
    environment = {**os.environ, "STARTED": str(started)}
    process = subprocess.Popen(
        command, cwd=tmp_path, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    while not started.exists() and process.poll() is None:
        time.sleep(0.01)
    time.sleep(seconds)
    process.send_signal(signal.SIGKILL)
    process.wait()
    (folder,) = [path for path in (tmp_path / ".agent-reach" / "runs").iterdir() if path.is_dir()]
    finished = folder.joinpath("attempts.jsonl").read_bytes().count(b"\n")
    before = len(started.read_text().splitlines())
    assert finished < 96
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    report = read_report(tmp_path / "report.json")
    assert report.run.id == folder.name
    assert [len(task.attempts) for task in report.tasks] == [1] * 96
    assert report.metrics["tool_reachability"].value == 1.0
    assert len(started.read_text().splitlines()) - before == 96 - finished
    assert before - finished <= 2, "only attempts under way are made twice"


def test_secrets_never_reach_the_disk(tmp_path: Path) -> None:
    secret = "sk-proj-abcdefghijklmnop1234567890"

    async def act(session: Any) -> None:
        await session.call("send_note", {"text": f"key {secret}"})
        session.say(f"Authorization: Bearer {secret}", raw=f"api_key={secret}")
        if session.task.id == "t3":
            raise ModelError(f"refused {secret}")

    events: list[Event] = []
    suite = [{**task, "query": f"{task['query']} with {secret}"} for task in tasks()]
    go(tmp_path, act, suite=suite, report=tmp_path / "report.json", listeners=[events.append])
    for path in tmp_path.rglob("*"):
        if path.is_file():
            assert secret not in path.read_text("utf-8"), path.name
    assert "[redacted:" in (tmp_path / "report.json").read_text("utf-8")
    assert all(secret not in repr(event.score) for event in events if isinstance(event, AttemptFinished))


def test_faults_are_planted_and_stay_apart_from_decisions(tmp_path: Path) -> None:
    report = go(
        tmp_path, execution=ExecutionConfig(faults=(FaultRule(tool="query_stock", kind="rate_limited"),))
    )
    assert report.metrics["decision_success"].value == 1.0
    assert report.metrics["execution_success"].value == 0.0
    assert {cause.name for cause in report.causes} == {"rate_limited"}


HOOKS = """
import pathlib
LOG = pathlib.Path(__file__).with_name("hooks.log")
def _write(word, place):
    with LOG.open("a") as file:
        file.write(f"{word} {place.task_id} {place.attempt}\\n")
def begin(place): _write("begin", place)
def end(place): _write("end", place)
def broken(place): raise RuntimeError("no database")
"""


def test_setup_and_teardown_surround_every_attempt(tmp_path: Path) -> None:
    (tmp_path / "own_hooks.py").write_text(HOOKS)
    execution = ExecutionConfig(
        setup=HookConfig(function="own_hooks:begin"), teardown=HookConfig(function="own_hooks:end")
    )
    go(tmp_path, execution=execution, suite=tasks(2), concurrency=1)
    assert (tmp_path / "hooks.log").read_text().splitlines() == [
        "begin t0 0",
        "end t0 0",
        "begin t1 0",
        "end t1 0",
    ]
    lost = go(tmp_path, execution=ExecutionConfig(setup=HookConfig(function="own_hooks:broken")))
    assert len(lost.infra_errors) == 4
    kept = go(tmp_path, execution=ExecutionConfig(teardown=HookConfig(function="own_hooks:broken")))
    assert kept.metrics["tool_reachability"].value == 1.0
    assert "no database" in kept.tasks[0].attempts[0].error
    with_task = [{**tasks(1)[0], "environment": {"setup": "own_hooks:broken"}}]
    assert go(tmp_path, suite=with_task).infra_errors == ("t0#0",)


def test_python_handlers_run_only_what_reads(tmp_path: Path) -> None:
    module = tmp_path / "own_tools.py"
    module.write_text(
        "from agent_reach import tool\n"
        "@tool(effect='read')\ndef query_stock(product_id: str) -> dict:\n    return {'quantity': 7}\n"
        "@tool(effect='write')\ndef send_note(text: str) -> str:\n    raise AssertionError('never')\n"
    )

    async def act(session: Any) -> None:
        await right(session)
        await session.call("send_note", {"text": "x"})

    settings = RunConfig(
        folder=str(tmp_path),
        catalog=str(module),
        archive=str(tmp_path / "runs"),
        execution=ExecutionConfig(backend="python"),
    )
    report = run(settings, suite=tasks(1), agent=Scripted(act))
    trace = report.tasks[0].attempts[0].trace
    assert trace is not None
    assert [call.outcome.value for call in trace.calls if call.outcome] == [{"quantity": 7}, None]
    assert trace.calls[1].outcome is not None
    assert trace.calls[1].outcome.error_kind == "write_blocked"


def test_the_reach_layer_offers_and_normalises(tmp_path: Path) -> None:
    async def act(session: Any) -> None:
        assert session.tools
        await session.call("query_stock", {"productId": session.query.split()[3]})

    report = go(tmp_path, act, exposure=ExposureConfig(mode="reach", settings={"k": 1}))
    trace = report.tasks[0].attempts[0].trace
    assert trace is not None
    assert trace.exposure.mode == "reach"
    assert trace.exposure.hidden == {"send_note": "not_recalled"}
    assert trace.steps[0].candidates[0].tool == "query_stock"
    assert trace.calls[0].arguments == {"productId": "PDT-1000"}
    assert trace.calls[0].sent_arguments == {"product_id": "PDT-1000"}
    assert trace.calls[0].changes
    assert trace.calls[0].outcome is not None
    assert trace.calls[0].outcome.ok


def test_determinism_is_said_only_where_it_is_true(tmp_path: Path) -> None:
    assert not go(tmp_path).run.deterministic
    assert go(tmp_path, agent=Scripted(right, deterministic=True)).run.deterministic
    lexical = run(config(tmp_path, agent=AgentConfig(type="lexical")), suite=tasks())
    assert lexical.run.deterministic
    assert lexical.metrics["tool_reachability"].value == 1.0


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"suite": "no-such-suite"}, "no-such-suite"),
        ({"repeats": 0}, "repeats"),
        ({"concurrency": 0}, "concurrency"),
        ({"select": {"ids": ["t9"]}}, "t9"),
        ({"select": {"tags": ["none"]}}, "none"),
        ({"exposure": ExposureConfig(mode="names", tools=("gone",))}, "gone"),
    ],
)
def test_wrong_input_is_told_before_anything_runs(tmp_path: Path, change: dict[str, Any], words: str) -> None:
    async def act(session: Any) -> None:
        raise AssertionError("nothing may run")

    with pytest.raises(AgentReachError, match=words):
        go(tmp_path, act, report=tmp_path / "report.json", **change)
    assert not (tmp_path / "report.json").exists()


def test_a_report_that_cannot_be_written_is_told_first(tmp_path: Path) -> None:
    async def act(session: Any) -> None:
        raise AssertionError("nothing may run")

    with pytest.raises(InputError, match="folder"):
        go(tmp_path, act, report=tmp_path)


def test_confirm_repeats_only_what_moved(tmp_path: Path) -> None:
    from agent_reach.evals.runner_confirm import confirm_run
    from agent_reach.evals.runner_setup import RunOptions

    baseline = go(tmp_path, suite=tasks(12), repeats=3)
    made: list[str] = []

    async def flaky(session: Any) -> None:
        made.append(session.task.id)
        if session.task.id == "t5" and made.count("t5") == 1:
            await session.call("send_note", {"text": "x"})
            return
        await right(session)

    report, gate = confirm_run(
        config(tmp_path), baseline, suite=tasks(12), options=RunOptions(agent=Scripted(flaky)), budget=40
    )
    assert set(made[12:]) == {"t5"}
    assert 1 <= len(made[12:]) <= 40
    assert len(report.tasks[5].attempts) == 1 + len(made[12:])
    assert gate.verdict in ("pass", "suspect", "improved")

    async def wrong(session: Any) -> None:
        await session.call("send_note", {"text": "x"})

    _, gate = confirm_run(
        config(tmp_path), baseline, suite=tasks(12), options=RunOptions(agent=Scripted(wrong))
    )
    assert gate.verdict == "regression"
    assert gate.exit_code == 1


class Odd:
    """A backend whose results no file can hold."""

    async def call(self, tool: Any, arguments: Any, *, call_id: str = "", timeout: Any = None) -> CallOutcome:
        bad = arguments["product_id"] == "PDT-1001"
        return CallOutcome(status="ok", value={"quantity": float("nan") if bad else 1}, text="1")

    async def aclose(self) -> None:
        pass


def test_what_no_file_can_hold_loses_only_its_attempt(tmp_path: Path) -> None:
    report = go(tmp_path, backend=Odd())
    assert report.infra_errors == ("t1#0",)
    (lost,) = next(task for task in report.tasks if task.task_id == "t1").attempts
    assert "cannot be written" in lost.error
    assert report.metrics["tool_reachability"].denominator == 3
    again = go(tmp_path, backend=Odd(), resume=True)
    assert again.infra_errors == ("t1#0",), "the log is whole and is read again"


@pytest.mark.parametrize(
    ("raised", "said"),
    [
        (SystemExit(7), "the agent raised SystemExit: 7"),
        (asyncio.CancelledError("mine"), "the agent raised CancelledError: mine"),
        (KeyError("x"), "the agent raised KeyError: 'x'"),
    ],
)
def test_what_an_agent_raises_loses_only_its_attempt(
    tmp_path: Path, raised: BaseException, said: str
) -> None:
    async def act(session: Any) -> None:
        if "PDT-1002" in session.query:
            raise raised
        await right(session)

    report = go(tmp_path, act)
    assert report.infra_errors == ("t2#0",)
    (lost,) = next(task for task in report.tasks if task.task_id == "t2").attempts
    assert lost.error == said


def test_an_agent_that_ends_the_loop_from_the_background_is_told(tmp_path: Path) -> None:
    async def act(session: Any) -> None:
        async def leave() -> None:
            sys.exit(7)

        await asyncio.gather(leave(), asyncio.sleep(5))

    with pytest.raises(ModelError, match="ended the run: SystemExit: 7"):
        go(tmp_path, act)


def test_a_misspelt_matcher_is_refused_before_anything_is_run(tmp_path: Path) -> None:
    suite = tasks()
    suite[2]["path"][0]["args"] = {"product_id": {"$patern": "^PDT"}}
    with pytest.raises(SuiteError, match=r"did you mean '\$pattern'"):
        go(tmp_path, suite=suite)
    assert not (tmp_path / "runs").exists()
