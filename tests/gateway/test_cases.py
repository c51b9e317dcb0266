"""The published cases of execution and discovery, on the gateway's side: what a client gets, and how often a server ran."""

from __future__ import annotations

import asyncio
import json
import random
from pathlib import Path
from typing import Any

import pytest
from tests.gateway.launching import call, caller, entry, run, said, servers, serving
from tests.gateway.scripted import outcomes, scripted, tool

from agent_reach.gateway.answers import OUTCOME_META
from agent_reach.router.execute_records import ExecutionPolicy
from agent_reach.traces.store.base import TraceStore
from agent_reach.wire.failures import ConnectionLost, RequestRefused, RequestTimedOut

CASES = {
    row["id"]: row
    for row in map(json.loads, (Path(__file__).parent / "cases.jsonl").read_text().splitlines())
}
READ = {"readOnlyHint": True}


def _kind(result: dict[str, Any]) -> Any:
    return result["_meta"][OUTCOME_META]["kind"]


def test_a31_an_error_result_is_not_held_against_the_output_schema(tmp_path: Path) -> None:
    case = CASES["A31"]["input"]

    async def main() -> dict[str, Any]:
        async with scripted(tmp_path, [case["tool"]], lambda *_: case["result"]) as (built, _):
            return await call(built, "lookup")

    result = run(main())
    assert result["isError"] is True
    assert said(result) == CASES["A31"]["check"]["contains"]


def test_a32_a_result_without_the_declared_structure_is_delivered_with_a_warning(tmp_path: Path) -> None:
    case = CASES["A32"]["input"]

    async def main() -> dict[str, Any]:
        async with scripted(tmp_path, [case["tool"]], lambda *_: case["result"]) as (built, _):
            return await call(built, "docs", {"q": "x"})

    result = run(main())
    assert said(result) == "three pages found"
    assert not result.get("isError")
    (outcome,) = outcomes(tmp_path)
    assert outcome.status == "ok"
    assert [finding.code for finding in outcome.findings] == ["structured_missing"]


def test_a33_d04_structure_without_text_is_no_empty_answer_and_absent_is_error_is_ok(tmp_path: Path) -> None:
    results = [*CASES["A33"]["input"]["results"], CASES["D04"]["input"]["result"]]

    async def main() -> tuple[list[dict[str, Any]], dict[Any, int]]:
        async with scripted(tmp_path, [tool("t")], lambda name, given, number: results[number - 1]) as (
            built,
            _,
        ):
            answers = [await call(built, "t", who=caller("2026-07-28")) for _ in results]
            return answers, dict(built.metrics.calls)

    answers, counts = run(main())
    assert [answer.get("structuredContent") for answer in answers] == [
        {"orders": [{"id": 1}], "total": 12},
        [{"name": "p"}],
        None,
    ]
    assert counts == {("s", "ok", ""): 3}


def test_c14_a_walk_over_a_list_that_is_shuffled_between_pages_sees_each_tool_once(tmp_path: Path) -> None:
    case = CASES["C14"]
    named = [tool(name) for names in case["input"]["aggregate"].values() for name in names]
    chance = random.Random(3)

    async def main() -> list[str]:
        async with scripted(tmp_path, named, lambda *_: {}, page=case["input"]["page_size"]) as (
            built,
            upstream,
        ):
            names: list[str] = []
            cursor: str | None = None
            while True:
                params = {"cursor": cursor} if cursor else {}
                listed = await built.handle("tools/list", params, caller())
                names += [one["name"] for one in listed["tools"]]
                cursor = listed.get("nextCursor")
                chance.shuffle(upstream.tools)
                if cursor is None:
                    return names

    names = run(main())
    assert len(names) == case["check"]["tools"]
    assert len(names) - len(set(names)) == case["check"]["duplicates"]


def test_c18_a_tool_that_find_returned_is_callable_by_the_returned_name(tmp_path: Path) -> None:
    inner = tool(
        "note_add",
        description="Add a note.",
        inputSchema={"type": "object", "properties": {"t": {"type": "string"}}},
    )

    async def main() -> tuple[list[str], dict[str, Any], list[str]]:
        async with scripted(tmp_path, [inner], lambda *_: {"content": []}, mode="search") as (built, _):
            listed = await built.handle("tools/list", {}, caller())
            found = await call(built, "find", {"query": "note add"})
            (name,) = [one["name"] for one in found["structuredContent"]["tools"]]
            visible = [one["name"] for one in listed["tools"]]
            return visible, await call(built, name, {"t": "x"}), [name]

    visible, result, _ = run(main())
    assert "note_add" not in visible
    assert not result.get("isError")


@pytest.mark.parametrize("failure", ["lost", "late"])
def test_d01_a_call_that_may_have_happened_is_not_repeated(tmp_path: Path, failure: str) -> None:
    case = CASES["D01"]

    def answer(name: str, given: dict[str, Any], number: int) -> Any:
        raise ConnectionLost("dropped") if failure == "lost" else RequestTimedOut("tools/call", 1.0, 1.0)

    async def main() -> tuple[dict[str, Any], int]:
        async with scripted(tmp_path, [case["input"]["tool"]], answer) as (built, upstream):
            return await call(built, "book_seat", {"seat": "1A"}), len(upstream.executed)

    result, executions = run(main())
    assert executions == case["check"]["executions"]
    assert result["_meta"][OUTCOME_META]["status"] == "unknown"


def test_d02_an_error_is_returned_as_it_is_after_one_call(tmp_path: Path) -> None:
    async def main() -> tuple[dict[str, Any], int]:
        error = {"content": [{"type": "text", "text": "no"}], "isError": True}
        async with scripted(tmp_path, [tool("do_it")], lambda *_: error) as (built, upstream):
            return await call(built, CASES["D02"]["input"]["call"]), len(upstream.executed)

    result, executions = run(main())
    assert executions == CASES["D02"]["check"]["executions"]
    assert said(result) == "no"


def test_d08_d09_a_stuck_server_is_left_after_the_limit_which_progress_moves(tmp_path: Path) -> None:
    (tmp_path / "reach.yaml").write_text(
        "catalog: mcp.json\ngateway: {mode: all, limits: {call_seconds: 0.4, total_seconds: 1.5}}\n"
    )

    async def main() -> tuple[Any, Any, Any]:
        async with serving(tmp_path, servers(one=entry()), "--config", str(tmp_path / "reach.yaml")) as lines:
            stuck = lines.start("tools/call", {"name": "hang", "arguments": {}})[1]
            large = await lines.ask(
                "tools/call",
                {"name": "echo", "arguments": {"text": "x" * CASES["D08"]["input"]["argument_bytes"]}},
            )
            moved = await lines.ask("tools/call", {"name": "steps", "arguments": {"count": 60}})
            endless = await lines.ask("tools/call", {"name": "steps", "arguments": {"count": 100_000}})
            return (await stuck)["result"], (large["result"], moved["result"]), endless["result"]

    stuck, (large, moved), endless = run(main())
    assert _kind(stuck) == CASES["D08"]["check"]["status"]
    assert "limit 0.4 s" in said(stuck)
    assert len(said(large)) == 20_000
    assert said(moved) == "done"
    assert _kind(endless) == "timeout"


def test_d10_rate_limits_are_waited_out_within_the_budget(tmp_path: Path) -> None:
    case = CASES["D10"]
    waits: list[float] = []

    def answer(name: str, given: dict[str, Any], number: int) -> Any:
        reply = case["input"]["responses"][number - 1]
        if reply["status"] == 200:
            return {"content": [{"type": "text", "text": "through"}]}
        raise RequestRefused("429", http_status=429, retry_after=reply.get("retry_after"))

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    async def main() -> tuple[dict[str, Any], int]:
        async with scripted(tmp_path, [tool("t", annotations=READ)], answer) as (built, upstream):
            built.executor.sleep = sleep
            return await call(built, "t"), len(upstream.executed)

    result, executions = run(main())
    assert said(result) == "through"
    assert executions == case["check"]["attempts"]
    assert waits[0] >= case["check"]["first_wait_min_s"]
    assert sum(waits) <= ExecutionPolicy().max_wait


def test_d11_a_large_result_is_cut_to_the_limit_and_kept_whole(tmp_path: Path) -> None:
    case = CASES["D11"]["input"]
    rows = [
        {"id": number, "text": "x" * (case["result_text_generate"]["bytes_each"] - 20)}
        for number in range(1000)
    ]
    text = json.dumps(rows)

    async def main() -> tuple[dict[str, Any], Any]:
        answer = {"content": [{"type": "text", "text": text}]}
        limits = {"result_bytes": case["limit_bytes"]}
        async with scripted(tmp_path, [tool("t")], lambda *_: answer, limits=limits) as (built, _):
            cut = await call(built, "t")
            return cut, await built.handle(
                "resources/read", {"uri": "agent-reach://result/result-1"}, caller()
            )

    cut, whole = run(main())
    assert len(said(cut).encode()) <= CASES["D11"]["check"]["max_bytes"]
    assert str(len(text)) in said(cut)
    assert whole["contents"][0]["text"] == text


def test_d13_giving_up_is_told_to_the_server_once(tmp_path: Path) -> None:
    state = tmp_path / "state"

    async def main() -> None:
        async with serving(tmp_path, servers(one=entry("--state", str(state))), "--mode", "all") as lines:
            number, hung = lines.start("tools/call", {"name": "hang", "arguments": {}})
            while not state.exists():
                await asyncio.sleep(0.02)
            for _ in range(3):
                lines.send(
                    {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}}
                )
            await lines.ask("ping")
            assert not hung.done()

    run(main())
    assert Path(f"{state}.cancelled").exists()
    with TraceStore.open(tmp_path / "traces.db", read_only=True) as store:
        kinds = [one.calls[0].outcome.error_kind for one in store.iterate() if one.calls[0].outcome]
    assert kinds == [CASES["D13"]["check"]["status"]]


def test_d16_the_same_failing_call_runs_three_times(tmp_path: Path) -> None:
    case = CASES["D16"]
    repeated = case["input"]["calls_repeat"]

    async def main() -> tuple[list[Any], int]:
        error = {"content": [{"type": "text", "text": repeated["result"]}], "isError": True}
        async with scripted(tmp_path, [tool("run")], lambda *_: error) as (built, upstream):
            orders = (repeated["arguments"], dict(reversed(repeated["arguments"].items())))
            results = [await call(built, "run", orders[number % 2]) for number in range(repeated["n"])]
            return results, len(upstream.executed)

    results, executions = run(main())
    assert executions == case["check"]["executions_max"]
    assert "3 times" in said(results[-1])


def test_d16_a_failure_that_changes_is_polling_and_goes_on(tmp_path: Path) -> None:
    def answer(name: str, given: dict[str, Any], number: int) -> Any:
        return {"content": [{"type": "text", "text": f"not ready, {number}"}], "isError": True}

    async def main() -> int:
        async with scripted(tmp_path, [tool("run")], answer) as (built, upstream):
            for _ in range(20):
                await call(built, "run")
            return len(upstream.executed)

    assert run(main()) == 20


def test_d17_noise_is_skipped_and_told_once(tmp_path: Path) -> None:
    async def main() -> tuple[str, list[bytes]]:
        async with serving(tmp_path, servers(one=entry()), "--mode", "all") as lines:
            answer = await lines.ask("tools/call", {"name": "noise", "arguments": {}})
            return said(answer["result"]), lines.garbage

    assert run(main()) == ("answered", [])


def test_d18_answers_go_to_their_own_questions(tmp_path: Path) -> None:
    async def answer(given: dict[str, Any]) -> dict[str, Any]:
        await asyncio.sleep(0.05 if given["who"] == "S" else 0)
        return {"content": [{"type": "text", "text": given["who"]}]}

    schema = {"type": "object", "properties": {"who": {"type": "string"}}}

    async def main() -> list[str]:
        async with scripted(
            tmp_path, [tool("t", inputSchema=schema)], lambda name, given, number: answer(given)
        ) as (built, _):
            return [
                said(one) for one in await asyncio.gather(*(call(built, "t", {"who": who}) for who in "SFSF"))
            ]

    assert run(main()) == ["S", "F", "S", "F"]


def test_d20_all_problems_are_told_and_nothing_is_sent(tmp_path: Path) -> None:
    case = CASES["D20"]

    async def main() -> tuple[dict[str, Any], int]:
        async with scripted(tmp_path, [case["input"]["tool"]], lambda *_: {}) as (built, upstream):
            return await call(built, "find", case["input"]["arguments"]), len(upstream.executed)

    result, executions = run(main())
    assert executions == case["check"]["server_calls"]
    assert all(name in said(result) for name in case["check"]["missing"])


def test_d21_malformed_results_raise_nothing_and_keep_what_can_be_read(tmp_path: Path) -> None:
    results = CASES["D21"]["input"]["results"]

    async def main() -> list[dict[str, Any]]:
        async with scripted(tmp_path, [tool("t")], lambda name, given, number: results[number - 1]) as (
            built,
            _,
        ):
            return [await call(built, "t") for _ in results]

    answers = run(main())
    assert all(block["type"] == "text" for answer in answers for block in answer["content"])
    assert json.loads(said(answers[1])) == {"a": 1}
    assert said(answers[3]) == "plain"
    found = outcomes(tmp_path)
    assert sum(bool(outcome.findings) for outcome in found) == CASES["D21"]["check"]["findings"]
    assert "tool_error" not in {outcome.error_kind for outcome in found}


def test_d22_no_failure_moves_a_call_to_another_tool(tmp_path: Path) -> None:
    """The client named a tool: whatever goes wrong, the gateway never answers with the result of another one."""
    failures = [
        RequestTimedOut("tools/call", 1.0, 1.0),
        ConnectionLost("refused", sent=False),
        *(RequestRefused(str(status), http_status=status) for status in (429, 503, 400, 401)),
    ]

    async def sleep(seconds: float) -> None:
        return

    async def main() -> set[str]:
        seen: set[str] = set()
        for failure in failures:

            def answer(name: str, given: dict[str, Any], number: int, failure: Exception = failure) -> Any:
                raise failure

            tools = [tool("main_tool", annotations=READ), tool("backup", annotations=READ)]
            async with scripted(tmp_path, tools, answer) as (built, upstream):
                built.executor.sleep = sleep
                for _ in range(4):
                    assert (await call(built, "main_tool"))["isError"]
                seen |= {name for name, _ in upstream.executed}
        return seen

    assert run(main()) == {"main_tool"}
