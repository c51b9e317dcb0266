"""The points of a sweep: for each value on an axis, and each task, one variant of the run.

One axis moves at a time. Lists are nested (the 20 tools hold the 10), so that a curve shows the load and not the luck of
the draw.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from agent_reach.catalog.similar import similarity
from agent_reach.config.settings import ExposureConfig
from agent_reach.errors import InputError
from agent_reach.evals.sweep.filler import filler_passages, filler_text
from agent_reach.evals.trials.laboratory import Laboratory
from agent_reach.evals.trials.variant import Variant
from agent_reach.records.context import ContextBlock
from agent_reach.records.task import Task
from agent_reach.records.tool import Tool

if TYPE_CHECKING:
    from agent_reach.catalog.catalog import Catalog

Axis = Literal["tools", "position", "passages", "tokens"]
AXES: tuple[Axis, ...] = ("tools", "position", "passages", "tokens")
Exposed = Literal["all", "reach"]
MOST_TOKENS, MOST_PASSAGES = 2_000_000, 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepOptions:
    """What is swept.

    `tools` counts of offered tools; `position` shares of the list (0 first, 1 last) at which the first right tool stands;
    `passages` and `tokens` given as load. `exposure` runs every point so. `distractors`: `catalog` (drawn by the seed),
    `near` (most alike first), or another catalog, whose tools are added. `at_tools` is the list's length on the other axes
    (None: the whole catalog). `target` is the reach that the capacity keeps.
    """

    tools: tuple[int, ...] = ()
    position: tuple[float, ...] = ()
    passages: tuple[int, ...] = ()
    tokens: tuple[int, ...] = ()
    exposure: tuple[Exposed, ...] = ("all",)
    distractors: Literal["catalog", "near"] = "catalog"
    other: Catalog | None = None
    at_tools: int | None = None
    repeats: int = 1
    target: float = 0.8
    seed: int = 0

    def values(self, axis: Axis) -> tuple[float, ...]:
        """The values on an axis, ascending."""
        found: Mapping[Axis, Sequence[float]] = {
            "tools": self.tools,
            "position": self.position,
            "passages": self.passages,
            "tokens": self.tokens,
        }
        return tuple(sorted(set(found[axis])))


@dataclass(frozen=True, slots=True, kw_only=True)
class PointPlan:
    """One point: `axis` at `value` under `exposure`, with a variant per task (task id -> variant)."""

    axis: Axis
    value: float
    exposure: Exposed
    variants: Mapping[str, Variant] = field(default_factory=dict)


def plan_points(laboratory: Laboratory, options: SweepOptions) -> list[PointPlan]:
    """Every point of every axis; raises `InputError` where nothing is swept or more tools are asked for than there are."""
    if not any(options.values(axis) for axis in AXES):
        raise InputError(
            "nothing is swept",
            next_step="give --tools 10,20,50 or --position 0,0.5,1 or --passages 0,5 or --tokens 0,2000",
        )
    pool = widened(laboratory.catalog, options.other)
    _check_counts(pool, options)
    lists = {task.id: ToolList(pool, laboratory.catalog, task, options) for task in laboratory.suite.tasks}
    plans = []
    for axis in AXES:
        for exposure in options.exposure:
            for value in options.values(axis):
                variants = {
                    task.id: _variant(laboratory, options, lists[task.id], axis, value, exposure)
                    for task in laboratory.suite.tasks
                }
                plans.append(PointPlan(axis=axis, value=value, exposure=exposure, variants=variants))
    return plans


def _check_counts(pool: Catalog, options: SweepOptions) -> None:
    asked = [*options.values("tools"), *([options.at_tools] if options.at_tools else [])]
    if any(value < 1 for value in asked):
        raise InputError("a list of tools holds at least one", where="--tools")
    if asked and max(asked) > len(pool):
        raise InputError(
            f"{max(asked):g} tools are asked for, and there are {len(pool)}",
            where="--tools",
            next_step="ask for fewer, or add another catalog with --distractors FILE",
        )
    if any(value > MOST_TOKENS for value in options.values("tokens")):
        raise InputError(
            f"more than {MOST_TOKENS:,} tokens of load are asked for",
            where="--tokens",
            next_step="stay within what a model can be sent",
        )
    if any(value > MOST_PASSAGES for value in options.values("passages")):
        raise InputError(
            f"more than {MOST_PASSAGES:,} passages are asked for",
            where="--passages",
            next_step="ask for fewer",
        )
    if any(not 0 <= value <= 1 for value in options.values("position")):
        raise InputError("a position is a share of the list, 0 to 1", where="--position")


def widened(catalog: Catalog, other: Catalog | None) -> Catalog:
    """The catalog with the tools of another one behind its own; tools of the same identity stay the catalog's."""
    if other is None:
        return catalog
    from agent_reach.catalog.catalog import Catalog as Made

    return Made.from_tools([*catalog.tools, *other.tools])


class ToolList:
    """The order in which distractors join the tools that a task cannot do without."""

    def __init__(self, pool: Catalog, own: Catalog, task: Task, options: SweepOptions) -> None:
        self.pool = pool
        self.task = task
        self._draw = random.Random(f"{options.seed} {task.id}")
        needed = [call.tool for path in task.paths for call in path.calls]
        needed += [call.tool for turn in task.turns for path in turn.paths for call in path.calls]
        self.golden = _keys(pool, needed)
        self.needed = tuple(dict.fromkeys([*self.golden, *_keys(pool, task.forbid)]))
        others = [tool for tool in pool.tools if tool.key not in self.needed]
        self._draw.shuffle(others)
        if options.other is not None:
            others.sort(key=lambda tool: tool not in own)
        if options.distractors == "near":
            golds = [pool.get(key) for key in self.needed]
            others.sort(key=lambda tool: -_nearest(tool, golds))
        self._others = [tool.key for tool in others]
        self._places = {key: self._draw.random() for key in self.needed}

    def first(self, count: int, position: float | None = None) -> tuple[str, ...]:
        """Keys of the list of that length; the first right tool stands at that share of it where one is given."""
        listed = self._others[: max(0, count - len(self.needed))]
        for key in self.needed:
            listed.insert(round(self._places[key] * len(listed)), key)
        if position is not None and self.golden:
            first = self.golden[0]
            listed.remove(first)
            listed.insert(round(position * len(listed)), first)
        return tuple(listed)


def _keys(catalog: Catalog, names: Sequence[str]) -> tuple[str, ...]:
    found = (catalog.resolve(name) for name in names)
    return tuple(dict.fromkeys(tool.key for tool in found if tool is not None))


def _nearest(tool: Tool, golds: Sequence[Tool]) -> float:
    return max((similarity(tool, gold) for gold in golds), default=0.0)


def _variant(
    laboratory: Laboratory,
    options: SweepOptions,
    tools: ToolList,
    axis: Axis,
    value: float,
    exposure: Exposed,
) -> Variant:
    config, task = laboratory.config, tools.task
    count = round(value) if axis == "tools" else options.at_tools or len(laboratory.catalog)
    catalog = tools.pool.subset(tools.first(count, value if axis == "position" else None))
    settings = config.exposure.settings if exposure == "reach" else {}
    exposed = ExposureConfig(mode=exposure, surface=config.exposure.surface, settings=settings)
    context = config.context
    if axis == "passages":
        task = with_passages(task, laboratory.suite.tasks, round(value), options.seed)
        context = replace(context, max_passages=None)
    if axis == "tokens":
        task = with_load(task, round(value), options.seed)
        context = replace(context, token_budget=None)
    changed = replace(config, exposure=exposed, context=context)
    return Variant(config=changed, catalog=catalog, task=replace(task, tools=()))


def with_passages(task: Task, tasks: Sequence[Task], count: int, seed: int) -> Task:
    """The task with exactly so many passages: its own best ones, then some that do not belong to it."""
    passages = [block for block in task.context if block.kind == "retrieval"]
    passages.sort(key=lambda block: -(block.score if block.score is not None else float("-inf")))
    own = passages[:count]
    filler = filler_passages(task, tasks, count - len(own), seed)
    others = tuple(block for block in task.context if block.kind != "retrieval")
    return replace(task, context=(*others, *own, *filler))


def with_load(task: Task, tokens: int, seed: int) -> Task:
    """The task with so many estimated tokens of earlier talk in front of it."""
    if tokens <= 0:
        return task
    text = filler_text(tokens, task.language, f"{seed} {task.id} load")
    return replace(task, context=(ContextBlock(id="load", kind="history", text=text), *task.context))
