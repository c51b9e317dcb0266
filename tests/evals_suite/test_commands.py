"""init and suite on the command line: what they write, print and answer, and what they leave alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.evals_suite.building import TOOLS, task

from agent_reach.catalog.catalog import Catalog
from agent_reach.catalog.schema import is_legal
from agent_reach.cli.main import run_command_line
from agent_reach.config.documents import read_document
from agent_reach.config.run import load_run_config
from agent_reach.config.schema_files import load_schema
from agent_reach.evals.suite.lint import lint_suite
from agent_reach.evals.suite.load import Suite
from agent_reach.evals.suite.sketch import sketch_arguments
from agent_reach.evals.suite.starter import starter_tasks
from agent_reach.records.message import Language


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "tools.json").write_text(json.dumps(TOOLS), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("language", ["en", "zh"])
def test_init_writes_a_project_that_works(
    project: Path, language: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command_line(["init", "--lang", language]) == 0
    names = capsys.readouterr().out.split()
    assert sorted(names) == ["agent-reach-ci.yml", "config.yaml", "reach.yaml", "suites/core.yaml"]
    for name, schema in [("config.yaml", "run"), ("reach.yaml", "project"), ("suites/core.yaml", "suite")]:
        assert jsonschema_rs.validator_for(load_schema(schema)).is_valid(read_document(project / name).value)
    config = load_run_config(project / "config.yaml", {})
    assert config.catalog == str(project / "tools.json")
    suite = Suite.load(config.suites["core-suite"])
    kinds = [item.kind for item in suite]
    assert [kinds.count(kind) for kind in ("must", "may", "forbid")] == [12, 4, 4]
    assert all(item.review for item in suite)
    assert run_command_line(["suite", "lint", "core-suite", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert [item["code"] for item in report["findings"] if item["severity"] == "error"] == []
    assert report["figures"]["tasks"] == 20
    ci = read_document(project / "agent-reach-ci.yml").value
    assert any("agent-reach diff" in step.get("run", "") for step in ci["jobs"]["gate"]["steps"])


def test_init_never_overwrites_unasked(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "config.yaml").write_text("mine", encoding="utf-8")
    assert run_command_line(["init"]) == 2
    assert "config.yaml" in capsys.readouterr().err
    assert (project / "config.yaml").read_text(encoding="utf-8") == "mine"
    assert not (project / "reach.yaml").exists()
    assert run_command_line(["init", "--force"]) == 0
    assert (project / "config.yaml").read_text(encoding="utf-8") != "mine"


def test_init_elsewhere_and_without_tools(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["init", "new/place", "--catalog", "tools.json"]) == 0
    assert str(project / "tools.json") in (project / "new" / "place" / "reach.yaml").read_text(
        encoding="utf-8"
    )
    empty = project / "empty"
    empty.mkdir()
    assert run_command_line(["init", "empty"]) == 2
    assert "--catalog" in capsys.readouterr().err
    (empty / "tools.json").write_text("[]", encoding="utf-8")
    assert run_command_line(["init", "empty"]) == 2
    assert "no usable tool" in capsys.readouterr().err
    assert list(empty.iterdir()) == [empty / "tools.json"]


def test_list(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["suite", "list"]) == 0
    assert "init" in capsys.readouterr().out
    (project / "reach.yaml").write_text(
        "catalog: tools.json\nsuites: {core: core.yaml, gone: gone.yaml}\n", encoding="utf-8"
    )
    (project / "core.yaml").write_text(
        json.dumps([task(path=["query_stock"], tags=["x"]), task(id="u", kind="may")]), encoding="utf-8"
    )
    assert run_command_line(["suite", "list", "--lang", "zh"]) == 0
    said = capsys.readouterr().out
    assert "2 个任务" in said
    assert "no such suite" in said
    assert run_command_line(["suite", "list", "core", "--kind", "must", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [item["id"] for item in document["tasks"]] == ["t"]
    assert document["tasks"][0]["content_hash"].startswith("sha256:")
    assert run_command_line(["suite", "list", "core", "--tag", "y"]) == 2
    assert "tags 'y'" in capsys.readouterr().err
    assert run_command_line(["suite", "list", "cor"]) == 2
    assert "did you mean 'core'?" in capsys.readouterr().err


def test_lint_answers_with_its_exit_code(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = project / "s.yaml"
    file.write_text(json.dumps([task(path=[{"tool": "query_stok"}])]), encoding="utf-8")
    assert run_command_line(["suite", "lint", "s.yaml"]) == 2
    assert "--catalog" in capsys.readouterr().err
    options = ["suite", "lint", "s.yaml", "--catalog", "tools.json"]
    assert run_command_line(options) == 1
    out = capsys.readouterr().out
    assert "gold_unknown_tool" in out
    assert "query_stock" in out
    assert run_command_line([*options, "--lang", "zh"]) == 1
    assert "目录中没有该工具" in "".join(capsys.readouterr().out.split())
    assert run_command_line([*options, "--fail-on", "never"]) == 0
    file.write_text(json.dumps([task(path=["query_stock"])]), encoding="utf-8")
    assert run_command_line(options) == 0
    assert run_command_line([*options, "--fail-on", "warning"]) == 1
    overlay = project / "overlay.yaml"
    overlay.write_text("tools: {query_stock: {aliases: [stock_of]}}\n", encoding="utf-8")
    file.write_text(
        json.dumps([task(path=[{"tool": "stock_of", "args": {"product_id": "PDT-1001"}}])]), encoding="utf-8"
    )
    assert run_command_line(options) == 1
    assert run_command_line([*options, "--overlay", "overlay.yaml"]) == 0


def test_import_and_export(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [
        {
            "id": "a",
            "user_scenario": {"instructions": "buy tea"},
            "evaluation_criteria": {"actions": [{"name": "query_stock", "arguments": {"product_id": "tea"}}]},
        }
    ]
    (project / "tasks.json").write_text(json.dumps(rows), encoding="utf-8")
    assert run_command_line(["suite", "import", "tasks.json", "--output", "a.yaml"]) == 0
    assert run_command_line(["suite", "import", "tasks.json", "--output", "a.yaml"]) == 2
    assert "--force" in capsys.readouterr().err
    assert run_command_line(["suite", "import", "tasks.json", "--output", "b.csv"]) == 2
    assert (
        run_command_line(["suite", "import", "tasks.json", "--output", "c.yaml", "--tools-output", "t.json"])
        == 2
    )
    assert not (project / "b.csv").exists()
    assert not (project / "c.yaml").exists()
    for name in ("b.jsonl", "b.json", "c.yaml"):
        assert run_command_line(["suite", "export", "a.yaml", "--output", name]) == 0
        assert Suite.load(project / name).hash == Suite.load(project / "a.yaml").hash
    assert run_command_line(["suite", "export", "a.yaml", "--output", "b.jsonl"]) == 2
    assert run_command_line(["suite", "export", "a.yaml", "--output", "d.yaml", "--id", "zzz"]) == 2
    assert not (project / "d.yaml").exists()


ANY_SCHEMA: st.SearchStrategy[dict[str, Any]] = st.recursive(
    st.sampled_from(
        [
            {"type": "string"},
            {"type": "string", "format": "date"},
            {"type": "string", "enum": ["b", "a"]},
            {"type": "string", "pattern": "^X\\d+$"},
            {"type": "string", "maxLength": 3},
            {"type": "integer", "minimum": 5},
            {"type": "number", "exclusiveMinimum": 0, "maximum": 1},
            {"type": "integer", "multipleOf": 4},
            {"type": "boolean"},
            {"const": 7},
            {"type": ["null", "integer"]},
            {"default": "d"},
            {},
        ]
    ),
    lambda inner: st.one_of(
        inner.map(lambda item: {"type": "array", "items": item, "minItems": 1}),
        inner.map(lambda item: {"anyOf": [item, {"type": "null"}]}),
        inner.map(lambda item: {"type": "object", "properties": {"x": item}, "required": ["x"]}),
    ),
    max_leaves=3,
)


@settings(max_examples=100, deadline=None)
@given(
    st.dictionaries(st.sampled_from(["a", "order_id", "at"]), ANY_SCHEMA, max_size=3),
    st.sampled_from(["en", "zh"]),
)
def test_a_starter_suite_names_legal_calls_of_any_schema(
    properties: dict[str, Any], language: Language
) -> None:
    definition = {
        "name": "thing",
        "inputSchema": {"type": "object", "properties": properties, "required": list(properties)},
    }
    catalog = Catalog.load([definition])
    arguments = sketch_arguments(catalog.get("thing"))
    assert set(arguments) == set(properties)
    literal = {name: value for name, value in arguments.items() if value != {"$any": True}}
    if len(literal) == len(arguments):
        assert is_legal(catalog.get("thing"), literal)
    suite = Suite.from_tasks(starter_tasks(catalog, language))
    assert len(suite) == 20
    codes = {item.code for item in lint_suite(suite, catalog)}
    assert not {"duplicate_task", "near_duplicate_tasks"} & codes
    assert [item.message.en for item in lint_suite(suite, catalog) if item.severity == "error"] == []
