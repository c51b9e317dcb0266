"""Whether the tools that a task names exist, and whether what it says of them hangs together."""

from __future__ import annotations

from collections.abc import Iterator

from agent_reach.catalog.catalog import Catalog
from agent_reach.errors import AmbiguousToolError
from agent_reach.evals.suite.checks.base import PlacedCall, placed_calls, task_finding
from agent_reach.records.finding import Finding
from agent_reach.records.task import Task
from agent_reach.records.tool import Tool
from agent_reach.text.tokens import nearest_names

# --- the task as a whole


def check_kind(task: Task) -> Iterator[Finding]:
    """Kind and path must fit together."""
    decisions = any(path.calls for path in task.paths)
    if task.kind == "must" and not decisions:
        yield task_finding(
            task,
            "must_without_path",
            "error",
            "a `must` task without a golden call cannot be evaluated",
            "没有标准调用的 must 任务无法评估",
            fix=("give it a path, or make it `may` or `forbid`", "补上 path，或改为 may 或 forbid"),
        )
    if task.kind == "forbid" and decisions:
        yield task_finding(
            task,
            "path_in_forbid",
            "error",
            "a `forbid` task must not call, yet it has a golden path",
            "forbid 任务不允许调用，却给出了标准路径",
            pointer="/path",
            fix=("remove the path, or make it `must` or `may`", "去掉 path，或改为 must 或 may"),
        )


# --- names of tools


def check_names(task: Task, catalog: Catalog) -> Iterator[Finding]:
    """Every tool name of the task must be one of the catalog."""
    named = [("gold", placed.pointer + "/tool", placed.call.tool) for placed in placed_calls(task, catalog)]
    named += [("forbid", f"/forbid/{index}", name) for index, name in enumerate(task.forbid)]
    named += [("tools", f"/tools/{index}", name) for index, name in enumerate(task.tools)]
    named += [("result", f"/results/{index}/tool", entry.tool) for index, entry in enumerate(task.results)]
    told: set[tuple[str, str]] = set()
    for role, pointer, name in named:
        if (role, name) not in told:
            told.add((role, name))
            yield from _check_name(task, role, pointer, name, catalog)


_ROLES = {
    "gold": ("the golden path names", "标准路径使用了"),
    "forbid": ("`forbid` names", "forbid 使用了"),
    "tools": ("`tools` names", "tools 使用了"),
    "result": ("a recorded result names", "录制结果使用了"),
}


def _check_name(task: Task, role: str, pointer: str, name: str, catalog: Catalog) -> Iterator[Finding]:
    en, zh = _ROLES[role]
    try:
        tool = catalog.resolve(name)
    except AmbiguousToolError as error:
        yield task_finding(
            task,
            f"{role}_ambiguous_tool",
            "error",
            f"{en} {name!r}, a tool of several servers: {', '.join(error.candidates)}",
            f"{zh} {name!r}，多个服务器都有该工具：{'、'.join(error.candidates)}",
            pointer=pointer,
            fix=("write it as server/name", "写成 server/name"),
        )
        return
    if tool is None:
        yield _unknown_tool(task, role, pointer, name, catalog)
    elif catalog.is_alias(name):
        yield task_finding(
            task,
            f"{role}_by_alias",
            "info",
            f"{en} {name!r}, an alias of {tool.key!r}",
            f"{zh} {name!r}，它是 {tool.key!r} 的别名",
            pointer=pointer,
            fix=(f"write {tool.key!r}", f"写成 {tool.key!r}"),
        )


def _unknown_tool(task: Task, role: str, pointer: str, name: str, catalog: Catalog) -> Finding:
    en, zh = _ROLES[role]
    near = nearest_names(name.rpartition("/")[2] if "/" in name else name, list(catalog.names), limit=3)
    broken = [item.key for item in catalog.quarantined if name in (item.key, item.key.rpartition("/")[2])]
    if broken:
        said = ("it could not be loaded", "该工具未能加载")
    elif near:
        said = (f"closest: {', '.join(near)}", f"最接近：{'、'.join(near)}")
    else:
        said = ("nothing is named like it", "没有相近的名字")
    return task_finding(
        task,
        f"{role}_unknown_tool",
        "warning" if role == "result" else "error",
        f"{en} {name!r}, a tool not in the catalog ({said[0]})",
        f"{zh} {name!r}，目录中没有该工具（{said[1]}）",
        pointer=pointer,
        fix=(
            "mend the name, or give the new tool an alias in the overlay if it was renamed",
            "改正名字；若是工具改名，请在 overlay 中为新工具加别名",
        ),
        data={"name": name, "nearest": near, "quarantined": broken},
    )


def check_use(task: Task, placed: PlacedCall, catalog: Catalog) -> Iterator[Finding]:
    """A golden tool must be offered, and must not be forbidden."""
    tool = placed.tool
    if tool is None:
        return
    if any(_same(catalog, name, tool) for name in task.forbid):
        yield task_finding(
            task,
            "path_calls_forbidden_tool",
            "error",
            f"the golden path calls {tool.key!r}, which the task forbids",
            f"标准路径调用了任务禁止的 {tool.key!r}",
            pointer=placed.pointer,
            fix=("remove it from `forbid` or from the path", "从 forbid 或 path 中去掉它"),
        )
    if task.tools and not any(_same(catalog, name, tool) for name in task.tools):
        yield task_finding(
            task,
            "gold_not_offered",
            "error",
            f"the golden path calls {tool.key!r}, which is not among the task's `tools`",
            f"标准路径调用了 {tool.key!r}，但它不在任务的 tools 中",
            pointer=placed.pointer,
            fix=("add it to `tools`", "把它加入 tools"),
        )


def _same(catalog: Catalog, name: str, tool: Tool) -> bool:
    try:
        return catalog.resolve(name) is tool
    except AmbiguousToolError:
        return False
