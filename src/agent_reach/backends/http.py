"""Calls executed as HTTP requests by what an OpenAPI document says of each operation.

How a call is sent stands in the tool's definition under `_meta["agent-reach/http"]`: method, path, where each argument
goes and how it is written. Arguments are placed, not checked; addresses outside the operation's own origin are never
followed.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlencode, urljoin, urlsplit

from agent_reach.backends.base import failure, success, value_text
from agent_reach.records.tool import Tool
from agent_reach.records.trace import CallOutcome
from agent_reach.wire.remote import describe, retry_after_seconds
from agent_reach.wire.results import kind_of_status

CALL_KEY = "agent-reach/http"
MAX_BODY = 50 * 1024 * 1024
"""Bytes of an answer that are read; the rest is left and told."""
_MAX_REDIRECTS = 5
_NEVER_LEFT = ("ConnectError", "ConnectTimeout", "PoolTimeout", "UnsupportedProtocol", "LocalProtocolError")
_DELIMITERS = {"spaceDelimited": " ", "pipeDelimited": "|", "form": ",", "simple": ","}
_RESERVED = ":/?#[]@!$&'()*+,;="


@dataclass(slots=True)
class HttpCall:
    """One request, ready to be sent: `query` holds pairs already encoded, `content` the body."""

    method: str
    url: str
    headers: dict[str, str] = field(default_factory=dict)
    content: bytes | None = None


class CannotBeSent(ValueError):
    """The arguments cannot be written as the operation asks."""


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

    async def call(
        self, tool: Tool, arguments: Mapping[str, Any], *, call_id: str = "", timeout: float | None = None
    ) -> CallOutcome:
        """Send one request and read its answer."""
        try:
            request = build_request(tool, arguments, self._base_urls.get(tool.server, ""), self._query)
        except CannotBeSent as error:
            kind: Any = "not_found" if _description(tool) is None else "argument"
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
            sent = type(error).__name__ not in _NEVER_LEFT
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


def build_request(
    tool: Tool, arguments: Mapping[str, Any], base_url: str = "", query: Mapping[str, str] | None = None
) -> HttpCall:
    """The request for a call; raises `CannotBeSent` for what has no place or no address."""
    description = _description(tool)
    if description is None:
        raise CannotBeSent("the tool does not come from an OpenAPI document")
    address = _base(str(description.get("base_url") or ""), base_url)
    request = HttpCall(method=str(description.get("method") or "GET").upper(), url="")
    path = str(description.get("path") or "/")
    pairs: list[str] = []
    cookies: list[str] = []
    parameters = description.get("parameters") or {}
    for name, value in arguments.items():
        place = parameters.get(name)
        if place is None or value is None:
            continue
        written, where = str(place.get("name") or name), place.get("in")
        if where == "path":
            path = path.replace("{" + written + "}", _path_value(written, value, place))
        elif where == "header":
            request.headers[written] = _header_value(value)
        elif where == "cookie":
            cookies.append(f"{quote(written, safe='')}={quote(_plain(value), safe='')}")
        else:
            pairs.extend(_query_pairs(written, value, place))
    if "{" in path:
        missing = path[path.index("{") + 1 :].split("}")[0]
        raise CannotBeSent(f"the path needs the argument {missing!r}")
    if cookies:
        request.headers["cookie"] = "; ".join(cookies)
    if query:
        pairs.append(urlencode(query))
    request.url = address.rstrip("/") + "/" + path.lstrip("/") + ("?" + "&".join(pairs) if pairs else "")
    _add_body(request, description, arguments, parameters)
    return request


def _description(tool: Tool) -> Mapping[str, Any] | None:
    for holder in (tool.original.get("_meta"), tool.original):
        found = holder.get(CALL_KEY) if isinstance(holder, Mapping) else None
        if isinstance(found, Mapping):
            return found
    return None


def _base(documented: str, given: str) -> str:
    address = documented
    if given:
        address = given if not documented.startswith("/") else urljoin(given, documented)
    if not address.startswith(("http://", "https://")):
        raise CannotBeSent("no address is known to send it to; give the base URL of the server")
    return address


def _path_value(name: str, value: Any, place: Mapping[str, Any]) -> str:
    text = _joined(value, str(place.get("style") or "simple"))
    if text in ("", ".", ".."):
        raise CannotBeSent(f"{text!r} cannot stand in the path for {name!r}")
    prefix = {"label": ".", "matrix": f";{name}="}.get(str(place.get("style")), "")
    return prefix + quote(text, safe=",")


def _header_value(value: Any) -> str:
    text = _joined(value, "simple")
    if any(character in text for character in "\r\n\0"):
        raise CannotBeSent("a header cannot hold a line break")
    return text if text.isascii() else quote(text, safe=" ,;=/")


def _query_pairs(name: str, value: Any, place: Mapping[str, Any]) -> list[str]:
    style = str(place.get("style") or "form")
    explode = place.get("explode", style in ("form", "deepObject"))
    safe = _RESERVED if place.get("allowReserved") is True else ""

    def pair(key: str, item: Any) -> str:
        return f"{quote(key, safe='[]')}={quote(_plain(item), safe=safe)}"

    if isinstance(value, Mapping):
        if style == "deepObject":
            return [pair(f"{name}[{key}]", item) for key, item in value.items()]
        if explode:
            return [pair(str(key), item) for key, item in value.items()]
        return [pair(name, _joined(value, style))]
    if isinstance(value, (list, tuple)):
        if explode:
            return [pair(name, item) for item in value]
        joined = _DELIMITERS.get(style, ",").join(quote(_plain(item), safe=safe) for item in value)
        return [f"{quote(name, safe='[]')}={joined.replace(' ', '%20')}"]
    return [pair(name, value)]


def _joined(value: Any, style: str) -> str:
    delimiter = _DELIMITERS.get(style, ",")
    if isinstance(value, Mapping):
        return delimiter.join(f"{key}{delimiter}{_plain(item)}" for key, item in value.items())
    if isinstance(value, (list, tuple)):
        return delimiter.join(_plain(item) for item in value)
    return _plain(value)


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return ""
    if isinstance(value, (Mapping, list, tuple)):
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return str(value)


def _add_body(
    request: HttpCall,
    description: Mapping[str, Any],
    arguments: Mapping[str, Any],
    parameters: Mapping[str, Any],
) -> None:
    whole = description.get("body_argument")
    fields = description.get("body")
    if whole is not None:
        if whole not in arguments:
            return
        body: Any = arguments[whole]
    elif isinstance(fields, Mapping):
        body = {fields.get(name, name): value for name, value in arguments.items() if name not in parameters}
    else:
        stray = [name for name in arguments if name not in parameters]
        if stray:
            raise CannotBeSent(f"the operation has no place for {', '.join(map(repr, stray))}")
        return
    kind = str(description.get("content_type") or "application/json")
    request.headers["content-type"] = kind
    if "json" in kind:
        request.content = json.dumps(body, ensure_ascii=False).encode()
    elif kind.startswith("application/x-www-form-urlencoded") and isinstance(body, Mapping):
        pairs = [
            (key, _plain(item))
            for key, value in body.items()
            for item in (value if isinstance(value, list) else [value])
        ]
        request.content = urlencode(pairs).encode()
    elif kind.startswith("multipart/form-data") and isinstance(body, Mapping):
        request.content, request.headers["content-type"] = _multipart(body)
    else:
        request.content = value_text(body).encode()


def _multipart(body: Mapping[str, Any]) -> tuple[bytes, str]:
    import uuid

    boundary = uuid.uuid4().hex
    parts = []
    for key, value in body.items():
        name = str(key).replace('"', "%22").replace("\r", "").replace("\n", "")
        head = f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n'
        if isinstance(value, (Mapping, list)):
            head += "Content-Type: application/json\r\n"
        parts.append(f"{head}\r\n{_plain(value)}\r\n")
    return ("".join(parts) + f"--{boundary}--\r\n").encode(), f"multipart/form-data; boundary={boundary}"


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
    from dataclasses import replace

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
