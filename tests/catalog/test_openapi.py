"""OpenAPI documents as tool lists."""

import http.server
import json
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_reach.catalog.catalog import Catalog
from agent_reach.catalog.schema import argument_problems, is_legal, output_problems
from agent_reach.catalog.sources.components import MAX_DEFINITIONS
from agent_reach.catalog.sources.openapi import CALL_KEY
from agent_reach.errors import CatalogError

from .builders import codes

DOCUMENT: dict[str, Any] = {
    "openapi": "3.0.3",
    "info": {"title": "Shop", "version": "1"},
    "servers": [{"url": "https://{region}.shop.example/v1", "variables": {"region": {"default": "eu"}}}],
    "security": [{"key": []}],
    "components": {
        "parameters": {"Page": {"name": "page", "in": "query", "schema": {"type": "integer", "default": 1}}},
        "securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-Key"}, "login": {"type": "oauth2", "flows": {}}},
        "requestBodies": {"New": {"required": True, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/NewOrder"}}}}},
        "schemas": {
            "Base": {"type": "object", "properties": {"id": {"type": "integer", "readOnly": True}, "note": {"type": "string", "nullable": True}}},
            "NewOrder": {"allOf": [{"$ref": "#/components/schemas/Base"}, {"type": "object", "required": ["sku", "shop"], "properties": {"sku": {"type": "string", "example": "PDT-1"}, "shop": {"type": "string"}, "price": {"type": "number", "minimum": 0, "exclusiveMinimum": True}}}]},
            "Order": {"type": "object", "required": ["id"], "properties": {"id": {"type": "integer"}, "parent": {"$ref": "#/components/schemas/Order"}, "example": {"type": "string"}}},
            "Unused": {"type": "object"},
        },
    },
    "paths": {
        "/shops/{shop}/orders": {
            "parameters": [{"name": "shop", "in": "path", "required": True, "description": "The shop.", "schema": {"type": "string"}}],
            "get": {
                "operationId": "listOrders",
                "summary": "List orders",
                "description": "All orders of a shop.",
                "parameters": [
                    {"$ref": "#/components/parameters/Page"},
                    {"name": "state", "in": "query", "schema": {"type": "string", "enum": ["open", "done"]}},
                    {"name": "Authorization", "in": "header", "schema": {"type": "string"}},
                    {"name": "X-Trace", "in": "header", "schema": {"type": "string"}},
                    {"$ref": "#/components/parameters/Missing"},
                ],
                "responses": {"200": {"description": "ok", "content": {"application/json": {"schema": {"type": "array", "items": {"$ref": "#/components/schemas/Order"}}}}}},
            },
            "post": {
                "operationId": "createOrder",
                "requestBody": {"$ref": "#/components/requestBodies/New"},
                "security": [{"login": ["orders:write"]}],
                "responses": {"201": {"description": "made", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Order"}}}}},
            },
        },
        "/orders/{id}": {
            "parameters": [{"name": "id", "in": "path", "schema": {"type": "integer"}}],
            "put": {"operationId": "replaceOrder", "requestBody": {"content": {"application/json": {"schema": {"type": "array", "items": {"type": "string"}}}}}, "responses": {"204": {"description": "done"}}},
            "delete": {"operationId": "listOrders", "security": [{}], "deprecated": True, "responses": {}},
            "patch": {"requestBody": {"required": True, "content": {"application/x-www-form-urlencoded": {"schema": {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}}}}, "responses": {}},
        },
    },
}  # fmt: skip


def loaded() -> Catalog:
    return Catalog.load(DOCUMENT)


def test_every_operation_is_a_tool() -> None:
    catalog = loaded()
    assert [tool.name for tool in catalog] == [
        "listOrders",
        "createOrder",
        "replaceOrder",
        "listOrders_2",
        "patch_orders_id",
    ]
    assert codes(catalog) == ["operation_skipped", "operation_note"]
    listing = catalog.get("listOrders")
    assert listing.description == "List orders\nAll orders of a shop."
    assert list(listing.parameters) == ["shop", "page", "state", "X-Trace"]
    assert listing.required == ("shop",)
    assert listing.parameters["shop"]["description"] == "The shop."
    assert is_legal(listing, {"shop": "a", "state": "open"})
    assert not is_legal(listing, {"shop": "a", "state": "shut"})
    assert "Unused" not in json.dumps(listing.output_schema)
    assert output_problems(listing, [{"id": 1, "parent": {"id": 2}}]) == ()
    assert {problem.pointer for problem in output_problems(listing, [{"parent": {"id": "x"}}])} == {
        "/0/parent/id",
        "/0/id",
    }
    assert listing.output_schema is not None
    assert listing.output_schema["$defs"]["Order"]["properties"]["example"] == {"type": "string"}


def test_the_body_is_merged_and_led_back() -> None:
    tool = loaded().get("createOrder")
    assert list(tool.parameters) == ["shop", "note", "sku", "shop_body", "price"]
    assert set(tool.required) == {"shop", "sku", "shop_body"}
    assert tool.parameters["sku"]["examples"] == ["PDT-1"]
    assert is_legal(tool, {"shop": "a", "sku": "x", "shop_body": "b", "note": None, "price": 0.1})
    assert {
        problem.pointer
        for problem in argument_problems(tool, {"shop": "a", "sku": "x", "shop_body": "b", "price": 0})
    } == {"/price"}
    call = tool.original["_meta"][CALL_KEY]
    assert call == {
        "method": "POST",
        "path": "/shops/{shop}/orders",
        "base_url": "https://eu.shop.example/v1",
        "parameters": {"shop": {"in": "path", "name": "shop"}},
        "content_type": "application/json",
        "body": {"note": "note", "sku": "sku", "shop_body": "shop", "price": "price"},
    }


def test_bodies_of_other_kinds() -> None:
    catalog = loaded()
    put = catalog.get("replaceOrder")
    assert put.required == ("id",)
    assert put.parameters["body"]["type"] == "array"
    assert put.original["_meta"][CALL_KEY]["body_argument"] == "body"
    patch = catalog.get("patch_orders_id")
    assert list(patch.parameters) == ["id", "id_body"]
    assert patch.original["_meta"][CALL_KEY]["content_type"] == "application/x-www-form-urlencoded"


def test_methods_tell_effects_and_security_tells_needs() -> None:
    catalog = loaded()
    effects = {tool.name: set(tool.effects) for tool in catalog}
    assert effects == {
        "listOrders": {"read"},
        "createOrder": {"write"},
        "replaceOrder": {"write", "idempotent"},
        "listOrders_2": {"write", "destructive", "idempotent"},
        "patch_orders_id": {"write"},
    }
    assert catalog.get("listOrders").needs.services == ("key",)
    assert catalog.get("createOrder").needs.scopes == ("orders:write",)
    assert not catalog.get("listOrders_2").needs
    assert catalog.get("listOrders_2").description.endswith("Deprecated.")


def test_swagger_2_is_refused_with_advice() -> None:
    with pytest.raises(CatalogError, match=r"Swagger 2\.0") as caught:
        Catalog.load({"swagger": "2.0", "paths": {}})
    assert "convert" in caught.value.next_step
    with pytest.raises(CatalogError, match="not known"):
        Catalog.load({"openapi": "4.0", "paths": {}})


@pytest.mark.parametrize(
    "paths",
    [
        None,
        [],
        {"/a": None},
        {"/a": {"get": "x"}},
        {"/a": {"$ref": "other.yaml"}},
        {"/a": {"get": {"parameters": [5, {"name": 5}], "requestBody": None, "responses": []}}},
    ],
)
def test_broken_documents_do_not_crash(paths: Any) -> None:
    catalog = Catalog.load({"openapi": "3.1.0", "paths": paths})
    assert catalog.findings or len(catalog) <= 1


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path] if path else []
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        found.extend(places(item, (*path, key)))
    return found


JUNK = st.sampled_from(
    [
        None,
        True,
        5,
        "x",
        "",
        [],
        [1],
        {},
        {"a": 1},
        {"$ref": "#/components/schemas/Order"},
        {"$ref": "#/nowhere"},
        {"allOf": [{"$ref": "#/components/schemas/NewOrder"}]},
    ]
)


@given(st.lists(st.tuples(st.sampled_from(places(DOCUMENT)), JUNK), min_size=1, max_size=3))
@settings(max_examples=200)
def test_any_damage_leaves_tools_or_a_clear_error(damage: list[tuple[tuple[Any, ...], Any]]) -> None:
    document = json.loads(json.dumps(DOCUMENT))
    for path, junk in damage:
        holder = document
        for part in path[:-1]:
            if (
                not isinstance(holder, (dict, list))
                or (isinstance(holder, dict) and part not in holder)
                or (isinstance(holder, list) and not (isinstance(part, int) and part < len(holder)))
            ):
                break
            holder = holder[part]
        else:
            if isinstance(holder, dict) or (
                isinstance(holder, list) and isinstance(path[-1], int) and path[-1] < len(holder)
            ):
                holder[path[-1]] = junk
    try:
        catalog = Catalog.load(document)
    except CatalogError:
        assert not str(document.get("openapi")).startswith("3")
        return
    for tool in catalog:
        is_legal(tool, {})
        json.dumps(tool.original)


def test_versions_3_1_and_yaml(tmp_path: Path) -> None:
    file = tmp_path / "api.yaml"
    file.write_text(
        "openapi: 3.1.0\npaths:\n  /a:\n    get:\n      parameters:\n"
        "        - {name: on, in: query, schema: {type: [string, 'null'], const: yes}}\n"
        "      responses:\n        200: {content: {application/json: {schema: {type: object}}}}\n"
    )
    (tool,) = Catalog.load(file).tools
    assert is_legal(tool, {"on": "yes"})
    assert tool.output_schema == {"type": "object"}


def test_component_schemas_stay_within_bounds() -> None:
    schemas = {
        f"S{index}": {
            "type": "object",
            "properties": {"next": {"$ref": f"#/components/schemas/S{index + 1}"}},
        }
        for index in range(MAX_DEFINITIONS + 50)
    }
    document = {
        "openapi": "3.0.0",
        "components": {"schemas": schemas},
        "paths": {
            "/a": {
                "post": {
                    "requestBody": {
                        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/S0"}}}
                    },
                    "responses": {},
                }
            }
        },
    }
    catalog = Catalog.load(document)
    assert "operation_note" in codes(catalog)
    assert len(catalog.tools[0].input_schema["$defs"]) == MAX_DEFINITIONS + 1


def test_an_address_on_this_machine() -> None:
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(
                json.dumps(DOCUMENT if self.path == "/openapi.json" else {"no": "thing"}).encode()
            )

        def log_message(self, *_: Any) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        base = f"http://127.0.0.1:{server.server_port}"
        assert len(Catalog.load(base + "/openapi.json")) == 5
        with pytest.raises(CatalogError, match="no OpenAPI"):
            Catalog.load(base + "/other")
        server.shutdown()
    with pytest.raises(CatalogError, match="cannot be read"):
        Catalog.load(base + "/openapi.json", timeout=2)
