"""Prompts, resources and completions: gathered from all servers, and passed to the one that owns what is asked for.

A prompt keeps its name where only one server has it, else it is `server__name`; a resource is found by its address, by a
template that fits it, or by asking the servers that have resources. Nothing in them is read or changed.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agent_reach.errors import ServerError
from agent_reach.gateway.answers import GatewayError
from agent_reach.gateway.caller import Caller
from agent_reach.gateway.delivery import answers
from agent_reach.gateway.paging import StaleCursorError, page, version_of
from agent_reach.gateway.upstream import Upstream
from agent_reach.wire.failures import RequestFailure, RequestRefused
from agent_reach.wire.protocol import INVALID_PARAMS, METHOD_NOT_FOUND

if TYPE_CHECKING:
    from agent_reach.gateway.gateway import Gateway

_LISTS = {
    "prompts/list": ("prompts", "prompts"),
    "resources/list": ("resources", "resources"),
    "resources/templates/list": ("resources", "resourceTemplates"),
}
"""Method: the capability it needs, and the key its entries stand under."""
_MAX_ROUNDS = 10
_RESULT_URI = "agent-reach://result/"


@dataclass(frozen=True, slots=True)
class _Entry:
    """One prompt, resource or template, and the server that has it."""

    server: str
    shown: Mapping[str, Any]
    name: str


class Passing:
    """Passes on what is not a tool."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self._lists: dict[tuple[str, str], tuple[Mapping[str, Any], ...]] = {}

    def forget(self, what: str, server: str) -> None:
        """A server's list has changed."""
        for method, (capability, _) in _LISTS.items():
            if capability == what:
                self._lists.pop((method, server), None)

    async def handle(self, method: str, params: Mapping[str, Any], caller: Caller) -> dict[str, Any]:
        """The raw result of a request; raises `GatewayError` or `RequestFailure`."""
        if method in _LISTS:
            return await self._list(method, params)
        if method == "prompts/get":
            return await self._prompt(params, caller)
        if method == "resources/read":
            return await self._resource(method, params, caller)
        if method in ("resources/subscribe", "resources/unsubscribe"):
            return await self._watch(method, params)
        if method == "completion/complete":
            return await self._complete(params, caller)
        if method == "logging/setLevel":
            return await self._log_level(params)
        raise GatewayError(METHOD_NOT_FOUND, "Method not found", method)

    # -- lists

    async def _list(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        _, key = _LISTS[method]
        entries = [entry.shown for entry in await self._entries(method)]
        version = version_of(method, *(str(entry) for entry in entries))
        cursor = params.get("cursor")
        try:
            part, following = page(
                entries, version, cursor if isinstance(cursor, str) else None, self._gateway.settings.page
            )
        except StaleCursorError as error:
            raise GatewayError(INVALID_PARAMS, str(error)) from None
        self._gateway.metrics.lists[method] += 1
        result: dict[str, Any] = {key: [dict(entry) for entry in part]}
        if following is not None:
            result["nextCursor"] = following
        return result

    async def _entries(self, method: str) -> list[_Entry]:
        """What all servers list, in their order, each under the name a client sees."""
        upstreams = list(self._gateway.servers.upstreams.values())
        lists = await asyncio.gather(*(self._of(upstream, method) for upstream in upstreams))
        if method != "prompts/list":
            seen: dict[str, _Entry] = {}
            for upstream, found in zip(upstreams, lists, strict=True):
                for one in found:
                    address = str(one.get("uri", one.get("uriTemplate", "")))
                    seen.setdefault(address, _Entry(upstream.name, one, address))
            return list(seen.values())
        names = Counter(str(one.get("name")) for found in lists for one in found)
        return [
            _Entry(
                upstream.name, {**one, "name": _prompt_name(upstream.name, one, names)}, str(one.get("name"))
            )
            for upstream, found in zip(upstreams, lists, strict=True)
            for one in found
        ]

    async def _of(self, upstream: Upstream, method: str) -> tuple[Mapping[str, Any], ...]:
        """One server's list; nothing where it has none or cannot be reached now."""
        known = self._lists.get((method, upstream.name))
        if known is not None:
            return known
        capability, key = _LISTS[method]
        try:
            session = await upstream.ready()
            if capability not in session.capabilities:
                self._lists[(method, upstream.name)] = ()
                return ()
            listed = await session.list_all(method, key)
        except ServerError:
            return ()
        self._lists[(method, upstream.name)] = listed.items
        return listed.items

    # -- single things

    async def _prompt(self, params: Mapping[str, Any], caller: Caller) -> dict[str, Any]:
        entry = await self._named_prompt(params.get("name"))
        upstream = self._gateway.servers.upstreams[entry.server]
        return await self._pass("prompts/get", {**params, "name": entry.name}, upstream, caller)

    async def _named_prompt(self, name: Any) -> _Entry:
        for entry in await self._entries("prompts/list"):
            if entry.shown["name"] == name:
                return entry
        raise GatewayError(INVALID_PARAMS, f"Unknown prompt: {name}")

    async def _resource(self, method: str, params: Mapping[str, Any], caller: Caller) -> dict[str, Any]:
        uri = params.get("uri")
        if not isinstance(uri, str):
            raise GatewayError(INVALID_PARAMS, "`uri` must be the address of a resource")
        if uri.startswith(_RESULT_URI):
            return self._kept_result(uri)
        owner = await self._owner(uri)
        if owner is not None:
            return await self._pass(method, params, owner, caller)
        refused: RequestRefused | None = None
        for upstream in await self._with_resources():
            try:
                return await self._pass(method, params, upstream, caller)
            except RequestRefused as error:
                refused = refused or error
            except RequestFailure:
                continue
        if refused is not None:
            raise refused
        raise GatewayError(-32002, f"Resource not found: {uri}", {"uri": uri})

    def _kept_result(self, uri: str) -> dict[str, Any]:
        """A result that was cut, whole."""
        outcome = self._gateway.executor.results.get(uri.removeprefix(_RESULT_URI))
        if outcome is None:
            raise GatewayError(-32002, f"Resource not found: {uri}", {"uri": uri})
        return {"contents": [{"uri": uri, "mimeType": "text/plain", "text": outcome.text}]}

    async def _owner(self, uri: str) -> Upstream | None:
        upstreams = self._gateway.servers.upstreams
        for entry in await self._entries("resources/list"):
            if entry.name == uri:
                return upstreams[entry.server]
        for entry in await self._entries("resources/templates/list"):
            if _fits(entry.name, uri):
                return upstreams[entry.server]
        return None

    async def _with_resources(self) -> list[Upstream]:
        found = []
        for upstream in self._gateway.servers.upstreams.values():
            session = upstream.session
            if session is not None and "resources" in session.capabilities:
                found.append(upstream)
        return found

    async def _watch(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        uri = str(params.get("uri", ""))
        owner = await self._owner(uri)
        if owner is None:
            raise GatewayError(-32002, f"Resource not found: {uri}", {"uri": uri})
        await self.watch(owner, uri, on=method == "resources/subscribe")
        return {}

    async def watch(self, owner: Upstream, uri: str, *, on: bool = True) -> None:
        """Ask a server to tell when a resource changes, or not to any more."""
        session = await owner.ready()
        if session.modern:
            owner.watch(uri, on=on)
            return
        await session.request(
            "resources/subscribe" if on else "resources/unsubscribe", {"uri": uri}, timeout=30
        )

    async def watch_all(self, uris: list[str]) -> None:
        """Watch the resources that a client of the current era listens for; those of nobody are left out."""
        for uri in uris:
            owner = await self._owner(uri)
            if owner is not None:
                try:
                    await self.watch(owner, uri)
                except ServerError:
                    continue

    async def _complete(self, params: Mapping[str, Any], caller: Caller) -> dict[str, Any]:
        reference = params.get("ref")
        fields = reference if isinstance(reference, Mapping) else {}
        if fields.get("type") == "ref/prompt":
            entry = await self._named_prompt(fields.get("name"))
            passed: dict[str, Any] = {**params, "ref": {**fields, "name": entry.name}}
            return await self._pass(
                "completion/complete", passed, self._gateway.servers.upstreams[entry.server], caller
            )
        address = str(fields.get("uri", ""))
        for listed in await self._entries("resources/templates/list"):
            if listed.name == address:
                upstream = self._gateway.servers.upstreams[listed.server]
                return await self._pass("completion/complete", params, upstream, caller)
        owner = await self._owner(address)
        if owner is None:
            raise GatewayError(INVALID_PARAMS, f"no prompt or resource has this reference: {address}")
        return await self._pass("completion/complete", params, owner, caller)

    async def _log_level(self, params: Mapping[str, Any]) -> dict[str, Any]:
        for upstream in self._gateway.servers.upstreams.values():
            session = upstream.session
            if session is not None and not session.modern and "logging" in session.capabilities:
                try:
                    await session.request("logging/setLevel", {"level": params.get("level")}, timeout=10)
                except RequestFailure:
                    continue
        return {}

    async def _pass(
        self, method: str, params: Mapping[str, Any], upstream: Upstream, caller: Caller
    ) -> dict[str, Any]:
        """Pass one request on; an older client is asked here what a server of the current era wants to know first."""
        origin = self._gateway.origin(caller)
        given = params.get("_meta")
        meta = {
            key: value
            for key, value in (given.items() if isinstance(given, Mapping) else ())
            if key != "progressToken" and not key.startswith("io.modelcontextprotocol/")
        }
        extra: dict[str, Any] = {"_meta": meta} if meta else {}
        passed = {key: value for key, value in params.items() if key != "_meta"}
        for _ in range(_MAX_ROUNDS):
            raw = await upstream.request(
                method,
                {**passed, **extra},
                origin,
                timeout=self._gateway.settings.limits.call_seconds,
                max_total=self._gateway.settings.limits.total_seconds,
            )
            await origin.told()
            result = dict(raw) if isinstance(raw, Mapping) else {}
            if result.get("resultType") != "input_required" or caller.modern:
                return result
            extra.update(await answers(result, origin, upstream.config.label))
        raise GatewayError(-32603, f"the server goes on asking for input after {_MAX_ROUNDS} rounds")


def _prompt_name(server: str, prompt: Mapping[str, Any], names: Counter[str]) -> str:
    name = str(prompt.get("name"))
    return name if names[name] == 1 else f"{server}__{name}"


def _fits(template: str, uri: str) -> bool:
    """Whether a URI template may give this address: its fixed parts stand in it in order."""
    parts = re.split(r"\{[^{}]*\}", template)
    pattern = ".*".join(re.escape(part) for part in parts)
    return len(parts) > 1 and re.fullmatch(pattern, uri) is not None
