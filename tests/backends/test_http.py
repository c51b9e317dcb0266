"""OpenAPI operations as HTTP requests: where arguments go, and what answers mean."""

from __future__ import annotations

import json
import socket
from collections.abc import Mapping
from typing import Any

import pytest
from tests.backends.servers_http import service
from tests.wire.launching import run

from agent_reach.backends.base import Backend, backend_class
from agent_reach.backends.http import HttpBackend
from agent_reach.backends.http_request import CannotBeSent, build_request
from agent_reach.errors import ConfigError
from agent_reach.records.tool import Tool
from agent_reach.records.trace import CallOutcome


def operation(method: str, path: str, read: bool | None = None, **call: Any) -> Tool:
    description = {"method": method, "path": path, "base_url": "http://h/api", "parameters": {}, **call}
    is_read = method == "GET" if read is None else read
    return Tool(
        name="op",
        server="far",
        original={"_meta": {"agent-reach/http": description}},
        effects=frozenset({"read"} if is_read else {"write"}),
    )


def place(where: str, name: str, **style: Any) -> dict[str, Any]:
    return {"in": where, "name": name, **style}


@pytest.mark.parametrize(
    ("style", "value", "query"),
    [
        ({}, [1, 2], "q=1&q=2"),
        ({"explode": False}, [1, 2], "q=1,2"),
        ({"style": "spaceDelimited"}, ["a b", 2], "q=a%20b%202"),
        ({"style": "pipeDelimited"}, [1, 2], "q=1|2"),
        ({"style": "deepObject"}, {"a": 1, "b": True}, "q[a]=1&q[b]=true"),
        ({}, {"a": 1}, "a=1"),
        ({"explode": False}, {"a": 1, "b": 2}, "q=a%2C1%2Cb%2C2"),
        ({}, "上海 &=", "q=%E4%B8%8A%E6%B5%B7%20%26%3D"),
        ({"allowReserved": True}, "a/b?c", "q=a/b?c"),
        ({}, True, "q=true"),
        ({}, None, ""),
    ],
)
def test_query_styles(style: dict[str, Any], value: Any, query: str) -> None:
    tool = operation("GET", "/x", parameters={"q": place("query", "q", **style)})
    request = build_request(tool, {"q": value})
    assert request.url == "http://h/api/x" + (f"?{query}" if query else "")


def test_every_place() -> None:
    tool = operation(
        "POST",
        "/orders/{id}/items",
        parameters={
            "id": place("path", "id"),
            "id_query": place("query", "id"),
            "trace": place("header", "X-Trace"),
            "session": place("cookie", "sid"),
        },
        body={"name": "name", "id_body": "id"},
        content_type="application/json",
    )
    arguments = {
        "id": "a/b c",
        "id_query": 2,
        "trace": "t",
        "session": "s;1",
        "name": "n",
        "id_body": 3,
        "more": [1],
    }
    request = build_request(tool, arguments)
    assert request.url == "http://h/api/orders/a%2Fb%20c/items?id=2"
    assert request.headers["X-Trace"] == "t"
    assert request.headers["cookie"] == "sid=s%3B1"
    assert json.loads(request.content or b"") == {"name": "n", "id": 3, "more": [1]}


@pytest.mark.parametrize("value", ["..", ".", ""])
def test_a_path_value_cannot_climb(value: str) -> None:
    with pytest.raises(CannotBeSent):
        build_request(operation("GET", "/files/{f}", parameters={"f": place("path", "f")}), {"f": value})


def test_headers_cannot_be_smuggled() -> None:
    with pytest.raises(CannotBeSent):
        build_request(operation("GET", "/", parameters={"h": place("header", "H")}), {"h": "a\r\nX: y"})


def test_whole_bodies_and_forms() -> None:
    whole = operation("POST", "/x", body_argument="body", content_type="application/json")
    assert json.loads(build_request(whole, {"body": [1, {"a": "好"}]}).content or b"") == [1, {"a": "好"}]
    assert build_request(whole, {}).content is None
    form = operation(
        "POST", "/x", body={"a": "a", "b": "b"}, content_type="application/x-www-form-urlencoded"
    )
    assert build_request(form, {"a": "1 2", "b": ["x", "y"]}).content == b"a=1+2&b=x&b=y"
    multi = operation("POST", "/x", body={"a": "a"}, content_type="multipart/form-data")
    request = build_request(multi, {"a": "text"})
    assert b'name="a"\r\n\r\ntext\r\n' in (request.content or b"")
    assert request.headers["content-type"].startswith("multipart/form-data; boundary=")
    text = operation("POST", "/x", body_argument="body", content_type="text/plain")
    assert build_request(text, {"body": "words"}).content == b"words"


def test_addresses() -> None:
    relative = operation("GET", "/x", base_url="/v2")
    assert build_request(relative, {}, "https://host:8/app").url == "https://host:8/v2/x"
    assert build_request(operation("GET", "/x"), {}, "https://mine/").url == "https://mine/x"
    for bad in (relative, operation("GET", "/x", base_url="")):
        with pytest.raises(CannotBeSent, match="base URL"):
            build_request(bad, {})
    with pytest.raises(CannotBeSent, match="'id'"):
        build_request(operation("GET", "/{id}"), {})
    with pytest.raises(CannotBeSent, match="'stray'"):
        build_request(operation("GET", "/"), {"stray": 1})


def ask(
    path: str, method: str = "GET", timeout: float = 5, **more: Any
) -> tuple[CallOutcome, list[Mapping[str, Any]]]:
    async def main() -> tuple[CallOutcome, list[Mapping[str, Any]]]:
        async with service() as running:
            backend = HttpBackend(
                base_urls={"far": running.url}, headers={"Authorization": "Bearer k"}, **more
            )
            assert isinstance(backend, Backend)
            try:
                outcome = await backend.call(operation(method, path, base_url=""), {}, timeout=timeout)
            finally:
                await backend.aclose()
                await backend.aclose()
            return outcome, list(running.seen)

    return run(main())


def test_an_answer_is_its_json() -> None:
    outcome, seen = ask("/things", query={"key": "k 1"})
    assert (outcome.status, outcome.value) == ("ok", {"asked": "/things?key=k+1"})
    assert seen[0]["headers"]["authorization"] == "Bearer k"
    assert outcome.metadata["http_status"] == 200


@pytest.mark.parametrize(
    ("path", "method", "status", "kind"),
    [
        ("/status/400", "GET", "failed", "argument"),
        ("/status/401", "GET", "failed", "permission"),
        ("/status/403", "POST", "failed", "permission"),
        ("/status/404", "GET", "failed", "not_found"),
        ("/status/422", "POST", "failed", "argument"),
        ("/status/429", "POST", "failed", "rate_limited"),
        ("/status/500", "POST", "failed", "tool_error"),
        ("/status/503", "POST", "failed", "transport"),
        ("/status/502", "POST", "unknown", "transport"),
        ("/status/504", "POST", "unknown", "timeout"),
        ("/status/504", "GET", "failed", "timeout"),
        ("/drop", "POST", "unknown", "transport"),
        ("/drop", "GET", "failed", "transport"),
        ("/away", "GET", "failed", "tool_error"),
        ("/empty", "GET", "ok", "empty"),
        ("/empty", "POST", "ok", None),
        ("/moved", "POST", "ok", None),
        ("/broken-json", "GET", "ok", None),
    ],
)
def test_what_each_answer_means(path: str, method: str, status: str, kind: str | None) -> None:
    outcome, _ = ask(path, method)
    assert (outcome.status, outcome.error_kind) == (status, kind)
    if path == "/status/429":
        assert outcome.retry_after == 7
    if path == "/status/400":
        assert outcome.text == "told you"
    if path == "/broken-json":
        assert outcome.value == '{"a": '


@pytest.mark.parametrize(("method", "status"), [("GET", "failed"), ("POST", "unknown")])
def test_time_out(method: str, status: str) -> None:
    outcome, _ = ask("/slow", method, timeout=0.1)
    assert (outcome.status, outcome.error_kind) == (status, "timeout")
    assert "far/op" in outcome.message


def test_nobody_there_was_never_sent() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]

    async def main() -> CallOutcome:
        backend = HttpBackend(base_urls={"far": f"http://127.0.0.1:{port}"})
        try:
            return await backend.call(operation("POST", "/x", base_url=""), {})
        finally:
            await backend.aclose()

    outcome = run(main())
    assert (outcome.status, outcome.error_kind, outcome.reached_backend) == ("failed", "transport", False)


def test_tools_of_other_sources_are_not_found() -> None:
    outcome = run(HttpBackend().call(Tool(name="x"), {}))
    assert (outcome.error_kind, outcome.reached_backend) == ("not_found", False)


def test_a_catalog_without_operations_is_refused() -> None:
    assert isinstance(HttpBackend.of_catalog([operation("GET", "/x")]), HttpBackend)
    with pytest.raises(ConfigError, match="OpenAPI"):
        HttpBackend.of_catalog([Tool(name="x")])


def test_the_table_of_backends() -> None:
    for name in ("recorded", "python", "mcp", "http"):
        assert backend_class(name).__name__.lower() == f"{name}backend"
    with pytest.raises(ConfigError, match="recorded") as caught:
        backend_class("recordd")
    assert "did you mean" in str(caught.value)
