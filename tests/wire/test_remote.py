"""Streamable HTTP and SSE on loopback: both eras, fall-back, statuses, progress, cancellation, size, dead servers."""

from __future__ import annotations

import asyncio
import dataclasses
import socket
from collections.abc import Iterator
from typing import Any

import pytest
from tests.wire.launching import http_server, run, serving

from agent_reach.errors import ServerError
from agent_reach.wire.failures import ConnectionLost, RequestRefused, RequestTimedOut
from agent_reach.wire.http_facts import proxy_for, retry_after_seconds
from agent_reach.wire.servers import ServerConfig
from agent_reach.wire.session import ServerSession, SessionOptions

QUICK = SessionOptions(startup_timeout=20, probe_timeout=5, list_retries=(), call_timeout=10)


def config(port: int, path: str = "/mcp", transport: Any = "auto", **fields: Any) -> ServerConfig:
    return ServerConfig(name="far", transport=transport, url=f"http://127.0.0.1:{port}{path}", **fields)


@pytest.fixture(scope="module")
def http_port() -> Iterator[int]:
    with serving("http") as port:
        yield port


@pytest.fixture(scope="module")
def json_port() -> Iterator[int]:
    with serving("http", "--json") as port:
        yield port


@pytest.fixture(scope="module")
def sse_port() -> Iterator[int]:
    with serving("sse") as port:
        yield port


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.mark.parametrize("answers", ["http_port", "json_port"])
@pytest.mark.parametrize("era", ["auto", "legacy"])
def test_streamable_http_in_both_eras(era: Any, answers: str, request: pytest.FixtureRequest) -> None:
    port = request.getfixturevalue(answers)

    async def main() -> None:
        async with ServerSession(config(port), dataclasses.replace(QUICK, era=era)) as session:
            assert session.protocol_version == ("2026-07-28" if era == "auto" else "2025-11-25")
            tools, findings = await session.list_tools()
            assert len(tools) == 7
            assert findings == ()
            answers = await asyncio.gather(*(session.call_tool("add", {"a": n, "b": 1}) for n in range(20)))
            assert [answer["structuredContent"]["result"] for answer in answers] == list(range(1, 21))
            assert (await session.call_tool("broken"))["isError"] is True
            big = await session.call_tool("big", {"size": 5_000_000})
            assert len(big["content"][0]["text"]) == 5_000_000

    run(main())


@pytest.mark.parametrize("transport", ["auto", "sse"])
def test_legacy_sse_is_found_by_falling_back(transport: str, sse_port: int) -> None:
    async def main() -> None:
        async with ServerSession(config(sse_port, "/sse", transport), QUICK) as session:
            assert session.protocol_version == "2025-11-25"
            tools, _ = await session.list_tools()
            assert len(tools) == 7
            answer = await session.call_tool("add", {"a": 1, "b": 1})
            assert answer["structuredContent"] == {"result": 2}

    run(main())


@pytest.mark.parametrize("era", ["auto", "legacy"])
def test_progress_extends_the_limit_and_giving_up_stops_the_server(era: Any, http_port: int) -> None:
    async def main() -> None:
        async with ServerSession(config(http_port), dataclasses.replace(QUICK, era=era)) as session:
            before = (await session.call_tool("history"))["structuredContent"]["result"]
            seen: list[Any] = []
            answer = await session.call_tool(
                "steps", {"count": 4, "gap": 0.4}, timeout=1.2, on_progress=seen.append
            )
            assert answer["content"][0]["text"] == "finished"
            assert [report["progress"] for report in seen] == [1, 2, 3, 4]
            with pytest.raises(RequestTimedOut):
                await session.call_tool("steps", {"count": 12, "gap": 0.1}, timeout=0.5, max_total=0.6)
            await asyncio.sleep(1.2)
            after = (await session.call_tool("history"))["structuredContent"]["result"]
            assert after == [*before, "steps"]

    run(main())


@pytest.mark.parametrize("transport", ["http", "sse"])
def test_http_statuses_reach_the_caller(transport: str, request: pytest.FixtureRequest) -> None:
    port = request.getfixturevalue(f"{transport}_port")
    path = "/mcp" if transport == "http" else "/sse"
    faults = (("429:5", 429, 5.0), ("503", 503, None), ("400", 400, None), ("401", 401, None))

    async def main() -> None:
        for fault, status, retry in faults:
            async with ServerSession(config(port, path, transport), QUICK) as session:
                with pytest.raises(RequestRefused) as caught:
                    await session.call_tool("limited", {"fault": fault})
                assert (caught.value.http_status, caught.value.retry_after) == (status, retry)
                answer = await session.call_tool("add", {"a": 1, "b": 1})
                assert answer["structuredContent"] == {"result": 2}

    run(main())


def test_headers_are_sent_and_missing_ones_are_a_refusal() -> None:
    async def main() -> None:
        async with http_server("http", "--token", "s3cret") as port:
            good = config(port, headers={"Authorization": "Bearer s3cret"})
            async with ServerSession(good, QUICK) as session:
                assert (await session.call_tool("add", {"a": 1, "b": 1}))["structuredContent"] == {
                    "result": 2
                }
            with pytest.raises(RequestRefused) as caught:
                await ServerSession(config(port), QUICK).open()
            assert caught.value.http_status == 401
            assert "s3cret" not in str(caught.value)

    run(main())


@pytest.mark.parametrize("transport", ["http", "sse", "auto"])
def test_nobody_there(transport: str) -> None:
    async def main() -> None:
        with pytest.raises(ServerError) as caught:
            await ServerSession(config(free_port(), transport=transport), QUICK).open()
        assert "ConnectError" in str(caught.value)

    run(main())


def test_a_server_that_goes_away_fails_the_next_call_as_never_sent() -> None:
    async def main() -> None:
        async with http_server("http") as port:
            session = ServerSession(config(port), QUICK)
            await session.open()
            await session.call_tool("add", {"a": 1, "b": 1})
        with pytest.raises(ConnectionLost) as caught:
            await session.call_tool("add", {"a": 1, "b": 1})
        assert not caught.value.sent
        await session.close()
        await session.close()

    run(main())


@pytest.mark.parametrize(
    ("transport", "path", "era"),
    [("http", "/mcp", "auto"), ("http", "/mcp", "legacy"), ("sse", "/sse", "auto")],
)
def test_a_server_killed_in_the_middle_of_a_call(transport: str, path: str, era: Any) -> None:
    async def main() -> None:
        async with http_server(transport) as port:
            session = ServerSession(config(port, path, transport), dataclasses.replace(QUICK, era=era))
            await session.open()
            waiting = asyncio.create_task(
                session.call_tool("steps", {"count": 1000, "gap": 0.05}, timeout=20)
            )
            await asyncio.sleep(0.5)
            assert not waiting.done()
        with pytest.raises(ConnectionLost) as caught:
            await waiting
        assert caught.value.sent
        await session.close()

    run(main())


def test_retry_after_reads_seconds_and_dates() -> None:
    assert retry_after_seconds("7") == 7
    assert retry_after_seconds("Sun, 06 Nov 1994 08:49:37 GMT", now=784111770.0) == 7
    assert retry_after_seconds("Sun, 06 Nov 1994 08:49:37 GMT") == 0
    for odd in ("", None, "soon", "inf", "nan-ish"):
        assert retry_after_seconds(odd) is None


def test_proxies_come_from_the_servers_environment() -> None:
    env = {
        "https_proxy": "http://proxy:3128",
        "HTTP_PROXY": "http://plain:1",
        "NO_PROXY": "inside.example, .corp",
    }
    assert proxy_for("https://api.example.org/mcp", env) == "http://proxy:3128"
    assert proxy_for("http://api.example.org/mcp", env) == "http://plain:1"
    assert proxy_for("https://inside.example/mcp", env) is None
    assert proxy_for("https://a.b.corp/mcp", env) is None
    assert proxy_for("https://notcorp/mcp", env) == "http://proxy:3128"
    assert proxy_for("http://127.0.0.1:9/mcp", env) is None
    assert proxy_for("http://x/", {}) is None
