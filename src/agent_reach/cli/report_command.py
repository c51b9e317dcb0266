"""`agent-reach report`: render a report again in another form or language, or print its summary."""

from __future__ import annotations

from pathlib import Path

import click

from agent_reach.cli.output import echo, echo_json_text, language_option, print_json, write_whole
from agent_reach.records.message import Language

FORMS = ("html", "markdown", "junit", "decision-log", "json")


@click.group()
def command() -> None:
    """Render a report again, or print its summary."""


@command.command()
@click.argument("report")
@click.option(
    "--format",
    "form",
    default="html",
    show_default=True,
    metavar="FORM",
    help=f"One of: {', '.join(FORMS)}, or the form of a plug-in.",
)
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Write to this file instead of stdout.")
@click.option(
    "--map",
    "picture",
    type=click.Path(path_type=Path),
    help="Show this picture of the map in the page (written by `agent-reach map --format svg`); for --format html.",
)
@language_option
def render(report: str, form: str, output: Path | None, picture: Path | None, language: Language) -> None:
    """Render REPORT in another form or language.

    REPORT is a report.json, a folder that holds one, or the id of a run under .agent-reach/runs.
    """
    from agent_reach.cli.targets import check_targets
    from agent_reach.errors import InputError
    from agent_reach.reports.base import load_format
    from agent_reach.reports.json_report import read_report
    from agent_reach.reports.locate import locate_report

    chosen = load_format(form)
    place = locate_report(report)
    check_targets({"--output": output}, {"report": place, "picture": picture})
    if picture is None:
        text = chosen.render(read_report(place), language)
    elif form == "html":
        from agent_reach.reports.html import read_map_picture, render_html

        text = render_html(read_report(place), language, map_svg=read_map_picture(picture))
    else:
        raise InputError(
            f"only the html form shows a map, not {form}",
            where=f"--map {picture}",
            next_step="add --format html",
        )
    if output is None:
        echo_json_text(text, nl=False) if form == "json" else echo(text, nl=False)
        return
    write_whole(output, text)
    echo(str(output), err=True)


@command.command()
@click.argument("report")
@click.option("--json", "as_json", is_flag=True, help="Print run, catalog, metrics and causes as JSON.")
@language_option
def summary(report: str, as_json: bool, language: Language) -> None:
    """Print the summary of REPORT: headline, figures, causes with first fixes."""
    from agent_reach.reports.json_report import read_report, summary_document
    from agent_reach.reports.locate import locate_report
    from agent_reach.reports.terminal import summary_lines

    found = read_report(locate_report(report))
    if as_json:
        print_json(summary_document(found))
        return
    for line in summary_lines(found, language):
        echo(line)
