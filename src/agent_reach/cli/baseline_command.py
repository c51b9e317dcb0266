"""`agent-reach baseline`: confirm a report by hand as what later runs are compared with."""

from __future__ import annotations

from pathlib import Path

import click

from agent_reach.cli.output import echo, language_option, write_whole
from agent_reach.cli.targets import check_targets
from agent_reach.records.message import Language

_DEFAULT = "baseline.json"


@click.group()
def command() -> None:
    """Confirm a report as the baseline, or show it."""


@command.command()
@click.argument("report")
@click.option(
    "--to",
    "target",
    type=click.Path(path_type=Path),
    default=Path(_DEFAULT),
    show_default=True,
    help="Where the baseline is kept.",
)
@click.option("--force", is_flag=True, help="Promote even a run that lost too many attempts.")
@language_option
def promote(report: str, target: Path, force: bool, language: Language) -> None:
    """Make REPORT the baseline (a report.json, a folder that holds one, or the id of a run).

    Nothing is ever promoted by itself: a baseline is a person's word that this is how it should be.
    """
    from agent_reach.evals.baseline import promoted_text
    from agent_reach.reports.locate import locate_report

    found = locate_report(report)
    check_targets({"--to": target}, {"report": found})
    text, message = promoted_text(found, target, force=force)
    write_whole(target, text)
    echo(message.text(language))


@command.command()
@click.argument("baseline", default=_DEFAULT)
@language_option
def show(baseline: str, language: Language) -> None:
    """Print what the baseline is: its run, its headline."""
    from agent_reach.reports.json_report import read_report
    from agent_reach.reports.locate import locate_report
    from agent_reach.reports.terminal import summary_lines

    for line in summary_lines(read_report(locate_report(baseline)), language):
        echo(line)
