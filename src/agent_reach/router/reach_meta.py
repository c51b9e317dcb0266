"""Calls by name: the three meta-tools and every tool of the catalog through one door.

A tool that was not shown (deferred) can be called by its name like any other: what a search returns and what a call
accepts come from one catalog.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from agent_reach.backends.base import failure
from agent_reach.catalog.naming import resolve_emitted_name
from agent_reach.records.tool import Tool
from agent_reach.records.trace import CallOutcome
from agent_reach.router.confirm import CALL, DESCRIBE, SEARCH, render_text, shown_name
from agent_reach.text.tokens import nearest_names

if TYPE_CHECKING:
    from agent_reach.router.reach import Reach


async def call_by_name(
    reach: Reach, name: str, arguments: Any, *, conversation: Any = None, now: Any = None
) -> CallOutcome:
    """Execute a meta-tool or a tool of the catalog; never raises for a bad name or bad arguments."""
    exact = reach.catalog.from_wire(name)
    if exact is None and name in (SEARCH, DESCRIBE, CALL):
        given = _mapping(arguments)
        if name == SEARCH:
            return _search(reach, given)
        inner = str(given.get("name", ""))
        if name == DESCRIBE:
            return _describe(reach, inner)
        return await call_by_name(reach, inner, given.get("arguments"), conversation=conversation, now=now)
    tool = _tool(reach, name) if exact is None else _allowed(reach, exact)
    if isinstance(tool, CallOutcome):
        return tool
    call = reach.normalize(tool, arguments, conversation=conversation, now=now)
    return await reach.execute(call)


def _search(reach: Reach, given: Mapping[str, Any]) -> CallOutcome:
    query = given.get("query") or next((value for value in given.values() if isinstance(value, str)), "")
    found = reach.find(str(query))
    names = [shown_name(reach.catalog, candidate.tool) for candidate in found]
    text = render_text(found, reach.catalog)
    if not found:
        near = f" Nearest names: {', '.join(found.nearest_names)}." if found.nearest_names else ""
        text = f"No tool fits.{near}"
    return CallOutcome(status="ok", value={"tools": names}, text=text, findings=found.findings)


def _describe(reach: Reach, name: str) -> CallOutcome:
    tool = _tool(reach, name)
    if isinstance(tool, CallOutcome):
        return tool
    view = reach.catalog.model_view(tool)
    return CallOutcome(status="ok", value=view, text=json.dumps(view, ensure_ascii=False))


def _tool(reach: Reach, name: str) -> Tool | CallOutcome:
    """The tool of a name, or the refusal: unknown, ambiguous, or not allowed here."""
    resolved = resolve_emitted_name(name, reach.catalog)
    tool = resolved.tool
    if tool is None:
        if resolved.is_ambiguous:
            return failure(
                "not_found",
                f"{name!r} could be {', '.join(resolved.candidates)}: write one of these",
                sent=False,
            )
        near = list(resolved.candidates) or nearest_names(name, list(reach.catalog.names))
        hint = f"; nearest: {', '.join(near)}" if near else ""
        return failure("not_found", f"the catalog holds no tool named {name!r}{hint}", sent=False)
    return _allowed(reach, tool)


def _allowed(reach: Reach, tool: Tool) -> Tool | CallOutcome:
    reason = reach.hidden.get(tool.key)
    if reason is not None:
        return failure("permission", f"{tool.key} is not allowed here ({reason})", tool=tool, sent=False)
    return tool


def _mapping(arguments: Any) -> Mapping[str, Any]:
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except ValueError:
            return {"query": arguments}
    return arguments if isinstance(arguments, Mapping) else {}
