"""Edges that the links of an OpenAPI document declare."""

from __future__ import annotations

import pytest

from agent_reach.catalog.catalog import Catalog
from agent_reach.catalog.sources.openapi_links import LINKS_KEY
from agent_reach.graph.build import ToolGraph

from .building import graph_of, listed, pairs, record, tool  # type: ignore[import-not-found]


def linked(name, output=None, *, inputs=None, to="grind", response="200", **arguments):
    link = {"name": "Next", "response": response, "tool": to, "arguments": arguments}
    return tool(name, inputs, output, _meta={LINKS_KEY: [link]})


def edge_of(graph, source, target="grind"):
    return next((edge for edge in graph.edges if (edge.source, edge.target) == (source, target)), None)


def bindings(graph, source, target="grind"):
    return [(item.rule, item.source_field, item.target_field) for item in edge_of(graph, source, target).evidence.bindings]  # fmt: skip


GRIND = tool("grind", {"blend": "string"})


@pytest.mark.parametrize(
    ("output", "expression", "path"),
    [
        (record(ref="string"), "$response.body#/ref", "ref"),
        (record(lots=listed(record(ref="string"))), "$response.body#/lots/0/ref", "lots[].ref"),
        (record(data=record(ref="string", n="integer")), "$response.body#/data/ref", "ref"),
        (listed(record(ref="string")), "$response.body#/0/ref", "[].ref"),
        (record(lots={"type": "object", "additionalProperties": record(ref="string")}), "$response.body#/lots/x/ref", "lots.<value>.ref"),
        (record(**{"a.b": "string"}), "$response.body#/a.b", "a.b"),
        (record(ref="string"), "lot {$response.body#/ref}", "ref"),
        (None, "$response.body#/ref", "ref"),
        ({"type": "string"}, "$response.body", "<root>"),
    ],
)  # fmt: skip
def test_a_link_makes_a_sure_edge_with_both_paths(output, expression, path):
    graph = graph_of(linked("weigh", output, blend=expression), GRIND)
    assert ("weigh", "grind") in pairs(graph)
    edge = edge_of(graph, "weigh")
    assert bindings(graph, "weigh") == [("openapi_link", path, "blend")]
    assert edge.score == 1.0
    assert edge.evidence.bindings[0].reason == "the link Next of the answer 200"


def test_a_value_that_the_answer_does_not_declare_is_weaker():
    sure = graph_of(linked("weigh", record(ref="string"), blend="$response.body#/ref"), GRIND)
    odd = graph_of(linked("weigh", record(ref="string"), blend="$response.body#/none"), GRIND)
    assert 0.4 < edge_of(odd, "weigh").score < edge_of(sure, "weigh").score


@pytest.mark.parametrize(
    "expression", ["$request.path.ref", "$request.body#/ref", "$response.header.Location"]
)
def test_what_was_known_before_or_is_not_in_the_result_never_carries_an_edge_alone(expression):
    graph = graph_of(linked("weigh", record(n="integer"), inputs={"ref": "string"}, blend=expression), GRIND)
    assert bindings(graph, "weigh") == [("openapi_link", expression, "blend")]
    assert ("weigh", "grind") not in pairs(graph)


def test_a_link_beats_the_guess_by_name_of_the_same_tool_and_of_others():
    grind = tool("grind", {"ref": "string"})
    other = tool("count_refs", output=record(ref="string"))
    output = record(ref="string", code="string")
    guessed = graph_of(tool("weigh", output=output), other, grind)
    assert bindings(guessed, "weigh") == [("same_name", "ref", "ref")]
    graph = graph_of(linked("weigh", output, ref="$response.body#/code"), other, grind)
    assert bindings(graph, "weigh") == [("openapi_link", "code", "ref")]
    assert edge_of(graph, "weigh").score > edge_of(guessed, "weigh").score
    assert edge_of(graph, "count_refs").score < edge_of(guessed, "count_refs").score


def test_a_weak_link_lowers_no_guess():
    grind, output = tool("grind", {"ref": "string"}), record(ref="string")
    guessed = graph_of(tool("weigh", {"lot": "string"}, output), grind)
    graph = graph_of(linked("weigh", output, inputs={"lot": "string"}, ref="$request.path.lot"), grind)
    assert edge_of(graph, "weigh").score == edge_of(guessed, "weigh").score


@pytest.mark.parametrize(
    "case", ["error answer", "constant", "no value", "unknown tool", "unknown argument", "clash"]
)
def test_no_edge_without_a_value_that_can_arrive(case):
    links = {
        "error answer": linked("weigh", record(ref="string"), response="404", blend="$response.body#/ref"),
        "constant": linked("weigh", record(ref="string"), blend="dark"),
        "no value": linked("weigh", record(ref="string"), blend="$statusCode"),
        "unknown tool": linked("weigh", record(ref="string"), to="brew", blend="$response.body#/ref"),
        "unknown argument": linked("weigh", record(ref="string"), roast="$response.body#/ref"),
        "clash": linked("weigh", record(ref="boolean"), blend="$response.body#/ref"),
    }
    assert edge_of(graph_of(links[case], GRIND), "weigh") is None


def test_a_whole_object_feeds_the_members_it_has():
    ship = tool("grind", {"lot": record(ref="string", colour="string")})
    graph = graph_of(linked("weigh", record(batch=record(ref="string")), lot="$response.body#/batch"), ship)
    found = {
        item.target_field: (item.source_field, item.score)
        for item in edge_of(graph, "weigh").evidence.bindings
    }
    assert found == {"lot.ref": ("batch.ref", 1.0), "lot.colour": ("batch.colour", 0.6)}


def test_a_linked_input_is_no_longer_unresolved():
    from agent_reach.graph.analysis import analyse

    grind = tool("grind", {"blend_token": "string"})
    alone = graph_of(tool("weigh", output=record(ref="string")), grind)
    assert [(item.tool, item.path) for item in analyse(alone).unresolved] == [("grind", "blend_token")]
    graph = graph_of(linked("weigh", record(ref="string"), blend_token="$response.body#/ref"), grind)
    assert analyse(graph).unresolved == ()


@pytest.mark.parametrize(
    "links", [None, 3, "x", [None], [{}], [{"tool": 1, "response": 200, "arguments": 3}], {"a": 1}]
)
def test_foreign_entries_make_no_edge_and_no_error(links):
    graph = graph_of(tool("weigh", output=record(ref="string"), _meta={LINKS_KEY: links}), GRIND)
    assert edge_of(graph, "weigh") is None


def test_a_document_is_mapped_by_its_links():
    def answer(**fields):
        return {"content": {"application/json": {"schema": record(**fields)}}}

    def taking(name):
        return [{"name": name, "in": "path", "required": True, "schema": {"type": "string"}}]

    links = {
        "Grind": {"operationId": "grind", "parameters": {"blend": "$response.body#/ref"}},
        "Shelve": {
            "operationRef": "#/paths/~1shelves~1{slot}/put",
            "parameters": {"path.slot": "$request.path.row"},
        },
    }
    graph = ToolGraph.build(
        Catalog.load(
            {
                "openapi": "3.0.3",
                "paths": {
                    "/rows/{row}": {"post": {"operationId": "weigh", "parameters": taking("row"), "responses": {"201": {**answer(ref="string"), "links": links}}}},
                    "/blends/{blend}": {"put": {"operationId": "grind", "parameters": taking("blend"), "responses": {}}},
                    "/shelves/{slot}": {"put": {"operationId": "shelve", "parameters": taking("slot"), "responses": {}}},
                },
            },
            server="mill",
        )
    )  # fmt: skip
    assert ("mill/weigh", "mill/grind") in pairs(graph)
    assert bindings(graph, "mill/weigh", "mill/grind") == [("openapi_link", "ref", "blend")]
    assert bindings(graph, "mill/weigh", "mill/shelve") == [("openapi_link", "$request.path.row", "slot")]
    assert ("mill/weigh", "mill/shelve") not in pairs(graph)
