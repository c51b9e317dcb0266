"""Rules of the project that a machine can check: exports, help, docstrings, layers, the two READMEs."""

from __future__ import annotations

import ast
import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

import agent_reach
from agent_reach.cli.main import COMMANDS, group

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted((ROOT / "src" / "agent_reach").rglob("*.py"))


def test_the_root_exports_at_most_twenty_names_and_each_exists():
    assert len(agent_reach.__all__) <= 20
    for name in agent_reach.__all__:
        assert getattr(agent_reach, name) is not None
    assert set(agent_reach._HOMES) == set(agent_reach.__all__) - {"__version__"}


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        agent_reach.nothing  # noqa: B018


def test_every_exported_name_is_in_the_python_page():
    page = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    missing = [name for name in agent_reach.__all__ if not re.search(rf"`{name}\b", page)]
    assert not missing


@pytest.mark.parametrize("name", list(COMMANDS))
def test_every_command_has_help(name):
    result = CliRunner().invoke(group, [name, "--help"])
    assert result.exit_code == 0, result.output
    assert "Usage:" in result.output
    assert len(result.output.splitlines()) > 4


@pytest.mark.parametrize("name", list(COMMANDS))
def test_every_command_is_in_both_readmes_or_the_command_page(name):
    page = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    assert f"agent-reach {name}" in page


def test_importing_the_package_and_the_command_line_loads_nothing_heavy():
    heavy = [
        "mcp",
        "numpy",
        "rich",
        "jinja2",
        "json_repair",
        "jsonschema_rs",
        "httpx2",
        "starlette",
        "uvicorn",
        "pydantic",
    ]
    code = (
        "import sys, agent_reach, agent_reach.cli.main; "
        f"print([name for name in {heavy!r} if name in sys.modules])"
    )
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        == "[]\n"
    )


def test_modules_and_public_definitions_have_docstrings():
    bare = []
    for path in SOURCES:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        place = path.relative_to(ROOT / "src")
        if tree.body and not ast.get_docstring(tree):
            bare.append(str(place))
        bare += [
            f"{place}: {node.name}"
            for node in tree.body
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
            and not node.name.startswith("_")
            and not ast.get_docstring(node)
            and not any(isinstance(mark, ast.Name) and mark.id == "overload" for mark in node.decorator_list)
        ]
    assert not bare


def test_no_forbidden_folder_names():
    bad = [
        path
        for path in SOURCES
        if path.stem in {"utils", "util", "helpers", "helper", "misc", "manager", "common"}
    ]
    assert not bad


def test_the_top_has_at_most_fifteen_visible_entries():
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("not a git checkout")
    top = {line.split("/")[0] for line in listed.stdout.splitlines()}
    assert len([name for name in top if not name.startswith(".")]) <= 15


def test_the_layers_hold():
    result = subprocess.run(
        [str(Path(sys.executable).parent / "lint-imports"), "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout[-3000:]


def test_every_module_imports():
    for path in SOURCES:
        module = ".".join(path.relative_to(ROOT / "src").with_suffix("").parts)
        if not module.endswith("__main__"):
            importlib.import_module(module.removesuffix(".__init__"))


def test_the_readmes_show_the_same_commands():
    english, chinese = (
        re.findall(r"```(?:bash|console|sh)\n(.*?)```", (ROOT / name).read_text(encoding="utf-8"), re.DOTALL)
        for name in ("README.md", "README.zh-CN.md")
    )
    strip = [re.sub(r"#.*", "", block).split() for block in english]
    assert strip == [re.sub(r"#.*", "", block).split() for block in chinese]


def test_links_between_pages_lead_somewhere():
    pages = [
        *ROOT.glob("*.md"),
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "examples").rglob("*.md"),
        ROOT / "benchmarks" / "README.md",
    ]
    broken = []
    for page in pages:
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            if not target.startswith(("http://", "https://")) and not (page.parent / target).exists():
                broken.append(f"{page.relative_to(ROOT)}: {target}")
    assert not broken
