"""Whether `$from` leads to an earlier step, and whether dates hang on a clock that the task does not have."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from agent_reach.catalog.catalog import Catalog
from agent_reach.evals.suite.checks.base import PlacedCall, placed_calls, task_finding
from agent_reach.evals.suite.checks.corpus import ISO_DATE, texts_in
from agent_reach.evals.suite.checks.matchers import matcher_problem, matchers_of_arguments
from agent_reach.records.finding import Finding
from agent_reach.records.matchers import is_matcher
from agent_reach.records.task import Task

_CLOCK_WORD = re.compile(
    r"\b(today|tonight|tomorrow|yesterday|(this|next|last)\s+(week|month|quarter|year|monday|tuesday|wednesday|"
    r"thursday|friday|saturday|sunday)|\d+\s+days?\s+ago)\b|今天|明天|昨天|后天|前天|本周|上周|下周|本月|上个?月|下个?月|去年|本季度|上季度",
    re.IGNORECASE,
)


def check_references(
    task: Task, placed: PlacedCall, earlier: list[PlacedCall], calls: list[PlacedCall]
) -> Iterator[Finding]:
    """`$from` must name an earlier step and a value that its recorded result has."""
    known = {other.call.id: other for other in earlier if other.call.id}
    for part, values in (("args", placed.call.args), ("optional", placed.call.optional)):
        for pointer, matcher in matchers_of_arguments(values, f"{placed.pointer}/{part}"):
            if "$from" not in matcher or not is_matcher(matcher) or matcher_problem(matcher):
                continue
            step, rest = split_reference(matcher["$from"])
            if step not in known:
                yield _unknown_step(task, pointer, step, known, calls)
            elif known[step].call.has_result and not _reaches(known[step].call.result, rest):
                yield task_finding(
                    task,
                    "from_leads_nowhere",
                    "error",
                    f"$from {matcher['$from']!r}: the recorded result of {step!r} has no {rest!r}",
                    f"$from {matcher['$from']!r}：{step!r} 的录制结果中没有 {rest!r}",
                    pointer=pointer,
                    fix=("mend the path or the recorded result", "改正路径或录制结果"),
                )


def _unknown_step(
    task: Task, pointer: str, step: str, known: Mapping[str, PlacedCall], calls: list[PlacedCall]
) -> Finding:
    later = any(call.call.id == step for call in calls)
    listed = ", ".join(known) or "none"
    return task_finding(
        task,
        "from_unknown_step",
        "error",
        f"$from names the step {step!r}, which {'is not earlier' if later else 'does not exist'} in this path",
        f"$from 引用了步骤 {step!r}，它在该路径中{'不在之前' if later else '不存在'}",
        pointer=pointer,
        fix=(f"earlier steps with an id: {listed}", f"之前带 id 的步骤：{listed}"),
    )


def split_reference(reference: str) -> tuple[str, str]:
    """Step id and path of a `$from`: `look.items[0].id` -> look, items[0].id; `look[0].id` -> look, [0].id."""
    match = re.match(r"[^.\[]+", reference)
    step = match.group() if match else reference
    return step, reference[len(step) :].removeprefix(".")


def _reaches(value: Any, path: str) -> bool:
    """The dotted path (with `[0]` or `.0` for items) leads to a value."""
    for step in (part for part in re.split(r"[.\[\]]+", path) if part):
        if isinstance(value, Mapping) and step in value:
            value = value[step]
        elif isinstance(value, (list, tuple)) and step.isdigit() and int(step) < len(value):
            value = value[int(step)]
        else:
            return False
    return True


def check_clock(task: Task, catalog: Catalog) -> Iterator[Finding]:
    """A date that a relative expression fixes needs the clock of the task."""
    if task.now or not any(path.calls for path in task.paths):
        return
    said = [task.query, *(turn.user for turn in task.turns)]
    match = next((found for text in said if (found := _CLOCK_WORD.search(text))), None)
    if match is None:
        return
    for placed in placed_calls(task, catalog):
        for part in (placed.call.args, placed.call.optional):
            for value in texts_in(_plain_or_date(part)):
                if ISO_DATE.fullmatch(value.strip()):
                    yield task_finding(
                        task,
                        "relative_date_without_now",
                        "warning",
                        f"the request says {match.group(0)!r} and a gold fixes {value!r}, but the task has no clock: "
                        "it turns red when the day passes",
                        f"请求中有 {match.group(0)!r}，标准值固定为 {value!r}，但任务没有时钟：过了这天就会变红",
                        pointer="/now",
                        fix=("add `now` with a zone", "补上带时区的 now"),
                    )
                    return


def _plain_or_date(value: Any) -> Any:
    if isinstance(value, Mapping):
        return [value["$date"]] if "$date" in value else [_plain_or_date(item) for item in value.values()]
    return [_plain_or_date(item) for item in value] if isinstance(value, (list, tuple)) else value
