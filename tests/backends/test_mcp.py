"""Calls on live servers: outcomes of every way to fail, and what comes after."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import time
from pathlib import Path
from typing import Any

import pytest
from tests.wire.launching import alive, http_server, raw_server, run

from agent_reach.backends.base import Backend
from agent_reach.backends.limits import LimitsBackend
from agent_reach.backends.mcp import McpBackend
from agent_reach.records.tool import Tool
from agent_reach.records.trace import CallOutcome
from agent_reach.wire.servers import ServerConfig
from agent_reach.wire.session import SessionOptions

CASES = {
    case["id"]: case
    for case in map(
        json.loads, (Path(__file__).parent / "cases.jsonl").read_text(encoding="utf-8").splitlines()
    )
}
QUICK = SessionOptions(startup_timeout=20, probe_timeout=5, list_retries=(), close_grace=0.3, call_timeout=10)


def tool(name: str, *, read: bool = False, server: str = "raw") -> Tool:
    return Tool(name=name, server=server, effects=frozenset({"read"} if read else ()))


async def calls(backend: Backend, *wanted: tuple[Tool, dict[str, Any], float]) -> list[CallOutcome]:
    try:
        return [await backend.call(tool, arguments, timeout=timeout) for tool, arguments, timeout in wanted]
    finally:
        await backend.aclose()


def backend(*flags: str, **more: Any) -> McpBackend:
    return McpBackend([raw_server(*flags)], options=QUICK, **more)


def test_results_and_errors() -> None:
    ok, failed, unknown_tool, refused, limited = run(
        calls(
            backend(),
            (tool("echo"), {"id": 7}, 5),
            (tool("fail"), {"text": "record 12 is locked"}, 5),
            (tool("nonsense"), {}, 5),
            (tool("rpc_error"), {"code": -32602, "message": "q is required"}, 5),
            (tool("rpc_error"), {"code": -32000, "message": "Rate limit exceeded"}, 5),
        )
    )
    assert (ok.status, ok.value) == ("ok", {"id": 7})
    assert ok.latency_ms is not None
    assert (failed.status, failed.error_kind, failed.text) == ("failed", "tool_error", "record 12 is locked")
    assert unknown_tool.error_kind == "not_found"
    assert (refused.error_kind, refused.metadata["code"]) == ("argument", -32602)
    assert limited.error_kind == "rate_limited"


def test_d01_a_call_that_may_have_happened_is_unknown_and_not_repeated(tmp_path: Path) -> None:
    log = tmp_path / "log"
    case = CASES["D01"]
    lost, after = run(calls(backend(), (tool("drop"), {"log": str(log)}, 5), (tool("echo"), {"a": 1}, 5)))
    assert log.read_text().count("executed") == case["check"]["executions"]
    assert (lost.status, lost.error_kind) == ("unknown", "transport")
    assert "disk on fire" in lost.message
    assert after.ok  # a new process serves the next call
    log.unlink()
    (harmless,) = run(calls(backend(), (tool("drop", read=True), {"log": str(log)}, 5)))
    assert (harmless.status, harmless.error_kind) == ("failed", "transport")


def test_d02_an_error_is_returned_as_it_is_after_one_call() -> None:
    failed, written, counted = run(
        calls(backend(), (tool("fail"), {}, 5), (tool("write"), {}, 5), (tool("count"), {}, 5))
    )
    assert failed.text == "it failed"
    assert (written.text, counted.text) == ("written 1", "1")


@pytest.mark.parametrize("size", [20_000, 3_000_000])
def test_d08_a_stuck_server_costs_its_limit_and_stays_usable(size: int) -> None:
    stuck, after = run(calls(backend(), (tool("never"), {"x": "y" * size}, 0.3), (tool("echo"), {"a": 1}, 5)))
    assert (stuck.status, stuck.error_kind) == ("unknown", "timeout")
    assert "raw/never" in stuck.message
    assert "0.3 s" in stuck.message
    assert stuck.metadata["elapsed_s"] >= 0.3
    assert after.ok
    (reading,) = run(calls(backend(), (tool("never", read=True), {}, 0.2)))
    assert (reading.status, reading.error_kind) == ("failed", "timeout")


def test_d11_a_huge_result_is_capped_and_kept(tmp_path: Path) -> None:
    given = CASES["D11"]["input"]
    generate = given["result_text_generate"]
    items = [
        {"id": n, "text": "x" * (generate["bytes_each"] - 30)} for n in range(generate["json_list_items"])
    ]
    result = {"content": [{"type": "text", "text": json.dumps(items)}]}
    limited = LimitsBackend(backend(), max_bytes=given["limit_bytes"])

    async def main() -> CallOutcome:
        try:
            return await limited.call(tool("raw"), {"result": result}, call_id="c1", timeout=10)
        finally:
            await limited.aclose()

    outcome = run(main())
    assert len(outcome.text.encode()) <= CASES["D11"]["check"]["max_bytes"]
    assert len(outcome.text.encode()) > 0.9 * given["limit_bytes"]
    assert outcome.truncated
    shown = json.loads(outcome.text.rsplit("\n[cut:", 1)[0])
    assert shown == items[: len(shown)] == outcome.value
    assert f"{len(json.dumps(items)):,} bytes" in outcome.text
    assert f"{len(shown)} of 1000 items" in outcome.text
    assert "filter" in outcome.text
    full = limited.full_result(outcome.metadata["full_result"])
    assert full is not None
    assert full.value == items


def test_d13_a_cancelled_call_is_not_a_success_and_the_server_is_told() -> None:
    async def main() -> None:
        live = backend()
        try:
            waiting = asyncio.create_task(live.call(tool("slow"), {"seconds": 30}))
            await asyncio.sleep(0.3)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            told = await live.call(tool("cancelled"), {})
            assert len(told.value) == CASES["D13"]["check"]["cancel_notifications"]
        finally:
            await live.aclose()

    run(main())


def test_d10_a_429_of_the_http_front_carries_its_wait() -> None:
    wait = CASES["D10"]["input"]["responses"][0]["retry_after"]

    async def main() -> CallOutcome:
        async with http_server("http") as port:
            config = ServerConfig(name="far", transport="http", url=f"http://127.0.0.1:{port}/mcp")
            (outcome,) = await calls(
                McpBackend([config], options=QUICK),
                (tool("limited", server="far"), {"fault": f"429:{wait}"}, 5),
            )
            return outcome

    outcome = run(main())
    assert (outcome.status, outcome.error_kind, outcome.retry_after) == ("failed", "rate_limited", wait)
    assert outcome.metadata["http_status"] == 429


def test_a_server_that_does_not_start_fails_fast_and_is_tried_again_later() -> None:
    async def main() -> None:
        live = backend("--dead")
        try:
            first = await live.call(tool("echo"), {})
            assert (first.status, first.error_kind, first.reached_backend) == ("failed", "transport", False)
            assert "licence file" in first.message
            started = time.perf_counter()
            second = await live.call(tool("echo"), {})
            assert "next try in" in second.message
            assert time.perf_counter() - started < 5
        finally:
            await live.aclose()

    run(main())


def test_a_slow_start_is_not_begun_again_by_an_impatient_caller() -> None:
    async def main() -> None:
        live = backend("--handshake-delay", "0.8")
        try:
            early = await live.call(tool("echo"), {"n": 1}, timeout=0.1)
            assert (early.status, early.error_kind, early.reached_backend) == ("failed", "timeout", False)
            assert "still starting" in early.message
            process = None
            while process is None:
                await asyncio.sleep(0.05)
                later = await live.call(tool("pid"), {}, timeout=0.3)
                process = later.value if later.ok else None
            assert (await live.call(tool("echo"), {"n": 2}, timeout=5)).value == {"n": 2}
            assert (await live.call(tool("pid"), {}, timeout=5)).value == process
        finally:
            await live.aclose()

    run(main())


def test_starting_ahead_names_what_failed() -> None:
    async def main() -> None:
        live = McpBackend([raw_server(name="a"), raw_server("--dead", name="b")], options=QUICK)
        try:
            (finding,) = await live.start()
            assert (finding.code, finding.subject) == ("server_failed", "b")
            assert live.session_of("a") is not None
            assert await live.start(["a"]) == ()
        finally:
            await live.aclose()

    run(main())


def test_closing_while_a_server_starts_leaves_no_process() -> None:
    async def main() -> None:
        live = backend("--mute", "--ignore-eof")
        early = await live.call(tool("echo"), {}, timeout=0.2)
        assert not early.ok
        await live.aclose()

    run(main())


@pytest.mark.parametrize("era", ["auto", "legacy"])
def test_a_restarted_http_server_is_met_again_without_a_lost_call(era: Any) -> None:
    """The old session is unknown to the new process; the call that learns it was never executed."""

    async def main() -> None:
        adding = tool("add", server="far")
        live: McpBackend | None = None
        port = 0
        try:
            for _ in range(3):
                async with http_server("http", "--port", str(port)) as port:
                    if live is None:
                        config = ServerConfig(
                            name="far", transport="http", url=f"http://127.0.0.1:{port}/mcp"
                        )
                        live = McpBackend([config], options=dataclasses.replace(QUICK, era=era))
                    outcome = await live.call(adding, {"a": 1, "b": 2}, timeout=10)
                    assert outcome.value == {"result": 3}
            assert live is not None
            outcome = await live.call(adding, {"a": 1, "b": 2}, timeout=10)
            assert (outcome.status, outcome.error_kind, outcome.reached_backend) == (
                "failed",
                "transport",
                False,
            )
        finally:
            if live is not None:
                await live.aclose()

    run(main())


def test_unknown_servers_and_closed_backends() -> None:
    async def main() -> None:
        live = McpBackend([raw_server(name="a"), raw_server(name="b")], options=QUICK)
        outcome = await live.call(tool("echo", server="c"), {})
        assert (outcome.error_kind, outcome.reached_backend) == ("not_found", False)
        await live.aclose()
        await live.aclose()
        assert not (await live.call(tool("echo", server="a"), {})).ok

    run(main())


def test_many_calls_on_two_servers_and_no_process_left() -> None:
    async def main() -> None:
        live = McpBackend([raw_server(name="a"), raw_server("--era", "modern", name="b")], options=QUICK)
        answers = await asyncio.gather(
            *(
                live.call(tool("echo", server=server), {"s": server, "n": n})
                for n in range(150)
                for server in "ab"
            )
        )
        assert [answer.value for answer in answers] == [{"s": s, "n": n} for n in range(150) for s in "ab"]
        ids = [live.session_of(server).process_id for server in "ab"]  # type: ignore[union-attr]
        await live.aclose()
        assert not any(alive(process_id or 0) for process_id in ids)

    run(main())


def test_progress_is_passed_on_with_the_call_id() -> None:
    seen: list[tuple[str, Any]] = []

    async def main() -> None:
        live = backend(on_progress=lambda call_id, report: seen.append((call_id, report["progress"])))
        outcome = await live.call(tool("progress"), {"steps": 2, "gap": 0.01}, call_id="c9")
        assert outcome.text == "done"
        await live.aclose()

    run(main())
    assert seen == [("c9", 1), ("c9", 2)]
