"""Real troubles of suites, each with the wanted behaviour, and other inputs of the same kind."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agent_reach.backends.matching import values_match
from agent_reach.catalog.catalog import Catalog
from agent_reach.cli.main import run_command_line
from agent_reach.config.run import load_run_config
from agent_reach.errors import ConfigError, SuiteError
from agent_reach.evals.suite.lint import lint_suite
from agent_reach.evals.suite.load import Suite
from agent_reach.records.task import Task

CASES: dict[str, dict[str, Any]] = {
    row["id"]: row
    for row in map(
        json.loads, (Path(__file__).parent / "cases.jsonl").read_text(encoding="utf-8").splitlines()
    )
}


def tool(name: str, **parameters: Any) -> dict[str, Any]:
    return {
        "name": name,
        "inputSchema": {"type": "object", "properties": parameters, "required": list(parameters)},
    }


def golden(case: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{"tool": call["name"], "args": call["arguments"]} for call in case]


@pytest.mark.parametrize("text", ["[]", "", "tasks: []\n"])
def test_e09_no_task_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str) -> None:
    case = CASES["E09"]
    assert case["check"]["exit_nonzero"]
    file = tmp_path / "suite.yaml"
    file.write_text(text, encoding="utf-8")
    assert run_command_line(["suite", "list", str(file)]) == 2
    assert str(file) in capsys.readouterr().err
    file.write_text("- {id: a, kind: may, query: x}\n", encoding="utf-8")
    assert run_command_line(["suite", "list", str(file), *case["input"]["args"]]) == 2
    said = capsys.readouterr().err
    assert "nothing-matches" in said
    assert str(file) in said
    assert run_command_line(["suite", "list", str(file), *case["input"]["args"], "--allow-empty"]) == 0


def test_e16_ignored_arguments_by_name_and_by_tool_and_path() -> None:
    case = CASES["E16"]["input"]
    tools = Catalog.load([tool("list_conditions", org={"type": "string"}, _auth={"type": "string"})])
    for ignored in (case["ignore_args"], ["list_conditions._auth"], ["list_conditions._auth.token"]):
        suite = Suite.load(
            [
                {
                    "id": "a",
                    "kind": "must",
                    "query": "conditions of o",
                    "path": golden(case["gold"]),
                    "match": {"ignore_args": ignored},
                }
            ]
        )
        assert suite.tasks[0].match.ignore_args == tuple(ignored)
        codes = {finding.code for finding in lint_suite(suite, tools, pairs=())}
        assert "ignored_argument_unknown" not in codes
        assert ("gold_unsourced_value" in codes) is (ignored == ["list_conditions._auth.token"])


@pytest.fixture
def zone() -> Iterator[Any]:
    before = os.environ.get("TZ")

    def change(name: str) -> None:
        os.environ["TZ"] = name
        time.tzset()

    yield change
    if before is None:
        os.environ.pop("TZ", None)
    else:
        os.environ["TZ"] = before
    time.tzset()


def test_e19_a_task_carries_its_own_clock(zone: Any, tmp_path: Path) -> None:
    case = CASES["E19"]["input"]
    tools = Catalog.load([tool("remind", date={"type": "string", "format": "date"})])
    row = {
        "id": "a",
        "kind": "must",
        "query": case["prompt"],
        "now": case["frozen_now"],
        "path": golden(case["gold"]),
    }
    file = tmp_path / "suite.yaml"
    file.write_text(
        f"- {{id: a, kind: must, query: {case['prompt']}, now: {case['frozen_now']}, path: [{{tool: remind, args: {{date: 2030-02-01}}}}]}}\n",
        encoding="utf-8",
    )
    seen = set()
    for name in case["host_tz_variants"]:
        zone(name)
        for suite in (Suite.load([row]), Suite.load(file)):
            codes = tuple(finding.code for finding in lint_suite(suite, tools, pairs=()))
            seen.add((suite.hash, suite.tasks[0].now, codes))
    assert seen == {(Suite.load([row]).hash, case["frozen_now"], ())}
    for query in ("remind me tomorrow", "明天提醒我", "提醒我下周开会", "remind me next week"):
        loose = Suite.load([{**row, "query": query, "now": ""}])
        assert "relative_date_without_now" in {finding.code for finding in lint_suite(loose, tools, pairs=())}
    naive = Suite.load([{**row, "now": "2030-01-31T23:30:00"}])
    assert [finding.code for finding in naive.findings] == ["now_without_zone"]


def test_e21_a_gold_that_nobody_can_produce() -> None:
    case = CASES["E21"]["input"]
    tools = Catalog.load([tool("cancel", booking_id={"type": "string"})])
    row = {"id": "a", "kind": "must", "query": case["case"]["prompt"], "path": golden(case["case"]["gold"])}
    for fields in ({}, {"environment": {"bookings": case["environment_values"]}}):
        found = lint_suite(Suite.load([{**row, **fields}]), tools, pairs=())
        assert [(item.code, item.severity, item.subject) for item in found] == [
            ("gold_unsourced_value", "error", "a")
        ]
        assert "7781" in found[0].message.en
        assert "7781" in found[0].message.zh
    assert len(found) == CASES["E21"]["check"]["lint"]
    reachable = {**row, "environment": {"bookings": ["7781"]}}
    assert lint_suite(Suite.load([reachable]), tools, pairs=()) == ()


def test_e24_nonsense_limits(tmp_path: Path) -> None:
    case = CASES["E24"]

    def problem(setting: dict[str, Any]) -> str:
        ((name, value),) = setting.items()
        try:
            if name == "max_extra":
                Suite.load([{"id": "a", "kind": "may", "query": "x", **setting}])
            else:
                (tmp_path / "config.yaml").write_text(f"gate: {{{name}: {value}}}\n", encoding="utf-8")
                load_run_config(tmp_path / "config.yaml", {})
        except (SuiteError, ConfigError) as error:
            return str(error)
        return ""

    problems = [problem(setting) for setting in case["input"]["settings"]]
    assert [not said for said in problems] == case["check"]["accepted"]
    for setting, said in zip(case["input"]["settings"], problems, strict=True):
        assert not said or f"{next(iter(setting))}: must be a" in said
        assert not said or "0 or more" in said or "from 0 to 1" in said
    assert (
        Suite.load([{"id": "a", "kind": "may", "query": "x", "max_extra": None}]).tasks[0].max_extra is None
    )


def test_e25_accept_lists_with_a_declared_string_mode() -> None:
    case = CASES["E25"]["input"]
    (gold,) = case["gold_any_of"]
    args = {name: {"$one_of": accepted} for name, accepted in gold[0]["arguments"].items()}
    row = {
        "id": "a",
        "kind": "must",
        "query": "a miso soup recipe",
        "path": [{"tool": gold[0]["name"], "args": args}],
    }

    def matches(loaded: Task, said: str) -> bool:
        return values_match(loaded.paths[0].calls[0].args["keyword"], said, None, loaded.match)

    folded = Suite.load([{**row, "match": {"strings": case["string_match"]}}]).tasks[0]
    said = case["actual"][0]["arguments"]["keyword"]
    assert matches(folded, said)
    assert matches(folded, "SOUP")
    assert not matches(folded, "noodle soup")
    assert not matches(Suite.load([row]).tasks[0], said)


def test_f14_a_renamed_tool() -> None:
    case = CASES["F14"]["input"]
    definitions = [tool(name) for name in case["catalog"]]
    suite = Suite.load([{"id": "a", "kind": "must", "query": "all surveys", "path": case["suite_gold"]}])
    without = lint_suite(suite, Catalog.load(definitions), pairs=())
    errors = [item for item in without if item.severity == "error"]
    assert len(errors) == CASES["F14"]["check"]["lint_without_alias"]
    assert errors[0].code == "gold_unknown_tool"
    assert "a tool not in the catalog (closest: survey_list)" in errors[0].message.en
    ((old, new),) = case["aliases"].items()
    known = Catalog.load(definitions, overlay={"tools": {new: {"aliases": [old]}}})
    found = lint_suite(suite, known, pairs=())
    assert [(item.code, item.severity) for item in found] == [("gold_by_alias", "info")]
    assert "tools_without_task" not in {item.code for item in found}
