"""`agent-reach probe`: which tools can be started and called here, and what blocks the others."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from agent_reach.cli.main import EXIT_GATE, EXIT_GOOD
from agent_reach.cli.output import echo, fitting_lines, language_option, print_json
from agent_reach.records.message import Language, Message
from agent_reach.redact.redactor import Redactor
from agent_reach.reports.figures import plural


@click.command(name="probe")
@click.argument("source", required=False)
@click.option("--config", help="Project file (default: the nearest reach.yaml).")
@click.option("--overlay", help="Overlay file with the needs of tools.")
@click.option("--environment", "environment_name", help="Environment of reach.yaml whose grants count.")
@click.option("--call", is_flag=True, help="Call read-only tools that need no argument, once each.")
@click.option(
    "--timeout",
    type=click.FloatRange(min=0.1),
    default=30.0,
    show_default=True,
    help="Seconds for the start of each server.",
)
@click.option("--json", "as_json", is_flag=True, help="JSON to stdout.")
@language_option
def command(
    source: str | None,
    config: str | None,
    overlay: str | None,
    environment_name: str | None,
    call: bool,
    timeout: float,
    as_json: bool,
    language: Language,
) -> int:
    """Say which tools can be started and called here, which are blocked and by what.

    SOURCE is an mcpServers file (its servers are started) or any other tool list (its declared needs are checked). Exit
    code 1 when a server or tool is blocked.
    """
    from agent_reach.cli.sources import find_project_config, refuse_no_catalog
    from agent_reach.errors import ConfigError, InputError
    from agent_reach.probe.probe import ProbeOptions, probe
    from agent_reach.records.codec import to_json
    from agent_reach.text.tokens import nearest_names

    project = find_project_config(config)
    chosen: Any = source if source is not None else (project.catalog if project is not None else None)
    if source is None and project is not None:
        refuse_no_catalog(project)
    if not chosen:
        raise InputError(
            "no tool list is given and there is no project here",
            next_step="name a file: agent-reach probe mcp.json",
        )
    grants = None
    if environment_name is not None:
        known = dict(project.environments) if project is not None else {}
        if environment_name not in known:
            near = nearest_names(environment_name, list(known), limit=1)
            raise ConfigError(
                f"no environment is named {environment_name!r}",
                next_step=f"did you mean {near[0]!r}?"
                if near
                else f"known: {', '.join(known) or 'none; add environments to reach.yaml'}",
            )
        grants = known[environment_name]
    options = ProbeOptions(
        environment=os.environ,
        grants=grants,
        folder=Path(project.folder) if project is not None else Path(),
        timeout=timeout,
        call=call,
    )
    laid = overlay or (project.overlay if project is not None and source is None else "") or None
    result = probe(chosen, options, overlay=laid)
    if as_json:
        print_json(Redactor.standard().value(to_json(result)))
    else:
        echo("\n".join(_lines(result, language)))
    blocked = bool(result.blocked) or any(server.state == "blocked" for server in result.servers)
    return EXIT_GATE if blocked else EXIT_GOOD


def _lines(result: Any, language: Language) -> list[str]:
    marks = {"reachable": "+", "blocked": "x", "unknown": "?"}
    words = {
        "reachable": Message("reachable", "可达"),
        "blocked": Message("blocked", "受阻"),
        "unknown": Message("unknown", "未知"),
    }
    lines = []
    for server in result.servers:
        told = (
            f"{plural(server.tools, 'tool')}, protocol {server.protocol_version}, {server.seconds:.1f} s"
            if server.state == "reachable"
            else ""
        )
        lines += _fitted(
            f"{marks[server.state]} {server.name}: {words[server.state].text(language)} {told}".rstrip()
        )
        lines.extend(_check_lines(server.checks, language))
    counts = {state: sum(tool.state == state for tool in result.tools) for state in marks}
    for tool in result.tools:
        open_checks = [check for check in tool.checks if check.passed is not True]
        if open_checks:
            lines += _fitted(f"{marks[tool.state]} {tool.tool}: {words[tool.state].text(language)}")
            lines.extend(_check_lines(open_checks, language))
    total = ", ".join(f"{count} {words[state].text(language)}" for state, count in counts.items())
    lines += _fitted(
        Message(f"{plural(len(result.tools), 'tool')}: {total}", f"{len(result.tools)} 个工具：{total}").text(
            language
        )
    )
    lost = sum(server.state == "blocked" for server in result.servers)
    if lost:  # nobody knows how many tools they have: they are in no count
        lines += _fitted(
            Message(
                f"{lost} of {plural(len(result.servers), 'server')} blocked; the tools of a blocked server are not known and"
                " not counted",
                f"{len(result.servers)} 个服务器中有 {lost} 个受阻；受阻服务器的工具数量未知，未计入",
            ).text(language)
        )
    return lines


def _check_lines(checks: Any, language: Language) -> list[str]:
    lines = []
    for check in checks:
        if check.passed is True:
            continue
        lines += _fitted(f"{check.kind}: {check.detail.text(language)}", first="    ", indent="      ")
        if check.fix is not None:
            lines += _fitted(f"-> {check.fix.text(language)}", first="      ", indent="         ")
    return lines


def _fitted(text: str, *, first: str = "", indent: str = "    ") -> list[str]:
    return fitting_lines(Redactor.standard().text(text), first=first, indent=indent)
