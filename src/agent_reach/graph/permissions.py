"""What an environment lets through: declared needs against grants, and lists of allow and deny patterns.

Needs that a tool does not declare are not known; such a tool counts as permitted here, and its physical state stays
unknown until a probe says more.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from agent_reach.catalog.catalog import Catalog
from agent_reach.catalog.needs import KINDS, granting
from agent_reach.records.finding import Finding
from agent_reach.records.message import Message
from agent_reach.text.folding import fold
from agent_reach.text.tokens import nearest_names

if TYPE_CHECKING:
    from agent_reach.config.settings import EnvironmentGrants


@dataclass(frozen=True, slots=True, kw_only=True)
class PermissionMask:
    """Tools that an environment blocks: key -> what is missing, each as `kind:name`; findings about grants."""

    environment: str = ""
    blocked: dict[str, tuple[str, ...]] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PatternMatches:
    """What one pattern matches; `meaning` is name, glob, server or none; `hint` the name that may have been meant."""

    pattern: str
    matches: tuple[str, ...]
    meaning: str
    hint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PatternReport:
    """Allow and deny patterns against a tool list: matches of each, tools that no rule lets through, warnings."""

    allow: tuple[PatternMatches, ...]
    deny: tuple[PatternMatches, ...]
    permitted: tuple[str, ...]
    dead: tuple[str, ...]
    warnings: tuple[Finding, ...]


def permission_mask(catalog: Catalog, grants: EnvironmentGrants) -> PermissionMask:
    """Which tools the grants block, and grants that no tool needs (patterns may stand in grants: `repo:*`)."""
    blocked: dict[str, tuple[str, ...]] = {}
    used: set[tuple[str, str]] = set()
    for tool in catalog.tools:
        missing = []
        for kind in KINDS:
            given = getattr(grants, kind)
            for need in getattr(tool.needs, kind):
                hits = granting(need, given)
                used.update((kind, pattern) for pattern in hits)
                if not hits:
                    missing.append(f"{kind}:{need}")
        if missing:
            blocked[tool.key] = tuple(missing)
    needed = sorted({need for tool in catalog.tools for kind in KINDS for need in getattr(tool.needs, kind)})
    findings = [
        _unused(kind, pattern, needed)
        for kind in KINDS
        for pattern in getattr(grants, kind)
        if (kind, pattern) not in used
    ]
    return PermissionMask(environment=grants.name, blocked=blocked, findings=tuple(findings))


def _unused(kind: str, pattern: str, needed: list[str]) -> Finding:
    near = nearest_names(pattern, needed, limit=1)
    hint = (f"; did you mean {near[0]!r}?", f"；是否指 {near[0]}？") if near else ("", "")
    return Finding(
        code="grant_unused", severity="info", subject=pattern,
        message=Message(f"no tool needs the granted {kind} {pattern!r}{hint[0]}", f"没有工具需要已授予的 {kind} {pattern}{hint[1]}"),
    )  # fmt: skip


def check_patterns(
    tools: Catalog | Iterable[str], allow: Sequence[str], deny: Sequence[str] = ()
) -> PatternReport:
    """What allow and deny patterns do to a tool list.

    A pattern is a name, a glob (`*`, `?`), or the bare name of a server, which means all tools of that server
    (`server`, or `mcp__server` for names written `mcp__server__tool`). Deny wins over allow; an empty allow list lets
    everything through. A pattern that matches nothing is a warning, with the nearest name.
    """
    names = [tool.key for tool in tools.tools] if isinstance(tools, Catalog) else list(tools)
    servers = _servers(names)
    allowed = tuple(_matches(pattern, names, servers) for pattern in allow)
    denied = tuple(_matches(pattern, names, servers) for pattern in deny)
    let = {name for item in allowed for name in item.matches} if allow else set(names)
    let -= {name for item in denied for name in item.matches}
    warnings = tuple(_matches_nothing(item) for item in (*allowed, *denied) if not item.matches)
    return PatternReport(
        allow=allowed, deny=denied, permitted=tuple(name for name in names if name in let),
        dead=tuple(name for name in names if name not in let), warnings=warnings,
    )  # fmt: skip


def _servers(names: Sequence[str]) -> dict[str, list[str]]:
    servers: dict[str, list[str]] = {}
    for name in names:
        if "/" in name:
            server = name.split("/", 1)[0]
            servers.setdefault(server, []).append(name)
            servers.setdefault(f"mcp__{server}", []).append(name)
        elif name.startswith("mcp__") and name.count("__") >= 2:
            server = name[: name.index("__", 5)]
            servers.setdefault(server, []).append(name)
            servers.setdefault(server.removeprefix("mcp__"), []).append(name)
    return servers


def _matches(pattern: str, names: Sequence[str], servers: dict[str, list[str]]) -> PatternMatches:
    exact = [name for name in names if name == pattern or ("/" in name and name.split("/", 1)[1] == pattern)]
    if exact:
        return PatternMatches(pattern=pattern, matches=tuple(exact), meaning="name")
    if pattern in servers:
        return PatternMatches(pattern=pattern, matches=tuple(servers[pattern]), meaning="server")
    if any(sign in pattern for sign in "*?["):
        found = [name for name in names if fnmatch.fnmatchcase(name, pattern)]
        if not found and "/" in pattern:
            wire = "mcp__" + pattern.replace("/", "__", 1)
            found = [name for name in names if fnmatch.fnmatchcase(name, wire)]
        elif not found and pattern.startswith("mcp__"):
            slashed = pattern.removeprefix("mcp__").replace("__", "/", 1)
            found = [name for name in names if fnmatch.fnmatchcase(name, slashed)]
        if found:
            return PatternMatches(pattern=pattern, matches=tuple(found), meaning="glob")
    return PatternMatches(pattern=pattern, matches=(), meaning="none", hint=_hint(pattern, names, servers))


def _hint(pattern: str, names: Sequence[str], servers: dict[str, list[str]]) -> str:
    """A name that differs only in case, the same bare name on a server, or the nearest name."""
    wanted = fold(pattern)
    for name in (*names, *servers):
        if fold(name) == wanted:
            return name
    for name in names:
        if fold(name.replace("__", "/").rsplit("/", 1)[-1]) == wanted:
            return name
    if any(sign in pattern for sign in "*?["):
        stem = pattern.split("*", 1)[0].rstrip("_/")
        near = nearest_names(stem, list(servers), limit=1)
        return near[0] if near else ""
    near = nearest_names(pattern, list(names), limit=1)
    return near[0] if near else ""


def _matches_nothing(item: PatternMatches) -> Finding:
    hint = (f"; did you mean {item.hint!r}?", f"；是否指 {item.hint}？") if item.hint else ("", "")
    return Finding(
        code="pattern_matches_nothing", severity="warning", subject=item.pattern,
        message=Message(f"the pattern {item.pattern!r} matches no tool{hint[0]}", f"规则 {item.pattern} 不匹配任何工具{hint[1]}"),
        data={"hint": item.hint},
    )  # fmt: skip
