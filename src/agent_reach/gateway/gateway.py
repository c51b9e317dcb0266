"""The gateway itself: servers, catalog, views, execution and traces behind one set of handlers.

Every transport and both eras of the protocol come in through `handle`; it knows methods and clients, not wires.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from agent_reach.catalog.catalog import Catalog
from agent_reach.catalog.needs import granting
from agent_reach.config.settings import EnvironmentGrants
from agent_reach.errors import CatalogError
from agent_reach.gateway.answers import GatewayError, text_result
from agent_reach.gateway.bridge import CallOrigin, Suspensions
from agent_reach.gateway.caller import Caller
from agent_reach.gateway.calls import Request, perform
from agent_reach.gateway.delivery import Deliveries
from agent_reach.gateway.eras import client_error, client_result
from agent_reach.gateway.memory import Memory, RateLimits
from agent_reach.gateway.meta_tools import (
    CALL_READ,
    CALL_WRITE,
    DESCRIBE,
    FIND,
    META_TOOLS,
    SEARCH_INSTRUCTIONS,
    described_result,
    found_result,
    object_of,
)
from agent_reach.gateway.metrics import Metrics
from agent_reach.gateway.offer import (
    OFFERED_IN_TRACES,
    NotAllowedError,
    UnknownNameError,
    View,
)
from agent_reach.gateway.paging import StaleCursorError, page
from agent_reach.gateway.passing import Passing
from agent_reach.gateway.pinned import Lock
from agent_reach.gateway.recording import Recording, gateway_trace
from agent_reach.gateway.servers import Servers
from agent_reach.gateway.settings import ClientRule, GatewaySettings, Profile
from agent_reach.records.finding import Finding
from agent_reach.records.trace import Step
from agent_reach.version import __version__
from agent_reach.wire.failures import RequestFailure, RequestRefused
from agent_reach.wire.protocol import INTERNAL_ERROR, INVALID_PARAMS

if TYPE_CHECKING:
    from agent_reach.backends.base import Backend
    from agent_reach.gateway.shared_history import SharedHistory
    from agent_reach.router.execute import Executor
    from agent_reach.traces.store.base import TraceStore

SERVER_INFO: Mapping[str, str] = {"name": "agent-reach", "title": "Agent-Reach", "version": __version__}
LOCK_SECONDS = 1.0
"""How often the snapshot is looked at."""
REFRESH_AFTER = 2.0
"""Seconds after the first list that kept lists are compared with the servers."""
MOST_VIEWS = 16
"""Kinds of clients whose view, with its index, is kept."""

Changed = Callable[[str, str], Awaitable[None]]


class Gateway:
    """Answers the requests of clients over the tools of its servers.

    `on_changed(what, address)` is told when clients should list again, `on_findings` what is odd about the settings once the
    tools are known. Close it with `close`.
    """

    def __init__(
        self,
        settings: GatewaySettings,
        servers: Servers,
        *,
        store: TraceStore | None = None,
        other: Backend | None = None,
        environments: Mapping[str, EnvironmentGrants] | None = None,
        normalize_options: Any = None,
        history: SharedHistory | None = None,
        reach_options: Mapping[str, Any] | None = None,
    ) -> None:
        self.settings = settings
        self.servers = servers
        self.metrics = Metrics()
        self.recording = Recording(store, self.metrics, durable=settings.durable)
        self.limits = RateLimits(settings.limits.per_minute)
        self.memory = Memory(settings.limits)
        self.normalize_options = normalize_options
        self.history = history
        self._reach_options = reach_options
        self.suspensions = Suspensions()
        self.deliveries = Deliveries(
            servers,
            other,
            idle_seconds=settings.limits.call_seconds,
            forward_tokens=settings.forward_tokens,
        )
        self.passing = Passing(self)
        self.on_changed: list[Changed] = []
        self.on_findings: Callable[[list[Finding]], None] = lambda findings: None
        self._told: set[tuple[str, str]] = set()
        self.announced: Mapping[str, Any] = self._bridged({kind: {} for kind in settings.bridge})
        """What servers are told that clients can do: of the one client on stdio its own, else all that is bridged."""
        self._environments = environments or {}
        self._needed: tuple[str, frozenset[str]] = ("", frozenset())
        self._lock = Lock(settings.lock) if settings.lock else None
        self._lock_seen = time.monotonic()
        self._views: OrderedDict[tuple[Any, ...], View] = OrderedDict()
        self._executor: Executor | None = None
        self._executor_catalog: Catalog | None = None
        self._refresh: asyncio.TimerHandle | None = None
        self._number = 0
        self._served = ""
        self._tasks: set[asyncio.Future[Any]] = set()
        self._closed = False
        servers.on_change = self._changed

    # -- state

    @property
    def executor(self) -> Executor:
        """The executor over the present catalog; its limits and retry budgets live as long as the gateway."""
        from agent_reach.router.execute import Executor
        from agent_reach.router.execute_records import ExecutionPolicy

        limits = self.settings.limits
        if self._executor is None:
            policy = ExecutionPolicy(
                timeout=limits.total_seconds,
                total_timeout=limits.total_seconds,
                max_result_bytes=limits.result_bytes,
                concurrency=limits.concurrency,
                concurrency_per_server=limits.per_server,
                loop_limit=0,
                retry_timeouts=False,
            )
            self._executor = Executor(self.deliveries, self.servers.catalog, policy=policy)
        self._executor.catalog = self.servers.catalog
        return self._executor

    def view(self, rule: ClientRule) -> View:
        """What a client may see and call now."""
        self._look_at_lock()
        grants = self._grants(rule)
        key = (self.servers.version, rule.allow, rule.deny, rule.environment, grants and grants.scopes)
        view = self._views.get(key)
        if view is None:
            if any(known[0] != self.servers.version for known in self._views):
                self._views.clear()
            while len(self._views) >= MOST_VIEWS:
                self._views.popitem(last=False)
            catalog = self.servers.catalog
            view = self._views[key] = View(
                catalog,
                self.servers.version,
                self.settings,
                rule,
                grants=grants,
                withheld=self._lock.withheld(catalog) if self._lock is not None else None,
                history=self.history.history if self.history is not None else None,
                reach_options=self._reach_options,
            )
            self._tell_findings(view.findings)
        self._views.move_to_end(key)
        return view

    def _grants(self, rule: ClientRule) -> EnvironmentGrants | None:
        """What is granted to a client; None where nothing is checked. Of its own scopes only those count that a tool
        needs, so that tokens that differ in others share one view."""
        environment = self._environments.get(rule.environment or self.settings.environment)
        if rule.scopes is None:
            return environment
        if self._needed[0] != self.servers.version:
            needed = frozenset(scope for tool in self.servers.catalog.tools for scope in tool.needs.scopes)
            self._needed = (self.servers.version, needed)
        scopes = tuple(sorted(scope for scope in self._needed[1] if granting(scope, rule.scopes)))
        every = ("*",)
        base = environment or EnvironmentGrants(services=every, env=every, files=every)
        return replace(base, scopes=scopes)

    def _tell_findings(self, findings: Iterable[Finding]) -> None:
        """Tell what is odd about the settings, each thing once; while servers are missing, a pattern may still match."""
        if self.servers.unknown:
            return
        fresh = [one for one in findings if (one.code, one.subject) not in self._told]
        self._told.update((one.code, one.subject) for one in fresh)
        if fresh:
            self.on_findings(fresh)

    @property
    def lock(self) -> Lock | None:
        """The snapshot that pins the catalog."""
        return self._lock

    @property
    def withheld(self) -> Mapping[str, str]:
        """The tools that the snapshot withholds, and why."""
        return self._lock.withheld(self.servers.catalog) if self._lock is not None else {}

    def _look_at_lock(self) -> None:
        if self._lock is None or time.monotonic() - self._lock_seen < LOCK_SECONDS:
            return
        self._lock_seen = time.monotonic()
        try:
            changed = self._lock.read()
        except CatalogError:
            return  # being written, or gone: what was read last still holds
        if changed:
            self._views.clear()
            self._spawn(self._tell("tools", ""))

    def profile(self, endpoint: str) -> Profile | None:
        """The profile of an endpoint; raises `GatewayError` for one that does not exist."""
        if not endpoint:
            if self.settings.mode == "top" and self.settings.profiles:
                return next(iter(self.settings.profiles.values()))
            return Profile(name="", pins=self.settings.pins) if self.settings.mode == "top" else None
        found = self.settings.profiles.get(endpoint)
        if found is None:
            raise GatewayError(INVALID_PARAMS, f"there is no profile {endpoint!r}")
        return found

    def offered(self, caller: Caller, mode: str, endpoint: str) -> tuple[tuple[str, ...], Mapping[str, str]]:
        """The keys that a client was offered, for a trace, and those that were kept back; long lists are told once."""
        view = self.view(caller.rule)
        memory = self.memory.of(caller)
        tools = view.tools_of(self.settings.mode, self.profile(endpoint))
        keys = tuple(dict.fromkeys((*(tool.key for tool in tools), *memory.found)))
        if len(keys) + len(view.hidden) <= OFFERED_IN_TRACES:
            return keys, view.hidden
        if memory.told_offer == view.version:
            return (), {}
        memory.told_offer = view.version
        return keys, view.hidden

    def _bridged(self, capabilities: Mapping[str, Any]) -> dict[str, Any]:
        return {kind: capabilities[kind] for kind in self.settings.bridge if kind in capabilities}

    @property
    def anybody(self) -> ClientRule:
        """The rule of a client without a token."""
        return next((rule for rule in self.settings.clients if not rule.token), ClientRule())

    def instructions(self, endpoint: str) -> str:
        """What the model is told of an endpoint as a whole."""
        return SEARCH_INSTRUCTIONS if self.settings.mode == "search" and not endpoint else ""

    async def watch(self, uris: list[str]) -> None:
        """A client wants to know when these resources change."""
        await self.passing.watch_all(uris)

    # -- requests

    def origin(self, caller: Caller) -> CallOrigin:
        """The client behind a call, to be asked and told."""
        self._number += 1
        return CallOrigin(caller, caller.connection or f"request-{self._number}", self.settings.bridge)

    async def handle(
        self, method: str, params: Mapping[str, Any], caller: Caller, endpoint: str = ""
    ) -> dict[str, Any]:
        """The result of a request in the client's era; raises `GatewayError`."""
        if caller.transport == "stdio":
            self.announced = self._bridged(caller.capabilities)
        try:
            if method == "tools/call":
                raw = await self._call(params, caller, endpoint)
            elif method == "tools/list":
                raw = await self._list(params, caller, endpoint)
            else:
                raw = await self.passing.handle(method, params, caller)
        except GatewayError as error:
            raise GatewayError(
                *client_error(method, error.code, error.message, error.data, caller.version)
            ) from None
        except RequestRefused as error:
            code = error.code or INTERNAL_ERROR
            raise GatewayError(
                *client_error(method, code, error.message, error.data, caller.version)
            ) from None
        except RequestFailure as error:
            raise GatewayError(INTERNAL_ERROR, error.message) from None
        return client_result(method, raw, caller.version, SERVER_INFO)

    async def _list(self, params: Mapping[str, Any], caller: Caller, endpoint: str) -> dict[str, Any]:
        await self.servers.known(self._list_seconds)
        self._refresh_later()
        view = self.view(caller.rule)
        memory = self.memory.of(caller)
        more = (
            [view.catalog.get(key) for key in memory.found if key in view.catalog]
            if self.settings.announce_found and not caller.modern
            else ()
        )
        shown = view.definitions(self.settings.mode, self.profile(endpoint), caller.version, more)
        version = view.version if not more else f"{view.version}+{len(more)}"
        try:
            entries, following = page(shown, version, _cursor(params), self.settings.page)
        except StaleCursorError as error:
            raise GatewayError(INVALID_PARAMS, str(error)) from None
        self.metrics.lists["tools/list"] += 1
        self._served = self.servers.version
        result: dict[str, Any] = {"tools": list(entries)}
        if following is not None:
            result["nextCursor"] = following
        return result

    async def _call(self, params: Mapping[str, Any], caller: Caller, endpoint: str) -> dict[str, Any]:
        name, arguments = params.get("name"), params.get("arguments")
        if not isinstance(name, str):
            raise GatewayError(INVALID_PARAMS, "`name` must be the name of a tool")
        state = params.get("requestState")
        if self.suspensions.is_ours(state):
            responses = params.get("inputResponses")
            resumed: dict[str, Any] = await self.suspensions.resume(
                str(state), responses if isinstance(responses, Mapping) else {}, self._owner(caller)
            )
            return resumed
        await self.servers.known(self._list_seconds)
        profile = self.profile(endpoint)
        if self.settings.mode == "search" and profile is None and name in META_TOOLS:
            if name == FIND:
                return await self._find(arguments, caller, endpoint)
            if name == DESCRIBE:
                return self._describe(arguments, caller)
            return await self._through_meta_tool(name, arguments, params, caller, endpoint)
        return await self._run(
            Request(
                name=name,
                arguments=arguments,
                mode=self.settings.mode if profile is None else "top",
                endpoint=endpoint,
                extra=_extra(params),
            ),
            caller,
        )

    async def _through_meta_tool(
        self, via: str, given: Any, params: Mapping[str, Any], caller: Caller, endpoint: str
    ) -> dict[str, Any]:
        fields = object_of(given)
        inner = fields.get("name")
        if not isinstance(inner, str) or not inner:
            return text_result("give the `name` of a tool that `find` returned", is_error=True)
        if inner in (CALL_READ, CALL_WRITE):
            return text_result(f"{via} calls tools, not {inner}", is_error=True)
        request = Request(
            name=inner,
            arguments=fields.get("arguments"),
            mode="search",
            endpoint=endpoint,
            via=via,
            extra=_extra(params),
        )
        try:
            return await self._run(request, caller)
        except GatewayError as error:
            if error.code != INVALID_PARAMS:
                raise
            return text_result(error.message, is_error=True)  # the meta-tool exists; its argument is wrong

    async def _run(self, request: Request, caller: Caller) -> dict[str, Any]:
        origin = self.origin(caller)
        may_suspend = caller.modern and any(kind in caller.capabilities for kind in self.settings.bridge)
        if not may_suspend:
            return await perform(self, request, caller, origin)
        driven: dict[str, Any] = await self.suspensions.drive(
            perform(self, request, caller, origin), origin, self._owner(caller)
        )
        return driven

    def _owner(self, caller: Caller) -> str:
        return f"{caller.rule.name}|{caller.name}"

    # -- search mode

    async def _find(self, given: Any, caller: Caller, endpoint: str) -> dict[str, Any]:
        started_at = time.time()
        fields = object_of(given)
        query = fields.get("query")
        if not isinstance(query, str) or not query.strip():
            return text_result("give the `query`: what has to be done, in the user's words", is_error=True)
        count = fields.get("count")
        count = count if isinstance(count, int) and 0 < count <= 50 else self.settings.count
        if self.history is not None:
            await self.history.follow()
        view = self.view(caller.rule)
        if not view.has_reach:  # the index of a large catalog takes a while; other clients go on
            await asyncio.to_thread(lambda: view.reach)
        found = view.reach.find(query, count)
        self.metrics.meta[FIND] += 1
        memory = self.memory.of(caller)
        memory.query, memory.candidates = query, tuple(candidate.record() for candidate in found)
        memory.search = search = uuid.uuid4().hex[:16]
        fresh = [candidate.tool.key for candidate in found if candidate.tool.key not in memory.found]
        memory.found.update(dict.fromkeys(fresh))
        while len(memory.found) > OFFERED_IN_TRACES:
            del memory.found[next(iter(memory.found))]
        candidates, ended_at = memory.candidates, time.time()
        offered = tuple(candidate.tool for candidate in candidates)
        await self.recording.take(
            lambda: gateway_trace(
                caller,
                Step(index=0, candidates=candidates, offered=offered, started_at=started_at),
                mode="search",
                started_at=started_at,
                ended_at=ended_at,
                query=query,
                offered=offered,
                hidden=view.hidden if len(view.hidden) <= OFFERED_IN_TRACES else {},
                lacks=view.lacks if len(view.lacks) <= OFFERED_IN_TRACES else {},
                metadata={"endpoint": endpoint, "catalog": view.version, "via": FIND, "search": search},
            )
        )
        if fresh and self.settings.announce_found and not caller.modern:
            await caller.tell("notifications/tools/list_changed", {})
        return found_result(view, found, query)

    def _describe(self, given: Any, caller: Caller) -> dict[str, Any]:
        view = self.view(caller.rule)
        name = object_of(given).get("name")
        self.metrics.meta[DESCRIBE] += 1
        try:
            tool = view.tool(str(name or ""))
        except (UnknownNameError, NotAllowedError) as error:
            return text_result(str(error), is_error=True)
        return described_result(view, tool)

    # -- changes

    @property
    def _list_seconds(self) -> float:
        return 30.0

    def _refresh_later(self) -> None:
        """Kept lists are compared with the servers once the client has its first answer."""
        if self._refresh is None and self.servers.stale:
            loop = asyncio.get_running_loop()
            self._refresh = loop.call_later(REFRESH_AFTER, lambda: self._spawn(self.servers.refresh()))

    async def _changed(self, what: str, address: str) -> None:
        if what == "tools":
            self._views.clear()
            if self._served in ("", self.servers.version):
                return  # nobody has seen another list
        else:
            self.passing.forget(what, address)
        await self._tell(what, address)

    async def _tell(self, what: str, address: str) -> None:
        for listener in list(self.on_changed):
            await listener(what, address)

    def _spawn(self, work: Any) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """End servers and waiting calls, write the last traces."""
        if self._closed:
            return
        self._closed = True
        if self._refresh is not None:
            self._refresh.cancel()
        self.suspensions.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.deliveries.aclose()
        await self.servers.close()
        if self.history is not None:
            await self.history.close()
        self.recording.flush()
        if self.recording.store is not None:
            await asyncio.to_thread(self.recording.store.close)


def _cursor(params: Mapping[str, Any]) -> str | None:
    cursor = params.get("cursor")
    return cursor if isinstance(cursor, str) else None


def _extra(params: Mapping[str, Any]) -> dict[str, Any]:
    """What goes on to the server beside name and arguments: answers, its state, and the client's own `_meta`."""
    extra = {key: params[key] for key in ("inputResponses", "requestState") if params.get(key) is not None}
    meta = params.get("_meta")
    if isinstance(meta, Mapping):
        kept = {
            key: value
            for key, value in meta.items()
            if key != "progressToken" and not key.startswith("io.modelcontextprotocol/")
        }
        if kept:
            extra["_meta"] = kept
    return extra
