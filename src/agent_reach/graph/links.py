"""Bindings that a document declares: the links of OpenAPI responses, as the catalog keeps them beside a tool.

A link says which value of an answer is which argument of another operation, so it is weighed by nothing else. Three kinds
are weaker: a value that the declared answer does not have, a value of the request (it was known before the call), and a
header (the result of a call does not hold it). Links of error answers and links without a value make no binding.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from agent_reach.catalog.sources.openapi_links import LINKS_KEY, Expression, read_expressions
from agent_reach.graph.binding import OPENAPI_LINK, Match, type_factor
from agent_reach.graph.fields import Field, unwrapped
from agent_reach.graph.words.reading import name_words
from agent_reach.records.tool import Tool, tool_key

DECLARED = 1.0
UNDECLARED = 0.6
# Below the line of trust: it tells that two calls belong together, not that the first gives what the second needs.
KNOWN_BEFORE = 0.25
MAX_LEAVES = 20


def linked_matches(
    tools: Sequence[Tool], inputs: Sequence[Sequence[Field]], outputs: Sequence[Sequence[Field]]
) -> Iterator[Match]:
    """The bindings of all links between these tools, weighed; `inputs` and `outputs` are the fields of each tool in order."""
    places: dict[str, int] | None = None
    for giver, tool in enumerate(tools):
        meta = tool.original.get("_meta")
        links = meta.get(LINKS_KEY) if isinstance(meta, Mapping) else None
        for link in links if isinstance(links, (list, tuple)) else ():
            if not isinstance(link, Mapping) or not _of_success(link.get("response")):
                continue
            if places is None:
                places = {item.key: place for place, item in enumerate(tools)}
            taker = places.get(tool_key(tool.server, str(link.get("tool"))))
            arguments = link.get("arguments")
            if taker is None or not isinstance(arguments, Mapping):
                continue
            reason = f"the link {link.get('name')} of the answer {link.get('response')}"
            for argument, value in arguments.items():
                for expression in read_expressions(value) or ():
                    pointer = _inside_wrapper(expression.pointer, tool)
                    yield from _matches(
                        giver, expression, pointer, str(argument), inputs[taker], outputs[giver], reason
                    )


def _of_success(code: Any) -> bool:
    return str(code)[:1] == "2" or code == "default"


def _inside_wrapper(pointer: tuple[str, ...], tool: Tool) -> tuple[str, ...]:
    """The pointer without the single wrapper of a result (`data`), which the paths of its fields leave out too."""
    schema = tool.output_schema
    wrapped = (
        schema is not None and unwrapped(schema) is not schema and pointer[:1] == tuple(schema["properties"])
    )
    return pointer[1:] if wrapped else pointer


def _matches(
    giver: int, expression: Expression, pointer: tuple[str, ...], argument: str, inputs: Sequence[Field],
    outputs: Sequence[Field], reason: str,
) -> Iterator[Match]:  # fmt: skip
    """The bindings of one value: of each leaf where the argument is a whole object or list."""
    if not expression.side:
        return
    base = _path(pointer, outputs) if (expression.side, expression.place) == ("response", "body") else None
    leaves = [item for item in inputs if _below(item.path, argument) is not None][:MAX_LEAVES]
    for target in leaves:
        if base is None:
            source, strength = _stated(giver, expression.text, expression), KNOWN_BEFORE
        else:
            source, strength = _given(
                giver, base + (_below(target.path, argument) or ""), base, expression, outputs
            )
        if type_factor(source, target, OPENAPI_LINK) > 0:
            yield Match(source, target, OPENAPI_LINK, strength, reason)


def _below(path: str, base: str) -> str | None:
    """What a path adds to one that it lies at or below; None for another path."""
    if not base or path == base:
        return path if not base else ""
    return path[len(base) :] if path.startswith((f"{base}.", f"{base}[")) else None


def _path(pointer: tuple[str, ...], outputs: Sequence[Field]) -> str:
    """The pointer as a field path: that of a declared field or of what holds some, else as it is written."""
    known = [item.path for item in outputs]
    paths = [""]
    for step in pointer:
        forms = [f".{step}", ".<value>", *(["[]"] if step.isdecimal() else [])]
        grown = [f"{path}{form}".lstrip(".") for path in paths for form in forms]
        paths = [path for path in grown if any(_below(item, path) is not None for item in known)]
    return paths[0] if paths else ".".join(pointer)


def _given(
    giver: int, path: str, base: str, expression: Expression, outputs: Sequence[Field]
) -> tuple[Field, float]:
    """The field of the result at a path, and how sure a link to it is; `base` is the path that the link names."""
    shown = path.lstrip(".") or "<root>"
    for item in outputs:
        if item.path == shown and not item.alone:
            return item, DECLARED
    whole = path == base and any(_below(item.path, base) is not None for item in outputs)
    declares = any(item.origin in ("schema", "observed") for item in outputs)
    return _stated(giver, shown, expression), DECLARED if whole or not declares else UNDECLARED


def _stated(giver: int, path: str, expression: Expression) -> Field:
    """A value that only the link tells of, of any type."""
    last = expression.pointer[-1] if expression.pointer else expression.name
    return Field(giver, path, name_words(last), (), frozenset(), origin="link")
