"""What a probe says of servers and tools."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from agent_reach.records.finding import Finding
from agent_reach.records.message import Message

ReachState = Literal["reachable", "blocked", "unknown"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing that was looked at: `kind` is command, variable, file, service, scope, handshake, listing or call; `passed`
    None means that it could not be decided here. Values of variables are never part of it."""

    kind: str
    name: str
    passed: bool | None
    detail: Message
    fix: Message | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerReach:
    """Whether one server answers: seconds from start to its whole tool list, protocol version, what it calls itself."""

    name: str
    state: ReachState
    checks: tuple[Check, ...] = ()
    tools: int = 0
    protocol_version: str = ""
    info: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolReach:
    """Whether one tool can be started and called here; `called` tells that a harmless call was made."""

    tool: str
    state: ReachState
    checks: tuple[Check, ...] = ()
    called: bool = False

    @property
    def blockers(self) -> tuple[Check, ...]:
        """What stands in the way."""
        return tuple(check for check in self.checks if check.passed is False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeResult:
    """All servers and tools, and what loading the tools found."""

    servers: tuple[ServerReach, ...]
    tools: tuple[ToolReach, ...]
    findings: tuple[Finding, ...] = ()

    @property
    def blocked(self) -> tuple[ToolReach, ...]:
        """Tools that cannot be called here."""
        return tuple(tool for tool in self.tools if tool.state == "blocked")
