"""The Messages API over real HTTP: what is sent, what is read, streamed or whole."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.evals_agents.scripted import Exchange, ScriptedServer, serving, session_for, task

from agent_reach.config.settings import AgentConfig
from agent_reach.errors import ModelError
from agent_reach.evals.agents.anthropic import AnthropicAgent, to_blocks
from agent_reach.evals.agents.base import AgentSetup, UnusableModelError
from agent_reach.records.task import RecordedResult
from agent_reach.records.trace import Trace

ANSWERED = task(results=(RecordedResult(tool="query_stock", result={"quantity": 3}),))
THINKING = {"type": "thinking", "thinking": "hm", "signature": "s1"}
USE = {"type": "tool_use", "id": "toolu_1", "name": "query_stock", "input": {"product_id": "PDT-1"}}
WORDS = Exchange({"content": [{"type": "text", "text": "3 left"}], "stop_reason": "end_turn"})


def drive(server: ScriptedServer, **fields: Any) -> Trace:
    async def go() -> Trace:
        config = AgentConfig(
            type="anthropic", model="m", base_url=server.address, system="Be brief.", **fields
        )
        agent = AnthropicAgent(config, AgentSetup())
        session = session_for(agent, ANSWERED)
        try:
            await agent.run(session)
        finally:
            await agent.aclose()
        return session.trace()

    return asyncio.run(go())


def test_a_call_its_result_and_the_last_words() -> None:
    usage = {"input_tokens": 9, "output_tokens": 4}
    first = Exchange(
        {
            "content": [THINKING, {"type": "text", "text": "Let me look."}, USE],
            "stop_reason": "tool_use",
            "usage": usage,
        }
    )
    with serving(first, WORDS) as server:
        trace = drive(server, api_key="k", parallel_calls=False)
    asked = server.requests[0]
    assert server.paths == ["/v1/messages", "/v1/messages"]
    assert server.headers[0]["x-api-key"] == "k"
    assert asked["system"] == "Be brief."
    assert asked["tools"][0]["input_schema"]["required"] == ["product_id"]
    assert asked["tool_choice"] == {"type": "auto", "disable_parallel_tool_use": True}
    echoed, results = server.requests[1]["messages"][-2:]
    assert echoed["content"] == [THINKING, {"type": "text", "text": "Let me look."}, USE]
    assert results == {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": '{"quantity": 3}'}],
    }
    assert trace.calls[0].arguments == {"product_id": "PDT-1"}
    assert trace.steps[0].reasoning == "hm"
    assert trace.steps[0].input_tokens == 9
    assert trace.final_text == "3 left"


def test_a_streamed_message() -> None:
    events = [
        {"type": "message_start", "message": {"usage": {"input_tokens": 5}}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Look."}},
        {"type": "content_block_start", "index": 1, "content_block": {**USE, "input": {}}},
        {
            "type": "content_block_delta",
            "index": 1,
            "delta": {"type": "input_json_delta", "partial_json": '{"product_id":'},
        },
        {
            "type": "content_block_delta",
            "index": 1,
            "delta": {"type": "input_json_delta", "partial_json": ' "PDT-1"}'},
        },
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 3}},
    ]
    with serving(Exchange(events), WORDS) as server:
        trace = drive(server, stream="always")
    assert trace.steps[0].text == "Look."
    assert trace.calls[0].arguments == {"product_id": "PDT-1"}
    assert (trace.steps[0].input_tokens, trace.steps[0].output_tokens) == (5, 3)


def test_cut_input_is_no_call() -> None:
    cut = Exchange({"content": [{**USE, "input": {}}], "stop_reason": "max_tokens"})
    events = [
        {"type": "content_block_start", "index": 0, "content_block": {**USE, "input": {}}},
        {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "input_json_delta", "partial_json": '{"product'},
        },
        {"type": "message_delta", "delta": {"stop_reason": "max_tokens"}},
    ]
    for script in (Exchange(events), cut):
        with serving(script, WORDS) as server:
            trace = drive(server)
        assert trace.calls[0].outcome is not None
        assert not trace.calls[0].outcome.ok


@pytest.mark.parametrize(
    ("exchange", "kind", "words"),
    [
        (
            Exchange({"error": {"type": "authentication_error", "message": "bad"}}, status=401),
            UnusableModelError,
            "key",
        ),
        (Exchange({"error": {"message": "too long"}}, status=400), ModelError, "too long"),
        (Exchange({"id": "x"}), ModelError, "no content"),
    ],
)
def test_refusals_are_told(exchange: Exchange, kind: type[Exception], words: str) -> None:
    with serving(exchange) as server, pytest.raises(kind, match=words):
        drive(server)


def test_neighbours_of_one_role_are_joined() -> None:
    system, messages = to_blocks(
        [
            {"role": "system", "content": "a"},
            {"role": "user", "content": "b"},
            {"role": "tool", "tool_call_id": "1", "content": "c"},
            {"role": "assistant", "content": ""},
            {"role": "user", "content": "d"},
        ]
    )
    assert system == "a"
    assert [message["role"] for message in messages] == ["user"]
    assert [block["type"] for block in messages[0]["content"]] == ["text", "tool_result", "text"]
