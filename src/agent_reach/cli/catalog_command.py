"""`agent-reach catalog`: show, compare and export tool lists."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from agent_reach.cli.main import EXIT_UNDECIDED
from agent_reach.cli.output import (
    echo,
    echo_wrapped,
    language_option,
    print_findings,
    print_json,
    terminal_width,
    write_whole,
)
from agent_reach.records.message import Language, Message

_FORMS = ("openai", "responses", "anthropic", "langchain", "gemini", "mcp")


@click.group()
def command() -> None:
    """Show, compare and export tool lists."""


def _source_options(function: Any) -> Any:
    for option in (
        click.option(
            "--timeout",
            type=click.FloatRange(min=0.1),
            default=30.0,
            show_default=True,
            help="Seconds each server has to start.",
        ),
        click.option("--server", help="Name of the server, where the source does not say it."),
        click.option("--overlay", type=click.Path(path_type=Path), help="Overlay file."),
    ):
        function = option(function)
    return function


@command.command()
@click.argument("source", required=False)
@click.option("--tool", "tool_name", help="Show one tool whole: text, schema, note, findings.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@_source_options
@language_option
def show(
    source: str | None,
    tool_name: str | None,
    as_json: bool,
    overlay: Path | None,
    server: str | None,
    timeout: float,
    language: Language,
) -> int:
    """List the tools of SOURCE with their weight, effects and findings.

    Without SOURCE, the catalog that reach.yaml names. Example: agent-reach catalog show mcp.json --tool git/git_log
    """
    from agent_reach.cli.snapshot_command import chosen_source, load_source

    given, laid_over, _ = chosen_source(source, overlay)
    catalog = load_source(given, laid_over, server=server, timeout=timeout)
    if tool_name is not None:
        print_json(_tool_document(catalog, tool_name))
        return 0
    rows = [_row(catalog, tool) for tool in catalog.tools]
    if as_json:
        from agent_reach.records.codec import to_json

        print_json(
            {
                "hash": catalog.hash,
                "tools": rows,
                "quarantined": to_json(catalog.quarantined),
                "findings": to_json(catalog.findings),
            }
        )
        return 0
    _print_rows(rows, language)
    for item in catalog.quarantined:
        echo_wrapped(f"x {item.key}: {item.reason.message.text(language)}")
    print_findings(catalog.findings, language)
    total = sum(row["tokens"] for row in rows)
    english = (
        f"{len(rows)} tools, about {total} tokens, {len(catalog.quarantined)} quarantined, {catalog.hash}"
    )
    chinese = f"{len(rows)} 个工具，约 {total} 个 token，{len(catalog.quarantined)} 个被隔离，{catalog.hash}"
    echo_wrapped(Message(english, chinese).text(language))
    return 0


def _row(catalog: Any, tool: Any) -> dict[str, Any]:
    from agent_reach.text.counting import count_json_tokens

    return {
        "key": tool.key,
        "wire_name": catalog.wire_name(tool),
        "tokens": count_json_tokens(catalog.model_view(tool)),
        "parameters": len(tool.parameters),
        "required": list(tool.required),
        "effects": sorted(tool.effects),
        "findings": len(catalog.findings_of(tool)),
        "description": tool.description.strip().split("\n", 1)[0],
    }


def _print_rows(rows: list[dict[str, Any]], language: Language) -> None:
    """One line a tool, as wide as the terminal: a long key has a line of its own, what the tool says is cut."""
    from agent_reach.reports.figures import display_width, fit, one_line

    heads = (
        Message("tool|tokens|params|effects|what it says", "工具|token|参数|影响|说明")
        .text(language)
        .split("|")
    )
    columns = terminal_width()
    keys = [one_line(row["key"]) for row in rows]
    width = min(columns * 2 // 5, max([display_width(key) for key in [*keys, heads[0]]]))
    rest = max(12, columns - width - 30)
    echo(f"{fit(heads[0], width)} {heads[1]:>6} {heads[2]:>6}  {fit(heads[3], 12)} {heads[4]}")
    for key, row in zip(keys, rows, strict=True):
        params = f"{len(row['required'])}/{row['parameters']}"
        effects = ",".join(row["effects"]) or "?"
        figures = f"{row['tokens']:>6} {params:>6}  {fit(effects, 12)} {fit(one_line(row['description']), rest).rstrip()}"
        if display_width(key) > width:  # a key is never cut: it is what a person copies
            echo(key)
            key = ""
        echo(f"{fit(key, width)} {figures}".rstrip())


def _tool_document(catalog: Any, name: str) -> dict[str, Any]:
    from agent_reach.records.codec import to_json

    tool = catalog.get(name)
    return {
        "key": tool.key,
        "wire_name": catalog.wire_name(tool),
        "model_view": catalog.model_view(tool),
        "tool": to_json(tool),
        "findings": to_json(catalog.findings_of(tool)),
    }


@command.command()
@click.argument("old")
@click.argument("new")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--exit-code", is_flag=True, help="Exit 1 if anything is different.")
@click.option(
    "--fail-on",
    type=click.Choice(["wording", "compatible", "breaking", "wider"]),
    help="Exit 1 from this kind of change upwards.",
)
@_source_options
@language_option
def diff(
    old: str,
    new: str,
    as_json: bool,
    exit_code: bool,
    fail_on: str | None,
    overlay: Path | None,
    server: str | None,
    timeout: float,
    language: Language,
) -> int:
    """Say what is different in NEW, field by field, and what it means.

    OLD and NEW are snapshots or any other source. The kinds of change, mild to grave: wording, compatible, breaking, wider
    (the tool may do more than before). Exit code 3 when a server gave no answer. Example: agent-reach catalog diff old.lock.json mcp.json --fail-on breaking
    """
    from agent_reach.catalog.diff import KINDS, diff_catalogs
    from agent_reach.cli.snapshot_command import failed_servers, load_source, print_difference

    before = load_source(old, None, server=server, timeout=timeout)
    after = load_source(new, overlay, server=server, timeout=timeout)
    difference = diff_catalogs(before, after)
    if as_json:
        print_json(difference.document())
    elif difference.drift:
        print_difference(difference, language)
    else:
        echo(Message("no difference", "没有差别").text(language))
    failed = sorted({*failed_servers(before), *failed_servers(after)})
    if failed:
        names = ", ".join(failed)
        message = Message(f"not decidable: no answer from {names}", f"无法判定：{names} 没有应答")
        echo_wrapped(message.text(language), err=True)
        return EXIT_UNDECIDED
    grave = KINDS[: KINDS.index(fail_on) + 1] if fail_on else ()
    if (exit_code and difference.drift) or any(kind in grave for kind in difference.kinds):
        return 1
    return 0


@command.command()
@click.argument("source", required=False)
@click.option(
    "--form", type=click.Choice(_FORMS), default="openai", show_default=True, help="The provider's form."
)
@click.option("--output", type=click.Path(path_type=Path), help="Write to a file instead of stdout.")
@click.option("--tools", "names", help="Only these tools, separated by commas.")
@click.option("--no-notes", is_flag=True, help="Leave agent notes out.")
@click.option(
    "--max-description", type=click.IntRange(min=1), help="Cut descriptions at this many characters."
)
@click.option("--require-types", is_flag=True, help="State the type of every parameter.")
@_source_options
@language_option
def export(
    source: str | None,
    form: str,
    output: Path | None,
    names: str | None,
    no_notes: bool,
    max_description: int | None,
    require_types: bool,
    overlay: Path | None,
    server: str | None,
    timeout: float,
    language: Language,
) -> int:
    """Write the tools as a provider wants them; what had to be changed goes to stderr.

    Exit code 3 when a server gave no answer, so that its tools are missing.
    Example: agent-reach catalog export mcp.json --form anthropic --output tools.json
    """
    import json

    from agent_reach.catalog.export import export_tools
    from agent_reach.cli.snapshot_command import chosen_source, failed_servers, load_source
    from agent_reach.cli.targets import check_targets

    given, laid_over, _ = chosen_source(source, overlay)
    check_targets({"--output": output}, {"tool list": given, "overlay": laid_over})
    catalog = load_source(given, laid_over, server=server, timeout=timeout)
    if names:
        catalog = catalog.subset(name.strip() for name in names.split(",") if name.strip())
    exported = export_tools(
        catalog, form, notes=not no_notes, max_description=max_description, require_types=require_types
    )
    for change in exported.changes:
        place = f"{change.tool} {change.pointer}".strip()
        echo_wrapped(f"- {change.rule} {place}: {change.message.text(language)}", err=True)
    definitions: Any = list(exported.definitions)
    if form == "mcp":
        definitions = {"tools": definitions}
    if output is None:
        print_json(definitions)
    else:
        write_whole(output, json.dumps(definitions, ensure_ascii=False, indent=2) + "\n")
    failed = failed_servers(catalog)
    print_findings([finding for finding in catalog.findings if finding.code == "server_failed"], language)
    return EXIT_UNDECIDED if failed else 0
