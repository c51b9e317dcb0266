"""`agent-reach traces`: import, export, list, show, count, prune and migrate stored traces."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agent_reach.cli.main import EXIT_GOOD
from agent_reach.cli.output import (
    echo,
    echo_json_text,
    language_option,
    print_findings,
    print_json,
    write_whole,
)
from agent_reach.records.message import Language

if TYPE_CHECKING:
    from collections.abc import Callable

    from agent_reach.traces.store.base import TraceFilter, TraceStore

_DEFAULT = ".agent-reach/traces.db"
_FORMATS = "agent-reach, mcp, claude-code, inspect, langsmith, langfuse, otel, openai-responses, anthropic, openai-chat"


def _store_option(function: Callable[..., Any]) -> Callable[..., Any]:
    return click.option(
        "--store",
        "store_url",
        help=f"Store: a file or postgresql://... (default: the project's, else {_DEFAULT}).",
    )(function)


def _filter_options(function: Callable[..., Any]) -> Callable[..., Any]:
    for option in reversed(
        (
            click.option("--tool", default="", help="Traces with a call of this tool."),
            click.option("--server", default="", help="Traces with a call of this server."),
            click.option(
                "--outcome",
                type=click.Choice(["ok", "failed", "unknown"]),
                help="Traces with a call that ended so.",
            ),
            click.option("--error", "error_kind", default="", help="Traces with a call of this error kind."),
            click.option("--cause", default="", help="Traces whose scoring noted this cause."),
            click.option("--task", "task_id", default="", help="Traces of this task."),
            click.option(
                "--since", help="From this time: 2026-01-31, an ISO time, or 7d, 12h, 30m before now."
            ),
            click.option("--until", help="Before this time, in the same forms."),
            click.option("--text", default="", help="Traces whose request holds this text."),
        )
    ):
        function = option(function)
    return function


@click.group(name="traces")
def command() -> None:
    """Import, export, list, show and replay traces."""


@command.command(name="import")
@click.argument("files", nargs=-1, required=True, type=click.Path())
@click.option("--format", "form", help=f"Form of the files (default: found by looking): {_FORMATS}.")
@_store_option
@click.option("--json", "as_json", is_flag=True, help="JSON to stdout.")
@language_option
def import_command(
    files: tuple[str, ...], form: str | None, store_url: str | None, as_json: bool, language: Language
) -> int:
    """Read FILES of other tools into the store. Broken parts are told and the rest is read; importing again changes nothing."""
    from agent_reach.traces.importers.read import import_traces

    rows = []
    with _open(store_url) as store:
        for name in files:
            imported = import_traces(name, form)
            count = calls = 0
            before = store.count()
            for trace in imported:
                store.add(trace)
                count += 1
                calls += len(trace.calls)
            new = store.count() - before
            rows.append(
                {
                    "file": name,
                    "format": imported.format,
                    "traces": count,
                    "new": new,
                    "calls": calls,
                    "findings": imported.counts,
                }
            )
            if not as_json:
                echo(f"{name}: {imported.format}, {count} traces ({new} new), {calls} calls")
                print_findings(imported.findings[:20], language)
    if as_json:
        print_json(rows)
    return EXIT_GOOD


@command.command(name="export")
@click.option(
    "--format",
    "form",
    default="agent-reach",
    show_default=True,
    type=click.Choice(["agent-reach", "reach-record", "path", "otlp", "parquet"]),
    help="Shape of the export.",
)
@click.option("--output", type=click.Path(dir_okay=False), help="File to write (default: stdout).")
@click.option(
    "--to", "collector", metavar="ADDRESS", help="Send OTLP to a collector, e.g. http://127.0.0.1:4318."
)
@click.option("--limit", type=click.IntRange(1), help="At most so many traces.")
@_filter_options
@_store_option
def export_command(
    form: str,
    output: str | None,
    collector: str | None,
    limit: int | None,
    store_url: str | None,
    **wanted: Any,
) -> int:
    """Write traces in a fixed shape, one JSON value a line, to Parquet, or to an OpenTelemetry collector."""
    from agent_reach.cli.targets import check_targets
    from agent_reach.errors import InputError

    with _open(store_url, read_only=True) as store:
        check_targets(
            {"--output": Path(output) if output else None}, {"trace store": str(getattr(store, "path", ""))}
        )
        chosen = store.iterate(_filter(limit=limit, **wanted))
        if collector:
            from agent_reach.traces.exporters.telemetry import send_otlp

            echo(f"{send_otlp(chosen, collector)} traces sent", err=True)
        elif form == "parquet":
            from agent_reach.traces.exporters.parquet import write_parquet

            if not output:
                raise InputError(
                    "a Parquet file needs a name", where="--output", next_step="--output calls.parquet"
                )
            echo(f"{write_parquet(chosen, Path(output))} calls written", err=True)
        else:
            from agent_reach.traces.exporters.table import EXPORTERS

            lines = (
                json.dumps(row, ensure_ascii=False) for trace in chosen for row in EXPORTERS[form](trace)
            )
            if output:
                write_whole(Path(output), "".join(f"{line}\n" for line in lines))
            else:
                for line in lines:
                    echo_json_text(line)
    return EXIT_GOOD


@command.command(name="list")
@click.option("--limit", type=click.IntRange(1), default=20, show_default=True, help="At most so many.")
@_filter_options
@_store_option
@click.option("--json", "as_json", is_flag=True, help="JSON to stdout.")
def list_command(limit: int, store_url: str | None, as_json: bool, **wanted: Any) -> int:
    """List traces, newest first."""
    from agent_reach.records.codec import to_json

    with _open(store_url, read_only=True) as store:
        found = store.summaries(_filter(limit=limit, **wanted))
    if as_json:
        print_json(to_json(tuple(found)))
        return EXIT_GOOD
    from agent_reach.reports.figures import fit, one_line

    for one in found:
        state = "x" if one.failed else "+" if one.calls else "-"
        echo(
            f"{state} {fit(one.trace_id, 18)} {_when(one.started_at)} {one.calls:>3} calls  {fit(one_line(one.query), 32)}".rstrip()
        )
    if not found:
        echo("no trace matches", err=True)
    return EXIT_GOOD


@command.command(name="show")
@click.argument("trace_id")
@_store_option
@click.option("--json", "as_json", is_flag=True, help="JSON to stdout.")
@language_option
def show_command(trace_id: str, store_url: str | None, as_json: bool, language: Language) -> int:
    """Show one trace from candidates to results. TRACE_ID may be the beginning of an id."""
    from agent_reach.records.codec import to_json
    from agent_reach.reports.trace_text import trace_lines

    with _open(store_url, read_only=True) as store:
        trace = store.get(trace_id)
    if as_json:
        print_json(to_json(trace))
    else:
        echo("\n".join(trace_lines(trace, language)))
    return EXIT_GOOD


@command.command(name="stats")
@click.option("--since", help="From this day: 2026-01-31, an ISO time, or 7d before now.")
@click.option("--until", help="To this day, in the same forms.")
@_store_option
@click.option("--json", "as_json", is_flag=True, help="JSON to stdout.")
def stats_command(since: str | None, until: str | None, store_url: str | None, as_json: bool) -> int:
    """Calls, outcomes and latency per tool, out of the roll-ups."""
    from agent_reach.records.codec import to_json
    from agent_reach.reports.figures import fit

    with _open(store_url, read_only=True) as store:
        found = store.statistics(since=_moment(since, "--since"), until=_moment(until, "--until"))
    if as_json:
        print_json(to_json(tuple(found)))
        return EXIT_GOOD
    echo(f"{'tool':<34}{'calls':>7}{'ok':>7}{'failed':>8}{'unknown':>8}{'p50':>8}{'p95':>8}")
    for one in found:
        times = "".join(
            f"{value:>8.0f}" if value is not None else f"{'-':>8}"
            for value in (one.latency_p50, one.latency_p95)
        )
        echo(f"{fit(one.tool, 33)} {one.calls:>7}{one.ok:>7}{one.failed:>8}{one.unknown:>8}{times}")
    return EXIT_GOOD


@command.command(name="prune")
@click.option(
    "--before", help="Delete traces that started before: 2026-01-31, an ISO time, or 30d before now."
)
@click.option(
    "--max-megabytes",
    type=click.FloatRange(min=0),
    help="Then delete the oldest until the store is this small.",
)
@_store_option
def prune_command(before: str | None, max_megabytes: float | None, store_url: str | None) -> int:
    """Delete old traces; figures per tool and day stay."""
    from agent_reach.errors import InputError

    if before is None and max_megabytes is None:
        raise InputError("nothing says what to delete", next_step="give --before 30d or --max-megabytes 500")
    limit = int(max_megabytes * 1_000_000) if max_megabytes is not None else None
    with _open(store_url, existing=True) as store:
        deleted = store.prune(before=_moment(before, "--before"), max_bytes=limit)
    echo(f"{deleted} traces deleted")
    return EXIT_GOOD


@command.command(name="migrate")
@_store_option
@click.option("--to", "target", metavar="STORE", help="Copy all traces into this store as well.")
def migrate_command(store_url: str | None, target: str | None) -> int:
    """Bring a store to the current form, and copy it to another one (SQLite to PostgreSQL, say)."""
    with _open(store_url, existing=True) as store:
        if target is None:
            echo("the store is up to date")
            return EXIT_GOOD
        with _open(target) as other:
            echo(f"{other.add_all(store.iterate())} traces copied")
    return EXIT_GOOD


@command.command(name="receive")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=4318,
    show_default=True,
    help="Port on 127.0.0.1 (0: a free one).",
)
@_store_option
def receive_command(port: int, store_url: str | None) -> int:
    """Receive OpenTelemetry spans (OTLP/HTTP) on loopback until stopped with Ctrl-C."""
    import contextlib
    import threading

    from agent_reach.traces.receiver import TelemetryReceiver

    with _open(store_url) as store, TelemetryReceiver(store, port=port) as receiver:
        echo(f"receiving at {receiver.address}; stop with Ctrl-C", err=True)
        with contextlib.suppress(KeyboardInterrupt):
            threading.Event().wait()
    echo(", ".join(f"{count} {name}" for name, count in receiver.counts.items()))
    print_findings(receiver.findings[:20], "en")
    return EXIT_GOOD


@command.command(name="replay")
@click.argument("trace_ids", nargs=-1)
@click.option("--traces", "trace_files", multiple=True, help="Replay the traces in this file (repeatable).")
@click.option(
    "--mode",
    type=click.Choice(["strict", "fifo", "until"]),
    default="strict",
    show_default=True,
    help="strict: only exactly recorded calls are answered; fifo: in order per tool; until: go on after --step.",
)
@click.option(
    "--step", default=0, show_default=True, type=click.IntRange(0), help="With until: model steps to keep."
)
@click.option(
    "--config", default="config.yaml", show_default=True, help="Run configuration: agent, catalog, exposure."
)
@click.option("--catalog", default="", help="Another catalog than the configuration's.")
@click.option("--overlay", default="", help="Another overlay than the configuration's.")
@click.option(
    "--exposure", type=click.Choice(["all", "reach"]), help="Another exposure than the configuration's."
)
@click.option(
    "--static", is_flag=True, help="Ask no agent: check every recorded call against catalog and reach layer."
)
@click.option("--json", "as_json", is_flag=True, help="JSON to stdout.")
@_store_option
@language_option
def replay_command(
    trace_ids: tuple[str, ...],
    trace_files: tuple[str, ...],
    mode: Any,
    step: int,
    config: str,
    catalog: str,
    overlay: str,
    exposure: Any,
    static: bool,
    as_json: bool,
    store_url: str | None,
    language: Language,
) -> int:
    """Walk stored traces again and show the difference step by step.

    The agent of the configuration gets the request and the recorded answers; a call that was not recorded is a divergence.
    Exit code 1 when a walk is not the same, 0 when all are.
    """
    from agent_reach.cli.replay_output import replay_and_show
    from agent_reach.cli.trace_sources import read_traces

    return replay_and_show(
        read_traces(trace_ids, trace_files, store_url),
        config=config,
        catalog=catalog,
        overlay=overlay,
        exposure=exposure,
        mode=mode,
        step=step,
        static=static,
        as_json=as_json,
        language=language,
    )


def _open(store_url: str | None, *, read_only: bool = False, existing: bool = False) -> TraceStore:
    """The store that is meant, written by the project's redaction rules; with `existing` one that is not there is an error
    and is not made."""
    from agent_reach.cli.sources import find_project_config
    from agent_reach.errors import InputError
    from agent_reach.traces.store.base import TraceStore

    project = find_project_config() if store_url is None or not read_only else None
    if store_url is None:
        store_url = project.store if project is not None else _DEFAULT
    file = store_url.removeprefix("sqlite:///").removeprefix("sqlite://")
    if existing and "://" not in file and not Path(file).is_file():
        raise InputError(
            "there is no such store", where=store_url, next_step="check the path given to --store"
        )
    store = (
        TraceStore.of_project(project, url=store_url, read_only=read_only)
        if project is not None
        else TraceStore.open(store_url, read_only=read_only)
    )
    print_findings(store.findings, "en")
    return store


def _filter(
    *, limit: int | None, outcome: str | None, since: str | None, until: str | None, **named: str
) -> TraceFilter:
    from agent_reach.traces.store.base import TraceFilter

    fields: dict[str, Any] = dict(named)
    return TraceFilter(
        status=outcome or "",
        since=_moment(since, "--since"),
        until=_moment(until, "--until"),
        limit=limit,
        **fields,
    )


def _moment(text: str | None, where: str) -> float | None:
    """A time on the command line in seconds since the epoch."""
    import re
    import time

    from agent_reach.errors import InputError
    from agent_reach.traces.importers.base import seconds

    if text is None:
        return None
    ago = re.fullmatch(r"(\d+(?:\.\d+)?)([mhdw])", text)
    if ago:
        return time.time() - float(ago.group(1)) * {"m": 60, "h": 3600, "d": 86400, "w": 604800}[ago.group(2)]
    moment = seconds(text) if not text.isdigit() else None
    if moment is None:
        raise InputError(
            f"{text!r} is no time", where=where, next_step="write 2026-01-31, 2026-01-31T12:00:00+08:00 or 7d"
        )
    return moment


def _when(moment: float | None) -> str:
    from datetime import datetime

    return datetime.fromtimestamp(moment).strftime("%Y-%m-%d %H:%M") if moment is not None else f"{'-':<16}"
