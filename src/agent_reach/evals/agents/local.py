"""The `local` agent: a small model from a GGUF file, on this machine's processor, without network.

Small models choose better when their reply is held to a form than when they are handed `tools=`: each message is one
JSON object that names an offered tool (or none). The tool list is the head of the prompt and the same for every task, so
that the engine reads it once and its cache keeps it.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from agent_reach.calls.arguments import read_arguments
from agent_reach.calls.identifiers import unique_id
from agent_reach.calls.json_text import is_cut
from agent_reach.calls.records import ParsedCall, ParsedReply
from agent_reach.config.run import public_settings
from agent_reach.config.settings import AgentConfig
from agent_reach.errors import ConfigError, MissingExtraError, ModelError
from agent_reach.evals.agents.base import Agent, AgentInfo, AgentSetup, ModelReply, UnusableModelError
from agent_reach.evals.agents.chat import read_completion
from agent_reach.evals.agents.endpoint import Endpoint, Refusal
from agent_reach.evals.agents.loop import converse
from agent_reach.evals.agents.reply_schema import NO_TOOL, reply_schema, tools_text
from agent_reach.evals.agents.session import AttemptSession
from agent_reach.records.trace import ArgumentProblem

DEFAULT_MAX_TOKENS = 512
START_LIMIT_S = 300.0
REQUEST_LIMIT_S = 900.0

SYSTEM_PROMPT = (
    "You help by calling tools. Reply with one JSON object and nothing else.\n"
    'To call a tool: {"tool": "<name>", "arguments": {...}}. Give optional arguments (marked ?) only when the user '
    "asked for them.\n"
    f'When no tool fits, or the results answer the request: {{"tool": "{NO_TOOL}", "answer": "<text>"}}.'
)
REMINDER = f'If the results answer the request, reply {{"tool": "{NO_TOOL}", "answer": "..."}} now.'


class LocalAgent:
    """Drives the model in `model_file`, one attempt after the other: the engine has one slot, whose cache stays warm.

    `options: {constrained: false}` leaves the reply free (then it is read as text).
    """

    def __init__(self, config: AgentConfig, setup: AgentSetup) -> None:
        self._config = config
        self._setup = setup
        self._path = find_model(config, setup.folder)
        self._process: asyncio.subprocess.Process | None = None
        self._endpoint: Endpoint | None = None
        self._address = ""
        self._url = ""
        self._starting = asyncio.Lock()
        self._turn = asyncio.Lock()
        self._schemas: dict[int, tuple[Any, dict[str, Any]]] = {}
        self._settings = {**public_settings(config), "model_file": self._path.name}

    @property
    def info(self) -> AgentInfo:
        return AgentInfo(
            name=self._config.name or "local",
            model=self._config.model or self._path.stem,
            settings=self._settings,
            placed_by="template",
            tools_in_system=True,
            system_prompt=self._config.system or SYSTEM_PROMPT,
            own_tools_text=tools_text,
        )

    async def run(self, session: AttemptSession) -> None:
        with session.suspended():
            await self.start()
            await self._turn.acquire()
        try:
            await converse(session, self._complete, max_steps=self._config.max_steps, results_as="user")
        finally:
            self._turn.release()

    async def aclose(self) -> None:
        if self._endpoint is not None:
            await self._endpoint.aclose()
        process, self._process = self._process, None
        if process is None or process.returncode is not None:
            return
        if process.stdin is not None:
            process.stdin.close()
        try:
            await asyncio.wait_for(process.wait(), 5.0)
        except TimeoutError:
            process.kill()
            await process.wait()

    async def _complete(self, session: AttemptSession, messages: Sequence[Mapping[str, Any]]) -> ModelReply:
        started = time.time()
        assert self._endpoint is not None
        try:
            answer = await self._endpoint.post(
                self._url, self._body(session, messages), excuse=session.excuse
            )
        except Refusal as refusal:
            raise ModelError(
                f"the model's process refused the request (HTTP {refusal.status}): {refusal.text}",
                where=str(self._path),
                next_step="raise `context_tokens`, lower `context.token_budget`, or offer fewer tools",
            ) from refusal
        message, finish, usage = read_completion(answer, self._url)
        content = str(message.get("content") or "")
        parsed = read_reply(content, finish_reason=finish, used_ids=session.used_ids)
        return ModelReply(
            parsed=parsed,
            message={"role": "assistant", "content": content},
            raw=content,
            finish_reason=finish,
            input_tokens=usage.get("prompt_tokens"),
            output_tokens=usage.get("completion_tokens"),
            started_at=started,
            latency_ms=answer.latency_ms,
        )

    def _body(self, session: AttemptSession, messages: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        config = self._config
        body: dict[str, Any] = {
            "messages": with_reminder(merged_roles(messages)),
            "temperature": config.temperature if config.temperature is not None else 0.0,
            "max_tokens": config.max_tokens or DEFAULT_MAX_TOKENS,
            "seed": config.seed if config.seed is not None else self._setup.seed,
            "cache_prompt": True,
        }
        if config.options.get("constrained", True) and session.definitions:
            schema = self._schema(session.definitions)
            body["response_format"] = {
                "type": "json_schema",
                "json_schema": {"name": "reply", "schema": schema},
            }
        body.update(config.extra_body)
        return body

    def _schema(self, definitions: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        known = self._schemas.get(id(definitions))
        if known is None or known[0] is not definitions:
            known = self._schemas[id(definitions)] = (definitions, reply_schema(definitions))
        return known[1]

    async def start(self) -> str:
        """Start the model's process unless it runs; its address on the loopback is returned."""
        async with self._starting:
            if self._process is not None and self._process.returncode is None:
                return self._address
            if self._process is not None:
                raise UnusableModelError(
                    f"the model's process ended with code {self._process.returncode}",
                    where=str(self._path),
                    next_step="check the GGUF file and the memory of this machine",
                )
            self._process = await self._spawn()
            self._address = await self._listen(self._process)
            self._url = f"{self._address}/v1/chat/completions"
            limits = {"request_timeout": max(self._config.request_timeout, REQUEST_LIMIT_S), "max_retries": 0}
            self._endpoint = Endpoint(
                config=_with(self._config, limits), headers={}, notify=self._setup.notify
            )
            return self._address

    async def _spawn(self) -> asyncio.subprocess.Process:
        command = [
            sys.executable,
            "-m",
            "agent_reach.evals.agents.model_process",
            str(self._path),
            "--context",
            str(self._config.context_tokens),
            "--threads",
            str(self._config.threads or 0),
            "--seed",
            str(self._setup.seed),
        ]
        return await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )

    async def _listen(self, process: asyncio.subprocess.Process) -> str:
        """Where the model listens: the one line of the process that is JSON (engines write banners too)."""
        assert process.stdout is not None
        try:
            async with asyncio.timeout(START_LIMIT_S):
                while line := await process.stdout.readline():
                    said = _json_line(line)
                    if said is None:
                        continue
                    if "address" in said:
                        return str(said["address"])
                    if said.get("missing"):
                        raise MissingExtraError("xllamacpp", "local")
                    raise self._unloadable(str(said.get("error")))
        except TimeoutError:
            process.kill()
            raise self._unloadable(f"it was not loaded within {START_LIMIT_S:g} s") from None
        raise self._unloadable(f"its process ended with code {await process.wait()}")

    def _unloadable(self, reason: str) -> UnusableModelError:
        return UnusableModelError(
            f"the model cannot be loaded: {reason}",
            where=str(self._path),
            next_step="check that the file is a GGUF model; `agent-reach model fetch` brings a small one",
        )


def read_reply(content: str, *, finish_reason: str, used_ids: set[str]) -> ParsedReply:
    """The reply object of the constrained form; any other text is read as text with written calls."""
    text = content.strip()
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, dict) and isinstance(value.get("tool"), str):
        if value["tool"] == NO_TOOL:
            return ParsedReply(text=str(value.get("answer") or ""))
        read = read_arguments(value.get("arguments"))
        call = ParsedCall(
            call_id=unique_id("", used_ids),
            name=value["tool"],
            arguments=read.values,
            raw_arguments=json.dumps(value.get("arguments"), ensure_ascii=False),
            problems=read.problems,
            origin="constrained",
        )
        return ParsedReply(calls=(call,))
    if text.startswith("{") and is_cut(text):
        problem = ArgumentProblem(code="truncated", message="the reply ends in the middle", actual=text[:200])
        return ParsedReply(text="", problems=(problem,))
    from agent_reach.calls.message import parse_text

    return parse_text(content, finish_reason=finish_reason, used_ids=used_ids)


def merged_roles(messages: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Neighbours of one role joined, because the prompt forms of small models want roles to alternate."""
    merged: list[dict[str, Any]] = []
    for message in messages:
        role = "user" if message.get("role") == "tool" else str(message.get("role"))
        content = str(message.get("content") or "")
        if merged and merged[-1]["role"] == role:
            merged[-1]["content"] += f"\n\n{content}"
        else:
            merged.append({"role": role, "content": content})
    return merged


def with_reminder(messages: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Behind a result, the last words say how to stop: small models otherwise go on calling."""
    if not any(message["role"] == "assistant" for message in messages):
        return list(messages)
    last = messages[-1]
    return [*messages[:-1], {**last, "content": f"{last['content']}\n\n{REMINDER}"}]


def find_model(config: AgentConfig, folder: str) -> Path:
    """The GGUF file: `model_file` of the configuration, else the fetched small model."""
    from agent_reach.evals.agents.model_fetch import fetched_model

    if config.model_file:
        path = Path(folder) / config.model_file
        if not path.is_file():
            raise ConfigError("no such model file", where=str(path), next_step="give the path of a GGUF file")
        return path
    found = fetched_model(config.options.get("cache"))
    if found is None:
        raise ConfigError(
            "no model file is given and none was fetched",
            where="agent.model_file",
            next_step="run `agent-reach model fetch`, or set agent.model_file to a GGUF file",
        )
    return found


def _with(config: AgentConfig, changes: Mapping[str, Any]) -> AgentConfig:
    import dataclasses

    return dataclasses.replace(config, **changes)


def _json_line(line: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(line)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def build(config: AgentConfig, setup: AgentSetup) -> Agent:
    """The `local` agent of a run."""
    return LocalAgent(config, setup)
