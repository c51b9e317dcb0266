"""`agent-reach model`: bring the small local model, and say where it lies."""

from __future__ import annotations

import click

from agent_reach.cli.output import echo, language_option, print_json
from agent_reach.records.message import Language, Message


@click.group("model", context_settings={"help_option_names": ["-h", "--help"]})
def command() -> None:
    """Fetch the small local model (SmolLM2-135M-Instruct, Apache-2.0, 98 MB)."""


@command.command("fetch")
@click.option(
    "--to",
    "folder",
    type=click.Path(file_okay=False),
    help="Folder for the model (default: the user's cache).",
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@language_option
def fetch(folder: str | None, as_json: bool, language: Language) -> None:
    """Download the model once; its digest is checked."""
    from agent_reach.evals.agents.model_fetch import LICENCE, MODEL_DIGEST, fetch_model

    waiting = Message(
        "fetching SmolLM2-135M-Instruct (98 MB) ...", "正在下载 SmolLM2-135M-Instruct（98 MB）……"
    )
    echo(waiting.text(language), err=True)
    path = fetch_model(folder)
    if as_json:
        print_json({"path": str(path), "sha256": MODEL_DIGEST, "licence": LICENCE})
        return
    echo(str(path))
    hint = Message(
        "use it with `agent: local` in config.yaml (small: it runs everywhere and often chooses wrong)",
        "在 config.yaml 中写 `agent: local` 即可使用（模型很小，处处能跑，但常选错工具）",
    )
    echo(hint.text(language), err=True)


@command.command("path")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@language_option
def path(as_json: bool, language: Language) -> int:
    """Print where the fetched model lies; exit code 1 when it was not fetched."""
    from agent_reach.evals.agents.model_fetch import default_cache, fetched_model

    found = fetched_model()
    if as_json:
        print_json({"path": str(found) if found else None})
    elif found:
        echo(str(found))
    else:
        missing = Message(
            f"no model in {default_cache()}; run `agent-reach model fetch`",
            f"{default_cache()} 中没有模型；请运行 `agent-reach model fetch`",
        )
        echo(missing.text(language), err=True)
    return 0 if found else 1
