"""The gateway over HTTP: who may come in, what each may do, both eras, storms of refusals, operators' addresses."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
import threading
import time
from collections.abc import AsyncIterator, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from tests.gateway.launching import (
    LEGACY,
    MODERN,
    TOOL_SERVER,
    alive,
    children_of,
    entry,
    http_process,
    run,
    servers,
    serving_http,
)

from agent_reach.traces.store.base import TraceStore

pytestmark = pytest.mark.live
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}},
}
HEADERS = {"accept": "application/json, text/event-stream", "content-type": "application/json"}


async def _post(url: str, **headers: str) -> httpx2.Response:
    async with httpx2.AsyncClient() as client:
        return await client.post(url, json=INITIALIZE, headers={**HEADERS, **headers})


@contextlib.asynccontextmanager
async def _client(url: str, era: str, token: str = "") -> AsyncIterator[Client]:
    headers = {"authorization": f"Bearer {token}"} if token else {}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=30) as http,
        Client(streamable_http_client(url, http_client=http), mode=era) as client,
    ):
        yield client


@pytest.mark.parametrize("flags", [(), ("--stateless",)])
def test_clients_of_both_eras_are_served_with_and_without_sessions(
    tmp_path: Path, flags: tuple[str, ...]
) -> None:
    catalog = servers(one=entry(), two=entry("--era", "modern", "--name", "two"))

    async def main() -> list[Any]:
        seen = []
        async with serving_http(tmp_path, catalog, "--mode", "all", *flags) as (url, _):
            for era in ("legacy", MODERN):
                async with _client(url, era) as client:
                    listed = await client.list_tools()
                    result = await client.call_tool("two__table", {})
                    seen.append((len(listed.tools), result.structured_content, result.is_error))
        return seen

    older, modern = run(main())
    assert older == modern
    assert older[1] == {"rows": [{"id": 1, "none": None}]}


def test_a_foreign_host_or_origin_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    async def main() -> list[int]:
        async with serving_http(tmp_path, servers(one=entry()), "--mode", "all") as (url, _):
            answers = [
                await _post(url),
                await _post(url, host="evil.example"),
                await _post(url, origin="https://evil.example"),
                await _post(url, origin="http://localhost:3000"),
                await _post(url, origin="null"),
            ]
            return [answer.status_code for answer in answers]

    assert run(main()) == [200, 421, 403, 200, 403]


def test_tokens_decide_what_a_client_sees_and_may_call(tmp_path: Path) -> None:
    config = """
catalog: mcp.json
gateway:
  mode: all
  auth:
    tokens:
      - {name: reader, token: reader-token-1, allow: [echo, table]}
      - {name: writer, token: writer-token-1, deny: [die], per_minute: 3}
"""

    async def main() -> tuple[list[int], list[str], list[str], list[Any]]:
        async with serving_http(tmp_path, servers(one=entry()), config=config) as (url, _):
            refused = [
                await _post(url),
                await _post(url, authorization="Bearer wrong"),
                await _post(url, authorization="Basic x"),
            ]
            refused.append(await _post(url.replace("/mcp", "/metrics")))
            assert all("www-authenticate" in one.headers for one in refused)
            assert all("token-1" not in one.text for one in refused)
            async with _client(url, MODERN, "reader-token-1") as client:
                reads = [tool.name for tool in (await client.list_tools()).tools]
                denied = await client.call_tool("write", {})
            async with _client(url, "legacy", "writer-token-1") as client:
                writes = [tool.name for tool in (await client.list_tools()).tools]
                calls = [await client.call_tool("echo", {"text": str(number)}) for number in range(5)]
            texts = [denied.content[0].text, *(one.content[0].text for one in calls)]
            return [one.status_code for one in refused], reads, writes, texts

    refused, reads, writes, texts = run(main())
    assert refused == [401, 401, 401, 401]
    assert reads == ["echo", "table"]
    assert "write" in writes
    assert "die" not in writes
    assert "may not be used here" in texts[0]
    assert texts[1:4] == ["0", "1", "2"]
    assert all("too many calls" in text for text in texts[4:])
    with TraceStore.open(tmp_path / "traces.db", read_only=True) as store:
        clients = {trace.metadata["client"] for trace in store.iterate()}
    assert clients == {"reader", "writer"}


def test_a_session_is_bound_to_the_token_that_opened_it(tmp_path: Path) -> None:
    config = "catalog: mcp.json\ngateway: {mode: all, auth: {tokens: [{name: a, token: aaaa}, {name: b, token: bbbb}]}}\n"

    async def main() -> tuple[int, int]:
        async with serving_http(tmp_path, servers(one=entry()), config=config) as (url, _):
            opened = await _post(url, authorization="Bearer aaaa")
            session = opened.headers["mcp-session-id"]
            listing = {"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {}}
            async with httpx2.AsyncClient() as client:
                mine, theirs = [
                    await client.post(
                        url,
                        json=listing,
                        headers={**HEADERS, "authorization": f"Bearer {token}", "mcp-session-id": session},
                    )
                    for token in ("aaaa", "bbbb")
                ]
            return mine.status_code, theirs.status_code

    assert run(main()) == (200, 404)


@pytest.fixture
def issuer() -> Iterator[Any]:
    """An OAuth issuer: its address, and a function that signs tokens."""
    import jwt
    from cryptography.hazmat.primitives.asymmetric import rsa

    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    other = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    public = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(key.public_key()))
    document = json.dumps({"keys": [{**public, "kid": "k1", "use": "sig", "alg": "RS256"}]}).encode()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(document)

        def log_message(self, *_: Any) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()

    def sign(*, forged: bool = False, kid: str = "k1", **claims: Any) -> str:
        body = {
            "iss": address,
            "aud": "http://127.0.0.1/mcp",
            "sub": "ada",
            "exp": time.time() + 60,
            "scope": "tools",
            **claims,
        }
        body = {name: value for name, value in body.items() if value is not None}
        return jwt.encode(body, other if forged else key, algorithm="RS256", headers={"kid": kid})

    yield address, sign
    server.shutdown()
    server.server_close()
    thread.join()


def test_as_a_resource_server_only_sound_tokens_for_us_pass(tmp_path: Path, issuer: Any) -> None:
    import jwt

    address, sign = issuer
    config = f"""
catalog: mcp.json
gateway:
  mode: all
  auth:
    oauth: {{issuer: "{address}", jwks: "{address}/jwks", resource: "http://127.0.0.1/mcp", scopes: [tools]}}
"""
    tokens = {
        "sound": sign(),
        "forged": sign(forged=True),
        "expired": sign(exp=time.time() - 5),
        "for another": sign(aud="http://127.0.0.1/other"),
        "of another issuer": sign(iss="http://evil.example"),
        "endless": sign(exp=None),
        "unknown key": sign(kid="k2"),
        "unsigned": jwt.encode(
            {"iss": address, "aud": "http://127.0.0.1/mcp", "exp": time.time() + 60}, None, algorithm="none"
        ),
        "symmetric": jwt.encode(
            {"iss": address, "aud": "http://127.0.0.1/mcp", "exp": time.time() + 60},
            "x" * 32,
            headers={"kid": "k1"},
        ),
        "narrow": sign(scope="other"),
        "garbage": "x.y.z",
    }

    async def main() -> tuple[dict[str, int], str, Any]:
        async with serving_http(tmp_path, servers(one=entry()), config=config) as (url, _):
            found = {}
            for name, token in tokens.items():
                answer = await _post(url, authorization=f"Bearer {token}")
                found[name] = answer.status_code
            challenge = (await _post(url)).headers["www-authenticate"]
            async with httpx2.AsyncClient() as client:
                path = "/.well-known/oauth-protected-resource/mcp"
                document = (await client.get(url.replace("/mcp", path))).json()
            async with _client(url, MODERN, tokens["sound"]) as client:
                await client.call_tool("echo", {"text": "x"})
            return found, challenge, document

    found, challenge, document = run(main())
    assert found == {**dict.fromkeys(tokens, 401), "sound": 200, "narrow": 403}
    assert 'resource_metadata="http://127.0.0.1/.well-known/oauth-protected-resource/mcp"' in challenge
    assert document["authorization_servers"] == [address]
    with TraceStore.open(tmp_path / "traces.db", read_only=True) as store:
        assert [trace.metadata["client"] for trace in store.iterate()] == ["ada"]


def test_a_request_over_the_limit_is_refused_unread(tmp_path: Path) -> None:
    config = "catalog: mcp.json\ngateway: {mode: all, limits: {request_bytes: 20000}}\n"

    async def main() -> int:
        async with (
            serving_http(tmp_path, servers(one=entry()), config=config) as (url, _),
            httpx2.AsyncClient() as client,
        ):
            body = {**INITIALIZE, "params": {"x": "y" * 50_000}}
            return (await client.post(url, json=body, headers=HEADERS)).status_code

    assert run(main()) == 413


def test_operators_see_health_readiness_and_counts_without_arguments(tmp_path: Path) -> None:
    catalog = servers(one=entry(), gone={"command": "/no/such/program"})

    async def main() -> tuple[list[Any], str]:
        async with serving_http(tmp_path, catalog, "--mode", "all") as (url, _):
            base = url.removesuffix("/mcp")
            async with _client(url, MODERN) as client:
                await client.call_tool("echo", {"text": "secret-words"})
                await client.call_tool("fail", {"text": 'a "quoted" \\ line'})
            async with httpx2.AsyncClient() as client:
                health, ready = [(await client.get(base + path)).json() for path in ("/healthz", "/readyz")]
                return [health, ready], (await client.get(base + "/metrics")).text

    (health, ready), metrics = run(main())
    assert health == {"status": "ok"}
    assert ready["ready"] is True
    assert ready["servers"] == {"one": "running", "gone": "failing"}
    assert 'agent_reach_calls_total{server="one",status="ok",kind=""} 1' in metrics
    assert 'agent_reach_calls_total{server="one",status="failed",kind="tool_error"} 1' in metrics
    assert 'agent_reach_call_seconds_count{server="one"} 2' in metrics
    assert 'agent_reach_server_up{server="gone"} 0' in metrics
    assert "secret-words" not in metrics
    for line in metrics.splitlines():
        assert line.startswith("#") or len(line.rsplit(" ", 1)) == 2


@contextlib.asynccontextmanager
async def _http_server(*flags: str) -> AsyncIterator[str]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, str(TOOL_SERVER), "--http", *flags, stderr=asyncio.subprocess.PIPE
    )
    assert process.stderr is not None
    try:
        line = (await process.stderr.readline()).decode()
        yield f"http://127.0.0.1:{line.split()[1]}/mcp"
    finally:
        process.kill()
        await process.communicate()


def test_a_storm_of_429_is_waited_out_for_reading_tools_and_told_for_writing_ones(tmp_path: Path) -> None:
    async def main() -> list[Any]:
        async with (
            _http_server("--refuse", "2") as address,
            serving_http(tmp_path, servers(far={"url": address}), "--mode", "all") as (url, _),
            _client(url, MODERN) as client,
        ):
            return [await client.call_tool("echo", {"text": "through"})]

    async def refused() -> Any:
        async with (
            _http_server("--refuse", "99") as address,
            serving_http(tmp_path, servers(far={"url": address}), "--mode", "all") as (url, _),
            _client(url, "legacy") as client,
        ):
            return await client.call_tool("write", {})

    (through,) = run(main())
    assert through.content[0].text == "through"
    told = run(refused())
    assert told.is_error
    assert told.meta["io.github.agent-reach/outcome"]["kind"] == "rate_limited"


def test_the_token_of_a_client_is_forwarded_only_to_the_servers_named(tmp_path: Path) -> None:
    config = "catalog: mcp.json\ngateway: {mode: all, forward_tokens: [far], auth: {tokens: [{name: a, token: aaaa}, {name: b, token: bbbb}]}}\n"

    async def main() -> list[str]:
        seen = []
        async with _http_server() as one, _http_server("--name", "near") as two:
            catalog = servers(far={"url": one}, near={"url": two})
            async with serving_http(tmp_path, catalog, config=config) as (url, _):
                for token in ("aaaa", "bbbb", "aaaa"):
                    async with _client(url, MODERN, token) as client:
                        for tool in ("far__meta", "near__meta"):
                            result = await client.call_tool(tool, {})
                            seen.append(json.loads(result.content[0].text)["client"]["authorization"])
        return seen

    assert run(main()) == ["Bearer aaaa", "", "Bearer bbbb", "", "Bearer aaaa", ""]


def test_as_a_process_it_says_where_it_serves_and_ends_in_order(tmp_path: Path) -> None:
    async def main() -> tuple[int | None, list[int]]:
        async with http_process(tmp_path, servers(one=entry()), "--mode", "all") as (url, process):
            async with _client(url, MODERN) as client:
                assert (await client.call_tool("echo", {"text": "x"})).content[0].text == "x"
            children = children_of(process.pid)
            process.terminate()
            return await process.wait(), children

    code, children = run(main())
    assert code == 0
    assert len(children) == 1
    assert not any(alive(child) for child in children)
    with TraceStore.open(tmp_path / "traces.db", read_only=True) as store:
        assert len(list(store.iterate())) == 1
