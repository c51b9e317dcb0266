"""Sessions with real processes: both eras, paging, noise, ids, limits, progress, cancellation, the end of processes."""

from __future__ import annotations

import asyncio
import json
import os
import time
from pathlib import Path
from typing import Any

import pytest
from tests.wire.launching import alive, packaged_server, raw_server, run

from agent_reach.errors import ServerError
from agent_reach.wire import protocol
from agent_reach.wire.failures import ConnectionLost, RequestRefused, RequestTimedOut
from agent_reach.wire.servers import ServerConfig
from agent_reach.wire.session import ServerSession, SessionOptions

QUICK = SessionOptions(
    startup_timeout=20, probe_timeout=0.5, list_retries=(0.05, 0.05, 0.05), close_grace=0.3, call_timeout=10
)


def text_of(result: Any) -> Any:
    return json.loads(result["content"][0]["text"])


def test_constants_are_those_of_the_protocol_package() -> None:
    import mcp_types
    from mcp_types import version

    assert protocol.HANDSHAKE_VERSIONS == version.HANDSHAKE_PROTOCOL_VERSIONS
    assert protocol.MODERN_VERSIONS == version.MODERN_PROTOCOL_VERSIONS
    for ours, theirs in (
        ("PROTOCOL_VERSION_META", "PROTOCOL_VERSION_META_KEY"),
        ("CLIENT_INFO_META", "CLIENT_INFO_META_KEY"),
        ("CLIENT_CAPABILITIES_META", "CLIENT_CAPABILITIES_META_KEY"),
        ("SERVER_INFO_META", "SERVER_INFO_META_KEY"),
        ("UNSUPPORTED_PROTOCOL_VERSION", "UNSUPPORTED_PROTOCOL_VERSION"),
        ("METHOD_NOT_FOUND", "METHOD_NOT_FOUND"),
        ("INVALID_PARAMS", "INVALID_PARAMS"),
        ("INTERNAL_ERROR", "INTERNAL_ERROR"),
        ("INVALID_REQUEST", "INVALID_REQUEST"),
    ):
        assert getattr(protocol, ours) == getattr(mcp_types, theirs)


@pytest.mark.parametrize(
    ("era", "version"),
    [
        ("legacy", "2025-11-25"),
        ("modern", "2026-07-28"),
        ("both", "2026-07-28"),
        ("crash-on-discover", "2025-11-25"),
        ("silent-on-discover", "2025-11-25"),
    ],
)
def test_the_era_is_found_by_itself(era: str, version: str) -> None:
    async def main() -> None:
        async with ServerSession(raw_server("--era", era), QUICK) as session:
            assert session.protocol_version == version
            assert session.modern == (version == "2026-07-28")
            assert session.info["name"] == "raw"
            tools, findings = await session.list_tools()
            assert len(tools) == 15
            assert findings == ()
            result = await session.call_tool("echo", {"词": "值"})
            assert text_of(result) == {"词": "值"}

    run(main())


def test_a_modern_server_that_starts_slower_than_the_question_waits_is_asked_again() -> None:
    async def main() -> None:
        config = raw_server("--era", "modern", "--handshake-delay", "0.8")
        async with ServerSession(config, QUICK) as session:
            assert session.protocol_version == "2026-07-28"

    run(main())


def test_the_packages_own_server() -> None:
    async def main() -> None:
        async with ServerSession(packaged_server()) as session:
            assert session.protocol_version == "2026-07-28"
            tools, _ = await session.list_tools()
            assert {tool["name"] for tool in tools} >= {"add", "order", "broken"}
            result = await session.call_tool("add", {"a": 2, "b": 3})
            assert result["structuredContent"] == {"result": 5}
            assert (await session.call_tool("broken"))["isError"] is True
        async with ServerSession(packaged_server(), SessionOptions(era="legacy")) as session:
            assert session.protocol_version == "2025-11-25"
            assert (await session.call_tool("add", {"a": 2, "b": 3}))["structuredContent"] == {"result": 5}

    run(main())


def test_the_environment_of_a_server_is_what_its_entry_says(tmp_path: Path) -> None:
    async def main() -> None:
        config = raw_server(cwd=str(tmp_path))
        async with ServerSession(config, QUICK) as session:
            seen = text_of(await session.call_tool("env", {"names": ["PATH", "HOME"]}))
            assert seen == {"PATH": os.environ["PATH"], "HOME": None, "cwd": str(tmp_path)}

    run(main())


@pytest.mark.parametrize(
    ("config", "said"),
    [
        (ServerConfig(name="x", command="no-such-program-here"), "was not found"),
        (ServerConfig(name="x", command="/bin/sh -c 'exit 3'"), "was not found"),
        (raw_server("--dead"), "cannot read the licence file"),
        (raw_server(cwd="/no/such/folder"), "does not exist"),
        (raw_server("--mute", startup_timeout=0.6), "not ready within 0.6 s"),
    ],
)
def test_a_server_that_does_not_start_says_why(config: ServerConfig, said: str) -> None:
    async def main() -> None:
        with pytest.raises(ServerError) as caught:
            await ServerSession(config, QUICK).open()
        assert said in str(caught.value)
        assert config.name in caught.value.where

    run(main())


def test_exit_code_and_banner_are_told() -> None:
    async def main() -> None:
        with pytest.raises(ServerError, match="exit code 3"):
            await ServerSession(raw_server("--dead"), QUICK).open()
        with pytest.raises(ServerError, match="starting up"):
            await ServerSession(raw_server("--banner", "--mute", startup_timeout=0.5), QUICK).open()

    run(main())


def test_killed_while_listing_is_an_error_with_its_words() -> None:
    async def main() -> None:
        session = ServerSession(raw_server("--die-while-listing"), QUICK)
        async with session:
            with pytest.raises(ServerError) as caught:
                await session.list_tools()
            assert "SIGKILL" in str(caught.value)
            assert "killed while listing" in str(caught.value)
            assert not session.alive

    run(main())


def test_a_page_that_never_comes_keeps_the_pages_before_it() -> None:
    pages = [{"tools": [{"name": "a"}], "nextCursor": "2"}, {"tools": [{"name": "b"}]}]

    async def main() -> None:
        config = raw_server("--pages", json.dumps(pages), "--hang-page", "2", startup_timeout=1.0)
        async with ServerSession(config, QUICK) as session:
            tools, findings = await session.list_tools()
            assert [tool["name"] for tool in tools] == ["a"]
            assert [finding.code for finding in findings] == ["list_page_failed"]

    run(main())


def test_concurrent_calls_get_their_own_answers() -> None:
    async def main() -> None:
        async with ServerSession(raw_server("--wrong-ids", "--noise"), QUICK) as session:
            slow = asyncio.create_task(session.call_tool("slow", {"seconds": 0.2, "tag": "S"}))
            others = [session.call_tool("echo", {"n": n}) for n in range(200)]
            answers = await asyncio.gather(*others)
            assert [text_of(answer)["n"] for answer in answers] == list(range(200))
            assert (await slow)["content"][0]["text"] == "slow S"
            codes = {finding.code: finding for finding in session.findings}
            assert codes["unknown_answer"].data["ids"][0] == 99999
            assert "stdout_noise" in codes

    run(main())


def test_five_megabytes_in_one_answer_and_in_one_request() -> None:
    async def main() -> None:
        async with ServerSession(raw_server(), QUICK) as session:
            result = await session.call_tool("big", {"bytes": 5_000_000})
            assert len(result["content"][0]["text"]) == 5_000_000
            result = await session.call_tool("echo", {"x": "y" * 5_000_000})
            assert len(text_of(result)["x"]) == 5_000_000

    run(main())


def test_a_call_that_kills_the_server_is_lost_after_sending(tmp_path: Path) -> None:
    async def main() -> None:
        log = tmp_path / "log"
        async with ServerSession(raw_server(), QUICK) as session:
            waiting = asyncio.create_task(session.call_tool("never"))
            await asyncio.sleep(0.05)
            with pytest.raises(ConnectionLost) as caught:
                await session.call_tool("drop", {"log": str(log)})
            assert caught.value.sent
            assert "exit code 7" in caught.value.message
            assert log.read_text() == "executed\n"
            with pytest.raises(ConnectionLost):
                await waiting
            assert "disk on fire" in session.stderr_tail()
            with pytest.raises(ConnectionLost) as later:
                await session.call_tool("echo")
            assert not later.value.sent

    run(main())


def test_refusals_keep_code_and_data() -> None:
    async def main() -> None:
        async with ServerSession(raw_server(), QUICK) as session:
            with pytest.raises(RequestRefused) as caught:
                await session.call_tool("rpc_error", {"code": -32050, "message": "no", "data": {"a": 1}})
            assert (caught.value.code, caught.value.message, caught.value.data) == (-32050, "no", {"a": 1})

    run(main())


def test_what_the_server_asks_is_answered() -> None:
    async def answer(method: str, params: Any) -> dict[str, Any]:
        if method != "roots/list":
            raise RequestRefused("not here", code=-32601)
        return {"roots": [{"uri": "file:///x"}]}

    async def main() -> None:
        async with ServerSession(raw_server(), QUICK) as session:
            assert text_of(await session.call_tool("ask", {"method": "ping"})) == {"result": {}}
            refused = text_of(await session.call_tool("ask", {"method": "sampling/createMessage"}))
            assert refused["error"]["code"] == -32601
        import dataclasses

        options = dataclasses.replace(QUICK, on_request=answer, capabilities={"roots": {}})
        async with ServerSession(raw_server(), options) as session:
            roots = text_of(await session.call_tool("ask", {"method": "roots/list"}))
            assert roots == {"result": {"roots": [{"uri": "file:///x"}]}}

    run(main())


def test_processes_end_with_the_session_and_take_their_children_along() -> None:
    async def main() -> None:
        for flags in ((), ("--child",), ("--ignore-eof",), ("--child", "--ignore-eof")):
            async with ServerSession(raw_server(*flags), QUICK) as session:
                process_id = int((await session.call_tool("pid"))["content"][0]["text"])
                assert process_id == session.process_id
                assert alive(process_id)
                group = _group(process_id)
                assert len(group) == (2 if "--child" in flags else 1)
            deadline = time.monotonic() + 5
            while any(alive(member) for member in group) and time.monotonic() < deadline:
                await asyncio.sleep(0.02)
            assert [member for member in group if alive(member)] == []

    run(main())


def test_a_cancelled_caller_leaves_no_process() -> None:
    async def main() -> None:
        started: list[int] = []

        async def use() -> None:
            async with ServerSession(raw_server("--ignore-eof"), QUICK) as session:
                started.append(session.process_id or 0)
                await session.call_tool("never")

        task = asyncio.create_task(use())
        while not started:
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert not alive(started[0])

    run(main())


def test_time_out_while_starting_leaves_no_process() -> None:
    async def main() -> None:
        before = set(_children())
        with pytest.raises(ServerError):
            await ServerSession(raw_server("--mute", "--ignore-eof", startup_timeout=0.4), QUICK).open()
        assert [child for child in set(_children()) - before if alive(child)] == []

    run(main())


def test_a_time_out_names_elapsed_and_limit() -> None:
    async def main() -> None:
        async with ServerSession(raw_server(), QUICK) as session:
            with pytest.raises(RequestTimedOut) as caught:
                await session.call_tool("never", timeout=0.2)
            assert caught.value.limit == 0.2
            assert caught.value.elapsed >= 0.2

    run(main())


def _group(group_id: int) -> list[int]:
    return [process for process, group in _processes() if group == group_id]


def _children() -> list[int]:
    mine = os.getpid()
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(fields[1]) == mine:
            found.append(int(stat.parent.name))
    return found


def _processes() -> list[tuple[int, int]]:
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        found.append((int(stat.parent.name), int(fields[2])))
    return found
