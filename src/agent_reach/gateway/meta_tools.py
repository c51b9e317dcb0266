"""The tools of `search` mode: find, describe, and two callers whose hints let a client's approval rules go on working.

They are doors, not decisions: in every trace and figure the tool that was meant stands in their place.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from agent_reach.gateway.answers import text_result

if TYPE_CHECKING:
    from agent_reach.gateway.offer import View
    from agent_reach.records.tool import Tool
    from agent_reach.router.stages import Found

FIND, DESCRIBE, CALL_READ, CALL_WRITE = "find", "describe", "call_read", "call_write"
META_TOOLS = (FIND, DESCRIBE, CALL_READ, CALL_WRITE)

SEARCH_INSTRUCTIONS = (
    "Many tools stand behind this server. Use `find` with what has to be done, then call a tool it names with "
    "`call_read` or `call_write` (or directly by its name); `describe` shows a full definition."
)

_NAME = {"type": "string", "description": "A tool name that `find` returned."}
_CALL = {
    "type": "object",
    "properties": {
        "name": _NAME,
        "arguments": {"type": "object", "description": "Its arguments, as `find` or `describe` shows them."},
    },
    "required": ["name"],
}
_FOUND = {
    "type": "object",
    "properties": {
        "tools": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "name": {"type": "string"},
                    "call_with": {"type": "string", "enum": [CALL_READ, CALL_WRITE]},
                    "score": {"type": "number"},
                    "usage": {"type": "string"},
                    "filled": {"type": "object"},
                },
                "required": ["name", "call_with"],
            },
        },
        "nearest_names": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["tools"],
}


def meta_definitions(tools: int) -> list[dict[str, Any]]:
    """The four definitions, in protocol form; `tools` is how many stand behind them."""
    return [
        {
            "name": FIND,
            "title": "Find tools",
            "description": f"Find the tools for a task among {tools}. Returns names with parameters and a summary; then call one "
            f"with `{CALL_READ}` or `{CALL_WRITE}`, or directly by its name. Ask again for each new task.",
            "inputSchema": {
                "type": "object",
                "properties": {
                    "query": {
                        "type": "string",
                        "description": "What has to be done, in the user's words.",
                    },
                    "count": {
                        "type": "integer",
                        "minimum": 1,
                        "maximum": 50,
                        "description": "How many tools.",
                    },
                },
                "required": ["query"],
            },
            "outputSchema": _FOUND,
            "annotations": {"readOnlyHint": True, "idempotentHint": True, "openWorldHint": False},
        },
        {
            "name": DESCRIBE,
            "title": "Describe a tool",
            "description": "The full definition of one tool: description, parameters, result.",
            "inputSchema": {"type": "object", "properties": {"name": _NAME}, "required": ["name"]},
            "annotations": {"readOnlyHint": True, "idempotentHint": True, "openWorldHint": False},
        },
        {
            "name": CALL_READ,
            "title": "Call a tool that only reads",
            "description": "Call a tool that only reads. Refuses tools that may change something.",
            "inputSchema": _CALL,
            "annotations": {"readOnlyHint": True, "openWorldHint": True},
        },
        {
            "name": CALL_WRITE,
            "title": "Call a tool that may change something",
            "description": "Call any tool, also one that writes, deletes or sends.",
            "inputSchema": _CALL,
            "annotations": {"readOnlyHint": False, "destructiveHint": True, "openWorldHint": True},
        },
    ]


def found_result(view: View, found: Found, query: str) -> dict[str, Any]:
    """What a search answers: the candidates as lines for a model, and as data."""
    tools = []
    for candidate in found:
        filled = view.reach.prefill(candidate.tool, query).arguments
        entry: dict[str, Any] = {
            "name": view.wire_name(candidate.tool),
            "call_with": caller_of(candidate.tool),
            "score": round(candidate.score, 4),
        }
        tools.append({**entry, "filled": dict(filled)} if filled else entry)
    text = view.reach.candidate_text(found, conversation=query)
    structured: dict[str, Any] = {"tools": tools}
    if not found:
        near = f" Nearest names: {', '.join(found.nearest_names)}." if found.nearest_names else ""
        text = f"No tool fits.{near} Say it in other words, or with the names of things."
        structured["nearest_names"] = list(found.nearest_names)
    return text_result(text, structured=structured)


def described_result(view: View, tool: Tool) -> dict[str, Any]:
    """A tool's full definition."""
    definition = {**view.definition(tool), "call_with": caller_of(tool)}
    return text_result(json.dumps(definition, ensure_ascii=False), structured=definition)


def caller_of(tool: Tool) -> str:
    """The caller that a tool is for; what is not known to only read counts as a write."""
    return CALL_READ if tool.is_read_only else CALL_WRITE


def object_of(value: Any) -> Mapping[str, Any]:
    """The arguments of a meta-tool, also where a model wrote them as text."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            return {"query": value, "name": value}
    return value if isinstance(value, Mapping) else {}
