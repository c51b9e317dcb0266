"""The gateway over HTTP: streamable HTTP in both eras at /mcp and /mcp/PROFILE, and what operators ask.

`/healthz` says that the process lives, `/readyz` that its catalog stands and its store takes traces, `/metrics` what has
happened. Health and readiness are open to everybody who reaches the address; everything else passes the guard.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from agent_reach.errors import ConfigError
from agent_reach.gateway.door import Door, build_server
from agent_reach.gateway.guard import Guard, metadata_document, metadata_path

if TYPE_CHECKING:
    from agent_reach.gateway.gateway import Gateway

HEALTH, READY, METRICS, MCP = "/healthz", "/readyz", "/metrics", "/mcp"
CLOSE_SECONDS = 3


def build_app(gateway: Gateway) -> Any:
    """The ASGI application of a gateway."""
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import JSONResponse, PlainTextResponse
    from starlette.routing import Route

    settings = gateway.settings
    managers: dict[str, Any] = {}
    doors: list[Door] = []
    for endpoint in ("", *settings.profiles):
        server = build_server(gateway, endpoint, transport="http")
        doors.append(server.middleware[0])
        managers[endpoint] = StreamableHTTPSessionManager(
            app=server, stateless=settings.stateless, max_request_body_size=settings.limits.request_bytes
        )

    async def health(request: Request) -> JSONResponse:
        return JSONResponse({"status": "ok"})

    async def ready(request: Request) -> JSONResponse:
        state = readiness(gateway)
        return JSONResponse(state, status_code=200 if state["ready"] else 503)

    async def metrics(request: Request) -> PlainTextResponse:
        text = gateway.metrics.text(gauges(gateway, sum(door.connections for door in doors)))
        return PlainTextResponse(text, media_type="text/plain; version=0.0.4")

    open_paths = {HEALTH, READY}
    routes = [Route(HEALTH, health), Route(READY, ready), Route(METRICS, metrics)]
    if settings.oauth is not None:
        rule = settings.oauth

        async def metadata(request: Request) -> JSONResponse:
            return JSONResponse(metadata_document(rule))

        for path in {metadata_path(rule.resource), "/.well-known/oauth-protected-resource"}:
            routes.append(Route(path, metadata))
            open_paths.add(path)
    routes += [
        Route(f"{MCP}/{endpoint}" if endpoint else MCP, _Endpoint(manager))
        for endpoint, manager in managers.items()
    ]

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with contextlib.AsyncExitStack() as stack:
            for manager in managers.values():
                await stack.enter_async_context(manager.run())
            yield

    app = Starlette(routes=routes, lifespan=lifespan)
    return Guard(app, settings, gateway.metrics, frozenset(open_paths))


class _Endpoint:
    """One address of the protocol."""

    def __init__(self, manager: Any) -> None:
        self._manager = manager

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await self._manager.handle_request(scope, receive, send)


def readiness(gateway: Gateway) -> dict[str, Any]:
    """Whether the gateway can do its work: at least one server's tools are known, and nothing failed for good."""
    servers = gateway.servers
    states = {
        name: "running" if upstream.alive else ("failing" if upstream.last_error else "idle")
        for name, upstream in servers.upstreams.items()
    }
    failing = [name for name, state in states.items() if state == "failing"]
    usable = not states or len(failing) < len(states)
    return {"ready": usable, "servers": states, "tools": len(servers.catalog.tools)}


def gauges(
    gateway: Gateway, connections: int
) -> dict[str, tuple[str, Iterable[tuple[Mapping[str, str], float]]]]:
    """The state of the moment for `/metrics`."""
    upstreams = gateway.servers.upstreams
    return {
        "agent_reach_server_up": (
            "Whether a server's session is open.",
            [({"server": name}, float(one.alive)) for name, one in upstreams.items()],
        ),
        "agent_reach_server_starts": (
            "How often a server was started.",
            [({"server": name}, float(one.starts)) for name, one in upstreams.items()],
        ),
        "agent_reach_server_in_flight": (
            "Requests that wait for a server.",
            [({"server": name}, float(one.in_flight)) for name, one in upstreams.items()],
        ),
        "agent_reach_tools": ("Usable tools.", [({}, float(len(gateway.servers.catalog.tools)))]),
        "agent_reach_tools_withheld": (
            "Tools that nobody may call now.",
            [({}, float(len(gateway.withheld)))],
        ),
        "agent_reach_connections": ("Clients of the older era.", [({}, float(connections))]),
        "agent_reach_questions_waiting": (
            "Calls that wait for an answer of their client.",
            [({}, float(gateway.suspensions.waiting))],
        ),
    }


async def serve_http(gateway: Gateway, ready: Callable[[str], None]) -> None:
    """Serve until cancelled; `ready` is told the address once connections are taken."""
    import uvicorn

    settings = gateway.settings
    listening = _listen(settings.host, settings.port)
    port = listening.getsockname()[1]
    config = uvicorn.Config(
        build_app(gateway),
        log_config=None,
        access_log=False,
        lifespan="on",
        timeout_graceful_shutdown=CLOSE_SECONDS,
        server_header=False,
    )
    started = asyncio.Event()

    class Server(uvicorn.Server):
        """Says when it takes connections, and leaves signals to whoever runs it."""

        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            started.set()

        def capture_signals(self) -> Any:
            return contextlib.nullcontext()

    server = Server(config)
    serving = asyncio.ensure_future(server.serve(sockets=[listening]))
    waiting = asyncio.ensure_future(started.wait())
    try:
        await asyncio.wait({serving, waiting}, return_when=asyncio.FIRST_COMPLETED)
        if started.is_set():
            host = f"[{settings.host}]" if ":" in settings.host else settings.host
            ready(f"http://{host}:{port}{MCP}")
        await asyncio.shield(serving)
    finally:
        waiting.cancel()
        server.should_exit = True
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.wait([serving], timeout=CLOSE_SECONDS + 2)
        listening.close()


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
    except OSError as error:
        listening.close()
        raise ConfigError(
            f"{host}:{port} cannot be bound: {error.strerror}",
            where="gateway",
            next_step="choose another `port` (0 takes a free one)",
        ) from error
    listening.listen(1024)
    listening.setblocking(False)
    return listening
