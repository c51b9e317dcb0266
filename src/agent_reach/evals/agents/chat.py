"""The `chat` agent: any endpoint that speaks the OpenAI chat API.

Tools go to the provider as definitions; streamed or not, structured or written as text, calls are read by `call_parse`.
What endpoints disagree about is learnt from their refusals once per run: streaming only, reasoning that must come back,
the name of the token limit.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from typing import Any

from agent_reach.calls.identifiers import OPENAI_RULE
from agent_reach.calls.message import parse_message
from agent_reach.calls.stream import StreamAssembler
from agent_reach.config.settings import AgentConfig
from agent_reach.errors import ModelError
from agent_reach.evals.agents.base import Agent, AgentSetup, ModelReply
from agent_reach.evals.agents.endpoint import Answer, Refusal
from agent_reach.evals.agents.loop import echoed_message, with_mapped_ids
from agent_reach.evals.agents.provider import ProviderAgent
from agent_reach.evals.agents.session import AttemptSession

_REASONING_FIELDS = ("reasoning_content", "reasoning", "reasoning_details")


class ChatAgent(ProviderAgent):
    """Drives a model behind `POST {base_url}/chat/completions`.

    `options` of the configuration: `echo_reasoning` auto, always or never; `call_id_rule` a regular expression that call
    ids must fit; `tools: false` sends no definitions.
    """

    kind = "chat"

    def __init__(self, config: AgentConfig, setup: AgentSetup) -> None:
        headers = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
        if config.api_key:
            headers["authorization"] = f"Bearer {config.api_key}"
        base = config.base_url.rstrip("/")
        url = base if base.endswith("/chat/completions") else f"{base}/chat/completions"
        super().__init__(config, setup, url=url, headers=headers)
        self._streams = config.stream == "always"
        self._echo_reasoning = config.options.get("echo_reasoning", "auto") == "always"
        self._stream_usage = True
        self._limit_name = "max_tokens"
        self._rule = str(config.options.get("call_id_rule") or OPENAI_RULE)

    async def _complete(self, session: AttemptSession, messages: Sequence[Mapping[str, Any]]) -> ModelReply:
        started = time.time()
        offers_tools = bool(session.definitions) and self._config.options.get("tools", True) is not False
        answer = await self._ask(session, messages, session.definitions if offers_tools else ())
        message, finish, usage = read_completion(answer, self._url)
        allowed = offers_tools and self._config.tool_choice != "none"
        parsed = parse_message(
            message,
            tools_offered=allowed,
            is_known=session.is_known,
            finish_reason=finish,
            used_ids=session.used_ids,
        )
        return ModelReply(
            parsed=parsed,
            message=echoed_message(message, parsed.calls, wire_name=session.wire_name),
            raw=json.dumps(message, ensure_ascii=False),
            finish_reason=finish,
            input_tokens=_count(usage, "prompt_tokens"),
            output_tokens=_count(usage, "completion_tokens"),
            started_at=started,
            latency_ms=answer.latency_ms,
        )

    async def _ask(
        self,
        session: AttemptSession,
        messages: Sequence[Mapping[str, Any]],
        definitions: Sequence[Mapping[str, Any]],
    ) -> Answer:
        for _ in range(4):
            body = self._body(messages, definitions)
            try:
                return await self._endpoint.post(self._url, body, excuse=session.excuse)
            except Refusal as refusal:
                if self._learn(refusal, body):
                    continue
                if "tool" in refusal.text.lower():
                    step = "this model may not take tools; try another, or set options: {tools: false}"
                    raise self._refused(refusal, next_step=step) from refusal
                raise self._refused(refusal) from refusal
        raise ModelError("the endpoint refuses every form of the request", where=self._url)

    def _body(
        self, messages: Sequence[Mapping[str, Any]], definitions: Sequence[Mapping[str, Any]]
    ) -> dict[str, Any]:
        config = self._config
        body: dict[str, Any] = {
            "model": config.model,
            "messages": [self._sent(message) for message in with_mapped_ids(messages, self._rule)],
        }
        if definitions:
            body["tools"] = list(definitions)
            body["tool_choice"] = config.tool_choice
            if config.parallel_calls is not None:
                body["parallel_tool_calls"] = config.parallel_calls
        if config.temperature is not None:
            body["temperature"] = config.temperature
        if config.max_tokens is not None:
            body[self._limit_name] = config.max_tokens
        if config.seed is not None:
            body["seed"] = config.seed
        if self._streams:
            body["stream"] = True
            if self._stream_usage:
                body["stream_options"] = {"include_usage": True}
        body.update(config.extra_body)
        return body

    def _sent(self, message: Mapping[str, Any]) -> dict[str, Any]:
        if self._echo_reasoning or message.get("role") != "assistant":
            return dict(message)
        return {key: value for key, value in message.items() if key not in _REASONING_FIELDS}

    def _learn(self, refusal: Refusal, body: Mapping[str, Any]) -> bool:
        """Change the form of the request as the refusal asks; False when there is nothing to change."""
        words = refusal.text.lower()
        if "stream" in words and self._config.stream == "auto" and not self._streams:
            self._streams = True
            return True
        if "stream_options" in words and self._stream_usage:
            self._stream_usage = False
            return True
        echo = self._config.options.get("echo_reasoning", "auto")
        if any(name in words for name in _REASONING_FIELDS) and echo == "auto" and not self._echo_reasoning:
            self._echo_reasoning = True
            return True
        if "max_completion_tokens" in words and self._limit_name == "max_tokens" and "max_tokens" in body:
            self._limit_name = "max_completion_tokens"
            return True
        return False


def read_completion(answer: Answer, url: str) -> tuple[dict[str, Any], str, Mapping[str, Any]]:
    """(message, finish reason, usage) of a chat completion, streamed or whole; raises `ModelError` when there is none."""
    if answer.streamed:
        return _read_stream(answer, url)
    body = answer.body
    choices = body.get("choices") if isinstance(body, Mapping) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, Mapping) else None
    if not isinstance(message, Mapping) or not isinstance(first, Mapping):
        raise ModelError(
            f"the answer holds no message: {answer.raw[:200]!r}",
            where=url,
            next_step="check that base_url is an OpenAI-compatible chat endpoint",
        )
    usage = body.get("usage")
    return dict(message), str(first.get("finish_reason") or ""), usage if isinstance(usage, Mapping) else {}


def _read_stream(answer: Answer, url: str) -> tuple[dict[str, Any], str, Mapping[str, Any]]:
    assembler = StreamAssembler()
    finish = ""
    usage: Mapping[str, Any] = {}
    seen = False
    for event in answer.events:
        if isinstance(event.get("usage"), Mapping):
            usage = event["usage"]
        choices = event.get("choices")
        first = choices[0] if isinstance(choices, list) and choices else None
        if not isinstance(first, Mapping):
            continue
        seen = True
        delta = first.get("delta") or first.get("message")
        if isinstance(delta, Mapping):
            assembler.add(delta)
        finish = str(first.get("finish_reason") or finish)
    if not seen:
        raise ModelError(
            "the stream held no message", where=url, next_step="set stream: never, or check base_url"
        )
    return assembler.message(), finish, usage


def _count(usage: Mapping[str, Any], name: str) -> int | None:
    value = usage.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def build(config: AgentConfig, setup: AgentSetup) -> Agent:
    """The `chat` agent of a run."""
    return ChatAgent(config, setup)
