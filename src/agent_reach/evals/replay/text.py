"""Replays as lines for a terminal and as JSON values."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from agent_reach.evals.replay.compare import CatalogCheck, StepDifference
from agent_reach.evals.replay.replay import ReplayResult
from agent_reach.records.codec import to_json
from agent_reach.records.message import Language, Message

_KINDS = {
    "same": Message("same", "相同"),
    "outcome": Message("ended otherwise", "结果不同"),
    "arguments": Message("other arguments", "参数不同"),
    "tool": Message("other tool", "工具不同"),
    "only_before": Message("no longer called", "不再调用"),
    "only_after": Message("new call", "新增调用"),
}


def replay_lines(result: ReplayResult, language: Language) -> list[str]:
    """One replay: request, every step with what differs, and the verdict."""
    lines = [f"{result.trace_id}: {result.query[:160]}"]
    lines += [f"  {_step(step, language)}" for step in result.steps]
    if result.error:
        lines.append(Message(f"  lost: {result.error}", f"  丢失：{result.error}").text(language))
    elif result.diverged:
        lines.append(Message(f"  diverged: {result.diverged}", f"  分歧：{result.diverged}").text(language))
    elif result.is_same:
        lines.append(Message("  the same walk", "  路径相同").text(language))
    else:
        count = sum(step.kind != "same" for step in result.steps)
        lines.append(Message(f"  {count} steps differ", f"  {count} 步不同").text(language))
    return lines


def _step(step: StepDifference, language: Language) -> str:
    word = _KINDS[step.kind].text(language)
    if step.kind == "same":
        return f"{word:18} {step.before}"
    if step.kind == "outcome":
        return f"{word:18} {step.before}  {step.before_outcome} -> {step.after_outcome}"
    if step.kind == "arguments":
        before, after = step.before_arguments or {}, step.after_arguments or {}
        pairs = ", ".join(
            f"{name}: {_value(before, name)} -> {_value(after, name)}" for name in step.arguments
        )
        return f"{word:18} {step.before}  {pairs}"
    if step.kind == "tool":
        return f"{word:18} {step.before} -> {step.after}  ({step.before_outcome} -> {step.after_outcome})"
    name, ended = (step.before, step.before_outcome) if step.before else (step.after, step.after_outcome)
    return f"{word:18} {name}  ({ended})"


def _value(values: Any, name: str) -> str:
    return json.dumps(values[name], ensure_ascii=False) if name in values else "-"


def check_lines(checks: Sequence[CatalogCheck], language: Language, *, routed: bool) -> list[str]:
    """Recorded calls against a catalog and a router."""
    lines = []
    for check in checks:
        if check.tool is None:
            near = ", ".join(check.nearest) or "-"
            lines.append(
                Message(
                    f"  x {check.name}: no such tool here; nearest {near}",
                    f"  x {check.name}：此处没有该工具；最接近 {near}",
                ).text(language)
            )
            continue
        parts = [check.tool]
        if check.problems:
            parts.append("; ".join(check.problems))
        if routed:
            place = check.place if check.place is not None else "-"
            before = check.recorded_place if check.recorded_place is not None else "-"
            parts.append(Message(f"place {before} -> {place}", f"名次 {before} -> {place}").text(language))
            if check.changed:
                changed = ", ".join(check.changed)
                parts.append(Message(f"sent otherwise: {changed}", f"发送不同：{changed}").text(language))
        fine = not check.problems and (not routed or check.place is not None)
        lines.append(f"  {'-' if fine else 'x'} " + "  ".join(parts))
    return lines


def replay_document(result: ReplayResult) -> dict[str, Any]:
    """A replay as JSON values, without the traces themselves."""
    return {
        "trace_id": result.trace_id,
        "query": result.query,
        "same": result.is_same,
        "diverged": result.diverged,
        "error": result.error,
        "steps": to_json(result.steps),
    }
