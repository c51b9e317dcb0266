"""The whole argument object packed under a further key, sometimes as text and several levels deep.

A key that the tool declares is never a wrapper.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agent_reach.catalog.schema import known_names
from agent_reach.router.normalize.names import plain_name
from agent_reach.router.normalize.parse import read_text
from agent_reach.router.normalize.relaxed_json import ParseTrouble
from agent_reach.router.normalize.state import NormalizeState

_WRAPPERS = frozenset(
    [
        "arguments",
        "args",
        "argument",
        "input",
        "inputs",
        "params",
        "parameters",
        "param",
        "kwargs",
        "payload",
        "properties",
        "body",
        "data",
        "request",
        "tool_input",
        "toolinput",
        "function_args",
        "tool_args",
        "tool_arguments",
        "json",
        "query_params",
    ]
)
_NAME_KEYS = frozenset({"name", "tool", "tool_name", "function", "function_name", "action"})
_INNER_KEYS = ("arguments", "parameters", "args", "input", "action_input", "params", "kwargs", "tool_input")
_MAX_LAYERS = 5


def unwrap(state: NormalizeState, arguments: dict[str, Any]) -> dict[str, Any]:
    """The inner object where an undeclared wrapper holds all of it; the same object where none does."""
    if not state.on("unwrap"):
        return arguments
    known = frozenset(state.tool.parameters)
    declared = known_names(state.tool.input_schema)
    if declared is None and not known:
        return arguments
    for _ in range(_MAX_LAYERS):
        key = _wrapper_key(state, arguments, known)
        if key is None:
            return arguments
        inner = arguments[key]
        if isinstance(inner, str):
            try:
                inner = read_text(state, inner, f"/{key}") if inner.strip() else {}
            except ParseTrouble as trouble:
                state.problem(trouble.code, f"/{key}", trouble.message, actual=inner)
                return arguments
        if isinstance(inner, list) and len(inner) == 1 and isinstance(inner[0], Mapping):
            inner = inner[0]
        if not isinstance(inner, Mapping) or not _may_be_inside(state, inner, known):
            return arguments
        state.change("unwrap", f"/{key}", arguments, dict(inner))
        arguments = dict(inner)
    return arguments


def _wrapper_key(state: NormalizeState, arguments: dict[str, Any], known: frozenset[str]) -> str | None:
    if len(arguments) == 1:
        key = next(iter(arguments))
        folded = plain_name(key)
        own_names = {plain_name(state.tool.name), plain_name(state.tool.key)}
        own_names.add(plain_name(state.tool.name.rsplit(".", 1)[-1]))
        is_wrapper = (
            folded in {plain_name(name) for name in _WRAPPERS} or folded in own_names or key == "function"
        )
        return key if key not in known and is_wrapper else None
    if len(arguments) == 2 and not known & arguments.keys():
        inner = next((key for key in _INNER_KEYS if key in arguments), None)
        name = next((key for key in arguments if key in _NAME_KEYS), None)
        if inner is not None and name is not None and inner != name:
            said = arguments[name]
            if isinstance(said, str) and plain_name(said) in (
                plain_name(state.tool.name),
                plain_name(state.tool.key),
            ):
                return inner
    return None


def _may_be_inside(state: NormalizeState, inner: Mapping[str, Any], known: frozenset[str]) -> bool:
    """The inner object must look like this tool's arguments: declared names, or a further wrapper, or nothing at all."""
    if not inner:
        return not state.tool.required
    plain = {plain_name(name) for name in known}
    hits = sum(1 for key in inner if key in known or plain_name(key) in plain)
    return hits > 0 or _wrapper_key(state, dict(inner), known) is not None
