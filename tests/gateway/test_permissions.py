"""The permission mask over real clients: what is not granted is not listed, not found, not described, not executed."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from tests.gateway.launching import MODERN, entry, run, servers, serving_http

from agent_reach.cli.main import run_command_line
from agent_reach.config.project import load_project
from agent_reach.errors import ConfigError
from agent_reach.gateway.settings import gateway_settings
from agent_reach.gateway.start import build_gateway
from agent_reach.traces.store.base import TraceStore

pytestmark = pytest.mark.live
OVERLAY = """
tools:
  one/write: {needs: {scopes: ["stock:write"], services: [stock]}}
  one/echo: {needs: {scopes: ["stock:read"]}}
  one/table: {needs: {env: [TABLE_KEY]}}
"""
ENVIRONMENTS = """
environments:
  reading: {scopes: ["stock:r*"], services: [stock]}
  writing: {scopes: ["stock:*"], services: [stock], env: [TABLE_KEY]}
"""


def written(folder: Path, gateway: str, more: str = "") -> Path:
    (folder / "overlay.yaml").write_text(OVERLAY)
    (folder / "mcp.json").write_text(json.dumps(servers(one=entry("--state", str(folder / "state")))))
    file = folder / "reach.yaml"
    file.write_text(
        f"catalog: mcp.json\noverlay: overlay.yaml\nstore: traces.db\ngateway: {gateway}\n{ENVIRONMENTS}{more}"
    )
    return file


@contextlib.asynccontextmanager
async def on_stdio(folder: Path, era: str) -> AsyncIterator[Client]:
    import sys

    parameters = StdioServerParameters(
        command=sys.executable, args=["-m", "agent_reach", "serve"], cwd=folder, env=dict(os.environ)
    )
    with (folder / "stderr.txt").open("w") as errors:
        async with Client(stdio_client(parameters, errlog=errors), mode=era) as client:
            yield client


@contextlib.asynccontextmanager
async def over_http(url: str, token: str) -> AsyncIterator[Client]:
    headers = {"authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=30) as http,
        Client(streamable_http_client(url, http_client=http), mode=MODERN) as client,
    ):
        yield client


def executions(folder: Path) -> int:
    state = folder / "state"
    return len(state.read_text().split()) if state.exists() else 0


@pytest.mark.parametrize("era", ["legacy", MODERN])
def test_a_tool_whose_needs_are_not_granted_cannot_be_reached_by_any_door(tmp_path: Path, era: str) -> None:
    written(
        tmp_path, "{mode: search, environment: reading, pins: [one/write, one/echo], deny: [nobody_has_this]}"
    )

    async def main() -> dict[str, Any]:
        seen: dict[str, Any] = {}
        async with on_stdio(tmp_path, era) as client:
            seen["listed"] = [tool.name for tool in (await client.list_tools()).tools]
            found = await client.call_tool("find", {"query": "write: count one execution", "count": 20})
            seen["found"] = [one["name"] for one in found.structured_content["tools"]]
            for door, arguments in (
                ("write", {"text": "x"}),
                ("call_write", {"name": "write", "arguments": {"text": "x"}}),
                ("call_write", {"name": "one/write", "arguments": {"text": "x"}}),
                ("call_read", {"name": "one__table"}),
                ("describe", {"name": "Write"}),
            ):
                result = await client.call_tool(door, arguments)
                seen[f"{door} {arguments.get('name', '')}"] = (result.is_error, result.content[0].text)
            seen["echo"] = (await client.call_tool("echo", {"text": "granted"})).content[0].text
        return seen

    seen = run(main())
    assert seen.pop("listed") == ["find", "describe", "call_read", "call_write", "echo"]
    found = seen.pop("found")
    assert "echo" in found
    assert not {"write", "table"} & set(found)
    assert seen.pop("echo") == "granted"
    table = seen.pop("call_read one__table")
    assert table == (
        True,
        "one/table may not be used here: it needs variable TABLE_KEY, which is not granted in reading",
    )
    told = "one/write may not be used here: it needs scope stock:write, which is not granted in reading"
    assert seen == dict.fromkeys(seen, (True, told))
    assert len(seen) == 4
    assert executions(tmp_path) == 0
    assert "nobody_has_this" in (tmp_path / "stderr.txt").read_text()
    with TraceStore.open(tmp_path / "traces.db", read_only=True) as store:
        refused = [trace for trace in store.iterate() for one in trace.calls if one.tool == "one/write"]
    assert len(refused) == 3
    for trace in refused:
        assert trace.calls[0].outcome.error_kind == "permission"
        assert not trace.calls[0].outcome.reached_backend
        assert trace.permissions_missing["one/write"] == ("scope stock:write",)
        assert trace.exposure.hidden["one/write"] == "permission"


def test_each_client_acts_in_its_own_environment_and_with_its_own_scopes(tmp_path: Path) -> None:
    gateway = """
  mode: all
  environment: reading
  auth:
    tokens:
      - {name: plain, token: plain-token-1}
      - {name: writer, token: writer-token-1, environment: writing}
      - {name: scoped, token: scoped-token-1, scopes: ["stock:write", "other:thing"]}
      - {name: none, token: none-token-1, scopes: []}
"""
    written(tmp_path, gateway)
    text = (tmp_path / "reach.yaml").read_text()
    catalog = json.loads((tmp_path / "mcp.json").read_text())

    async def main() -> dict[str, Any]:
        seen: dict[str, Any] = {}
        async with serving_http(tmp_path, catalog, config=text.replace("store: traces.db\n", "")) as (url, _):
            for name in ("plain", "writer", "scoped", "none"):
                async with over_http(url, f"{name}-token-1") as client:
                    names = {tool.name for tool in (await client.list_tools()).tools}
                    done = await client.call_tool("write", {"text": name})
                    seen[name] = (sorted(names & {"write", "echo", "table"}), done.content[0].text)
        return seen

    seen = run(main())
    refusal = "one/write may not be used here: it needs scope stock:write, which is not granted in reading"
    assert seen == {
        "plain": (["echo"], refusal),
        "writer": (["echo", "table", "write"], "execution 1"),
        "scoped": (["write"], "execution 2"),
        "none": ([], refusal),
    }
    assert executions(tmp_path) > 0


def test_the_scopes_of_an_oauth_token_are_those_it_grants(tmp_path: Path) -> None:
    import time

    import jwt
    from cryptography.hazmat.primitives.asymmetric import rsa

    from agent_reach.gateway.guard import Guard
    from agent_reach.gateway.metrics import Metrics

    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    gateway = """
  mode: all
  environment: writing
  auth: {oauth: {issuer: https://id, jwks: https://id/jwks, resource: https://us/mcp, token_scopes: true}}
"""
    made = load_project(written(tmp_path, gateway), {})
    settings = gateway_settings(made, {})
    guard = Guard(None, settings, Metrics(), frozenset())

    class Known:
        key = None

        async def key(self, number: str) -> Any:  # noqa: F811
            return type("Key", (), {"key": key_public})

    key_public = key.public_key()
    guard._keys = Known()  # type: ignore[assignment]

    def token(scope: str) -> str:
        claims = {
            "iss": "https://id",
            "aud": "https://us/mcp",
            "exp": time.time() + 60,
            "sub": "ann",
            "scope": scope,
        }
        return jwt.encode(claims, key, algorithm="RS256", headers={"kid": "1"})

    async def main() -> list[Any]:
        built = build_gateway(made, settings, dict(os.environ))
        try:
            await built.servers.known(30)
            seen = []
            for scope in ("openid stock:read", "stock:write profile", "stock:write mail", ""):
                found: Any = await guard._who({"authorization": f"Bearer {token(scope)}"})
                view = built.view(found[0])
                names = {tool.name for tool in view.visible} & {"write", "echo", "table"}
                seen.append((found[0].name, sorted(names), id(view)))
            return seen
        finally:
            await built.close()

    read, write, more, nothing = run(main())
    assert read[:2] == ("ann", ["echo", "table"])
    assert write[:2] == ("ann", ["table", "write"])
    assert more[2] == write[2]  # scopes that no tool needs make no view of their own
    assert nothing[:2] == ("ann", ["table"])


@pytest.mark.parametrize(
    ("gateway", "more"),
    [
        ("{environment: raeding}", ""),
        ("{}", "reach: {environment: raeding}\n"),
        ("{auth: {tokens: [{name: a, token: aaaa, environment: raeding}]}}", ""),
    ],
)
def test_an_environment_that_does_not_exist_never_grants_everything(
    tmp_path: Path, gateway: str, more: str
) -> None:
    made = load_project(written(tmp_path, gateway, more), {})
    with pytest.raises(ConfigError, match="raeding"):
        gateway_settings(made, {})


def test_the_environment_of_the_reach_layer_holds_for_the_gateway(tmp_path: Path) -> None:
    made = load_project(written(tmp_path, "{}", "reach: {environment: reading}\n"), {})
    assert gateway_settings(made, {}).environment == "reading"


def test_the_map_and_the_gateway_block_the_same_tools(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made = load_project(written(tmp_path, "{environment: reading}"), {})

    async def main() -> dict[str, tuple[str, ...]]:
        built = build_gateway(made, gateway_settings(made, {}), dict(os.environ))
        try:
            await built.servers.known(30)
            return built.view(built.anybody).lacks
        finally:
            await built.close()

    lacks = run(main())
    monkeypatch.chdir(tmp_path)
    run_command_line(["map", "--environment", "reading", "--json"])
    document = json.loads(capsys.readouterr().out)
    blocked = json.dumps(document)
    assert set(lacks) == {"one/write", "one/table"}
    assert "scopes:stock:write" in blocked
    assert "env:TABLE_KEY" in blocked
    assert "scopes:stock:read" not in blocked
