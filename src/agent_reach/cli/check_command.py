"""`agent-reach check`: a first look at any tool list; with a project, the release gate."""

from __future__ import annotations

import click

from agent_reach.cli.main import EXIT_GATE, EXIT_GOOD
from agent_reach.cli.output import echo, language_option, print_json
from agent_reach.records.message import Language


@click.command(name="check")
@click.argument("source", required=False)
@click.option(
    "--traces",
    "trace_files",
    multiple=True,
    type=click.Path(),
    help="Stored traces in any known form; repeatable.",
)
@click.option("--overlay", help="Overlay file to lay over the tools.")
@click.option("--config", help="Project file for the release gate (default: the nearest reach.yaml).")
@click.option(
    "--fixes", type=click.IntRange(1), default=10, show_default=True, help="How many fixes are listed."
)
@click.option(
    "--timeout",
    type=click.FloatRange(min=0.1),
    default=30.0,
    show_default=True,
    help="Seconds for the start of each server.",
)
@click.option("--strict", is_flag=True, help="Exit with 1 when a server or a tool could not be used.")
@click.option("--json", "as_json", is_flag=True, help="JSON to stdout.")
@language_option
def command(
    source: str | None,
    trace_files: tuple[str, ...],
    overlay: str | None,
    config: str | None,
    fixes: int,
    timeout: float,
    strict: bool,
    as_json: bool,
    language: Language,
) -> int:
    """First look at a tool list: load failures, look-alikes, weight, dead tools, the fixes that pay most.

    SOURCE is an mcpServers file (its servers are started) or a tool list in any known form; no project, no golden paths
    and no model are needed. Without SOURCE, inside a project, the release gate is run: snapshot drift, lint, map, suites,
    baseline.
    """
    from agent_reach.cli.check_output import first_look_lines
    from agent_reach.cli.sources import find_project_config, load_catalog_from
    from agent_reach.evals.check.first_look import first_look
    from agent_reach.records.codec import to_json
    from agent_reach.redact.redactor import Redactor
    from agent_reach.traces.importers.read import import_traces

    project = find_project_config(config) if source is None or config else None
    if source is None and project is not None:
        from agent_reach.cli.check_release import run_release_check

        return run_release_check(project, as_json=as_json, language=language, timeout=timeout)
    catalog = load_catalog_from(source, project=project, overlay=overlay, timeout=timeout)
    traces = (trace for name in trace_files for trace in import_traces(name))
    look = first_look(catalog, traces, fixes=fixes)
    redactor = Redactor.standard()
    if as_json:
        print_json(redactor.value(to_json(look)))
    else:
        echo(redactor.text("\n".join(first_look_lines(look, language))))
    return EXIT_GATE if strict and look.has_errors else EXIT_GOOD
