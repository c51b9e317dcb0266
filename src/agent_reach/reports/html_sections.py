"""The parts of an HTML report that stand in the page itself: figures, causes, confusions, tools, groups, the run.

Each function turns records into plain values for the template; nothing is counted here but what is shown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from agent_reach.records.message import Language, Message
from agent_reach.records.report import METRIC_NAMES, Report, ToolSummary
from agent_reach.records.score import Metric
from agent_reach.reports.figures import (
    count,
    duration,
    fraction,
    interval_text,
    json_value,
    metric_value,
    percent,
)
from agent_reach.reports.lost import LostDecision
from agent_reach.reports.wording import (
    BLOCK_KINDS,
    CAUSES,
    DROP_REASONS,
    GROUPS,
    HEADLINE_METRICS,
    KINDS,
    LANGUAGE_NAMES,
    LAYERS,
    LOWER_IS_BETTER,
    METRIC_MEANINGS,
    METRIC_REASONS,
    METRICS,
    PLAIN_NUMBERS,
    VERDICTS,
    cause_word,
    word,
)

_GROUP_METRICS = ("tool_reachability", "param_hit_rate", "decision_success", "call_success", "over_call_rate")


def figure(name: str, metric: Metric, language: Language) -> dict[str, Any]:
    """One metric for a card or a row; `low`, `high` and `at` are percentages for the little scale."""
    scale = name not in PLAIN_NUMBERS and metric.value is not None
    interval = metric.interval
    return {
        "name": name,
        "label": word(METRICS, name, language),
        "meaning": word(METRIC_MEANINGS, name, language) if name in METRIC_MEANINGS else "",
        "value": metric_value(name, metric, language),
        "fraction": fraction(metric),
        "interval": interval_text(name, interval),
        "method": interval.method if interval is not None else "",
        "lower": name in LOWER_IS_BETTER,
        "missing": metric.value is None,
        "reason": word(METRIC_REASONS, metric.reason, language),
        "scale": scale,
        "at": _position(metric.value),
        "low": _position(interval.low) if scale and interval is not None else None,
        "width": _position(interval.high - interval.low) if scale and interval is not None else None,
    }


def _position(value: float | None) -> str:
    return "" if value is None else f"{min(max(value, 0.0), 1.0) * 100:.2f}"


def figures(report: Report, language: Language) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The key figures and all others, each list in its fixed order."""
    first = [name for name in HEADLINE_METRICS if name in report.metrics]
    rest = [name for name in METRIC_NAMES if name in report.metrics and name not in first]
    rest += [name for name in report.metrics if name not in first and name not in rest]
    return (
        [figure(name, report.metrics[name], language) for name in first],
        [figure(name, report.metrics[name], language) for name in rest],
    )


def verdicts(report: Report, language: Language) -> list[dict[str, Any]]:
    """How the required decisions ended: right, deviation, wrong."""
    numbers: Counter[str] = Counter(
        decision.verdict
        for task in report.tasks
        for attempt in task.attempts
        if attempt.state != "infra_error"
        for decision in attempt.decisions
    )
    total = sum(numbers.values())
    return [
        {
            "name": name,
            "label": word(VERDICTS, name, language),
            "count": count(numbers[name]),
            "share": f"{numbers[name] / total * 100:.2f}",
            "percent": percent(numbers[name] / total),
        }
        for name in ("right", "deviation", "wrong")
        if total
    ]


def causes(report: Report, language: Language) -> list[dict[str, Any]]:
    """The causes as ranked by the report, bars relative to the first."""
    most = max((cause.lost for cause in report.causes), default=0) or 1
    return [
        {
            "name": cause.name,
            "label": cause_word(cause.name, language),
            "layer": word(LAYERS, cause.layer, language),
            "layer_name": cause.layer,
            "lost": count(cause.lost),
            "share": percent(cause.share),
            "bar": f"{cause.lost / most * 100:.1f}",
            "tools": cause.tools[:6],
            "more_tools": max(0, len(cause.tools) - 6),
            "tasks": cause.tasks[:4],
            "more_tasks": max(0, len(cause.tasks) - 4),
            "fix": cause.fix.text(language) if cause.fix is not None else "",
        }
        for cause in report.causes
    ]


def tool_rows(report: Report, language: Language) -> list[dict[str, Any]]:
    """One row per tool; `sort` values are what the table sorts by."""
    return [_tool_row(tool, language) for tool in report.tools]


def _tool_row(tool: ToolSummary, language: Language) -> dict[str, Any]:
    reach = tool.reached / tool.required if tool.required else None
    ran = tool.executed_ok / tool.executed if tool.executed else None
    top = sorted(tool.causes.items(), key=lambda item: (-item[1], item[0]))[:3]
    return {
        "tool": tool.tool,
        "cells": [
            _cell(reach, f"{percent(reach)}" if reach is not None else "", f"{tool.reached}/{tool.required}"),
            _cell(tool.required, count(tool.required)),
            _cell(tool.called, count(tool.called)),
            _cell(tool.instead_of, count(tool.instead_of)),
            _cell(tool.over_called, count(tool.over_called)),
            _cell(
                tool.param_hit_rate, percent(tool.param_hit_rate) if tool.param_hit_rate is not None else ""
            ),
            _cell(ran, percent(ran) if ran is not None else "", f"{tool.executed_ok}/{tool.executed}"),
            _cell(tool.tokens, count(tool.tokens)),
        ],
        "causes": ", ".join(f"{cause_word(name, language)} {number}" for name, number in top),
    }


def _cell(sort: float | None, text: str, parts: str = "") -> dict[str, Any]:
    shown = text if text else "-"
    return {"sort": "" if sort is None else f"{sort:.6f}", "text": shown, "parts": parts if text else ""}


def groups(report: Report, language: Language) -> dict[str, Any] | None:
    """The figures of tags, kinds, languages and suites with the metrics that any of them has."""
    if not report.groups:
        return None
    names = [name for name in _GROUP_METRICS if any(name in group.metrics for group in report.groups)]
    tables: dict[str, list[dict[str, Any]]] = {}
    for group in report.groups:
        tables.setdefault(group.by, []).append(
            {
                "name": _group_name(group.by, group.name, language),
                "tasks": count(group.tasks),
                "figures": [
                    figure(name, group.metrics.get(name, Metric(value=None)), language) for name in names
                ],
            }
        )
    order: list[str] = [by for by in ("kind", "language", "suite", "tag") if by in tables]
    order += [by for by in tables if by not in order]
    return {
        "metrics": [word(METRICS, name, language) for name in names],
        "tables": [{"by": word(GROUPS, by, language), "rows": tables[by]} for by in order],
    }


def _group_name(by: str, name: str, language: Language) -> str:
    tables: Mapping[str, Mapping[str, Message]] = {"kind": KINDS, "language": LANGUAGE_NAMES}
    return word(tables[by], name, language) if by in tables else name


def block_figures(report: Report, language: Language) -> list[dict[str, Any]]:
    """Used and given blocks per kind and partition."""
    rows = []
    for name, metric in report.blocks.items():
        kind, slash, partition = name.partition("/")
        row = figure("context_utilization", metric, language)
        row["label"] = word(BLOCK_KINDS, kind, language) + (f" / {partition}" if slash else "")
        row["part"] = bool(slash)
        rows.append(row)
    return rows


def dropped_blocks(report: Report, language: Language) -> list[dict[str, Any]]:
    """What the model did not see, by kind and reason, with how many attempts it concerned."""
    numbers: Counter[tuple[str, str]] = Counter()
    tokens: Counter[tuple[str, str]] = Counter()
    for task in report.tasks:
        for attempt in task.attempts:
            for drop in attempt.trace.dropped if attempt.trace is not None else ():
                numbers[drop.kind, drop.reason] += 1
                tokens[drop.kind, drop.reason] += drop.tokens
    return [
        {
            "kind": word(BLOCK_KINDS, kind, language),
            "reason": word(DROP_REASONS, reason, language),
            "count": count(number),
            "tokens": count(tokens[kind, reason]),
        }
        for (kind, reason), number in numbers.most_common()
    ]


def argument_errors(report: Report) -> list[dict[str, Any]]:
    """Argument errors per tool and field, most frequent first."""
    rows = [
        {"tool": tool, "field": field, "count": number}
        for tool, fields in report.argument_errors.items()
        for field, number in fields.items()
    ]
    return sorted(rows, key=lambda row: (-int(str(row["count"])), str(row["tool"]), str(row["field"])))


def proofs(lost: Sequence[LostDecision], language: Language) -> list[dict[str, Any]]:
    """Which causes were put to the proof, and how it ended."""
    numbers: Counter[tuple[str, str]] = Counter(
        (entry.cause.name, entry.cause.proof)
        for entry in lost
        if entry.cause is not None and entry.cause.proof
    )
    names = sorted({name for name, _ in numbers})
    return [
        {
            "cause": cause_word(name, language),
            **{proof: count(numbers[name, proof]) for proof in ("proved", "refuted", "undecided")},
        }
        for name in names
    ]


def run_facts(report: Report, language: Language) -> list[tuple[str, str]]:
    """What may explain a movement between two reports, as name and value."""
    run, catalog = report.run, report.catalog
    facts: list[tuple[Message, str]] = [
        (Message("Run", "运行"), run.id),
        (Message("Time", "时间"), run.time),
        (Message("Agent", "智能体"), run.agent),
        (Message("Model", "模型"), run.model),
        (Message("Model settings", "模型设置"), _mapping(run.model_settings)),
        (Message("Prompt", "提示词"), run.prompt_hash),
        (Message("Template", "模板"), _mapping(run.template)),
        (Message("Exposure", "工具暴露方式"), _mapping(run.exposure)),
        (Message("Tools placed by", "工具定义的放置者"), run.placed_by),
        (Message("Execution", "执行方式"), _mapping(run.execution)),
        (Message("Suites", "套件"), ", ".join(f"{name} {digest}" for name, digest in run.suites.items())),
        (
            Message("Order modes", "顺序模式"),
            ", ".join(f"{name} {n}" for name, n in report.order_modes.items()),
        ),
        (Message("Catalog", "工具目录"), catalog.hash),
        (Message("Catalog sources", "目录来源"), ", ".join(catalog.sources)),
        (Message("Quarantined tools", "被隔离的工具"), ", ".join(catalog.quarantined)),
        (Message("Token estimator", "token 估算器"), catalog.token_estimator),
        (Message("Repeats", "重复次数"), str(run.repeats)),
        (Message("Seed", "随机种子"), "" if run.seed is None else str(run.seed)),
        (Message("Deterministic", "确定性"), _yes(run.deterministic, language)),
        (Message("Duration", "用时"), duration(None if run.duration_s is None else run.duration_s * 1000)),
        (Message("Git commit", "Git 提交"), run.git_commit),
        (Message("Scorer version", "评分器版本"), run.scorer_version),
        (Message("Package version", "软件版本"), run.package_version),
    ]
    return [(name.text(language), value) for name, value in facts if value]


def _mapping(value: Mapping[str, Any]) -> str:
    return ", ".join(
        f"{key}={item if isinstance(item, str) else json_value(item)}" for key, item in value.items()
    )


def _yes(value: bool, language: Language) -> str:
    return Message("yes", "是").text(language) if value else Message("no", "否").text(language)


def task_rows(report: Report, language: Language) -> Iterator[list[str]]:
    """Every task for the list at the end: id, request, kind, tags, passed attempts, share, remark."""
    for task in report.tasks:
        scored = [attempt for attempt in task.attempts if attempt.state != "infra_error"]
        judged = [attempt for attempt in scored if attempt.passed is not None]
        passed = sum(attempt.passed is True for attempt in judged)
        shares = [attempt.share for attempt in scored if attempt.share is not None]
        remark = task.reason if task.state != "evaluated" else ""
        if not remark and len(scored) < len(task.attempts):
            lost = len(task.attempts) - len(scored)
            remark = f"{lost} 次因故障丢失" if language == "zh" else f"{lost} lost to infrastructure"
        if not remark and task.flaky:
            remark = "不稳定" if language == "zh" else "flaky"
        yield [
            task.task_id,
            task.query[:160],
            word(KINDS, task.kind, language),
            ", ".join(task.tags),
            f"{passed}/{len(judged)}" if judged else "-",
            percent(sum(shares) / len(shares)) if shares else "-",
            remark,
        ]


def cause_options(lost: Sequence[LostDecision], language: Language) -> list[tuple[str, str, int]]:
    """The causes that occur among the lost decisions, for the filter: name, words, count."""
    numbers = Counter(entry.cause_name for entry in lost)
    known = [name for name in CAUSES if name in numbers] + [name for name in numbers if name not in CAUSES]
    ranked = sorted(known, key=lambda name: -numbers[name])
    return [(name, cause_word(name, language), numbers[name]) for name in ranked]
