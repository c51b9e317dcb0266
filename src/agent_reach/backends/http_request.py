"""The HTTP request of a call: where each argument goes and how it is written, by the styles of OpenAPI 3."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlencode, urljoin

from agent_reach.backends.base import value_text
from agent_reach.records.tool import Tool

CALL_KEY = "agent-reach/http"
"""The entry of a definition's `_meta` that says how it is sent."""
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


def build_request(
    tool: Tool, arguments: Mapping[str, Any], base_url: str = "", query: Mapping[str, str] | None = None
) -> HttpCall:
    """The request for a call; raises `CannotBeSent` for what has no place or no address."""
    description = call_description(tool)
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


def call_description(tool: Tool) -> Mapping[str, Any] | None:
    """How calls of a tool are sent, None for a tool of another source."""
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
    boundary = uuid.uuid4().hex
    parts = []
    for key, value in body.items():
        name = str(key).replace('"', "%22").replace("\r", "").replace("\n", "")
        head = f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n'
        if isinstance(value, (Mapping, list)):
            head += "Content-Type: application/json\r\n"
        parts.append(f"{head}\r\n{_plain(value)}\r\n")
    return ("".join(parts) + f"--{boundary}--\r\n").encode(), f"multipart/form-data; boundary={boundary}"
