"""A scripted agent with one trouble at a time, in a small world where everything else goes right.

The agent looks at what it is really given (offered tools, definitions, messages, blocks) and fails only while its trouble
is there. `noise` flips the outcome now and then, by a seed.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from agent_reach.calls.records import ParsedReply
from agent_reach.catalog.catalog import Catalog
from agent_reach.config.settings import (
    DEFAULT_CONTEXT_ORDER,
    AgentConfig,
    ContextConfig,
    EnvironmentGrants,
    ExecutionConfig,
    ExposureConfig,
    FaultRule,
    RunConfig,
    SurfaceConfig,
)
from agent_reach.evals.agents.base import AgentInfo, ModelReply
from agent_reach.evals.agents.session import AttemptSession
from agent_reach.evals.suite.load import Suite
from agent_reach.records.context import ContextBlock
from agent_reach.records.task import GoldenCall, GoldenPath, RecordedResult, Task
from agent_reach.records.tool import Needs, Tool
from agent_reach.records.trace import ArgumentProblem

LOOK, WRITE, RIVAL, OTHER = "query_stock", "update_stock", "adjust_stock", "send_newsletter"
FOUND = {"product_id": "PDT-1001", "warehouse_id": "WH-SH-01", "other": [{"warehouse_id": "WH-BJ-07"}]}
ARGUMENTS = {
    "product_id": "PDT-1001",
    "warehouse_id": "WH-SH-01",
    "amount": 250,
    "day": "2031-04-05",
    "level": "high",
}
QUERY = "Set PDT-1001 to 250 pieces from 2031-04-05, priority high."
LONG = "Set the stock of a product to a new count.\nIt writes the final number and knows days and levels."
_WORDS = [
    "alpha",
    "bravo",
    "charlie",
    "delta",
    "echo",
    "foxtrot",
    "golf",
    "hotel",
    "india",
    "juliet",
    "kilo",
    "lima",
    "mike",
    "november",
    "oscar",
    "papa",
]


def schema(required: list[str], **properties: Any) -> dict[str, Any]:
    made = {name: {"type": kind} if isinstance(kind, str) else kind for name, kind in properties.items()}
    return {"type": "object", "properties": made, "required": required, "additionalProperties": False}


def tools(extra: int = 0, description: str = "Set the stock of a product to a new count.") -> list[Tool]:
    write = {
        "product_id": "string",
        "warehouse_id": "string",
        "amount": "integer",
        "day": {"type": "string", "format": "date"},
        "level": {"type": "string", "enum": ["high", "medium", "low"]},
    }
    noise = [
        Tool(
            name=f"{_WORDS[index % 16]}_{index}",
            description=f"{_WORDS[index % 16].title()} number {index}.",
            input_schema=schema([], topic="string"),
            effects=frozenset({"write"}),
        )
        for index in range(extra)
    ]
    return [
        *noise,
        Tool(
            name=OTHER, description="Send a newsletter.", input_schema=schema([], topic="string"),
            effects=frozenset({"write"}),
        ),
        Tool(
            name=LOOK, description="Look up the stock of a product.",
            input_schema=schema(["product_id"], product_id="string"), effects=frozenset({"read"}),
        ),
        Tool(
            name=WRITE, description=description, input_schema=schema(["product_id"], **write),
            effects=frozenset({"write"}),
        ),
        Tool(
            name=RIVAL, description="Change the stock of a product by a difference.",
            input_schema=schema(["product_id"], **write), effects=frozenset({"write"}),
        ),
    ]  # fmt: skip


def world_task(**more: Any) -> Task:
    path = GoldenPath(
        stages=(
            (
                GoldenCall(
                    tool=LOOK, id="look", args={"product_id": "PDT-1001"}, result=FOUND, has_result=True
                ),
            ),
            (
                GoldenCall(
                    tool=WRITE,
                    id="act",
                    args={**ARGUMENTS, "warehouse_id": {"$from": "look.warehouse_id"}},
                    result={"done": True},
                    has_result=True,
                ),
            ),
        )
    )
    fields: dict[str, Any] = {
        "id": "planted",
        "kind": "must",
        "query": QUERY,
        "language": "en",
        "paths": (path,),
    }
    return Task(**{**fields, **more})


@dataclass(frozen=True)
class Seen:
    """What the agent can see right now."""

    session: AttemptSession
    heard: list[str] = field(default_factory=list)

    @property
    def names(self) -> list[str]:
        return [tool.name for tool in self.session.tools]

    def definition(self, name: str) -> dict[str, Any]:
        for item in self.session.definitions:
            if item["function"]["name"] == name:
                return dict(item["function"])
        return {}

    def parameter(self, name: str) -> str:
        properties = self.definition(WRITE).get("parameters", {}).get("properties", {})
        return json.dumps(properties.get(name, {}), ensure_ascii=False)

    @property
    def text(self) -> str:
        return "\n".join(str(message.get("content") or "") for message in self.session.messages())

    @property
    def passages(self) -> int:
        return sum(block.kind == "retrieval" for block in self.session.context)


@dataclass(frozen=True)
class Deed:
    """What the agent does after the look-up: a call with changed arguments, another tool, words, or calls before.

    `looks` is how often it looks up; `idle` means that it neither looks up nor writes."""

    tool: str = WRITE
    changes: dict[str, Any] = field(default_factory=dict)
    words: str = ""
    before: tuple[str, ...] = ()
    write_first: bool = False
    looks: int = 1
    idle: bool = False


RIGHT = Deed()
Rule = Callable[[Seen], Deed]


class ScriptedAgent:
    """Looks up, then writes, but for its trouble."""

    def __init__(self, rule: Rule, *, noise: float = 0.0, seed: int = 0, template: bool = False) -> None:
        self._rule = rule
        self._noise = noise
        self._random = random.Random(seed)
        self._template = template
        self.attempts = 0

    @property
    def info(self) -> AgentInfo:
        return AgentInfo(
            name="scripted",
            deterministic=not self._noise,
            placed_by="template" if self._template else "agent",
            own_tools_text=(lambda definitions: json.dumps(list(definitions))) if self._template else None,
        )

    async def run(self, session: AttemptSession) -> None:
        self.attempts += 1
        seen = Seen(session)
        deed = self._rule(seen)
        if deed.idle:
            if self._noise and self._random.random() < self._noise:
                deed = replace(deed, before=() if deed.before else (OTHER,))
            await self._do(session, deed, "")
            return
        if not deed.write_first:
            look = await session.call(LOOK, {"product_id": "PDT-1001"})
            for _ in range(deed.looks - 1):
                seen.heard.append((await session.call(LOOK, {"product_id": "PDT-1001"})).text)
            deed = self._rule(seen)
            state = look.value.get("warehouse_id") if isinstance(look.value, dict) else None
        else:
            state = "WH-SH-01"
        if state is None and "WH-SH-01" in seen.text:
            state = "WH-SH-01"
        if self._noise and self._random.random() < self._noise:
            deed = RIGHT if deed is not RIGHT else Deed(tool=OTHER)
        await self._do(session, deed, state)

    async def _do(self, session: AttemptSession, deed: Deed, state: Any) -> None:
        for name in deed.before:
            await session.call(name, {"topic": "x"})
        if deed.words or deed.idle:
            session.say(deed.words or "Nothing to do.")
            return
        if deed.looks > 1:
            return
        if deed.tool == OTHER or deed.tool.split("_")[0] in _WORDS:
            await session.call(deed.tool, {"topic": "x"})
            return
        right = {**ARGUMENTS, "warehouse_id": state or "UNKNOWN-0", **deed.changes}
        await session.call(deed.tool, {name: value for name, value in right.items() if value is not ...})
        if deed.write_first:
            await session.call(LOOK, {"product_id": "PDT-1001"})

    async def aclose(self) -> None:
        """Nothing to give back."""


@dataclass(frozen=True)
class World:
    """A run with one planted trouble."""

    cause: str
    rule: Rule
    catalog: Catalog = field(default_factory=lambda: Catalog.from_tools(tools()))
    task: Task = field(default_factory=world_task)
    config: RunConfig = field(default_factory=RunConfig)
    template: bool = False

    @property
    def suite(self) -> Suite:
        return Suite.from_tasks([self.task], name="planted")

    def agent(self, *, noise: float = 0.0, seed: int = 0) -> ScriptedAgent:
        return ScriptedAgent(self.rule, noise=noise, seed=seed, template=self.template)


def passages(count: int, text: str = "Reference text number {n} about shelves.") -> tuple[ContextBlock, ...]:
    return tuple(
        ContextBlock(id=f"doc_{n}", kind="retrieval", text=text.format(n=n), score=1.0 - n / 100)
        for n in range(count)
    )


def faulty(kind: str, tool: str = WRITE) -> RunConfig:
    return RunConfig(execution=ExecutionConfig(faults=(FaultRule(tool=tool, kind=kind),)))


def _when(condition: Callable[[Seen], bool], deed: Deed) -> Rule:
    return lambda seen: deed if condition(seen) else RIGHT


def _either(condition: Callable[[Seen], bool], deed: Deed, otherwise: Deed) -> Rule:
    return lambda seen: deed if condition(seen) else otherwise


def _right(seen: Seen) -> Deed:
    return RIGHT


def _state_in_messages(seen: Seen) -> bool:
    _head, _, known = seen.text.partition("Known values:")
    return "WH-SH-01" in known.split("\n\n")[0] if known else False


def _written_order(seen: Seen) -> bool:
    user = next(str(m["content"]) for m in seen.session.messages() if m["role"] == "user")
    return user.startswith(QUERY)


def _tools_first(seen: Seen) -> bool:
    text = seen.text
    return "Reference passages:" not in text or text.index("Tools:") < text.index("Reference passages:")


def _other_in_results(seen: Seen) -> bool:
    return any("WH-BJ-07" in block.text for block in seen.session.context if block.kind == "tool_result")


def _config(**more: Any) -> RunConfig:
    return RunConfig(**more)


def _unwanted(seen: Seen) -> str:
    return str(seen.definition(OTHER).get("description", "Not for requests like"))


def _over_calls(kind: str) -> list[World]:
    """A call too many: of a forbidden tool, in a task that may call, in one that must not."""
    if kind == "forbid":
        task = world_task(kind="forbid", paths=(), query="What is a warehouse?")
        busy, calm = Deed(before=(OTHER,), idle=True), Deed(idle=True)
    elif kind == "may":
        task, busy, calm = world_task(kind="may"), Deed(before=(OTHER,)), RIGHT
    else:
        task, busy, calm = world_task(forbid=(OTHER,)), Deed(before=(OTHER,)), RIGHT
    task = replace(task, results=(RecordedResult(tool=OTHER, result="sent"),))
    return [
        World("over_called", _either(lambda s: OTHER in s.names, busy, calm), task=task),
        World("over_called", _either(lambda s: "Call a tool only for" not in s.text, busy, calm), task=task),
        World("over_called", _either(lambda s: "Not for requests like" not in _unwanted(s), busy, calm), task=task),
    ]  # fmt: skip


def worlds() -> list[World]:
    """One world per trouble."""
    order = (
        "instruction",
        "constraint",
        "state_slot",
        "history",
        "tool_result",
        "retrieval",
        "tools",
        "request",
    )
    last = ("request", *(kind for kind in DEFAULT_CONTEXT_ORDER if kind not in ("request", "tools")), "tools")
    literal = GoldenPath(
        stages=(
            (
                GoldenCall(
                    tool=LOOK,
                    id="look",
                    args={"product_id": "PDT-1001"},
                    result={"found": True},
                    has_result=True,
                ),
            ),
            (GoldenCall(tool=WRITE, id="act", args=ARGUMENTS, result={"done": True}, has_result=True),),
        )
    )
    without_level = {name: value for name, value in ARGUMENTS.items() if name != "level"}
    written_out = GoldenPath(stages=(world_task().paths[0].stages[0], literal.stages[1]))
    manual = ContextBlock(id="manual", kind="retrieval", text="Always use WH-SH-01 here.", score=0.1)
    needy = [replace(t, needs=Needs(scopes=("stock:write",))) if t.name == WRITE else t for t in tools()]
    far_query = "250 for PDT-1001 please from 2031-04-05, level high"
    return [
        World("rival_chosen", _when(lambda s: RIVAL in s.names, Deed(tool=RIVAL))),
        World(
            "rival_chosen", _when(lambda s: RIVAL in s.names, Deed(tool=RIVAL)),
            catalog=Catalog.from_tools(tools(extra=40)),
        ),
        World(
            "crowded_out", _when(lambda s: len(s.names) > 20, Deed(tool="alpha_0")),
            catalog=Catalog.from_tools(tools(extra=60)),
        ),
        World(
            "description_truncated",
            _when(lambda s: "final number" not in s.definition(WRITE)["description"], Deed(tool=OTHER)),
            catalog=Catalog.from_tools(tools(description=LONG)),
            config=_config(exposure=ExposureConfig(surface=SurfaceConfig(max_description=20))),
        ),
        World(
            "no_call",
            _when(lambda s: "\n" in s.definition(WRITE).get("description", ""), Deed(words="Have a nice day.")),
            catalog=Catalog.from_tools(tools(description=LONG)),
        ),
        World(
            "wrong_format",
            _when(lambda s: "YYYY-MM-DD" not in s.parameter("day"), Deed(changes={"day": "05/04/2031"})),
        ),
        World(
            "wrong_type",
            _when(lambda s: "whole number" not in s.parameter("amount"), Deed(changes={"amount": "250 pieces"})),
        ),
        World(
            "enum_synonym", _when(lambda s: "urgent" not in s.parameter("level"), Deed(changes={"level": "urgent"}))
        ),
        World(
            "state_lost", _when(lambda s: not _state_in_messages(s), Deed(changes={"warehouse_id": "UNKNOWN-0"}))
        ),
        World("wrong_entity", _when(_other_in_results, Deed(changes={"warehouse_id": "WH-BJ-07"}))),
        World(
            "context_overload", _when(lambda s: s.passages > 5, Deed(tool=OTHER)),
            task=world_task(context=passages(20)),
            config=_config(context=ContextConfig(max_passages=None)),
        ),
        World(
            "context_overload", _when(lambda s: not _written_order(s), Deed(tool=OTHER)),
            task=world_task(context=passages(4)), config=_config(context=ContextConfig(order=order)),
        ),
        World(
            "context_overload", _when(lambda s: not _tools_first(s), Deed(tool=OTHER)),
            task=world_task(context=passages(4)), template=True, config=_config(context=ContextConfig(order=last)),
        ),
        World("rate_limited", _right, config=faulty("rate_limited")),
        World("timed_out", _right, config=faulty("timeout")),
        World("tool_failed", _right, config=faulty("tool_error")),
        World("empty_result", _right, config=faulty("empty")),
        World(
            "permission_denied", _when(lambda s: WRITE not in s.names, Deed(words="I cannot do that.")),
            catalog=Catalog.from_tools(needy), config=_config(environment=EnvironmentGrants(name="test")),
        ),
        World(
            "not_offered", _when(lambda s: WRITE not in s.names, Deed(tool=RIVAL)),
            config=_config(exposure=ExposureConfig(mode="names", tools=(OTHER, LOOK, RIVAL))),
        ),
        World(
            "not_recalled", _when(lambda s: WRITE not in s.names, Deed(words="There is no tool for this.")),
            catalog=Catalog.from_tools([
                replace(t, description="Sets counts.", name=t.name) if t.name == WRITE else
                replace(t, description=f"{t.description} {far_query}") if t.name in (LOOK, RIVAL) else t for t in tools()
            ]),
            task=world_task(query=f"look up the stock and {far_query}"),
            config=_config(exposure=ExposureConfig(mode="reach", settings={"k": 1}, pinned=(LOOK,))),
        ),
        World("name_hallucinated", lambda s: Deed(tool="replace_inventory")),
        World(
            "unknown_argument",
            _when(lambda s: "pieces" not in s.parameter("amount"), Deed(changes={"amount": ..., "pieces": 250, "why": "x"})),
        ),
        World(
            "missing_required",
            _when(lambda s: "amount" not in s.definition(WRITE)["parameters"]["required"], Deed(changes={"amount": ...})),
        ),
        World("cascaded", _right, config=faulty("tool_error", LOOK)),
        World(
            "talked_not_called",
            _when(lambda s: "Act only by calling" not in s.text, Deed(words="I have updated the stock with update_stock.")),
        ),
        World(
            "wrong_order",
            _when(lambda s: "only after" not in s.definition(WRITE)["description"], Deed(write_first=True)),
            task=world_task(paths=(written_out,)),
        ),
        *_over_calls("must"),
        *_over_calls("may"),
        *_over_calls("forbid"),
        World(
            "unavailable", _when(lambda s: WRITE not in s.names, Deed(words="There is no tool for this.")),
            catalog=Catalog.from_tools(t for t in tools() if t.name != WRITE),
        ),
        World(
            "unparsable_call",
            _when(
                lambda s: "valid JSON object" not in s.text,
                Deed(words='<tool_call>{"name": "update_stock", "arguments": {"product_id": '),
            ),
        ),
        World("loop", _when(lambda s: not any("made before" in text for text in s.heard), Deed(looks=4))),
        World("loop", _when(lambda s: "the same call" not in s.text, Deed(looks=4))),
        World(
            "wrong_value",
            _when(lambda s: 'between \\"PDT-1001 to\\"' not in s.parameter("amount"), Deed(changes={"amount": 100})),
        ),
        World(
            "wrong_value",
            lambda s: Deed(changes={"level": "low" if s.parameter("level") != "{}" else ...}),
            task=world_task(
                paths=(GoldenPath(stages=(literal.stages[0], (GoldenCall(
                    tool=WRITE, id="act", args=without_level, result={"done": True}, has_result=True,
                ),))),),
                results=(RecordedResult(
                    tool=WRITE, args={**without_level, "level": "low"}, error="level low is not known here",
                    error_kind="tool_error",
                ),),
                query="Set PDT-1001 in WH-SH-01 to 250 pieces from 2031-04-05.",
            ),
        ),
        World(
            "out_of_window", _when(lambda s: "WH-SH-01" not in s.text, Deed(changes={"warehouse_id": "X-0"})),
            task=world_task(paths=(literal,), context=(*passages(3, "word " * 40), manual)),
            config=_config(context=ContextConfig(token_budget=170)),
        ),
    ]  # fmt: skip


class CutAgent:
    """Its call is cut off unless its settings prevent that: a reply held to a form, or a high output limit."""

    def __init__(self, config: AgentConfig) -> None:
        self._config = config

    @property
    def info(self) -> AgentInfo:
        return AgentInfo(name="cut", deterministic=True)

    async def run(self, session: AttemptSession) -> None:
        limit = self._config.max_tokens or 10
        if self._config.options.get("constrained", True) or limit > 30:
            await session.call(WRITE, {**ARGUMENTS, "warehouse_id": "WH-SH-01"})
            return
        problem = ArgumentProblem(code="truncated", message="the reply ends in the middle")
        reply = ModelReply(
            parsed=ParsedReply(text="", problems=(problem,)),
            message={"role": "assistant", "content": "{"},
            output_tokens=limit,
        )
        await session.take_reply(reply)

    async def aclose(self) -> None:
        """Nothing to give back."""


def build_cut_agent(config: AgentConfig, setup: Any) -> CutAgent:
    """The agent that stands in for a configured one."""
    return CutAgent(config)


def cut_world() -> World:
    """A local model whose reply is free and cut off; its settings are read from the configuration."""
    path = GoldenPath(
        stages=((GoldenCall(tool=WRITE, id="act", args=ARGUMENTS, result={"done": True}, has_result=True),),)
    )
    return World(
        "unparsable_call",
        _right,
        task=world_task(paths=(path,)),
        config=_config(agent=AgentConfig(type="local", options={"constrained": False}, max_tokens=10)),
    )
