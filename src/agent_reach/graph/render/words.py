"""Words of the page and of the text report, in both languages."""

from __future__ import annotations

from agent_reach.records.message import Language, Message

STATES = {
    "good": Message("good", "正常"),
    "broken": Message("broken", "断开"),
    "unknown": Message("unknown", "未知"),
}
BROKEN = {
    "": Message("–", "–"), "physical": Message("physical", "物理"), "semantic": Message("semantic", "语义"), "execution": Message("execution", "执行"),
}  # fmt: skip
KINDS = {
    "walked": Message("walked", "走过"), "planned": Message("planned", "计划"), "hand": Message("by hand", "手工"),
    "schema": Message("schema", "模式"), "weak": Message("schema, weaker", "模式，较弱"), "offered": Message("offered", "提供"),
}  # fmt: skip
_WORDS = {
    "title": Message("Reachability map", "可达性地图"),
    "headline": Message("{rate} of {tools} tools can be reached.", "{tools} 个工具中可达 {rate}。"),
    "headline_assumed": Message(
        "{tools} tools; no trace says what was offered, so all count as offered (reach rate {rate}).",
        "{tools} 个工具；没有轨迹说明提供了哪些工具，因此全部视为已提供（可达率 {rate}）。",
    ),
    "headline_masked": Message(
        "{masked} of {tools} tools can be reached here ({rate} without the permission mask); {blocked} are blocked.",
        "{tools} 个工具中此环境可达 {masked}（不计权限时为 {rate}）；{blocked} 个被拦截。",
    ),
    "search": Message("Find a tool", "查找工具"),
    "search_hint": Message("name of a tool: what feeds it, where it leads", "工具名：谁为它提供输入，它通向哪里"),
    "legend": Message(
        "Width: score. Solid: walked in traces. Dashed: from schemas; dotted: weaker. Red with a reason: blocked. Dashed border: dead.",
        "线宽：得分。实线：轨迹中走过。虚线：由模式推断；点线：较弱。红色并注明原因：被拦截。虚线边框：失效。",
    ),
    "into": Message("What feeds it", "谁通向它"), "out": Message("Where it leads", "它通向哪里"),
    "none": Message("nothing", "无"), "nothing": Message("no such tool", "没有这个工具"),
    "reach_rate": Message("reach rate", "可达率"), "dead": Message("dead tools", "失效工具"), "blocked": Message("blocked", "被拦截"),
    "trusted_edges": Message("trusted edges", "可信边"), "cycles": Message("cycles", "环"),
    "unresolved": Message("unresolved inputs", "无来源的输入"), "hops": Message("hops walked", "走过的跳数"),
    "gini": Message("call Gini", "调用基尼系数"), "skew": Message("call skew", "调用偏斜"),
    "tools": Message("Tools", "工具"), "changes": Message("Cheapest changes", "最省的改动"),
    "bottlenecks": Message("Bottlenecks", "瓶颈"), "orphans": Message("Orphans", "孤立工具"),
    "not_in_graph": Message("Walked but not in the graph", "走过但图中没有"), "failing": Message("Failing hops", "失败的跳"),
    "slow": Message("Slow hops (a cache would pay off)", "慢的跳（缓存可省时）"), "never_walked": Message("Edges never walked", "从未走过的边"),
    "partitions": Message("Partitions", "分区"), "hallucinated": Message("Hallucinated names", "臆造的工具名"),
    "findings": Message("Findings", "发现"), "tool": Message("tool", "工具"), "physical": Message("physical", "物理"),
    "semantic": Message("semantic", "语义"), "execution": Message("execution", "执行"),
    "first_broken": Message("first broken", "首个断点"), "hops_to": Message("hops", "跳数"), "cost": Message("cost", "代价"),
    "called": Message("called", "调用"), "reason": Message("reason or change", "原因或改动"), "kind": Message("kind", "类型"),
    "tokens": Message("tokens", "token 数"), "change": Message("change", "改动"), "input": Message("input", "输入"),
    "best": Message("best binding", "最强绑定"), "members": Message("members", "成员"), "entries": Message("entries", "入口"),
    "cuts_off": Message("cuts off", "切断"), "betweenness": Message("betweenness", "介数"), "hop": Message("hop", "跳"),
    "taken": Message("walked", "走过"), "worked": Message("worked", "成功"), "failures": Message("failures", "失败"),
    "seconds": Message("seconds", "秒"), "source": Message("from", "起点"), "target": Message("to", "终点"),
    "partition": Message("partition", "分区"), "recalled": Message("recalled", "召回"), "share": Message("share", "占比"),
    "name": Message("name", "名称"), "count": Message("count", "次数"), "nearest": Message("nearest", "最接近"),
    "subject": Message("subject", "对象"), "message": Message("message", "说明"),
}  # fmt: skip


def word(name: str, language: Language) -> str:
    """The word in that language."""
    return _WORDS[name].text(language)


def share(value: float | None) -> str:
    """A share as per cent; a dash where there is none."""
    return "–" if value is None else f"{value * 100:.1f}%"
