"""The release gate of a project: has the tool list drifted, is lint clean enough, does the map hold, are suites sound, is the
baseline still about these tools.

Each check is a function of the project and its catalog; what a project does not have is skipped and says how to get it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from agent_reach.catalog.catalog import Catalog
from agent_reach.catalog.diff import diff_catalogs
from agent_reach.catalog.snapshot import load_snapshot
from agent_reach.config.settings import ProjectConfig
from agent_reach.errors import AgentReachError
from agent_reach.evals.suite.lint import examine, reaches
from agent_reach.evals.suite.load import Suite
from agent_reach.graph.build import ToolGraph
from agent_reach.graph.compare import compare
from agent_reach.graph.options import GraphOptions
from agent_reach.lint.catalog import lint_catalog
from agent_reach.lint.options import read_fail_on, read_lint_options
from agent_reach.records.finding import Finding
from agent_reach.records.message import Message
from agent_reach.reports.json_report import read_report

State = Literal["pass", "fail", "undecided", "skipped"]
LOCK_FILE = "catalog.lock.json"
MAP_FILE = "map.json"
STALE_DAYS = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseCheck:
    """One check: what it says, and the findings behind it."""

    name: str
    state: State
    message: Message
    findings: tuple[Finding, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseResult:
    """All checks. `exit_code` is 1 when one fails, 3 when one cannot be decided, else 0."""

    checks: tuple[ReleaseCheck, ...]

    @property
    def exit_code(self) -> int:
        """0 good, 1 no, 3 not decidable."""
        states = {check.state for check in self.checks}
        return 1 if "fail" in states else 3 if "undecided" in states else 0


def release_gate(project: ProjectConfig, catalog: Catalog, *, now: datetime | None = None) -> ReleaseResult:
    """Run all checks of a project on its catalog as it is now; a check that breaks on its own input is undecided."""
    moment = now or datetime.now(UTC)
    checks: tuple[tuple[str, Callable[[], ReleaseCheck]], ...] = (
        ("servers", lambda: _servers(catalog)),
        ("snapshot", lambda: _snapshot(project, catalog)),
        ("lint", lambda: _lint(project, catalog)),
        ("suites", lambda: _suites(project, catalog)),
        ("map", lambda: _map(project, catalog)),
        ("baseline", lambda: _baseline(project, catalog, moment)),
    )
    return ReleaseResult(checks=tuple(_guarded(name, check) for name, check in checks))


def _guarded(name: str, check: Callable[[], ReleaseCheck]) -> ReleaseCheck:
    try:
        return check()
    except AgentReachError as error:
        return ReleaseCheck(name=name, state="undecided", message=Message(str(error), str(error)))


def _servers(catalog: Catalog) -> ReleaseCheck:
    failed = tuple(finding for finding in catalog.findings if finding.code == "server_failed")
    lost = len(catalog.quarantined)
    if failed:
        names = ", ".join(finding.subject for finding in failed)
        message = Message(f"not every server could be used: {names}", f"有服务器不可用：{names}")
        return ReleaseCheck(name="servers", state="undecided", message=message, findings=failed)
    if lost:
        names = ", ".join(tool.key for tool in catalog.quarantined[:5])
        return ReleaseCheck(
            name="servers",
            state="fail",
            message=Message(f"{lost} tools are unusable: {names}", f"{lost} 个工具不可用：{names}"),
        )
    return ReleaseCheck(
        name="servers",
        state="pass",
        message=Message(f"{len(catalog)} tools are usable", f"{len(catalog)} 个工具可用"),
    )


def _snapshot(project: ProjectConfig, catalog: Catalog) -> ReleaseCheck:
    path = Path(project.folder) / LOCK_FILE
    if not path.exists():
        return _skipped("snapshot", "no snapshot to compare with", "没有可比较的快照", "agent-reach snapshot")
    locked = load_snapshot(path)
    if locked.hash == catalog.hash:
        return ReleaseCheck(
            name="snapshot",
            state="pass",
            message=Message("the tools are those of the snapshot", "工具与快照一致"),
        )
    document = diff_catalogs(locked, catalog).document()
    counts = {key: len(value) for key, value in document.items() if isinstance(value, list) and value}
    told = ", ".join(f"{count} {key}" for key, count in counts.items()) or "wording"
    return ReleaseCheck(
        name="snapshot",
        state="fail",
        message=Message(f"the tools drifted from the snapshot: {told}", f"工具已偏离快照：{told}"),
        details=document,
    )


def _lint(project: ProjectConfig, catalog: Catalog) -> ReleaseCheck:
    result = lint_catalog(catalog, options=read_lint_options(project.lint, where=f"{project.source}: lint"))
    level = read_fail_on(project.lint, where=f"{project.source}: lint")
    bad = tuple(finding for finding in result.findings if finding.severity in _at_least(level))
    message = Message(
        f"{len(bad)} findings at {level} or worse, {len(result.findings)} in all",
        f"{level} 及以上的发现 {len(bad)} 条，共 {len(result.findings)} 条",
    )
    return ReleaseCheck(name="lint", state="fail" if bad else "pass", message=message, findings=bad[:50])


def _at_least(level: str) -> tuple[str, ...]:
    order = ("error", "warning", "info")
    return order[: order.index(level) + 1] if level in order else ()


def _suites(project: ProjectConfig, catalog: Catalog) -> ReleaseCheck:
    if not project.suites:
        return _skipped("suites", "the project names no suite", "项目没有指定任务集", "agent-reach init")
    findings: list[Finding] = []
    untested = {tool.key for tool in catalog.tools}
    for name, path in project.suites.items():
        suite = Suite.load(path, name=name)
        found, _ = examine(suite, catalog)
        findings.extend(found)
        for task in suite.tasks:
            for golden in (call for way in task.paths for call in way.calls):
                tool = catalog.resolve(golden.tool)
                if tool is not None:
                    untested.discard(tool.key)
    failed = reaches(findings, "error")
    message = Message(
        f"{len(project.suites)} suites, {len(findings)} findings, {len(untested)} tools without a task",
        f"{len(project.suites)} 个任务集，{len(findings)} 条发现，{len(untested)} 个工具没有任务",
    )
    return ReleaseCheck(
        name="suites",
        state="fail" if failed else "pass",
        message=message,
        findings=tuple(finding for finding in findings if finding.severity == "error")[:50],
        details={"tools_without_a_task": sorted(untested)},
    )


def _map(project: ProjectConfig, catalog: Catalog) -> ReleaseCheck:
    path = Path(project.folder) / MAP_FILE
    if not path.exists():
        return _skipped(
            "map",
            "no map to compare with",
            "没有可比较的可达图",
            f"agent-reach map --format json --output {MAP_FILE}",
        )
    try:
        old = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        return ReleaseCheck(
            name="map", state="undecided", message=Message(f"{path}: {error}", f"{path}：{error}")
        )
    options = GraphOptions.from_mapping(project.map, where=f"{project.source}: map")
    result = compare(old, ToolGraph.build(catalog, options=options), options=options)
    states: Mapping[str, State] = {"pass": "pass", "regression": "fail", "incomparable": "undecided"}
    if result.broken:
        message = Message(
            "; ".join(one.message.en for one in result.broken),
            "；".join(one.message.zh for one in result.broken),
        )
    elif result.verdict == "incomparable":
        message = Message("under half of the tools are in common", "共同的工具不足一半")
    else:
        message = Message(
            "reach rate, dead tools, distances, cycles and permissions hold",
            "触达率、死工具、距离、环与权限均未变差",
        )
    return ReleaseCheck(name="map", state=states[result.verdict], message=message)


def _baseline(project: ProjectConfig, catalog: Catalog, now: datetime) -> ReleaseCheck:
    if not project.baseline or not Path(project.baseline).exists():
        return _skipped(
            "baseline",
            "no baseline is confirmed",
            "没有已确认的基线",
            "agent-reach baseline promote report.json",
        )
    report = read_report(project.baseline)
    age = _age_in_days(report.run.time, now)
    limit = STALE_DAYS
    told = f"{age} days old" if age is not None else "of unknown age"
    told_zh = f"已有 {age} 天" if age is not None else "时间未知"
    if report.catalog.hash != catalog.hash:
        return ReleaseCheck(
            name="baseline",
            state="fail",
            message=Message(
                f"the baseline ({told}) was measured on other tools; run the suite and promote the report",
                f"基线（{told_zh}）是在另一份工具列表上测得的；请重新运行并确认",
            ),
        )
    state: State = "pass" if age is None or age <= limit else "fail"
    return ReleaseCheck(
        name="baseline",
        state=state,
        message=Message(f"the baseline is {told} (limit {limit})", f"基线{told_zh}（上限 {limit} 天）"),
    )


def _age_in_days(text: str, now: datetime) -> int | None:
    try:
        moment = datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0, (now - moment).days)


def _skipped(name: str, en: str, zh: str, command: str) -> ReleaseCheck:
    return ReleaseCheck(name=name, state="skipped", message=Message(f"{en}: {command}", f"{zh}：{command}"))
