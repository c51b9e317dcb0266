"""A first look at a tool list: what failed to load, what looks alike, what breaks clients, what is dead, what to mend first.

Needs no project, no golden paths and no model. With traces it also says which tools are never called, and weighs the fixes
by the calls they touch.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from agent_reach.catalog.catalog import Catalog
from agent_reach.catalog.similar import similar_pairs
from agent_reach.graph.dead import dead_tools
from agent_reach.graph.evidence import Evidence
from agent_reach.graph.options import GraphOptions
from agent_reach.lint.catalog import lint_catalog
from agent_reach.lint.engine import LintOptions
from agent_reach.records.finding import Finding
from agent_reach.records.message import Message
from agent_reach.records.report import SimilarPair
from agent_reach.records.trace import Trace
from agent_reach.reports.figures import plural
from agent_reach.text.counting import ESTIMATOR_NAME, count_json_tokens

SERVER_FAILED = "server_failed"
SURFACE_LIMITS = (40, 64, 128)
_SEVERITY_WEIGHT: Mapping[str, float] = {"error": 10.0, "warning": 3.0, "info": 0.5}
_CLIENT_BREAKERS = ("AR404", "AR406", "AR407", "AR212", "AR405", "AR211")
_PAIR_WEIGHT = 4.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerLook:
    """One server: how many tools, what they weigh in a prompt, or why it could not be used and what to do about it."""

    name: str
    tools: int = 0
    tokens: int = 0
    quarantined: int = 0
    protocol: str = ""
    failed: Message | None = None
    fix: Message | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Fix:
    """One thing to mend: how many tools (or whole servers, and recorded calls) it touches, up to three places, what to do. `pay` orders the
    fixes: severity times tools touched, more where those tools are called."""

    code: str
    title: Message
    action: Message
    tools: int
    calls: int
    places: tuple[str, ...]
    pay: float
    servers: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What traces say of tools: calls per tool key, names that no tool has, tools that were offered and never called, tools
    that were never offered. `traces` 0: nothing is known."""

    traces: int = 0
    calls: Mapping[str, int] = field(default_factory=dict)
    unknown_names: Mapping[str, int] = field(default_factory=dict)
    never_called: tuple[str, ...] = ()
    never_offered: tuple[str, ...] = ()
    dead_tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstLook:
    """Everything a first look says."""

    hash: str
    tools: int
    tokens: int
    token_estimator: str
    servers: tuple[ServerLook, ...]
    limits_passed: tuple[int, ...]
    load_findings: tuple[Finding, ...]
    breaking: tuple[Finding, ...]
    look_alikes: tuple[SimilarPair, ...]
    usage: Usage
    fixes: tuple[Fix, ...]

    @property
    def has_errors(self) -> bool:
        """A server or a tool could not be used."""
        return any(finding.severity == "error" for finding in self.load_findings)


def first_look(
    catalog: Catalog, traces: Iterable[Trace] = (), *, options: LintOptions | None = None, fixes: int = 10
) -> FirstLook:
    """Look at a loaded catalog, and at traces where there are any; the `fixes` that pay most come first."""
    pairs = similar_pairs(catalog)
    result = lint_catalog(catalog, options=options, pairs=pairs)
    weights = {tool.key: count_json_tokens(catalog.model_view(tool)) for tool in catalog.tools}
    usage = _usage(catalog, traces, weights)
    load = tuple(finding for finding in catalog.findings if finding.severity != "info")
    return FirstLook(
        hash=catalog.hash,
        tools=len(catalog),
        tokens=sum(weights.values()),
        token_estimator=ESTIMATOR_NAME,
        servers=_servers(catalog, weights),
        limits_passed=tuple(limit for limit in SURFACE_LIMITS if len(catalog) > limit),
        load_findings=load,
        breaking=tuple(finding for finding in result.findings if finding.code in _CLIENT_BREAKERS),
        look_alikes=pairs,
        usage=usage,
        fixes=tuple(_fixes(catalog, result.findings, usage, weights)[:fixes]),
    )


def _servers(catalog: Catalog, weights: Mapping[str, int]) -> tuple[ServerLook, ...]:
    failed = {finding.subject: finding for finding in catalog.findings if finding.code == SERVER_FAILED}
    protocols = {
        source.server: str(source.details.get("protocol", "")) for source in catalog.provenance.sources
    }
    names = dict.fromkeys(
        [
            *(source.server for source in catalog.provenance.sources),
            *(tool.server for tool in catalog.tools),
            *failed,
        ]
    )
    looks = []
    for name in names:
        mine = [tool for tool in catalog.tools if tool.server == name]
        looks.append(
            ServerLook(
                name=name,
                tools=len(mine),
                tokens=sum(weights[tool.key] for tool in mine),
                quarantined=sum(tool.key.startswith(f"{name}/") for tool in catalog.quarantined),
                protocol=protocols.get(name, ""),
                failed=failed[name].message if name in failed else None,
                fix=failed[name].fix if name in failed else None,
            )
        )
    return tuple(sorted(looks, key=lambda look: (look.failed is None, -look.tokens, look.name)))


def _usage(catalog: Catalog, traces: Iterable[Trace], weights: Mapping[str, int]) -> Usage:
    evidence = Evidence(catalog, GraphOptions(value_flow=False))
    count = 0
    for trace in traces:
        count += 1
        evidence.fold(trace)
    if not count:
        return Usage()
    dead = dead_tools(None, catalog, evidence=evidence)
    never_offered = tuple(one.tool for one in dead if one.kind == "never_offered")
    return Usage(
        traces=count,
        calls={key: counts.called for key, counts in evidence.tools.items() if counts.called},
        unknown_names={one.name: one.count for one in evidence.names.hallucinated()},
        never_called=tuple(one.tool for one in dead if one.kind != "never_offered"),
        never_offered=never_offered,
        dead_tokens=sum(weights[one.tool] for one in dead),
    )


def _fixes(
    catalog: Catalog, findings: Sequence[Finding], usage: Usage, weights: Mapping[str, int]
) -> list[Fix]:
    from agent_reach.lint.table import RULES

    groups: dict[str, list[Finding]] = {}
    for finding in findings:
        if finding.code != SERVER_FAILED:  # each has its own reason: they are no group
            groups.setdefault(finding.code, []).append(finding)
    total_calls = sum(usage.calls.values())
    found = []
    for code, group in groups.items():
        keys = {finding.subject for finding in group}
        tools = (
            sum(int(finding.data["count"]) if "count" in finding.data else 1 for finding in group)
            if code in ("AR401", "AR402")
            else len(keys)
        )
        calls = sum(usage.calls.get(key, 0) for key in keys)
        share = calls / total_calls if total_calls else 0.0
        weight = _PAIR_WEIGHT * 2 if code == "AR301" else _SEVERITY_WEIGHT[group[0].severity]
        rule = RULES.get(code)
        title = rule.summary if rule is not None else group[0].message
        action = group[0].fix or title
        found.append(
            Fix(
                code=code,
                title=title,
                action=action,
                tools=tools,
                calls=calls,
                places=tuple(
                    dict.fromkeys(
                        " ".join(part for part in (finding.subject, finding.pointer) if part)
                        for finding in group
                        if finding.subject
                    )
                )[:3],
                pay=weight * tools * (1.0 + 3.0 * share),
            )
        )
    found.extend(_server_fixes(catalog))
    found.extend(_extra_fixes(catalog, usage, weights))
    return sorted(found, key=lambda fix: (-fix.pay, fix.code))


def _server_fixes(catalog: Catalog) -> list[Fix]:
    """Servers that could not be used, as servers; an empty list, which is a fault as well."""
    failed = [finding for finding in catalog.findings if finding.code == SERVER_FAILED]
    if failed:
        count = len(failed)
        return [
            Fix(
                code=SERVER_FAILED,
                title=Message(
                    f"{plural(count, 'server')} could not be used, so that nothing is known of their tools",
                    f"{count} 个服务器不可用，其工具情况未知",
                ),
                action=Message(
                    "mend each server for the reason that stands with it, or take it out of the file",
                    "按各自列出的原因修好这些服务器，或从文件中删除",
                ),
                tools=0,
                calls=0,
                places=tuple(finding.subject for finding in failed)[:3],
                pay=_SEVERITY_WEIGHT["error"] * 20.0 * count,
                servers=count,
            )
        ]
    if catalog.tools or catalog.quarantined:
        return []
    servers = [source for source in catalog.provenance.sources if source.kind == "mcp"]
    places = tuple(dict.fromkeys(source.server or source.location for source in catalog.provenance.sources))
    title = Message("the list is empty: there is no tool in it", "列表是空的：其中没有任何工具")
    action = (
        Message(
            "the server answered with no tool: some offer theirs only after a login, with a key or a folder in their"
            " settings, or behind a flag; start it with what its page asks for",
            "服务器没有返回任何工具：有些服务器要先登录、配置密钥或目录，或加启动参数后才提供工具；请按其说明启动",
        )
        if servers
        else Message(
            "the file holds a list without entries, as a server gives it that was asked too early or as a filter leaves it;"
            " save the answer to tools/list again, or name the mcp.json that starts the server",
            "文件里的列表没有条目，可能是服务器尚未就绪或被过滤掉了；请重新保存 tools/list 的结果，或直接给出启动服务器的 mcp.json",
        )
    )
    return [Fix(code="no_tools", title=title, action=action, tools=0, calls=0, places=places[:3], pay=1000.0)]


def _extra_fixes(catalog: Catalog, usage: Usage, weights: Mapping[str, int]) -> list[Fix]:
    found = []
    silent = [*usage.never_called, *usage.never_offered]
    if silent:
        found.append(
            Fix(
                code="dead_tools",
                title=Message(
                    f"{len(silent)} of {len(catalog)} tools were not called in {usage.traces} traces; they weigh {usage.dead_tokens} tokens",
                    f"在 {usage.traces} 条轨迹里，{len(catalog)} 个工具中有 {len(silent)} 个没有被调用，占 {usage.dead_tokens} 个 token",
                ),
                action=Message(
                    "hide or remove them, or find out why they are not reached",
                    "隐藏或移除它们，或查明为何到达不了",
                ),
                tools=len(silent),
                calls=0,
                places=tuple(sorted(silent, key=lambda key: -weights[key])[:3]),
                pay=2.0 * len(silent),
            )
        )
    if usage.unknown_names:
        names = list(usage.unknown_names)
        found.append(
            Fix(
                code="unknown_names",
                title=Message(
                    f"{sum(usage.unknown_names.values())} calls named {len(names)} tools that do not exist",
                    f"有 {sum(usage.unknown_names.values())} 次调用使用了 {len(names)} 个不存在的工具名",
                ),
                action=Message(
                    "add aliases in the overlay, or rename the tools to what models expect",
                    "在 overlay 里加别名，或把工具改成模型期望的名称",
                ),
                tools=len(names),
                calls=sum(usage.unknown_names.values()),
                places=tuple(names[:3]),
                pay=8.0 * len(names),
            )
        )
    return found
