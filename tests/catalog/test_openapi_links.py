"""The links of OpenAPI responses, as the catalog keeps them beside a tool."""

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_reach.catalog.catalog import Catalog
from agent_reach.catalog.identity import tool_hash
from agent_reach.catalog.snapshot import load_snapshot, snapshot_document
from agent_reach.catalog.sources.openapi import CALL_KEY
from agent_reach.catalog.sources.openapi_links import LINKS_KEY, MAX_ARGUMENTS, MAX_LINKS, read_expressions

from .builders import codes


def content(schema: dict[str, Any]) -> dict[str, Any]:
    return {"content": {"application/json": {"schema": schema}}}


def document(given: Any, **more: Any) -> dict[str, Any]:
    """A document whose `makeCrate` has these links; `showCrate` takes two ids of one name, `packCrate` a body by members."""
    crate = {
        "type": "object",
        "properties": {
            "id": {"type": "integer"},
            "label": {"type": "string"},
            "lots": {
                "type": "array",
                "items": {"type": "object", "properties": {"code": {"type": "string"}}},
            },
        },
    }
    return {
        "openapi": "3.1.0",
        "info": {"title": "Depot", "version": "1"},
        "components": {"schemas": {"Crate": crate}, **more},
        "paths": {
            "/depots/{depot}/crates": {
                "parameters": [{"name": "depot", "in": "path", "required": True, "schema": {"type": "string"}}],
                "post": {
                    "operationId": "makeCrate",
                    "requestBody": content({"type": "object", "properties": {"label": {"type": "string"}}}),
                    "responses": {"201": {"description": "made", **content({"$ref": "#/components/schemas/Crate"}), "links": given}},
                },
            },
            "/crates/{id}": {
                "get": {
                    "operationId": "showCrate",
                    "parameters": [{"name": "id", "in": "path", "schema": {"type": "integer"}}, {"name": "id", "in": "query", "schema": {"type": "string"}}, {"name": "unit", "in": "query", "schema": {"type": "string"}}],
                    "responses": {},
                },
                "patch": {"operationId": "packCrate", "requestBody": content({"type": "object", "properties": {"label": {"type": "string"}, "depot": {"type": "string"}}}), "responses": {}},
                "put": {"operationId": "fillCrate", "requestBody": content({"type": "array", "items": {"type": "string"}}), "responses": {}},
            },
        },
    }  # fmt: skip


def read(given: Any, **more: Any) -> tuple[list[dict[str, Any]], Catalog]:
    catalog = Catalog.load(document(given, **more))
    return catalog.get("makeCrate").original["_meta"].get(LINKS_KEY, []), catalog


def test_a_link_is_kept_as_arguments_of_the_tool_it_leads_to() -> None:
    found, catalog = read(
        {"Show": {"operationId": "showCrate", "parameters": {"path.id": "$response.body#/id", "unit": "kg"}}}
    )
    assert found == [
        {"name": "Show", "response": "201", "tool": "showCrate", "arguments": {"id": "$response.body#/id", "unit": "kg"}}
    ]  # fmt: skip
    assert codes(catalog) == []


@pytest.mark.parametrize("reference", ["#/paths/~1crates~1{id}/get", "#/paths/~1crates~1%7Bid%7D/get"])
def test_an_operation_is_found_by_a_local_reference(reference: str) -> None:
    found, catalog = read(
        {"Show": {"operationRef": reference, "parameters": {"query.id": "$request.path.depot"}}}
    )
    assert found[0]["tool"] == "showCrate"
    assert found[0]["arguments"] == {"id_query": "$request.path.depot"}
    assert codes(catalog) == []


def test_a_link_of_the_components_is_followed() -> None:
    shared = {"Shared": {"operationId": "showCrate", "parameters": {"unit": "$response.body#/label"}}}
    found, catalog = read({"Show": {"$ref": "#/components/links/Shared"}}, links=shared)
    assert found[0]["arguments"] == {"unit": "$response.body#/label"}
    assert codes(catalog) == []


@pytest.mark.parametrize(
    ("operation", "body", "arguments"),
    [
        # Whole, member by member (`depot` is not in the answer), and members written out.
        ("fillCrate", "$response.body#/lots", {"body": "$response.body#/lots"}),
        ("packCrate", "$response.body", {"label": "$response.body#/label"}),
        ("packCrate", "{$response.body#}", {"label": "$response.body#/label"}),
        ("packCrate", "$request.body", {"label": "$request.body#/label"}),
        ("packCrate", {"depot": "$request.path.depot"}, {"depot": "$request.path.depot"}),
    ],
)
def test_a_body_is_kept_as_arguments(operation: str, body: Any, arguments: dict[str, str]) -> None:
    found, catalog = read({"Next": {"operationId": operation, "requestBody": body}})
    assert found[0]["arguments"] == arguments
    assert codes(catalog) == []


@pytest.mark.parametrize(
    ("link", "told"),
    [
        ({"operationId": "shipCrate"}, "no operation has the operationId 'shipCrate'"),
        ({"operationRef": "https://other.example/api.json#/paths/~1x/get"}, "lies outside the document"),
        ({"operationRef": "other.yaml#/paths/~1x/get"}, "lies outside the document"),
        ({"operationRef": "#/paths/~1crates~1{id}/delete"}, "is no operation of the document"),
        ({"operationRef": "#/components/schemas/Crate"}, "is no operation of the document"),
        ({"$ref": "#/components/links/Missing"}, "cannot be read"),
        ({"$ref": "links.yaml#/Show"}, "cannot be read"),
        ({"parameters": {"id": 1}}, "names no operation"),
        ("showCrate", "cannot be read"),
    ],
)
def test_a_broken_link_is_told_and_left_out(link: Any, told: str) -> None:
    found, catalog = read({"Good": {"operationId": "showCrate"}, "Bad": link})
    assert [item["name"] for item in found] == ["Good"]
    (finding,) = catalog.findings
    assert (finding.code, finding.severity, finding.subject) == ("operation_note", "warning", "makeCrate")
    assert finding.pointer == "/paths//depots/{depot}/crates/post/responses/201/links/Bad"
    assert told in finding.message.en


@pytest.mark.parametrize(
    ("parameters", "kept", "told"),
    [
        ({"size": "$response.body#/id"}, False, "there is no parameter 'size'"),
        ({"id": "$response.body#/id"}, False, "'id' may be id, id_query"),
        ({"unit": "$response.path.id"}, False, "is no runtime expression"),
        ({"unit": "$answer.body"}, False, "is no runtime expression"),
        ({"unit": "x-{$answer.body}"}, False, "is no runtime expression"),
        ({"unit": "$request.query.page"}, False, "takes no '$request.query.page'"),
        ({"unit": ["$response.body#/id"]}, False, "no short constant"),
        ({"unit": "k" * 301}, False, "no short constant"),
        ({"unit": 10**5000}, False, "no short constant"),
        # The answer may hold more than it declares, so this one stays.
        ({"unit": "$response.body#/colour"}, True, "is not in the declared body"),
    ],
)
def test_a_broken_value_is_told(parameters: Any, kept: bool, told: str) -> None:
    found, catalog = read({"Show": {"operationId": "showCrate", "parameters": parameters}})
    assert bool(found[0]["arguments"]) is kept
    (finding,) = catalog.findings
    assert told in finding.message.en


def test_a_body_that_is_no_object_cannot_be_given_to_members() -> None:
    found, catalog = read({"Next": {"operationId": "packCrate", "requestBody": "no. {$response.body#/id}"}})
    assert found[0]["arguments"] == {}
    assert "cannot be taken apart" in catalog.findings[0].message.en


def test_an_operation_id_that_two_operations_have_leads_nowhere() -> None:
    given = document({"Show": {"operationId": "showCrate"}})
    given["paths"]["/crates/{id}"]["patch"]["operationId"] = "showCrate"
    catalog = Catalog.load(given)
    assert LINKS_KEY not in catalog.get("makeCrate").original["_meta"]
    assert any("several operations have" in finding.message.en for finding in catalog.findings)


def test_links_are_bounded() -> None:
    found, catalog = read({f"L{place}": {"operationId": "showCrate"} for place in range(MAX_LINKS + 5)})
    assert len(found) == MAX_LINKS
    assert len(catalog.findings) == 1
    many = {f"p{place}": "$response.body#/id" for place in range(MAX_ARGUMENTS + 500)}
    _, catalog = read({"Show": {"operationId": "showCrate", "parameters": many}})
    assert len(catalog.findings) == MAX_ARGUMENTS + 1


def test_a_schema_that_leads_back_to_itself_does_not_hang() -> None:
    again = {"anyOf": [{"$ref": "#/components/schemas/Crate"}] * 8}
    given = document({"Show": {"operationId": "showCrate", "parameters": {"unit": "$response.body#/a/b/c"}}})
    given["components"]["schemas"]["Crate"] = {**again, "properties": {"a": again, "b": again, "c": again}}
    assert LINKS_KEY in Catalog.load(given).get("makeCrate").original["_meta"]


def test_links_change_no_hash_and_stay_in_a_snapshot() -> None:
    linked = document({"Show": {"operationId": "showCrate", "parameters": {"path.id": "$response.body#/id"}}})
    plain = copy.deepcopy(linked)
    del plain["paths"]["/depots/{depot}/crates"]["post"]["responses"]["201"]["links"]
    with_links, without = Catalog.load(linked), Catalog.load(plain)
    assert with_links.hash == without.hash
    assert all(set(tool.original["_meta"]) == {CALL_KEY} for tool in without)
    assert [tool.original for tool in with_links][1:] == [tool.original for tool in without][1:]
    again = load_snapshot(json.loads(json.dumps(snapshot_document(with_links))))
    assert again.get("makeCrate").original == with_links.get("makeCrate").original


def test_hashes_are_those_of_before_links_were_kept() -> None:
    from .test_openapi import DOCUMENT

    catalog = Catalog.load(DOCUMENT)
    assert catalog.hash == "sha256:779473d634ab4e14b31d62f4b4750915a9b5b30e99ceb49a73530bca569efef2"
    made = catalog.get("createOrder")
    assert tool_hash(made) == "sha256:bdb095ab0e37b0c48983c6eda7c3bb6768f468d2d5dcb47ae3ae365df17cd6c4"
    assert set(made.original["_meta"]) == {CALL_KEY}


@pytest.mark.parametrize(
    ("text", "side", "place", "name", "pointer"),
    [
        ("$response.body#/orders/0/a~1b", "response", "body", "", ("orders", "0", "a/b")),
        ("$response.body", "response", "body", "", ()),
        ("$response.body#", "response", "body", "", ()),
        ("$response.header.Location", "response", "header", "Location", ()),
        ("$request.query.page", "request", "query", "page", ()),
        ("$url", "", "", "", ()),
    ],
)
def test_expressions(text: str, side: str, place: str, name: str, pointer: tuple[str, ...]) -> None:
    (found,) = read_expressions(text) or ()
    assert (found.side, found.place, found.name, found.pointer) == (side, place, name, pointer)


def test_expressions_inside_a_text() -> None:
    found = read_expressions("{$request.path.depot}/{$response.body#/id}") or ()
    assert [item.text for item in found] == ["$request.path.depot", "$response.body#/id"]
    assert read_expressions("plain {text}") == ()


_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(
        ["showCrate", "packCrate", "$response.body#/id", "$request.body", "{$url}", "$", "#/paths/~1crates~1{id}/put", "#/"]
    ) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=2)
    | st.dictionaries(
        st.sampled_from(["operationId", "operationRef", "parameters", "requestBody", "id", "path.id", "unit", "label", "$ref"]),
        inner,
        max_size=4,
    ),
    max_leaves=12,
)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(_values)
def test_no_links_break_a_document(links: Any) -> None:
    catalog = Catalog.load(document({"Odd": links, "Good": {"operationId": "showCrate"}}))
    assert len(catalog) == 4
    kept = catalog.get("makeCrate").original["_meta"][LINKS_KEY]
    assert kept[-1] == {"name": "Good", "response": "201", "tool": "showCrate", "arguments": {}}
    Catalog.load(document(links))
