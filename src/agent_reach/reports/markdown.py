"""Markdown for a comment on a pull request: headline, figures, causes with fixes, the first lost decisions.

What came from outside (requests, arguments, names) stands in code spans, where it can neither format the comment, nor
mention people, nor start HTML. The comment stays under the 65,536 characters that hosts accept. A hidden first line lets
a pipeline find its own comment and replace it.
"""

from __future__ import annotations

from collections.abc import Sequence

from agent_reach.records.message import Language, Message
from agent_reach.records.report import METRIC_NAMES, CauseSummary, Report
from agent_reach.records.score import Cause, Metric
from agent_reach.reports.figures import (
    count,
    fraction,
    interval_text,
    json_value,
    metric_value,
    percent,
    plural,
    tool_list_parts,
)
from agent_reach.reports.gate_markdown import render_gate
from agent_reach.reports.lost import LostDecision, call_of, lost_decisions
from agent_reach.reports.markdown_text import code, folded, prose, table_head
from agent_reach.reports.proof_text import proof_lines, proof_word
from agent_reach.reports.values import shortened
from agent_reach.reports.wording import (
    HEADLINE_METRICS,
    LAYERS,
    METRICS,
    cause_word,
    word,
)

__all__ = ["REPORT_MARK", "render_gate", "render_markdown"]

REPORT_MARK = "<!-- agent-reach-report -->"
_CAUSES = 10
_LOST = 10


def render_markdown(report: Report, language: Language = "en") -> str:
    """The comment for a run."""
    lines = [REPORT_MARK, f"### {prose(report.headline.text(language))}", "", _run_line(report, language), ""]
    lines += _warnings(report, language)
    lines += _metric_table(report, language)
    lines += _cause_table(report.causes, language)
    lines += _lost_list(lost_decisions(report), language)
    return "\n".join(lines) + "\n"


def _run_line(report: Report, language: Language) -> str:
    catalog = report.catalog
    attempts = sum(len(task.attempts) for task in report.tasks)
    who = " ".join(code(part) for part in (report.run.agent, report.run.model) if part)
    if language == "zh":
        parts = [
            who,
            f"{len(report.tasks):,} 个任务",
            f"{attempts:,} 次尝试",
            *tool_list_parts(catalog, language),
            f"{len(catalog.similar_pairs):,} 对相似工具",
        ]
    else:
        parts = [
            who,
            plural(len(report.tasks), "task"),
            plural(attempts, "attempt"),
            *tool_list_parts(catalog, language),
            plural(len(catalog.similar_pairs), "look-alike pair"),
        ]
    return " · ".join(part for part in parts if part)


def _warnings(report: Report, language: Language) -> list[str]:
    lines = []
    if not report.sufficient:
        text = Message(
            "Too many attempts were lost to infrastructure: nothing can be decided.",
            "丢失的尝试过多：无法下结论。",
        )
        lines += [f"> **⚠ {text.text(language)}**", ""]
    elif report.infra_errors:
        number = len(report.infra_errors)
        text = Message(
            f"{plural(number, 'attempt')} lost to infrastructure, counted nowhere.",
            f"{number:,} 次尝试因基础设施故障丢失，不计入任何指标。",
        )
        lines += [f"> {text.text(language)}", ""]
    if report.run.degraded:
        text = Message("Degraded run: not every server was ready.", "降级运行：并非所有服务器都就绪。")
        lines += [f"> **⚠ {text.text(language)}**", ""]
    return lines


def _metric_table(report: Report, language: Language) -> list[str]:
    head = (
        ("指标", "数值", "计数", "95% 区间")
        if language == "zh"
        else ("Figure", "Value", "Count", "95% interval")
    )
    names = [name for name in HEADLINE_METRICS if name in report.metrics]
    rest = [name for name in METRIC_NAMES if name in report.metrics and name not in names]
    lines = table_head(head, "lrrr")
    lines += [_metric_row(name, report.metrics[name], language) for name in names]
    lines.append("")
    if rest:
        title = Message("All other figures", "其余全部指标").text(language)
        rows = [_metric_row(name, report.metrics[name], language) for name in rest]
        lines += folded(title, [*table_head(head, "lrrr"), *rows])
    return lines


def _metric_row(name: str, metric: Metric, language: Language) -> str:
    value = metric_value(name, metric, language)
    label = prose(word(METRICS, name, language))
    return f"| {label} | **{value}** | {fraction(metric)} | {interval_text(name, metric.interval)} |"


def _cause_table(causes: Sequence[CauseSummary], language: Language) -> list[str]:
    if not causes:
        return []
    title = Message("#### Causes, most lost decisions first", "#### 原因（按损失的决策数排序）").text(
        language
    )
    head = (
        ("损失", "原因", "层", "工具", "首要修复")
        if language == "zh"
        else ("Lost", "Cause", "Layer", "Tools", "First fix")
    )
    lines = [title, "", *table_head(head, "rllll")]
    for cause in causes[:_CAUSES]:
        tools = ", ".join(code(tool, 80) for tool in cause.tools[:3]) + (" …" if len(cause.tools) > 3 else "")
        fix = prose(shortened(cause.fix.text(language), 300)) if cause.fix is not None else ""
        name = prose(cause_word(cause.name, language))
        layer = prose(word(LAYERS, cause.layer, language))
        lines.append(f"| {count(cause.lost)} ({percent(cause.share)}) | {name} | {layer} | {tools} | {fix} |")
    return [*lines, ""]


def _lost_list(lost: Sequence[LostDecision], language: Language) -> list[str]:
    if not lost:
        return []
    first = min(_LOST, len(lost))
    title = Message(
        f"Lost decisions: {first} of {len(lost):,}", f"失败决策：{len(lost):,} 个中的前 {first} 个"
    ).text(language)
    lines: list[str] = []
    for entry in lost[:_LOST]:
        lines += _one_lost(entry, language)
    return folded(title, lines)


def _one_lost(entry: LostDecision, language: Language) -> list[str]:
    did, should = Message("did", "实际").text(language), Message("should have", "应当").text(language)
    nothing = Message("no call", "没有调用").text(language)
    attempt = f" #{entry.attempt.index + 1}" if len(entry.task.attempts) > 1 else ""
    name = prose(cause_word(entry.cause_name, language))
    lines = [f"- **{name}** {code(entry.task.task_id, 80)}{attempt} {code(entry.task.query, 160)}"]
    decision, extra = entry.decision, entry.extra
    if decision is not None:
        given = f" {code(json_value(decision.arguments), 240)}" if decision.arguments is not None else ""
        chosen = code(decision.selected_tool, 80) if decision.selected_tool else nothing
        expected = code(json_value(decision.expected_arguments), 240)
        lines.append(f"  - {did}: {chosen}{given}")
        lines.append(f"  - {should}: {code(decision.expected_tool, 80)} {expected}")
    elif extra is not None:
        found = call_of(entry.attempt.trace, extra.call_id, extra.trace_step)
        arguments = f" {code(json_value(found[1].arguments), 240)}" if found is not None else ""
        lines.append(f"  - {did}: {code(extra.tool or extra.name, 80)}{arguments}")
        lines.append(f"  - {should}: {nothing}")
    if entry.cause is not None:
        lines.append(f"  - {prose(shortened(entry.cause.evidence.text(language), 300))}")
        also = decision.also if decision is not None else extra.also if extra is not None else ()
        for cause in (entry.cause, *also):
            lines += _proof(cause, language)
    return lines


def _proof(cause: Cause, language: Language) -> list[str]:
    """How a cause was put to the proof: the verdict, what was tried, what it cost."""
    if not cause.proof:
        return []
    verdict = f"  - {prose(cause_word(cause.name, language))}: **{prose(proof_word(cause.proof, cause.trials, language))}**"
    return [verdict, *(f"    - {code(line, 300)}" for line in proof_lines(cause, language))]
