"""Content blocks of a result: what each holds, as text and as data."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from typing import Any

KNOWN_BLOCKS = ("text", "image", "audio", "resource", "resource_link")
"""The block types of the protocol."""


def block_text(block: Any) -> str:
    """A content block as a model is shown it."""
    if isinstance(block, str):
        return block
    if not isinstance(block, Mapping):
        return json.dumps(block, ensure_ascii=False, default=str)
    kind = block.get("type")
    if kind == "text" and isinstance(block.get("text"), str):
        return str(block["text"])
    if kind in ("image", "audio"):
        return f"[{kind} {block.get('mimeType', '')}, {_size(block.get('data'))} bytes]"
    if kind == "resource_link":
        return f"[resource {block.get('name') or ''} {block.get('uri') or ''}]"
    if kind == "resource" and isinstance(block.get("resource"), Mapping):
        resource = block["resource"]
        if isinstance(resource.get("text"), str):
            return str(resource["text"])
        return f"[resource {resource.get('uri') or ''}, {_size(resource.get('blob'))} bytes]"
    return json.dumps(_payload(block), ensure_ascii=False, default=str)


def block_value(block: Any) -> Any:
    """The data of a content block: parsed where its text is a JSON object or list."""
    if isinstance(block, Mapping) and block.get("type") != "text":
        return _payload(block)
    text = block.get("text") if isinstance(block, Mapping) else block
    if not isinstance(text, str):
        return text
    stripped = text.strip()
    if stripped[:1] in ("{", "["):
        try:
            return json.loads(stripped)
        except (ValueError, RecursionError):
            return text
    return text


def _payload(block: Mapping[str, Any]) -> Any:
    """What an unknown block carries: the entry named like its type, else the block."""
    kind = block.get("type")
    return block[kind] if isinstance(kind, str) and kind in block and kind != "type" else dict(block)


def _size(data: Any) -> int:
    if not isinstance(data, str):
        return 0
    try:
        return len(base64.b64decode(data, validate=False))
    except (binascii.Error, ValueError):
        return len(data)
