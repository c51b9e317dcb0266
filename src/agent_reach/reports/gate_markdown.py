"""The result of the gate as a comment on a pull request: verdict first, then movements, flips, tools, other changes."""

from __future__ import annotations

from collections.abc import Sequence

from agent_reach.records.gate import Flip, GateResult, MetricMovement, RunChange
from agent_reach.records.message import Language, Message
from agent_reach.reports.figures import count, json_value, percent
from agent_reach.reports.markdown_text import code, folded, prose, table_head
from agent_reach.reports.wording import GATE_VERDICTS, METRICS, PLAIN_NUMBERS, cause_word, word

GATE_MARK = "<!-- agent-reach-gate -->"
_FLIPS = 20
_TOOLS = 20
_CHANGES = 30
_MARKS = {
    "regression": "✗",
    "suspect": "⚠",
    "incomparable": "⚠",
    "insufficient": "⚠",
    "pass": "✓",
    "improved": "✓",
    "not_evaluated": "–",
}


def render_gate(gate: GateResult, language: Language = "en") -> str:
    """The comment; gated metrics in the table at the top, the others folded below it."""
    lines = [GATE_MARK, f"### {_MARKS[gate.verdict]} {prose(gate.headline.text(language))}", ""]
    lines += [_compared(gate, language), ""]
    gated = [_metric_row(row, language) for row in gate.metrics if row.gated]
    others = [_metric_row(row, language) for row in gate.metrics if not row.gated]
    lines += [*_metric_head(language), *gated, ""]
    lines += _notes(gate.metrics, language)
    lines += _flips(gate.regressions, Message("Lost", "丢失"), language)
    lines += _tools(gate, language)
    lines += _changes(gate.changes, language)
    if others:
        lines += folded(
            Message("All other figures", "其余全部指标").text(language), [*_metric_head(language), *others]
        )
    won = _flips(gate.improvements, Message("Won", "新增正确"), language)
    if won:
        title = Message(f"Won: {len(gate.improvements):,}", f"新增正确：{len(gate.improvements):,}").text(
            language
        )
        lines += folded(title, won[2:])
    lines += _not_compared(gate, language)
    return "\n".join(lines).rstrip() + "\n"


def _compared(gate: GateResult, language: Language) -> str:
    threshold = f"{gate.threshold * 100:g}"
    return Message(
        f"{gate.tasks_compared:,} tasks compared, threshold {threshold} points",
        f"比较了 {gate.tasks_compared:,} 个任务，阈值 {threshold} 个百分点",
    ).text(language)


def _metric_head(language: Language) -> list[str]:
    names = (
        ("指标", "基线", "当前", "变化", "结论")
        if language == "zh"
        else ("Figure", "Baseline", "Current", "Change", "Verdict")
    )
    return table_head(names, "lrrrl")


def _metric_row(row: MetricMovement, language: Language) -> str:
    name = prose(word(METRICS, row.name, language))
    cells = [
        f"**{name}**" if row.gated else name,
        _value(row, row.baseline, row.baseline_counts),
        _value(row, row.current, row.current_counts),
        _change(row),
        f"{_MARKS[row.verdict]} {word(GATE_VERDICTS, row.verdict, language)}" if row.gated else "",
    ]
    return "| " + " | ".join(cells) + " |"


def _value(row: MetricMovement, value: float | None, counts: tuple[float, float]) -> str:
    if value is None:
        return "n/a"
    shown = f"{value:.2f}" if row.name in PLAIN_NUMBERS else percent(value)
    return f"{shown} ({count(counts[0])}/{count(counts[1])})" if counts[1] else shown


def _change(row: MetricMovement) -> str:
    if row.change is None:
        return "-"
    return f"{row.change:+.2f}" if row.name in PLAIN_NUMBERS else f"{row.change * 100:+.1f} pp"


def _notes(rows: Sequence[MetricMovement], language: Language) -> list[str]:
    """How sure each movement is, and what would decide a suspect."""
    lines = []
    for row in rows:
        if not row.gated or (row.verdict == "pass" and not row.reason):
            continue
        parts = [f"-{row.worse} +{row.better}"] if row.worse or row.better else []
        if row.p_value is not None:
            parts.append(f"p = {row.p_value:.3f}")
        if row.bounds is not None:
            parts.append(f"[{row.bounds[0]:+.3f}, {row.bounds[1]:+.3f}]")
        if row.repeats_needed is not None:
            more = Message(
                f"about {row.repeats_needed} attempts per task would decide",
                f"约需每任务 {row.repeats_needed} 次尝试才能判定",
            )
            parts.append(more.text(language))
        if row.reason:
            parts.append(prose(row.reason))
        if parts:
            lines.append(f"- {prose(word(METRICS, row.name, language))}: {', '.join(parts)}")
    return [*lines, ""] if lines else []


def _flips(flips: Sequence[Flip], title: Message, language: Language) -> list[str]:
    if not flips:
        return []
    lines = []
    for flip in flips:
        parts = [code(flip.name, 120)]
        if flip.kind == "forbidden_call":
            parts.append(Message("new forbidden call", "新出现的禁止调用").text(language))
            parts.append(code(flip.detail, 80))
        parts.append(f"{flip.baseline[0]}/{flip.baseline[1]} → {flip.current[0]}/{flip.current[1]}")
        if flip.cause:
            parts.append(prose(cause_word(flip.cause, language)))
        if flip.fails_alone:
            parts.append(Message("**fails alone**", "**单独即判退化**").text(language))
        lines.append("- " + " ".join(part for part in parts if part))
    return [f"#### {title.text(language)} ({len(flips):,})", "", *_limited(lines, _FLIPS), ""]


def _tools(gate: GateResult, language: Language) -> list[str]:
    if not gate.tools:
        return []
    lines = []
    for tool in gate.tools:
        before, after = tool.baseline, tool.current
        text = f"{before[0]}/{before[1]} → {after[0]}/{after[1]}"
        if tool.message is not None:
            lines.append(f"- {prose(tool.message.text(language))}")
        else:
            lines.append(f"- {code(tool.tool, 80)} {text}")
        lines += [f"  - {_changed(change)}" for change in tool.changes]
    title = Message("Tools that moved", "变化的工具").text(language)
    return [f"#### {title}", "", *_limited(lines, _TOOLS), ""]


def _changes(changes: Sequence[RunChange], language: Language) -> list[str]:
    if not changes:
        return []
    title = Message("What else changed", "其他变化").text(language)
    return [f"#### {title}", "", *_limited([f"- {_changed(change)}" for change in changes], _CHANGES), ""]


def _changed(change: RunChange) -> str:
    return f"**{prose(change.where)}** {_side(change.before)} → {_side(change.after)}"


def _side(value: object) -> str:
    return "-" if value is None else code(value if isinstance(value, str) else json_value(value), 160) or "-"


def _not_compared(gate: GateResult, language: Language) -> list[str]:
    parts = (
        (Message("only in the baseline", "仅在基线"), gate.only_in_baseline),
        (Message("only in the current run", "仅在当前"), gate.only_in_current),
        (Message("asked in other words", "内容已变"), gate.content_changed),
    )
    lines = []
    for label, ids in parts:
        if ids:
            names = " ".join(code(task, 60) for task in ids[:10]) + (
                f" +{len(ids) - 10:,}" if len(ids) > 10 else ""
            )
            lines.append(f"- {label.text(language)} ({len(ids):,}): {names}")
    return folded(Message("Tasks not compared", "未比较的任务").text(language), lines) if lines else []


def _limited(rows: Sequence[str], limit: int) -> list[str]:
    return [*rows[:limit], *([f"- … +{len(rows) - limit:,}"] if len(rows) > limit else [])]
