"""`agent-reach lint`: what stands between each tool and a model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from agent_reach.cli.main import EXIT_GATE, EXIT_GOOD
from agent_reach.cli.output import echo, echo_wrapped, language_option, print_json, write_whole
from agent_reach.records.message import Language

_FORMATS = ["text", "json", "sarif", "markdown"]


@click.command(name="lint")
@click.argument("source", required=False)
@click.option("--config", help="Project file (default: the nearest reach.yaml).")
@click.option("--overlay", help="Overlay file to lay over the tools.")
@click.option("--select", multiple=True, help="Only these rules: codes, prefixes (AR2) or names; repeatable.")
@click.option("--ignore", multiple=True, help="Not these rules; repeatable.")
@click.option(
    "--fail-on",
    type=click.Choice(["error", "warning", "info", "never"]),
    default=None,
    help="Exit with 1 at this severity or worse (default: error).",
)
@click.option("--format", "form", type=click.Choice(_FORMATS), default="text", help="Form of the output.")
@click.option("--json", "as_json", is_flag=True, help="Short for --format json.")
@click.option("--output", type=click.Path(dir_okay=False), help="Write to a file instead of stdout.")
@click.option(
    "--fix",
    type=click.Path(dir_okay=False),
    metavar="OVERLAY",
    help="Write overlay proposals to this new file; the source is never edited.",
)
@click.option(
    "--limit",
    type=click.IntRange(0),
    default=5,
    show_default=True,
    help="Findings shown of each rule in text form (0: all).",
)
@click.option("--rules", "list_rules", is_flag=True, help="List all rules and stop.")
@language_option
def command(
    source: str | None,
    config: str | None,
    overlay: str | None,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    fail_on: str | None,
    form: str,
    as_json: bool,
    output: str | None,
    fix: str | None,
    limit: int,
    list_rules: bool,
    language: Language,
) -> int:
    """Say what stands between a tool and a model, rule by rule, with the fix.

    SOURCE is a tool list in any form: an mcpServers file, a saved tools/list, function JSON, an OpenAPI file, a Python
    module, a snapshot. Without it the project's catalog is read.
    """
    from dataclasses import replace

    from agent_reach.cli.lint_output import rule_lines
    from agent_reach.cli.sources import find_project_config, load_catalog_from
    from agent_reach.cli.targets import check_targets
    from agent_reach.lint.catalog import lint_catalog
    from agent_reach.lint.options import read_fail_on, read_lint_options

    if list_rules:
        for line in rule_lines(language):
            echo_wrapped(line)
        return EXIT_GOOD
    project = find_project_config(config) if source is None or config else None
    settings = project.lint if project is not None else {}
    where = f"{project.source}: lint" if project is not None else "lint"
    options = read_lint_options(settings, where=where)
    level: Any = fail_on or read_fail_on(settings, where=where)
    check_targets({"--output": Path(output) if output else None}, {"tool list": source, "overlay": overlay})
    options = replace(options, select=select or options.select, ignore=(*options.ignore, *ignore))
    catalog = load_catalog_from(source, project=project, overlay=overlay)
    result = lint_catalog(catalog, options=options)
    named = source if source is not None else project.catalog if project is not None else None
    if fix:
        _write_proposals(result, fix, language)
    _write(_rendered(result, "json" if as_json else form, limit, language, named), output)
    return EXIT_GATE if level != "never" and result.fails_at(level) else EXIT_GOOD


def _rendered(result: Any, form: str, limit: int, language: Language, source: Any) -> Any:
    from agent_reach.cli.lint_output import markdown_text, text_lines
    from agent_reach.lint.table import RULES
    from agent_reach.records.codec import to_json
    from agent_reach.reports.sarif import render_sarif

    if form == "json":
        return to_json(result)
    if form == "sarif":
        return render_sarif(
            result.findings,
            language,
            rules={code: rule.summary for code, rule in RULES.items()},
            default_source=_source_file(source),
        )
    if form == "markdown":
        return markdown_text(result, language)
    return "\n".join(text_lines(result, limit, language))


def _source_file(source: Any) -> str:
    """The file that findings about the whole list are shown on: the one that was linted, as seen from here."""
    if not isinstance(source, (str, Path)) or "://" in str(source) or not Path(source).is_file():
        return "reach.yaml"
    path = Path(source)
    try:
        return path.resolve().relative_to(Path.cwd().resolve()).as_posix()
    except ValueError:
        return str(path)


def _write(value: Any, output: str | None) -> None:
    import json

    if output:
        write_whole(
            Path(output),
            value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2) + "\n",
        )
    elif isinstance(value, str):
        echo(value)
    else:
        print_json(value)


def _write_proposals(result: Any, path: str, language: Language) -> None:
    import yaml

    from agent_reach.errors import InputError
    from agent_reach.lint.proposals import overlay_proposal

    if Path(path).exists():
        raise InputError(
            "the file exists already",
            where=path,
            next_step="name a new file; merge it into your overlay after review",
        )
    document = overlay_proposal(result.findings)
    head = "# Proposals of agent-reach lint. Review each one; empty places are for a person to fill.\n"
    write_whole(Path(path), head + yaml.safe_dump(document, allow_unicode=True, sort_keys=False, width=110))
    told = {
        "en": f"proposals for {len(document.get('tools', {}))} tools written to {path}",
        "zh": f"已将 {len(document.get('tools', {}))} 个工具的建议写入 {path}",
    }
    echo(told[language], err=True)
