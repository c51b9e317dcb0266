"""Tuning: what failures ask for is proposed, what helps both halves is kept, the rest is told with its harm."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_reach.catalog.catalog import Catalog
from agent_reach.cli.main import run_command_line
from agent_reach.config.settings import AgentConfig, ExposureConfig, RunConfig
from agent_reach.errors import InputError
from agent_reach.evals.agents.base import AgentInfo
from agent_reach.evals.runner_setup import RunOptions
from agent_reach.evals.statistics import ratio_interval
from agent_reach.evals.suite.load import Suite
from agent_reach.evals.trials.laboratory import LaboratoryOptions
from agent_reach.evals.tune.halves import split_halves
from agent_reach.evals.tune.proposals import merged
from agent_reach.evals.tune.tune import Gain, TuneOptions, TuneResult, agrees, tune, tune_cost
from agent_reach.evals.tune.wording import phrase, summary_line, trigger_phrases
from agent_reach.evals.tune.writing import pull_request_text, tune_document, tune_lines
from agent_reach.records.task import GoldenCall, GoldenPath, Task
from agent_reach.records.tool import Tool

DAYS = ["2031-04-05", "2030-01-02", "2029-11-30", "2032-06-07"]


def schema(**properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def tools() -> list[Tool]:
    day = {"type": "string"}
    level = {"type": "string", "enum": ["high", "low"]}
    return [
        Tool(
            name="plan_visit",
            description="Plan a visit.",
            input_schema=schema(day=day),
            effects=frozenset({"write"}),
        ),
        Tool(
            name="plan_trip",
            description="Plan a trip.",
            input_schema=schema(day=day),
            effects=frozenset({"write"}),
        ),
        Tool(
            name="raise_alarm",
            description="Raise an alarm.",
            input_schema=schema(level=level),
            effects=frozenset({"write"}),
        ),
        Tool(name="old_alarm", description="Raise an alarm (old).", input_schema=schema(level=level)),
    ]


def task(number: int, query: str, tool: str, **args: Any) -> Task:
    path = GoldenPath(stages=((GoldenCall(tool=tool, args=args, result="ok", has_result=True),),))
    return Task(id=f"t{number}", kind="must", query=query, language="en", paths=(path,))


def suite() -> Suite:
    tasks = [
        task(n, f"visit the plant on {day} number {n}", "plan_visit", day=day) for n, day in enumerate(DAYS)
    ]
    tasks += [task(10 + n, f"sound an urgent alarm {n}", "raise_alarm", level="high") for n in range(4)]
    tasks += [task(20 + n, f"travel on {day} as {n}", "plan_trip", day=day) for n, day in enumerate(DAYS)]
    return Suite.from_tasks(tasks, name="s")


Act = Callable[[Any], Iterator[tuple[str, dict[str, Any]]]]


class Scripted:
    """An agent that acts by a rule over what it is shown."""

    def __init__(
        self, act: Callable[[Any, dict[str, str]], tuple[str, dict[str, Any]]], noise: float = 0.0
    ) -> None:
        self._act = act
        self._noise = noise
        self._random = random.Random(5)
        self.attempts = 0

    @property
    def info(self) -> AgentInfo:
        return AgentInfo(name="scripted", deterministic=not self._noise, placed_by="agent")

    async def run(self, session: Any) -> None:
        self.attempts += 1
        shown = {item["function"]["name"]: json.dumps(item["function"]) for item in session.definitions}
        name, arguments = self._act(session, shown)
        if self._noise and self._random.random() < self._noise:
            name, arguments = "plan_trip", {"day": "?"}
        await session.call(name, arguments)

    async def aclose(self) -> None:
        """Nothing to give back."""


def right(session: Any) -> tuple[str, dict[str, Any]]:
    call = session.task.paths[0].calls[0]
    return call.tool, dict(call.args)


def needs_formats_and_aliases(session: Any, shown: dict[str, str]) -> tuple[str, dict[str, Any]]:
    """Writes days in another notation until told, and sends the user's word for a level until told."""
    name, arguments = right(session)
    if "day" in arguments and "YYYY-MM-DD" not in shown[name]:
        year, month, day = arguments["day"].split("-")
        return name, {"day": f"{day}/{month}/{year}"}
    if "level" in arguments and "urgent" not in shown[name]:
        return name, {"level": "urgent"}
    return name, arguments


def tuned(folder: Path, act: Any = needs_formats_and_aliases, **more: Any) -> tuple[TuneResult, Scripted]:
    agent = Scripted(act, more.pop("noise", 0.0))
    laboratory = {name: more.pop(name) for name in ("budget", "resume") if name in more}
    config = more.pop("config", RunConfig())
    options = RunOptions(
        catalog=more.pop("catalog", Catalog.from_tools(tools())),
        agent=agent,
        archive=folder / "runs",
        concurrency=1,
    )
    result = tune(
        config, suite=more.pop("tasks", suite()), options=TuneOptions(**more),
        laboratory=LaboratoryOptions(run=options, **laboratory),
    )  # fmt: skip
    return result, agent


def test_formats_and_aliases_are_found_kept_and_help_the_held_back_half(tmp_path: Path) -> None:
    result, agent = tuned(tmp_path, lint=False)
    assert {proposal.name for proposal in result.kept} == {
        "format of plan_visit.day", "format of plan_trip.day", "values of raise_alarm.level",
    }  # fmt: skip
    assert result.before == (0.0, 0.0)
    assert result.after == (1.0, 1.0)
    assert result.whole is not None
    assert result.whole.mean == 1.0
    hints = result.overlay["tools"]["raise_alarm"]["note"]["param_hints"]
    assert hints["level"]["values"] == {"high": ["urgent"]}
    assert result.spent == agent.attempts


def test_the_overlay_alone_brings_the_gain(tmp_path: Path) -> None:
    from agent_reach.evals.runner import run

    result, _ = tuned(tmp_path, lint=False)
    catalog = Catalog.from_tools(tools()).with_overlay(result.overlay)
    options = RunOptions(
        catalog=catalog, agent=Scripted(needs_formats_and_aliases), archive=tmp_path / "runs"
    )
    report = run(RunConfig(), suite=suite(), options=options)
    assert report.metrics["decision_success"].value == 1.0


def test_what_helps_only_the_tuning_half_is_not_kept(tmp_path: Path) -> None:
    """The words help the very tasks they were taken from, and no other."""

    def act(session: Any, shown: dict[str, str]) -> tuple[str, dict[str, Any]]:
        name, arguments = right(session)
        own = phrase(session.query) in shown[name].replace("\\u2026", "…")
        return (name, arguments) if own else ("old_alarm", {"level": "low"})

    tasks = Suite.from_tasks(
        [
            task(n, f"{word} the visit", "plan_visit", day="2031-04-05")
            for n, word in enumerate(("alpha", "beta", "gamma", "delta"))
        ]
    )
    result, _ = tuned(tmp_path, act, tasks=tasks, lint=False)
    triggers = next(item for item in result.tried if item.proposal.kind == "triggers")
    assert triggers.fate == "not_confirmed"
    assert triggers.tuning is not None
    assert triggers.tuning.mean > 0
    assert result.kept == ()


def test_where_no_held_back_task_asks_it_is_told_and_kept_only_on_wish(tmp_path: Path) -> None:
    tasks = Suite.from_tasks([*suite().tasks[:1], *suite().tasks[4:8]])
    result, _ = tuned(tmp_path, tasks=tasks, lint=False)
    lonely = next(item for item in result.tried if item.proposal.name == "format of plan_visit.day")
    tuning_ids = {item.id for item in split_halves(tasks.tasks)[0]}
    assert "t0" in tuning_ids
    assert lonely.fate == "unconfirmed"
    result, _ = tuned(tmp_path, tasks=tasks, lint=False, unconfirmed=True)
    assert "format of plan_visit.day" in {proposal.name for proposal in result.kept}


def test_changes_of_one_kind_are_tried_together_and_dropped_one_by_one(tmp_path: Path) -> None:
    """Formats help only when every tool has one; those of tools that get by without are dropped again."""

    def act(session: Any, shown: dict[str, str]) -> tuple[str, dict[str, Any]]:
        name, arguments = right(session)
        told = sum("YYYY-MM-DD" in shown[tool] for tool in ("plan_visit", "plan_trip"))
        if "day" in arguments and told < 2:
            return name, {"day": "5/4"}
        return name, arguments

    result, _ = tuned(tmp_path, act, lint=False)
    fates = {item.proposal.name: item.fate for item in result.tried}
    assert fates["format together"] == "kept"
    assert {proposal.name for proposal in result.kept} == {
        "format of plan_visit.day",
        "format of plan_trip.day",
    }
    assert result.whole is not None
    assert result.whole.mean > 0

    def eased(session: Any, shown: dict[str, str]) -> tuple[str, dict[str, Any]]:
        name, arguments = right(session)
        if "day" in arguments and "YYYY-MM-DD" not in shown["plan_visit"]:
            return name, {"day": "5/4"}
        return name, arguments

    result, _ = tuned(tmp_path / "eased", eased, lint=False)
    fates = {item.proposal.name: item.fate for item in result.tried}
    assert fates["format together"] == "kept"
    assert fates["format of plan_trip.day"] == "removed"
    assert [proposal.name for proposal in result.kept] == ["format of plan_visit.day"]


def test_a_bundle_that_harms_falls_to_its_pieces(tmp_path: Path) -> None:
    """The format of one tool helps, that of the other spoils half of its tasks: only the first is kept."""

    def act(session: Any, shown: dict[str, str]) -> tuple[str, dict[str, Any]]:
        name, arguments = right(session)
        told = "YYYY-MM-DD" in shown[name] if name != "raise_alarm" else True
        number = int(session.task.id[1:])
        if name == "plan_visit" and not told:
            return name, {"day": "5/4"}
        if name == "plan_trip":
            return (name, arguments) if told == (number in helped) else (name, {"day": "5/4"})
        return name, arguments

    tuning, held_back = split_halves(suite().tasks)
    trips = [int(item.id[1:]) for item in tuning if item.paths[0].calls[0].tool == "plan_trip"]
    helped = set(trips)
    assert any(item.paths[0].calls[0].tool == "plan_trip" for item in held_back)
    result, _ = tuned(tmp_path, act, lint=False)
    fates = {item.proposal.name: item.fate for item in result.tried}
    assert fates["format together"] in ("by_chance", "not_confirmed")
    assert fates["format of plan_visit.day"] == "kept"
    assert fates["format of plan_trip.day"] in ("by_chance", "not_confirmed")
    assert [proposal.name for proposal in result.kept] == ["format of plan_visit.day"]


@pytest.mark.parametrize(
    ("better", "worse", "agreed"),
    [(1, 0, True), (6, 4, False), (0, 1, False), (0, 0, False), (14, 1, True), (2, 1, False)],
)
def test_a_gain_with_harm_must_be_beyond_chance(better: int, worse: int, agreed: bool) -> None:
    changes = [1.0] * better + [-1.0] * worse + [0.0] * 40
    interval = ratio_interval(changes, [1.0] * len(changes), is_share=False)
    names = tuple(f"t{number}" for number in range(len(changes)))
    gain = Gain(
        tasks=len(changes),
        mean=sum(changes) / len(changes),
        interval=interval,
        better=names[:better],
        worse=names[better : better + worse],
    )
    assert agrees(gain) is agreed


def test_harm_elsewhere_is_seen_and_refused(tmp_path: Path) -> None:
    """A note on one tool draws the requests of the other to it."""

    def act(session: Any, shown: dict[str, str]) -> tuple[str, dict[str, Any]]:
        name, arguments = right(session)
        if "day" in arguments and "YYYY" not in shown["plan_visit"]:
            return (name, arguments) if name == "plan_trip" else (name, {"day": "5/4"})
        return ("plan_visit", arguments) if "day" in arguments else (name, arguments)

    tasks = Suite.from_tasks([item for item in suite().tasks if item.id != "t0"])
    result, _ = tuned(tmp_path, act, tasks=tasks, lint=False)
    harmful = next(item for item in result.tried if item.proposal.name == "format of plan_visit.day")
    assert harmful.tuning is not None
    assert harmful.tuning.worse
    assert harmful.fate != "kept"


def test_a_tool_that_nobody_needs_and_that_misleads_is_hidden(tmp_path: Path) -> None:
    def act(session: Any, shown: dict[str, str]) -> tuple[str, dict[str, Any]]:
        name, arguments = right(session)
        return (
            ("old_alarm", {"level": "high"})
            if name == "raise_alarm" and "old_alarm" in shown
            else (name, arguments)
        )

    result, _ = tuned(tmp_path, act, lint=False)
    assert [proposal.hide for proposal in result.kept] == [("old_alarm",)]
    assert result.tokens[1] < result.tokens[0]
    assert result.kept[0].kind == "merged"


def test_hiding_works_on_a_list_of_patterns_too(tmp_path: Path) -> None:
    def act(session: Any, shown: dict[str, str]) -> tuple[str, dict[str, Any]]:
        name, arguments = right(session)
        return (
            ("old_alarm", {"level": "high"})
            if name == "raise_alarm" and "old_alarm" in shown
            else (name, arguments)
        )

    config = RunConfig(exposure=ExposureConfig(mode="names", tools=("*_alarm", "plan_*")))
    result, _ = tuned(tmp_path, act, lint=False, config=config)
    assert [proposal.hide for proposal in result.kept] == [("old_alarm",)]


def test_any_agent_can_word_lines() -> None:
    import asyncio

    from agent_reach.evals.tune.writer import agent_writer

    class Talker(Scripted):
        async def run(self, session: Any) -> None:
            assert session.tools == ()
            session.say(f"heard: {session.messages()[-1]['content']}")

    writer = agent_writer(Talker(needs_formats_and_aliases), Catalog.from_tools(tools()))
    assert asyncio.run(writer("say something")) == "heard: say something"


def test_more_candidates_are_proposed_where_recall_misses(tmp_path: Path) -> None:
    config = RunConfig(exposure=ExposureConfig(mode="reach", settings={"k": 1}))

    def act(session: Any, shown: dict[str, str]) -> tuple[str, dict[str, Any]]:
        name, arguments = right(session)
        return (name, arguments) if name in shown else ("nothing", {})

    tasks = Suite.from_tasks(
        [
            task(n, f"visit trip plan {n}", ("plan_visit", "plan_trip")[n % 2], day="2031-04-05")
            for n in range(8)
        ]
    )
    result, _ = tuned(tmp_path, act, config=config, tasks=tasks, lint=False)
    kept = {proposal.kind for proposal in result.kept}
    assert kept & {"candidates", "triggers", "summary"}
    assert any(item.proposal.kind == "candidates" for item in result.tried)


def test_removal_drops_what_a_later_change_made_needless(tmp_path: Path) -> None:
    """The format of one parameter helps half of the way; hiding a tool helps all of it, and then the format is needless."""

    def act(session: Any, shown: dict[str, str]) -> tuple[str, dict[str, Any]]:
        name, arguments = right(session)
        number = int(session.task.id[1:])
        if name != "plan_visit" or "plan_trip" not in shown:
            return name, arguments
        if "YYYY" in shown["plan_visit"] and number % 4 < 2:
            return name, arguments
        return (name, {"day": "5/4"}) if number % 4 < 2 else ("plan_trip", arguments)

    tasks = Suite.from_tasks(
        [task(n, f"visit the plant {n}", "plan_visit", day="2031-04-05") for n in range(16)]
    )
    result, _ = tuned(tmp_path, act, tasks=tasks, lint=False)
    fates = {item.proposal.name: item.fate for item in result.tried}
    assert fates["hide plan_trip"] == "kept"
    assert fates["format of plan_visit.day"] in ("removed", "no_gain")
    assert [proposal.name for proposal in result.kept] == ["hide plan_trip"]


def test_attempts_are_bounded_counted_and_resumed(tmp_path: Path) -> None:
    options = RunOptions(
        catalog=Catalog.from_tools(tools()),
        agent=Scripted(needs_formats_and_aliases, 0.0001),
        archive=tmp_path / "runs",
    )
    cost = tune_cost(
        RunConfig(), suite=suite(), options=TuneOptions(repeats=2), laboratory=LaboratoryOptions(run=options)
    )
    assert cost.baseline == 24
    first, agent = tuned(tmp_path, lint=False, repeats=2, noise=0.0001, budget=40)
    assert first.ended_early
    assert agent.attempts <= 40
    second, again = tuned(tmp_path, lint=False, repeats=2, noise=0.0001, resume=True)
    assert not second.ended_early
    assert first.log == second.log
    assert agent.attempts + again.attempts <= cost.most
    assert len(second.kept) == 3


def test_where_the_budget_ends_what_was_kept_is_still_compared(tmp_path: Path) -> None:
    tasks = Suite.from_tasks(suite().tasks[:10])
    result, _ = tuned(tmp_path, tasks=tasks, lint=False, budget=24)
    fates = {item.proposal.name: item.fate for item in result.tried}
    assert result.ended_early
    assert result.spent <= 24
    assert fates["format together"] == "kept"
    assert fates["values of raise_alarm.level"] == "not_tried"
    assert (result.before, result.after) == ((0.0, 0.0), (0.6, 0.6))
    assert result.whole is not None
    assert result.whole.mean == pytest.approx(0.6)


def test_a_budget_below_the_baseline_is_refused_before_anything_is_spent(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not reach the baseline of 12") as caught:
        tuned(tmp_path, lint=False, budget=3)
    assert "at least 12" in caught.value.next_step


def test_a_pull_request_says_what_was_not_tried(tmp_path: Path) -> None:
    result, _ = tuned(tmp_path, tasks=Suite.from_tasks(suite().tasks[:10]), lint=False, budget=24)
    waiting = sum(item.fate == "not_tried" for item in result.tried)
    assert waiting
    assert f"{waiting} more proposals were not tried" in pull_request_text(result, "en")
    assert "scripted, suite" in pull_request_text(result, "en")


def test_the_last_comparison_uses_fresh_attempts(tmp_path: Path) -> None:
    result, agent = tuned(tmp_path, lint=False, noise=0.0001, repeats=1)
    exact, sure = tuned(tmp_path, lint=False, repeats=1)
    assert agent.attempts == sure.attempts + 2 * result.held_back_tasks
    assert exact.kept == result.kept


def test_a_model_words_lines_within_the_rules(tmp_path: Path) -> None:
    asked: list[str] = []

    async def writer(prompt: str) -> str:
        asked.append(prompt)
        return (
            "Plan a visit; use it when somebody wants to see the plant."
            if "plan_visit" in prompt
            else "x, " * 60
        )

    def act(session: Any, shown: dict[str, str]) -> tuple[str, dict[str, Any]]:
        name, arguments = right(session)
        return (
            (name, arguments)
            if name != "plan_visit" or "wants to see" in shown[name]
            else ("old_alarm", {"level": "low"})
        )

    options = RunOptions(catalog=Catalog.from_tools(tools()), agent=Scripted(act), archive=tmp_path / "runs")
    result = tune(
        RunConfig(),
        suite=suite(),
        options=TuneOptions(lint=False),
        laboratory=LaboratoryOptions(run=options),
        writer=writer,
    )
    assert asked
    assert [proposal.name for proposal in result.kept] == ["first line of plan_visit (worded)"]
    assert "x, x" not in json.dumps(tune_document(result))


def test_a_recorded_agent_is_refused(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text('{"trace_id": "x", "task_id": "t0"}\n')
    config = replace(RunConfig(), agent=AgentConfig(type="recorded", traces=str(tmp_path / "t.jsonl")))
    options = LaboratoryOptions(
        run=RunOptions(catalog=Catalog.from_tools(tools()), archive=tmp_path / "runs")
    )
    with pytest.raises(InputError, match="cannot be run again"):
        tune(config, suite=suite(), laboratory=options)


def test_texts_name_every_proposal(tmp_path: Path) -> None:
    result, _ = tuned(tmp_path)
    for language in ("en", "zh"):
        markdown = pull_request_text(result, language)  # type: ignore[arg-type]
        lines = "\n".join(tune_lines(result, language))  # type: ignore[arg-type]
        for item in result.tried:
            assert item.proposal.name in lines
        for proposal in result.kept:
            assert proposal.name in markdown
    json.dumps(tune_document(result), allow_nan=False)


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 5)), max_size=30), st.integers(0, 3))
def test_halves_are_balanced_and_stable(rows: list[tuple[str, int]], seed: int) -> None:
    tasks = [task(n, f"{tool} {query} {n if query else ''}", tool) for n, (tool, query) in enumerate(rows)]
    first, second = split_halves(tasks, seed)
    assert {item.id for item in first} | {item.id for item in second} == {item.id for item in tasks}
    assert not {item.id for item in first} & {item.id for item in second}
    assert not {item.query for item in first} & {item.query for item in second}
    assert split_halves(list(reversed(tasks)), seed) == (
        tuple(reversed(first)),
        tuple(reversed(second)),
    ) or len({item.query for item in tasks}) < len(tasks)


@given(st.text(max_size=200))
def test_phrases_carry_no_values(request: str) -> None:
    assert len(phrase(request)) <= 61
    assert not any(len(found) > 61 for found in trigger_phrases([request]))


@pytest.mark.parametrize(
    ("request_text", "wanted"),
    [
        ("上海仓的 PDT-1001 补到 50 件", "上海仓的 … 补到 … 件"),
        ("Set PDT-1001 to 50 pieces from 2031-04-05!", "Set … to … pieces from …"),
        ('Mail "hello" to a@b.example', "Mail … to …"),
    ],
)
def test_phrases_of_real_requests(request_text: str, wanted: str) -> None:
    assert phrase(request_text) == wanted


def test_first_lines_stay_within_the_lint_rules() -> None:
    tool = tools()[0]
    assert (
        summary_line(tool, ["plant", "factory"], "en")
        == "Plan a visit. Use when the user mentions plant, factory."
    )
    assert summary_line(tool, ["plan"], "en") == ""
    long = replace(tool, description="word " * 60)
    assert summary_line(long, ["plant"], "en") == ""


@given(
    st.recursive(
        st.integers() | st.text(max_size=3),
        lambda inner: st.dictionaries(st.text(max_size=2), inner, max_size=3) | st.lists(inner, max_size=3),
    )
)
def test_merging_is_idempotent_and_changes_nothing_given(value: Any) -> None:
    document = {"tools": value} if not isinstance(value, dict) else value
    before = json.dumps(document, sort_keys=True)
    once = merged([document])
    assert merged([once, once]) == once or "[" in before
    assert json.dumps(document, sort_keys=True) == before


def test_the_command_writes_a_new_overlay_and_never_a_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [
        {"name": tool.name, "description": tool.description, "inputSchema": dict(tool.input_schema)}
        for tool in tools()
    ]
    (tmp_path / "tools.json").write_text(json.dumps({"tools": rows}))
    tasks = [
        {
            "id": f"t{n}",
            "kind": "must",
            "query": f"visit on {day} as {n}",
            "path": [{"tool": "plan_visit", "args": {"day": day}, "result": "ok"}],
        }
        for n, day in enumerate(DAYS)
    ]
    (tmp_path / "suite.json").write_text(json.dumps(tasks))
    (tmp_path / "overlay.yaml").write_text("tools:\n  plan_trip: {effect: write}\n")
    (tmp_path / "agent_of_days.py").write_text(
        "import json, re\n\nasync def run(request):\n    day = re.search(r'\\d{4}-\\d\\d-\\d\\d', request.query).group()\n"
        "    told = 'YYYY' in json.dumps(request.definitions)\n"
        "    await request.call('plan_visit', {'day': day if told else day.replace('-', '/')})\n\nrun.deterministic = True\n"
    )
    (tmp_path / "config.yaml").write_text(
        "catalog: tools.json\noverlay: overlay.yaml\nsuites: {s: suite.json}\n"
        "agent: {type: python, function: 'agent_of_days.py:run'}\n"
    )
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    assert run_command_line(["tune", "--quiet", "--dry-run"]) == 0
    assert "4 attempts for the baseline" in capsys.readouterr().out
    assert run_command_line(["tune", "--quiet", "--output", "overlay.yaml", "--force"]) == 2
    assert run_command_line(["tune", "--quiet", "--output", "new.yaml", "--markdown", "pr.md"]) == 0
    capsys.readouterr()
    assert {name: (tmp_path / name).read_bytes() for name in before} == before
    assert "plan_trip" in (tmp_path / "new.yaml").read_text()
    assert "YYYY-MM-DD" in (tmp_path / "new.yaml").read_text()
    assert "format of plan_visit.day" in (tmp_path / "pr.md").read_text()
    assert run_command_line(["tune", "--quiet", "--output", "new.yaml"]) == 2
    (tmp_path / "config.yaml").write_text(
        (tmp_path / "config.yaml").read_text().replace("overlay.yaml", "new.yaml")
    )
    assert run_command_line(["run", "--suite", "s", "--quiet", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["metrics"]["decision_success"]["value"] == 1
