"""A server made with the `mcp` package itself: stdio, streamable HTTP or SSE on loopback, with faults in front of HTTP.

Prints `port N` on stderr once it listens. A call of the tool `limited` is answered by the front with the HTTP status in its
argument `fault` (`STATUS[:retry_after]`).
"""

import argparse
import asyncio
import json
import socket
import sys
from typing import Any

from mcp.server.mcpserver import Context, MCPServer

parser = argparse.ArgumentParser()
parser.add_argument("transport", choices=["stdio", "http", "sse"])
parser.add_argument("--token", default="", help="refuse requests without this bearer token (401)")
parser.add_argument("--json", action="store_true")
parser.add_argument("--port", type=int, default=0)
options = parser.parse_args()

server = MCPServer("packaged", version="3.1")
executed: list[str] = []


@server.tool()
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@server.tool()
def order(id: int) -> dict[str, Any]:
    """Get an order."""
    return {"id": id, "items": [{"sku": "A", "quantity": 2}]}


@server.tool()
def broken() -> str:
    """Always fails."""
    raise ValueError("record 12 is locked")


@server.tool()
def limited(fault: str) -> str:
    """Meets the fault of the HTTP front."""
    return "let through"


@server.tool()
def big(size: int) -> str:
    """A long text."""
    return "x" * size


@server.tool()
async def steps(count: int, gap: float, ctx: Context) -> str:
    """Reports progress."""
    for step in range(count):
        await asyncio.sleep(gap)
        await ctx.report_progress(step + 1, count)
    executed.append("steps")
    return "finished"


@server.tool()
def history() -> list[str]:
    """What ran to its end."""
    return executed


class Front:
    """Stands before the application and answers some requests itself."""

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = {key.decode().lower(): value.decode() for key, value in scope["headers"]}
        if options.token and headers.get("authorization") != f"Bearer {options.token}":
            await self.refuse(send, 401, "")
            return
        if scope["method"] != "POST":
            await self.app(scope, receive, send)
            return
        body = b""
        while True:
            event = await receive()
            body += event.get("body", b"")
            if not event.get("more_body"):
                break
        message = json.loads(body or b"{}")
        if message.get("method") == "tools/call" and message["params"]["name"] == "limited":
            status, _, retry = message["params"]["arguments"]["fault"].partition(":")
            await self.refuse(send, int(status), retry)
            return
        events = [{"type": "http.request", "body": body, "more_body": False}]

        async def replay() -> Any:
            return events.pop(0) if events else await receive()

        await self.app(scope, replay, send)

    @staticmethod
    async def refuse(send: Any, status: int, retry: str) -> None:
        headers = [(b"content-type", b"text/plain")]
        if retry:
            headers.append((b"retry-after", retry.encode()))
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": b"refused"})


def main() -> None:
    if options.transport == "stdio":
        server.run("stdio")
        return
    import uvicorn

    if options.transport == "http":
        app = server.streamable_http_app(json_response=options.json)
    else:
        app = server.sse_app()
    listening = socket.socket()
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listening.bind(("127.0.0.1", options.port))
    listening.listen(128)
    sys.stderr.write(f"port {listening.getsockname()[1]}\n")
    sys.stderr.flush()
    config = uvicorn.Config(Front(app), log_level="error", lifespan="on")
    asyncio.run(uvicorn.Server(config).serve(sockets=[listening]))


main()
