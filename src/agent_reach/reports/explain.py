"""One task of a report step by step: finding the task and the attempt, as lines for a terminal or as JSON.

Reads the attempt's trace and score and puts them side by side; a report whose attempts carry no trace still shows the
decisions. It judges nothing itself.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from agent_reach.errors import ReportError
from agent_reach.records.message import Language
from agent_reach.records.report import Report
from agent_reach.records.score import AttemptScore, TaskScore
from agent_reach.reports.explanation import Explanation
from agent_reach.reports.json_form import json_text
from agent_reach.text.tokens import nearest_names


def find_task(report: Report, task_id: str) -> TaskScore:
    """The task of that id; raises `ReportError` with the nearest ids."""
    for task in report.tasks:
        if task.task_id == task_id:
            return task
    near = nearest_names(task_id, [task.task_id for task in report.tasks], limit=3)
    ids = near or [task.task_id for task in report.tasks[:3]]
    hint = ("did you mean {}?" if near else "tasks of this report are {}").format(", ".join(map(repr, ids)))
    raise ReportError(f"the report has no task {task_id!r}", where="TASK", next_step=hint if ids else "")


def choose_attempt(task: TaskScore, number: int | None) -> AttemptScore | None:
    """Attempt `number`, counted from 1; without a number the first that failed, else the first.

    None for a task without attempts; raises `ReportError` for a number that does not exist.
    """
    if number is not None:
        for attempt in task.attempts:
            if attempt.index == number - 1:
                return attempt
        last = len(task.attempts)
        step = f"it has attempts 1 to {last}" if last else "it has none"
        raise ReportError(
            f"the task {task.task_id!r} has no attempt {number}", where="--attempt", next_step=step
        )
    failed = [attempt for attempt in task.attempts if attempt.passed is False]
    return next(iter(failed or task.attempts), None)


def explain_document(task: TaskScore, attempt: AttemptScore | None) -> dict[str, Any]:
    """The task with that one attempt as plain JSON values, in the form of the report."""
    kept = () if attempt is None else (attempt,)
    document: dict[str, Any] = json.loads(json_text(replace(task, attempts=kept)))
    return document


def explain_lines(
    task: TaskScore,
    attempt: AttemptScore | None,
    language: Language = "en",
    *,
    full: bool = False,
    width: int = 80,
) -> list[str]:
    """One attempt step by step in lines of at most `width` columns."""
    return Explanation(task, attempt, language, full=full, width=width).lines()
