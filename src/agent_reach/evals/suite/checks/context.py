"""Whether what a task gives and how it compares hangs together: facts in their blocks, slots that tools can fill,
ignored arguments that exist."""

from __future__ import annotations

from collections.abc import Iterator

from agent_reach.catalog.catalog import Catalog
from agent_reach.evals.suite.checks.base import placed_calls, resolve, shown, task_finding
from agent_reach.evals.suite.checks.corpus import compact
from agent_reach.records.finding import Finding
from agent_reach.records.task import Task
from agent_reach.text.tokens import nearest_names


def check_context(task: Task, catalog: Catalog) -> Iterator[Finding]:
    """Facts, slots and ignored arguments of one task."""
    for index, block in enumerate(task.context):
        for fact in block.facts:
            if compact(fact) and compact(fact) not in compact(f"{block.text} {block.value}"):
                yield task_finding(
                    task,
                    "fact_not_in_block",
                    "warning",
                    f"block {block.id!r} declares the fact {shown(fact)}, which its text does not hold",
                    f"上下文块 {block.id!r} 声明了事实 {shown(fact)}，但其文本中没有",
                    pointer=f"/context/{index}/facts",
                    fix=("mend the fact or the text", "改正事实或文本"),
                )
    yield from _check_slots(task, catalog)
    yield from _check_ignored(task, catalog)


def _check_slots(task: Task, catalog: Catalog) -> Iterator[Finding]:
    for index, slot in enumerate(task.state_slots):
        if not slot.source or slot.filled:
            continue
        # names of tools may hold dots themselves: the longest start that is a tool counts
        parts = slot.source.split(".")
        starts = [".".join(parts[:count]) for count in range(len(parts), 0, -1)]
        if any(resolve(catalog, start) is not None for start in starts):
            continue
        near = nearest_names(parts[0], list(catalog.names), limit=2)
        yield task_finding(
            task,
            "slot_unknown_tool",
            "error",
            f"the state slot {slot.name!r} takes its value from {slot.source!r}, but no tool is named {parts[0]!r}",
            f"状态槽 {slot.name!r} 取值于 {slot.source!r}，但没有名为 {parts[0]!r} 的工具",
            pointer=f"/state_slots/{index}/from",
            fix=(
                f"write tool.path.to.value{' (closest: ' + ', '.join(near) + ')' if near else ''}",
                f"写成 工具.取值路径{'（最接近：' + '、'.join(near) + '）' if near else ''}",
            ),
        )


def _check_ignored(task: Task, catalog: Catalog) -> Iterator[Finding]:
    tools = [placed.tool for placed in placed_calls(task, catalog) if placed.tool is not None]
    if not tools:
        return
    for name in task.match.ignore_args:
        known = {
            form
            for tool in tools
            for parameter in tool.parameters
            for form in (parameter, f"{tool.name}.{parameter}", f"{tool.key}.{parameter}")
        }
        if not any(name == form or name.startswith((f"{form}.", f"{form}[")) for form in known):
            near = nearest_names(name, sorted(known), limit=1)
            yield task_finding(
                task,
                "ignored_argument_unknown",
                "warning",
                f"`ignore_args` names {name!r}, which no golden tool of the task declares",
                f"ignore_args 中的 {name!r} 不是任务标准工具声明的参数",
                pointer="/match/ignore_args",
                fix=(f"closest: {near[0]}", f"最接近：{near[0]}") if near else None,
            )
