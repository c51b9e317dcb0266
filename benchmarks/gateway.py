"""What the gateway adds to a call, how soon it finds among 10,000 tools, and whether it holds over 50,000 calls.

    python benchmarks/gateway.py [--peers FOLDER] [--calls N] [--soak N] [--json FILE] [--only calls,find,soak]

Calls: the official Python client, one call at a time, over stdio: to the server itself, through the gateway (`all`, with
traces), and through FastMCP's proxy where `--peers` holds a virtual environment `fastmcp`; the three take turns in small
blocks, so that the noise of the machine meets each alike. Added is the difference of the medians. Find: a fresh process
with kept lists of 10,000 tools, from its start to the first answer of `find`. Soak: calls over ten servers, many at a
time; memory is read at each tenth.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import platform
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

SERVER = """
import json, sys
NUMBER = int(sys.argv[1]) if len(sys.argv) > 1 else 0
SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
TOPICS = ["invoice", "shipment", "customer", "warehouse", "payment", "ticket", "calendar", "document", "employee", "report"]
VERBS = ["create", "find", "update", "cancel", "list"]
def tools():
    if not NUMBER:
        return [{"name": "echo", "description": "Give the text back.", "inputSchema": SCHEMA, "annotations": {"readOnlyHint": True}}]
    return [
        {"name": f"{VERBS[i % 5]}_{TOPICS[i // 5 % 10]}_{i}", "inputSchema": SCHEMA,
         "description": f"{VERBS[i % 5].title()} the {TOPICS[i // 5 % 10]} records of region {i // 50}. Use it when somebody asks for {TOPICS[i // 5 % 10]} data."}
        for i in range(NUMBER)
    ]
for line in sys.stdin:
    m = json.loads(line)
    if "id" not in m:
        continue
    k, p = m["method"], m.get("params") or {}
    if k == "initialize":
        r = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "echo", "version": "1"}}
    elif k == "tools/list":
        r = {"tools": tools()}
    elif k == "tools/call":
        r = {"content": [{"type": "text", "text": p["arguments"]["text"]}]}
    elif k == "ping":
        r = {}
    else:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": m["id"], "error": {"code": -32601, "message": "no"}}) + "\\n")
        sys.stdout.flush()
        continue
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": r}) + "\\n")
    sys.stdout.flush()
"""
PROXY = """
import sys
from fastmcp.server import create_proxy
create_proxy({"mcpServers": {"echo": {"command": sys.argv[1], "args": ["-S", "-E", sys.argv[2]]}}}).run(show_banner=False)
"""
BLOCK = 50


@contextlib.asynccontextmanager
async def client(command: list[str], folder: Path) -> AsyncIterator[Any]:
    """An official client session with a program on stdio."""
    from mcp import ClientSession
    from mcp.client.stdio import StdioServerParameters, stdio_client

    parameters = StdioServerParameters(command=command[0], args=command[1:], cwd=folder, env=dict(os.environ))
    with (folder / "stderr.txt").open("a") as errors:
        async with (
            stdio_client(parameters, errlog=errors) as (reading, writing),
            ClientSession(reading, writing) as session,
        ):
            await session.initialize()
            await session.list_tools()
            yield session


async def measure_calls(folder: Path, calls: int, peers: Path | None) -> dict[str, Any]:
    """Milliseconds per call of each way, in turns."""
    server = folder / "server.py"
    server.write_text(SERVER)
    direct = [sys.executable, "-S", "-E", str(server)]
    (folder / "mcp.json").write_text(
        json.dumps({"mcpServers": {"echo": {"command": direct[0], "args": direct[1:]}}})
    )
    serve = [
        sys.executable,
        "-m",
        "agent_reach",
        "serve",
        "mcp.json",
        "--mode",
        "all",
        "--store",
        str(folder / "t.db"),
    ]
    ways = {"direct": direct, "gateway": serve}
    python = peers / "fastmcp" / "venv" / "bin" / "python" if peers is not None else None
    if python is not None and python.exists():
        (folder / "proxy.py").write_text(PROXY)
        ways["fastmcp proxy"] = [str(python), str(folder / "proxy.py"), sys.executable, str(server)]
    else:
        print("(no FastMCP: name --peers with a virtual environment fastmcp/venv)", file=sys.stderr)
    times: dict[str, list[float]] = {name: [] for name in ways}
    async with contextlib.AsyncExitStack() as stack:
        sessions = {
            name: await stack.enter_async_context(client(command, folder)) for name, command in ways.items()
        }
        names = {name: (await session.list_tools()).tools[0].name for name, session in sessions.items()}
        for block in range(max(1, calls // BLOCK) + 1):
            for name, session in sessions.items():
                for number in range(BLOCK):
                    began = time.perf_counter()
                    result = await session.call_tool(names[name], {"text": f"{block}-{number}"})
                    if block:  # the first block warms up
                        times[name].append(1000 * (time.perf_counter() - began))
                    assert result.content[0].text == f"{block}-{number}"
    base = statistics.median(times["direct"])
    return {
        name: {
            "median_ms": round(statistics.median(values), 3),
            "p95_ms": round(statistics.quantiles(values, n=20)[18], 3),
            "added_ms": round(statistics.median(values) - base, 3),
            "calls": len(values),
        }
        for name, values in times.items()
    }


async def measure_find(folder: Path, tools: int = 10_000) -> dict[str, Any]:
    """Seconds (and CPU seconds of the gateway) from the start of a process to the first answer of `find`."""
    server = folder / "many.py"
    server.write_text(SERVER)
    entries = {
        f"s{number}": {"command": sys.executable, "args": ["-S", "-E", str(server), str(tools // 10)]}
        for number in range(10)
    }
    (folder / "many.json").write_text(json.dumps({"mcpServers": entries}))
    command = [
        sys.executable,
        "-m",
        "agent_reach",
        "serve",
        "many.json",
        "--mode",
        "search",
        "--store",
        "none",
    ]
    found = []
    for _ in range(4):
        process = await asyncio.create_subprocess_exec(
            *command, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
            cwd=folder, limit=2**26,
        )  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        began = time.perf_counter()
        hello = {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "b", "version": "1"},
        }
        query = {"name": "find", "arguments": {"query": "cancel the shipment of region 12"}}
        for message in (
            {"id": 1, "method": "initialize", "params": hello},
            {"method": "notifications/initialized"},
            {"id": 2, "method": "tools/call", "params": query},
        ):
            process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        answer: dict[str, Any] = {}
        while answer.get("id") != 2:
            answer = json.loads(await process.stdout.readline())
        seconds = time.perf_counter() - began
        found.append((seconds, cpu_seconds(process.pid)))
        names = [one["name"] for one in answer["result"]["structuredContent"]["tools"]]
        assert names, answer
        process.stdin.close()
        await process.wait()
    warm = found[1:]
    return {
        "tools": tools,
        "cold_s": round(found[0][0], 2),
        "warm_s": round(min(seconds for seconds, _ in warm), 2),
        "warm_cpu_s": round(min(cpu for _, cpu in warm), 2),
    }


async def measure_soak(folder: Path, calls: int) -> dict[str, Any]:
    """Calls over ten servers, 32 at a time: resident memory of the gateway at each tenth."""
    server = folder / "server.py"
    server.write_text(SERVER)
    entries = {
        f"s{number}": {"command": sys.executable, "args": ["-S", "-E", str(server)]} for number in range(10)
    }
    (folder / "soak.json").write_text(json.dumps({"mcpServers": entries}))
    command = [
        sys.executable,
        "-m",
        "agent_reach",
        "serve",
        "soak.json",
        "--mode",
        "all",
        "--store",
        str(folder / "soak.db"),
    ]
    process = await asyncio.create_subprocess_exec(
        *command, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
        cwd=folder, limit=2**26,
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stdout is not None

    def send(**message: Any) -> None:
        assert process.stdin is not None
        process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "b", "version": "1"}}
    send(id=0, method="initialize", params=hello)
    send(method="notifications/initialized")
    sent, answered, memory = 0, 0, []
    began = time.perf_counter()

    def more() -> None:
        nonlocal sent
        sent += 1
        call = {"name": f"s{sent % 10}__echo", "arguments": {"text": f"t{sent}"}}
        send(id=sent, method="tools/call", params=call)

    started = False
    while answered < calls:
        message = json.loads(await process.stdout.readline())
        if message.get("id") == 0 and not started:
            started = True
            for _ in range(32):
                more()
            continue
        if "id" not in message:
            continue
        assert message["result"]["content"][0]["text"] == f"t{message['id']}", message
        answered += 1
        if sent < calls:
            more()
        if answered % max(1, calls // 10) == 0:
            memory.append(resident_mb(process.pid))
    seconds = time.perf_counter() - began
    process.stdin.close()
    await process.wait()
    return {
        "calls": answered,
        "calls_per_s": round(answered / seconds),
        "memory_mb": memory,
        "growth_mb": round(memory[-1] - memory[min(1, len(memory) - 1)], 1),
    }


def resident_mb(process_id: int) -> float:
    """Resident memory of a process in MB."""
    pages = int(Path(f"/proc/{process_id}/statm").read_text().split()[1])
    return round(pages * os.sysconf("SC_PAGE_SIZE") / 2**20, 1)


def cpu_seconds(process_id: int) -> float:
    """CPU time of a process in seconds."""
    fields = Path(f"/proc/{process_id}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> int:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--peers", type=Path, default=os.environ.get("AGENT_REACH_PEERS"), metavar="FOLDER")
    parser.add_argument("--calls", type=int, default=1000)
    parser.add_argument("--soak", type=int, default=50_000)
    parser.add_argument("--only", default="calls,find,soak")
    parser.add_argument("--json", type=Path, metavar="FILE")
    options = parser.parse_args()
    wanted = set(options.only.split(","))
    load = os.getloadavg()
    result: dict[str, Any] = {
        "python": platform.python_version(),
        "cpus": os.cpu_count(),
        "load": [round(one, 1) for one in load],
    }
    print(f"{result['cpus']} CPUs, load {load[0]:.1f} at the start: what else runs here is in every figure")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if "calls" in wanted:
            peers = Path(options.peers) if options.peers else None
            result["calls"] = asyncio.run(measure_calls(folder, options.calls, peers))
            print(f"{'way':<16}{'median ms':>11}{'p95 ms':>10}{'added ms':>10}{'calls':>8}")
            for way, row in result["calls"].items():
                print(
                    f"{way:<16}{row['median_ms']:>11.2f}{row['p95_ms']:>10.2f}{row['added_ms']:>10.2f}{row['calls']:>8}"
                )
        if "find" in wanted:
            row = result["find"] = asyncio.run(measure_find(folder))
            print(
                f"first find among {row['tools']} tools: cold {row['cold_s']} s, warm {row['warm_s']} s ({row['warm_cpu_s']} s CPU)"
            )
        if "soak" in wanted:
            row = result["soak"] = asyncio.run(measure_soak(folder, options.soak))
            print(
                f"{row['calls']} calls, {row['calls_per_s']}/s; resident MB at each tenth: {row['memory_mb']}"
            )
    if options.json is not None:
        options.json.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
