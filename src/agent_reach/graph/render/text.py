"""The map as lines for a terminal: what is reached, what is not and why, and the first things to do."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from agent_reach.graph.analysis import GraphAnalysis
from agent_reach.graph.compare import MapComparison
from agent_reach.graph.render.marks import DEAD_WORDS
from agent_reach.graph.render.words import BROKEN, share
from agent_reach.records.message import Language, Message

if TYPE_CHECKING:
    from agent_reach.graph.build import ToolGraph

MOST = 10


def map_lines(graph: ToolGraph, analysis: GraphAnalysis, language: Language = "en") -> list[str]:
    """The report of a map."""

    def say(en: str, zh: str) -> str:
        return Message(en, zh).text(language)

    reach = analysis.reach
    lines = [say(
        f"reach rate {share(reach.masked.rate)} of {reach.union.total} tools", f"可达率 {share(reach.masked.rate)}（共 {reach.union.total} 个工具）"
    )]  # fmt: skip
    if reach.masked is not reach.union:
        lines[0] += say(
            f" ({share(reach.union.rate)} without the permission mask)",
            f"（不计权限 {share(reach.union.rate)}）",
        )
    if reach.assumed_offered:
        lines.append(
            say(
                "  no trace says what was offered: all tools count as offered",
                "  没有轨迹说明提供了哪些工具：全部视为已提供",
            )
        )
    if len(reach.by_entry_masked) > 1:
        lines.extend(f"  {item.entry}: {share(item.rate)}" for item in reach.by_entry_masked)
    if reach.partitions is not None:
        lines.append(
            say(
                f"  partitions: {share(reach.partitions.rate)} of {reach.partitions.total}",
                f"  分区：{share(reach.partitions.rate)}（共 {reach.partitions.total} 个）",
            )
        )
    table = graph.table
    lines.append(
        say(
            f"{len(table)} edges, {table.trusted_count} trusted",
            f"{len(table)} 条边，{table.trusted_count} 条可信",
        )
    )
    if graph.evidence is not None:
        evidence = graph.evidence
        lines.append(say(
            f"{evidence.traces} traces, {evidence.calls} calls, {analysis.traffic.hops if analysis.traffic else 0} hops, {evidence.retries} retries",
            f"{evidence.traces} 条轨迹，{evidence.calls} 次调用，{analysis.traffic.hops if analysis.traffic else 0} 跳，{evidence.retries} 次重试",
        ))  # fmt: skip
        skew = analysis.skew
        if skew.gini is not None:
            tv = (
                f"{skew.total_variation:.2f}"
                if skew.total_variation is not None
                else say("not known without golds", "无标准答案，未知")
            )
            lines.append(
                say(f"call skew: {tv}; Gini {skew.gini:.2f}", f"调用偏斜：{tv}；基尼系数 {skew.gini:.2f}")
            )
    _section(
        lines,
        say("blocked here", "此环境被拦截"),
        (f"x {key}: {', '.join(why)}" for key, why in reach.blocked.items()),
    )
    _section(lines, say("first broken state", "首个断点"), (
        f"x {state.tool}: {BROKEN[state.first_broken].text(language)}" for state in analysis.states if state.first_broken and state.tool not in reach.blocked
    ))  # fmt: skip
    dead = [item for item in analysis.dead if graph.evidence is not None or item.kind != "unknown"]
    heavy = sum(item.tokens for item in dead)
    _section(lines, say(f"dead tools ({heavy} tokens)", f"失效工具（{heavy} tokens）"), (
        f"- {item.tool}: {DEAD_WORDS[item.kind].text(language)}, {item.tokens} tokens" for item in dead
    ))  # fmt: skip
    _section(lines, say("cheapest change for each unreachable tool", "每个不可达工具最省的改动"), (
        f"-> {change.tool}: {change.message.text(language)}" for change in analysis.changes
    ))  # fmt: skip
    _section(lines, say("high risk: more than 3 hops", "高风险：超过 3 跳"), (
        f"! {key}: {' -> '.join(reach.costs[key].path)}" for key in reach.high_risk
    ))  # fmt: skip
    _section(lines, say("required inputs that nothing produces", "没有来源的必填输入"), (
        f"? {item.tool}.{item.path}" for item in analysis.unresolved
    ))  # fmt: skip
    _section(lines, say("cycles", "环"), (
        f"o {', '.join(cycle.members[:6])}{' …' if len(cycle.members) > 6 else ''} ({len(cycle.members)})" for cycle in analysis.structure.cycles
    ))  # fmt: skip
    _section(lines, say("without it others are cut off", "缺失会切断其他工具"), (
        f"! {item.tool} ({item.count}): {', '.join(item.cuts_off[:6])}" for item in analysis.structure.bottlenecks
    ))  # fmt: skip
    if analysis.traffic is not None:
        _section(lines, say("walked but not in the graph", "走过但图中没有"), (
            f"- {hop.source} -> {hop.target} ({hop.taken})" for hop in analysis.traffic.not_in_graph
        ))  # fmt: skip
        _section(lines, say("failing hops", "失败的跳"), (
            f"x {hop.source} -> {hop.target}: {', '.join(f'{why} {count}' for why, count in hop.failures.items())}" for hop in analysis.traffic.failing
        ))  # fmt: skip
        _section(lines, say("slow hops", "慢的跳"), (
            f"- {hop.source} -> {hop.target}: {hop.taken} x {hop.latency_ms or 0:.0f} ms" for hop in analysis.traffic.slow[:5]
        ))  # fmt: skip
    _section(lines, say("names that no tool has", "不存在的工具名"), (
        f"x {item.name} ({item.count}){': ' + ', '.join(item.nearest) if item.nearest else ''}" for item in analysis.hallucinated
    ))  # fmt: skip
    return lines


def _section(lines: list[str], title: str, rows: Iterable[str]) -> None:
    listed = list(rows)
    if listed:
        lines.append(f"{title} ({len(listed)}):")
        lines.extend(f"  {row}" for row in listed[:MOST])
        if len(listed) > MOST:
            lines.append(f"  … {len(listed) - MOST}")


def comparison_lines(result: MapComparison, language: Language = "en") -> list[str]:
    """What differs between two maps, the verdict first."""
    verdicts = {
        "pass": Message("pass", "通过"), "regression": Message("regression", "退化"), "incomparable": Message("not comparable", "不可比"),
    }  # fmt: skip
    words = (
        ("added_tools", Message("added tools", "新增工具")), ("removed_tools", Message("removed tools", "移除工具")),
        ("new_dead", Message("newly dead", "新增失效")), ("revived", Message("alive again", "恢复")),
        ("newly_blocked", Message("newly blocked", "新被拦截")), ("unblocked", Message("no longer blocked", "解除拦截")),
        ("never_recalled", Message("partitions never recalled", "从未召回的分区")),
    )  # fmt: skip
    lines = [
        f"{verdicts[result.verdict].text(language)}: {Message('reach rate', '可达率').text(language)} {share(result.rate[0])} -> {share(result.rate[1])}"
    ]
    lines.extend(f"x {item.rule}: {item.message.text(language)}" for item in result.broken)
    for name, told in words:
        values = getattr(result, name)
        if values:
            lines.append(
                f"  {told.text(language)} ({len(values)}): {', '.join(values[:MOST])}{' …' if len(values) > MOST else ''}"
            )
    if result.added_edges or result.removed_edges:
        told = Message(
            f"edges: {len(result.added_edges)} new, {len(result.removed_edges)} gone",
            f"边：新增 {len(result.added_edges)}，消失 {len(result.removed_edges)}",
        )
        lines.append(f"  {told.text(language)}")
    for key, (before, after) in list(result.cost_moved.items())[:MOST]:
        lines.append(f"  {Message('cost', '代价').text(language)} {key}: {_cost(before)} -> {_cost(after)}")
    return lines


def _cost(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"
