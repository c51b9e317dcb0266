"""LangChain's stored messages, as run exports and event logs hold them, in the GenAI message form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agent_reach.traces.importers.base import as_text


def flat_list(value: Any, key: str) -> list[Any]:
    """The list under a key, taken out of the list of lists that batched calls make."""
    found = value.get(key) if isinstance(value, Mapping) else None
    if isinstance(found, list) and found and isinstance(found[0], list):
        found = found[0]
    return found if isinstance(found, list) else []


def generations(outputs: Any) -> list[Any]:
    """The messages of a model run's outputs: `generations`, `choices` or `messages`; texts where there is no message."""
    if not isinstance(outputs, Mapping):
        return []
    groups = outputs.get("generations")
    if isinstance(groups, list):
        flat = groups[0] if groups and isinstance(groups[0], list) else groups
        return [_generation(item) for item in flat if isinstance(item, Mapping)]
    choices = outputs.get("choices")
    if isinstance(choices, list):
        return [item.get("message", item) for item in choices if isinstance(item, Mapping)]
    return flat_list(outputs, "messages") or (
        [outputs] if "content" in outputs or "tool_calls" in outputs else []
    )


def _generation(item: Mapping[str, Any]) -> Any:
    """The message of one generation; its text fills a message that has no content."""
    message = item.get("message")
    if not isinstance(message, Mapping):
        return {"content": item.get("text", "")}
    if "kwargs" in message or message.get("content"):
        return message
    return {**message, "content": item.get("text", "")}


def message_parts(item: Any) -> dict[str, Any]:
    """A stored message (LangChain's serialised form, or the chat form) as a GenAI message."""
    if not isinstance(item, Mapping):
        return {"role": "", "parts": [{"type": "text", "content": as_text(item)}]}
    row: Mapping[str, Any] = item
    kwargs = item.get("kwargs")
    if isinstance(kwargs, Mapping):
        row = kwargs
    class_path = item.get("id")
    class_name = class_path[-1] if isinstance(class_path, list) and class_path else ""
    kind = str(row.get("type") or row.get("role") or class_name)
    role = {
        "human": "user",
        "HumanMessage": "user",
        "ai": "assistant",
        "AIMessage": "assistant",
        "AIMessageChunk": "assistant",
        "SystemMessage": "system",
        "ToolMessage": "tool",
    }.get(kind, kind)
    parts: list[dict[str, Any]] = []
    if role == "tool":
        parts.append(
            {
                "type": "tool_call_response",
                "id": row.get("tool_call_id"),
                "response": as_text(row.get("content")),
            }
        )
        return {"role": "tool", "parts": parts}
    text = as_text(row.get("content"))
    if text:
        parts.append({"type": "text", "content": text})
    more = row.get("additional_kwargs")
    calls = row.get("tool_calls") or (more.get("tool_calls") if isinstance(more, Mapping) else None) or ()
    for call in calls:
        if isinstance(call, Mapping):
            function = call.get("function") if isinstance(call.get("function"), Mapping) else {}
            parts.append(
                {
                    "type": "tool_call",
                    "id": call.get("id"),
                    "name": call.get("name") or (function or {}).get("name"),
                    "arguments": call.get("args", call.get("arguments", (function or {}).get("arguments"))),
                }
            )
    return {"role": role, "parts": parts}
