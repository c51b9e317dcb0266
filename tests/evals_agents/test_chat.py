"""The chat agent against real HTTP servers: what it sends, what it reads, when it waits and when it gives up."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from tests.evals_agents.scripted import (
    Exchange,
    ScriptedServer,
    chat_config,
    says,
    serving,
    session_for,
    task,
)

from agent_reach.errors import ConfigError, ModelError
from agent_reach.evals.agents.base import AgentSetup, UnusableModelError, build_agent
from agent_reach.evals.agents.chat import ChatAgent
from agent_reach.records.events import Event, WaitingForModel
from agent_reach.records.task import RecordedResult
from agent_reach.records.trace import Trace

LOOK = ("c1", "query_stock", '{"product_id": "PDT-1"}')
ANSWERED = task(results=(RecordedResult(tool="query_stock", result={"quantity": 3}),))


def drive(
    server: ScriptedServer, a_task: Any = ANSWERED, events: list[Event] | None = None, **config: Any
) -> tuple[Trace, list[float]]:
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    async def go() -> Trace:
        told = events if events is not None else []
        agent = ChatAgent(chat_config(server.address, **config), AgentSetup(notify=told.append))
        agent.endpoint.sleep = sleep
        agent.endpoint.jitter = lambda: 1.0
        session = session_for(agent, a_task)
        try:
            await agent.run(session)
        finally:
            await agent.aclose()
        return session.trace()

    return asyncio.run(go()), waits


def test_a_call_its_result_and_the_last_words() -> None:
    with serving(says("Let me look.", [LOOK]), says("3 left")) as server:
        trace, _ = drive(server, temperature=0.0, seed=7, headers={"X-Team": "a"}, extra_body={"top_k": 1})
    first, second = server.requests
    assert server.paths[0] == "/v1/chat/completions"
    assert first["model"] == "m"
    assert first["temperature"] == 0.0
    assert first["seed"] == 7
    assert first["top_k"] == 1
    assert server.headers[0]["x-team"] == "a"
    assert [item["function"]["name"] for item in first["tools"]] == ["query_stock", "send_note"]
    assert second["messages"][-2]["tool_calls"][0]["id"] == "c1"
    assert second["messages"][-1] == {
        "role": "tool",
        "tool_call_id": "c1",
        "name": "query_stock",
        "content": '{"quantity": 3}',
    }
    assert [step.text for step in trace.steps] == ["Let me look.", "3 left"]
    assert trace.calls[0].outcome is not None
    assert trace.calls[0].outcome.ok
    assert trace.final_text == "3 left"
    assert trace.steps[0].input_tokens == 11
    assert "Let me look." in trace.steps[0].raw


def test_parallel_calls_and_duplicate_ids_keep_their_results() -> None:
    calls = [("x", "query_stock", '{"product_id": "A"}'), ("x", "query_stock", '{"product_id": "B"}')]
    results = tuple(
        RecordedResult(tool="query_stock", args={"product_id": name}, result=f"stock of {name}")
        for name in "AB"
    )
    with serving(says(None, calls), says("done")) as server:
        trace, _ = drive(server, task(results=results))
    assert [call.outcome.text for call in trace.calls if call.outcome] == ["stock of A", "stock of B"]
    sent = server.requests[1]["messages"]
    echoed = [call["id"] for call in sent[-3]["tool_calls"]]
    assert len(set(echoed)) == 2
    assert [message["tool_call_id"] for message in sent[-2:]] == echoed
    assert [finding.code for finding in trace.findings] == ["duplicate_call_id"]


def test_identical_calls_with_a_side_effect_run_once() -> None:
    note = '{"text": "hi"}'
    calls = [(f"k{number}", "send_note", note) for number in range(3)]
    with serving(says(None, calls), says("done")) as server:
        trace, _ = drive(server, task(results=(RecordedResult(tool="send_note", result="sent"),)))
    assert [call.outcome.reached_backend for call in trace.calls if call.outcome] == [True, False, False]
    answers = [message["content"] for message in server.requests[1]["messages"][-3:]]
    assert answers[0] == "sent"
    assert all("duplicate of k0" in answer for answer in answers[1:])


def test_ids_that_endpoints_refuse_are_mapped_on_both_sides() -> None:
    strange = "call|1\n" + "x" * 90
    with serving(says(None, [(strange, *LOOK[1:])]), says("done")) as server:
        trace, _ = drive(server)
    sent = server.requests[1]["messages"]
    assert sent[-2]["tool_calls"][0]["id"] == sent[-1]["tool_call_id"]
    assert len(sent[-1]["tool_call_id"]) <= 40
    assert trace.calls[0].call_id == strange


def test_calls_written_as_text_are_executed() -> None:
    text = '<tool_call>{"name": "query_stock", "arguments": {"product_id": "PDT-1"}}</tool_call>'
    with serving(says(text), says("3 left")) as server:
        trace, _ = drive(server)
    assert trace.calls[0].tool == "query_stock"
    assert trace.calls[0].metadata["origin"] == "text:<tool_call>"
    assert server.requests[1]["messages"][-1]["role"] == "tool"


@pytest.mark.parametrize("config", [{"tool_choice": "none"}, {"options": {"tools": False}}])
def test_without_offered_tools_text_is_no_call(config: dict[str, Any]) -> None:
    with serving(says('<tool_call>{"name": "query_stock", "arguments": {}}</tool_call>')) as server:
        trace, _ = drive(server, **config)
    assert trace.calls == ()
    assert "<tool_call>" in trace.final_text


def test_streaming_only_endpoints_are_learnt() -> None:
    refused = Exchange({"error": {"message": "this model only supports stream=true"}}, status=400)
    chunk = {"index": 0, "function": {"name": "query_stock", "arguments": '{"product_id":'}}
    events = [
        {"choices": [{"delta": {"tool_calls": [{"id": "c1", **chunk}]}}]},
        {"choices": [{"delta": {"tool_calls": [{"index": 0, "function": {"arguments": ' "PDT-1"}'}}]}}]},
        {"choices": [{"delta": {}, "finish_reason": "tool_calls"}]},
        {"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 2}},
    ]
    words = [{"choices": [{"delta": {"content": part}}]} for part in ("3 ", "left")]
    with serving(refused, Exchange(events), Exchange(words)) as server:
        trace, _ = drive(server)
    assert "stream" not in server.requests[0]
    assert server.requests[1]["stream"] is True
    assert trace.calls[0].arguments == {"product_id": "PDT-1"}
    assert trace.steps[0].output_tokens == 2
    assert trace.final_text == "3 left"


def test_reasoning_returns_only_where_it_is_demanded() -> None:
    thinking = {"message": {"reasoning_content": "hm"}}
    refused = Exchange({"error": {"message": "reasoning_content must be passed back"}}, status=400)
    with serving(says(None, [LOOK], **thinking), refused, says("3 left")) as server:
        trace, _ = drive(server)
    assert trace.steps[0].reasoning == "hm"
    assert "reasoning_content" not in server.requests[1]["messages"][-2]
    assert server.requests[2]["messages"][-2]["reasoning_content"] == "hm"


def test_the_other_name_of_the_token_limit_is_learnt() -> None:
    refused = Exchange(
        {"error": {"message": "use 'max_completion_tokens' instead of 'max_tokens'"}}, status=400
    )
    with serving(refused, says("hello")) as server:
        drive(server, max_tokens=9)
    assert server.requests[1]["max_completion_tokens"] == 9
    assert "max_tokens" not in server.requests[1]


def test_rate_limits_and_broken_connections_are_waited_out() -> None:
    events: list[Event] = []
    script = [
        Exchange({"error": "slow down"}, status=429, headers={"retry-after": "7"}),
        Exchange({"error": "busy"}, status=503),
        Exchange(None, status=0),
        Exchange({"error": {"message": "limit", "type": "rate_limit_error"}}),
        says("hello"),
    ]
    with serving(*script) as server:
        trace, waits = drive(server, events=events)
    assert waits == [7.0, 1.0, 2.0, 4.0]
    assert [event.seconds for event in events if isinstance(event, WaitingForModel)] == waits
    assert [step.text for step in trace.steps] == ["hello"]


def test_waiting_has_an_end_and_is_no_decision() -> None:
    with (
        serving(Exchange({}, status=429)) as server,
        pytest.raises(ModelError, match="after 3 tries") as caught,
    ):
        drive(server, max_retries=2)
    assert len(server.requests) == 3
    assert not isinstance(caught.value, UnusableModelError)
    assert "--resume" in caught.value.next_step


@pytest.mark.parametrize(
    ("exchange", "words", "step"),
    [
        (Exchange({"error": "bad key sk-secret-value"}, status=401), "refused the key", "MY_KEY"),
        (Exchange({"error": "no"}, status=403), "refused the key", "MY_KEY"),
        (Exchange("not found", status=404), "no such address or model 'm'", "base_url"),
        (Exchange("<html>login</html>"), "no JSON", "base_url"),
        (Exchange({"choices": []}), "no message", "OpenAI-compatible"),
        (Exchange({"answer": 1}), "no message", "OpenAI-compatible"),
        (Exchange([]), "no message", "stream"),
        (
            Exchange({"error": {"message": "tools are not supported"}}, status=400),
            "tools are not",
            "tools: false",
        ),
        (
            Exchange({"error": {"message": "context length"}}, status=400),
            "context length",
            "size of the context",
        ),
    ],
)
def test_what_waiting_does_not_help_is_told(exchange: Exchange, words: str, step: str) -> None:
    with serving(exchange) as server, pytest.raises(ModelError) as caught:
        drive(server, api_key="sk-secret-value", api_key_env="MY_KEY")
    assert words in str(caught.value)
    assert step in caught.value.next_step
    assert "sk-secret-value" not in str(caught.value)
    assert server.headers[0]["authorization"] == "Bearer sk-secret-value"


def test_a_dead_endpoint_is_unusable() -> None:
    with serving(says("x")) as server:
        address = server.address
    agent = build_agent(chat_config(address), AgentSetup())

    async def go() -> None:
        try:
            await agent.run(session_for(agent))
        finally:
            await agent.aclose()

    with pytest.raises(UnusableModelError, match="no connection"):
        asyncio.run(go())


def test_a_wrong_certificate_file_is_told(tmp_path: Any) -> None:
    wrong = tmp_path / "ca.pem"
    wrong.write_text("no certificate")
    with serving(says("x")) as server, pytest.raises(ConfigError, match="certificate"):
        drive(server, ca_file=str(wrong))


def test_requests_go_through_the_proxy() -> None:
    with serving(says("hello")) as proxy:
        agent = build_agent(
            chat_config("http://model.invalid/v1", proxy=proxy.address.removesuffix("/v1")), AgentSetup()
        )

        async def go() -> Trace:
            session = session_for(agent)
            try:
                await agent.run(session)
            finally:
                await agent.aclose()
            return session.trace()

        assert asyncio.run(go()).final_text == "hello"
    assert proxy.paths == ["http://model.invalid/v1/chat/completions"]


def test_cut_arguments_are_answered_and_never_executed() -> None:
    cut = ("c1", "query_stock", '{"product_id": "PDT')
    with serving(says(None, [cut], finish_reason="length"), says("sorry")) as server:
        trace, _ = drive(server)
    assert trace.calls[0].arguments is None
    assert trace.calls[0].problems[0].code == "truncated"
    assert trace.calls[0].outcome is not None
    assert not trace.calls[0].outcome.reached_backend
    sent = server.requests[1]["messages"]
    assert json.loads(sent[-2]["tool_calls"][0]["function"]["arguments"]) == {}
    assert "send less" in sent[-1]["content"]


def test_an_invented_tool_is_answered_with_the_nearest_names() -> None:
    with serving(says(None, [("c1", "query_stocks_now", "{}")]), says("ok")) as server:
        trace, _ = drive(server)
    assert trace.calls[0].tool is None
    assert trace.calls[0].outcome is not None
    assert trace.calls[0].outcome.error_kind == "not_found"
    assert "query_stock" in server.requests[1]["messages"][-1]["content"]


def test_illegal_arguments_are_refused_with_every_problem() -> None:
    with serving(says(None, [("c1", "query_stock", '{"limit": "many"}')]), says("ok")) as server:
        trace, _ = drive(server)
    assert {problem.code for problem in trace.calls[0].problems} == {"missing_required", "wrong_type"}
    answer = server.requests[1]["messages"][-1]["content"]
    assert "product_id" in answer
    assert "limit" in answer


def test_a_model_that_never_stops_is_stopped() -> None:
    with serving(says(None, [LOOK])) as server:
        trace, _ = drive(server, max_steps=4)
    assert len(server.requests) == 4
    assert len(trace.steps) == 4


def test_scripted_turns_of_the_user() -> None:
    from agent_reach.records.task import ScriptedTurn

    turns = (ScriptedTurn(user="first"), ScriptedTurn(user="second"))
    with serving(says("one"), says("two")) as server:
        trace, _ = drive(server, task(query="first", turns=turns))
    assert [(step.kind, step.text) for step in trace.steps] == [
        ("model", "one"),
        ("user", "second"),
        ("model", "two"),
    ]
    assert server.requests[1]["messages"][-1] == {"role": "user", "content": "second"}
