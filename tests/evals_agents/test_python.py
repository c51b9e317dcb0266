"""Agents that are Python functions: async or sync, one step or several, well or badly behaved."""

from __future__ import annotations

import asyncio
import enum
import json
import re
import sys
import time
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from tests.evals_agents.scripted import session_for, task

from agent_reach.config.settings import AgentConfig
from agent_reach.errors import ConfigError, ModelError
from agent_reach.evals.agents.base import AgentSetup, agent_types, build_agent
from agent_reach.evals.agents.lexical import LexicalAgent, fill_arguments
from agent_reach.evals.agents.python import PythonAgent, load_function
from agent_reach.records.codec import to_json
from agent_reach.records.context import ContextBlock, StateSlot
from agent_reach.records.task import RecordedResult, ScriptedTurn
from agent_reach.records.tool import Tool
from agent_reach.records.trace import Trace

RESULTS = (RecordedResult(tool="query_stock", result={"quantity": 3, "warehouse": {"id": "WH-1"}}),)


def drive(function: Any, a_task: Any = None, **more: Any) -> Trace:
    async def go() -> Trace:
        agent = PythonAgent(function, AgentConfig(type="python", **more.pop("config", {})))
        session = session_for(agent, a_task or task(results=RESULTS), **more)
        await agent.run(session)
        await agent.aclose()
        return session.trace()

    return asyncio.run(go())


def test_an_async_function_sees_and_calls() -> None:
    seen: dict[str, Any] = {}

    async def run(request: Any) -> str:
        seen.update(query=request.query, tools=[tool.name for tool in request.tools], now=request.now)
        seen.update(messages=request.messages, context=[block.id for block in request.context])
        outcome = await request.call("query_stock", {"product_id": "PDT-1"})
        seen["after"] = [block.id for block in request.context]
        return f"{outcome.value['quantity']} left"

    block = ContextBlock(id="doc", kind="retrieval", text="PDT-1 is a cup")
    trace = drive(run, task(results=RESULTS, context=(block,), now="2025-01-01T00:00:00Z"))
    assert seen["query"] == "how many PDT-1 are left?"
    assert seen["tools"] == ["query_stock", "send_note"]
    assert seen["now"] == "2025-01-01T00:00:00Z"
    assert seen["messages"][-1]["content"].startswith("how many PDT-1 are left?")
    assert "[doc] PDT-1 is a cup" in seen["messages"][-1]["content"]
    assert seen["context"] == ["tools", "doc"]
    assert seen["after"][-1] == "result:call_0"
    assert trace.final_text == "3 left"
    assert trace.calls[0].arguments == {"product_id": "PDT-1"}


def test_a_plain_function_may_block() -> None:
    def run(request: Any) -> str:
        outcome = request.call("query_stock", {"product_id": "PDT-1"})
        request.say("I looked")
        return f"{outcome.value['quantity']} left"

    trace = drive(run)
    assert [step.text for step in trace.steps] == ["", "I looked", "3 left"]
    assert trace.calls[0].outcome is not None
    assert trace.calls[0].outcome.ok


def test_calls_side_by_side_are_one_step_and_calls_in_turn_are_several() -> None:
    async def together(request: Any) -> None:
        await asyncio.gather(*(request.call("query_stock", {"product_id": name}) for name in "AB"))
        await request.call("query_stock", {"product_id": "C"})

    steps = drive(together, backend=Slow()).steps
    assert [[call.arguments for call in step.calls] for step in steps] == [
        [{"product_id": "A"}, {"product_id": "B"}],
        [{"product_id": "C"}],
    ]


class Slow:
    async def call(
        self, tool: Tool, arguments: Any, *, call_id: str = "", timeout: float | None = None
    ) -> Any:
        from agent_reach.records.trace import CallOutcome

        await asyncio.sleep(0.01)
        return CallOutcome(status="ok", value=1, text="1")

    async def aclose(self) -> None:
        pass


@pytest.mark.parametrize(
    ("name", "arguments", "kind"),
    [
        ("query_stokc", {}, "not_found"),
        ("query_stock", {}, "argument"),
        ("query_stock", '{"product_id": "A', "argument"),
        ("query_stock", None, "argument"),
        ("query_stock", {"product_id": "none recorded"}, "not_found"),
    ],
)
def test_a_failed_call_is_an_outcome(name: str, arguments: Any, kind: str) -> None:
    async def run(request: Any) -> str:
        outcome = await request.call(name, arguments)
        assert not outcome.ok
        return str(outcome.error_kind)

    recorded = (RecordedResult(tool="query_stock", args={"product_id": "PDT-1"}, result=1),)
    assert drive(run, task(results=recorded)).final_text == kind


def test_it_is_called_for_every_turn() -> None:
    async def run(request: Any) -> str:
        return f"heard {request.query}, {len(request.messages)} messages"

    turns = (ScriptedTurn(user="one"), ScriptedTurn(user="two"))
    trace = drive(run, task(query="one", turns=turns))
    assert [(step.kind, step.text) for step in trace.steps] == [
        ("model", "heard one, 1 messages"),
        ("user", "two"),
        ("model", "heard two, 2 messages"),
    ]


def test_an_agent_that_raises_is_no_decision() -> None:
    async def run(request: Any) -> str:
        raise KeyError("missing")

    with pytest.raises(ModelError, match="KeyError"):
        drive(run)

    def stop(request: Any) -> str:
        raise StopIteration

    with pytest.raises(ModelError, match="StopIteration"):
        drive(stop)


def test_results_fill_state_slots() -> None:
    slots = (StateSlot(name="warehouse", source="query_stock.warehouse.id"),)

    async def run(request: Any) -> str:
        await request.call("query_stock", {"product_id": "PDT-1"})
        return ""

    trace = drive(run, task(results=RESULTS, state_slots=slots))
    assert trace.state_slots[0].value == "WH-1"
    block = next(block for block in trace.blocks if block.kind == "state_slot")
    assert block.text == "warehouse: WH-1"
    assert block.from_step == 0


def test_functions_are_found_beside_the_configuration(tmp_path: Path) -> None:
    (tmp_path / "my_own_agent.py").write_text(
        "class Box:\n    def run(self, request):\n        return 'x'\nbox = Box()\n"
    )
    assert callable(load_function("my_own_agent:box.run", str(tmp_path)))
    assert callable(load_function("my_own_agent.py:box.run", str(tmp_path)))


@pytest.mark.parametrize(
    ("place", "words", "step"),
    [
        ("nofunction", "names no function", "package.module:function"),
        ("no_such_module_here:run", "no module named", "PYTHONPATH"),
        ("json:dmups", "has no 'dmups'", "'dumps'"),
        ("json:__name__", "not a function", ""),
        ("gone.py:run", "no such file", "path"),
    ],
)
def test_a_wrong_place_is_told(place: str, words: str, step: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load_function(place, str(tmp_path))
    assert words in str(caught.value)
    assert step in caught.value.next_step


def test_a_module_that_breaks_is_told(tmp_path: Path) -> None:
    (tmp_path / "breaks_at_import.py").write_text("raise ValueError('no')\n")
    with pytest.raises(ConfigError, match="ValueError: no"):
        load_function("breaks_at_import:run", str(tmp_path))


@pytest.mark.parametrize("form", ["leaves_at_import", "leaves_at_import.py"])
def test_a_module_that_ends_the_process_is_told(form: str, tmp_path: Path) -> None:
    (tmp_path / "leaves_at_import.py").write_text("import sys\nsys.exit(7)\n")
    with pytest.raises(ConfigError, match="SystemExit: 7"):
        load_function(f"{form}:run", str(tmp_path))


@pytest.mark.parametrize(
    ("arguments", "recorded", "pointer", "said"),
    [
        (
            {"product_id": float("nan")},
            {"product_id": "nan"},
            "/product_id",
            "the number nan is no JSON value",
        ),
        ({"product_id": [{"a": float("-inf")}]}, {"product_id": [{"a": "-inf"}]}, "/product_id/0/a", "-inf"),
        ({"product_id": date(2025, 3, 1)}, {"product_id": "2025-03-01"}, "/product_id", "date"),
        ({"product_id": {"b"}}, {"product_id": "{'b'}"}, "/product_id", "set"),
        ({1: "x"}, {"1": "x"}, "/1", "the name 1 is no text"),
    ],
)
def test_what_json_cannot_carry_is_a_problem_of_the_call(
    arguments: Any, recorded: Any, pointer: str, said: str
) -> None:
    async def run(request: Any) -> None:
        outcome = await request.call("query_stock", arguments)
        assert outcome.error_kind == "argument"

    call = drive(run).calls[0]
    assert call.arguments == recorded
    assert call.problems[0].pointer == pointer
    assert said in call.problems[0].message
    json.dumps(to_json(call), allow_nan=False)


def test_what_json_has_a_form_for_is_taken_in_it() -> None:
    class Level(enum.Enum):
        HIGH = "high"

    async def run(request: Any) -> None:
        await request.call("send_note", {"text": Level.HIGH, "to": ("a", True, 2**70, Fraction(1, 2))})

    call = drive(run).calls[0]
    assert call.arguments == {"text": "high", "to": ["a", True, 2**70, 0.5]}
    assert [problem.code for problem in call.problems] == ["unknown_argument"]


@pytest.mark.parametrize(
    ("act", "said"),
    [
        (lambda request: request.say(5), "what is said must be text, not int 5"),
        (lambda request: request.say("x", raw={"a": 1}), "raw must be text, not dict"),
        (lambda request: sys.exit(7), "SystemExit: 7"),
        (lambda request: _raise(asyncio.CancelledError("mine")), "CancelledError: mine"),
        (lambda request: _raise(ValueError("no")), "ValueError: no"),
    ],
)
@pytest.mark.parametrize("blocking", [True, False])
def test_what_the_function_does_to_itself_is_an_error_of_the_agent(
    act: Any, said: str, blocking: bool
) -> None:
    async def run(request: Any) -> None:
        act(request)

    with pytest.raises(ModelError, match=re.escape(said)):
        drive((lambda request: act(request)) if blocking else run)


def _raise(error: BaseException) -> None:
    raise error


def test_a_name_that_is_no_text_is_an_error_of_the_agent() -> None:
    async def run(request: Any) -> None:
        await request.call(5, {})

    with pytest.raises(ModelError, match="the name of a tool must be text, not int 5"):
        drive(run)


def test_a_real_cancellation_passes_through() -> None:
    async def run(request: Any) -> None:
        await asyncio.sleep(60)

    async def go() -> None:
        agent = PythonAgent(run, AgentConfig(type="python"))
        running = asyncio.create_task(agent.run(session_for(agent, task())))
        await asyncio.sleep(0)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

    asyncio.run(go())


def test_every_agent_of_the_table_is_known() -> None:
    from agent_reach.config.settings import AGENT_TYPES

    assert set(AGENT_TYPES) <= set(agent_types())
    with pytest.raises(ConfigError, match="did you mean 'lexical'") as caught:
        build_agent(AgentConfig(type="lexcal"), AgentSetup())
    assert "lexcal" in caught.value.message


def test_the_lexical_agent_calls_the_best_match() -> None:
    async def go(query: str) -> Trace:
        agent = LexicalAgent(AgentConfig(type="lexical"))
        session = session_for(agent, task(query=query))
        await agent.run(session)
        return session.trace()

    call = asyncio.run(go("query the stock of PDT-7")).calls[0]
    assert call.tool == "query_stock"
    assert call.arguments == {"product_id": "PDT-7"}
    assert asyncio.run(go("good morning")).calls == ()
    assert asyncio.run(go("thank you, that is all, a lot of it is to be done")).calls == ()


def test_lexical_paths_fill_parameters_of_places() -> None:
    properties = {"repo_path": {"type": "string"}, "destination": {"type": "string"}}
    tool = Tool(name="move", input_schema={"type": "object", "properties": properties})
    query = "move /data/repo to ./backup/repo, see https://example.org/help"
    assert fill_arguments(tool, query) == {"repo_path": "/data/repo", "destination": "./backup/repo"}


def test_lexical_arguments_follow_names_types_and_enums() -> None:
    tool = Tool(
        name="move",
        input_schema={
            "type": "object",
            "properties": {
                "product_id": {"type": "string"},
                "warehouse_id": {"type": "string"},
                "count": {"type": "integer"},
                "priority": {"enum": ["high", "low"]},
                "date": {"type": "string", "format": "date"},
                "remark": {"type": "string"},
                "notify_email": {"type": "string"},
                "dry_run": {"type": "boolean"},
            },
        },
    )
    query = '把 5 件 PDT-1 移到 WH-SH-01, high, 2025-03-01, 备注 "now", a.b@example.org'
    assert fill_arguments(tool, query) == {
        "product_id": "PDT-1",
        "warehouse_id": "WH-SH-01",
        "count": 5,
        "priority": "high",
        "date": "2025-03-01",
        "remark": "now",
        "notify_email": "a.b@example.org",
    }


def test_the_clock_of_the_attempt_moves_with_excuses() -> None:
    async def go() -> bool:
        session = session_for()
        started = time.perf_counter()
        async with asyncio.timeout(0.05) as deadline:
            session.bind_deadline(deadline)
            session.excuse(5.0)
            await asyncio.sleep(0.1)
        return time.perf_counter() > started and not deadline.expired()

    assert asyncio.run(go())


def test_the_clock_of_the_attempt_stands_still_in_a_queue() -> None:
    async def go() -> bool:
        session = session_for()
        async with asyncio.timeout(0.05) as deadline:
            session.bind_deadline(deadline)
            with session.suspended():
                await asyncio.sleep(0.15)
        assert not deadline.expired()
        try:
            async with asyncio.timeout(0.05) as deadline:
                session.bind_deadline(deadline)
                with session.suspended():
                    await asyncio.sleep(0.1)
                await asyncio.sleep(30)
        except TimeoutError:
            return deadline.expired()
        return False

    assert asyncio.run(go())
