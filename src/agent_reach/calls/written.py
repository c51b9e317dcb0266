"""A call that stands in a text, and what all forms read alike: JSON objects that describe a call, and Python calls."""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from agent_reach.calls.arguments import read_arguments
from agent_reach.calls.json_text import is_cut

IsKnown = Callable[[str], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenCall:
    """A call found in text: `arguments` as text or mapping; `error` says why the span could not be read as a call."""

    start: int
    end: int
    form: str
    name: str = ""
    arguments: Any = None
    error: str = ""
    cut: bool = False


Form = Callable[[str, IsKnown], Iterator[WrittenCall]]

_NAME_KEYS = ("name", "tool_name", "tool", "function_name", "function", "recipient_name")
_ARGUMENT_KEYS = ("arguments", "parameters", "args", "params", "input", "tool_input", "kwargs")
NAME = r"[\w][\w./:-]*"
"""The pattern of a tool's name."""


def call_of_object(value: Any) -> tuple[str, Any] | None:
    """(name, arguments) of a JSON object that describes a call; None when it does not."""
    if not isinstance(value, Mapping):
        return None
    inner = value.get("function")
    if isinstance(inner, Mapping):
        return call_of_object(inner)
    name = next((value[key] for key in _NAME_KEYS if isinstance(value.get(key), str)), None)
    present = [key for key in _ARGUMENT_KEYS if key in value]
    if not name or not present:
        return None
    arguments = value[present[0]]
    if not (arguments is None or isinstance(arguments, (Mapping, str))):
        return None
    return name, arguments


def calls_of_value(value: Any) -> list[tuple[str, Any]] | None:
    """The calls of an object, a list of objects or `{"tool_calls": [...]}`; None when any part is no call."""
    if isinstance(value, Mapping) and isinstance(value.get("tool_calls"), list):
        value = value["tool_calls"]
    if isinstance(value, list):
        found = [call_of_object(item) for item in value]
        return [call for call in found if call] if found and all(found) else None
    single = call_of_object(value)
    return [single] if single else None


def calls_in_payload(payload: str, start: int, end: int, form: str) -> Iterator[WrittenCall]:
    """Calls of a marked span whose content should be one or more JSON objects."""
    values, error, cut = read_values(payload)
    calls: list[tuple[str, Any]] = []
    for value in values:
        found = calls_of_value(value)
        if found is None:
            error = error or "the object names no tool"
            continue
        calls.extend(found)
    for name, arguments in calls:
        yield WrittenCall(start=start, end=end, form=form, name=name, arguments=arguments)
    if error and not (calls and not cut):
        yield WrittenCall(start=start, end=end, form=form, error=error, cut=cut)


def read_values(payload: str) -> tuple[list[Any], str, bool]:
    """(values, error, whether the text was cut) of JSON values written one behind the other."""
    text = payload.strip()
    values: list[Any] = []
    decoder = json.JSONDecoder()
    position = 0
    while position < len(text):
        if text[position] in " \t\r\n,;":
            position += 1
            continue
        try:
            value, position = decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            rest = text[position:]
            loose = read_arguments(rest)
            if loose.values is not None and loose.values:
                values.append(loose.values)
                return values, "", False
            cut = is_cut(rest)
            detail = "the call is cut off" if cut else "the call is not JSON"
            return values, f"{detail}: {rest[:80]!r}", cut
        values.append(value)
    return values, "" if values else "the call is empty", False


def names_a_call(text: str) -> bool:
    """True if a cut object had already named a tool and begun its arguments."""
    keys = "|".join(_NAME_KEYS)
    arguments = "|".join(_ARGUMENT_KEYS)
    return bool(
        re.search(rf'"(?:{keys})"\s*:\s*"[^"]+"', text) and re.search(rf'"(?:{arguments})"\s*:', text)
    )


def python_calls(text: str) -> list[tuple[str, dict[str, Any]]]:
    """Calls with literal keyword arguments written in Python; empty when the text is anything else."""
    if "(" not in text or len(text) > 200_000:
        return []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            tree = ast.parse(text.strip())
        found: list[tuple[str, dict[str, Any]]] = []
        for statement in tree.body:
            if not isinstance(statement, (ast.Expr, ast.Assign)):
                return []
            value = statement.value
            items = value.elts if isinstance(value, (ast.List, ast.Tuple)) else [value]
            found.extend(_python_call(item) for item in items)
    except (
        SyntaxError,
        SyntaxWarning,
        DeprecationWarning,
        ValueError,
        TypeError,
        MemoryError,
        RecursionError,
    ):
        return []
    return found


def _python_call(node: ast.expr) -> tuple[str, dict[str, Any]]:
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "print"
        and node.args
    ):
        node = node.args[0]
    if not isinstance(node, ast.Call) or node.args:
        raise ValueError("not a call with keyword arguments")
    arguments: dict[str, Any] = {}
    for keyword in node.keywords:
        if keyword.arg is None:
            raise ValueError("arguments are unpacked")
        value = ast.literal_eval(keyword.value)
        json.dumps(value, allow_nan=False)
        arguments[keyword.arg] = value
    return ast.unparse(node.func), arguments
