"""The gate's result as lines for a terminal and as Markdown for a pull request, in either language."""

from __future__ import annotations

from collections.abc import Iterator

from agent_reach.evals.figures import NOT_A_SHARE
from agent_reach.records.gate import Flip, GateResult, MetricMovement, RunChange
from agent_reach.records.message import Language

_SHOWN = 12
_VERDICTS_ZH = {
    "regression": "退化",
    "suspect": "可疑",
    "incomparable": "无法比较",
    "insufficient": "数据不足",
    "pass": "通过",
    "improved": "提升",
    "not_evaluated": "未评估",
}
_SECTIONS = {
    "lost": ("Lost", "丢失"),
    "won": ("Won", "新增正确"),
    "tools": ("Tools", "工具"),
    "changes": ("Also changed", "其他变化"),
    "tasks": ("Tasks not compared", "未比较的任务"),
}


def gate_lines(result: GateResult, language: Language = "en") -> Iterator[str]:
    """Verdict, gated metrics, flips, tools, other changes; long lists are cut with a count."""
    yield result.headline.text(language)
    for item in result.metrics:
        if item.gated or item.verdict not in ("pass", "not_evaluated"):
            yield "  " + _metric_line(item, language)
    for key, flips in (("lost", result.regressions), ("won", result.improvements)):
        yield from _section(key, [_flip_line(flip, language) for flip in flips], language)
    yield from _section(
        "tools", [item.message.text(language) for item in result.tools if item.message is not None], language
    )
    yield from _section("changes", [_change_line(change) for change in result.changes], language)
    yield from _section("tasks", _uncompared(result, language), language)


def _metric_line(item: MetricMovement, language: Language) -> str:
    if item.change is None:
        return f"{item.name:<20} {_value(item, item.baseline):>8} -> {_value(item, item.current):<8} {_verdict_word(item, language)}"
    how = item.test
    if item.p_value is not None:
        how += f" p={item.p_value:.3f}"
    if item.bounds is not None:
        how += f" [{item.bounds[0]:+.3f}, {item.bounds[1]:+.3f}]"
    more = ""
    if item.repeats_needed is not None:
        more = (
            f"；约需每任务 {item.repeats_needed} 次重复才能判定"
            if language == "zh"
            else f"; about {item.repeats_needed} attempts per task would decide"
        )
    return (
        f"{item.name:<20} {_value(item, item.baseline):>8} -> {_value(item, item.current):<8} {_change(item):>8}  "
        f"{_verdict_word(item, language)} ({how}, -{item.worse} +{item.better}){more}"
    )


def _verdict_word(item: MetricMovement, language: Language) -> str:
    return _VERDICTS_ZH[item.verdict] if language == "zh" else item.verdict.replace("_", " ")


def _value(item: MetricMovement, value: float | None) -> str:
    if value is None:
        return "n/a"
    return f"{value:.2f}" if item.name in NOT_A_SHARE else f"{value:.1%}"


def _change(item: MetricMovement) -> str:
    if item.change is None:
        return ""
    return f"{item.change:+.2f}" if item.name in NOT_A_SHARE else f"{item.change * 100:+.1f}"


def _flip_line(flip: Flip, language: Language) -> str:
    zh = language == "zh"
    tally = f"{flip.baseline[0]}/{flip.baseline[1]} -> {flip.current[0]}/{flip.current[1]}"
    parts = [flip.name, tally]
    if flip.kind == "forbidden_call":
        parts = [
            flip.name,
            (f"新出现的禁止调用 {flip.detail}" if zh else f"new forbidden call {flip.detail}"),
            tally,
        ]
    if flip.cause:
        parts.append(flip.cause)
    if flip.fails_alone:
        parts.append("单独即判退化" if zh else "fails alone")
    return "  ".join(parts)


def _change_line(change: RunChange) -> str:
    return f"{change.where}: {_short(change.before)} -> {_short(change.after)}"


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _uncompared(result: GateResult, language: Language) -> list[str]:
    zh = language == "zh"
    parts = (
        ("仅在基线" if zh else "only in the baseline", result.only_in_baseline),
        ("仅在当前" if zh else "only in the current run", result.only_in_current),
        ("内容已变" if zh else "asked in other words", result.content_changed),
    )
    return [f"{name}: {', '.join(ids[:_SHOWN])}" for name, ids in parts if ids]


def _section(key: str, lines: list[str], language: Language) -> Iterator[str]:
    if not lines:
        return
    en, zh = _SECTIONS[key]
    yield f"{zh}：" if language == "zh" else f"{en}:"
    for line in lines[:_SHOWN]:
        yield f"    {line}"
    if len(lines) > _SHOWN:
        yield f"    (+{len(lines) - _SHOWN})"
