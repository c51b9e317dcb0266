"""`agent-reach demo`: the whole loop on the bundled store, offline."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agent_reach.cli.main import EXIT_GOOD
from agent_reach.cli.output import echo, language_option, write_whole
from agent_reach.records.message import Language, Message

if TYPE_CHECKING:
    from agent_reach.config.settings import AgentConfig
    from agent_reach.evals.demo import DemoRun

_SHOWN = (
    "tool_reachability",
    "param_hit_rate",
    "param_pass_rate",
    "decision_success",
    "call_success",
    "over_call_rate",
    "context_utilization",
)


@click.command(name="demo")
@click.option(
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("agent-reach-demo"),
    show_default=True,
    help="Folder for report.json and report.html.",
)
@click.option(
    "--live",
    metavar="MODEL",
    help="Also run a model live: a GGUF file, or the address of an OpenAI-compatible endpoint.",
)
@click.option("--model", "model_name", default="", help="Model name for an endpoint given with --live.")
@click.option("--api-key-env", default="", help="Environment variable that holds the endpoint's key.")
@language_option
def command(output: Path, live: str | None, model_name: str, api_key_env: str, language: Language) -> int:
    """Run the whole loop on the bundled store, offline.

    Scores recorded decisions of a real small model, runs a floor without a model beside it, writes report.json and
    report.html, and says what to try next.
    """
    import asyncio

    from agent_reach.cli.progress import progress_listener
    from agent_reach.evals.demo import run_demo
    from agent_reach.reports.html import render_html
    from agent_reach.reports.json_report import write_report
    from agent_reach.reports.terminal import summary_lines

    chosen = _live_agent(live, model_name, api_key_env) if live else None

    def listeners(name: str) -> tuple[Any, ...]:
        echo(Message(f"measuring: {name}", f"正在测量：{name}").text(language), err=True)
        return (progress_listener(language),) if name == "live" else ()

    runs = asyncio.run(run_demo(output, live=chosen, environment=os.environ, listeners=listeners))
    first = runs[0].report
    write_report(first, output / "report.json")
    write_whole(output / "report.html", render_html(first, language))
    for other in runs[1:]:
        write_report(other.report, output / f"report-{other.name}.json")
    echo("\n".join(summary_lines(first, language)))
    echo("\n".join(["", *_table(runs, language), "", *_next_steps(output, first, language)]))
    return EXIT_GOOD


def _live_agent(live: str, model_name: str, api_key_env: str) -> AgentConfig:
    from agent_reach.config.settings import AgentConfig
    from agent_reach.errors import InputError

    if live.startswith(("http://", "https://")):
        if not model_name:
            raise InputError(
                "an endpoint needs the name of a model", where="--live", next_step="add --model NAME"
            )
        key = os.environ.get(api_key_env, "") if api_key_env else ""
        if api_key_env and not key:
            raise InputError(
                f"{api_key_env} is not set", where="--api-key-env", next_step=f"export {api_key_env}=..."
            )
        return AgentConfig(type="chat", base_url=live, model=model_name, api_key_env=api_key_env, api_key=key)
    if not Path(live).is_file():
        raise InputError(
            "no such model file", where=live, next_step="`agent-reach model fetch` brings a small one"
        )
    return AgentConfig(type="local", model_file=str(Path(live).resolve()))


def _table(runs: list[DemoRun], language: Language) -> list[str]:
    """The columns side by side, at most 80 wide."""
    from agent_reach.evals.demo import side_by_side
    from agent_reach.reports.figures import fit, percent
    from agent_reach.reports.wording import METRICS, word

    width = max(9, min(22, (80 - 28) // len(runs)))
    lines = [Message("Side by side", "并排对比").text(language)]
    lines.append("  " + fit("", 26) + "".join(fit(one.name, width - 1) + " " for one in runs).rstrip())
    for row in side_by_side(runs, _SHOWN):
        title = fit(word(METRICS, row["metric"], language), 26)
        lines.append(
            "  " + title + "".join(fit(percent(row[one.name]), width - 1) + " " for one in runs).rstrip()
        )
    return lines


def _next_steps(output: Path, report: Any, language: Language) -> list[str]:
    lost = next(
        (
            task.task_id
            for task in report.tasks
            for attempt in task.attempts
            for decision in attempt.decisions
            if decision.cause is not None
        ),
        report.tasks[0].task_id,
    )
    told = Message("Next", "接下来").text(language)
    return [
        Message(f"Report: {output / 'report.html'}", f"报告：{output / 'report.html'}").text(language),
        told,
        f"  agent-reach explain {output / 'report.json'} {lost}",
        "  agent-reach check mcp.json",
        "  agent-reach init",
    ]
