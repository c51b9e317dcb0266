"""What one call over stdio costs: this project's session beside the `mcp` package's own client, on one server.

    python benchmarks/wire.py [--calls N] [--soak N] [--json FILE]

The server answers at once (raw JSON-RPC, standard library only), so what is measured is transport and client. Both
clients take turns in blocks, so that the machine's noise meets both. Times are wall clock per sequential call, CPU is
of the client process alone. `--soak` also sends that many calls, 1,000 at a time, to ten servers of both eras and tells
how the memory of the client grew after the first tenth.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TextIO

from agent_reach.wire.servers import ServerConfig
from agent_reach.wire.session import ServerSession

SERVER = Path(__file__).resolve().parents[1] / "tests" / "wire" / "servers" / "raw_server.py"
BLOCKS = 10
ARGUMENTS = {"product_id": "PDT-1001", "quantity": 50, "warehouse_id": "WH-SH-01"}

Call = Callable[[], Awaitable[Any]]


async def timed(call: Call, count: int) -> tuple[list[float], float]:
    """Milliseconds of each call, and CPU milliseconds of all."""
    times = []
    cpu = time.process_time()
    for _ in range(count):
        started = time.perf_counter()
        await call()
        times.append((time.perf_counter() - started) * 1000)
    return times, (time.process_time() - cpu) * 1000


async def measure(era: str, calls: int, silence: TextIO) -> list[dict[str, Any]]:
    """One row for each client in one era; the server's stderr goes to `silence`."""
    from mcp import Client, StdioServerParameters
    from mcp.client.stdio import stdio_client

    flags = [str(SERVER), "--era", "modern" if era == "2026-07-28" else "legacy"]
    config = ServerConfig(
        name="raw", command=sys.executable, args=tuple(flags), env={"PATH": os.environ["PATH"]}
    )
    parameters = StdioServerParameters(command=sys.executable, args=flags)
    async with ServerSession(config) as own, Client(stdio_client(parameters, errlog=silence)) as stock:
        assert own.protocol_version == era
        await own.list_tools()
        await stock.list_tools()
        clients: dict[str, Call] = {
            "agent_reach.wire": lambda: own.call_tool("echo", ARGUMENTS),
            "mcp.Client": lambda: stock.call_tool("echo", ARGUMENTS),
        }
        times: dict[str, list[float]] = {name: [] for name in clients}
        cpu = dict.fromkeys(clients, 0.0)
        for call in clients.values():
            await timed(call, 50)
        for _ in range(BLOCKS):
            for name, call in clients.items():
                block, used = await timed(call, calls // BLOCKS)
                times[name] += block
                cpu[name] += used
        together = {}
        for name, call in clients.items():
            started = time.perf_counter()
            await asyncio.gather(*(call() for _ in range(500)))
            together[name] = 500 / (time.perf_counter() - started)
    return [
        {
            "client": name,
            "era": era,
            "calls": len(times[name]),
            "median_ms": round(statistics.median(times[name]), 3),
            "p95_ms": round(statistics.quantiles(times[name], n=20)[-1], 3),
            "cpu_ms_per_call": round(cpu[name] / len(times[name]), 3),
            "parallel_calls_per_s": round(together[name]),
        }
        for name in times
    ]


def resident_kb() -> int:
    """Resident memory of this process."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024


async def soak(calls: int) -> dict[str, Any]:
    """Calls through the backend, each answer checked; resident memory in kB after a tenth and at the end."""
    from agent_reach.backends.mcp import McpBackend
    from agent_reach.records.tool import Tool

    def server(number: int) -> ServerConfig:
        era = "modern" if number % 2 else "legacy"
        arguments = (str(SERVER), "--era", era)
        return ServerConfig(
            name=f"s{number}", command=sys.executable, args=arguments, env={"PATH": os.environ["PATH"]}
        )

    backend = McpBackend([server(number) for number in range(10)])

    async def one(number: int) -> None:
        outcome = await backend.call(Tool(name="echo", server=f"s{number % 10}"), {"n": number})
        if outcome.value != {"n": number}:
            raise AssertionError(outcome)

    memory = []
    started = time.perf_counter()
    for block in range(10):
        for first in range(block * calls // 10, (block + 1) * calls // 10, 1000):
            await asyncio.gather(*(one(first + number) for number in range(min(1000, calls // 10))))
        memory.append(resident_kb())
    seconds = time.perf_counter() - started
    await backend.aclose()
    return {
        "calls": calls,
        "seconds": round(seconds, 1),
        "memory_kb_after_a_tenth": memory[0],
        "memory_kb_at_the_end": memory[-1],
        "findings": len(backend.findings),
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--soak", type=int, default=0, metavar="N")
    parser.add_argument("--json", type=Path, default=None, metavar="FILE")
    options = parser.parse_args()
    rows = []
    with Path(os.devnull).open("w") as silence:
        for era in ("2025-11-25", "2026-07-28"):
            rows += asyncio.run(measure(era, options.calls, silence))
    heads = list(rows[0])
    print(" ".join(f"{head:>20}" for head in heads))
    for row in rows:
        print(" ".join(f"{row[head]!s:>20}" for head in heads))
    soaked = asyncio.run(soak(options.soak)) if options.soak else None
    if soaked is not None:
        print("soak: " + ", ".join(f"{key} {value}" for key, value in soaked.items()))
    print(f"load average while measuring: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    if options.json is not None:
        options.json.write_text(
            json.dumps({"rows": rows, "soak": soaked, "load": os.getloadavg()[0]}, indent=2) + "\n"
        )


if __name__ == "__main__":
    main()
