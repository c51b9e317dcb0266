"""What a run asks of an agent, the table of agents that ship, and the entry point for further ones.

An agent drives one attempt: it reads the session, lets its model decide, and hands every message and call to the session,
which executes and records. Plug-ins register a factory `(AgentConfig, AgentSetup) -> Agent` in the entry-point group
`agent_reach.agents`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

from agent_reach.calls.records import ParsedReply
from agent_reach.config.settings import AgentConfig
from agent_reach.errors import ConfigError, ModelError
from agent_reach.records.events import Event
from agent_reach.text.tokens import nearest_names

if TYPE_CHECKING:
    from agent_reach.evals.agents.session import AttemptSession

ENTRY_POINT_GROUP = "agent_reach.agents"


class UnusableModelError(ModelError):
    """The model cannot be used at all (a wrong key, a dead endpoint): trying the next task is pointless."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentInfo:
    """What a report says of an agent.

    `placed_by` is `provider` where the endpoint places the tool definitions itself, else `template`; `deterministic`
    agents decide the same on every run; `tools_in_system` asks for the tool list at the head of the system message;
    `own_tools_text` turns the offered tools into the text that the template places.
    """

    name: str
    model: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    deterministic: bool = False
    placed_by: str = "provider"
    tools_in_system: bool = False
    system_prompt: str = ""
    own_tools_text: Callable[[Any], str] | None = None


class Agent(Protocol):
    """One agent, used for all attempts of a run, several at a time."""

    @property
    def info(self) -> AgentInfo:
        """What it is."""
        ...

    async def run(self, session: AttemptSession) -> None:
        """Drive one attempt to its end; raises `ModelError` when the model failed, never for a bad decision."""
        ...

    async def aclose(self) -> None:
        """Give back connections and processes."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSetup:
    """What an agent may use of the run: the folder of relative names, the seed, where to report waits, and the environment
    that programs it starts are given."""

    folder: str = "."
    seed: int = 0
    notify: Callable[[Event], None] = lambda event: None
    catalog: Any = None
    environment: Mapping[str, str] = field(default_factory=dict)


Factory = Callable[[AgentConfig, AgentSetup], Agent]

AGENTS: dict[str, str] = {
    "chat": "agent_reach.evals.agents.chat:build",
    "anthropic": "agent_reach.evals.agents.anthropic:build",
    "python": "agent_reach.evals.agents.python:build",
    "recorded": "agent_reach.evals.agents.recorded:build",
    "local": "agent_reach.evals.agents.local:build",
    "lexical": "agent_reach.evals.agents.lexical:build",
    "mcp-client": "agent_reach.evals.agents.mcp_client:build",
}


def agent_types() -> tuple[str, ...]:
    """Names of all agents: those that ship, then plug-ins."""
    return (*AGENTS, *(name for name in _plug_ins() if name not in AGENTS))


def build_agent(config: AgentConfig, setup: AgentSetup) -> Agent:
    """The agent that a run configuration names; raises `ConfigError` with the nearest name."""
    place = AGENTS.get(config.type)
    if place is not None:
        module, _, name = place.partition(":")
        factory: Factory = getattr(import_module(module), name)
        return factory(config, setup)
    plug_in = _plug_ins().get(config.type)
    if plug_in is None:
        near = nearest_names(config.type, agent_types(), limit=1)
        raise ConfigError(
            f"no agent is of type {config.type!r}",
            next_step=f"did you mean {near[0]!r}?" if near else f"use one of {', '.join(agent_types())}",
        )
    loaded: Factory = plug_in.load()
    return loaded(config, setup)


def checked_agent(agent: Any) -> Any:
    """What a caller gave as agent, if it is one; raises `ConfigError` for a function, a class or anything else."""
    lacks = [name for name in ("info", "run", "aclose") if not hasattr(agent, name)]
    if not lacks and not isinstance(agent, type):
        return agent
    what = f"the class {agent.__name__}" if isinstance(agent, type) else f"{type(agent).__name__}"
    raise ConfigError(
        f"{what} is no agent" + (f": it has no {', '.join(lacks)}" if lacks else ""),
        where="agent",
        next_step="give an object with info, run and aclose; name a function in the configuration:"
        " agent: {type: python, function: 'my_agent:run'}",
    )


def _plug_ins() -> dict[str, Any]:
    from importlib.metadata import entry_points

    return {point.name: point for point in entry_points(group=ENTRY_POINT_GROUP)}


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelReply:
    """One message of a model as an agent received it.

    `message` is what is echoed in the next request; `raw` the output as received; `latency_ms` leaves out waits and failed
    tries.
    """

    parsed: ParsedReply
    message: Mapping[str, Any]
    raw: str = ""
    finish_reason: str = ""
    input_tokens: int | None = None
    output_tokens: int | None = None
    started_at: float | None = None
    latency_ms: float | None = None
