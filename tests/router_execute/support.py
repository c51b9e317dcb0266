"""A scripted backend and a clock that only moves when somebody sleeps."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from agent_reach.backends.base import failure, success
from agent_reach.catalog.catalog import Catalog
from agent_reach.records.tool import Tool
from agent_reach.records.trace import CallOutcome
from agent_reach.router.execute import Executor
from agent_reach.router.normalize import NormalizedCall, normalize_call

Script = Callable[[Tool, Mapping[str, Any], int], CallOutcome]


class Clock:
    """Seconds that pass only while sleeping."""

    def __init__(self) -> None:
        self.now = 0.0
        self.waits: list[float] = []

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds
        await asyncio.sleep(0)


class ScriptedBackend:
    """Answers by a function of tool, arguments and the number of the call to that tool (from 0)."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.running = 0
        self.most_running = 0

    async def call(
        self, tool: Tool, arguments: Mapping[str, Any], *, call_id: str = "", timeout: float | None = None
    ) -> CallOutcome:
        number = sum(1 for key, _ in self.calls if key == tool.key)
        self.calls.append((tool.key, dict(arguments)))
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        try:
            await asyncio.sleep(0)
            return self.script(tool, arguments, number)
        finally:
            self.running -= 1

    async def aclose(self) -> None:
        return None


def sequence(*outcomes: Any) -> Script:
    """The outcomes one after another, the last one for ever; a callable is given the tool."""

    def script(tool: Tool, arguments: Mapping[str, Any], number: int) -> CallOutcome:
        outcome = outcomes[min(number, len(outcomes) - 1)]
        return outcome(tool) if callable(outcome) else outcome

    return script


def fails(kind: str, **facts: Any) -> Callable[[Tool], CallOutcome]:
    return lambda tool: failure(kind, f"{kind} from {tool.key}", tool=tool, **facts)  # type: ignore[arg-type]


def tool(
    name: str,
    *,
    effects: Sequence[str] = (),
    server: str = "s",
    required: Sequence[str] = (),
    **properties: Any,
) -> Tool:
    return Tool(
        name=name,
        server=server,
        description=properties.pop("description", f"{name} of the thing"),
        input_schema={"type": "object", "properties": properties, "required": list(required)},
        effects=frozenset(effects),  # type: ignore[arg-type]
    )


TEXT = {"type": "string"}
OK = success({"fine": True})


def executor(
    script: Script, tools: Sequence[Tool], **settings: Any
) -> tuple[Executor, ScriptedBackend, Clock]:
    clock, backend = Clock(), ScriptedBackend(script)
    made = Executor(
        backend,
        Catalog.from_tools(tools),
        clock=clock,
        sleep=clock.sleep,
        wall_clock=lambda: 1_000_000.0,
        random=lambda: 0.5,
        **settings,
    )
    return made, backend, clock


def call(of: Tool, **arguments: Any) -> NormalizedCall:
    return normalize_call(of, arguments)
