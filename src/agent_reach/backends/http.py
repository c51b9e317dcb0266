"""Calls executed as HTTP requests by what an OpenAPI document says of each operation.

How a call is sent stands in the tool's definition under `_meta["agent-reach/http"]`: method, path, where each argument
goes and how it is written. Arguments are placed, not checked; addresses outside the operation's own origin are never
followed.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import urljoin, urlsplit

from agent_reach.backends.base import failure, success
from agent_reach.backends.http_request import CannotBeSent, HttpCall, build_request, call_description
from agent_reach.errors import ConfigError
from agent_reach.records.tool import Tool
from agent_reach.records.trace import CallOutcome
from agent_reach.wire.http_facts import NEVER_LEFT, describe, retry_after_seconds
from agent_reach.wire.results import kind_of_status

MAX_BODY = 50 * 1024 * 1024
"""Bytes of an answer that are read; the rest is left and told."""
_MAX_REDIRECTS = 5


class HttpBackend:
    """Executes the operations of OpenAPI catalogs.

    `base_urls` maps a server name to the address its paths begin at (needed where the document gives none, or a relative
    one; it also overrides); `headers` and `query` go with every request (keys belong there); `timeout` is the default
    limit in seconds of a whole call. One connection pool serves all calls until `aclose`.
    """

    def __init__(
        self,
        *,
        base_urls: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        query: Mapping[str, str] | None = None,
        timeout: float | None = 60.0,
        proxy: str | None = None,
        ca_file: str = "",
    ) -> None:
        self._base_urls = dict(base_urls or {})
        self._headers = dict(headers or {})
        self._query = dict(query or {})
        self._timeout = timeout
        self._proxy = proxy
        self._ca_file = ca_file
        self._client: Any = None

    @classmethod
    def of_catalog(cls, tools: Iterable[Tool], **settings: Any) -> HttpBackend:
        """The backend for a catalog; raises `ConfigError` where not one of its tools can be sent over HTTP."""
        if not any(call_description(tool) is not None for tool in tools):
            raise ConfigError(
                "no tool of the catalog comes from an OpenAPI document",
                where="execution.backend",
                next_step="give an OpenAPI file as `catalog`, or another backend",
            )
        return cls(**settings)

    async def call(
        self, tool: Tool, arguments: Mapping[str, Any], *, call_id: str = "", timeout: float | None = None
    ) -> CallOutcome:
        """Send one request and read its answer."""
        try:
            request = build_request(tool, arguments, self._base_urls.get(tool.server, ""), self._query)
        except CannotBeSent as error:
            kind: Any = "not_found" if call_description(tool) is None else "argument"
            return failure(kind, f"{tool.key}: {error}", sent=False)
        request.headers = {"accept": "application/json, */*;q=0.5", **self._headers, **request.headers}
        limit = self._timeout if timeout is None else timeout
        started = time.perf_counter()
        try:
            async with asyncio.timeout(limit):
                status, headers, body, cut = await self._send(request)
        except TimeoutError:
            elapsed = time.perf_counter() - started
            message = f"{tool.key} gave no answer within {limit:g} s ({elapsed:.1f} s elapsed)"
            return failure("timeout", message, tool=tool, latency_ms=elapsed * 1000)
        except Exception as error:
            sent = type(error).__name__ not in NEVER_LEFT
            latency = (time.perf_counter() - started) * 1000
            return failure(
                "transport", f"{tool.key}: {describe(error)}", tool=tool, sent=sent, latency_ms=latency
            )
        return _outcome(tool, status, headers, body, cut, (time.perf_counter() - started) * 1000)

    async def aclose(self) -> None:
        """Close the connection pool."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    async def _send(self, request: HttpCall) -> tuple[int, Mapping[str, str], bytes, bool]:
        import httpx2

        if self._client is None:
            import ssl

            verify: Any = ssl.create_default_context(cafile=self._ca_file) if self._ca_file else True
            self._client = httpx2.AsyncClient(
                verify=verify, proxy=self._proxy, trust_env=False, timeout=None, follow_redirects=False
            )
        url, method, content = request.url, request.method, request.content
        for _ in range(_MAX_REDIRECTS + 1):
            async with self._client.stream(method, url, headers=request.headers, content=content) as response:
                location = response.headers.get("location")
                following = _same_origin(url, location) if 300 <= response.status_code < 400 else None
                if following is None or (
                    method not in ("GET", "HEAD") and response.status_code not in (307, 308)
                ):
                    body, cut = await _read(response)
                    return response.status_code, response.headers, body, cut
                url = following
        raise CannotBeSent("the address redirects in a circle")


def _same_origin(url: str, location: str | None) -> str | None:
    if not location:
        return None
    following = urljoin(url, location)
    old, new = urlsplit(url), urlsplit(following)
    return following if (old.scheme, old.netloc) == (new.scheme, new.netloc) else None


async def _read(response: Any) -> tuple[bytes, bool]:
    parts: list[bytes] = []
    size = 0
    async for part in response.aiter_bytes():
        parts.append(part)
        size += len(part)
        if size > MAX_BODY:
            return b"".join(parts)[:MAX_BODY], True
    return b"".join(parts), False


def _outcome(
    tool: Tool, status: int, headers: Mapping[str, str], body: bytes, cut: bool, latency_ms: float
) -> CallOutcome:
    text = body.decode("utf-8", "replace")
    value: Any = text
    looks_json = "json" in headers.get("content-type", "") or text.lstrip()[:1] in ("{", "[")
    if looks_json and text.strip():
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            value = text
    metadata = {"http_status": status}
    if 200 <= status < 300:
        if not text.strip():
            value = None
        outcome = replace(success(value, text=text, latency_ms=latency_ms), truncated=cut, metadata=metadata)
        nothing = value in (None, "") and tool.is_read_only and status != 204
        return replace(outcome, error_kind="empty") if nothing else outcome
    if 300 <= status < 400:
        message = f"HTTP {status}: redirected to {headers.get('location', 'nowhere')}, which was not followed"
        return replace(failure("tool_error", message, latency_ms=latency_ms), metadata=metadata)
    said = text.strip()[:2000]
    outcome = failure(
        kind_of_status(status),
        f"HTTP {status}" + (f": {said[:300]}" if said else ""),
        text=said or f"HTTP {status}",
        value=value if value != "" else None,
        latency_ms=latency_ms,
        retry_after=retry_after_seconds(headers.get("retry-after")),
        metadata=metadata,
    )
    lost = status in (408, 502, 504) and not tool.is_read_only
    return replace(outcome, status="unknown" if lost else "failed")  # an answer says that it did not happen
