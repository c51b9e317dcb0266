"""The tuning half of the tasks and the held-back half, the same on every run and balanced over tools and kinds."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

from agent_reach.records.task import Task


def split_halves(tasks: Sequence[Task], seed: int = 0) -> tuple[tuple[Task, ...], tuple[Task, ...]]:
    """(tuning, held back). Within each kind and first golden tool tasks go to the halves in turn, in the order of a hash of
    their id; where a group is odd, the smaller half gets the task. Tasks with the same request stay together."""
    groups: dict[tuple[str, str], list[Task]] = {}
    for task in tasks:
        tool = task.paths[0].calls[0].tool if task.paths and task.paths[0].calls else ""
        groups.setdefault((task.kind, tool), []).append(task)
    sides: tuple[list[Task], list[Task]] = ([], [])
    place: dict[str, int] = {}
    for key in sorted(groups):
        for task in sorted(groups[key], key=lambda task: _draw(task.id, seed)):
            side = place.get(task.query)
            if side is None:
                own = [sum(other in groups[key] for other in half) for half in sides]
                side = 0 if (own[0], len(sides[0])) <= (own[1], len(sides[1])) else 1
                place[task.query] = side
            sides[side].append(task)
    order = {task.id: index for index, task in enumerate(tasks)}
    first, second = (tuple(sorted(half, key=lambda task: order[task.id])) for half in sides)
    return first, second


def _draw(task_id: str, seed: int) -> str:
    return sha256(f"{seed} {task_id}".encode("utf-8", "surrogatepass")).hexdigest()
