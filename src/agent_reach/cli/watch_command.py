"""`agent-reach watch`: the map over a time window of the trace store, against the window before."""

from __future__ import annotations

import re
import time
from typing import Any

import click

from agent_reach.cli.output import echo, language_option, print_json
from agent_reach.records.message import Language, Message

_UNITS = {"m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}


@click.command(name="watch")
@click.argument("source", required=False)
@click.option(
    "--store",
    "store_url",
    help="Store: a file or postgresql://... (default: the project's, else .agent-reach/traces.db).",
)
@click.option("--window", default="7d", show_default=True, help="Length of the window: 30m, 12h, 7d, 2w.")
@click.option("--until", type=float, help="End of the window in seconds since the epoch (default: now).")
@click.option("--environment", "environment_name", help="Environment of reach.yaml whose grants count.")
@click.option("--json", "as_json", is_flag=True, help="JSON to stdout.")
@click.option("--config", help="Project file (default: the nearest reach.yaml).")
@language_option
def command(
    source: str | None,
    store_url: str | None,
    window: str,
    until: float | None,
    environment_name: str | None,
    as_json: bool,
    config: str | None,
    language: Language,
) -> int:
    """Compare the last window of the trace store with the one before: new dead tools, cost moved, partitions never recalled.

    Meant for a weekly run in CI or cron. Exit code 1: a tool died, the reach rate fell, or another rule of the release gate
    does not hold; 3: one of the windows holds no traces.
    """
    from agent_reach.cli.map_command import grants_of
    from agent_reach.cli.sources import find_project_config, load_catalog_from
    from agent_reach.graph.options import GraphOptions
    from agent_reach.graph.render.text import comparison_lines
    from agent_reach.graph.watch import compare_windows
    from agent_reach.records.codec import to_json
    from agent_reach.traces.store.base import TraceStore

    project = find_project_config(config)
    catalog = load_catalog_from(source, project=project)
    length = _seconds(window)
    options = (
        GraphOptions.from_mapping(project.map) if project is not None and project.map else GraphOptions()
    )
    url = store_url or (project.store if project is not None and project.store else ".agent-reach/traces.db")
    with TraceStore.open(url, read_only=True) as store:
        result = compare_windows(
            store, catalog, length, time.time() if until is None else until,
            grants=grants_of(environment_name, project), options=options,
        )  # fmt: skip
    if as_json:
        document: dict[str, Any] = {**to_json(result), "exit_code": result.exit_code}
        print_json(document)
        return result.exit_code
    told = Message(
        f"{result.before} traces before, {result.after} in the last {window}",
        f"之前 {result.before} 条轨迹，最近 {window} 内 {result.after} 条",
    )
    echo(told.text(language))
    if result.comparison is not None:
        for line in comparison_lines(result.comparison, language):
            echo(line)
    else:
        echo(
            Message("not decidable: a window holds no traces", "无法判断：有一个窗口没有轨迹").text(language)
        )
    return result.exit_code


def _seconds(window: str) -> float:
    from agent_reach.errors import InputError

    match = re.fullmatch(r"(\d+(?:\.\d+)?)([mhdw])", window.strip())
    if match is None or not float(match.group(1)):
        raise InputError(
            f"{window!r} is no length of time", where="--window", next_step="write 30m, 12h, 7d or 2w"
        )
    return float(match.group(1)) * _UNITS[match.group(2)]
