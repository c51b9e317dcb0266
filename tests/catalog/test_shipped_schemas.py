"""The JSON Schemas that are shipped say of the files what the code reads and writes."""

import json
from importlib.resources import files
from typing import Any

import jsonschema_rs
import pytest

from agent_reach.catalog.catalog import Catalog
from agent_reach.catalog.overlay import load_overlay
from agent_reach.catalog.snapshot import snapshot_document, stamped
from agent_reach.config.documents import parse_yaml

from .test_overlay import TEXT
from .test_snapshot import TOOLS


def shipped(name: str) -> Any:
    text = (files("agent_reach.catalog") / "schemas" / f"{name}.schema.json").read_text(encoding="utf-8")
    return jsonschema_rs.Draft202012Validator(json.loads(text))


def test_snapshots_fit_their_schema() -> None:
    catalog = Catalog.load(
        TOOLS, overlay={"tools": {"b": {"note": "Note.", "effect": "read", "needs": {"env": "K"}}}}
    )
    for made in (
        catalog,
        stamped(catalog, created_at=1.0, git_commit="c"),
        Catalog.load([{"name": "x", "parameters": {}}]),
    ):
        document = json.loads(json.dumps(snapshot_document(made)))
        assert [str(error) for error in shipped("snapshot").iter_errors(document)] == []
    broken = {**document, "hash": "md5:1"}
    assert not shipped("snapshot").is_valid(broken)


def test_overlays_fit_their_schema() -> None:
    assert [str(error) for error in shipped("overlay").iter_errors(parse_yaml(TEXT).value)] == []


@pytest.mark.parametrize(
    "document",
    [
        {"edgs": []},
        {"tools": {"a": {"aliasses": []}}},
        {"tools": {"a": {"note": {"sumary": ""}}}},
        {"tools": {"a": {"needs": {"key": "x"}}}},
    ],
)
def test_what_the_schema_refuses_is_a_finding(document: dict[str, Any]) -> None:
    assert not shipped("overlay").is_valid(document)
    assert load_overlay(document).findings
