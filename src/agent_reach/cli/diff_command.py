"""`agent-reach diff`: is this report worse than the confirmed baseline?"""

from __future__ import annotations

from pathlib import Path

import click

from agent_reach.cli.output import echo, language_option, print_findings, print_json, write_whole
from agent_reach.cli.targets import check_targets
from agent_reach.records.message import Language


@click.command()
@click.option(
    "--baseline", required=True, metavar="REPORT", help="The confirmed report, or the id of its run."
)
@click.option("--current", required=True, metavar="REPORT", help="The report to judge, or the id of its run.")
@click.option(
    "--threshold",
    type=float,
    default=0.02,
    show_default=True,
    help="Largest tolerated drop of a gated metric, 0 to 1.",
)
@click.option("--population", is_flag=True, help="Resample tasks too: a claim beyond this suite.")
@click.option(
    "--on-suspect",
    type=click.Choice(["fail", "warn"]),
    default="fail",
    show_default=True,
    help="What a drop that may be chance does to the exit code.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@click.option(
    "--markdown", type=click.Path(path_type=Path), help="Also write the result as Markdown to this file."
)
@language_option
def command(
    baseline: str,
    current: str,
    threshold: float,
    population: bool,
    on_suspect: str,
    as_json: bool,
    markdown: Path | None,
    language: Language,
) -> int:
    """Compare a report with the confirmed baseline.

    Exit code 0: pass or improved; 1: regression, or suspect unless --on-suspect warn; 2: an input is wrong; 3: not
    decidable (too few tasks in common, too many attempts lost).
    """
    from agent_reach.evals.gate import diff
    from agent_reach.evals.gate_text import gate_lines
    from agent_reach.records.codec import to_json
    from agent_reach.reports.gate_markdown import render_gate
    from agent_reach.reports.locate import locate_report

    old, new = locate_report(baseline), locate_report(current)
    check_targets({"--markdown": markdown}, {"baseline": old, "current report": new})
    result = diff(
        old,
        new,
        threshold=threshold,
        population=population,
        on_suspect="warn" if on_suspect == "warn" else "fail",
    )
    if markdown is not None:
        write_whole(markdown, render_gate(result, language))
    if as_json:
        print_json(to_json(result))
        return result.exit_code
    for line in gate_lines(result, language):
        echo(line)
    print_findings(result.findings, language)
    return result.exit_code
