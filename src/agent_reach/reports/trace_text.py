"""A trace as plain lines for a terminal: from what was offered to what each call did."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from agent_reach.records.message import Language, Message
from agent_reach.records.trace import Call, Step, Trace
from agent_reach.reports.figures import json_value, one_line, wrap

_MARKS = {"ok": "+", "failed": "x", "unknown": "?"}


def trace_lines(trace: Trace, language: Language = "en", *, width: int = 80) -> list[str]:
    """The whole chain of a trace: request, tools offered, candidates with scores, raw messages, calls, outcomes, findings."""
    return list(_lines(trace, language, width))


def _say(language: Language, en: str, zh: str) -> str:
    return Message(en, zh).text(language)


def _lines(trace: Trace, language: Language, width: int) -> Iterator[str]:
    when = (
        datetime.fromtimestamp(trace.started_at, UTC).isoformat(timespec="seconds")
        if trace.started_at is not None
        else "-"
    )
    told = " ".join(part for part in (trace.agent, trace.model, trace.source) if part)
    yield from wrap(f"{trace.trace_id}  {when}  {told}".rstrip(), width, first="", indent="  ")
    yield from wrap(
        f"{_say(language, 'request', '请求')}: {one_line(trace.query)}", width, first="", indent="  "
    )
    offered = trace.exposure.offered
    if offered:
        shown = ", ".join(offered[:8]) + (f", ... ({len(offered)})" if len(offered) > 8 else "")
        yield from wrap(f"{_say(language, 'offered', '提供')}: {shown}", width, first="", indent="  ")
    for step in trace.steps:
        yield from _step_lines(step, language, width)
    for dropped in trace.dropped:
        yield from wrap(f"! {dropped.reason}: {dropped.block_id}", width, first="", indent="    ")
    for finding in trace.findings:
        yield from wrap(f"! {finding.code}: {finding.message.text(language)}", width, first="", indent="    ")
    if trace.final_text:
        yield from wrap(
            f"{_say(language, 'answer', '回答')}: {one_line(trace.final_text)[:400]}",
            width,
            first="",
            indent="  ",
        )


def _step_lines(step: Step, language: Language, width: int) -> Iterator[str]:
    who = _say(language, "user", "用户") if step.kind == "user" else _say(language, "model", "模型")
    agent = f" ({step.agent})" if step.agent else ""
    text = one_line(step.text)[:300]
    yield from wrap(f"{step.index} {who}{agent}: {text}".rstrip(), width, first="", indent="    ")
    if step.candidates:
        shown = ", ".join(f"{one.tool} {one.score:.2f}" for one in step.candidates[:8])
        yield from wrap(
            f"{_say(language, 'candidates', '候选')}: {shown}", width, first="    ", indent="      "
        )
    for problem in step.problems:
        yield from wrap(f"x {problem.code}: {problem.message}", width, first="    ", indent="      ")
    for call in step.calls:
        yield from _call_lines(call, language, width)


def _call_lines(call: Call, language: Language, width: int) -> Iterator[str]:
    outcome = call.outcome
    mark = _MARKS[outcome.status] if outcome is not None else "-"
    name = call.name if call.tool in (None, call.name) else f"{call.name} -> {call.tool}"
    arguments = json_value(call.arguments) if call.arguments is not None else "?"
    yield from wrap(f"{mark} {name} {one_line(arguments)[:600]}", width, first="    ", indent="      ")
    if call.sent_arguments is not None and call.sent_arguments != call.arguments:
        yield from wrap(
            f"{_say(language, 'sent', '发送')}: {one_line(json_value(call.sent_arguments))[:600]}",
            width,
            first="      ",
            indent="        ",
        )
    for change in call.changes:
        yield from wrap(
            f"{change.rule} {change.pointer}: {json_value(change.before)} -> {json_value(change.after)}",
            width,
            first="      ",
            indent="        ",
        )
    if outcome is None:
        yield f"      {_say(language, 'no result', '没有结果')}"
        return
    took = f" {outcome.latency_ms:.0f} ms" if outcome.latency_ms is not None else ""
    kind = f" {outcome.error_kind}" if outcome.error_kind else ""
    tries = f" x{outcome.attempts}" if outcome.attempts > 1 else ""
    told = one_line(outcome.message or outcome.text)[:300]
    yield from wrap(f"{outcome.status}{kind}{took}{tries}: {told}", width, first="      ", indent="        ")
