"""Addresses of the protocol that record for somebody else: one per attempt of an outside program.

Whoever opens an address gives the tools it lists and the function that executes its calls; everything a client does there
ends in that function. An address is a secret path on loopback and lives as long as its attempt.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from typing import Any, Literal

from agent_reach.catalog.catalog import Catalog
from agent_reach.gateway.answers import GatewayError, outcome_result, text_result
from agent_reach.gateway.caller import Caller
from agent_reach.gateway.door import build_server
from agent_reach.gateway.eras import client_definition, client_result
from agent_reach.gateway.gateway import SERVER_INFO
from agent_reach.gateway.meta_tools import (
    CALL_READ,
    DESCRIBE,
    FIND,
    META_TOOLS,
    SEARCH_INSTRUCTIONS,
    described_result,
    found_result,
    object_of,
)
from agent_reach.gateway.offer import UnknownNameError, View
from agent_reach.gateway.settings import ClientRule, GatewaySettings
from agent_reach.records.trace import CallOutcome
from agent_reach.wire.protocol import INVALID_PARAMS, METHOD_NOT_FOUND

CallTool = Callable[[str, Any], Awaitable[CallOutcome]]
"""Executes a call by its emitted name and arguments."""


class AttemptHandler:
    """Answers the requests of one attempt.

    `offered` gives the definitions of the moment, in protocol form; in `search` mode the meta-tools stand for the tools of
    `catalog`. `call` executes and records.
    """

    def __init__(
        self,
        offered: Callable[[], Sequence[Mapping[str, Any]]],
        call: CallTool,
        *,
        mode: Literal["all", "search"] = "all",
        catalog: Callable[[], Catalog] | None = None,
    ) -> None:
        self.on_changed: list[Callable[[str, str], Awaitable[None]]] = []
        self.calls = 0
        self._offered = offered
        self._call = call
        self._search = mode == "search"
        self._catalog = catalog
        self._view: View | None = None

    @property
    def anybody(self) -> ClientRule:
        """Whoever knows the address."""
        return ClientRule()

    def instructions(self, endpoint: str) -> str:
        """What the model is told."""
        return SEARCH_INSTRUCTIONS if self._search else ""

    async def watch(self, uris: list[str]) -> None:
        """There are no resources here."""

    async def offer_changed(self) -> None:
        """The offered tools are others now."""
        self._view = None
        for listener in self.on_changed:
            await listener("tools", "")

    async def handle(
        self, method: str, params: Mapping[str, Any], caller: Caller, endpoint: str = ""
    ) -> dict[str, Any]:
        """The result of a request; raises `GatewayError`."""
        if method == "tools/list":
            raw: dict[str, Any] = {"tools": self._listed(caller.version)}
        elif method == "tools/call":
            raw = await self._called(params.get("name"), params.get("arguments"))
        elif method in ("prompts/list", "resources/list", "resources/templates/list"):
            key = {"prompts/list": "prompts", "resources/list": "resources"}.get(method, "resourceTemplates")
            raw = {key: []}
        elif method == "logging/setLevel":
            raw = {}
        else:
            raise GatewayError(METHOD_NOT_FOUND, "Method not found", method)
        return client_result(method, raw, caller.version, SERVER_INFO)

    def _listed(self, version: str) -> list[dict[str, Any]]:
        view = self._searched()
        if view is not None:
            return view.definitions("search", None, version)
        return [client_definition(one, version) for one in self._offered()]

    def _searched(self) -> View | None:
        if not self._search or self._catalog is None:
            return None
        if self._view is None:
            self._view = View(self._catalog(), "", GatewaySettings(mode="search"), ClientRule())
        return self._view

    async def _called(self, name: Any, arguments: Any) -> dict[str, Any]:
        if not isinstance(name, str):
            raise GatewayError(INVALID_PARAMS, "`name` must be the name of a tool")
        view = self._searched()
        if view is not None and name in META_TOOLS:
            fields = object_of(arguments)
            if name == FIND:
                query = str(fields.get("query") or "")
                count = fields.get("count")
                found = view.reach.find(query, count if isinstance(count, int) and count > 0 else 6)
                return found_result(view, found, query)
            if name == DESCRIBE:
                try:
                    return described_result(view, view.tool(str(fields.get("name") or "")))
                except UnknownNameError as error:
                    return text_result(str(error), is_error=True)
            return await self._through(view, name, fields)
        return await self._executed(name, arguments)

    async def _through(self, view: View, via: str, fields: Mapping[str, Any]) -> dict[str, Any]:
        inner = str(fields.get("name") or "")
        if via == CALL_READ:
            with contextlib.suppress(UnknownNameError):
                if not view.tool(inner).is_read_only:
                    return text_result(
                        f"{inner} may change something: call it with call_write", is_error=True
                    )
        return await self._executed(inner, fields.get("arguments"))

    async def _executed(self, name: str, arguments: Any) -> dict[str, Any]:
        self.calls += 1
        result = outcome_result(await self._call(name, arguments if arguments is not None else {}))
        result.pop("_meta", None)
        return result


class AttemptAddresses:
    """Opens addresses on one loopback port; an async context manager."""

    def __init__(self) -> None:
        self._managers: dict[str, Any] = {}
        self._server: Any = None
        self._serving: asyncio.Task[None] | None = None
        self._socket: socket.socket | None = None
        self._gate = asyncio.Lock()

    @contextlib.asynccontextmanager
    async def open(self, handler: AttemptHandler) -> AsyncIterator[str]:
        """The address of one attempt, for as long as the context lasts."""
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

        async with self._gate:
            port = await self._port()
        manager = StreamableHTTPSessionManager(app=build_server(handler, transport="http"))
        token = secrets.token_urlsafe(24)
        started, ended = asyncio.Event(), asyncio.Event()

        async def keep() -> None:
            async with manager.run():
                started.set()
                await ended.wait()

        # In a task of its own, so that what goes wrong in the attempt is not wrapped by the manager's task group.
        keeping = asyncio.ensure_future(keep())
        await started.wait()
        self._managers[token] = manager
        try:
            yield f"http://127.0.0.1:{port}/{token}/mcp"
        finally:
            del self._managers[token]
            ended.set()
            await asyncio.gather(keeping, return_exceptions=True)

    async def close(self) -> None:
        """Stop listening."""
        if self._server is not None and self._serving is not None:
            self._server.should_exit = True
            self._server.force_exit = True
            await asyncio.gather(self._serving, return_exceptions=True)
        if self._socket is not None:
            self._socket.close()
        self._server = self._serving = self._socket = None

    async def _port(self) -> int:
        if self._socket is None:
            self._socket = socket.socket()
            self._socket.bind(("127.0.0.1", 0))
            self._socket.listen(256)
            self._socket.setblocking(False)
            self._server = _uvicorn(self._app)
            self._serving = asyncio.ensure_future(self._server.serve(sockets=[self._socket]))
        port: int = self._socket.getsockname()[1]
        return port

    async def _app(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        token, _, rest = scope["path"].lstrip("/").partition("/")
        manager = self._managers.get(token)
        if manager is None or rest != "mcp":
            await send({"type": "http.response.start", "status": 404, "headers": []})
            await send({"type": "http.response.body", "body": b""})
            return
        await manager.handle_request(scope, receive, send)


def _uvicorn(app: Any) -> Any:
    import uvicorn

    class Server(uvicorn.Server):
        """Leaves signals to whoever runs it."""

        def capture_signals(self) -> Any:
            return contextlib.nullcontext()

    return Server(
        uvicorn.Config(
            app,
            interface="asgi3",
            log_config=None,
            access_log=False,
            lifespan="off",
            timeout_graceful_shutdown=2,
        )
    )
