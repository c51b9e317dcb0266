"""Whether golden calls can be right at all: tools that exist, arguments that the schema knows and allows.

A gold that no schema allows makes every agent fail; this is where it is told before the run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from agent_reach.catalog.catalog import Catalog
from agent_reach.catalog.schema import (
    allowed_values,
    argument_problems,
    is_nullable,
    known_names,
    output_problems,
    parameter_types,
    resolved_schema,
)
from agent_reach.evals.suite.checks.base import PlacedCall, placed_calls, shown, task_finding
from agent_reach.evals.suite.checks.matchers import (
    check_matchers,
    matcher_problem,
    matchers_of_arguments,
    samples,
)
from agent_reach.evals.suite.checks.names import check_kind, check_names, check_use
from agent_reach.records.finding import Finding, Severity
from agent_reach.records.matchers import is_matcher
from agent_reach.records.task import Task
from agent_reach.records.tool import Tool
from agent_reach.records.trace import ArgumentProblem
from agent_reach.text.patterns import pattern_search
from agent_reach.text.pointers import escape_pointer
from agent_reach.text.tokens import nearest_names


def check_golds(task: Task, catalog: Catalog) -> Iterator[Finding]:
    """Everything wrong with the tools and arguments that the task names."""
    yield from check_kind(task)
    yield from check_names(task, catalog)
    yield from check_matchers(task)
    seen: set[int] = set()
    for placed in placed_calls(task, catalog):
        yield from check_use(task, placed, catalog)
        if placed.tool is not None and id(placed.call) not in seen:
            seen.add(id(placed.call))
            yield from _check_arguments(task, placed, placed.tool)
            yield from _check_result(task, placed, placed.tool)


# --- arguments


def _check_arguments(task: Task, placed: PlacedCall, tool: Tool) -> Iterator[Finding]:
    parts = (placed.call.args, placed.call.optional)
    if any(is_matcher(part) for part in parts) or any(
        matcher_problem(matcher) for part in parts for _, matcher in matchers_of_arguments(part)
    ):
        return
    yield from _check_argument_names(task, placed, tool)
    for part, values in (("args", placed.call.args), ("optional", placed.call.optional)):
        for name, value in values.items():
            if name in tool.parameters:
                yield from _check_value(
                    task, tool, name, value, f"{placed.pointer}/{part}/{escape_pointer(name)}"
                )
    yield from _check_whole(task, placed, tool)


def _check_argument_names(task: Task, placed: PlacedCall, tool: Tool) -> Iterator[Finding]:
    known = known_names(tool.input_schema)
    for part, values in (("args", placed.call.args), ("optional", placed.call.optional)):
        for name in values:
            if known is None or name in known:
                continue
            near = nearest_names(name, sorted(known), limit=2)
            hint = (f"closest: {', '.join(near)}", f"最接近：{'、'.join(near)}") if near else ("", "")
            yield task_finding(
                task,
                "gold_unknown_argument",
                "error",
                f"{tool.key!r} has no argument {name!r}" + (f" ({hint[0]})" if near else ""),
                f"{tool.key!r} 没有参数 {name!r}" + (f"（{hint[1]}）" if near else ""),
                pointer=f"{placed.pointer}/{part}/{escape_pointer(name)}",
                fix=(
                    f"its arguments are {', '.join(sorted(known)) or 'none'}",
                    f"它的参数有：{'、'.join(sorted(known)) or '无'}",
                ),
                data={"argument": name, "nearest": near},
            )
    for name in tool.required:
        if name not in placed.call.args:
            where = "only under `optional`" if name in placed.call.optional else "without gold"
            yield task_finding(
                task,
                "gold_missing_required",
                "warning",
                f"{tool.key!r} requires {name!r}, which stands {where}: any legal value will count as right",
                f"{tool.key!r} 要求参数 {name!r}，但标准答案未给出：任何合法值都会算对",
                pointer=f"{placed.pointer}/args",
                fix=(f"add {name!r} to `args`", f"在 args 中补上 {name!r}"),
                data={"argument": name},
            )


def _check_value(task: Task, tool: Tool, name: str, value: Any, pointer: str) -> Iterator[Finding]:
    schema = tool.parameters[name]
    reason = _unsatisfiable(value, schema, tool) if is_matcher(value) else None
    if reason is not None:
        yield _illegal(task, tool, name, value, pointer, "unsatisfiable", *reason)
        return
    candidates = samples(value)
    if candidates is None:
        return
    results = [(candidate, _value_problems(tool, name, candidate)) for candidate in candidates]
    bad = [(candidate, problems) for candidate, problems in results if problems]
    if not bad:
        return
    candidate, problems = bad[0]
    if len(bad) == len(results):
        yield _not_allowed(task, tool, name, candidate, problems[0], pointer, schema)
    else:
        yield task_finding(
            task,
            "gold_alternative_illegal",
            "warning",
            f"{name!r} of {tool.key!r}: the alternative {shown(candidate)} is not allowed: {_said(problems[0])}",
            f"{tool.key!r} 的 {name!r}：备选值 {shown(candidate)} 不被模式允许：{_said(problems[0])}",
            pointer=pointer,
            fix=("remove that alternative", "去掉该备选值"),
            data={"argument": name, "value": candidate},
        )


def _value_problems(tool: Tool, name: str, value: Any) -> list[ArgumentProblem]:
    """The problems of one argument by itself; pointers start at the value."""
    base = f"/{escape_pointer(name)}"
    return [
        replace(problem, pointer=problem.pointer[len(base) :], message=problem.message.removeprefix(base))
        for problem in argument_problems(tool, {name: value})
        if problem.code != "missing_required" or problem.pointer.count("/") > 1
        if problem.pointer == base or problem.pointer.startswith(f"{base}/")
    ]


def _said(problem: ArgumentProblem) -> str:
    return problem.message.lstrip("/").removeprefix(": ") or problem.code


def _not_allowed(
    task: Task, tool: Tool, name: str, value: Any, problem: ArgumentProblem, pointer: str, schema: Any
) -> Finding:
    allowed = allowed_values(schema, tool.input_schema)
    fix = ("mend the value or the schema", "改正该值或模式")
    if allowed is not None and not problem.pointer:
        near = (
            nearest_names(value, [item for item in allowed if isinstance(item, str)], limit=1)
            if isinstance(value, str)
            else []
        )
        listed = ", ".join(shown(item) for item in allowed[:12])
        hint = (f"; did you mean {near[0]!r}?", f"；是否想写 {near[0]!r}？") if near else ("", "")
        fix = (f"allowed are {listed}{hint[0]}", f"允许的值：{listed}{hint[1]}")
    return task_finding(
        task,
        f"gold_{problem.code}",
        "error",
        f"{name!r} of {tool.key!r}: no schema allows the gold {shown(value)}: {_said(problem)}",
        f"{tool.key!r} 的 {name!r}：模式不允许标准值 {shown(value)}：{_said(problem)}",
        pointer=pointer + problem.pointer,
        fix=fix,
        data={"argument": name, "value": value, "expected": problem.expected},
    )


def _illegal(
    task: Task, tool: Tool, name: str, value: Any, pointer: str, code: str, en: str, zh: str
) -> Finding:
    return task_finding(
        task,
        f"gold_{code}",
        "error",
        f"{name!r} of {tool.key!r}: nothing that the schema allows fits {shown(value)}: {en}",
        f"{tool.key!r} 的 {name!r}：模式允许的值都不满足 {shown(value)}：{zh}",
        pointer=pointer,
        fix=("mend the matcher or the schema", "改正匹配器或模式"),
        data={"argument": name},
    )


def _unsatisfiable(matcher: Mapping[str, Any], schema: Any, tool: Tool) -> tuple[str, str] | None:
    """Why no legal value can satisfy the matcher, judged by type, enum and default; None where one may."""
    types = parameter_types(schema, tool.input_schema)
    wanted: set[str] = set()
    if "$type" in matcher:
        names = matcher["$type"]
        wanted = set(names) if isinstance(names, (list, tuple)) else {names}
        if "null" in wanted and is_nullable(schema, tool.input_schema):
            return None
    elif "$pattern" in matcher or "$date" in matcher:
        wanted = {"string"}
    elif "$approx" in matcher or "$range" in matcher:
        wanted = {"number", "integer"}
    elif "$unordered" in matcher or "$contains" in matcher:
        wanted = {"array"}
    if wanted & {"number", "integer"}:
        wanted |= {"number", "integer"} if "number" in wanted or "number" in types else set()
    if wanted and types and not wanted & types:
        expected, found = " or ".join(sorted(types)), " or ".join(sorted(wanted))
        return f"the schema wants {expected}, the matcher {found}", f"模式要求 {expected}，匹配器要求 {found}"
    allowed = allowed_values(schema, tool.input_schema)
    if "$pattern" in matcher and allowed is not None:
        texts = [item for item in allowed if isinstance(item, str)]
        search = pattern_search(matcher["$pattern"])
        if search is None or not any(search(item) for item in texts):
            return "no value of the enum fits the pattern", "枚举中没有符合该正则的值"
    resolved = resolved_schema(schema, tool.input_schema)
    if "$default" in matcher and not (isinstance(resolved, Mapping) and "default" in resolved):
        return "the schema has no default", "模式没有默认值"
    return None


def _check_whole(task: Task, placed: PlacedCall, tool: Tool) -> Iterator[Finding]:
    """Rules between arguments (`dependentRequired`, choices of whole forms), where every golden value is a literal."""
    call = placed.call
    if any(samples(value) != [value] for value in call.args.values()):
        return
    for problem in argument_problems(tool, dict(call.args)):
        if problem.pointer.lstrip("/").split("/")[0] in tool.parameters or problem.code == "unknown_argument":
            continue
        if problem.code == "missing_required" and problem.expected in tool.required:
            continue
        yield task_finding(
            task,
            f"gold_{problem.code}",
            "error",
            f"the golden arguments of {tool.key!r} do not fit its schema: {_said(problem)}",
            f"{tool.key!r} 的标准参数不符合其模式：{_said(problem)}",
            pointer=f"{placed.pointer}/args{problem.pointer}",
            fix=("mend the golden arguments", "改正标准参数"),
        )


def _check_result(task: Task, placed: PlacedCall, tool: Tool) -> Iterator[Finding]:
    if not placed.call.has_result or tool.output_schema is None:
        return
    severity: Severity = "warning"
    for problem in output_problems(tool, placed.call.result)[:1]:
        yield task_finding(
            task,
            "result_illegal",
            severity,
            f"the recorded result does not fit the output schema of {tool.key!r}: {_said(problem)}",
            f"录制结果不符合 {tool.key!r} 的输出模式：{_said(problem)}",
            pointer=f"{placed.pointer}/result{problem.pointer}",
            fix=("record it again", "重新录制"),
        )
