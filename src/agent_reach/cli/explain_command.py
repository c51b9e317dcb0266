"""`agent-reach explain REPORT TASK`: one task of a report step by step."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import click

from agent_reach.cli.output import echo, language_option, print_json
from agent_reach.records.message import Language


@click.command()
@click.argument("report")
@click.argument("task")
@click.option(
    "--attempt", type=click.IntRange(min=1), help="Which attempt, from 1 (default: the first that failed)."
)
@click.option("--full", is_flag=True, help="Keep long texts whole.")
@click.option(
    "--prove",
    is_flag=True,
    help="Run the task again without each suspected cause, and say which were causes.",
)
@click.option("--config", default="config.yaml", show_default=True, help="Run configuration for --prove.")
@click.option("--suite", help="Suite for --prove (default: the report's).")
@click.option(
    "--prove-attempts",
    default=10,
    show_default=True,
    type=click.IntRange(min=1),
    help="Attempts a side of --prove.",
)
@click.option("--budget", type=click.IntRange(min=0), help="Most attempts of --prove.")
@click.option("--all-causes", is_flag=True, help="With --prove: try every intervention that applies.")
@click.option("--dry-run", is_flag=True, help="With --prove: say how many attempts it would make.")
@click.option("--resume", is_flag=True, help="With --prove: go on with the attempts that were kept.")
@click.option(
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="With --prove: write the report with its proofs.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the task and its attempt as JSON.")
@language_option
def command(
    report: str,
    task: str,
    attempt: int | None,
    full: bool,
    prove: bool,
    config: str,
    suite: str | None,
    prove_attempts: int,
    budget: int | None,
    all_causes: bool,
    dry_run: bool,
    resume: bool,
    output: Path | None,
    as_json: bool,
    language: Language,
) -> None:
    """Show TASK of REPORT step by step: what the model was given, said and called, what was right, and why it was lost.

    REPORT is a report.json, a folder that holds one, or the id of a run under .agent-reach/runs.
    """
    from agent_reach.cli.idle_flags import refuse_idle_flags
    from agent_reach.reports.explain import choose_attempt, explain_document, explain_lines, find_task
    from agent_reach.reports.json_report import read_report
    from agent_reach.reports.locate import locate_report

    if not prove:
        refuse_idle_flags(
            "--prove",
            "dry_run",
            "output",
            "prove_attempts",
            "budget",
            "all_causes",
            "resume",
            "suite",
            "config",
        )
    place = locate_report(report)
    document = read_report(place)
    found = find_task(document, task)
    if prove:
        from agent_reach.cli.proof_output import prove_and_show
        from agent_reach.cli.targets import check_targets, files_of_run
        from agent_reach.evals.runner_setup import resolve_config

        environment = dict(os.environ)
        settings = resolve_config(config, environment)
        chosen_suite = suite or next(iter(document.run.suites), None)
        read = files_of_run(settings, config=config, suite=chosen_suite)
        check_targets({"--output": output}, {"report": place, **read})
        prove_and_show(
            document,
            settings,
            suite=chosen_suite,
            environment=environment,
            language=language,
            tasks=(found.task_id,),
            attempts=prove_attempts,
            budget=budget,
            all_causes=all_causes,
            resume=resume,
            dry_run=dry_run,
            quiet=as_json,
            as_json=as_json,
            outputs=(output,) if output else (),
        )
        return
    chosen = choose_attempt(found, attempt)
    if as_json:
        print_json(explain_document(found, chosen))
        return
    width = max(60, min(120, shutil.get_terminal_size().columns)) if sys.stdout.isatty() else 80
    for line in explain_lines(found, chosen, language, full=full, width=width):
        echo(line)
