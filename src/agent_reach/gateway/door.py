"""The gateway as a server of the `mcp` package: one low-level server per endpoint, with our answers as its middleware.

The package speaks both eras, negotiates and refuses; what is a tool, prompt or resource is answered by the gateway before
its models would read, check and rewrite the message, so that results pass as the servers wrote them. Failures inside never
reach a client as text.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol

from agent_reach.gateway.answers import GatewayError
from agent_reach.gateway.caller import Caller
from agent_reach.gateway.settings import ClientRule
from agent_reach.version import __version__
from agent_reach.wire.failures import RequestRefused
from agent_reach.wire.protocol import INTERNAL_ERROR, INVALID_PARAMS, MODERN_VERSIONS

logger = logging.getLogger(__name__)

SCOPE_RULE = "agent_reach.client"
SCOPE_TOKEN = "agent_reach.token"
"""Where the guard of the HTTP side leaves who is calling."""

OURS = frozenset(
    {
        "tools/list",
        "tools/call",
        "prompts/list",
        "prompts/get",
        "resources/list",
        "resources/templates/list",
        "resources/read",
        "resources/subscribe",
        "resources/unsubscribe",
        "completion/complete",
        "logging/setLevel",
    }
)
_ONLY_OLDER = frozenset({"resources/subscribe", "resources/unsubscribe", "logging/setLevel"})
_LOG_LEVEL_META = "io.modelcontextprotocol/logLevel"


class Handler(Protocol):
    """Who answers the requests of an endpoint."""

    on_changed: list[Callable[[str, str], Awaitable[None]]]

    @property
    def anybody(self) -> ClientRule:
        """The rule of a client that nobody has told apart."""
        ...

    def instructions(self, endpoint: str) -> str:
        """What the model is told of the endpoint as a whole."""
        ...

    async def handle(
        self, method: str, params: Mapping[str, Any], caller: Caller, endpoint: str = ""
    ) -> dict[str, Any]:
        """The result of a request; raises `GatewayError`."""
        ...

    async def watch(self, uris: list[str]) -> None:
        """A client wants to know when these resources change."""
        ...


class _RawResult:
    """Takes the answer of a client as it is."""

    @classmethod
    def model_validate(cls, value: Any, **_: Any) -> Any:
        """The value itself."""
        return value


class _RawRequest:
    """A question of a server on its way to a client, as it is."""

    def __init__(self, method: str, params: Mapping[str, Any]) -> None:
        self.method = method
        self._params = dict(params)

    def model_dump(self, **_: Any) -> dict[str, Any]:
        """Method and parameters."""
        return {"method": self.method, "params": self._params}


class _RawNotification(_RawRequest):
    """A notification of a server on its way to a client."""


def build_server(handler: Handler, endpoint: str = "", *, transport: str = "stdio") -> Any:
    """The low-level server of one endpoint (`""`, or the name of a profile)."""
    import mcp_types as types
    from mcp.server.lowlevel.server import NotificationOptions, Server
    from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler

    async def unreached(context: Any, params: Any) -> Any:
        raise RuntimeError("the middleware answers this method")

    class ReachServer(Server[Any]):
        """Announces that its lists change, on every transport."""

        def create_initialization_options(
            self, notification_options: Any = None, *args: Any, **named: Any
        ) -> Any:
            options = notification_options or NotificationOptions(True, True, True)
            return super().create_initialization_options(options, *args, **named)

    bus = InMemorySubscriptionBus()
    listen = ListenHandler(bus)

    async def listening(context: Any, params: Any) -> Any:
        uris = params.notifications.resource_subscriptions
        if uris:
            await handler.watch([str(uri) for uri in uris])
        return await listen(context, params)

    server = ReachServer(
        "agent-reach",
        version=__version__,
        title="Agent-Reach",
        instructions=handler.instructions(endpoint) or None,
        get_tool_input_schema=lambda name: None,
        on_list_tools=unreached,
        on_call_tool=unreached,
        on_list_prompts=unreached,
        on_get_prompt=unreached,
        on_list_resources=unreached,
        on_list_resource_templates=unreached,
        on_read_resource=unreached,
        on_subscribe_resource=unreached,
        on_unsubscribe_resource=unreached,
        on_completion=unreached,
        on_subscriptions_listen=listening,
    )
    server.add_request_handler("logging/setLevel", types.SetLevelRequestParams, unreached)
    door = Door(handler, endpoint, bus, transport)
    server.middleware = [door]
    handler.on_changed.append(door.changed)
    return server


class Door:
    """The middleware of one endpoint."""

    def __init__(self, handler: Handler, endpoint: str, bus: Any, transport: str) -> None:
        self._handler = handler
        self._endpoint = endpoint
        self._bus = bus
        self._transport = transport
        self._sessions: dict[int, Any] = {}

    async def __call__(self, ctx: Any, call_next: Any) -> Any:
        """Answer a request of ours, pass the rest on to the package."""
        from mcp.shared.exceptions import MCPError

        method = ctx.method
        modern = ctx.protocol_version in MODERN_VERSIONS
        if ctx.request_id is None:
            if method == "notifications/initialized":
                self._remember(ctx.session)
            return await call_next(ctx)
        if method not in OURS or (modern and method in _ONLY_OLDER):
            return await call_next(ctx)
        params = ctx.params
        if params is not None and not isinstance(params, Mapping):
            raise MCPError(INVALID_PARAMS, "`params` must be an object")
        try:
            return await self._handler.handle(method, params or {}, self._caller(ctx, modern), self._endpoint)
        except GatewayError as error:
            raise MCPError(error.code, error.message, error.data) from None
        except MCPError:
            raise
        except Exception:
            logger.exception("a request of %s failed inside the gateway", method)
            raise MCPError(INTERNAL_ERROR, "internal error of the gateway") from None

    def _caller(self, context: Any, modern: bool) -> Caller:
        session = context.session
        scope = context.request.scope if context.request is not None else {}
        state = scope.get("state") or {}
        client = session.client_params
        capabilities = session.client_capabilities
        dumped = (
            capabilities.model_dump(by_alias=True, mode="json", exclude_none=True) if capabilities else {}
        )
        return Caller(
            rule=state.get(SCOPE_RULE) or self._handler.anybody,
            name=client.client_info.name if client is not None else "",
            connection=self._connection(context, scope, modern),
            version=context.protocol_version,
            modern=modern,
            transport=self._transport,
            capabilities=dumped,
            ask=self._ask(context) if not modern and session.can_send_request else None,
            tell=self._tell(context, modern),
            report=self._report(session),
            token=state.get(SCOPE_TOKEN, ""),
        )

    def _connection(self, context: Any, scope: Mapping[str, Any], modern: bool) -> str:
        if context.request is None:
            return self._transport
        if modern:
            return ""
        return next(
            (value.decode("latin-1") for key, value in scope.get("headers", ()) if key == b"mcp-session-id"),
            "",
        )

    def _ask(self, context: Any) -> Any:
        from mcp.shared.exceptions import MCPError
        from mcp.shared.message import ServerMessageMetadata
        from pydantic import ValidationError

        async def ask(method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
            try:
                answer = await context.session.send_request(
                    _RawRequest(method, params),
                    _RawResult,
                    metadata=ServerMessageMetadata(related_request_id=context.request_id),
                )
            except MCPError as error:
                raise RequestRefused(error.message, code=error.code, data=error.data) from None
            except ValidationError:
                raise RequestRefused(
                    f"the client's answer to {method} is malformed", code=INTERNAL_ERROR
                ) from None
            return dict(answer)

        return ask

    def _tell(self, context: Any, modern: bool) -> Any:
        session = context.session
        wanted = str((context.meta or {}).get(_LOG_LEVEL_META, "")) if modern else "debug"

        async def tell(method: str, params: Mapping[str, Any]) -> None:
            if method == "notifications/message":
                level = str(params.get("level", "info"))
                if wanted not in _LEVELS or _LEVELS.index(
                    level if level in _LEVELS else "info"
                ) < _LEVELS.index(wanted):
                    return
                await session.send_notification(
                    _RawNotification(method, params), related_request_id=context.request_id
                )
            else:
                await session.send_notification(_RawNotification(method, params))

        return tell

    def _report(self, session: Any) -> Any:
        async def report(progress: Mapping[str, Any]) -> None:
            done, total, message = progress.get("progress"), progress.get("total"), progress.get("message")
            if isinstance(done, (int, float)):
                await session.report_progress(
                    done,
                    total if isinstance(total, (int, float)) else None,
                    message if isinstance(message, str) else None,
                )

        return report

    # -- changes

    def _remember(self, session: Any) -> None:
        """An older client is told of changes on its connection, as long as that lives."""
        connection = session._connection  # the package shows a handler its connection only so
        key = id(connection)
        self._sessions[key] = session
        connection.exit_stack.callback(self._sessions.pop, key, None)

    async def changed(self, what: str, address: str) -> None:
        """Tell every client of this endpoint that a list, or a resource, has changed."""
        from mcp.shared.subscriptions import (
            PromptsListChanged,
            ResourcesListChanged,
            ResourceUpdated,
            ToolsListChanged,
        )

        events = {"tools": ToolsListChanged, "prompts": PromptsListChanged, "resources": ResourcesListChanged}
        if what == "updated":
            await self._bus.publish(ResourceUpdated(uri=address))
            note = _RawNotification("notifications/resources/updated", {"uri": address})
        else:
            await self._bus.publish(events[what]())
            note = _RawNotification(f"notifications/{what}/list_changed", {})
        sessions = list(self._sessions.values())
        await asyncio.gather(
            *(session.send_notification(note) for session in sessions), return_exceptions=True
        )

    @property
    def connections(self) -> int:
        """How many older clients are connected."""
        return len(self._sessions)


_LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
