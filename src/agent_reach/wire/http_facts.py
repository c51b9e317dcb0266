"""What HTTP itself says beside an answer: statuses, how long to wait, which proxy, whether a request left at all."""

from __future__ import annotations

import contextlib
import email.utils
import time
import urllib.parse
from collections.abc import Mapping

NEVER_LEFT = ("ConnectError", "ConnectTimeout", "PoolTimeout", "UnsupportedProtocol", "LocalProtocolError")
"""Errors of the HTTP client after which the server has certainly seen nothing of the request."""
_REASONS = {
    400: "Bad Request",
    401: "Unauthorized",
    403: "Forbidden",
    404: "Not Found",
    405: "Method Not Allowed",
    408: "Request Timeout",
    413: "Content Too Large",
    429: "Too Many Requests",
    500: "Internal Server Error",
    502: "Bad Gateway",
    503: "Service Unavailable",
    504: "Gateway Timeout",
}


def status_text(status: int) -> str:
    """A status with its usual words."""
    return f"HTTP {status} {_REASONS.get(status, '')}".strip()


def retry_after_seconds(value: str | None, now: float | None = None) -> float | None:
    """Seconds to wait by a `Retry-After` header, which holds seconds or a date; never negative."""
    if not value:
        return None
    with contextlib.suppress(ValueError):
        seconds = float(value)
        return max(0.0, seconds) if seconds < float("inf") else None
    try:
        moment = email.utils.parsedate_to_datetime(value)
    except (TypeError, ValueError):
        return None
    return max(0.0, moment.timestamp() - (time.time() if now is None else now))


def describe(error: BaseException) -> str:
    """An error of the network in few words."""
    text = str(error).strip()
    name = type(error).__name__
    return f"{name}: {text}" if text else name


def proxy_for(url: str, environment: Mapping[str, str]) -> str | None:
    """The proxy that the environment names for an address; none for loopback and for what NO_PROXY lists."""
    parts = urllib.parse.urlsplit(url)
    host = (parts.hostname or "").lower()
    if host in ("localhost", "::1") or host.startswith("127."):
        return None
    excluded = environment.get("no_proxy") or environment.get("NO_PROXY") or ""
    for entry in (item.strip().lower().lstrip(".") for item in excluded.split(",")):
        if entry and (entry == "*" or host == entry or host.endswith("." + entry)):
            return None
    name = f"{parts.scheme}_proxy"
    return environment.get(name) or environment.get(name.upper()) or None


def public_address(url: str) -> str:
    """An address without its user, password and query, which may hold keys."""
    parts = urllib.parse.urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return urllib.parse.urlunsplit((parts.scheme, host, parts.path, "", ""))
