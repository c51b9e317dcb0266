"""Small things that several catalog tests build."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from agent_reach.catalog.catalog import Catalog
from agent_reach.records.tool import Tool

HERE = Path(__file__).parent


def one(definition: Mapping[str, Any], **options: Any) -> Tool:
    """The only tool of a protocol answer with one definition."""
    catalog = Catalog.load({"tools": [definition]}, **options)
    assert len(catalog) == 1, catalog.findings
    return catalog.tools[0]


def named(*names: str, server: str = "") -> Catalog:
    """A catalog of tools with nothing but names."""
    return Catalog.load([{"name": name, "parameters": {}} for name in names], server=server or None)


def codes(catalog: Catalog, subject: str | None = None) -> list[str]:
    return [item.code for item in catalog.findings if subject is None or item.subject == subject]


def case_rows() -> dict[str, dict[str, Any]]:
    lines = (HERE / "cases.jsonl").read_text(encoding="utf-8").splitlines()
    return {row["id"]: row for row in map(json.loads, lines)}


def data_folder() -> Path:
    """The folder with real tool lists, or a skip that says why."""
    place = os.environ.get("AGENT_REACH_DATA")
    folder = Path(place) if place else HERE.parents[2] / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("real tool lists are not here: set AGENT_REACH_DATA")
    return folder
