"""For every tool three states side by side, each with another mend, and the first that is broken.

Physical: can it be started and called here. Semantic: was it offered and, when it was the right one, was it chosen.
Execution: does a path of hops that really worked lead to it. Unknown is a state of its own and breaks nothing.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from agent_reach.graph.reach import blocked_tools

if TYPE_CHECKING:
    from agent_reach.graph.build import ToolGraph

State = Literal["good", "broken", "unknown"]
CHOSEN_LINE = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolStates:
    """The three states of one tool. `offered` is None where nothing says what was offered; `chosen` and `right` are counts
    of required decisions (`chosen_rate` their share, None without any); `worked` and `tried` count calls."""

    tool: str
    physical: State
    semantic: State
    execution: State
    first_broken: Literal["physical", "semantic", "execution", ""]
    reasons: tuple[str, ...] = ()
    offered: bool | None = None
    chosen: int = 0
    right: int = 0
    worked: int = 0
    tried: int = 0

    @property
    def chosen_rate(self) -> float | None:
        """How often it was chosen when it was the right one."""
        return self.chosen / self.right if self.right else None


def tool_states(graph: ToolGraph) -> tuple[ToolStates, ...]:
    """The states of all tools, in catalog order."""
    blocked = blocked_tools(graph)
    right, chosen = _decisions(graph)
    working = _reached_by_working_hops(graph)
    offers = _offers(graph)
    found = []
    for tool in graph.catalog.tools:
        key = tool.key
        physical: State = (
            "broken"
            if key in blocked
            else "good"
            if graph.physical.get(key, ("",))[0] == "reachable"
            else "unknown"
        )
        offered = key in offers if offers is not None else None
        semantic: State = "unknown"
        if offered is False:
            semantic = "broken"
        elif right[key]:
            semantic = "good" if chosen[key] / right[key] >= CHOSEN_LINE else "broken"
        counts = graph.evidence.tools.get(key) if graph.evidence is not None else None
        worked, tried = (counts.ok, counts.ok + counts.failed) if counts is not None else (0, 0)
        execution: State = "good" if key in working else "broken" if tried and not worked else "unknown"
        states: dict[Literal["physical", "semantic", "execution"], State] = {
            "physical": physical, "semantic": semantic, "execution": execution
        }  # fmt: skip
        first: Literal["physical", "semantic", "execution", ""] = next(
            (name for name, state in states.items() if state == "broken"), ""
        )
        found.append(
            ToolStates(
                tool=key, physical=physical, semantic=semantic, execution=execution, first_broken=first,
                reasons=blocked.get(key, ()), offered=offered, chosen=chosen[key], right=right[key], worked=worked, tried=tried,
            )
        )  # fmt: skip
    return tuple(found)


def _offers(graph: ToolGraph) -> set[str] | None:
    """The tools that were offered: as traces say, else as the settings say; None where neither does."""
    evidence, table = graph.evidence, graph.table
    if evidence is not None and evidence.with_exposure:
        return {key for key, counts in evidence.tools.items() if counts.offered or counts.called}
    if graph.options.offered is None:
        return None
    return {
        table.nodes[target]
        for source, target in zip(table.source, table.target, strict=True)
        if source < table.entry_count
    }


def _decisions(graph: ToolGraph) -> tuple[Counter[str], Counter[str]]:
    """How often each tool was the right one, and how often it was chosen then: from the decisions of reports."""
    right: Counter[str] = Counter()
    chosen: Counter[str] = Counter()
    for report in graph.reports:
        if not report.tasks:
            for summary in report.tools:
                right[summary.tool] += summary.required
                chosen[summary.tool] += summary.reached
        for task in report.tasks:
            for attempt in task.attempts:
                for decision in attempt.decisions:
                    tool = (
                        graph.catalog.resolve(decision.expected_tool)
                        if decision.expected_tool in graph.catalog.names
                        else None
                    )
                    key = tool.key if tool is not None else decision.expected_tool
                    right[key] += 1
                    chosen[key] += decision.tool_right
    return right, chosen


def _reached_by_working_hops(graph: ToolGraph) -> set[str]:
    """Tools to which a chain of hops leads from an entry, each of which worked at least once."""
    if graph.evidence is None:
        return set()
    following: dict[str, list[str]] = {}
    for (source, target), counts in graph.evidence.hops.items():
        if counts.worked:
            following.setdefault(source, []).append(target)
    for source, target in graph.evidence.handoffs:
        following.setdefault(source, []).append(target)
    seen = set(graph.entries)
    stack = list(seen)
    while stack:
        for target in following.get(stack.pop(), ()):
            if target not in seen:
                seen.add(target)
                stack.append(target)
    return seen
