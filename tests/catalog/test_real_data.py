"""Real tool lists: every tool present, no false error."""

import json
from collections import Counter
from pathlib import Path

import pytest

from agent_reach.catalog.catalog import Catalog
from agent_reach.catalog.export import FORMS, export_tools
from agent_reach.catalog.schema import argument_problems, is_legal
from agent_reach.catalog.snapshot import load_snapshot, snapshot_document

LISTS = [
    "retrieval/acebench_en/tools.jsonl",
    "retrieval/acebench_zh/tools.jsonl",
    "retrieval/metatool/tools.jsonl",
    "retrieval/sealtools/tools.jsonl",
    "retrieval/stabletoolbench/tools.jsonl",
    "retrieval/toolalpaca/tools.jsonl",
    "graph/agentdojo/tools.jsonl",
    "graph/bfcl_multi_turn/tools.jsonl",
    "graph/restbench_tmdb/tools.jsonl",
    "graph/tau2/tools.jsonl",
    "graph/taubench_gpt4o_airline/tools.jsonl",
    "graph/taubench_gpt4o_airline/tools_retail_only_schemas.jsonl",
    "graph/toollinkos/tools.jsonl",
]


def test_real_servers_load_whole(real_data: Path) -> None:
    folder = real_data / "mcp_servers"
    written = {
        file.stem: json.loads(file.read_text(encoding="utf-8"))["tools"] for file in folder.glob("*.json")
    }
    catalog = Catalog.load(folder)
    assert len(catalog) == sum(map(len, written.values()))
    assert {(tool.server, tool.name) for tool in catalog} == {
        (server, tool["name"]) for server, tools in written.items() for tool in tools
    }
    assert catalog.quarantined == ()
    assert [item for item in catalog.findings if item.severity != "info"] == []
    assert len({catalog.wire_name(tool) for tool in catalog}) == len(catalog)
    for server, tools in written.items():
        for definition in tools:
            tool = catalog.get(f"{server}/{definition['name']}")
            assert set(tool.parameters) == set(definition["inputSchema"].get("properties", {}))
            assert list(tool.required) == definition["inputSchema"].get("required", [])
            assert (tool.output_schema is None) == (not definition.get("outputSchema"))


def test_real_servers_survive_snapshot_and_export(real_data: Path) -> None:
    catalog = Catalog.load(real_data / "mcp_servers")
    again = load_snapshot(json.loads(json.dumps(snapshot_document(catalog))))
    assert again.tools == catalog.tools
    assert again.hash == catalog.hash
    for form in FORMS:
        exported = export_tools(catalog, form)
        assert len(exported.definitions) == len(catalog)
        back = Catalog.load(list(exported.definitions))
        assert len(back) == len(catalog)
        assert back.quarantined == ()


@pytest.mark.parametrize("name", LISTS)
def test_every_tool_of_a_list_is_there(real_data: Path, name: str) -> None:
    file = real_data / name
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    written = Counter((row.get("function") or row).get("name") or row.get("id") for row in rows)
    catalog = Catalog.load(file)
    assert {tool.name for tool in catalog} == set(written)
    assert {item.reason.code for item in catalog.quarantined} <= {"duplicate_tool"}
    assert [item for item in catalog.findings if item.severity == "error"] == []
    assert not Catalog.load(rows).quarantined or "tau2" in name
    for tool in catalog.tools[:200]:
        assert is_legal(tool, {}) == (not tool.required)


def test_recorded_gold_calls_are_legal(real_data: Path) -> None:
    """Calls that the data sets call right are legal for their own tools."""
    folder = real_data / "graph" / "taubench_gpt4o_airline"
    catalog = Catalog.load(folder / "tools.jsonl")
    checked = 0
    for line in (folder / "traces.jsonl").read_text(encoding="utf-8").splitlines():
        for action in json.loads(line)["gold_actions"]:
            arguments = action.get("arguments") or action.get("kwargs")
            if arguments is not None and catalog.resolve(action["name"]) is not None:
                problems = argument_problems(catalog.get(action["name"]), arguments)
                assert problems == (), (action, problems)
                checked += 1
    assert checked > 100
