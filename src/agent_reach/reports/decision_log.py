"""The decision log: one JSON object per decision and line, with exactly ten fixed fields for other programs.

Required decisions come in golden order; calls that must not have been made follow with no expected tool. Attempts that
were lost to infrastructure made no decision and are not in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from agent_reach.records.message import Language
from agent_reach.records.report import Report
from agent_reach.records.score import AttemptScore, Decision, ExtraCall
from agent_reach.reports.json_form import DECISION_LOG_FIELDS, json_text

_LOGGED_EXTRAS = ("forbidden", "over_call")


def decision_rows(report: Report) -> Iterator[dict[str, Any]]:
    """The rows of the log, task by task and attempt by attempt."""
    for task in report.tasks:
        for attempt in task.attempts:
            if attempt.state == "infra_error":
                continue
            for decision in attempt.decisions:
                yield decision_row(decision)
            for extra in attempt.extra_calls:
                if extra.kind in _LOGGED_EXTRAS:
                    yield _extra_row(task.task_id, attempt, extra)


def decision_row(decision: Decision) -> dict[str, Any]:
    """The fixed fields of one decision."""
    return {name: getattr(decision, name) for name in DECISION_LOG_FIELDS}


def decision_lines(report: Report) -> Iterator[str]:
    """The log as JSON lines, each with its line feed."""
    for row in decision_rows(report):
        yield json_text(row) + "\n"


def render_decision_log(report: Report, language: Language = "en") -> str:
    """The whole log as text; names and values only, so the language makes no difference."""
    return "".join(decision_lines(report))


def _extra_row(task_id: str, attempt: AttemptScore, extra: ExtraCall) -> dict[str, Any]:
    arguments: Mapping[str, Any] | None = None
    raw = ""
    steps = attempt.trace.steps if attempt.trace is not None else ()
    for step in steps:
        if extra.trace_step is not None and step.index != extra.trace_step:
            continue
        for call in step.calls:
            if call.call_id == extra.call_id:
                arguments, raw = call.arguments, step.raw
    return {
        "task_id": task_id,
        "step": extra.trace_step,
        "model_raw": raw,
        "selected_tool": extra.tool or extra.name,
        "expected_tool": None,
        "arguments": arguments,
        "expected_arguments": None,
        "error": extra.cause.name if extra.cause is not None else extra.kind,
        "context_blocks": [block.id for block in attempt.trace.blocks] if attempt.trace is not None else [],
        "used_blocks": [block.block_id for block in attempt.blocks if block.state == "used"],
    }
