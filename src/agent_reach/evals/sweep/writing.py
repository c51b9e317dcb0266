"""A sweep as JSON, as a table of comma-separated values, and as lines for a terminal."""

from __future__ import annotations

import csv
import io
from typing import Any

from agent_reach.evals.sweep.sweep import REACH, SweepPoint, SweepResult
from agent_reach.records.codec import to_json
from agent_reach.records.message import Language, Message
from agent_reach.records.score import Metric

AXIS_WORDS: dict[str, Message] = {
    "tools": Message("tools in the list", "列表中的工具数"),
    "position": Message("place of the right tool (0 first, 1 last)", "正确工具的位置（0 最前，1 最后）"),
    "passages": Message("retrieved passages", "检索段落数"),
    "tokens": Message("tokens of context load", "上下文负载 token"),
}
SHOWN_METRICS = (REACH, "decision_success", "over_call_rate")


def sweep_document(result: SweepResult) -> dict[str, Any]:
    """The sweep as JSON values."""
    document: dict[str, Any] = {"schema_version": 1, **to_json(result)}
    return document


def sweep_csv(result: SweepResult) -> str:
    """One row per point: axis, value, exposure, tools and tokens offered, attempts, and each metric with its interval."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    columns = [part for name in SHOWN_METRICS for part in (name, f"{name}_low", f"{name}_high")]
    writer.writerow(["axis", "value", "exposure", "tools", "tokens", "attempts", "lost", *columns])
    for point in result.points:
        figures: list[Any] = []
        for name in SHOWN_METRICS:
            metric = point.metrics[name]
            low, high = (metric.interval.low, metric.interval.high) if metric.interval else (None, None)
            figures += [_rounded(metric.value), _rounded(low), _rounded(high)]
        writer.writerow(
            [
                point.axis,
                f"{point.value:g}",
                point.exposure,
                point.tools,
                point.tokens,
                point.attempts,
                point.lost,
                *figures,
            ]
        )
    return out.getvalue()


def _rounded(value: float | None) -> Any:
    return "" if value is None else round(value, 6)


def sweep_lines(result: SweepResult, language: Language) -> list[str]:
    """The curves as tables, and the capacity."""
    lines: list[str] = []
    for axis, words in AXIS_WORDS.items():
        points = [point for point in result.points if point.axis == axis]
        if points:
            lines.append(words.text(language))
            lines += [_line(point, language) for point in points]
    lines += capacity_lines(result, language)
    lines.append(
        Message(
            f"{result.planned} attempts in all points, {result.spent} made now"
            + (f"; kept in {result.kept}" if result.kept else ""),
            f"各点共 {result.planned} 次尝试，本次进行 {result.spent} 次"
            + (f"；保存于 {result.kept}" if result.kept else ""),
        ).text(language)
    )
    if result.lost:
        lines.append(
            Message(
                f"{result.lost} attempts were lost to infrastructure and count nowhere",
                f"{result.lost} 次尝试因基础设施失败，不计入",
            ).text(language)
        )
    if result.ended_early:
        lines.append(
            Message(
                "the budget ended before all points; go on with --resume",
                "预算在完成所有点之前用尽；可用 --resume 继续",
            ).text(language)
        )
    return lines


def _line(point: SweepPoint, language: Language) -> str:
    reach, over = point.metrics[REACH], point.metrics["over_call_rate"]
    offered = Message(f"{point.tools:g} offered", f"提供 {point.tools:g} 个").text(language)
    return (
        f"  {point.value:>7g}  {point.exposure:5}  {figure(reach):24}  "
        + Message("success ", "成功 ").text(language)
        + f"{figure(point.metrics['decision_success']):24}  "
        + Message("over-calls ", "过度调用 ").text(language)
        + f"{figure(over, interval=False)}  ({offered}, {point.tokens:g} token)"
    )


def figure(metric: Metric, *, interval: bool = True) -> str:
    """`83.3% [70.1, 91.0]`."""
    if metric.value is None:
        return "n/a"
    text = f"{metric.value * 100:.1f}%"
    if interval and metric.interval is not None:
        text += f" [{metric.interval.low * 100:.1f}, {metric.interval.high * 100:.1f}]"
    return text


def capacity_lines(result: SweepResult, language: Language) -> list[str]:
    """What the list may hold before reach falls below the target."""
    lines = []
    for item in result.capacities:
        if item.value is None:
            said = Message(
                f"capacity ({item.exposure}, reach >= {item.target:.0%}): none, the smallest count is below already",
                f"容量（{item.exposure}，触达率 ≥ {item.target:.0%}）：无，最小的工具数已低于目标",
            )
        else:
            sure = item.sure if item.sure is not None else Message("no count", "无").text(language)
            said = Message(
                f"capacity ({item.exposure}, reach >= {item.target:.0%}): {item.value} tools; with the whole interval above it: {sure}",
                f"容量（{item.exposure}，触达率 ≥ {item.target:.0%}）：{item.value} 个工具；整个区间都高于目标：{sure}",
            )
        lines.append(said.text(language))
    return lines
