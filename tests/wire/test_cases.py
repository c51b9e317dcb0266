"""Troubles met in the wild, each with the right outcome, and other inputs of the same kind."""

from __future__ import annotations

import asyncio
import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest
from tests.wire.launching import raw_server, run

from agent_reach.records.tool import Tool
from agent_reach.wire.channel import Receiver
from agent_reach.wire.failures import RequestTimedOut
from agent_reach.wire.peer import Peer
from agent_reach.wire.pipe import PipeChannel
from agent_reach.wire.results import outcome_of_result
from agent_reach.wire.servers import ServerConfig
from agent_reach.wire.session import ServerSession, SessionOptions
from agent_reach.wire.startup import list_servers, start_servers

CASES = {
    case["id"]: case
    for case in map(
        json.loads, (Path(__file__).parent / "cases.jsonl").read_text(encoding="utf-8").splitlines()
    )
}
QUICK = SessionOptions(
    startup_timeout=20, probe_timeout=5, list_retries=(0.05, 0.1, 0.2), close_grace=0.3, call_timeout=10
)


def tool_of(definition: dict[str, Any], **fields: Any) -> Tool:
    return Tool(
        name=definition["name"],
        server="s",
        input_schema=definition["inputSchema"],
        output_schema=definition.get("outputSchema"),
        **fields,
    )


def required_of_schema(tool: Tool, value: Any) -> list[str]:
    assert tool.output_schema is not None
    return [f"missing {name!r}" for name in tool.output_schema.get("required", ()) if name not in value]


PLAIN = Tool(name="t", server="s")


def test_a31_an_error_result_is_not_held_against_the_output_schema() -> None:
    case = CASES["A31"]
    outcome = outcome_of_result(
        case["input"]["result"], tool_of(case["input"]["tool"]), validator=required_of_schema, strict=True
    )
    assert outcome.error_kind == case["check"]["status"]
    assert case["check"]["contains"] in outcome.text
    assert outcome.text == "record 12 is locked"
    assert outcome.findings == ()
    structured = {**case["input"]["result"], "structuredContent": {"other": 1}}
    outcome = outcome_of_result(structured, tool_of(case["input"]["tool"]), validator=required_of_schema)
    assert (outcome.error_kind, outcome.findings) == ("tool_error", ())


def test_a32_text_without_the_declared_structure_is_delivered_with_a_warning() -> None:
    case = CASES["A32"]
    tool = tool_of(case["input"]["tool"])
    outcome = outcome_of_result(case["input"]["result"], tool, validator=required_of_schema)
    assert outcome.status == "ok"
    assert outcome.text == "three pages found"
    (finding,) = outcome.findings
    assert finding.severity == "warning"
    assert "outputSchema declared, structuredContent missing" in finding.message.en
    strict = outcome_of_result(case["input"]["result"], tool, strict=True)
    assert (strict.status, strict.error_kind, strict.text) == (
        "failed",
        "malformed_result",
        "three pages found",
    )


def test_a33_structured_content_is_never_empty() -> None:
    first, second = CASES["A33"]["input"]["results"]
    outcome = outcome_of_result(first, dataclasses.replace(PLAIN, effects=frozenset({"read"})))
    assert outcome.value == first["structuredContent"]
    assert json.loads(outcome.text) == first["structuredContent"]
    assert outcome.error_kind is None
    outcome = outcome_of_result(second, PLAIN)
    assert outcome.value == [{"name": "p"}]
    assert [finding.code for finding in outcome.findings] == ["structured_not_object"]
    assert outcome_of_result(second, PLAIN, protocol_version="2026-07-28").findings == ()


def test_d04_an_absent_is_error_is_success() -> None:
    outcome = outcome_of_result(CASES["D04"]["input"]["result"], PLAIN)
    assert (outcome.status, outcome.error_kind, outcome.text, outcome.value) == ("ok", None, "ok", "ok")
    assert outcome_of_result({"content": [], "isError": False}, PLAIN).ok
    assert outcome_of_result({"content": [], "isError": None}, PLAIN).ok


def test_d21_malformed_results_are_kept_and_told() -> None:
    outcomes = [outcome_of_result(result, PLAIN) for result in CASES["D21"]["input"]["results"]]
    assert [outcome.error_kind for outcome in outcomes] == ["malformed_result"] * 4
    assert all(len(outcome.findings) >= 1 for outcome in outcomes)
    nested, unknown, empty, plain = outcomes
    assert nested.findings[0].pointer == "/toolResult"
    assert (unknown.findings[0].pointer, unknown.value) == ("/content/0", {"a": 1})
    assert "'json'" in unknown.findings[0].message.en
    assert empty.findings[0].pointer == "/content"
    assert (plain.findings[0].pointer, plain.text) == ("/content/0", "plain")


@pytest.mark.parametrize(
    ("raw", "kind", "text"),
    [
        (None, "malformed_result", ""),
        ("words", "malformed_result", "words"),
        ([1, 2], "malformed_result", "[1, 2]"),
        ({"content": "words"}, "malformed_result", "words"),
        ({"content": [{"type": "text"}]}, "malformed_result", "text"),
        ({"content": [{"type": "text", "text": "a"}, {"type": "odd", "x": 1}]}, None, "a"),
        ({"toolResult": {"content": [{"type": "text", "text": "in"}]}}, None, "in"),
        ({"answer": 42}, "malformed_result", "42"),
        ({"content": [{"type": "text", "text": "e"}], "isError": "true"}, "tool_error", "e"),
        ({"isError": True}, "tool_error", "without a text"),
    ],
)
def test_other_odd_results(raw: Any, kind: str | None, text: str) -> None:
    outcome = outcome_of_result(raw, PLAIN)
    assert outcome.error_kind == kind
    assert text in outcome.text
    assert outcome.status == ("ok" if kind is None else "failed")


def test_a_reading_tool_that_answers_nothing_is_empty_and_a_writing_one_is_done() -> None:
    reading = dataclasses.replace(PLAIN, effects=frozenset({"read"}))
    for raw in ({"content": []}, {"content": [{"type": "text", "text": "  "}]}):
        assert (outcome_of_result(raw, reading).status, outcome_of_result(raw, reading).error_kind) == (
            "ok",
            "empty",
        )
        assert outcome_of_result(raw, PLAIN).error_kind is None
    picture = {"content": [{"type": "image", "data": "AAAA", "mimeType": "image/png"}]}
    outcome = outcome_of_result(picture, reading)
    assert (outcome.error_kind, outcome.text) == (None, "[image image/png, 3 bytes]")


def test_json_in_text_is_the_value() -> None:
    assert outcome_of_result({"content": [{"type": "text", "text": '{"id": 7}'}]}, PLAIN).value == {"id": 7}
    several = {"content": [{"type": "text", "text": '{"a": 1}'}, {"type": "text", "text": '{"a": 2}'}]}
    assert outcome_of_result(several, PLAIN).value == [{"a": 1}, {"a": 2}]
    assert outcome_of_result({"content": [{"type": "text", "text": "12"}]}, PLAIN).value == "12"
    assert outcome_of_result({"content": [{"type": "text", "text": "{no"}]}, PLAIN).value == "{no"


def list_of(config: ServerConfig, options: SessionOptions = QUICK) -> Any:
    (listing,) = run(list_servers([config], options))
    return listing


def test_c12_every_page_is_read() -> None:
    case = CASES["C12"]
    listing = list_of(raw_server("--pages", json.dumps(case["input"]["pages"])))
    assert len(listing.tools) == case["check"]["tools"]
    assert listing.pages == 3
    assert [tool["name"] for tool in listing.tools][-1] == "write_entry"


def test_c13_a_cursor_that_does_not_advance_ends_the_walk() -> None:
    case = CASES["C13"]
    listing = list_of(raw_server("--repeat", json.dumps(case["input"]["pages_repeat"])))
    assert len(listing.tools) == case["check"]["tools"]
    assert listing.pages <= case["check"]["max_requests"]
    assert "cursor_repeated" in [finding.code for finding in listing.findings]
    assert any("non-advancing cursor" in finding.message.en for finding in listing.findings)
    listing = list_of(raw_server("--repeat", json.dumps(case["input"]["variant"])))
    assert (len(listing.tools), listing.pages) == (1, 1)


def test_c16_an_empty_first_answer_is_asked_again() -> None:
    pages = [{"tools": [{"name": name} for name in CASES["C16"]["input"]["list_results"][2]]}]
    listing = list_of(raw_server("--empty-first", "2", "--pages", json.dumps(pages)))
    assert len(listing.tools) == CASES["C16"]["check"]["tools"]
    assert "no_tools" not in [finding.code for finding in listing.findings]
    listing = list_of(raw_server("--empty-first", "99"))
    (finding,) = [finding for finding in listing.findings if finding.code == "no_tools"]
    assert (listing.tools, finding.severity, finding.data["state"]) == ((), "warning", "connected")


def test_c17_slow_servers_are_waited_for_and_dead_ones_named() -> None:
    async def main() -> None:
        configs = [
            raw_server("--handshake-delay", "0.05", name="fast"),
            raw_server("--handshake-delay", "1.2", name="slow"),
            raw_server("--dead", name="dead"),
        ]
        started = await start_servers(configs, QUICK, budget=15, retries=1)
        try:
            assert list(started.ready) == CASES["C17"]["check"]["ready"]
            assert list(started.missing) == CASES["C17"]["check"]["reported_missing"]
            (finding,) = started.findings
            assert (finding.code, finding.subject) == ("server_failed", "dead")
            assert "licence file" in finding.message.en
            for session in started.sessions.values():
                assert (await session.call_tool("echo", {"a": 1}))["content"]
        finally:
            await started.close()
        late = await start_servers([raw_server("--mute", name="mute")], QUICK, budget=0.5)
        assert list(late.missing) == ["mute"]

    run(main())


def test_d09_progress_extends_the_limit_up_to_the_most() -> None:
    scale = 1 / 100  # a second of the case is ten milliseconds here
    case = CASES["D09"]["input"]
    gap = 0.2

    async def main() -> None:
        async with ServerSession(raw_server(), QUICK) as session:
            seen: list[Any] = []
            result = await session.call_tool(
                "progress",
                {"steps": 4, "gap": gap},
                timeout=0.6,
                max_total=case["max_total_s"] * scale,
                on_progress=seen.append,
            )
            assert result["content"][0]["text"] == "done"  # "no token" if none was sent
            assert [report["progress"] for report in seen] == [1, 2, 3, 4]
            plain = await session.call_tool("progress", {"steps": 4, "gap": gap}, timeout=0.6, max_total=3)
            assert plain["content"][0]["text"] == "done"
            with pytest.raises(RequestTimedOut) as caught:
                await session.call_tool("progress", {"steps": 100, "gap": 0.05}, timeout=0.4, max_total=0.9)
            assert caught.value.limit == 0.9
            with pytest.raises(RequestTimedOut):
                await session.call_tool("never", timeout=0.2, max_total=30)

    run(main())


def test_d13_giving_up_is_told_once_and_a_late_answer_is_ignored() -> None:
    async def main() -> None:
        async with ServerSession(raw_server(), QUICK) as session:
            waiting = asyncio.create_task(session.call_tool("slow", {"seconds": 0.4}))
            await asyncio.sleep(0.1)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            with pytest.raises(RequestTimedOut):
                await session.call_tool("slow", {"seconds": 0.5}, timeout=0.1)
            await asyncio.sleep(0.6)
            told = json.loads((await session.call_tool("cancelled"))["content"][0]["text"])
            assert len(told) == 2
            assert len({notice["requestId"] for notice in told}) == 2
            assert session.findings == ()
            await session.call_tool("echo")
        mute = dataclasses.replace(QUICK, probe_timeout=0.1, era="auto")
        session = ServerSession(raw_server("--era", "silent-on-discover"), mute)
        async with session:
            told = json.loads((await session.call_tool("cancelled"))["content"][0]["text"])
            assert told == []  # the question for the era is never cancelled

    run(main())


class Replies:
    """Collects what a channel brings."""

    def __init__(self) -> None:
        self.messages: list[Any] = []
        self.reasons: list[str] = []

    def receive(self, message: Any) -> None:
        self.messages.append(message)

    def lost(self, reason: str) -> None:
        self.reasons.append(reason)

    def refused(self, *_: Any, **__: Any) -> None:
        raise AssertionError


def test_d17_noise_on_stdout_is_skipped_and_told_once(tmp_path: Path) -> None:
    lines = tmp_path / "lines"
    lines.write_text("\n".join(CASES["D17"]["input"]["stdout_lines"]) + "\n", encoding="utf-8")

    async def main() -> None:
        replies = Replies()
        receiver: Receiver = replies
        channel = PipeChannel(ServerConfig(name="noisy", command="/bin/cat", args=(str(lines),)))
        await channel.open(receiver)
        while not replies.reasons:
            await asyncio.sleep(0.01)
        await channel.close()
        assert [message["id"] for message in replies.messages] == [1, 2]
        (finding,) = channel.findings()
        assert finding.data["lines"] == CASES["D17"]["check"]["noise_lines"]
        assert "starting up ..." in finding.message.en
        assert len(replies.reasons) == 1

    run(main())


@pytest.mark.parametrize(
    ("lines", "ids", "noise"),
    [
        (b'Loading...{"jsonrpc":"2.0","id":1,"result":{}}\n', [1], 1),
        (b'\xef\xbb\xbf{"jsonrpc":"2.0","id":1,"result":{}}\r\n\r\n', [1], 0),
        (b'[{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":2,"result":{}}]\n', [1, 2], 0),
        (b'{"level":"info"}\nnull\n3\n"x"\n{"jsonrpc":"2.0","id":1,"error":{}}', [1], 4),
        (b'\xff\xfe broken bytes\n{"jsonrpc":"2.0","id":1,"result":null}\n', [1], 1),
        (b"[" * 100_000 + b'\n{"jsonrpc":"2.0","id":1,"result":{}}\n', [1], 1),
    ],
)
def test_d17_other_noise(tmp_path: Path, lines: bytes, ids: list[int], noise: int) -> None:
    path = tmp_path / "lines"
    path.write_bytes(lines)

    async def main() -> None:
        replies = Replies()
        channel = PipeChannel(ServerConfig(name="noisy", command="/bin/cat", args=(str(path),)))
        await channel.open(replies)
        while not replies.reasons:
            await asyncio.sleep(0.01)
        await channel.close()
        assert [message["id"] for message in replies.messages] == ids
        assert sum(finding.data["lines"] for finding in channel.findings()) == noise

    run(main())


def test_d17_a_server_with_a_banner_works() -> None:
    async def main() -> None:
        async with ServerSession(raw_server("--banner", "--noise"), QUICK) as session:
            tools, _ = await session.list_tools()
            assert len(tools) == 15
            assert [finding.code for finding in session.findings] == ["stdout_noise"]

    run(main())


class Loopback:
    """A channel whose other end the test plays."""

    def __init__(self) -> None:
        self.sent: list[Any] = []

    async def open(self, receiver: Receiver) -> None: ...

    def send(self, message: Any, headers: Any = None) -> None:
        self.sent.append(message)

    async def close(self) -> None: ...

    def stderr_tail(self) -> str:
        return ""

    def findings(self) -> tuple[Any, ...]:
        return ()


def test_d18_answers_go_by_id_only() -> None:
    async def main() -> None:
        channel = Loopback()
        peer = Peer(channel, label="s")
        calls = [asyncio.create_task(peer.request("tools/call", {"name": name})) for name in ("slow", "fast")]
        await asyncio.sleep(0)
        ids = [message["id"] for message in channel.sent]
        assert ids == [1, 2]
        for response in CASES["D18"]["input"]["responses"]:
            peer.receive({"jsonrpc": "2.0", "id": str(response["id"]), "result": "wrong type"})
            peer.receive({"jsonrpc": "2.0", **response})
        assert [await call for call in calls] == ["S", "F"]
        (finding,) = peer.findings()
        assert finding.code == "unknown_answer"
        assert 99 in finding.data["ids"]
        late = asyncio.create_task(peer.request("tools/call", {}, timeout=0.01))
        with pytest.raises(RequestTimedOut):
            await late
        following = asyncio.create_task(peer.request("tools/call", {}))
        await asyncio.sleep(0)
        peer.receive({"jsonrpc": "2.0", "id": 3, "result": "late"})
        assert not following.done()
        peer.receive({"jsonrpc": "2.0", "id": 4.0, "result": "right"})
        assert await following == "right"

    run(main())


def test_a_listener_that_fails_costs_no_answer() -> None:
    def broken(*_: Any) -> None:
        raise ValueError("display is gone")

    async def main() -> None:
        options = dataclasses.replace(QUICK, on_notification=broken)
        async with ServerSession(raw_server(), options) as session:
            result = await session.call_tool("progress", {"steps": 2, "gap": 0.01}, on_progress=broken)
            assert result["content"][0]["text"] == "done"
            (finding,) = session.findings
            assert finding.code == "listener_failed"
            assert "display is gone" in finding.message.en

    run(main())


def test_a_question_that_the_server_takes_back_is_not_answered() -> None:
    asked: list[str] = []

    async def think(method: str, params: Any) -> dict[str, Any]:
        try:
            await asyncio.sleep(60)
        finally:
            asked.append(method)
        return {}

    async def main() -> None:
        channel = Loopback()
        peer = Peer(channel, label="s", on_request=think)
        peer.receive({"jsonrpc": "2.0", "id": "q", "method": "elicitation/create", "params": {}})
        await asyncio.sleep(0.01)
        peer.receive({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "q"}})
        await asyncio.sleep(0.01)
        assert (asked, channel.sent) == (["elicitation/create"], [])

    run(main())
