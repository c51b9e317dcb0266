"""`agent-reach init`: write a project around a catalog."""

from __future__ import annotations

import os
from pathlib import Path

import click

from agent_reach.cli.output import echo, language_option, write_whole
from agent_reach.errors import InputError
from agent_reach.records.message import Language, Message

_NEXT = Message(
    "next: put your users' words into the queries of {suite}, then `agent-reach suite lint core-suite` and\n"
    "      `agent-reach run --suite core-suite --config config.yaml --report report.json`",
    "下一步：把用户的原话写进 {suite} 的 query，然后运行 `agent-reach suite lint core-suite` 和\n"
    "        `agent-reach run --suite core-suite --config config.yaml --report report.json`",
)


@click.command()
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path), default=".")
@click.option(
    "--catalog", default="", help="The tools: an mcpServers file, saved tools/list, OpenAPI, Python file."
)
@click.option("--force", is_flag=True, help="Overwrite files that are already there.")
@language_option
def command(folder: Path, catalog: str, force: bool, language: Language) -> None:
    """Write a project into FOLDER: reach.yaml, config.yaml, a starter suite of 20 tasks, a CI snippet.

    The tasks name your own tools, with arguments sketched from their schemas, and wait for your users' words.
    """
    from agent_reach.config.starter import SUITE_FILE
    from agent_reach.evals.suite.project import project_files

    files = project_files(folder, catalog, language, os.environ)
    present = [name for name in files if (folder / name).exists()]
    if present and not force:
        raise InputError(
            f"already there: {', '.join(present)}",
            where=str(folder),
            next_step="give another folder, or --force to overwrite them",
        )
    for name, text in files.items():
        write_whole(folder / name, text)
        echo(str(folder / name))
    echo(_NEXT.text(language).format(suite=SUITE_FILE), err=True)
