"""Overlays: laid over tools, told where they name nothing."""

from pathlib import Path

import pytest

from agent_reach.catalog.catalog import Catalog
from agent_reach.catalog.overlay import load_overlay
from agent_reach.errors import CatalogError

from .builders import codes

TEXT = """
tools:
  store/update_stock:
    note:
      summary: Set the stock of a product.
      triggers: 补货
      param_hints:
        warehouse_id: {names: [warehouse], values: {WH-SH-01: [上海仓, 上海]}}
        colour: {format: word}
      conflicts: {adjust_inventory: for differences}
    needs: {scopes: stock:write, env: [STORE_KEY]}
    effect: [write, idempotent]
    aliases: set_stock
  search_manual: {actor: user}
  no_such_tool: {effect: read}
  twice: {effect: read}
partitions:
  search_manual: [产品手册, 故障排查]
edges:
  - {source: search_manual, target: store/update_stock, score: 0.9}
state_slots:
  - {name: warehouse, from: query_stock.warehouse_id}
"""
TOOLS = {
    "store": [
        {
            "name": "update_stock",
            "parameters": {"type": "object", "properties": {"warehouse_id": {"type": "string"}}},
        },
        {"name": "search_manual", "parameters": {}},
        {"name": "twice", "parameters": {}},
    ],
    "other": [{"name": "twice", "parameters": {}}],
}


def test_everything_reaches_its_tool(tmp_path: Path) -> None:
    file = tmp_path / "overlay.yaml"
    file.write_text(TEXT, encoding="utf-8")
    plain = Catalog.load(TOOLS)
    catalog = Catalog.load(TOOLS, overlay=file)
    tool = catalog.get("set_stock")
    assert tool.key == "store/update_stock"
    assert tool.note is not None
    assert tool.note.triggers == ("补货",)
    assert tool.note.param_hints["warehouse_id"].values == {"WH-SH-01": ("上海仓", "上海")}
    assert tool.needs.scopes == ("stock:write",)
    assert tool.needs.env == ("STORE_KEY",)
    assert tool.effects == {"write", "idempotent"}
    assert catalog.get("search_manual").partitions == ("产品手册", "故障排查")
    assert catalog.get("search_manual").actor == "user"
    assert catalog.overlay is not None
    assert catalog.overlay.edges[0]["score"] == 0.9
    assert catalog.overlay.state_slots[0]["name"] == "warehouse"
    assert codes(catalog) == ["overlay_unknown_parameter", "overlay_unmatched", "overlay_ambiguous"]
    assert catalog.hash != plain.hash
    assert plain.get("store/update_stock").note is None


def test_only_what_reaches_a_model_changes_the_hash() -> None:
    plain = Catalog.load(TOOLS)
    needs = plain.with_overlay({"tools": {"search_manual": {"needs": {"env": ["K"]}, "effect": "read"}}})
    note = plain.with_overlay({"tools": {"search_manual": {"note": "Look things up."}}})
    assert needs.hash == plain.hash
    assert note.hash != plain.hash
    again = note.with_overlay({"tools": {"search_manual": {"note": {"triggers": ["怎么修"]}}}})
    found = again.get("search_manual").note
    assert found is not None
    assert (found.summary, found.triggers) == ("Look things up.", ("怎么修",))


def test_unknown_keys_are_told_with_the_nearest() -> None:
    overlay = load_overlay({"tools": {"a": {"aliasses": ["b"], "note": {"sumary": "x"}}}, "edgs": []})
    assert [(item.pointer, item.code) for item in overlay.findings] == [
        ("/edgs", "overlay_unknown_key"),
        ("/tools/a/aliasses", "overlay_unknown_key"),
        ("/tools/a/note/sumary", "overlay_unknown_key"),
    ]
    assert "'aliases'" in overlay.findings[1].message.en


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ({"tools": {"a": {"effect": "reads"}}}, "no effect"),
        ({"tools": ["a"]}, "tools is no mapping"),
        ({"tools": {"a": "text"}}, "no mapping"),
        ({"partitions": []}, None),
    ],
)
def test_what_is_no_overlay_is_refused(document: object, words: str | None) -> None:
    if words is None:
        assert load_overlay(document).partitions == {}  # type: ignore[arg-type]
        return
    with pytest.raises(CatalogError, match=words):
        load_overlay(document)  # type: ignore[arg-type]


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(CatalogError, match="no such file"):
        load_overlay(tmp_path / "nothing.yaml")
    (tmp_path / "list.yaml").write_text("- a\n")
    with pytest.raises(CatalogError, match="mapping"):
        load_overlay(tmp_path / "list.yaml")
