"""The `links` of OpenAPI responses: which operation may follow, and which value of the answer is its argument.

Every link is brought to plain arguments of the tool it leads to (`LINKS_KEY` in the definition's `_meta`), so that a reader
needs no OpenAPI. A link that leads nowhere is a problem that is told, never an error. Links to other documents are not
followed, and nothing is evaluated: an expression is kept as it is written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any
from urllib.parse import unquote

from agent_reach.catalog.sources.components import Components
from agent_reach.text.pointers import escape_pointer, unescape_pointer

LINKS_KEY = "agent-reach/links"
MAX_LINKS = 50
MAX_ARGUMENTS = 50
MAX_TEXT = 300
MAX_LOOKED_AT = 200
_PLACES = ("path", "query", "header", "cookie")
_EXPRESSION = re.compile(
    r"\$(?:url|method|statusCode|(?P<side>request|response)\."
    r"(?:(?P<place>header|query|path)\.(?P<name>[^{}]+)|body(?:#(?P<pointer>(?:/[^{}]*)?))?))"
)
_EMBEDDED = re.compile(r"\{(\$[^{}]*)\}")


@dataclass(frozen=True, slots=True)
class Expression:
    """A runtime expression: `side` is request or response (empty for `$url` and the like), `place` is body, header, query or
    path with `name`; `pointer` holds the steps into a body."""

    text: str
    side: str = ""
    place: str = ""
    name: str = ""
    pointer: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ListedOperation:
    """One operation as it became a tool: `call` says where each argument is sent."""

    tool: str
    path: str
    method: str
    operation: Mapping[str, Any]
    call: Mapping[str, Any]

    @property
    def where(self) -> str:
        """The pointer of the operation in its document."""
        return f"/paths/{self.path}/{self.method}"


def read_expressions(value: Any) -> tuple[Expression, ...] | None:
    """The expressions of a link's value: alone, or in braces inside a text; none in a constant, None where one is broken."""
    if not isinstance(value, str):
        return ()
    written = [value] if value.startswith("$") else _EMBEDDED.findall(value)
    found = [_expression(text) for text in written]
    return None if None in found else tuple(item for item in found if item is not None)


def _whole_body(value: Any) -> Expression | None:
    """The expression of a value that is a body, or a part of one, and nothing else."""
    read = read_expressions(value)
    alone = read and read[0].place == "body" and value in (read[0].text, f"{{{read[0].text}}}")
    return read[0] if read and alone else None


def _is_short(value: Any) -> bool:
    if isinstance(value, str):
        return len(value) <= MAX_TEXT
    return (
        value is None
        or isinstance(value, float)
        or (isinstance(value, int) and value.bit_length() <= MAX_TEXT)
    )


def _expression(text: str) -> Expression | None:
    match = _EXPRESSION.fullmatch(text)
    if match is None:
        return None
    side, place, pointer = match["side"] or "", match["place"] or "", match["pointer"] or ""
    if side == "response" and place in ("query", "path"):
        return None
    steps = tuple(unescape_pointer(step) for step in pointer.split("/")[1:])
    return Expression(text, side, place or ("body" if side else ""), match["name"] or "", steps)


class LinkReader:
    """Reads the links of one document; `tell(operation, pointer, detail)` hears what is wrong with one."""

    def __init__(
        self,
        parts: Components,
        operations: Sequence[ListedOperation],
        tell: Callable[[ListedOperation, str, str], None],
    ) -> None:
        self.parts = parts
        self.tell = tell
        self.by_place = {(item.path, item.method): item for item in operations}
        self.by_id: dict[str, list[ListedOperation]] = {}
        for item in operations:
            written = item.operation.get("operationId")
            if isinstance(written, str):
                self.by_id.setdefault(written.strip(), []).append(item)

    def links(self, source: ListedOperation) -> list[dict[str, Any]]:
        """The links of all responses of an operation: `{name, response, tool, arguments}`, arguments that were broken left out."""
        found: list[dict[str, Any]] = []
        for tried, (code, response, name, written) in enumerate(self._written(source.operation)):
            where = f"{source.where}/responses/{code}/links/{escape_pointer(name)}"
            if tried >= MAX_LINKS:
                self.tell(source, where, f"more than {MAX_LINKS} links; the farther ones are left out")
                break
            link = self.parts.deref(written)
            target = self._target(source, link, where)
            if target is None:
                continue
            arguments = _LinkedArguments(self, source, response, target, where).read(link)
            found.append(
                {"name": name[:MAX_TEXT], "response": code, "tool": target.tool, "arguments": arguments}
            )
        return found

    def _written(
        self, operation: Mapping[str, Any]
    ) -> Iterator[tuple[str, Mapping[str, Any], str, Mapping[str, Any]]]:
        responses = operation.get("responses")
        for code, written in responses.items() if isinstance(responses, dict) else ():
            response = self.parts.deref(written)
            links = response.get("links") if isinstance(response, dict) else None
            for name, link in links.items() if isinstance(links, dict) else ():
                yield str(code), response, str(name), link

    def _target(self, source: ListedOperation, link: Any, where: str) -> ListedOperation | None:
        """The operation that a link leads to; None, and told, where there is none."""
        if not isinstance(link, dict):
            self.tell(source, where, "the link cannot be read")
            return None
        named, reference = link.get("operationId"), link.get("operationRef")
        if isinstance(named, str):
            meant = self.by_id.get(named.strip(), [])
            if len(meant) != 1:
                times = "several operations have" if meant else "no operation has"
                self.tell(
                    source, where, f"{times} the operationId {named[:MAX_TEXT]!r}; the link is left out"
                )
                return None
            return meant[0]
        if not isinstance(reference, str):
            self.tell(source, where, "the link names no operation and is left out")
            return None
        shown = repr(reference[:MAX_TEXT])
        if not reference.startswith("#"):
            detail = f"{shown} lies outside the document and is not followed; the link is left out"
            self.tell(source, where, detail)
            return None
        steps = [unescape_pointer(step) for step in unquote(reference[1:]).split("/")]
        target = (
            self.by_place.get((steps[2], steps[3]))
            if steps[:2] == ["", "paths"] and len(steps) == 4
            else None
        )
        if target is None:
            self.tell(source, where, f"{shown} is no operation of the document; the link is left out")
        return target


@dataclass(slots=True)
class _LinkedArguments:
    """The values that one link hands over, as arguments of the tool it leads to."""

    reader: LinkReader
    source: ListedOperation
    response: Mapping[str, Any]
    target: ListedOperation
    where: str

    def read(self, link: Mapping[str, Any]) -> dict[str, Any]:
        """Argument -> expression or constant."""
        found: dict[str, Any] = {}
        parameters = link.get("parameters")
        listed = list(parameters.items()) if isinstance(parameters, dict) else []
        if len(listed) > MAX_ARGUMENTS:
            detail = f"more than {MAX_ARGUMENTS} parameters; the farther ones are left out"
            self.reader.tell(self.source, self.where, detail)
        for written, value in listed[:MAX_ARGUMENTS]:
            named = self._named(str(written))
            where = f"{self.where}/parameters/{escape_pointer(written)}"
            if len(named) != 1:
                shown = repr(str(written)[:MAX_TEXT])
                detail = f"{shown} may be {', '.join(named)}" if named else f"there is no parameter {shown}"
                self.reader.tell(self.source, where, f"{self.target.tool!r}: {detail}; left out")
            elif self._holds(value, where):
                found[named[0]] = value
        if "requestBody" in link:
            where = f"{self.where}/requestBody"
            for argument, value in islice(self._body(link["requestBody"], where), MAX_ARGUMENTS):
                if argument not in found and self._holds(value, where):
                    found[argument] = value
        return found

    def _named(self, written: str) -> list[str]:
        """The arguments that a parameter may have become: `id`, or `path.id` where its place is told too."""
        parameters = self.target.call.get("parameters") or {}
        named = [argument for argument, sent in parameters.items() if sent.get("name") == written]
        if not named:
            place, _, name = written.partition(".")
            named = [
                argument
                for argument, sent in parameters.items()
                if place in _PLACES and (sent.get("in"), sent.get("name")) == (place, name)
            ]
        return named

    def _body(self, value: Any, where: str) -> Iterator[tuple[str, Any]]:
        """The body as arguments: whole, or member by member where the tool takes the members."""
        whole = self.target.call.get("body_argument")
        members = self.target.call.get("body")
        if isinstance(whole, str):
            yield whole, value
        elif not isinstance(members, Mapping):
            self.reader.tell(self.source, where, f"{self.target.tool!r} takes no body")
        elif isinstance(value, Mapping):
            for argument, member in members.items():
                if member in value:
                    yield argument, value[member]
        elif (body := _whole_body(value)) is not None:
            schema = self._schema(body)
            start = body.text if "#" in body.text else f"{body.text}#"
            for argument, member in members.items():
                if self._declares(schema, (*body.pointer, member)) is not False:
                    yield argument, f"{start}/{escape_pointer(member)}"
        else:
            self.reader.tell(
                self.source, where, "the value cannot be taken apart into the members of the body"
            )

    def _holds(self, value: Any, where: str) -> bool:
        """Whether a value can be kept; what is wrong with it is told."""
        if not _is_short(value):
            self.reader.tell(self.source, where, "the value is no expression and no short constant; left out")
            return False
        read = read_expressions(value)
        if read is None:
            self.reader.tell(self.source, where, f"{value!r} is no runtime expression; left out")
            return False
        for expression in read:
            if expression.side == "request" and not self._is_sent(expression):
                self.reader.tell(
                    self.source, where, f"the operation itself takes no {expression.text!r}; left out"
                )
                return False
            if expression.side and expression.place == "body":
                declared = self._declares(self._schema(expression), expression.pointer)
                if declared is False:
                    self.reader.tell(self.source, where, f"{expression.text!r} is not in the declared body")
        return True

    def _is_sent(self, expression: Expression) -> bool:
        if expression.place == "body":
            return "content_type" in self.source.call
        wanted = expression.name.casefold() if expression.place == "header" else expression.name
        return any(
            sent.get("in") == expression.place
            and wanted in (sent.get("name"), str(sent.get("name")).casefold())
            for sent in (self.source.call.get("parameters") or {}).values()
        )

    def _schema(self, expression: Expression) -> Any:
        """The schema of the body that is meant, None where none is declared."""
        body: Any = self.response
        if expression.side == "request":
            body = self.reader.parts.deref(self.source.operation.get("requestBody"))
        content = body.get("content") if isinstance(body, Mapping) else None
        for kind, media in content.items() if isinstance(content, Mapping) else ():
            if "json" in str(kind) and isinstance(media, Mapping):
                return media.get("schema")
        return None

    def _declares(
        self, schema: Any, steps: tuple[str, ...], seen: set[tuple[int, int]] | None = None
    ) -> bool | None:
        """True where the schema declares that place, False where it declares others instead, None where it does not say.

        `seen` are the schemas looked at, each once a step and together at most `MAX_LOOKED_AT`: what lies beyond says nothing.
        """
        if not steps:
            return True
        resolved = self.reader.parts.deref(schema)
        seen = set() if seen is None else seen
        here = (id(resolved), len(steps))
        if not isinstance(resolved, Mapping) or here in seen or len(seen) >= MAX_LOOKED_AT:
            return None
        seen.add(here)
        answers: list[bool | None] = []
        for key in ("allOf", "anyOf", "oneOf"):
            listed = resolved.get(key)
            for part in listed if isinstance(listed, list) else ():
                answers.append(self._declares(part, steps, seen))
        properties = resolved.get("properties")
        if isinstance(properties, Mapping) and properties:
            if steps[0] in properties:
                answers.append(self._declares(properties[steps[0]], steps[1:], seen))
            elif resolved.get("additionalProperties") in (None, False):
                answers.append(False)
            else:
                answers.append(None)
        elif steps[0].isdecimal() and isinstance(resolved.get("items"), Mapping):
            answers.append(self._declares(resolved["items"], steps[1:], seen))
        elif resolved.get("type") in ("string", "integer", "number", "boolean"):
            answers.append(False)
        if True in answers:
            return True
        return None if None in answers or not answers else False
