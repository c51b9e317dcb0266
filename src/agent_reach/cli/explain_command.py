"""`agent-reach explain REPORT TASK`: one task of a report step by step."""

from __future__ import annotations

import shutil
import sys

import click

from agent_reach.cli.output import language_option, print_json
from agent_reach.records.message import Language


@click.command()
@click.argument("report")
@click.argument("task")
@click.option(
    "--attempt", type=click.IntRange(min=1), help="Which attempt, from 1 (default: the first that failed)."
)
@click.option("--full", is_flag=True, help="Keep long texts whole.")
@click.option("--json", "as_json", is_flag=True, help="Print the task and its attempt as JSON.")
@language_option
def command(
    report: str, task: str, attempt: int | None, full: bool, as_json: bool, language: Language
) -> None:
    """Show TASK of REPORT step by step: what the model was given, said and called, what was right, and why it was lost.

    REPORT is a report.json, a folder that holds one, or the id of a run under .agent-reach/runs.
    """
    from agent_reach.reports.explain import choose_attempt, explain_document, explain_lines, find_task
    from agent_reach.reports.json_report import read_report
    from agent_reach.reports.locate import locate_report

    found = find_task(read_report(locate_report(report)), task)
    chosen = choose_attempt(found, attempt)
    if as_json:
        print_json(explain_document(found, chosen))
        return
    width = max(60, min(120, shutil.get_terminal_size().columns)) if sys.stdout.isatty() else 80
    for line in explain_lines(found, chosen, language, full=full, width=width):
        click.echo(line)
