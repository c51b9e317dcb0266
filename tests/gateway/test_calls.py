"""What clients of either era get through the gateway from servers of either era."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from tests.gateway.launching import LEGACY, MODERN, call, caller, entry, gateway, run, said, servers

from agent_reach.gateway.answers import GatewayError
from agent_reach.gateway.calls import is_only_unknown
from agent_reach.gateway.eras import client_result
from agent_reach.records.trace import ArgumentProblem
from agent_reach.traces.store.base import TraceStore
from agent_reach.wire.servers import parse_servers
from agent_reach.wire.session import ServerSession

CALLS: list[tuple[str, dict[str, Any]]] = [
    ("echo", {"text": "a \u0000 b 中文 😀 \u2028"}),
    ("rich", {}),
    ("table", {}),
    ("fail", {"text": "record 12 is locked"}),
    ("big", {"bytes": 300_000}),
    ("noise", {}),
]


async def _direct(flags: tuple[str, ...], calls: list[tuple[str, dict[str, Any]]]) -> list[Any]:
    (config,) = parse_servers(servers(one=entry(*flags)), {})
    async with ServerSession(config) as session:
        await session.list_tools()
        return [await session.call_tool(name, arguments) for name, arguments in calls]


@pytest.mark.parametrize("era", ["legacy", "modern"])
@pytest.mark.parametrize("version", [LEGACY, MODERN])
def test_results_are_those_of_a_direct_connection(tmp_path: Path, era: str, version: str) -> None:
    calls = [*CALLS, ("rows", {})] if era == "modern" else CALLS

    async def main() -> tuple[list[Any], list[Any]]:
        direct = await _direct(("--era", era), calls)
        async with gateway(tmp_path, servers(one=entry("--era", era))) as built:
            through = [await call(built, name, arguments, caller(version)) for name, arguments in calls]
        return direct, through

    direct, through = run(main())
    assert len(direct) == len(calls)
    for (name, _), expected, got in zip(calls, direct, through, strict=True):
        if name == "rows" and version == LEGACY:  # the older era allows objects only
            assert "structuredContent" not in got
            assert json.loads(said(got)) == [1, 2, 3]
            continue
        for key in ("content", "structuredContent", "isError"):
            assert got.get(key) == expected.get(key), (name, key)
        assert ("resultType" in got) == (version == MODERN)


def test_errors_of_servers_keep_code_message_and_data(tmp_path: Path) -> None:
    async def main() -> list[GatewayError]:
        found = []
        async with gateway(tmp_path, servers(one=entry())) as built:
            for arguments in ({}, {"code": -32603}, {"code": 418}):
                with pytest.raises(GatewayError) as caught:
                    await call(built, "refuse", arguments)
                found.append(caught.value)
        return found

    errors = run(main())
    assert [error.code for error in errors] == [-32050, -32603, 418]
    assert {error.message for error in errors} == {"the server refuses"}
    assert all(error.data == {"detail": [1, 2]} for error in errors)


def test_each_call_leaves_one_trace_with_what_was_meant_and_sent(tmp_path: Path) -> None:
    async def main() -> None:
        async with gateway(tmp_path, servers(one=entry()), mode="search") as built:
            await call(built, "find", {"query": "give a text back"})
            await call(built, "call_read", {"name": "echo", "arguments": {"text": "x"}})
            await call(built, "echo", {"text": "y"})
            await call(built, "call_write", {"name": "fail", "arguments": {}})
            with pytest.raises(GatewayError):
                await call(built, "nothing_like_it", {})

    run(main())
    with TraceStore.open(tmp_path / "traces.db", read_only=True) as store:
        traces = sorted(store.iterate(), key=lambda trace: trace.started_at or 0)
    calls = [one for trace in traces for one in trace.calls]
    assert [one.name for one in calls] == ["echo", "echo", "fail", "nothing_like_it"]
    assert [one.tool for one in calls] == ["one/echo", "one/echo", "one/fail", None]
    assert [one.metadata.get("via") for one in calls] == ["call_read", None, "call_write", None]
    assert [one.outcome.status for one in calls if one.outcome] == ["ok", "ok", "failed", "failed"]
    assert calls[0].arguments == {"text": "x"}
    search = traces[0]
    assert search.query == "give a text back"
    assert "one/echo" in [candidate.tool for candidate in search.steps[0].candidates]
    assert all(trace.query == search.query for trace in traces)
    assert all(len(trace.calls) == 1 for trace in traces[1:])


def test_illegal_arguments_are_refused_with_all_problems_and_never_sent(tmp_path: Path) -> None:
    async def main() -> dict[str, Any]:
        async with gateway(tmp_path, servers(one=entry())) as built:
            return await call(built, "remind", {"priority": "sometime"})

    result = run(main())
    assert result["isError"] is True
    assert "day" in said(result)
    assert "priority" in said(result)
    assert result["_meta"]["io.github.agent-reach/outcome"] == {
        "status": "failed",
        "kind": "argument",
        "sent": False,
    }


def test_arguments_that_a_schema_neither_knows_nor_forbids_are_passed_on(tmp_path: Path) -> None:
    async def main() -> dict[str, Any]:
        async with gateway(tmp_path, servers(one=entry())) as built:
            return await call(built, "remind", {"day": "2026-03-05", "colour": "red"})

    assert json.loads(said(run(main()))) == {"day": "2026-03-05", "colour": "red"}
    with TraceStore.open(tmp_path / "traces.db", read_only=True) as store:
        (trace,) = store.iterate()
    assert [problem.code for problem in trace.calls[0].problems] == ["unknown_argument"]


@pytest.mark.parametrize(
    ("schema", "pointer", "passes"),
    [
        ({"type": "object"}, "/a", True),
        ({"type": "object", "additionalProperties": False}, "/a", False),
        ({"properties": {"f": {"type": "object"}}}, "/f/a", True),
        ({"properties": {"f": {"additionalProperties": False}}}, "/f/a", False),
        ({"properties": {"l": {"items": {"type": "object"}}}}, "/l/0/a", True),
        ({"anyOf": [{"type": "object"}]}, "/a", False),
    ],
)
def test_forbidding_is_read_where_the_argument_stands(schema: Any, pointer: str, passes: bool) -> None:
    assert is_only_unknown(ArgumentProblem(code="unknown_argument", pointer=pointer), schema) is passes
    assert is_only_unknown(ArgumentProblem(code="wrong_type", pointer=pointer), schema) is False


def test_arguments_are_made_legal_and_the_change_is_traced(tmp_path: Path) -> None:
    async def main() -> list[dict[str, Any]]:
        async with gateway(tmp_path, servers(one=entry())) as built:
            return [
                await call(built, "remind", {"day": "2026/3/5"}),
                await call(built, "slow", {"seconds": "0.01"}),
            ]

    day, slow = run(main())
    assert json.loads(said(day)) == {"day": "2026-03-05"}
    assert said(slow) == "waited 0.01"
    with TraceStore.open(tmp_path / "traces.db", read_only=True) as store:
        by_tool = {trace.calls[0].tool: trace.calls[0] for trace in store.iterate()}
    assert by_tool["one/remind"].arguments == {"day": "2026/3/5"}
    assert by_tool["one/remind"].sent_arguments == {"day": "2026-03-05"}
    assert by_tool["one/remind"].changes


@pytest.mark.parametrize("version", [LEGACY, MODERN])
@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_progress_arrives_in_order_before_the_result(tmp_path: Path, era: str, version: str) -> None:
    async def main() -> list[Any]:
        seen: list[Any] = []

        async def report(progress: Any) -> None:
            await asyncio.sleep(0)
            seen.append(progress["progress"])

        async with gateway(tmp_path, servers(one=entry("--era", era))) as built:
            await call(built, "steps", {"count": 5}, caller(version, report=report))
        return seen

    assert run(main()) == [1, 2, 3, 4, 5]


def test_a_client_that_cancels_stops_the_server_and_is_traced_as_cancelled(tmp_path: Path) -> None:
    state = tmp_path / "state"

    async def main() -> str:
        async with gateway(tmp_path, servers(one=entry("--state", str(state)))) as built:
            task = asyncio.ensure_future(call(built, "hang"))
            while not state.exists():
                await asyncio.sleep(0.02)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            return said(await call(built, "echo", {"text": "still there"}))

    assert run(main()) == "still there"
    assert Path(str(state) + ".cancelled").exists()
    with TraceStore.open(tmp_path / "traces.db", read_only=True) as store:
        kinds = [trace.calls[0].outcome.error_kind for trace in store.iterate() if trace.calls[0].outcome]
    assert sorted(map(str, kinds)) == ["None", "cancelled"]


def test_meta_of_the_client_reaches_the_server_and_reserved_keys_do_not(tmp_path: Path) -> None:
    async def main() -> dict[str, Any]:
        meta = {"example.org/tenant": "t1", "io.modelcontextprotocol/protocolVersion": MODERN}
        async with gateway(tmp_path, servers(one=entry())) as built:
            result = await call(built, "meta", {}, caller(MODERN), _meta=meta)
            return json.loads(said(result))["meta"]

    meta = run(main())
    assert meta["example.org/tenant"] == "t1"
    assert "io.modelcontextprotocol/protocolVersion" not in meta


def test_a_result_over_the_cap_is_cut_readably_and_kept_whole(tmp_path: Path) -> None:
    async def main() -> tuple[dict[str, Any], dict[str, Any]]:
        async with gateway(tmp_path, servers(one=entry()), limits={"result_bytes": 25_000}) as built:
            cut = await call(built, "big", {"bytes": 400_000})
            uri = "agent-reach://result/result-1"
            return cut, await built.handle("resources/read", {"uri": uri}, caller())

    cut, whole = run(main())
    assert len(said(cut).encode()) <= 25_000
    assert "result-1" in said(cut)
    assert len(whole["contents"][0]["text"]) == 400_000


def test_a_large_result_passes_whole_and_its_trace_keeps_the_beginning(tmp_path: Path) -> None:
    async def main() -> dict[str, Any]:
        async with gateway(tmp_path, servers(one=entry())) as built:
            return await call(built, "big", {"bytes": 5_000_000})

    assert len(said(run(main()))) == 5_000_000
    with TraceStore.open(tmp_path / "traces.db", read_only=True) as store:
        (trace,) = store.iterate()
    outcome = trace.calls[0].outcome
    assert outcome is not None
    assert outcome.truncated
    assert len(outcome.text) <= 64 * 1024
    assert outcome.metadata["original_bytes"] == 5_000_000


@pytest.mark.parametrize("mode", ["all", "search"])
def test_the_same_failing_call_is_stopped_after_three_rounds(tmp_path: Path, mode: str) -> None:
    state = tmp_path / "state"

    async def main() -> list[dict[str, Any]]:
        async with gateway(tmp_path, servers(one=entry("--state", str(state))), mode=mode) as built:
            results = [await call(built, "fail", {"text": "same"}) for _ in range(50)]
            results += [await call(built, "echo", {"text": "same"}) for _ in range(10)]
        return results

    results = run(main())
    assert state.read_text() == "3"
    assert "3 times" in said(results[3])
    assert all(not one.get("isError") for one in results[50:])


def test_between_the_eras_reserved_fields_do_not_leak() -> None:
    modern = {
        "resultType": "complete",
        "content": [],
        "ttlMs": 5,
        "cacheScope": "public",
        "_meta": {"io.modelcontextprotocol/serverInfo": {}, "example.org/x": 1},
    }
    older = client_result("tools/call", modern, LEGACY, {})
    assert older == {"content": [], "_meta": {"example.org/x": 1}}
    listed = client_result("tools/list", {"tools": []}, MODERN, {"name": "g"})
    assert listed["ttlMs"] == 0
    assert listed["cacheScope"] == "private"
    assert listed["_meta"] == {"io.modelcontextprotocol/serverInfo": {"name": "g"}}
    oldest = client_result(
        "tools/call",
        {
            "content": [
                {"type": "resource_link", "uri": "a://b", "name": "n"},
                {"type": "audio", "mimeType": "audio/wav", "data": ""},
            ]
        },
        "2024-11-05",
        {},
    )
    assert [block["type"] for block in oldest["content"]] == ["text", "text"]
