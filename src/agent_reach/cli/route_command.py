"""`agent-reach route`: the tools for a request, as the reach layer would show them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from agent_reach.cli.main import EXIT_GATE, EXIT_GOOD
from agent_reach.cli.output import echo, echo_wrapped, language_option, print_findings, print_json
from agent_reach.records.message import Language

if TYPE_CHECKING:
    from agent_reach.router.reach import Reach
    from agent_reach.router.stages import Found

_FORMATS = ["text", "json", "lines", "openai", "openai-search", "anthropic"]


@click.command(name="route")
@click.argument("query")
@click.argument("source", required=False)
@click.option("--config", help="Project file (default: the nearest reach.yaml).")
@click.option("--overlay", help="Overlay file to lay over the tools.")
@click.option(
    "-k", "count", type=click.IntRange(1, 100), default=6, show_default=True, help="How many tools."
)
@click.option("--pin", "pins", multiple=True, help="A tool that is always shown; repeatable.")
@click.option("--allow", multiple=True, help="Only tools that fit this pattern; repeatable.")
@click.option("--deny", multiple=True, help="No tools that fit this pattern; repeatable.")
@click.option("--embedder", help="`encoder` (extra `vectors`), or the name of an installed one.")
@click.option("--now", help="ISO date-time that relative dates are counted from.")
@click.option("--budget", type=click.IntRange(20), help="Token budget of the text for the model.")
@click.option(
    "--format", "form", type=click.Choice(_FORMATS), default="text", show_default=True, help="Form."
)
@click.option("--json", "as_json", is_flag=True, help="Short for --format json.")
@language_option
def command(
    query: str,
    source: str | None,
    config: str | None,
    overlay: str | None,
    count: int,
    pins: tuple[str, ...],
    allow: tuple[str, ...],
    deny: tuple[str, ...],
    embedder: str | None,
    now: str | None,
    budget: int | None,
    form: str,
    as_json: bool,
    language: Language,
) -> int:
    """Find the tools for QUERY in SOURCE (a tool list in any form), else in the project's catalog.

    Shows each candidate with its score and why, what the request already says for its parameters, the text a model would
    be given and what that saves. Exit code 1 when no tool fits.
    """
    from agent_reach.cli.sources import find_project_config, load_catalog_from
    from agent_reach.router.normalize.dates.calendar import read_now
    from agent_reach.router.reach import Reach

    if now is not None:
        read_now(now)  # a wrong one is told before anything is found
    project = find_project_config(config) if source is None or config else None
    catalog = load_catalog_from(source, project=project, overlay=overlay)
    reach = Reach(catalog, pins=pins, allow=allow, deny=deny, embedder=embedder)
    if reach.vectors is not None:
        reach.vectors.wait()
    found = reach.find(query, count)
    print_findings((*reach.findings, *found.findings), language)
    if as_json or form == "json":
        print_json(_document(reach, found, query, now, budget))
    elif form == "text":
        _print_text(reach, found, query, now, budget, language)
    else:
        _print_form(reach, found, form, query, now, budget)
    return EXIT_GOOD if found else EXIT_GATE


def _document(reach: Reach, found: Found, query: str, now: str | None, budget: int | None) -> dict[str, Any]:
    from agent_reach.records.codec import to_json
    from agent_reach.router.confirm import token_saving

    text = reach.candidate_text(found, conversation=query, now=now, budget=budget)
    saving = token_saving(text, found, reach.catalog)
    return {
        "query": query,
        "candidates": [
            {
                "tool": candidate.tool.key,
                "score": candidate.score,
                "why": candidate.why,
                "prefill": to_json(dict(reach.prefill(candidate.tool, query, now=now).arguments)),
            }
            for candidate in found
        ],
        "nearest_names": list(found.nearest_names),
        "text": text,
        "tokens": {"shown": saving.shown, "full": saving.full, "all": saving.all_tools},
        "findings": to_json(found.findings),
    }


def _print_text(
    reach: Reach, found: Found, query: str, now: str | None, budget: int | None, language: Language
) -> None:
    from agent_reach.router.confirm import token_saving

    chinese = language == "zh"
    if not found:
        near = ", ".join(found.nearest_names)
        echo("没有适合的工具。" if chinese else "No tool fits.")
        if near:
            echo(f"最接近的名称：{near}" if chinese else f"Nearest names: {near}")
        return
    width = max(len(candidate.tool.key) for candidate in found)
    for candidate in found:
        echo_wrapped(
            f"{candidate.score:5.2f}  {candidate.tool.key:<{width}}  {candidate.why}", indent="       "
        )
        for proposal in reach.prefill(candidate.tool, query, now=now).proposals:
            echo_wrapped(
                f"{proposal.parameter} = {proposal.value!r}  <- {proposal.text!r}",
                first="       ",
                indent="         ",
            )
    text = reach.candidate_text(found, conversation=query, now=now, budget=budget)
    echo(f"\n{text}\n")
    saving = token_saving(text, found, reach.catalog)
    if chinese:
        echo(
            f"展示 {saving.shown} 个 token；完整定义 {saving.full}（-{saving.against_full:.0%}）；"
            f"全部工具 {saving.all_tools}（-{saving.against_all:.0%}）"
        )
    else:
        echo(str(saving))


def _print_form(
    reach: Reach, found: Found, form: str, query: str, now: str | None, budget: int | None
) -> None:
    from agent_reach.router import confirm

    if form == "lines":
        echo(reach.candidate_text(found, conversation=query, now=now, budget=budget))
    elif form == "openai":
        print_json(confirm.openai_tools(found, reach.catalog))
    elif form == "openai-search":
        print_json(confirm.openai_tool_search_output("call_id", found, reach.catalog))
    else:
        print_json(confirm.anthropic_tool_references("tool_use_id", found, reach.catalog))
