"""`agent-reach suite`: list, check, import and export task suites."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from agent_reach.cli.output import (
    echo,
    echo_wrapped,
    language_option,
    print_findings,
    print_json,
    write_whole,
)
from agent_reach.records.message import Language

_CONFIG = click.option(
    "--config", type=click.Path(path_type=Path), help="Run configuration that names the suite."
)
_FILTERS = (
    click.option("--tag", "tags", multiple=True, help="Only tasks with this tag (`!tag`: without it)."),
    click.option("--id", "ids", multiple=True, help="Only the task of this id."),
    click.option("--kind", "kinds", multiple=True, help="Only must, may or forbid tasks."),
    click.option("--filter", "patterns", multiple=True, help="Only tasks whose id fits this glob."),
    click.option("--allow-empty", is_flag=True, help="An empty selection is no error."),
)


def _with_filters(function: Any) -> Any:
    for option in reversed(_FILTERS):
        function = option(function)
    return function


@click.group()
def command() -> None:
    """Check, import and draft task suites."""


@command.command(name="list")
@click.argument("suite", required=False)
@_CONFIG
@_with_filters
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@language_option
def list_(
    suite: str | None,
    config: Path | None,
    tags: tuple[str, ...],
    ids: tuple[str, ...],
    kinds: tuple[str, ...],
    patterns: tuple[str, ...],
    allow_empty: bool,
    as_json: bool,
    language: Language,
) -> None:
    """List the suites of the project, or the tasks of SUITE (a name or a file)."""
    from agent_reach.evals.suite.listing import suite_lines, suites_lines, tasks_document
    from agent_reach.evals.suite.project import surroundings

    around = surroundings(config, os.environ)
    if suite is None:
        if as_json:
            print_json(dict(around.suites))
            return
        for line in suites_lines(around, language):
            echo_wrapped(line)
        return
    chosen = around.suite(suite).select(
        tags=tags, ids=ids, kinds=kinds, patterns=patterns, allow_empty=allow_empty
    )
    if as_json:
        print_json(tasks_document(chosen))
        return
    for line in suite_lines(chosen, language):
        echo_wrapped(line)


@command.command()
@click.argument("suite")
@_CONFIG
@click.option("--catalog", default="", help="The tools to check against (default: as configured).")
@click.option("--overlay", default="", help="Overlay file beside the catalog.")
@_with_filters
@click.option(
    "--fail-on",
    type=click.Choice(["error", "warning", "info", "never"]),
    default="error",
    show_default=True,
    help="Exit with 1 from this severity on.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@language_option
def lint(
    suite: str,
    config: Path | None,
    catalog: str,
    overlay: str,
    tags: tuple[str, ...],
    ids: tuple[str, ...],
    kinds: tuple[str, ...],
    patterns: tuple[str, ...],
    allow_empty: bool,
    fail_on: str,
    as_json: bool,
    language: Language,
) -> int:
    """Check every gold of SUITE (a name or a file) against the catalog before anything is run."""
    from agent_reach.evals.suite.lint import examine, reaches
    from agent_reach.evals.suite.listing import figure_lines, lint_document
    from agent_reach.evals.suite.project import surroundings

    around = surroundings(config, os.environ)
    chosen = around.suite(suite).select(
        tags=tags, ids=ids, kinds=kinds, patterns=patterns, allow_empty=allow_empty
    )
    tools = around.load_catalog(os.environ, catalog=catalog, overlay=overlay)
    findings, counts = examine(chosen, tools)
    if as_json:
        print_json(lint_document(chosen, tools, counts, findings, language))
    else:
        print_findings(findings, language, err=False)
        for line in figure_lines(counts, findings, language):
            echo_wrapped(line)
    return 1 if reaches(findings, fail_on) else 0


@command.command(name="import")
@click.argument("source")
@click.option("--from", "form", default="", help="bfcl, tau2, tau-bench, or a plug-in (default: recognized).")
@click.option(
    "--output", type=click.Path(path_type=Path), required=True, help="Suite to write (.yaml or .jsonl)."
)
@click.option(
    "--tools-output", type=click.Path(path_type=Path), help="Also write the tool definitions that came along."
)
@click.option("--category", "categories", multiple=True, help="Only this part of the data set.")
@click.option("--limit", type=click.IntRange(min=1), help="At most so many tasks (of each category).")
@click.option(
    "--policy", type=click.Path(path_type=Path), help="A text that every task gets as a constraint."
)
@click.option("--catalog", default="", help="Tools that say which of them write.")
@click.option("--prefix", default="", help="Stands before every task id.")
@click.option("--force", is_flag=True, help="Overwrite files that are already there.")
@language_option
def import_(
    source: str,
    form: str,
    output: Path,
    tools_output: Path | None,
    categories: tuple[str, ...],
    limit: int | None,
    policy: Path | None,
    catalog: str,
    prefix: str,
    force: bool,
    language: Language,
) -> None:
    """Import the task set at SOURCE (a file, folder or wheel) as a suite."""
    from agent_reach.cli.targets import check_targets
    from agent_reach.evals.suite.importers.run import ImportRequest, import_suite

    check_targets(
        {"--output": output, "--tools-output": tools_output},
        {"source": source, "policy": policy, "tool list": catalog},
    )
    result = import_suite(
        ImportRequest(
            source=source,
            form=form,
            output=output,
            tools_output=tools_output,
            categories=categories,
            limit=limit,
            policy=policy,
            catalog=catalog,
            prefix=prefix,
            force=force,
        ),
        os.environ,
    )
    for path, text in result.files.items():
        write_whole(path, text)
        echo(str(path))
    print_findings(result.findings, language)
    echo(f"{len(result.suite)} tasks, {result.suite.hash}", err=True)


@command.command()
@click.argument("suite")
@_CONFIG
@click.option(
    "--output", type=click.Path(path_type=Path), required=True, help="File to write (.yaml or .jsonl)."
)
@_with_filters
@click.option("--force", is_flag=True, help="Overwrite a file that is already there.")
def export(
    suite: str,
    config: Path | None,
    output: Path,
    tags: tuple[str, ...],
    ids: tuple[str, ...],
    kinds: tuple[str, ...],
    patterns: tuple[str, ...],
    allow_empty: bool,
    force: bool,
) -> None:
    """Write SUITE (or a part of it) as YAML or JSON Lines; it reads back equal."""
    from agent_reach.cli.targets import check_targets
    from agent_reach.evals.suite.importers.run import refuse_present
    from agent_reach.evals.suite.project import surroundings
    from agent_reach.evals.suite.writing import suite_text

    around = surroundings(config, os.environ)
    chosen = around.suite(suite).select(
        tags=tags, ids=ids, kinds=kinds, patterns=patterns, allow_empty=allow_empty
    )
    read = {
        "suite": [around.suites.get(suite, suite), suite],
        "tool list": around.catalog,
        "overlay": around.overlay,
        "configuration": [config, around.source],
    }
    check_targets({"--output": output}, read)
    refuse_present([output], force)
    write_whole(output, suite_text(chosen.tasks, output))
    echo(str(output))


@command.command()
@click.option("--catalog", default="", help="The tools to draft for (default: as configured).")
@click.option("--overlay", default="", help="Overlay file beside the catalog.")
@_CONFIG
@click.option("--suite", help="Suite that is there: what it asks already is left out, and gaps count both.")
@click.option(
    "--from-trace",
    "trace_ids",
    multiple=True,
    metavar="ID",
    help="Draft from this stored trace (repeatable).",
)
@click.option(
    "--traces", "trace_files", multiple=True, help="Draft from the traces in this file (repeatable)."
)
@click.option("--store", "store_url", help="Trace store of --from-trace (default: the project's).")
@click.option("--only-traces", is_flag=True, help="Nothing from the catalog.")
@click.option("--count", type=click.IntRange(min=1), help="At most so many tasks.")
@click.option(
    "--per-tool", default=1, show_default=True, type=click.IntRange(min=1), help="Must-tasks per tool."
)
@click.option(
    "--language",
    "languages",
    multiple=True,
    type=click.Choice(["en", "zh"]),
    help="Language of requests (repeatable).",
)
@click.option(
    "--output", type=click.Path(path_type=Path), required=True, help="Suite to write (.yaml or .jsonl)."
)
@click.option("--force", is_flag=True, help="Overwrite a file that is already there.")
@language_option
def draft(
    catalog: str,
    overlay: str,
    config: Path | None,
    suite: str | None,
    trace_ids: tuple[str, ...],
    trace_files: tuple[str, ...],
    store_url: str | None,
    only_traces: bool,
    count: int | None,
    per_tool: int,
    languages: tuple[Language, ...],
    output: Path,
    force: bool,
    language: Language,
) -> None:
    """Draft tasks from the catalog and from traces, failures first; every one is marked for review."""
    from agent_reach.cli.targets import check_targets
    from agent_reach.cli.trace_sources import read_traces
    from agent_reach.evals.draft.draft import draft_suite
    from agent_reach.evals.suite.importers.run import refuse_present
    from agent_reach.evals.suite.project import surroundings
    from agent_reach.evals.suite.writing import suite_text
    from agent_reach.records.message import Message

    around = surroundings(config, os.environ)
    read = {
        "suite": around.suites.get(suite, suite) if suite else None,
        "tool list": catalog or around.catalog,
        "overlay": [overlay, around.overlay],
        "configuration": [str(config or ""), around.source],
        "traces": [*trace_files, (store_url or "").removeprefix("sqlite:///")],
    }
    check_targets({"--output": output}, read)
    traces = read_traces(trace_ids, trace_files, store_url)
    optional = bool(traces) and only_traces and not catalog and not around.catalog
    tools = None if optional else around.load_catalog(os.environ, catalog=catalog, overlay=overlay)
    refuse_present([output], force)
    made = draft_suite(
        tools,
        traces=traces,
        existing=around.suite(suite) if suite else None,
        from_catalog=not only_traces,
        count=count,
        languages=languages,
        per_tool=per_tool,
    )
    write_whole(output, suite_text(made.tasks, output))
    echo(str(output))
    for message in made.gaps:
        echo(f"- {message.text(language)}", err=True)
    said = Message(
        f"{len(made.tasks)} tasks, all marked for review; {len(made.dropped)} near duplicates left out",
        f"{len(made.tasks)} 个任务，均待人工确认；去掉 {len(made.dropped)} 个近似重复",
    )
    echo(said.text(language), err=True)
