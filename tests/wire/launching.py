"""How tests name and start the servers beside them."""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Coroutine, Iterator
from pathlib import Path
from typing import Any, TypeVar

from agent_reach.wire.servers import ServerConfig

SERVERS = Path(__file__).parent / "servers"
Result = TypeVar("Result")


def run(main: Coroutine[Any, Any, Result]) -> Result:
    """Run a test's coroutine with a limit that only a hanging test reaches."""

    async def limited() -> Result:
        async with asyncio.timeout(60):
            return await main

    return asyncio.run(limited())


def raw_server(*flags: str, name: str = "raw", **fields: Any) -> ServerConfig:
    """The raw JSON-RPC server with those flags."""
    return ServerConfig(
        name=name,
        command=sys.executable,
        args=("-S", "-E", str(SERVERS / "raw_server.py"), *flags),
        env={"PATH": os.environ["PATH"]},
        **fields,
    )


def packaged_server(**fields: Any) -> ServerConfig:
    """The package's own server over stdio."""
    return ServerConfig(
        name="packaged",
        command=sys.executable,
        args=(str(SERVERS / "package_server.py"), "stdio"),
        env=dict(os.environ),
        **fields,
    )


@contextlib.asynccontextmanager
async def http_server(transport: str, *flags: str, script: str = "package_server.py") -> AsyncIterator[int]:
    """An HTTP server process on loopback; yields its port."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        str(SERVERS / script),
        transport,
        *flags,
        stderr=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.DEVNULL,
    )
    assert process.stderr is not None
    try:
        while True:
            line = (await process.stderr.readline()).decode()
            if line.startswith("port "):
                break
            assert line, "the test server ended before it listened"
        drain = asyncio.ensure_future(process.stderr.read())
        yield int(line.split()[1])
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
        await drain


@contextlib.contextmanager
def serving(transport: str, *flags: str) -> Iterator[int]:
    """The package's server on loopback for many tests; yields its port."""
    command = [sys.executable, str(SERVERS / "package_server.py"), transport, *flags]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as process:
        assert process.stderr is not None
        try:
            for line in process.stderr:
                if line.startswith("port "):
                    threading.Thread(target=process.stderr.read, daemon=True).start()
                    yield int(line.split()[1])
                    break
        finally:
            process.kill()


def alive(process_id: int) -> bool:
    """Whether a process exists and is no zombie."""
    try:
        stat = Path(f"/proc/{process_id}/stat").read_text()
    except OSError:
        return False
    return stat.rsplit(")", 1)[1].split()[0] != "Z"
