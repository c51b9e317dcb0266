"""Live servers as a source: small servers of our own over stdio, started for the test."""

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from agent_reach.catalog.catalog import Catalog
from agent_reach.errors import CatalogError

from .builders import HERE, case_rows, codes

pytestmark = pytest.mark.live
CASES = case_rows()
SCHEMA = {"type": "object", "properties": {}}


def plan(folder: Path, name: str, **facts: Any) -> dict[str, Any]:
    file = folder / f"{name}.json"
    file.write_text(json.dumps(facts), encoding="utf-8")
    return {"command": sys.executable, "args": [str(HERE / "fake_server.py"), str(file)]}


def pages(given: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{**page, "tools": [{"inputSchema": SCHEMA, **tool} for tool in page["tools"]]} for page in given]


def load(servers: dict[str, Any], timeout: float = 20.0, **options: Any) -> Catalog:
    return Catalog.load({"mcpServers": servers}, environment=os.environ, timeout=timeout, **options)


def test_all_pages_are_read(tmp_path: Path) -> None:
    catalog = load({"s": plan(tmp_path, "s", lists=pages(CASES["C12"]["input"]["pages"]))})
    assert len(catalog) == CASES["C12"]["check"]["tools"]
    assert catalog.provenance.sources[0].details["pages"] == 3
    assert catalog.findings == ()
    assert catalog.get("write_entry").server == "s"


def test_a_cursor_that_stalls_ends_the_walk(tmp_path: Path) -> None:
    given = CASES["C13"]["input"]
    catalog = load(
        {
            "same": plan(tmp_path, "same", lists=pages([given["pages_repeat"]])),
            "blank": plan(tmp_path, "blank", lists=pages([given["variant"]])),
        }
    )
    assert [tool.key for tool in catalog] == ["same/a", "same/b", "blank/a"]
    assert codes(catalog, "same")
    assert catalog.quarantined == ()


def test_an_empty_list_is_asked_again(tmp_path: Path) -> None:
    lists = [
        {"tools": [{"name": name, "inputSchema": SCHEMA} for name in names]}
        for names in CASES["C16"]["input"]["list_results"]
    ]
    catalog = load(
        {"late": plan(tmp_path, "late", lists=lists), "never": plan(tmp_path, "never", lists=[{"tools": []}])}
    )
    assert [tool.key for tool in catalog] == ["late/crawl", "late/fetch"]
    assert codes(catalog, "never")


def test_servers_that_fail_are_findings_and_the_rest_loads(tmp_path: Path) -> None:
    good = {
        "tools": [
            {"name": "t", "inputSchema": SCHEMA},
            {"name": "bad", "inputSchema": {"type": "object", "properties": {"n": {"type": "int"}}}},
        ]
    }
    servers = {
        "fast": plan(tmp_path, "fast", lists=[good]),
        "slow": plan(tmp_path, "slow", lists=[good], delay=1.0),
        "noisy": plan(tmp_path, "noisy", lists=[good], banner="*** welcome ***"),
        "dead": plan(tmp_path, "dead", lists=[good], dies="no licence found"),
        "killed": plan(tmp_path, "killed", lists=[good], killed_while_listing=True),
        "hung": plan(tmp_path, "hung", lists=[good], delay=60),
        "nowhere": {"command": "agent-reach-no-such-command"},
    }
    catalog = load(servers, timeout=5.0)
    assert [tool.key for tool in catalog] == ["fast/t", "slow/t", "noisy/t"]
    assert [item.key for item in catalog.quarantined] == ["fast/bad", "slow/bad", "noisy/bad"]
    failed = {item.subject: item.message.en for item in catalog.findings if item.code == "server_failed"}
    assert set(failed) == {"dead", "killed", "hung", "nowhere"}
    assert "no licence found" in failed["dead"]
    assert [source.server for source in catalog.provenance.sources] == list(servers)
    with pytest.raises(CatalogError):
        load({"dead": servers["dead"]}, strict=True)


def test_a_server_cannot_speak_for_another(tmp_path: Path) -> None:
    lists = [{"tools": [{"name": "t", "server": "bank", "inputSchema": SCHEMA}]}]
    (tool,) = load({"game": plan(tmp_path, "game", lists=lists)}).tools
    assert tool.key == "game/t"


def test_variables_come_from_the_environment_that_is_given(tmp_path: Path) -> None:
    entry = plan(tmp_path, "s", lists=[{"tools": [{"name": "t", "inputSchema": SCHEMA}]}])
    entry["command"] = "${THE_PYTHON}"
    file = tmp_path / "mcp.json"
    file.write_text(json.dumps({"mcpServers": {"s": entry}}))
    assert len(Catalog.load(file, environment={**os.environ, "THE_PYTHON": sys.executable})) == 1
    assert codes(Catalog.load(file, environment={}), "s")


def test_loading_inside_a_running_event_loop(tmp_path: Path) -> None:
    entry = plan(tmp_path, "s", lists=[{"tools": [{"name": "t", "inputSchema": SCHEMA}]}])

    async def inside() -> Catalog:
        return load({"s": entry})

    assert len(asyncio.run(inside())) == 1
