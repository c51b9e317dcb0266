"""Lint results as text for a terminal of 80 columns and as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from agent_reach.lint.engine import LintResult
from agent_reach.lint.table import RULES
from agent_reach.records.finding import Finding
from agent_reach.records.message import Language, Message
from agent_reach.reports.figures import wrap

_MARKS = {"error": "x", "warning": "!", "info": "-"}
_WIDTH = 80


def rule_lines(language: Language) -> list[str]:
    """All rules, one a line."""
    return [
        f"{code}  {rule.severity:<8}{rule.name:<32}{rule.summary.text(language)}"
        for code, rule in RULES.items()
    ]


def text_lines(result: LintResult, limit: int, language: Language) -> list[str]:
    """Findings grouped by rule, worst first, each rule with its summary, at most `limit` findings of a rule (0: all)."""
    lines: list[str] = []
    for code, findings in _grouped(result.findings):
        head = f"{_MARKS[findings[0].severity]} {code} ({len(findings)}) {_title(code, language)}"
        lines.extend(wrap(head, _WIDTH, first="", indent="  "))
        shown = findings if limit == 0 else findings[:limit]
        for finding in shown:
            lines.extend(_wrapped(finding, language))
        if len(findings) > len(shown):
            more = len(findings) - len(shown)
            lines.append(
                Message(f"    ... and {more} more (--limit 0)", f"    ……另有 {more} 条（--limit 0）").text(
                    language
                )
            )
        fix = findings[0].fix
        if fix is not None:
            lines.extend(wrap(f"-> {fix.text(language)}", _WIDTH, first="    ", indent="       "))
        lines.append("")
    lines.append(_summary(result, language))
    return lines


def _grouped(findings: Sequence[Finding]) -> Iterator[tuple[str, list[Finding]]]:
    groups: dict[str, list[Finding]] = {}
    for finding in findings:
        groups.setdefault(finding.code, []).append(finding)
    yield from groups.items()


def _title(code: str, language: Language) -> str:
    rule = RULES.get(code)
    return f"{rule.name}: {rule.summary.text(language)}" if rule is not None else code.replace("_", " ")


def _wrapped(finding: Finding, language: Language) -> list[str]:
    place = finding.subject + (f" {finding.pointer}" if finding.pointer else "")
    text = f"{place}: {finding.message.text(language)}" if place else finding.message.text(language)
    return wrap(text, _WIDTH, first="    ", indent="      ")


def _summary(result: LintResult, language: Language) -> str:
    counts = {
        level: sum(finding.severity == level for finding in result.findings)
        for level in ("error", "warning", "info")
    }
    return Message(
        f"{result.tools} tools: {counts['error']} errors, {counts['warning']} warnings, {counts['info']} remarks"
        + (f", {len(result.suppressed)} accepted" if result.suppressed else ""),
        f"{result.tools} 个工具：{counts['error']} 个错误，{counts['warning']} 个警告，{counts['info']} 条提示"
        + (f"，{len(result.suppressed)} 条已豁免" if result.suppressed else ""),
    ).text(language)


def markdown_text(result: LintResult, language: Language) -> str:
    """The findings as Markdown for a pull request: a table of rules, then the findings of each folded."""
    head = Message("| rule | severity | findings | says |", "| 规则 | 级别 | 数量 | 说明 |").text(language)
    lines = [f"**{_summary(result, language)}**", "", head, "|---|---|---:|---|"]
    groups = list(_grouped(result.findings))
    lines.extend(
        f"| {code} | {found[0].severity} | {len(found)} | {_title(code, language)} |"
        for code, found in groups
    )
    for code, found in groups:
        lines += ["", f"<details><summary>{code} ({len(found)})</summary>", ""]
        for finding in found[:50]:
            place = " ".join(f"`{part}`" for part in (finding.subject, finding.pointer) if part)
            text = finding.message.text(language).replace("|", "\\|").replace("<", "&lt;")
            lines.append(f"- {place} {text}")
        if len(found) > 50:
            lines.append(f"- ... {len(found) - 50}")
        lines += ["", "</details>"]
    return "\n".join(lines) + "\n"
