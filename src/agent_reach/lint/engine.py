"""Runs the rules over a catalog: selection, severities, suppressions with a reason."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from agent_reach.errors import ConfigError
from agent_reach.lint.base import LintContext, Rule, TemplateFacts, Thresholds
from agent_reach.lint.table import RULES
from agent_reach.records.finding import Finding, Severity
from agent_reach.records.message import Message
from agent_reach.records.report import SimilarPair
from agent_reach.records.tool import Tool
from agent_reach.text.tokens import nearest_names

_ORDER: Mapping[str, int] = {"error": 0, "warning": 1, "info": 2}


@dataclass(frozen=True, slots=True, kw_only=True)
class Suppression:
    """One finding that is accepted: `tool` and `code` may hold `*`; a reason is demanded."""

    tool: str
    code: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LintOptions:
    """Which rules run and how hard they are: codes or names, prefixes (`AR2`) allowed."""

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    severity: Mapping[str, Severity] = field(default_factory=dict)
    suppress: tuple[Suppression, ...] = ()
    thresholds: Thresholds = field(default_factory=Thresholds)


@dataclass(frozen=True, slots=True, kw_only=True)
class LintResult:
    """What the rules said: findings (worst first, then code, tool, place), and those accepted by a suppression."""

    findings: tuple[Finding, ...]
    suppressed: tuple[Finding, ...]
    tools: int

    def fails_at(self, level: Severity) -> bool:
        """True if a finding is at that level or worse."""
        return any(_ORDER[finding.severity] <= _ORDER[level] for finding in self.findings)


def lint(
    tools: Sequence[Tool],
    *,
    catalog_findings: Iterable[Finding] = (),
    options: LintOptions | None = None,
    similar_pairs: Callable[[], tuple[SimilarPair, ...]] = tuple,
    template: TemplateFacts | None = None,
) -> LintResult:
    """Run the selected rules over the tools.

    `catalog_findings` are what loading found (quarantined tools, repaired schemas); they are reported beside the rules.
    Raises `ConfigError` for a code or name that no rule has.
    """
    options = options or LintOptions()
    for wanted in (*options.select, *options.ignore, *options.severity):
        _check_name(wanted)
    context = LintContext(
        tools=tuple(tools),
        thresholds=options.thresholds,
        similar_pairs=_once(similar_pairs),
        template=template,
    )
    found = list(catalog_findings)
    for rule in RULES.values():
        if _selected(rule, options):
            found.extend(rule.findings(context, _severity(rule, options)))
    kept: list[Finding] = []
    suppressed: list[Finding] = []
    for finding in found:
        (suppressed if _is_suppressed(finding, options.suppress) else kept).append(finding)
    kept.extend(_idle_suppressions(found, options.suppress))
    kept.sort(key=lambda finding: (_ORDER[finding.severity], finding.code, finding.subject, finding.pointer))
    return LintResult(findings=tuple(kept), suppressed=tuple(suppressed), tools=len(context.tools))


def _once(function: Callable[[], tuple[SimilarPair, ...]]) -> Callable[[], tuple[SimilarPair, ...]]:
    kept: list[tuple[SimilarPair, ...]] = []

    def call() -> tuple[SimilarPair, ...]:
        if not kept:
            kept.append(function())
        return kept[0]

    return call


def _names(rule: Rule, wanted: str) -> bool:
    return rule.code.startswith(wanted.upper()) or rule.name == wanted


def _check_name(wanted: str) -> None:
    if not any(_names(rule, wanted) for rule in RULES.values()):
        near = nearest_names(wanted, [*RULES, *(rule.name for rule in RULES.values())], limit=2)
        hint = f"did you mean {' or '.join(map(repr, near))}? " if near else ""
        raise ConfigError(
            f"no lint rule is named {wanted!r}", next_step=f"{hint}`agent-reach lint --rules` lists all"
        )


def _selected(rule: Rule, options: LintOptions) -> bool:
    chosen = not options.select or any(_names(rule, wanted) for wanted in options.select)
    return chosen and not any(_names(rule, wanted) for wanted in options.ignore)


def _severity(rule: Rule, options: LintOptions) -> Severity:
    best: tuple[int, Severity] = (-1, rule.severity)
    for wanted, severity in options.severity.items():
        if _names(rule, wanted):
            best = max(best, (len(wanted), severity), key=lambda pair: pair[0])
    return best[1]


def _is_suppressed(finding: Finding, suppressions: Sequence[Suppression]) -> bool:
    return any(
        fnmatchcase(finding.subject, one.tool) and fnmatchcase(finding.code, one.code) for one in suppressions
    )


def _idle_suppressions(found: Sequence[Finding], suppressions: Sequence[Suppression]) -> list[Finding]:
    return [
        Finding(
            code="idle_suppression",
            severity="info",
            subject=one.tool,
            message=Message(
                f"the suppression of {one.code} for {one.tool!r} matches nothing ({one.reason})",
                f"对 {one.tool!r} 的 {one.code} 的豁免没有匹配到任何发现（{one.reason}）",
            ),
        )
        for one in suppressions
        if not any(_is_suppressed(finding, [one]) for finding in found)
    ]
