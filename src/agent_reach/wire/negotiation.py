"""Which protocol era a server speaks, found by asking.

A server of the current era answers `server/discover`; every refusal of that question, silence, or an answer without a
common version means the older handshake. Only a server that names its versions and has none of ours is incompatible.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from agent_reach.errors import ServerError
from agent_reach.version import __version__
from agent_reach.wire.failures import RequestRefused, RequestTimedOut
from agent_reach.wire.peer import Peer
from agent_reach.wire.protocol import (
    CLIENT_CAPABILITIES_META,
    CLIENT_INFO_META,
    HANDSHAKE_VERSIONS,
    LATEST_HANDSHAKE,
    LATEST_MODERN,
    METHOD_HEADER,
    MODERN_VERSIONS,
    PROTOCOL_VERSION_META,
    SERVER_INFO_META,
    UNSUPPORTED_PROTOCOL_VERSION,
    VERSION_HEADER,
)

Era = Literal["auto", "legacy", "modern"]

CLIENT_INFO: Mapping[str, str] = {"name": "agent-reach", "version": __version__}


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """What was agreed: the protocol version, and what the server says of itself."""

    version: str
    capabilities: Mapping[str, Any] = field(default_factory=dict)
    info: Mapping[str, Any] = field(default_factory=dict)
    instructions: str = ""
    raw: Mapping[str, Any] = field(default_factory=dict)

    @property
    def modern(self) -> bool:
        """Whether each request carries the version by itself."""
        return self.version in MODERN_VERSIONS


def request_meta(
    version: str, capabilities: Mapping[str, Any], client_info: Mapping[str, Any]
) -> dict[str, Any]:
    """The `_meta` entries that each request of the current era carries."""
    return {
        PROTOCOL_VERSION_META: version,
        CLIENT_INFO_META: client_info,
        CLIENT_CAPABILITIES_META: capabilities,
    }


async def negotiate(
    peer: Peer,
    *,
    era: Era,
    capabilities: Mapping[str, Any],
    client_info: Mapping[str, Any] = CLIENT_INFO,
    probe_timeout: float,
    timeout: float,
) -> Agreement:
    """Agree on a version; raises `RequestFailure` or `ServerError`.

    `probe_timeout` bounds the first question, `timeout` the handshake after it, both in seconds. A server that starts so
    slowly that it takes the first question for good after we went on is asked again in its own era.
    """
    version = LATEST_MODERN
    for attempt in range(2):
        if era != "legacy":
            patience = timeout if era == "modern" else probe_timeout
            found = await _discover(peer, version, capabilities, client_info, patience)
            if isinstance(found, Agreement):
                return found
            if found and attempt == 0:
                version = found
                continue
            if era == "modern":
                raise ServerError(f"the server does not speak a protocol of {', '.join(MODERN_VERSIONS)}")
        try:
            return await _initialize(peer, capabilities, client_info, timeout)
        except RequestRefused as error:
            common = _common(error)
            if error.code != UNSUPPORTED_PROTOCOL_VERSION or not common or attempt:
                raise
            version = common
            era = "modern"
    raise ServerError("no common protocol version was found")


async def _discover(
    peer: Peer,
    version: str,
    capabilities: Mapping[str, Any],
    client_info: Mapping[str, Any],
    timeout: float,
) -> Agreement | str:
    """An agreement, another version to ask with, or an empty text for "use the handshake"."""
    headers = {VERSION_HEADER: version, METHOD_HEADER: "server/discover"}
    params = {"_meta": request_meta(version, capabilities, client_info)}
    try:
        result = await peer.request("server/discover", params, timeout=timeout, headers=headers)
    except RequestTimedOut:
        return ""
    except RequestRefused as error:
        if error.http_status in (401, 403):
            raise
        if error.code == UNSUPPORTED_PROTOCOL_VERSION:
            common = _common(error)
            if common:
                return common
            supported = _supported(error)
            if supported and not any(item in HANDSHAKE_VERSIONS for item in supported):
                raise
        return ""
    fields = result if isinstance(result, Mapping) else {}
    offered = fields.get("supportedVersions")
    offered = offered if isinstance(offered, list) else []
    common_versions = [item for item in MODERN_VERSIONS if item in offered]
    if not common_versions:
        return ""
    meta = _mapping(fields.get("_meta"))
    return Agreement(
        version=common_versions[-1],
        capabilities=_mapping(fields.get("capabilities")),
        info=_mapping(meta.get(SERVER_INFO_META)) or _mapping(fields.get("serverInfo")),
        instructions=str(fields.get("instructions") or ""),
        raw=fields,
    )


async def _initialize(
    peer: Peer, capabilities: Mapping[str, Any], client_info: Mapping[str, Any], timeout: float
) -> Agreement:
    params = {
        "protocolVersion": LATEST_HANDSHAKE,
        "capabilities": capabilities,
        "clientInfo": client_info,
    }
    result = await peer.request("initialize", params, timeout=timeout)
    fields = _mapping(result)
    version = fields.get("protocolVersion")
    if not isinstance(version, str) or not version:
        raise ServerError(f"the server answered the handshake without a protocol version: {result!r:.200}")
    peer.notify("notifications/initialized")
    await asyncio.sleep(0)
    return Agreement(
        version=version,
        capabilities=_mapping(fields.get("capabilities")),
        info=_mapping(fields.get("serverInfo")),
        instructions=str(fields.get("instructions") or ""),
        raw=fields,
    )


def _supported(error: RequestRefused) -> list[Any]:
    supported = _mapping(error.data).get("supported")
    return supported if isinstance(supported, list) else []


def _common(error: RequestRefused) -> str:
    common = [item for item in MODERN_VERSIONS if item in _supported(error)]
    return common[-1] if common else ""


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
