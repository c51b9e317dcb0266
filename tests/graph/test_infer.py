"""Edges from schemas and words: one test a rule, on made-up tools."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_reach.graph.context import Context
from agent_reach.graph.words.chinese import chinese_words
from agent_reach.graph.words.forms import singular
from agent_reach.graph.words.reading import name_words, tool_noun

from .building import graph_of, listed, pairs, record, tool  # type: ignore[import-not-found]


def rules(graph, source, target):
    edge = next(edge for edge in graph.edges if (edge.source, edge.target) == (source, target))
    return {(item.rule, item.source_field, item.target_field) for item in edge.evidence.bindings}


@pytest.mark.parametrize(
    ("giver", "taker", "expected"),
    [
        (tool("get_parcel", output=record(tracking_number="string")), tool("trace", {"tracking_number": "string"}), True),
        (tool("list_parcels", output=listed(record(id="string", weight="number"))), tool("ship", {"parcel_id": "string"}), True),
        (tool("overview", output=record(parcels=listed(record(id="string")))), tool("ship", {"parcelId": "string"}), True),
        (tool("overview", output=record(parcel=record(id="string"))), tool("ship", {"parcel_id": "string"}), True),
        (tool("overview", output=record(parcels=listed("string"))), tool("ship", {"parcel_id": "string"}), True),
        (tool("find_parcel_id_by_phone", {"phone": "string"}, {"type": "string"}), tool("ship", {"parcel_id": "string"}), True),
        (tool("list_children", output=listed(record(id="string"))), tool("enrol", {"child_id": "string"}), True),
        (tool("list_parcels", output={"type": "object", "additionalProperties": record(weight="number")}), tool("ship", {"parcel_id": "string"}), True),
        (tool("get_parcel", output=record(parcel_uuid="string")), tool("ship", {"parcel_id": "string"}), True),
        (tool("list_pairs", output=listed({"type": "array", "items": record(parcel_id="string")})), tool("ship", {"parcel_id": "string"}), True),
        # Generic names never bind alone.
        (tool("get_parcel", output=record(status="string", type="string")), tool("paint", {"status": "string", "type": "string"}), False),
        (tool("get_parcel", output=record(id="string")), tool("get_driver", {"driver_id": "string"}), False),
        # A type clash is a veto.
        (tool("get_parcel", output=record(fragile_flag="boolean")), tool("wrap", {"fragile_flag": "number"}), False),
    ],
)  # fmt: skip
def test_rules_bind_or_do_not(giver, taker, expected):
    graph = graph_of(giver, taker)
    assert ((giver["name"], taker["name"]) in pairs(graph)) is expected


def test_evidence_names_the_rule_and_both_paths():
    graph = graph_of(
        tool("find_parcel_id_by_phone", {"phone": "string"}, {"type": "string"}),
        tool("ship", {"parcel_id": "string"}),
    )
    assert ("result_name", "<root>", "parcel_id") in rules(graph, "find_parcel_id_by_phone", "ship")


def test_chinese_descriptions_bind():
    graph = graph_of(
        tool("chaxun", output=record(orders=listed(record(id="string")))),
        tool("tuikuan", {"dh": {"type": "string", "description": "订单编号"}}),
    )
    assert ("chaxun", "tuikuan") in pairs(graph)
    assert chinese_words("订单编号") == ("order", "id")


def test_a_login_feeds_its_own_service_only():
    tools = [tool(f"{name}_login", {"password": "string"}) for name in ("acme", "zenith", "orbit")]
    tools += [tool(f"{name}_list_bills", {"session_id": "string"}) for name in ("acme", "zenith", "orbit")]
    found = pairs(graph_of(*tools))
    assert ("acme_login", "acme_list_bills") in found
    assert ("acme_login", "zenith_list_bills") not in found


def test_an_echo_is_weaker_than_a_fresh_value():
    graph = graph_of(
        tool("update_parcel", {"parcel_id": "string"}, record(parcel_id="string")),
        tool("search_parcels", {"query": "string"}, listed(record(parcel_id="string"))),
        tool("ship", {"parcel_id": "string"}),
    )
    score = {(edge.source, edge.target): edge.score for edge in graph.edges}
    assert score["search_parcels", "ship"] > score[("update_parcel", "ship")]


def test_observed_results_stand_in_for_a_missing_schema():
    from .building import calls

    giver, taker = tool("overview"), tool("ship", {"parcel_id": "string"})
    assert ("overview", "ship") not in pairs(graph_of(giver, taker))
    trace = calls(("overview", {}, {"parcels": [{"id": "P-1"}]}))
    assert ("overview", "ship") in pairs(graph_of(giver, taker, traces=[trace]))


def test_a_hostile_schema_ends():
    loop = {
        "$ref": "#/$defs/A",
        "$defs": {
            "A": {"type": "object", "properties": {"next": {"$ref": "#/$defs/A"}, "id": {"type": "string"}}}
        },
    }
    deep: dict = {"type": "string"}
    for _ in range(200):
        deep = record(inner=deep)
    graph = graph_of(tool("loop", output=loop), tool("deep", {"x": deep}), tool("use", {"a_id": "string"}))
    assert len(graph.nodes) == 4


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("orders", "order"),
        ("children", "child"),
        ("addresses", "address"),
        ("categories", "category"),
        ("status", "status"),
        ("buses", "bus"),
    ],
)
def test_singular(word, expected):
    assert singular(word) == expected


def test_names_are_read():
    assert name_words("userIds") == ("user", "id")
    assert name_words("cityA") == ("city",)
    assert name_words("file_name2") == ("file", "name")
    assert tool_noun("find_user_id_by_email") == (("find",), ("user", "id"), ("email",))
    assert tool_noun("get_order_details")[:2] == (("get",), ("order",))


def structural(given, taken):
    graph = graph_of(tool("get_parcel", output=record(sender=given)), tool("notify", {"recipient": taken}))
    found = [edge.evidence.structural for edge in graph.edges if edge.source == "get_parcel"]
    return max(found, default=0.0)


@pytest.mark.parametrize(
    ("mark", "supports"),
    [({"format": "email"}, True), ({"enum": ["north", "south"]}, True), ({"format": "int64"}, False)],
)
def test_a_shared_format_or_enum_supports_a_weak_binding_and_another_one_weighs_it_down(mark, supports):
    kind = {"type": "integer" if mark.get("format") == "int64" else "string"}
    (key,) = mark
    other = {"format": "uri"} if key == "format" else {"enum": ["north", "east"]}
    bare, same = structural(kind, kind), structural({**kind, **mark}, {**kind, **mark})
    assert same > bare > 0 if supports else same == bare > 0
    assert structural({**kind, **other}, {**kind, **mark}) < bare
    if key == "enum":
        assert structural({**kind, "enum": ["left", "right"]}, {**kind, **mark}) == 0


@given(st.floats(0.01, 1), st.floats(0.01, 1), st.floats(0, 1), st.booleans())
def test_a_stronger_binding_never_counts_less_in_the_same_surroundings(one, other, near, is_identifier):
    context = Context((), (), (), ())
    weak, strong = sorted((one, other))
    assert (
        weak * context._nearness(weak, near, is_identifier)
        <= strong * context._nearness(strong, near, is_identifier) + 1e-12
    )


def test_quality_on_public_tool_lists():
    """Better than the first naive pass on every set, and most real edges found (see benchmarks/graph_edges.py)."""
    data = Path(os.environ.get("AGENT_REACH_DATA", Path(__file__).parents[3] / "shared/data")) / "graph"
    if not data.exists():
        pytest.skip(f"no data at {data}: set AGENT_REACH_DATA")
    root = Path(__file__).parents[2]
    sys.path.insert(0, str(root / "benchmarks"))
    try:
        from graph_edges import NAIVE, load_sets, measure  # type: ignore[import-not-found]
    finally:
        sys.path.pop(0)
    recalls = []
    for name, (catalog, gold) in load_sets(data).items():
        row = measure(catalog, gold)
        recalls.append(row["recall"])
        if name in NAIVE:
            precision, recall = NAIVE[name]
            assert row["f1"] > 2 * precision * recall / (precision + recall), (name, json.dumps(row["f1"]))
            assert row["precision_at_n"] >= min(1.45 * precision, 0.7), name
    assert sum(recalls) / len(recalls) >= 0.84
