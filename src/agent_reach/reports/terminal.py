"""The summary of a run as plain lines of at most 80 columns, for a terminal or a log of a pipeline.

No colour and no drawing characters: their width differs between Chinese and other terminals, and a log keeps the text.
The headline comes first, then the figures with their parts, then what to mend.
"""

from __future__ import annotations

from agent_reach.records.message import Language, Message
from agent_reach.records.report import METRIC_NAMES, CauseSummary, Report
from agent_reach.reports.figures import (
    count,
    display_width,
    duration,
    fit,
    fraction,
    interval_text,
    metric_value,
    one_line,
    plural,
    tool_list_parts,
    wrap,
)
from agent_reach.reports.wording import HEADLINE_METRICS, LAYERS, METRICS, cause_word, word

WIDTH = 80
_SHOWN_CAUSES = 5
_SHOWN_CONFUSIONS = 3


def summary_lines(report: Report, language: Language = "en") -> list[str]:
    """The summary, headline first; no line is wider than 80 columns, Chinese characters counted as two."""
    lines = wrap(report.headline.text(language), WIDTH)
    lines += wrap(_run_line(report, language), WIDTH)
    lines += wrap(_catalog_line(report, language), WIDTH)
    lines += _warnings(report, language)
    lines.append("")
    lines += _metric_lines(report, language)
    lines += _cause_lines(report, language)
    lines += _confusion_lines(report, language)
    lines += _argument_lines(report, language)
    lines += _hallucinated_lines(report, language)
    return lines


def _run_line(report: Report, language: Language) -> str:
    run = report.run
    attempts = sum(len(task.attempts) for task in report.tasks)
    who = " ".join(part for part in (run.agent, run.model) if part) or "-"
    took = duration(None if run.duration_s is None else run.duration_s * 1000)
    parts = [
        Message(f"run {run.id}", f"运行 {run.id}"),
        Message(f"agent {who}", f"智能体 {who}"),
        Message(plural(len(report.tasks), "task"), f"{len(report.tasks):,} 个任务"),
        Message(plural(attempts, "attempt"), f"{attempts:,} 次尝试"),
    ]
    if report.order_modes:
        modes = sorted(report.order_modes.items())
        english = ", ".join(f"{mode} ({plural(number, 'task')})" for mode, number in modes)
        chinese = "、".join(f"{mode}（{number:,} 个任务）" for mode, number in modes)
        parts.append(Message(f"order: {english}", f"顺序：{chinese}"))
    if took:
        parts.append(Message(took, took))
    return _joined(parts, language)


def _catalog_line(report: Report, language: Language) -> str:
    catalog = report.catalog
    pairs = len(catalog.similar_pairs)
    parts = [
        *(Message(part, part) for part in tool_list_parts(catalog, language)),
        Message(plural(pairs, "look-alike pair"), f"{pairs:,} 对相似工具"),
    ]
    if catalog.quarantined:
        number = len(catalog.quarantined)
        parts.append(Message(f"{number:,} quarantined", f"{number:,} 个已隔离"))
    return _joined(parts, language)


def _joined(parts: list[Message], language: Language) -> str:
    return ("，" if language == "zh" else ", ").join(part.text(language) for part in parts)


def _warnings(report: Report, language: Language) -> list[str]:
    warnings = []
    if report.infra_errors:
        number = len(report.infra_errors)
        warnings.append(
            Message(
                f"! {plural(number, 'attempt')} lost to infrastructure: counted nowhere",
                f"! {number:,} 次尝试因基础设施故障丢失，不计入任何指标",
            )
        )
        first = next(
            (
                (task.task_id, attempt.error)
                for task in report.tasks
                for attempt in task.attempts
                if attempt.state == "infra_error" and attempt.error
            ),
            None,
        )
        if first is not None:
            warnings.append(Message(f"! first: {first[0]}: {first[1]}", f"! 首例：{first[0]}：{first[1]}"))
    if not report.sufficient:
        warnings.append(
            Message("! too many attempts were lost: nothing can be decided", "! 丢失的尝试过多：无法下结论")
        )
    if report.run.degraded:
        warnings.append(
            Message("! degraded run: not every server was ready", "! 降级运行：并非所有服务器都就绪")
        )
    return [line for warning in warnings for line in wrap(warning.text(language), WIDTH, indent="  ")]


def _metric_lines(report: Report, language: Language) -> list[str]:
    names = [name for name in HEADLINE_METRICS if name in report.metrics]
    names += [name for name in METRIC_NAMES if name in report.metrics and name not in names]
    names += [name for name in report.metrics if name not in names]
    lines = []
    for name in names:
        metric = report.metrics[name]
        value = metric_value(name, metric, language)
        parts = fit(fraction(metric), 15)
        interval = interval_text(name, metric.interval)
        label = fit(one_line(word(METRICS, name, language)), 26)
        value = " " * max(0, 8 - display_width(value)) + value
        lines.append(f"  {label} {value}   {parts} {interval}".rstrip())
    return lines


def _cause_lines(report: Report, language: Language) -> list[str]:
    if not report.causes:
        return []
    title = Message("Causes, most lost decisions first", "原因（按损失的决策数排序）")
    lines = ["", title.text(language)]
    for cause in report.causes[:_SHOWN_CAUSES]:
        lines += _one_cause(cause, language)
    rest = len(report.causes) - _SHOWN_CAUSES
    if rest > 0:
        lines.append(Message(f"  and {rest} more", f"  另有 {rest} 种").text(language))
    return lines


def _one_cause(cause: CauseSummary, language: Language) -> list[str]:
    label = f"{cause_word(cause.name, language)} [{word(LAYERS, cause.layer, language)}]"
    names = ", ".join(cause.tools[:3])
    head = wrap(
        f"{label}: {names}" if names else label, WIDTH, indent=" " * 8, first=f"{count(cause.lost):>6}  "
    )
    if cause.fix is None:
        return head
    fix = Message("fix: ", "修复：").text(language) + cause.fix.text(language)
    return head + wrap(fix, WIDTH, indent=" " * 8)


def _confusion_lines(report: Report, language: Language) -> list[str]:
    pairs = [confusion for confusion in report.confusions if confusion.expected != confusion.chosen][
        :_SHOWN_CONFUSIONS
    ]
    if not pairs:
        return []
    lines = ["", Message("Confused most (expected: chosen)", "最常混淆（应选：实选）").text(language)]
    for pair in pairs:
        chosen = pair.chosen or Message("no call", "没有调用").text(language)
        mark = Message(" (look-alikes)", "（相似工具）").text(language) if pair.predicted else ""
        lines += wrap(
            f"{pair.expected}: {chosen}{mark}", WIDTH, indent=" " * 8, first=f"{count(pair.count):>6}  "
        )
    return lines


def _argument_lines(report: Report, language: Language) -> list[str]:
    errors = sorted(
        (
            (number, f"{tool}.{name}")
            for tool, names in report.argument_errors.items()
            for name, number in names.items()
        ),
        key=lambda item: (-item[0], item[1]),
    )
    if not errors:
        return []
    lines = ["", Message("Arguments lost most", "最常出错的参数").text(language)]
    for number, name in errors[:_SHOWN_CONFUSIONS]:
        lines += wrap(name, WIDTH, indent=" " * 8, first=f"{count(number):>6}  ")
    return lines


def _hallucinated_lines(report: Report, language: Language) -> list[str]:
    if not report.hallucinated:
        return []
    ranked = sorted(report.hallucinated.items(), key=lambda item: (-item[1], item[0]))[:5]
    names = ", ".join(f"{name} ({number})" for name, number in ranked)
    return [
        "",
        *wrap(Message("Invented names: ", "编造的工具名：").text(language) + names, WIDTH, indent="  "),
    ]
