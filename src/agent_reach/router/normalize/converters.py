"""Registered converters: a name that people use for an id that a tool wants, turned by something that really knows.

Only explicitly registered ones run, and only on a value that is not already in the wanted form.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from agent_reach.records.trace import CallOutcome
from agent_reach.router.normalize.state import NormalizeState, join_pointer


@dataclass(frozen=True, slots=True, kw_only=True)
class Converter:
    """Turns a value of `parameter` (a name, or `server/tool.name`) into what the tool wants.

    `convert` returns None where it knows no answer. `already` is a regular expression of values that are fine as they
    are; without it, values that fit the schema are left alone. `source` names the converter in the record.
    """

    parameter: str
    convert: Callable[[Any], Any | None]
    already: str = ""
    source: str = "converter"


def tool_converter(
    parameter: str,
    *,
    tool: str,
    argument: str,
    result: str,
    run: Callable[[str, Mapping[str, Any]], Any],
    already: str = "",
) -> Converter:
    """A converter that asks a tool: `run(tool, {argument: value})` gives a result or `CallOutcome`; `result` is the dotted
    path of the wanted value. A failed call and a path with no value, or with several, convert nothing."""

    def convert(value: Any) -> Any | None:
        answer = run(tool, {argument: value})
        if isinstance(answer, CallOutcome):
            if not answer.ok:
                return None
            answer = answer.value
        found = list(_follow(answer, result.split(".")))
        return found[0] if len(found) == 1 else None

    return Converter(parameter=parameter, convert=convert, already=already, source=f"tool {tool}")


def _follow(value: Any, path: list[str]) -> Iterable[Any]:
    if not path:
        if value is not None:
            yield value
        return
    if isinstance(value, list):
        for item in value:
            yield from _follow(item, path)
    elif isinstance(value, Mapping) and path[0] in value:
        yield from _follow(value[path[0]], path[1:])


def apply_converters(
    state: NormalizeState, converters: Iterable[Converter], arguments: dict[str, Any]
) -> dict[str, Any]:
    """The arguments with registered conversions done; the same object where none applied."""
    if not state.on("converter"):
        return arguments
    made = arguments
    for converter in converters:
        owner, _, name = converter.parameter.rpartition(".")
        if owner and owner not in (state.tool.key, state.tool.name):
            continue
        if name not in made or name not in state.tool.parameters:
            continue
        value, schema = made[name], state.tool.parameters[name]
        fine = (
            re.fullmatch(converter.already, str(value)) is not None
            if converter.already
            else state.fits(schema, value)
        )
        if fine or value is None:
            continue
        converted = converter.convert(value)
        if converted is None or converted == value or not state.fits(schema, converted):
            if converter.already and converted != value:
                state.problem(
                    "ambiguous",
                    join_pointer("", name),
                    f"{converter.source} knows no {name} for {value!r}",
                    actual=value,
                )
            continue
        made = {**made, name: converted}
        state.change("converter", join_pointer("", name), value, converted, source=converter.source)
    return made
