"""A small HTTP service in raw asyncio that tells what it was asked, and answers as its paths say."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from typing import Any


class Service:
    """Runs on loopback; `seen` holds what arrived."""

    def __init__(self) -> None:
        self.seen: list[dict[str, Any]] = []
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while line := await reader.readline():
                method, target, _ = line.decode().split(" ")
                headers = {}
                while (header := (await reader.readline()).decode().strip()) != "":
                    name, _, value = header.partition(": ")
                    headers[name.lower()] = value
                body = await reader.readexactly(int(headers.get("content-length", "0")))
                self.seen.append(
                    {"method": method, "target": target, "headers": headers, "body": body.decode()}
                )
                if not await self.answer(target, writer):
                    break
        except asyncio.CancelledError:
            pass  # the test is over
        finally:
            with contextlib.suppress(Exception):
                writer.close()

    async def answer(self, target: str, writer: asyncio.StreamWriter) -> bool:
        path = target.split("?")[0]
        status, extra, body = "200 OK", "", json.dumps({"asked": target})
        kind = "application/json"
        if path.startswith("/status/"):
            status, body, kind = f"{path.rsplit('/', 1)[1]} Odd", "told you", "text/plain"
            extra = "Retry-After: 7\r\n" if "429" in path else ""
        elif path == "/empty":
            body = ""
        elif path == "/slow":
            await asyncio.sleep(30)
        elif path == "/drop":
            return False
        elif path == "/moved":
            status, extra = "307 Moved", "Location: /there\r\n"
        elif path == "/away":
            status, extra = "307 Moved", "Location: http://example.invalid/there\r\n"
        elif path == "/broken-json":
            body = '{"a": '
        data = body.encode()
        head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(data)}\r\n{extra}\r\n"
        writer.write(head.encode() + data)
        await writer.drain()
        return True


@contextlib.asynccontextmanager
async def service() -> AsyncIterator[Service]:
    running = Service()
    server = await asyncio.start_server(running.serve, "127.0.0.1", 0)
    running.port = server.sockets[0].getsockname()[1]
    try:
        yield running
    finally:
        server.close()
