"""The tools of `search` mode: find, describe, and two callers whose hints let a client's approval rules go on working.

They are doors, not decisions: in every trace and figure the tool that was meant stands in their place.
"""

from __future__ import annotations

from typing import Any

FIND, DESCRIBE, CALL_READ, CALL_WRITE = "find", "describe", "call_read", "call_write"
META_TOOLS = (FIND, DESCRIBE, CALL_READ, CALL_WRITE)

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
