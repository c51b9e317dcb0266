"""The agent that makes the golden calls, live: what it cannot reach is wrong with the suite, the folder, or a server.

It reads the suite instead of thinking. A task that must or may call gets its first path; of several right values it takes
the first.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agent_reach import Suite
from agent_reach.evals.agents.python import AgentRequest
from agent_reach.records.task import Task

TASKS: dict[str, Task] = {
    task.query: task for task in Suite.load(Path(__file__).with_name("suite.yaml")).tasks if task.query
}


async def run(request: AgentRequest) -> str:
    """Make the calls of the task with this request, one after the other."""
    task = TASKS[request.query]
    results: dict[str, Any] = {}
    for path in task.paths[:1]:
        for step in path.stages:
            for call in step:
                outcome = await request.call(call.tool, settled(call.args, results))
                results[call.id] = outcome.value
    return "done" if results else "no call is needed"


def settled(wanted: Any, results: Mapping[str, Any]) -> Any:
    """One value that the golden value accepts: the first alternative, with results of earlier steps put in."""
    if isinstance(wanted, Mapping):
        if "$one_of" in wanted:
            return settled(wanted["$one_of"][0], results)
        if "$from" in wanted:
            return look_up(str(wanted["$from"]), results)
        return {name: settled(value, results) for name, value in wanted.items()}
    if isinstance(wanted, (list, tuple)):
        return [settled(value, results) for value in wanted]
    return wanted


def look_up(place: str, results: Mapping[str, Any]) -> Any:
    """The value at `step.field[0].field` of the results so far."""
    value: Any = results
    for part in place.replace("[", ".[").split("."):
        value = value[int(part[1:-1])] if part.startswith("[") else value[part]
    return value
