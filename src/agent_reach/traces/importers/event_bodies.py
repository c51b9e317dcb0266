"""Spans that carry everything in the body of an event: LangChain runs as some collectors log them.

The body holds `input.messages` and `output.messages` whose contents are JSON texts; they are turned into the attributes
that `span_facts` reads.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Any

from agent_reach.traces.importers.base import decoded
from agent_reach.traces.importers.langchain import generations, message_parts


def body_attributes(events: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The attributes that the event bodies of a span stand for; empty where no body holds messages."""
    for event in events:
        body = event.get("body")
        if not isinstance(body, Mapping):
            continue
        given, made = _content(body.get("input")), _content(body.get("output"))
        value = decoded(made)
        if not isinstance(value, Mapping):
            continue
        if "generations" in value:
            return {
                "openinference.span.kind": "LLM",
                "gen_ai.input.messages": [{"role": "user", "parts": [{"type": "text", "content": given}]}]
                if given
                else [],
                "gen_ai.output.messages": [
                    {**message_parts(item), "role": "assistant"} for item in generations(value)
                ],
            }
        if value.get("type") == "tool" or "tool_call_id" in value:
            attributes = {
                "openinference.span.kind": "TOOL",
                "tool.name": value.get("name"),
                "tool.id": value.get("tool_call_id"),
                "input.value": _literal(given),
                "output.value": value.get("content"),
            }
            return {key: item for key, item in attributes.items() if item not in (None, "")}
    return {}


def _content(side: Any) -> Any:
    messages = side.get("messages") if isinstance(side, Mapping) else None
    last = messages[-1] if isinstance(messages, list) and messages else None
    return last.get("content") if isinstance(last, Mapping) else None


def _literal(text: Any) -> Any:
    """A mapping out of JSON or of a Python literal, which is how some runs print their input."""
    value = decoded(text)
    if isinstance(value, str) and value.startswith("{"):
        try:
            return ast.literal_eval(value)
        except (ValueError, SyntaxError):
            return value
    return value
