"""Sweeps: nested lists, shared attempts, curves that show a planted limit, capacity, pictures, prediction."""

from __future__ import annotations

import csv
import io
import json
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_reach.catalog.catalog import Catalog
from agent_reach.config.settings import AgentConfig, RunConfig
from agent_reach.errors import InputError
from agent_reach.evals.agents.base import AgentInfo
from agent_reach.evals.runner import run
from agent_reach.evals.runner_setup import RunOptions
from agent_reach.evals.suite.load import Suite
from agent_reach.evals.sweep.drawing import draw
from agent_reach.evals.sweep.filler import filler_text
from agent_reach.evals.sweep.page import render_page
from agent_reach.evals.sweep.points import SweepOptions, ToolList
from agent_reach.evals.sweep.predict import predict
from agent_reach.evals.sweep.sweep import SweepResult, sweep, sweep_cost
from agent_reach.evals.sweep.writing import sweep_csv, sweep_document, sweep_lines
from agent_reach.evals.trials.laboratory import LaboratoryOptions
from agent_reach.records.task import GoldenCall, GoldenPath, Task
from agent_reach.records.tool import Tool
from agent_reach.text.counting import count_tokens

NOUNS = [
    "invoice",
    "order",
    "ticket",
    "shipment",
    "coupon",
    "supplier",
    "refund",
    "parcel",
    "badge",
    "ledger",
]
VERBS = ["open", "close", "archive", "print", "approve", "reject"]


def catalog() -> Catalog:
    """Sixty tools: ten things, six deeds."""
    return Catalog.from_tools(
        Tool(
            name=f"{verb}_{noun}",
            description=f"{verb.title()} one {noun}.",
            input_schema={"type": "object", "properties": {"code": {"type": "string"}}, "required": ["code"]},
            effects=frozenset({"read"}),
        )
        for noun in NOUNS
        for verb in VERBS
    )


def suite(count: int = 10) -> Suite:
    tasks = []
    for number in range(count):
        name = f"{VERBS[number % 6]}_{NOUNS[number % 10]}"
        path = GoldenPath(
            stages=((GoldenCall(tool=name, args={"code": "A-1"}, result="ok", has_result=True),),)
        )
        tasks.append(Task(id=f"t{number}", kind="must", query=f"{name} A-1", language="en", paths=(path,)))
    return Suite.from_tasks(tasks, name="s")


Decide = Callable[[Any, str], str]


class Chooser:
    """Calls the tool that a rule names; `right` is what the request asks for."""

    def __init__(self, decide: Decide, *, exact: bool = True) -> None:
        self._decide = decide
        self._exact = exact
        self.attempts = 0

    @property
    def info(self) -> AgentInfo:
        return AgentInfo(name="chooser", deterministic=self._exact, placed_by="agent")

    async def run(self, session: Any) -> None:
        self.attempts += 1
        await session.call(self._decide(session, session.query.split()[0]), {"code": "A-1"})

    async def aclose(self) -> None:
        """Nothing to give back."""


def swept(
    folder: Path, decide: Decide, options: SweepOptions, *, tasks: Suite | None = None, **more: Any
) -> tuple[SweepResult, Chooser]:
    agent = Chooser(decide, exact=more.pop("exact", True))
    run_options = RunOptions(catalog=catalog(), agent=agent, archive=folder / "runs", concurrency=1)
    laboratory = LaboratoryOptions(run=run_options, **more)
    return sweep(RunConfig(), options, suite=tasks or suite(), laboratory=laboratory), agent


def other_tool(session: Any, right: str) -> str:
    return next(tool.name for tool in session.tools if tool.name != right)


def up_to(limit: int) -> Decide:
    return lambda session, right: right if len(session.tools) <= limit else other_tool(session, right)


def test_the_curve_shows_the_planted_limit_and_the_capacity(tmp_path: Path) -> None:
    result, _ = swept(tmp_path, up_to(30), SweepOptions(tools=(50, 10, 20, 40), target=0.9))
    assert [(point.value, point.metrics["tool_reachability"].value) for point in result.points] == [
        (10, 1.0), (20, 1.0), (40, 0.0), (50, 0.0),
    ]  # fmt: skip
    assert [point.tools for point in result.points] == [10, 20, 40, 50]
    assert result.capacities[0].value == 20
    assert result.capacities[0].sure is None


def test_no_capacity_where_the_smallest_count_is_below_and_no_jump_over_a_gap(tmp_path: Path) -> None:
    rule: Decide = lambda s, right: right if len(s.tools) != 20 else other_tool(s, right)  # noqa: E731
    result, _ = swept(tmp_path, rule, SweepOptions(tools=(10, 20, 40)))
    assert result.capacities[0].value == 10
    result, _ = swept(tmp_path, rule, SweepOptions(tools=(20, 40)))
    assert result.capacities[0].value is None


def test_reach_beside_all_is_offered_fewer_tools(tmp_path: Path) -> None:
    result, _ = swept(tmp_path, up_to(12), SweepOptions(tools=(10, 60), exposure=("all", "reach")))
    by = {(point.value, point.exposure): point for point in result.points}
    assert by[60, "all"].metrics["tool_reachability"].value == 0
    assert by[60, "reach"].metrics["tool_reachability"].value == 1
    assert by[60, "reach"].tools < 12 < by[60, "all"].tools
    assert {item.exposure: item.value for item in result.capacities} == {"all": 10, "reach": 60}


def test_the_right_tool_moves_through_the_list(tmp_path: Path) -> None:
    def rule(s, right):
        return right if [t.name for t in s.tools].index(right) < 10 else other_tool(s, right)

    result, _ = swept(tmp_path, rule, SweepOptions(position=(0, 0.5, 1), at_tools=40))
    assert [point.metrics["tool_reachability"].value for point in result.points] == [1, 0, 0]
    assert {point.tools for point in result.points} == {40}


def test_passages_and_tokens_load_the_context(tmp_path: Path) -> None:
    def passages(session: Any, right: str) -> str:
        count = sum(block.kind == "retrieval" for block in session.context)
        return right if count <= 5 else other_tool(session, right)

    result, _ = swept(tmp_path, passages, SweepOptions(passages=(0, 2, 5, 10)))
    assert [point.metrics["tool_reachability"].value for point in result.points] == [1, 1, 1, 0]

    def tokens(session: Any, right: str) -> str:
        weight = sum(count_tokens(str(message["content"])) for message in session.messages())
        return right if weight < 1500 else other_tool(session, right)

    result, _ = swept(tmp_path, tokens, SweepOptions(tokens=(0, 1000, 4000)))
    assert [point.metrics["tool_reachability"].value for point in result.points] == [1, 1, 0]


def test_equal_attempts_are_shared_and_counted_before(tmp_path: Path) -> None:
    options = SweepOptions(tools=(60,), position=(0.25,), passages=(0,), tokens=(0,))
    agent = Chooser(up_to(30))
    run_options = RunOptions(catalog=catalog(), agent=agent, archive=tmp_path / "runs")
    cost = sweep_cost(RunConfig(), options, suite=suite(), laboratory=LaboratoryOptions(run=run_options))
    assert agent.attempts == 0
    assert cost.asked == 40
    assert cost.needed == 20
    result, agent = swept(tmp_path, up_to(30), options)
    assert agent.attempts == result.spent == 20


def test_a_budget_ends_a_sweep_and_resume_makes_the_rest(tmp_path: Path) -> None:
    options = SweepOptions(tools=(10, 20, 40), repeats=2)
    first, _ = swept(tmp_path, up_to(30), options, exact=False, budget=45)
    assert first.ended_early
    assert first.spent <= 45
    assert len(first.points) == 2
    second, agent = swept(tmp_path, up_to(30), options, exact=False, resume=True)
    assert not second.ended_early
    assert agent.attempts == 60 - first.spent
    assert second.points[:2] == first.points


def test_near_distractors_are_the_most_alike() -> None:
    task = suite().tasks[0]
    near = ToolList(catalog(), catalog(), task, SweepOptions(distractors="near"))
    listed = near.first(6)
    assert "open_invoice" in listed
    assert sum(name.endswith("_invoice") or name.startswith("open_") for name in listed) == 6


def test_another_catalog_joins_behind_the_own_tools(tmp_path: Path) -> None:
    other = Catalog.from_tools(
        Tool(name=f"foreign_{n}", server="far", description="Foreign.") for n in range(40)
    )
    result, _ = swept(tmp_path, up_to(30), SweepOptions(tools=(60, 100), other=other))
    assert [point.tools for point in result.points] == [60, 100]
    tools = ToolList(
        Catalog.from_tools([*catalog().tools, *other.tools]),
        catalog(),
        suite().tasks[0],
        SweepOptions(other=other),
    )
    assert all(not key.startswith("far/") for key in tools.first(60))


@given(st.integers(2, 60), st.integers(2, 60), st.integers(0, 9), st.integers(0, 5))
def test_lists_are_nested_and_hold_the_right_tool(first: int, second: int, number: int, seed: int) -> None:
    task = suite().tasks[number]
    tools = ToolList(CATALOG, CATALOG, task, SweepOptions(seed=seed))
    small, large = sorted((first, second))
    assert set(tools.first(small)) <= set(tools.first(large))
    assert len(set(tools.first(small))) == small
    assert task.paths[0].calls[0].tool in tools.first(small)


CATALOG = catalog()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (SweepOptions(), "nothing is swept"),
        (SweepOptions(tools=(61,)), "there are 60"),
        (SweepOptions(tools=(0,)), "at least one"),
        (SweepOptions(position=(1.5,)), "share of the list"),
        (SweepOptions(tokens=(1_000_000_000,)), "tokens of load"),
        (SweepOptions(passages=(1_000_000,)), "passages are asked for"),
    ],
)
def test_what_cannot_be_swept_is_refused(tmp_path: Path, options: SweepOptions, words: str) -> None:
    with pytest.raises(InputError, match=words):
        swept(tmp_path, up_to(30), options)


def test_a_recorded_agent_cannot_be_swept(tmp_path: Path) -> None:
    trace = tmp_path / "t.jsonl"
    trace.write_text('{"trace_id": "x", "task_id": "t0"}\n')
    config = replace(RunConfig(), agent=AgentConfig(type="recorded", traces=str(trace)))
    options = LaboratoryOptions(run=RunOptions(catalog=catalog(), archive=tmp_path / "runs"))
    with pytest.raises(InputError, match="cannot be run again"):
        sweep(config, SweepOptions(tools=(10,)), suite=suite(), laboratory=options)


def test_every_form_of_output_holds_every_point(tmp_path: Path) -> None:
    result, _ = swept(
        tmp_path, up_to(30), SweepOptions(tools=(10, 40), position=(0, 1), exposure=("all", "reach"))
    )
    rows = list(csv.DictReader(io.StringIO(sweep_csv(result))))
    assert [(row["axis"], float(row["value"]), row["exposure"]) for row in rows] == [
        (point.axis, point.value, point.exposure) for point in result.points
    ]
    assert float(rows[0]["tool_reachability"]) == 1
    document = json.loads(json.dumps(sweep_document(result)))
    assert len(document["points"]) == len(result.points)
    for language in ("en", "zh"):
        picture = draw(result, language)  # type: ignore[arg-type]
        root = ElementTree.fromstring(picture)
        circles = [item for item in root.iter() if item.tag.endswith("circle")]
        assert len(circles) == len(result.points)
        page = render_page(result, language)  # type: ignore[arg-type]
        assert page.count("<tr>") == len(result.points) + 1
        assert "http://" not in page.replace("http://www.w3.org", "")
        assert sweep_lines(result, language)  # type: ignore[arg-type]


@given(st.integers(0, 3000), st.integers(0, 3000), st.sampled_from(["en", "zh"]))
def test_filler_is_nested_and_weighs_what_was_asked(first: int, second: int, language: str) -> None:
    small, large = sorted((first, second))
    assert filler_text(large, language, "x").startswith(filler_text(small, language, "x"))
    assert count_tokens(filler_text(large, language, "x")) >= large * 0.9


# --- prediction


def overlapping(session: Any, right: str) -> str:
    """Takes the tool whose words the request holds most of; of equals the last one."""
    asked = set(session.query.lower().split())
    scores = {
        tool.name: len(
            asked & set(f"{tool.name.replace('_', ' ')} {tool.description.lower().rstrip('.')}".split())
        )
        for tool in session.tools
    }
    return max(scores, key=lambda name: (scores[name], list(scores).index(name)))


def vague_suite() -> Suite:
    """Requests that hold two, one or none of the words of the right tool."""
    tasks = []
    for number in range(60):
        verb, noun = VERBS[number % 6], NOUNS[(number * 7) % 10]
        words = (
            f"{verb} {noun}",
            f"have the {noun} {verb}",
            f"something with a {noun} of mine",
            "do it now",
        )[number % 4]
        path = GoldenPath(
            stages=((GoldenCall(tool=f"{verb}_{noun}", args={"code": "A-1"}, result="ok", has_result=True),),)
        )
        query = f"{words} number {number} urgently void"
        tasks.append(Task(id=f"v{number}", kind="must", query=query, language="en", paths=(path,)))
    return Suite.from_tasks(tasks, name="vague")


def lost_decisions(tools: Catalog, folder: Path) -> tuple[Any, int]:
    options = RunOptions(catalog=tools, agent=Chooser(overlapping), archive=folder / "runs")
    report = run(RunConfig(), suite=vague_suite(), options=options)
    metric = report.metrics["tool_reachability"]
    return report, int(metric.denominator - metric.numerator)


def test_prediction_counts_pairs_tokens_and_confusions(tmp_path: Path) -> None:
    """Tools that hold more of the requests' words than the right ones are predicted to take decisions, and do."""
    report, before = lost_decisions(catalog(), tmp_path)
    alike = Catalog.from_tools(
        replace(
            tool, name=tool.name.replace("open", "void"), description=f"{tool.description} Void urgently."
        )
        for tool in catalog().tools
        if tool.name.startswith("open")
    )
    far = Catalog.from_tools(
        Tool(name=f"zz_{letter * 3}", server="far", description="Plays melodies.")
        for letter in "abcdefghijkl"
    )
    near_found, far_found = predict(catalog(), alike, report), predict(catalog(), far, report)
    assert near_found.tools == (60, 70)
    assert near_found.tokens[1] > near_found.tokens[0]
    assert near_found.pairs
    assert all(pair.left.startswith("far/") and pair.right.startswith("far/") for pair in far_found.pairs)
    _, after = lost_decisions(Catalog.from_tools([*catalog().tools, *alike.tools]), tmp_path / "more")
    _, unmoved = lost_decisions(Catalog.from_tools([*catalog().tools, *far.tools]), tmp_path / "far")
    assert after - before >= 10
    assert near_found.confusions == pytest.approx(after - before, abs=8)
    assert far_found.confusions == pytest.approx(unmoved - before, abs=3)
    assert near_found.check is not None
    assert near_found.check.seen == before
    assert near_found.check.expected == pytest.approx(before, abs=8)
    rates = [band.rate for band in near_found.bands]
    assert rates == sorted(rates)
    assert sum(band.decisions for band in near_found.bands) == 60


def test_prediction_without_a_report_promises_no_confusions() -> None:
    found = predict(
        catalog(),
        Catalog.from_tools([Tool(name="open_invoices", server="x", description="Open one invoice.")]),
    )
    assert found.confusions is None
    assert found.added == 1


def test_adding_what_is_there_is_refused() -> None:
    with pytest.raises(InputError, match="in the catalog already"):
        predict(catalog(), catalog())
