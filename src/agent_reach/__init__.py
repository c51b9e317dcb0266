"""Agent-Reach: what can an AI agent reach among its tools, what can it not, and why.

The names below are the public interface; each is imported when it is first used, so that importing the package costs
next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from agent_reach.version import __version__

if TYPE_CHECKING:
    from agent_reach.catalog.catalog import Catalog
    from agent_reach.catalog.sources.python import tool
    from agent_reach.errors import AgentReachError
    from agent_reach.evals.gate import diff
    from agent_reach.evals.runner import run
    from agent_reach.evals.scoring.score import score
    from agent_reach.evals.suite.load import Suite
    from agent_reach.graph.build import ToolGraph
    from agent_reach.records.tool import Tool
    from agent_reach.records.trace import CallOutcome
    from agent_reach.router.reach import Reach
    from agent_reach.traces.recorder import Recorder
    from agent_reach.traces.store.base import TraceStore

_HOMES = {
    "AgentReachError": "agent_reach.errors",
    "CallOutcome": "agent_reach.records.trace",
    "Catalog": "agent_reach.catalog.catalog",
    "Reach": "agent_reach.router.reach",
    "Recorder": "agent_reach.traces.recorder",
    "Suite": "agent_reach.evals.suite.load",
    "Tool": "agent_reach.records.tool",
    "ToolGraph": "agent_reach.graph.build",
    "TraceStore": "agent_reach.traces.store.base",
    "diff": "agent_reach.evals.gate",
    "run": "agent_reach.evals.runner",
    "score": "agent_reach.evals.scoring.score",
    "tool": "agent_reach.catalog.sources.python",
}

__all__ = [
    "AgentReachError",
    "CallOutcome",
    "Catalog",
    "Reach",
    "Recorder",
    "Suite",
    "Tool",
    "ToolGraph",
    "TraceStore",
    "__version__",
    "diff",
    "run",
    "score",
    "tool",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'agent_reach' has no attribute {name!r}")
    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
