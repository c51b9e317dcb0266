"""What changes on the way between the two eras of the protocol, as one table that the docs print.

Content blocks, structured content and error marks pass as they are wherever the receiver's revision knows them. Each
rule here exists because a client of that revision would refuse or misread the message.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from agent_reach.wire.protocol import SERVER_INFO_META

MODERN = "2026-07-28"
WITH_STRUCTURE = "2025-06-18"
WITH_AUDIO = "2025-03-26"
CACHEABLE = frozenset(
    {
        "tools/list",
        "prompts/list",
        "resources/list",
        "resources/templates/list",
        "resources/read",
        "server/discover",
    }
)
RESOURCE_NOT_FOUND_BEFORE = -32002
INVALID_PARAMS = -32602

TABLE: tuple[tuple[str, str, str], ...] = (
    (
        "2026-07-28 -> older",
        "`resultType`, `ttlMs`, `cacheScope`, `_meta.io.modelcontextprotocol/*`",
        "left out",
    ),
    (
        "2026-07-28 -> older",
        "`structuredContent` that is no object",
        "left out; its JSON is added as text where no text block holds it",
    ),
    ("2026-07-28 -> older", "`outputSchema` whose root is no object", "left out"),
    ("2026-07-28 -> older", "a result that asks for input", "asked as a request of the server (sampling, elicitation, roots)"),
    ("2026-07-28 -> older", "error -32602 of `resources/read`", "-32602, as it is"),
    ("older -> 2026-07-28", "every result", "gets `resultType: complete` and the gateway's `serverInfo`"),
    ("older -> 2026-07-28", "lists and read resources", "get `ttlMs: 0` and `cacheScope: private`"),
    ("older -> 2026-07-28", "a request of the server in a call", "becomes a result that asks for input; the answer comes with the repeated call"),
    ("older -> 2026-07-28", "error -32002 (resource not found)", "-32602, the number goes into `data`"),
    ("any -> before 2025-06-18", "`structuredContent`, `outputSchema`, `title`, links to resources", "left out; a link becomes text"),
    ("any -> before 2025-03-26", "`annotations` of tools, audio", "left out; audio becomes a line of text"),
    ("any", "`execution` of a tool (tasks)", "left out: the gateway answers each call itself"),
)  # fmt: skip
"""Direction, part of a message, what happens to it."""


def client_result(method: str, raw: Any, version: str, server_info: Mapping[str, Any]) -> dict[str, Any]:
    """A server's result in the form that a client of that revision expects."""
    result = dict(raw) if isinstance(raw, Mapping) else {"content": [], "structuredContent": raw}
    if version >= MODERN:
        return _for_modern(method, result, server_info)
    return _for_older(method, result, version)


def _for_modern(method: str, result: dict[str, Any], server_info: Mapping[str, Any]) -> dict[str, Any]:
    result.setdefault("resultType", "complete")
    if method in CACHEABLE and result["resultType"] == "complete":
        result.setdefault("ttlMs", 0)
        result.setdefault("cacheScope", "private")
    if method == "tools/call" and result["resultType"] == "complete" and result.get("content") is None:
        result["content"] = []
    meta = result.get("_meta")
    result["_meta"] = {**(meta if isinstance(meta, Mapping) else {}), SERVER_INFO_META: server_info}
    return result


def _for_older(method: str, result: dict[str, Any], version: str) -> dict[str, Any]:
    for key in ("resultType", "ttlMs", "cacheScope"):
        result.pop(key, None)
    meta = result.get("_meta")
    if isinstance(meta, Mapping):
        kept = {key: value for key, value in meta.items() if not key.startswith("io.modelcontextprotocol/")}
        if kept:
            result["_meta"] = kept
        else:
            del result["_meta"]
    if method == "tools/call":
        _older_content(result, version)
    return result


def _older_content(result: dict[str, Any], version: str) -> None:
    content = result.get("content")
    blocks = content if isinstance(content, list) else []
    structured = result.get("structuredContent")
    if "structuredContent" in result and (not isinstance(structured, Mapping) or version < WITH_STRUCTURE):
        del result["structuredContent"]
        if not any(isinstance(block, Mapping) and block.get("type") == "text" for block in blocks):
            blocks = [*blocks, {"type": "text", "text": json.dumps(structured, ensure_ascii=False)}]
    if version < WITH_STRUCTURE:
        blocks = [_older_block(block, version) for block in blocks]
    result["content"] = blocks


def _older_block(block: Any, version: str) -> Any:
    kind = block.get("type") if isinstance(block, Mapping) else None
    if kind == "resource_link":
        return {"type": "text", "text": f"{block.get('name', '')}: {block.get('uri', '')}".lstrip(": ")}
    if kind == "audio" and version < WITH_AUDIO:
        return {"type": "text", "text": f"(audio, {block.get('mimeType', 'unknown type')})"}
    return block


def client_definition(definition: Mapping[str, Any], version: str) -> dict[str, Any]:
    """A tool definition without what a client of that revision would refuse."""
    shown = {key: value for key, value in definition.items() if key != "execution" and value is not None}
    if version < MODERN:
        schema = shown.get("outputSchema")
        if schema is not None and (not isinstance(schema, Mapping) or schema.get("type") != "object"):
            del shown["outputSchema"]
    if version < WITH_STRUCTURE:
        shown.pop("outputSchema", None)
        shown.pop("title", None)
    if version < WITH_AUDIO:
        shown.pop("annotations", None)
    return shown


def client_error(method: str, code: int, message: str, data: Any, version: str) -> tuple[int, str, Any]:
    """Code, message and data of an error in the client's revision."""
    if version >= MODERN and code == RESOURCE_NOT_FOUND_BEFORE and method.startswith("resources/"):
        fields = dict(data) if isinstance(data, Mapping) else {} if data is None else {"data": data}
        return INVALID_PARAMS, message, {**fields, "code": RESOURCE_NOT_FOUND_BEFORE}
    return code, message, data
