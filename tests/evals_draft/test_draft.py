"""Drafts: mix, pairs from both sides, legal arguments, traces with failures first, duplicates, gaps, review marks."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_reach.catalog.catalog import Catalog
from agent_reach.catalog.schema import argument_problems
from agent_reach.cli.main import run_command_line
from agent_reach.errors import InputError
from agent_reach.evals.agents.base import AgentInfo
from agent_reach.evals.draft.draft import draft_suite, suite_gaps
from agent_reach.evals.draft.from_catalog import drafted_from_catalog
from agent_reach.evals.draft.from_traces import drafted_from_traces, is_failure
from agent_reach.evals.runner import run
from agent_reach.evals.runner_setup import RunOptions
from agent_reach.evals.suite.load import Suite
from agent_reach.evals.suite.writing import suite_yaml
from agent_reach.records.codec import to_json
from agent_reach.records.context import ContextBlock
from agent_reach.records.tool import AgentNote, Tool
from agent_reach.records.trace import Call, CallOutcome, Step, Trace

NOUNS = ("order", "refund", "ticket", "coupon", "parcel", "ledger", "badge", "supplier", "invoice", "shelf")


def schema(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties)}


def catalog() -> Catalog:
    tools = [
        Tool(
            name=f"show_{noun}",
            description=f"Show one {noun} with its history.",
            input_schema=schema(code={"type": "string"}),
            effects=frozenset({"read"}),
        )
        for noun in NOUNS
    ]
    tools += [
        Tool(
            name="update_stock", description="Set the stock of a product.", input_schema=schema(product={"type": "string"}, count={"type": "integer"}),
            effects=frozenset({"write"}), note=AgentNote(triggers=("top … up to … pieces", "把…补到…件")),
        ),
        Tool(
            name="adjust_stock", description="Adjust the stock of a product.", input_schema=schema(product={"type": "string"}, count={"type": "integer"}),
            effects=frozenset({"write"}),
        ),
        Tool(name="发货", description="把订单发出。", input_schema=schema(order={"type": "string"}), effects=frozenset({"write"})),
    ]  # fmt: skip
    return Catalog.from_tools(tools)


def test_every_tool_has_a_task_in_the_wanted_mix() -> None:
    tasks = drafted_from_catalog(catalog())
    kinds = Counter(task.kind for task in tasks)
    assert abs(kinds["must"] / len(tasks) - 0.6) < 0.05
    assert abs(kinds["may"] / len(tasks) - 0.2) < 0.05
    assert abs(kinds["forbid"] / len(tasks) - 0.2) < 0.05
    golden = {
        call.tool for task in tasks if task.kind == "must" for path in task.paths for call in path.calls
    }
    assert golden == {tool.key for tool in catalog()}
    assert all(task.review for task in tasks)
    assert len({task.id for task in tasks}) == len(tasks)


def test_look_alikes_are_asked_from_both_sides() -> None:
    confusable = [task for task in drafted_from_catalog(catalog()) if "confusable" in task.tags]
    sides = {(task.paths[0].calls[0].tool, task.forbid) for task in confusable}
    assert ("update_stock", ("adjust_stock",)) in sides
    assert ("adjust_stock", ("update_stock",)) in sides


def test_triggers_become_requests_with_values() -> None:
    tasks = drafted_from_catalog(catalog(), languages=("zh",))
    task = next(task for task in tasks if task.id.startswith("must-update_stock"))
    product = task.paths[0].calls[0].args["product"]
    assert task.query == f"把{product}补到{task.paths[0].calls[0].args['count']}件"
    assert task.language == "zh"


def test_arguments_are_legal() -> None:
    tools = catalog()
    for task in drafted_from_catalog(tools):
        for path in task.paths:
            for call in path.calls:
                literal = {name: value for name, value in call.args.items() if value != {"$any": True}}
                problems = argument_problems(tools.get(call.tool), literal)
                assert all(problem.code == "missing_required" for problem in problems)


def test_a_draft_loads_and_runs(tmp_path: Path) -> None:
    draft = draft_suite(catalog())
    file = tmp_path / "s.yaml"
    file.write_text(suite_yaml(draft.tasks))
    suite = Suite.load(file)
    assert len(suite) == len(draft.tasks)
    report = run({}, suite=suite, options=RunOptions(catalog=catalog(), archive=tmp_path / "runs"))
    assert report.metrics["tool_reachability"].denominator > 0


@given(st.integers(1, 60), st.sampled_from([(), ("en",), ("zh",), ("en", "zh")]))
def test_a_count_is_kept_and_languages_too(count: int, languages: Any) -> None:
    draft = draft_suite(catalog(), count=count, languages=languages)
    assert 1 <= len(draft.tasks) <= count
    if languages == ("zh",):
        assert {task.language for task in draft.tasks} <= {"zh", ""}


def ok(value: Any) -> CallOutcome:
    return CallOutcome(status="ok", value=value, text=json.dumps(value))


def trace(name: str, query: str, *steps: list[Call], **more: Any) -> Trace:
    made = tuple(Step(index=index, calls=tuple(calls)) for index, calls in enumerate(steps))
    return Trace(trace_id=name, query=query, steps=made, **more)


def call(number: int, name: str, outcome: CallOutcome | None, **arguments: Any) -> Call:
    return Call(call_id=f"c{number}", name=name, tool=name, arguments=arguments, outcome=outcome)


GOOD = trace(
    "good", "show me ticket T-900 and its order",
    [call(1, "show_ticket", ok({"order": {"code": "ORD-55"}}), code="T-900")],
    [call(2, "show_order", ok({"state": "open"}), code="ORD-55"), call(3, "show_badge", ok("x"), code="T-900")],
    started_at=1_900_000_000.0,
    blocks=(ContextBlock(id="doc", kind="retrieval", text="Read this."), ContextBlock(id="r", kind="tool_result", text="x", from_step=0)),
)  # fmt: skip
BAD = trace(
    "bad", "refund R-1",
    [call(1, "show_refund", CallOutcome(status="failed", error_kind="not_found", message="no R-1"), code="R-1")],
)  # fmt: skip
SILENT = trace("silent", "what is a badge?")


def test_failures_come_first_and_say_what_to_look_at() -> None:
    tasks = drafted_from_traces([GOOD, BAD, SILENT])
    assert [is_failure(item) for item in (GOOD, BAD, SILENT)] == [False, True, True]
    assert [task.metadata["trace"] for task in tasks] == ["bad", "silent", "good"]
    assert "failure" in tasks[0].tags
    assert tasks[0].metadata["remarks"] == ["show_refund: not_found"]
    assert tasks[1].kind == "may"
    assert all(task.review for task in tasks)


def test_a_hop_becomes_a_reference_and_parallel_calls_a_stage() -> None:
    (task,) = drafted_from_traces([GOOD])
    assert [len(stage) for stage in task.paths[0].stages] == [1, 2]
    ticket, order, badge = task.paths[0].calls
    assert ticket.args == {"code": "T-900"}
    assert order.args == {"code": {"$from": "step1.order.code"}}
    assert badge.args == {"code": "T-900"}
    assert task.now.startswith("2030-03-17")
    assert [block.id for block in task.context] == ["doc"]


def test_turns_of_the_user_stay_turns(tmp_path: Path) -> None:
    steps = (*GOOD.steps[:1], Step(index=1, kind="user", text="and the badge"), *GOOD.steps[1:])
    (task,) = drafted_from_traces([Trace(trace_id="m", query="show ticket T-900", steps=steps)])
    assert [turn.user for turn in task.turns] == ["show ticket T-900", "and the badge"]
    assert [len(turn.paths[0].calls) for turn in task.turns] == [1, 2]
    assert len(task.paths[0].calls) == 3
    file = tmp_path / "s.yaml"
    file.write_text(suite_yaml([task]))
    assert [turn.user for turn in Suite.load(file).tasks[0].turns] == [turn.user for turn in task.turns]


def test_a_production_failure_becomes_a_task_that_replays_its_answers(tmp_path: Path) -> None:
    class Repeater:
        info = AgentInfo(name="repeater", deterministic=True, placed_by="agent")

        async def run(self, session: Any) -> None:
            await session.call("show_refund", {"code": "R-1"})

        async def aclose(self) -> None:
            """Nothing."""

    suite = Suite.from_tasks(drafted_from_traces([BAD], catalog()), name="s")
    report = run(
        {}, suite=suite, options=RunOptions(catalog=catalog(), agent=Repeater(), archive=tmp_path / "runs")
    )
    outcome = report.tasks[0].attempts[0].decisions[0].outcome
    assert outcome is not None
    assert (outcome.error_kind, outcome.message) == ("not_found", "no R-1")


def test_near_duplicates_are_dropped_and_told() -> None:
    again = trace("again", "show me ticket T-900 and its order!", *[list(step.calls) for step in GOOD.steps])
    draft = draft_suite(catalog(), traces=[GOOD, again], from_catalog=False)
    assert len(draft.tasks) == 1
    assert draft.dropped == (("trace-show-me-ticket-t-900-2", "trace-show-me-ticket-t-900"),)
    existing = Suite.from_tasks(draft.tasks, name="s")
    more = draft_suite(catalog(), traces=[again], existing=existing, count=5)
    assert all(task.metadata.get("trace") != "again" for task in more.tasks)


def test_what_is_asked_already_is_not_drafted_again() -> None:
    first = draft_suite(catalog())
    existing = Suite.from_tasks(first.tasks, name="s")
    with pytest.raises(InputError, match="nothing can be drafted"):
        draft_suite(None, existing=existing)
    second = draft_suite(catalog(), existing=existing)
    assert not any(task.kind == "must" for task in second.tasks)
    assert not {task.id for task in second.tasks} & {task.id for task in first.tasks}


def test_gaps_name_tools_pairs_and_languages() -> None:
    tasks = drafted_from_traces([GOOD])
    said = " ".join(message.en for message in suite_gaps(tasks, catalog()))
    assert "update_stock" in said
    assert "adjust_stock / update_stock" in said
    assert "no task is in Chinese" in said
    whole = draft_suite(catalog(), languages=("en", "zh"))
    assert whole.gaps == ()


def test_the_command_drafts_from_catalog_and_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    from agent_reach.traces.store.base import TraceStore

    monkeypatch.chdir(tmp_path)
    rows = [
        {"name": tool.name, "description": tool.description, "inputSchema": dict(tool.input_schema)}
        for tool in catalog()
    ]
    (tmp_path / "tools.json").write_text(json.dumps(rows, ensure_ascii=False))
    assert run_command_line(["suite", "draft", "--catalog", "tools.json", "--output", "s.yaml"]) == 0
    captured = capsys.readouterr()
    assert captured.out.strip() == "s.yaml"
    assert "marked for review" in captured.err
    assert len(Suite.load(tmp_path / "s.yaml")) > 10
    assert run_command_line(["suite", "draft", "--catalog", "tools.json", "--output", "s.yaml"]) == 2
    with TraceStore.open(tmp_path / "t.db") as store:
        store.add_all([GOOD, BAD])
    arguments = [
        "suite",
        "draft",
        "--from-trace",
        "bad",
        "--store",
        "t.db",
        "--only-traces",
        "--output",
        "f.yaml",
        "--lang",
        "zh",
    ]
    assert run_command_line(arguments) == 0
    (task,) = Suite.load(tmp_path / "f.yaml").tasks
    assert task.metadata["trace"] == "bad"
    (tmp_path / "t.jsonl").write_text(json.dumps(to_json(GOOD)) + "\n")
    assert (
        run_command_line(["suite", "draft", "--traces", "t.jsonl", "--only-traces", "--output", "g.jsonl"])
        == 0
    )
    assert Suite.load(tmp_path / "g.jsonl").tasks[0].metadata["trace"] == "good"
