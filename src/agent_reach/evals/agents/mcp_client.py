"""The `mcp-client` agent: an outside program that reaches the tools through a recording MCP address of its own.

The address, one per attempt, is opened by the gateway.
"""

from __future__ import annotations

from agent_reach.config.settings import AgentConfig
from agent_reach.errors import ConfigError
from agent_reach.evals.agents.base import Agent, AgentSetup


def build(config: AgentConfig, setup: AgentSetup) -> Agent:
    """Refuses: this version has no gateway that could record an outside program."""
    raise ConfigError(
        "an `mcp-client` agent needs the gateway, which this version does not have",
        where="agent.type",
        next_step="drive the program through a `python` agent, or score its logs with type: recorded",
    )
