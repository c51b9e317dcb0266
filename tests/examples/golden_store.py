"""The agent that makes the golden calls of the store's practice suite, each with one value that its gold accepts.

What it cannot reach is wrong with the suite or with the store. A pattern is taken for the words between its `.*`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agent_reach import Suite
from agent_reach.evals.agents.python import AgentRequest
from agent_reach.evals.demo import store_folder
from agent_reach.records.task import Task

TASKS: dict[str, Task] = {task.query: task for task in Suite.load(store_folder() / "practice.yaml").tasks}


async def run(request: AgentRequest) -> str:
    """Make the calls of the task with this request, one after the other, with what is optional and has a wanted value."""
    results: dict[str, Any] = {}
    for path in TASKS[request.query].paths[:1]:
        for stage in path.stages:
            for call in stage:
                named = {name: value for name, value in call.optional.items() if value != {"$any": True}}
                outcome = await request.call(call.tool, settled({**call.args, **named}, results))
                results[call.id] = outcome.value
    return "done" if results else "no call is needed"


def settled(wanted: Any, results: Mapping[str, Any]) -> Any:
    """One value that the golden value accepts, with results of earlier steps put in."""
    if not isinstance(wanted, Mapping):
        return wanted
    match dict(wanted):
        case {"$one_of": [first, *_]}:
            return settled(first, results)
        case {"$from": place}:
            value: Any = results
            for part in str(place).replace("[", ".[").split("."):
                value = value[int(part[1:-1])] if part.startswith("[") else value[part]
            return value
        case {"$date": day}:
            return day
        case {"$pattern": pattern}:
            return str(pattern).removeprefix("(?i)").replace(".*", " ")
        case {"$any": True}:
            return "as asked"
    return {name: settled(value, results) for name, value in wanted.items()}
