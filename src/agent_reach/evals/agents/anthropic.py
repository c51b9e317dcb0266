"""The `anthropic` agent: the Messages API, spoken over HTTP without an SDK.

Conversations are kept in the form of the chat API; this file turns them into content blocks and back. Thinking blocks
return unchanged with the message they belong to, because the endpoint checks their signature.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from typing import Any

from agent_reach.calls.message import parse_message, text_of_content
from agent_reach.config.settings import AgentConfig
from agent_reach.errors import ModelError
from agent_reach.evals.agents.base import Agent, AgentSetup, ModelReply
from agent_reach.evals.agents.endpoint import Answer, Refusal
from agent_reach.evals.agents.loop import echoed_message, with_mapped_ids
from agent_reach.evals.agents.provider import ProviderAgent
from agent_reach.evals.agents.session import AttemptSession

DEFAULT_ADDRESS = "https://api.anthropic.com"
API_VERSION = "2023-06-01"
DEFAULT_MAX_TOKENS = 2048
_BLOCKS = "content_blocks"
_ID_RULE = r"^[a-zA-Z0-9_-]{1,64}$"
_CHOICES = {"required": "any", "any": "any", "none": "none", "auto": "auto"}


class AnthropicAgent(ProviderAgent):
    """Drives a model behind `POST {base_url}/v1/messages`."""

    kind = "anthropic"

    def __init__(self, config: AgentConfig, setup: AgentSetup) -> None:
        headers = {"content-type": "application/json", "anthropic-version": API_VERSION}
        if config.api_key:
            headers["x-api-key"] = config.api_key
        base = (config.base_url or DEFAULT_ADDRESS).rstrip("/").removesuffix("/v1")
        url = base if base.endswith("/messages") else f"{base}/v1/messages"
        super().__init__(config, setup, url=url, headers=headers)

    async def _complete(self, session: AttemptSession, messages: Sequence[Mapping[str, Any]]) -> ModelReply:
        started = time.time()
        body = self._body(messages, session.definitions)
        try:
            answer = await self._endpoint.post(self._url, body, excuse=session.excuse)
        except Refusal as refusal:
            raise self._refused(refusal) from refusal
        content, finish, usage = read_message(answer, self._url)
        message = _as_chat(content)
        parsed = parse_message(
            message,
            tools_offered=bool(session.definitions) and self._config.tool_choice != "none",
            is_known=session.is_known,
            finish_reason=finish,
            used_ids=session.used_ids,
        )
        echoed = echoed_message(message, parsed.calls, wire_name=session.wire_name)
        echoed[_BLOCKS] = content
        return ModelReply(
            parsed=parsed,
            message=echoed,
            raw=json.dumps(content, ensure_ascii=False),
            finish_reason=finish,
            input_tokens=usage.get("input_tokens"),
            output_tokens=usage.get("output_tokens"),
            started_at=started,
            latency_ms=answer.latency_ms,
        )

    def _body(
        self, messages: Sequence[Mapping[str, Any]], definitions: Sequence[Mapping[str, Any]]
    ) -> dict[str, Any]:
        config = self._config
        system, conversation = to_blocks(with_mapped_ids(messages, _ID_RULE))
        body: dict[str, Any] = {
            "model": config.model,
            "max_tokens": config.max_tokens or DEFAULT_MAX_TOKENS,
            "messages": conversation,
        }
        if system:
            body["system"] = system
        if definitions:
            body["tools"] = [_definition(item["function"]) for item in definitions]
            choice: dict[str, Any] = {"type": _CHOICES.get(config.tool_choice, "auto")}
            if config.parallel_calls is False:
                choice["disable_parallel_tool_use"] = True
            body["tool_choice"] = choice
        if config.temperature is not None:
            body["temperature"] = config.temperature
        if config.stream == "always":
            body["stream"] = True
        body.update(config.extra_body)
        return body


def _definition(function: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "name": function["name"],
        "description": function.get("description", ""),
        "input_schema": function.get("parameters") or {"type": "object", "properties": {}},
    }


def to_blocks(messages: Sequence[Mapping[str, Any]]) -> tuple[str, list[dict[str, Any]]]:
    """(system text, messages of content blocks): results stand in user messages, neighbours of one role are joined."""
    system: list[str] = []
    conversation: list[dict[str, Any]] = []
    for message in messages:
        role = message.get("role")
        if role in ("system", "developer"):
            system.append(text_of_content(message.get("content")))
            continue
        blocks = _blocks_of(message)
        if not blocks:
            continue
        wanted = "assistant" if role == "assistant" else "user"
        if conversation and conversation[-1]["role"] == wanted:
            conversation[-1]["content"].extend(blocks)
        else:
            conversation.append({"role": wanted, "content": blocks})
    return "\n\n".join(text for text in system if text), conversation


def _blocks_of(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    text = text_of_content(message.get("content"))
    if message.get("role") == "tool":
        return [{"type": "tool_result", "tool_use_id": str(message.get("tool_call_id")), "content": text}]
    calls = [
        {
            "type": "tool_use",
            "id": call["id"],
            "name": call["function"]["name"],
            "input": json.loads(call["function"]["arguments"] or "{}"),
        }
        for call in message.get("tool_calls") or ()
    ]
    kept = [
        dict(block)
        for block in message.get(_BLOCKS) or ()
        if block.get("type") in ("thinking", "redacted_thinking")
    ]
    return [*kept, *([{"type": "text", "text": text}] if text else []), *calls]


def _as_chat(content: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Content blocks as a message of the chat API."""
    message: dict[str, Any] = {
        "role": "assistant",
        "content": "\n".join(
            str(block.get("text") or "") for block in content if block.get("type") == "text"
        ),
    }
    thinking = [str(block.get("thinking") or "") for block in content if block.get("type") == "thinking"]
    if thinking:
        message["reasoning_content"] = "\n".join(thinking)
    calls = [
        {
            "id": str(block.get("id") or ""),
            "type": "function",
            "function": {"name": str(block.get("name") or ""), "arguments": block.get("input")},
        }
        for block in content
        if block.get("type") == "tool_use"
    ]
    if calls:
        message["tool_calls"] = calls
    return message


def read_message(answer: Answer, url: str) -> tuple[list[dict[str, Any]], str, Mapping[str, Any]]:
    """(content blocks, stop reason, usage) of an answer, streamed or whole; raises `ModelError` when there is none."""
    if answer.streamed:
        return _read_stream(answer)
    body = answer.body
    content = body.get("content") if isinstance(body, Mapping) else None
    if not isinstance(content, list):
        raise ModelError(
            f"the answer holds no content: {answer.raw[:200]!r}",
            where=url,
            next_step="check that base_url is an endpoint of the Messages API",
        )
    blocks = [dict(block) for block in content if isinstance(block, Mapping)]
    usage = body.get("usage")
    return blocks, str(body.get("stop_reason") or ""), usage if isinstance(usage, Mapping) else {}


def _read_stream(answer: Answer) -> tuple[list[dict[str, Any]], str, Mapping[str, Any]]:
    blocks: dict[int, dict[str, Any]] = {}
    inputs: dict[int, str] = {}
    finish = ""
    usage: dict[str, Any] = {}
    for event in answer.events:
        index = event.get("index", 0)
        if event.get("type") == "message_start":
            usage.update(event.get("message", {}).get("usage") or {})
        elif event.get("type") == "content_block_start":
            blocks[index] = dict(event.get("content_block") or {})
        elif event.get("type") == "content_block_delta":
            delta = event.get("delta") or {}
            block = blocks.setdefault(index, {"type": "text", "text": ""})
            if delta.get("type") == "input_json_delta":
                inputs[index] = inputs.get(index, "") + str(delta.get("partial_json") or "")
            for key in ("text", "thinking", "signature"):
                if key in delta:
                    block[key] = str(block.get(key) or "") + str(delta[key])
        elif event.get("type") == "message_delta":
            finish = str((event.get("delta") or {}).get("stop_reason") or finish)
            usage.update(event.get("usage") or {})
    for index, text in inputs.items():
        if text.strip():
            blocks[index]["input"] = text
    return [blocks[index] for index in sorted(blocks)], finish, usage


def build(config: AgentConfig, setup: AgentSetup) -> Agent:
    """The `anthropic` agent of a run."""
    return AnthropicAgent(config, setup)
