"""What a model is told of a call that was not sent: texts that it can act on.

Why a call is not sent is decided where it is executed.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from agent_reach.records.tool import Tool
from agent_reach.records.trace import ArgumentProblem, Call, CallOutcome, ErrorKind
from agent_reach.text.tokens import nearest_names

_LISTED_NAMES = 5


def not_permitted(tool: Tool, lacking: Sequence[str]) -> CallOutcome:
    """The attempt lacks permissions of the tool."""
    return _refused("permission", f"{tool.name} is not permitted here: {', '.join(lacking)} is missing")


def no_such_tool(name: str, offered: Sequence[Tool]) -> CallOutcome:
    """No offered tool has the name; the nearest names are told."""
    near = nearest_names(name, [tool.name for tool in offered], limit=_LISTED_NAMES)
    hint = f"; the nearest are {', '.join(near)}" if near else ""
    return _refused("not_found", f"there is no tool named {name!r}{hint}")


def ambiguous_name(name: str, candidates: Sequence[str]) -> CallOutcome:
    """The name could mean several tools."""
    listed = ", ".join(candidates[:_LISTED_NAMES])
    return _refused("not_found", f"{name!r} could be {listed}; write the full name")


def illegal_arguments(tool: Tool, problems: Sequence[ArgumentProblem]) -> CallOutcome:
    """All problems of the arguments in one text."""
    lines = [f"{problem.pointer or 'arguments'}: {problem.message or problem.code}" for problem in problems]
    text = f"the call of {tool.name} was not sent; {len(lines)} problem(s): " + "; ".join(lines)
    return _refused("argument", text)


def duplicate_of(original: Call) -> CallOutcome:
    """The outcome of the call that this one repeats, under a text that says so."""
    assert original.outcome is not None
    return dataclasses.replace(
        original.outcome,
        text=f"duplicate of {original.call_id}: the same call was made once, see its result",
        message=f"duplicate of {original.call_id}",
        reached_backend=False,
        latency_ms=None,
        findings=(),
        metadata={"duplicate_of": original.call_id},
    )


def _refused(kind: ErrorKind, text: str) -> CallOutcome:
    return CallOutcome(status="failed", error_kind=kind, text=text, message=text, reached_backend=False)
