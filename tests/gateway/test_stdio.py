"""The gateway as a process on stdin and stdout, with servers that die, hang, print, change and answer much."""

from __future__ import annotations

import asyncio
import json
import random
import signal
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from tests.gateway.launching import (
    MODERN,
    Lines,
    alive,
    children_of,
    entry,
    run,
    servers,
    serving,
)

from agent_reach.traces.store.base import TraceStore

pytestmark = pytest.mark.live


def _call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"name": name, "arguments": arguments}


def _text(answer: dict[str, Any]) -> str:
    return str(answer["result"]["content"][0]["text"])


def _traces(folder: Path) -> list[Any]:
    with TraceStore.open(folder / "traces.db", read_only=True) as store:
        return list(store.iterate())


def test_stdout_carries_nothing_but_the_protocol(tmp_path: Path) -> None:
    module = tmp_path / "loud.py"
    module.write_text(
        "import os, subprocess, sys\nfrom agent_reach import tool\nprint('at import')\n\n\n@tool\ndef shout(word: str) -> str:\n"
        '    """Shout a word."""\n    print(\'from python\', flush=True)\n    os.write(1, b\'from the descriptor\\n\')\n'
        "    subprocess.run(['echo', 'from a child'])\n    return word.upper()\n"
    )

    async def main() -> tuple[str, list[bytes]]:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "agent_reach", "serve", str(module), "--mode", "all", "--store", "none",
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE, cwd=tmp_path,
        )  # fmt: skip
        lines = Lines(process)
        await lines.open()
        answer = await lines.ask("tools/call", _call("shout", word="hey"))
        assert process.stdin is not None
        process.stdin.close()
        assert process.stderr is not None
        errors = await process.stderr.read()
        await process.wait()
        assert b"from python" in errors
        assert b"from the descriptor" in errors
        return _text(answer), lines.garbage

    assert run(main()) == ("HEY", [])


def test_garbage_of_a_server_and_of_a_client_stops_nobody(tmp_path: Path) -> None:
    async def main() -> tuple[list[str], list[bytes], list[Any]]:
        async with serving(tmp_path, servers(one=entry()), "--mode", "all") as lines:
            texts = [_text(await lines.ask("tools/call", _call("noise")))]
            assert lines.process.stdin is not None
            for junk in (
                b"hello\n",
                b"{\n",
                b"[1]\n",
                b'{"jsonrpc": "2.0", "id": {}, "method": "ping"}\n',
                b"\n",
            ):
                lines.process.stdin.write(junk)
            texts.append(_text(await lines.ask("tools/call", _call("echo", text="fine"))))
            errors = [json.loads(line) for line in lines.garbage]
            return texts, lines.garbage, errors

    texts, _, errors = run(main())
    assert texts == ["answered", "fine"]
    assert [error["error"]["code"] for error in errors] == [-32700, -32700, -32600, -32600]
    assert all(error["id"] is None for error in errors)


def test_a_server_killed_in_the_middle_of_a_call_is_unknown_and_started_again(tmp_path: Path) -> None:
    state = tmp_path / "state"

    async def main() -> tuple[dict[str, Any], str]:
        async with serving(tmp_path, servers(one=entry("--state", str(state))), "--mode", "all") as lines:
            died = await lines.ask("tools/call", _call("die"))
            return died["result"], _text(await lines.ask("tools/call", _call("echo", text="again")))

    died, again = run(main())
    assert died["isError"] is True
    assert died["_meta"]["io.github.agent-reach/outcome"]["status"] == "unknown"
    assert "may have happened" in died["content"][0]["text"]
    assert again == "again"
    assert state.read_text() == "1"  # never sent twice
    statuses = {trace.calls[0].name: trace.calls[0].outcome.status for trace in _traces(tmp_path)}
    assert statuses == {"die": "unknown", "echo": "ok"}


def test_a_hung_server_ends_in_a_time_out_and_goes_on_serving_others(tmp_path: Path) -> None:
    (tmp_path / "reach.yaml").write_text(
        "catalog: mcp.json\ngateway: {mode: all, limits: {call_seconds: 1}}\n"
    )
    config = ("--config", str(tmp_path / "reach.yaml"))

    async def main() -> tuple[dict[str, Any], str, float]:
        async with serving(tmp_path, servers(one=entry()), *config) as lines:
            await lines.ask("tools/call", _call("echo", text="warm"))
            _, hung = lines.start("tools/call", _call("hang"))
            began = time.monotonic()
            quick = _text(await lines.ask("tools/call", _call("echo", text="quick")))
            assert not hung.done()
            return (await hung)["result"], quick, time.monotonic() - began

    hung, quick, _ = run(main())
    assert quick == "quick"
    assert hung["_meta"]["io.github.agent-reach/outcome"]["kind"] == "timeout"


def test_progress_keeps_a_slow_call_alive_beyond_the_limit(tmp_path: Path) -> None:
    (tmp_path / "reach.yaml").write_text(
        "catalog: mcp.json\ngateway: {mode: all, limits: {call_seconds: 0.5}}\n"
    )
    config = ("--config", str(tmp_path / "reach.yaml"))

    async def main() -> tuple[str, int]:
        async with serving(tmp_path, servers(one=entry()), *config) as lines:
            call = {
                **_call("steps", count=100),
                "_meta": {"progressToken": "p"},
            }  # a second of steps of 10 ms
            return _text(await lines.ask("tools/call", call)), len(lines.notes)

    text, notes = run(main())
    assert text == "done"
    assert notes >= 100


def test_a_client_that_leaves_ends_the_gateway_and_every_server(tmp_path: Path) -> None:
    async def main() -> list[int]:
        async with serving(
            tmp_path, servers(a=entry(), b=entry("--era", "modern")), "--mode", "all"
        ) as lines:
            await lines.ask("tools/list")
            lines.start("tools/call", _call("a__hang"))
            await asyncio.sleep(0.2)
            children = children_of(lines.process.pid)
            assert len(children) == 2
            return children

    assert not any(alive(child) for child in run(main()))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_a_gateway_that_is_ended_leaves_no_server_and_keeps_its_traces(tmp_path: Path, number: int) -> None:
    async def main() -> list[int]:
        async with serving(tmp_path, servers(one=entry()), "--mode", "all") as lines:
            for index in range(20):
                await lines.ask("tools/call", _call("echo", text=str(index)))
            await asyncio.sleep(0.5)  # one batch
            children = children_of(lines.process.pid)
            lines.process.send_signal(number)
            await lines.process.wait()
            await asyncio.sleep(0.3)  # a server sees its stdin end
            return children

    children = run(main())
    assert len(children) == 1
    assert not any(alive(child) for child in children)
    assert len(_traces(tmp_path)) == 20


def test_a_gateway_started_again_goes_on_with_the_same_store(tmp_path: Path) -> None:
    async def once(text: str) -> str:
        async with serving(tmp_path, servers(one=entry()), "--mode", "all") as lines:
            return _text(await lines.ask("tools/call", _call("echo", text=text)))

    assert [run(once(text)) for text in ("one", "two")] == ["one", "two"]
    assert sorted(trace.calls[0].arguments["text"] for trace in _traces(tmp_path)) == ["one", "two"]


def test_a_cancelled_call_is_passed_on_and_never_answered(tmp_path: Path) -> None:
    state = tmp_path / "state"

    async def main() -> bool:
        async with serving(tmp_path, servers(one=entry("--state", str(state))), "--mode", "all") as lines:
            number, hung = lines.start("tools/call", _call("hang"))
            while not state.exists():
                await asyncio.sleep(0.02)
            lines.send(
                {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}}
            )
            await lines.ask("tools/call", _call("echo", text="x"))
            return hung.done()

    assert run(main()) is False
    assert Path(str(state) + ".cancelled").exists()


def test_a_message_over_the_limit_is_refused_and_the_next_one_served(tmp_path: Path) -> None:
    (tmp_path / "reach.yaml").write_text(
        "catalog: mcp.json\ngateway: {mode: all, limits: {request_bytes: 20000}}\n"
    )

    async def main() -> tuple[list[Any], str]:
        async with serving(tmp_path, servers(one=entry()), "--config", str(tmp_path / "reach.yaml")) as lines:
            lines.start("tools/call", _call("echo", text="x" * 300_000))
            text = _text(await lines.ask("tools/call", _call("echo", text="x" * 10_000)))
            return [json.loads(line) for line in lines.garbage], text

    refused, text = run(main())
    assert refused[0]["error"]["code"] == -32600
    assert len(text) == 10_000


def test_an_older_client_is_asked_on_its_pipe(tmp_path: Path) -> None:
    async def main() -> tuple[str, list[str]]:
        async with serving(
            tmp_path, servers(one=entry()), "--mode", "all", capabilities={"elicitation": {}}
        ) as lines:
            text = _text(await lines.ask("tools/call", _call("ask")))
            client = json.loads(_text(await lines.ask("tools/call", _call("meta"))))["client"]
            return text, sorted(client)

    assert run(main()) == ("hello Ada", ["elicitation"])


def test_a_change_is_announced_to_the_client(tmp_path: Path) -> None:
    async def main() -> list[str]:
        async with serving(tmp_path, servers(one=entry()), "--mode", "all") as lines:
            before = len((await lines.ask("tools/list"))["result"]["tools"])
            await lines.ask("tools/call", _call("change"))
            while not lines.notes:
                await asyncio.sleep(0.02)
            after = len((await lines.ask("tools/list"))["result"]["tools"])
            assert after == before + 1
            return [note["method"] for note in lines.notes]

    assert "notifications/tools/list_changed" in run(main())


def test_the_first_request_decides_the_era_of_a_connection(tmp_path: Path) -> None:
    meta = {
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "lines", "version": "1"},
    }

    async def main() -> tuple[Any, Any, Any]:
        async with serving(tmp_path, servers(one=entry()), "--mode", "all", capabilities=False) as lines:
            found = await lines.ask("server/discover", {"_meta": meta})
            called = await lines.ask("tools/call", {**_call("echo", text="x"), "_meta": meta})
            late = await lines.ask("initialize", {"protocolVersion": "2025-11-25"})
            return found["result"], called["result"], late["error"]

    found, called, late = run(main())
    assert MODERN in found["supportedVersions"]
    assert called["resultType"] == "complete"
    assert called["content"] == [{"type": "text", "text": "x"}]
    assert late["code"] == -32022


def test_a_thousand_calls_at_once_over_ten_servers_lose_cross_or_double_nothing(tmp_path: Path) -> None:
    entries = {
        f"s{number}": entry("--name", f"s{number}", *(["--era", "modern"] if number % 2 else []))
        for number in range(10)
    }
    chance = random.Random(7)

    async def main() -> tuple[list[Any], list[int], int]:
        async with serving(tmp_path, servers(**entries), "--mode", "all") as lines:
            assert len((await lines.ask("tools/list"))["result"]["tools"]) > 100
            sent = []
            for number in range(1000):
                server = f"s{chance.randrange(10)}"
                text = f"{number}:" + "x" * chance.choice((0, 10, 3000))
                _, future = lines.start("tools/call", _call(f"{server}__echo", text=text))
                sent.append((text, future))
            answers = [(text, _text(await future)) for text, future in sent]
            children = children_of(lines.process.pid)
            assert len(children) == 10
            assert lines.garbage == []
            return answers, children, len(answers)

    answers, children, count = run(main(), 90)
    assert count == 1000
    assert all(expected == got for expected, got in answers)
    assert not any(alive(child) for child in children)
    traces = _traces(tmp_path)
    assert len(traces) == 1000
    assert len({trace.calls[0].arguments["text"] for trace in traces}) == 1000
