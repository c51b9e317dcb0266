"""Promoting a report to be the baseline: checked, and said what it replaces. The caller writes the file."""

from __future__ import annotations

from pathlib import Path

from agent_reach.errors import InputError
from agent_reach.evals.gate import is_scored
from agent_reach.records.message import Message
from agent_reach.records.report import Report
from agent_reach.reports.json_report import read_report


def promoted_text(report_path: str | Path, target: Path, *, force: bool = False) -> tuple[str, Message]:
    """The text to write to `target`, and what to say; the report's own bytes, so that nothing is lost on the way.

    Raises `ReportError` for a file that is no report, `InputError` for a run that evaluated no task, and for one that lost too many attempts, unless `force`.
    """
    source = Path(report_path)
    report = read_report(source)
    if not any(is_scored(task) for task in report.tasks):
        raise InputError(
            "no task of this report was evaluated: every later run would be compared with nothing",
            where=str(source),
            next_step="see its `attempts_lost` and `task_not_evaluated` findings, and run the suite again",
        )
    if not report.sufficient and not force:
        raise InputError(
            f"{report.infra_share:.0%} of the attempts were lost to infrastructure: no baseline to trust",
            where=str(source),
            next_step="run the suite again, or promote with --force",
        )
    before = read_report(target) if target.exists() and target.resolve() != source.resolve() else None
    named = _named(report)
    if before is None:
        return _text(source), Message(f"{target} is now {named}", f"{target} 现为 {named}")
    replaced = _named(before)
    return _text(source), Message(
        f"{target} is now {named}; it was {replaced}", f"{target} 现为 {named}；之前为 {replaced}"
    )


def _text(source: Path) -> str:
    return source.read_text(encoding="utf-8-sig")


def _named(report: Report) -> str:
    reach = report.metrics.get("tool_reachability")
    value = "n/a" if reach is None or reach.value is None else f"{reach.value:.1%}"
    who = " ".join(part for part in (report.run.agent, report.run.model) if part)
    return f"{report.run.id} ({report.run.time}{', ' + who if who else ''}; tool_reachability {value})"
