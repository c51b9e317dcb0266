"""Forms that a sentence may look like (a JSON fence, `name(...)`, a bare object): they count when they name a known tool."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from agent_reach.calls.written import (
    NAME,
    IsKnown,
    WrittenCall,
    calls_of_value,
    names_a_call,
    python_calls,
    read_values,
)


def action_lines(text: str, is_known: IsKnown) -> Iterator[WrittenCall]:
    """`Action: name` and `Action Input: {...}` on lines of their own."""
    pattern = re.compile(
        rf"^[ \t]*Action[ \t]*:[ \t]*`?({NAME})`?[ \t]*\n+[ \t]*Action Input[ \t]*:[ \t]*(.*?)(?=^[ \t]*(?:Observation|Thought|Action)[ \t]*:|\Z)",
        re.DOTALL | re.MULTILINE,
    )
    for match in pattern.finditer(text):
        if is_known(match.group(1)) or match.group(2).strip().startswith("{"):
            yield WrittenCall(
                start=match.start(),
                end=match.end(),
                form="action lines",
                name=match.group(1),
                arguments=match.group(2).strip(),
            )


def fences(text: str, is_known: IsKnown) -> Iterator[WrittenCall]:
    """Code fences that hold a call: alone in the message, or naming a known tool."""
    for match in re.finditer(r"```([\w+-]*)[ \t]*\n?(.*?)(?:```|\Z)", text, re.DOTALL):
        language, body = match.group(1).lower(), match.group(2).strip()
        alone = not (text[: match.start()] + text[match.end() :]).strip()
        if language in ("python", "py", "tool_code", "tool_call", ""):
            written = python_calls(body)
            if written and all(is_known(name) for name, _ in written):
                for name, arguments in written:
                    yield _loose(match, "python fence", name, arguments)
                continue
        values, _, cut = read_values(body)
        calls = [call for value in values for call in calls_of_value(value) or ()]
        if calls and (alone or language == "tool_call" or all(is_known(name) for name, _ in calls)):
            for name, arguments in calls:
                yield _loose(match, "json fence", name, arguments)
        elif alone and cut and names_a_call(body):
            yield WrittenCall(
                start=match.start(), end=match.end(), form="json fence", error="the call is cut off", cut=True
            )


def _loose(match: re.Match[str], form: str, name: str, arguments: Any) -> WrittenCall:
    return WrittenCall(start=match.start(), end=match.end(), form=form, name=name, arguments=arguments)


def python_list(text: str, is_known: IsKnown) -> Iterator[WrittenCall]:
    """`[name(key=value), ...]` as the whole message, or a single `name(...)` of a known tool."""
    whole = text.strip()
    written = python_calls(whole)
    if not written:
        return
    if whole.startswith("[") or all(is_known(name) for name, _ in written):
        offset = text.find(whole)
        for name, arguments in written:
            yield WrittenCall(
                start=offset, end=offset + len(whole), form="python list", name=name, arguments=arguments
            )


def bare_object(text: str, is_known: IsKnown) -> Iterator[WrittenCall]:
    """JSON objects or lists that are the whole message, or stand in prose and name a known tool."""
    whole = text.strip()
    offset = text.find(whole)
    if whole.startswith(("{", "[")):
        values, _, cut = read_values(whole)
        calls = [call for value in values for call in calls_of_value(value) or ()]
        if calls and not cut and all(calls_of_value(value) for value in values):
            for name, arguments in calls:
                yield WrittenCall(
                    start=offset, end=offset + len(whole), form="bare object", name=name, arguments=arguments
                )
            return
        if cut and names_a_call(whole):
            yield WrittenCall(
                start=offset,
                end=offset + len(whole),
                form="bare object",
                error="the call is cut off",
                cut=True,
            )
            return
    decoder = json.JSONDecoder()
    position = text.find("{")
    while position >= 0:
        try:
            value, end = decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            position = text.find("{", position + 1)
            continue
        calls_here = calls_of_value(value)
        if calls_here and all(is_known(name) for name, _ in calls_here):
            for name, arguments in calls_here:
                yield WrittenCall(start=position, end=end, form="bare object", name=name, arguments=arguments)
        position = text.find("{", end)
