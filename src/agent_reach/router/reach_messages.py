"""What a conversation asks for now, and which tools it has already used."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

ENOUGH_WORDS = 3
USER_ROLES = frozenset({"user", "human"})


def request_of(messages: Any) -> str:
    """The user's last words; where they are few ("yes, that one"), the user's earlier words stand before them.

    `messages` is text, or a list of texts, of OpenAI, Anthropic or Responses messages, or of objects with a role and content.
    """
    said = list(user_texts(messages))
    if not said:
        return ""
    request = said[-1]
    for earlier in reversed(said[:-1]):
        if len(request) >= 400 or not _is_short(said[-1]):
            break
        request = f"{earlier}\n{request}"
    return request


def user_texts(messages: Any) -> Iterator[str]:
    """The texts of the user, in order; tool results that are sent in the user's name are none."""
    if isinstance(messages, str):
        yield messages
        return
    for message in _each(messages):
        if isinstance(message, str):
            yield message
            continue
        role = str(_get(message, "role") or _get(message, "type") or "")
        if role in USER_ROLES:
            text = "\n".join(_texts(_get(message, "content")))
            if text.strip():
                yield text


def used_names(messages: Any) -> list[str]:
    """The names of the tools that the conversation has called, in order, each once."""
    found: dict[str, None] = {}
    for message in _each(messages):
        if isinstance(message, str):
            continue
        for call in _each(_get(message, "tool_calls")):
            name = _get(_get(call, "function"), "name") or _get(call, "name")
            if isinstance(name, str):
                found[name] = None
        if _get(message, "type") == "function_call" and isinstance(_get(message, "name"), str):
            found[_get(message, "name")] = None
        for part in _each(_get(message, "content")):
            if _get(part, "type") == "tool_use" and isinstance(_get(part, "name"), str):
                found[_get(part, "name")] = None
    return list(found)


def _is_short(text: str) -> bool:
    from agent_reach.router.request import analyse_request

    return len(analyse_request(text).items) < ENOUGH_WORDS


def _texts(content: Any) -> Iterator[str]:
    if isinstance(content, str):
        yield content
        return
    for part in _each(content):
        if isinstance(part, str):
            yield part
        elif _get(part, "type") in ("text", "input_text") and isinstance(_get(part, "text"), str):
            yield _get(part, "text")


def _each(value: Any) -> Iterable[Any]:
    return value if isinstance(value, (list, tuple)) else ()


def _get(value: Any, name: str) -> Any:
    if isinstance(value, Mapping):
        return value.get(name)
    return getattr(value, name, None) if value is not None else None
