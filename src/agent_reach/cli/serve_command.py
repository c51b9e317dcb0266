"""`agent-reach serve`: the reach layer as an MCP gateway, on stdio or over HTTP."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agent_reach.cli.output import echo, language_option, print_findings
from agent_reach.errors import InputError
from agent_reach.records.message import Language, Message

if TYPE_CHECKING:
    from agent_reach.config.settings import ProjectConfig
    from agent_reach.gateway.gateway import Gateway

_MODES = ["search", "top", "all"]


@click.command("serve")
@click.argument("source", required=False)
@click.option("--config", help="Project file (default: the nearest reach.yaml).")
@click.option("--http", "as_http", is_flag=True, help="Serve streamable HTTP instead of stdio.")
@click.option("--mode", type=click.Choice(_MODES), help="What clients are shown (default: search).")
@click.option("--profile", default="", help="On stdio: serve the fixed list of this profile.")
@click.option("--host", help="Address to bind to (default: 127.0.0.1).")
@click.option("--port", type=click.IntRange(0, 65535), help="Port (default: 8848; 0 takes a free one).")
@click.option("--stateless", is_flag=True, default=None, help="Over HTTP: keep no sessions.")
@click.option("--pin", "pins", multiple=True, help="A tool that is always shown; repeatable.")
@click.option("--allow", multiple=True, help="Only tools that fit this pattern; repeatable.")
@click.option("--deny", multiple=True, help="No tools that fit this pattern; repeatable.")
@click.option("--lock", help="Snapshot that pins the tools: what differs from it is withheld.")
@click.option("--overlay", help="Overlay file to lay over the tools.")
@click.option("--store", help="Where traces go (path or postgresql://...); `none` for nowhere.")
@language_option
def command(
    source: str | None,
    config: str | None,
    as_http: bool,
    mode: str | None,
    profile: str,
    host: str | None,
    port: int | None,
    stateless: bool | None,
    pins: tuple[str, ...],
    allow: tuple[str, ...],
    deny: tuple[str, ...],
    lock: str | None,
    overlay: str | None,
    store: str | None,
    language: Language,
) -> int:
    """Serve the tools of SOURCE (an mcpServers file, an OpenAPI file, a Python module), else of the project.

    Without --http one client is served on stdin and stdout, as MCP clients start their servers; nothing but the protocol is
    written to stdout. With --http: /mcp and /mcp/PROFILE, /healthz, /readyz, /metrics.
    """
    from agent_reach.gateway.run import run_http, run_stdio
    from agent_reach.gateway.settings import gateway_settings
    from agent_reach.gateway.start import build_gateway

    environment = dict(os.environ)
    project = _project(source, config, overlay, store)
    settings = gateway_settings(
        project,
        environment,
        mode=mode,
        host=host,
        port=port,
        stateless=stateless,
        pins=list(pins) or None,
        allow=list(allow) or None,
        deny=list(deny) or None,
        lock=lock,
        traces=False if store == "none" else None,
    )
    if profile and profile not in settings.profiles:
        known = ", ".join(settings.profiles) or "none"
        raise InputError(f"there is no profile {profile!r}", where="--profile", next_step=f"known: {known}")

    def make() -> Gateway:
        transport = "http" if as_http else "stdio"
        gateway = build_gateway(project, settings, environment, transport=transport)
        print_findings([one for one in gateway.servers.findings if one.severity == "error"], language)
        gateway.on_findings = lambda findings: print_findings(findings, language)
        return gateway

    if as_http:
        run_http(make, lambda address: _say(address, language))
    else:
        run_stdio(make, profile)
    return 0


def _say(address: str, language: Language) -> None:
    words = Message(f"serving {address}", f"正在提供服务：{address}")
    echo(words.text(language), err=True)


def _project(source: str | None, config: str | None, overlay: str | None, store: str | None) -> ProjectConfig:
    """The project to serve; a source alone makes one of its own in the current folder, with the redaction rules of the
    project that the folder belongs to."""
    import dataclasses

    from agent_reach.cli.sources import find_project_config
    from agent_reach.config.settings import ProjectConfig, RedactionConfig

    found = find_project_config(config) if source is None or config else None
    if found is None and source is None:
        raise InputError(
            "no tools are named and there is no project here",
            next_step="agent-reach serve mcp.json, or write a reach.yaml with `catalog: mcp.json`",
        )
    if found is not None:
        project = found
    else:
        folder, around = Path.cwd(), find_project_config()
        project = ProjectConfig(
            folder=str(folder),
            name=folder.name,
            store=str(folder / ".agent-reach" / "traces.db"),
            redaction=around.redaction if around is not None else RedactionConfig(),
        )
    changes: dict[str, Any] = {}
    if source is not None:
        changes["catalog"] = source
    if overlay is not None:
        changes["overlay"] = overlay
    if store is not None and store != "none":
        changes["store"] = store
    return dataclasses.replace(project, **changes)
