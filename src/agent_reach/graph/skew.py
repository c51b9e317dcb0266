"""Call skew: how far the calls that were made are from those that would have been right, and how uneven they are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent_reach.graph.build import ToolGraph


@dataclass(frozen=True, slots=True, kw_only=True)
class CallSkew:
    """`total_variation` is half the sum of |called share - ideal share| (None without golds or calls); `gini` of the call
    counts over all tools of the agent's side (0 even, near 1 all on one); `difference` is called share - ideal share."""

    calls: int
    golds: int
    total_variation: float | None
    gini: float | None
    called: dict[str, int] = field(default_factory=dict)
    difference: dict[str, float] = field(default_factory=dict)


def gini(counts: list[int]) -> float | None:
    """Gini coefficient of counts: mean absolute difference over twice the mean; None where all are 0 or there are none."""
    total = sum(counts)
    if not counts or not total:
        return None
    ordered = sorted(counts)
    weighted = sum(place * count for place, count in enumerate(ordered, start=1))
    return 2 * weighted / (len(ordered) * total) - (len(ordered) + 1) / len(ordered)


def call_skew(graph: ToolGraph) -> CallSkew:
    """The skew of the calls in the graph's traces against the golden calls of its tasks or reports."""
    evidence = graph.evidence
    mine = [tool.key for tool in graph.catalog.tools if tool.actor == "agent"]
    called = {
        key: evidence.tools[key].called if evidence is not None and key in evidence.tools else 0
        for key in mine
    }
    ideal = _ideal(graph)
    calls, golds = sum(called.values()), sum(ideal.values())
    distance = None
    difference: dict[str, float] = {}
    if calls and golds:
        keys = dict.fromkeys((*mine, *ideal))
        difference = {key: called.get(key, 0) / calls - ideal.get(key, 0) / golds for key in keys}
        distance = sum(abs(value) for value in difference.values()) / 2
    return CallSkew(
        calls=calls, golds=golds, total_variation=distance, gini=gini(list(called.values())), called=called,
        difference={key: round(value, 6) for key, value in difference.items() if value},
    )  # fmt: skip


def _ideal(graph: ToolGraph) -> Counter[str]:
    """Golden calls: of the tasks' first paths (weighed by traces of the task), else the decisions of reports."""
    ideal: Counter[str] = Counter()
    reader = graph.evidence.names.key_of if graph.evidence is not None else _key_of(graph)
    for task in graph.tasks:
        for call in task.paths[0].calls if task.paths else ():
            key = reader(call.tool)
            if key is not None:
                ideal[key] += 1
    if ideal:
        return ideal
    for report in graph.reports:
        for scored in report.tasks:
            for attempt in scored.attempts:
                for decision in attempt.decisions:
                    key = reader(decision.expected_tool)
                    if key is not None:
                        ideal[key] += 1
    return ideal


def _key_of(graph: ToolGraph) -> Callable[[str], str | None]:
    from agent_reach.graph.names import NameReader

    return NameReader(graph.catalog, graph.options).key_of
