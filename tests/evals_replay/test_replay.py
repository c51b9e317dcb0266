"""Replay: strict never guesses, fifo keeps the order, until goes on from the middle; differences step by step."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_reach.catalog.catalog import Catalog
from agent_reach.cli.main import run_command_line
from agent_reach.config.settings import AgentConfig, RunConfig
from agent_reach.errors import InputError
from agent_reach.evals.agents.base import AgentInfo
from agent_reach.evals.replay.backend import ReplayBackend
from agent_reach.evals.replay.compare import check_walk, compare_walks
from agent_reach.evals.replay.replay import ReplayOptions, ReplayResult, replay
from agent_reach.evals.replay.text import check_lines, replay_lines
from agent_reach.evals.runner_setup import RunOptions
from agent_reach.evals.trials.laboratory import LaboratoryOptions
from agent_reach.records.codec import to_json
from agent_reach.records.tool import Tool
from agent_reach.records.trace import Call, CallOutcome, CandidateScore, Step, Trace


def schema(**properties: str) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {name: {"type": kind} for name, kind in properties.items()},
        "required": list(properties),
        "additionalProperties": False,
    }


FIND = Tool(name="find_order", description="Find an order.", input_schema=schema(code="string"))
REFUND = Tool(
    name="refund_order", description="Refund an order.", input_schema=schema(code="string", amount="integer")
)
CANCEL = Tool(name="cancel_order", description="Cancel an order.", input_schema=schema(code="string"))
CATALOG = Catalog.from_tools([FIND, REFUND, CANCEL])


def call(number: int, name: str, value: Any, **arguments: Any) -> Call:
    outcome = CallOutcome(status="ok", value=value, text=json.dumps(value))
    return Call(call_id=f"c{number}", name=name, tool=name, arguments=arguments, outcome=outcome)


def walk(*calls: Call, query: str = "refund order A-1") -> Trace:
    steps = tuple(Step(index=index, calls=(item,)) for index, item in enumerate(calls))
    return Trace(trace_id="t1", query=query, steps=steps)


RECORDED = walk(
    call(1, "find_order", {"code": "A-1", "total": 120}, code="A-1"),
    call(2, "refund_order", "done", code="A-1", amount=120),
)


def ask(backend: ReplayBackend, tool: Tool, **arguments: Any) -> CallOutcome:
    return asyncio.run(backend.call(tool, arguments))


class Walker:
    """Makes the calls that a function names, each with the outcome of the one before."""

    def __init__(self, plan: Callable[[Any], list[tuple[str, dict[str, Any]]]]) -> None:
        self._plan = plan
        self.seen: list[list[dict[str, Any]]] = []
        self.outcomes: list[CallOutcome] = []

    info = AgentInfo(name="walker", deterministic=True, placed_by="agent")

    async def run(self, session: Any) -> None:
        self.seen.append(session.messages())
        for name, arguments in self._plan(session):
            self.outcomes.append(await session.call(name, arguments))
            if session.stopped:
                return

    async def aclose(self) -> None:
        """Nothing to give back."""


SAME = [("find_order", {"code": "A-1"}), ("refund_order", {"code": "A-1", "amount": 120})]


def replayed(
    folder: Path,
    plan: list[tuple[str, dict[str, Any]]],
    *,
    trace: Trace = RECORDED,
    catalog: Catalog = CATALOG,
    **more: Any,
) -> tuple[ReplayResult, Walker]:
    agent = Walker(lambda session: plan)
    options = RunOptions(
        catalog=catalog, agent=agent, archive=folder / "runs", backend=more.pop("backend", None)
    )
    (result,) = replay(
        [trace], RunConfig(), options=ReplayOptions(**more), laboratory=LaboratoryOptions(run=options)
    )
    return result, agent


def test_the_same_walk_is_the_same_and_gets_the_recorded_answers(tmp_path: Path) -> None:
    result, agent = replayed(tmp_path, SAME)
    assert result.is_same
    assert [outcome.value for outcome in agent.outcomes] == [{"code": "A-1", "total": 120}, "done"]


def test_strict_never_answers_what_was_not_recorded(tmp_path: Path) -> None:
    plan = [SAME[0], ("refund_order", {"code": "A-1", "amount": 100})]
    result, agent = replayed(tmp_path, plan)
    assert not agent.outcomes[-1].ok
    assert agent.outcomes[-1].off_recording
    assert result.diverged == "refund_order: the trace holds no call of refund_order with these arguments"
    assert [(step.kind, step.arguments) for step in result.steps] == [
        ("same", ()),
        ("arguments", ("amount",)),
    ]


def test_fifo_answers_whatever_the_arguments_in_order() -> None:
    trace = walk(call(1, "find_order", 1, code="A"), call(2, "find_order", 2, code="B"))
    backend = ReplayBackend(trace.calls, mode="fifo")
    assert ask(backend, FIND, code="Z").value == 1
    assert ask(backend, FIND, code="A").value == 2
    third = ask(backend, FIND, code="A")
    assert third.metadata["divergence"] == "used_up"
    assert ask(backend, CANCEL, code="A").metadata["divergence"] == "unknown_tool"


def test_strict_gives_equal_calls_their_recordings_in_turn() -> None:
    trace = walk(call(1, "find_order", 1, code="A"), call(2, "find_order", 2, code="A"))
    backend = ReplayBackend(trace.calls)
    assert [ask(backend, FIND, code="A").value for _ in range(2)] == [1, 2]
    assert ask(backend, FIND, code="A").metadata["divergence"] == "used_up"
    assert [item.why for item in backend.divergences] == ["used_up"]


def test_failures_are_replayed_as_failures() -> None:
    failed = replace(
        call(1, "find_order", None, code="A"), outcome=CallOutcome(status="failed", error_kind="rate_limited")
    )
    outcome = ask(ReplayBackend([failed]), FIND, code="A")
    assert outcome.error_kind == "rate_limited"
    assert "divergence" not in outcome.metadata


def test_until_starts_in_the_middle(tmp_path: Path) -> None:
    result, agent = replayed(tmp_path, SAME[1:], mode="until", until=1)
    assert result.is_same
    roles = [message["role"] for message in agent.seen[0]]
    assert roles == ["user", "assistant", "tool"]
    assert "120" in agent.seen[0][2]["content"]
    other, _ = replayed(tmp_path, [("cancel_order", {"code": "A-1"})], mode="until", until=1)
    assert [step.kind for step in other.steps] == ["same", "tool"]
    assert other.diverged


def test_later_turns_of_the_user_come_again(tmp_path: Path) -> None:
    words = Step(index=1, kind="user", text="now refund it")
    trace = replace(RECORDED, steps=(RECORDED.steps[0], words, replace(RECORDED.steps[1], index=2)))

    class Turns(Walker):
        async def run(self, session: Any) -> None:
            await session.call(*SAME[0])
            assert session.next_turn() == "now refund it"
            await session.call(*SAME[1])

    options = RunOptions(catalog=CATALOG, agent=Turns(lambda session: []), archive=tmp_path / "runs")
    (result,) = replay([trace], RunConfig(), laboratory=LaboratoryOptions(run=options))
    assert result.is_same
    agent = Walker(lambda session: [SAME[1]] if session.query == "now refund it" else [])
    middle = RunOptions(catalog=CATALOG, agent=agent, archive=tmp_path / "runs")
    late = replace(trace, steps=(*trace.steps, Step(index=3, text="done")))
    (result,) = replay(
        [late],
        RunConfig(),
        options=ReplayOptions(mode="until", until=2),
        laboratory=LaboratoryOptions(run=middle),
    )
    assert [message["role"] for message in agent.seen[0]] == [
        "user",
        "assistant",
        "tool",
        "user",
        "assistant",
        "tool",
    ]


def test_until_goes_on_with_a_live_back_end(tmp_path: Path) -> None:
    class Live:
        async def call(
            self, tool: Tool, arguments: Any, *, call_id: str = "", timeout: float | None = None
        ) -> CallOutcome:
            return CallOutcome(status="ok", value="live")

        async def aclose(self) -> None:
            """Nothing."""

    result, agent = replayed(
        tmp_path, [("cancel_order", {"code": "A-1"})], mode="until", until=1, backend=Live()
    )
    assert agent.outcomes[0].value == "live"
    assert not result.diverged


def test_until_beyond_the_trace_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="2 model steps"):
        replayed(tmp_path, SAME, mode="until", until=3)


def test_another_model_is_shown_step_by_step(tmp_path: Path) -> None:
    plan = [("cancel_order", {"code": "A-1"})]
    result, _ = replayed(tmp_path, plan)
    assert [(step.kind, step.before, step.after) for step in result.steps] == [
        ("tool", "find_order", "cancel_order"), ("only_before", "refund_order", ""),
    ]  # fmt: skip
    for language in ("en", "zh"):
        assert "cancel_order" in "\n".join(replay_lines(result, language))  # type: ignore[arg-type]


def test_another_catalog_is_checked_without_a_model() -> None:
    renamed = Catalog.from_tools(
        [replace(FIND, name="find_orders"), replace(REFUND, input_schema=schema(code="string"))]
    )
    first, second = check_walk(RECORDED, renamed)
    assert first.tool is None
    assert first.nearest[0] == "find_orders"
    assert second.tool == "refund_order"
    assert second.problems == ("unknown_argument /amount",)
    aliased = Catalog.from_tools([replace(FIND, name="find_orders", aliases=("find_order",)), REFUND])
    assert [check.tool for check in check_walk(RECORDED, aliased)] == ["find_orders", "refund_order"]


def test_another_router_says_where_the_tool_would_stand() -> None:
    from agent_reach.router.reach import Reach

    step = replace(
        RECORDED.steps[1],
        candidates=(
            CandidateScore(tool="cancel_order", score=1),
            CandidateScore(tool="refund_order", score=0.5),
        ),
    )
    trace = replace(RECORDED, steps=(RECORDED.steps[0], step))
    checks = check_walk(trace, CATALOG, Reach(CATALOG), k=1)
    assert checks[1].recorded_place == 2
    assert checks[1].place == 1
    assert checks[0].place is None
    assert len(check_lines(checks, "en", routed=True)) == 2


def test_a_recorded_agent_is_refused(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text(json.dumps(to_json(RECORDED)) + "\n")
    config = replace(RunConfig(), agent=AgentConfig(type="recorded", traces=str(tmp_path / "t.jsonl")))
    options = LaboratoryOptions(run=RunOptions(catalog=CATALOG, archive=tmp_path / "runs"))
    with pytest.raises(InputError, match="cannot be run again"):
        replay([RECORDED], config, laboratory=options)


CALLS = st.lists(st.tuples(st.sampled_from(["find_order", "cancel_order"]), st.integers(0, 2)), max_size=8)


@given(CALLS, CALLS)
def test_alignment_holds_every_call_once_and_a_walk_equals_itself(
    first: list[Any], second: list[Any]
) -> None:
    old = walk(*(call(n, name, n, code=str(code)) for n, (name, code) in enumerate(first)))
    new = walk(*(call(n, name, n, code=str(code)) for n, (name, code) in enumerate(second)))
    rows = compare_walks(old, new)
    assert sum(bool(row.before) for row in rows) == len(first)
    assert sum(bool(row.after) for row in rows) == len(second)
    assert all(row.kind == "same" for row in compare_walks(old, old))


@given(CALLS, CALLS)
def test_strict_answers_only_recorded_calls_each_once(recorded: list[Any], asked: list[Any]) -> None:
    trace = walk(*(call(n, name, n, code=str(code)) for n, (name, code) in enumerate(recorded)))
    backend = ReplayBackend(trace.calls)
    given_out = []
    for name, code in asked:
        outcome = ask(backend, CATALOG.get(name), code=str(code))
        if outcome.ok:
            given_out.append(outcome.value)
            assert recorded[outcome.value] == (name, code)
    assert len(set(given_out)) == len(given_out)


def test_the_command_replays_a_stored_trace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    from agent_reach.traces.store.base import TraceStore

    monkeypatch.chdir(tmp_path)
    rows = [
        {"name": tool.name, "description": tool.description, "inputSchema": dict(tool.input_schema)}
        for tool in CATALOG
    ]
    (tmp_path / "tools.json").write_text(json.dumps({"tools": rows}))
    (tmp_path / "other.json").write_text(json.dumps({"tools": rows[:1]}))
    (tmp_path / "walker.py").write_text(
        "async def run(request):\n"
        "    found = await request.call('find_order', {'code': 'A-1'})\n"
        "    await request.call('refund_order', {'code': 'A-1', 'amount': found.value['total']})\n\nrun.deterministic = True\n"
    )
    (tmp_path / "config.yaml").write_text(
        "catalog: tools.json\nagent: {type: python, function: 'walker.py:run'}\n"
    )
    with TraceStore.open(tmp_path / "t.db") as store:
        store.add_all([RECORDED])
    assert run_command_line(["traces", "replay", "t1", "--store", "t.db"]) == 0
    assert "the same walk" in capsys.readouterr().out
    assert (
        run_command_line(["traces", "replay", "t1", "--store", "t.db", "--catalog", "other.json", "--json"])
        == 1
    )
    assert json.loads(capsys.readouterr().out)[0]["same"] is False
    assert (
        run_command_line(["traces", "replay", "t1", "--store", "t.db", "--catalog", "other.json", "--static"])
        == 1
    )
    assert "no such tool here" in capsys.readouterr().out
    assert (
        run_command_line(
            ["traces", "replay", "t1", "--store", "t.db", "--static", "--exposure", "reach", "--lang", "zh"]
        )
        == 0
    )
    assert run_command_line(["traces", "replay"]) == 2
