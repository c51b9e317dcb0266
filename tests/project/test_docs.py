"""What the pages show exists: every command with its options, and every import."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from agent_reach.cli.main import group

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(
    path
    for folder in (ROOT, ROOT / "docs", ROOT / "examples", ROOT / "benchmarks")
    for path in (folder.glob("*.md") if folder == ROOT else folder.rglob("*.md"))
)


def command_lines(text: str) -> Iterator[str]:
    """What follows `agent-reach` in code blocks and code spans."""
    shown = re.findall(r"```\w*\n(.*?)```", text, re.DOTALL) + re.findall(r"`(agent-reach [^`\n]*)`", text)
    for block in shown:
        for line in block.replace("\\\n", " ").splitlines():
            yield from re.findall(r"agent-reach ([^|#;&\n\"]*)", line)


def wrong_in(line: str) -> list[str]:
    """The words of a command line that are no command or option there."""
    words = line.replace(")", " ").split()
    found: click.Command = group
    context = click.Context(group)
    while words and isinstance(found, click.Group):
        inner = found.get_command(context, words[0])
        if inner is None:
            break
        found = inner
        words.pop(0)
    if isinstance(found, click.Group) and words and re.fullmatch(r"[a-z][a-z-]*", words[0]):
        return [words[0]]
    options = {name for parameter in found.params for name in (*parameter.opts, *parameter.secondary_opts)}
    given = [word.partition("=")[0].rstrip(",.:") for word in words if re.match(r"--?[a-zA-Z]", word)]
    return [word for word in given if word not in options | {"--help", "-h", "--version"}]


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_commands_and_options_exist(page: Path) -> None:
    lines = list(command_lines(page.read_text(encoding="utf-8")))
    assert {line: wrong for line in lines if (wrong := wrong_in(line))} == {}


def test_the_check_sees_commands_and_options_that_are_gone() -> None:
    assert wrong_in("baseline promote report.json --output baseline.json") == ["--output"]
    assert wrong_in("nothing --json") == ["nothing"]
    assert sum(len(list(command_lines(page.read_text(encoding="utf-8")))) for page in PAGES) > 50


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_exist(page: Path) -> None:
    missing = []
    for block in re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
        for node in ast.walk(ast.parse(block)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("agent_reach"):
                module = importlib.import_module(node.module or "")
                missing += [
                    f"{node.module}.{alias.name}"
                    for alias in node.names
                    if not hasattr(module, alias.name)
                    and importlib.util.find_spec(f"{node.module}.{alias.name}") is None
                ]
            elif isinstance(node, ast.Import):
                missing += [
                    alias.name
                    for alias in node.names
                    if alias.name.startswith("agent_reach") and importlib.util.find_spec(alias.name) is None
                ]
    assert missing == []
