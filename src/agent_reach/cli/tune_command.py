"""`agent-reach tune`: propose changes around the tools, keep those that help, write them down."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agent_reach.cli.main import EXIT_GOOD, EXIT_UNDECIDED
from agent_reach.cli.output import echo, language_option, print_json, write_whole
from agent_reach.records.message import Language, Message

if TYPE_CHECKING:
    from agent_reach.config.settings import RunConfig

_FILE = click.Path(path_type=Path, dir_okay=False)


@click.command("tune", context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--suite", help="Name of a suite of the configuration, or a suite file.")
@click.option("--config", default="config.yaml", show_default=True, help="The run configuration.")
@click.option(
    "--output",
    type=_FILE,
    default=Path("overlay.tuned.yaml"),
    show_default=True,
    help="Overlay file to write.",
)
@click.option("--markdown", type=_FILE, help="Write a text for a pull request.")
@click.option("--json-file", type=_FILE, help="Write everything that was tried as JSON.")
@click.option(
    "--repeats",
    default=1,
    show_default=True,
    type=click.IntRange(min=1),
    help="Attempts per task and variant.",
)
@click.option(
    "--proposals", default=40, show_default=True, type=click.IntRange(min=1), help="Most proposals to try."
)
@click.option("--no-lint", is_flag=True, help="Only what failures ask for, nothing that lint would write.")
@click.option(
    "--keep-unconfirmed",
    is_flag=True,
    help="Also keep what helps where no held-back task needs the tools it is about.",
)
@click.option(
    "--model", "with_model", is_flag=True, help="Let the agent's model word lines too, within the lint rules."
)
@click.option("--seed", default=0, show_default=True, help="Of the split into halves.")
@click.option("--budget", type=click.IntRange(min=0), help="Most attempts.")
@click.option("--dry-run", is_flag=True, help="Say how many attempts it would make at most.")
@click.option("--resume", is_flag=True, help="Go on with the attempts that were kept.")
@click.option("--force", is_flag=True, help="Write over an output file that is there.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--quiet", is_flag=True, help="No progress.")
@language_option
def command(
    suite: str | None,
    config: str,
    output: Path,
    markdown: Path | None,
    json_file: Path | None,
    repeats: int,
    proposals: int,
    no_lint: bool,
    keep_unconfirmed: bool,
    with_model: bool,
    seed: int,
    budget: int | None,
    dry_run: bool,
    resume: bool,
    force: bool,
    as_json: bool,
    quiet: bool,
    language: Language,
) -> int:
    """Propose changes from failures and lint, try each on one half of the tasks, keep it if the other half agrees.

    Writes a new overlay file and never a source. Exit code 3 when more than 5% of the attempts were lost.
    """
    from agent_reach.cli.progress import progress_listener
    from agent_reach.cli.targets import check_targets, files_of_run
    from agent_reach.evals.runner_setup import RunOptions, resolve_config
    from agent_reach.evals.suite.importers.run import refuse_present
    from agent_reach.evals.trials.laboratory import LaboratoryOptions
    from agent_reach.evals.tune.tune import TuneOptions, tune, tune_cost
    from agent_reach.evals.tune.writing import (
        overlay_text,
        pull_request_text,
        tune_document,
        tune_lines,
    )

    environment = dict(os.environ)
    settings = resolve_config(config, environment)
    options = TuneOptions(
        repeats=repeats, proposals=proposals, seed=seed, lint=not no_lint, unconfirmed=keep_unconfirmed
    )
    listener = progress_listener(language, quiet=quiet)
    run = RunOptions(environment=environment, listeners=() if dry_run else (listener,))
    laboratory = LaboratoryOptions(budget=budget, resume=resume, run=run)
    if dry_run:
        cost = tune_cost(settings, suite=suite, options=options, laboratory=laboratory)
        if as_json:
            print_json({"baseline": cost.baseline, "at_most": cost.most})
        else:
            said = Message(
                f"{cost.baseline} attempts for the baseline, {cost.most} at most in all",
                f"基线 {cost.baseline} 次尝试，总计最多 {cost.most} 次",
            )
            echo(said.text(language))
        return EXIT_GOOD
    targets = {"--output": output, "--markdown": markdown, "--json-file": json_file}
    check_targets(targets, files_of_run(settings, config=config, suite=suite))
    refuse_present([path for path in targets.values() if path is not None], force)
    writer = _writer(settings, environment) if with_model else None
    with listener:
        result = tune(settings, suite=suite, options=options, laboratory=laboratory, writer=writer)
    write_whole(output, overlay_text(result, settings.overlay))
    if markdown is not None:
        write_whole(markdown, pull_request_text(result, language))
    if json_file is not None:
        import json

        write_whole(json_file, json.dumps(tune_document(result), ensure_ascii=False, indent=1) + "\n")
    if as_json:
        print_json(tune_document(result))
    else:
        for line in tune_lines(result, language):
            echo(line)
        echo(str(output))
    return EXIT_UNDECIDED if result.spent and result.lost / result.spent > 0.05 else EXIT_GOOD


def _writer(settings: RunConfig, environment: dict[str, str]) -> Any:
    """A writer that asks the configured agent; an agent of its own for each line, closed behind it."""
    from agent_reach.evals.agents.base import AgentSetup, build_agent
    from agent_reach.evals.runner_setup import load_catalog
    from agent_reach.evals.tune.writer import agent_writer

    catalog = load_catalog(settings, environment)

    async def write(prompt: str) -> str:
        agent = build_agent(
            settings.agent, AgentSetup(folder=settings.folder, seed=settings.seed, catalog=catalog)
        )
        try:
            return await asyncio.wait_for(agent_writer(agent, catalog)(prompt), settings.attempt_timeout)
        finally:
            await agent.aclose()

    return write
