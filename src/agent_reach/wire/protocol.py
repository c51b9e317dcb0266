"""The constants of the Model Context Protocol in both of its eras.

Kept here as plain values because importing the protocol's own package costs more than starting most servers; a test
compares each with that package. Messages are plain dicts everywhere in this part.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

HANDSHAKE_VERSIONS: Final = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
"""Revisions that open a session with `initialize`, oldest first."""
MODERN_VERSIONS: Final = ("2026-07-28",)
"""Revisions that carry version and capabilities in each request, oldest first."""
LATEST_HANDSHAKE: Final = HANDSHAKE_VERSIONS[-1]
LATEST_MODERN: Final = MODERN_VERSIONS[-1]

PROTOCOL_VERSION_META: Final = "io.modelcontextprotocol/protocolVersion"
CLIENT_INFO_META: Final = "io.modelcontextprotocol/clientInfo"
CLIENT_CAPABILITIES_META: Final = "io.modelcontextprotocol/clientCapabilities"
SERVER_INFO_META: Final = "io.modelcontextprotocol/serverInfo"

VERSION_HEADER: Final = "mcp-protocol-version"
METHOD_HEADER: Final = "mcp-method"
NAME_HEADER: Final = "mcp-name"
NAME_PARAMETERS: Final[Mapping[str, str]] = {
    "tools/call": "name",
    "prompts/get": "name",
    "resources/read": "uri",
}

INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603
UNSUPPORTED_PROTOCOL_VERSION: Final = -32022

NEVER_CANCELLED: Final = frozenset({"initialize", "server/discover"})
"""Requests that the protocol forbids to cancel."""

Message = dict[str, Any]


def request_message(request_id: int, method: str, params: Mapping[str, Any] | None) -> Message:
    """A JSON-RPC request."""
    message: Message = {"jsonrpc": "2.0", "id": request_id, "method": method}
    if params is not None:
        message["params"] = params
    return message


def notification_message(method: str, params: Mapping[str, Any] | None = None) -> Message:
    """A JSON-RPC notification."""
    message: Message = {"jsonrpc": "2.0", "method": method}
    if params is not None:
        message["params"] = params
    return message


def is_protocol_message(value: Any) -> bool:
    """Whether a JSON value has the form of a request, notification or answer."""
    return (
        isinstance(value, dict)
        and value.get("jsonrpc") == "2.0"
        and (
            isinstance(value.get("method"), str)
            or ("id" in value and ("result" in value or "error" in value))
        )
    )
