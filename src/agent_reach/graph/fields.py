"""What a tool takes and what it gives, as flat lists of fields with the words by which they can be matched.

Outputs come from the output schema; where none is declared, from results seen in traces; else from the "Returns" part of
the description and from the tool's own name. Schemas are walked within bounds (`MAX_DEPTH`, `MAX_FIELDS`), references
are followed offline. What a field means beyond its words is the business of `binding`.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from agent_reach.catalog.shape import allowed_values, parameter_types, resolved_schema
from agent_reach.graph.words.chinese import chinese_words
from agent_reach.graph.words.fields import AMBIENT
from agent_reach.graph.words.forms import is_plural
from agent_reach.graph.words.reading import name_words, tool_noun
from agent_reach.graph.words.verbs import CHECK_VERBS, LOGIN_WORDS, MAKE_VERBS, READ_VERBS, VERBS
from agent_reach.records.tool import Tool
from agent_reach.text.tokens import split_identifier

MAX_DEPTH = 9
MAX_FIELDS = 400
_WRAPPERS = frozenset(
    {"result", "results", "returns", "return", "data", "response", "output", "items", "payload", "value"}
)
_REFERENCE_NOISE = frozenset(
    [
        "list",
        "result",
        "object",
        "item",
        "response",
        "output",
        "schema",
        "model",
        "dto",
        "type",
        "base",
        "data",
        "info",
        "detail",
        "details",
        "paginated",
        "page",
        "enum",
        "full",
        "basic",
        "simple",
        "simplified",
    ]
)
_RETURNS = re.compile(
    r"(?:^|\n)\s*(?:Returns?|:returns?:?|@returns?|返回)\s*[::]?\s*(.+?)(?:\n\s*\n|\n\s*(?:Raises|Args|Example|:\w)|\Z)",
    re.S,
)
_RETURN_FIELD = re.compile(r"^\s*[-*]?\s*`?([A-Za-z_][\w.]*)`?\s*(?:\(([\w\[\], ]+)\))?\s*[::]\s*(.+)$", re.M)
_INLINE_RETURN = re.compile(
    r"\b(?:returns?|fetch(?:es)?|retrieves?|get(?:s)?|provides?)\s+(?:the|a|an|all|list of)?\s*([a-z][a-z _-]{2,60})",
    re.I,
)


@dataclass(frozen=True, slots=True, eq=False)
class Field:
    """One field of a tool's input or output; two fields are never equal, so that a table by field is quick to read.

    `path` as written in evidence (`orders[].id`, `variants.<key>`); `words` of its own name; `entity` what it belongs
    to (nearest named parent, schema title or the tool's noun), nearest first; `origin` schema, observed, docstring or
    tool_name; `is_list` true below an array; `is_key` for the keys of a map; `echo` true where the tool itself takes
    the same value.
    """

    tool: int
    path: str
    words: tuple[str, ...]
    entity: tuple[tuple[str, ...], ...]
    types: frozenset[str]
    description: str = ""
    format: str = ""
    values: tuple[Any, ...] | None = None
    required: bool = False
    is_list: bool = False
    is_key: bool = False
    origin: str = "schema"
    depth: int = 0
    alone: bool = False
    names: tuple[str, ...] = ()
    ambient: bool = False
    full_head: tuple[str, ...] = ()
    sure: float = 1.0


class _Walk:
    """One walk over a schema; collects leaves in order."""

    def __init__(
        self, tool: int, root: Any, origin: str, top: tuple[tuple[str, ...], ...], many: bool = True
    ) -> None:
        self.tool = tool
        self.root = root
        self.origin = origin
        self.top = top
        self.many = many
        self.found: list[Field] = []

    def walk(
        self,
        schema: Any,
        path: str,
        name: tuple[str, ...],
        owners: tuple[tuple[str, ...], ...],
        *,
        depth: int = 0,
        required: bool = False,
        is_list: bool = False,
        seen: tuple[str, ...] = (),
        text: str = "",
    ) -> None:
        if depth > MAX_DEPTH or len(self.found) >= MAX_FIELDS:
            return
        title = ""
        if isinstance(schema, Mapping) and isinstance(schema.get("$ref"), str):
            reference = schema["$ref"]
            if seen.count(reference) >= 1:
                return
            seen = (*seen, reference)
            title = reference.rsplit("/", 1)[-1]
        resolved = resolved_schema(schema, self.root)
        if not isinstance(resolved, Mapping):
            return
        text = str(resolved.get("description") or text or "")
        options = [
            option
            for key in ("anyOf", "oneOf")
            for option in resolved.get(key) or ()
            if isinstance(option, Mapping) and option.get("type") != "null"
        ]
        structured = [option for option in options if self._is_structured(option)]
        if structured and not resolved.get("properties"):
            for option in structured:
                self.walk(
                    option,
                    path,
                    name,
                    owners,
                    depth=depth + 1,
                    required=required,
                    is_list=is_list,
                    seen=seen,
                    text=text,
                )
            if len(structured) == len(options):
                return
        for part in resolved.get("allOf") or ():
            if self._is_structured(part):
                self.walk(
                    part,
                    path,
                    name,
                    owners,
                    depth=depth + 1,
                    required=required,
                    is_list=is_list,
                    seen=seen,
                    text=text,
                )
        kinds = parameter_types(resolved, self.root)
        properties = resolved.get("properties")
        title = title or (str(resolved.get("title") or "") if isinstance(properties, Mapping) else "")
        if isinstance(properties, Mapping) and properties:
            self._object(resolved, properties, path, name, owners, depth, is_list, seen, title, required)
            return
        items = resolved.get("items")
        if not isinstance(items, Mapping) and isinstance(resolved.get("prefixItems"), (list, tuple)):
            items = {"anyOf": list(resolved["prefixItems"])}
        if "array" in kinds and isinstance(items, Mapping):
            inner = f"{path}[]"
            if self._is_structured(items):
                self.walk(
                    items,
                    inner,
                    name,
                    owners,
                    depth=depth + 1,
                    required=required,
                    is_list=True,
                    seen=seen,
                    text=text,
                )
            else:
                self._leaf(items, inner, name, owners, required, True, text, depth)
            return
        extra = resolved.get("additionalProperties")
        if isinstance(extra, Mapping) and "object" in kinds:
            self._map(extra, path, name, owners, depth, seen, text)
            return
        if not structured:
            self._leaf(resolved, path, name, owners, required, is_list, text, depth)

    def _is_structured(self, schema: Any) -> bool:
        if isinstance(schema, Mapping) and not schema.keys() & {
            "$ref",
            "properties",
            "items",
            "anyOf",
            "oneOf",
            "allOf",
            "additionalProperties",
            "prefixItems",
        }:
            return False
        resolved = resolved_schema(schema, self.root)
        if not isinstance(resolved, Mapping):
            return False
        if resolved.get("properties") or isinstance(resolved.get("additionalProperties"), Mapping):
            return True
        if isinstance(resolved.get("items"), Mapping) or resolved.get("prefixItems"):
            return True
        return any(
            self._is_structured(part)
            for key in ("anyOf", "oneOf", "allOf")
            for part in resolved.get(key) or ()
        )

    def _object(
        self,
        schema: Mapping[str, Any],
        properties: Mapping[str, Any],
        path: str,
        name: tuple[str, ...],
        owners: tuple[tuple[str, ...], ...],
        depth: int,
        is_list: bool,
        seen: tuple[str, ...],
        title: str,
        required: bool,
    ) -> None:
        titled = tuple(word for word in name_words(title) if word not in _REFERENCE_NOISE)
        inner = owners
        if name and not (len(name) == 1 and name[0] in _WRAPPERS):
            inner = (name, *inner)
        if titled and path and titled not in inner:
            inner = (titled, *inner) if not name or name[0] in _WRAPPERS else (*inner[:1], titled, *inner[1:])
        elif titled and not path and titled not in inner and self.origin == "schema" and len(titled) <= 3:
            inner = (titled, *inner)
        needed = schema.get("required")
        needed = set(needed) if isinstance(needed, (list, tuple)) else set()
        for key, value in properties.items():
            here = f"{path}.{key}" if path else str(key)
            self.walk(
                value, here, name_words(str(key)), inner, depth=depth + 1, is_list=is_list, seen=seen,
                required=key in needed and (required or not path),
            )  # fmt: skip

    def _map(
        self, values: Mapping[str, Any], path: str, name: tuple[str, ...], owners: tuple[tuple[str, ...], ...],
        depth: int, seen: tuple[str, ...], text: str,
    ) -> None:  # fmt: skip
        inner = (name, *owners) if name and name[0] not in _WRAPPERS else owners
        if not path and not self.many:
            return
        key = f"{path}.<key>" if path else "<key>"
        self.found.append(
            Field(self.tool, key, name, inner, frozenset({"string"}), text, is_list=True, is_key=True,
                  origin=self.origin, depth=depth)
        )  # fmt: skip
        if not self._is_structured(values) and (name or self.top):
            self._leaf(
                values,
                f"{path}.<value>" if path else "<value>",
                name or self.top[0],
                owners,
                False,
                True,
                text,
                depth,
            )
        if self._is_structured(values):
            below = f"{path}.<value>" if path else "<value>"
            self.walk(values, below, name, owners, depth=depth + 1, is_list=True, seen=seen, text=text)

    def _leaf(
        self, schema: Mapping[str, Any], path: str, name: tuple[str, ...], owners: tuple[tuple[str, ...], ...],
        required: bool, is_list: bool, text: str, depth: int,
    ) -> None:  # fmt: skip
        own = str(schema.get("description") or text or "")
        kinds = parameter_types(schema, self.root)
        if kinds == {"null"} or (not kinds and schema.get("type") == "null"):
            return
        values = (
            allowed_values(schema, self.root)
            if ("enum" in schema or "const" in schema or "anyOf" in schema)
            else None
        )
        self.found.append(
            Field(self.tool, path or "<root>", name, owners, kinds, own, str(schema.get("format") or ""),
                  values, required, is_list, origin=self.origin, depth=depth)
        )  # fmt: skip


def noun_of(tool: Tool) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Verbs, result words and words after the preposition of a tool's name, path parameters inside the name left out."""
    name = tool.name
    if "-" in name or "{" in name or "/" in name:
        parts = [part for part in re.split(r"[-/{}]+", name) if part]
        kept = [part for part in parts if part not in tool.parameters]
        if kept and len(kept) < len(parts):
            name = "_".join(kept)
    if not name.isascii():
        return (), chinese_words(name), ()
    return tool_noun(name)


def input_fields(index: int, tool: Tool) -> list[Field]:
    """The leaves of the input schema; `required` is true where every object on the way is required too."""
    verbs, head, _ = noun_of(tool)
    del verbs
    walk = _Walk(index, tool.input_schema, "schema", (head,))
    needed = set(tool.required)
    hints = tool.note.param_hints if tool.note is not None else {}
    for name, schema in tool.parameters.items():
        if not isinstance(schema, Mapping):
            schema = {}
        before = len(walk.found)
        walk.walk(schema, str(name), name_words(str(name)), (), required=name in needed)
        hint = hints.get(name)
        if hint is not None and hint.names:
            for place in range(before, len(walk.found)):
                found = walk.found[place]
                walk.found[place] = _with_names(found, hint.names)
    return walk.found


def _with_names(field: Field, names: tuple[str, ...]) -> Field:
    return replace(field, names=names)


def output_fields(index: int, tool: Tool, observed: Mapping[str, Any] | None = None) -> list[Field]:
    """What the tool gives: from its schema, else from results seen (`observed`, a schema of them), else from its words."""
    verbs, head, _tail = noun_of(tool)
    schema = tool.output_schema
    origin = "schema"
    if (schema is None or not _says_something(schema)) and observed is not None:
        schema, origin = observed, "observed"
    found: list[Field] = []
    if schema is not None and _says_something(schema):
        walk = _Walk(index, schema, origin, (head,) if head else (), _tells_of_many(tool))
        walk.walk(unwrapped(schema), "", (), (head,) if head else ())
        found = walk.found
    if not found or all(field.path == "<root>" or field.is_key for field in found):
        found.extend(_from_docstring(index, tool, head))
    if not found and schema is None:
        found.append(
            replace(_root(index, head, "tool_name", tool.description), sure=_names_its_result(verbs))
        )
    if found and all(field.path == "<root>" for field in found) and len(found) == 1:
        found = [replace(found[0], ambient=_is_ambient(tool, verbs), full_head=_full_head(tool))]
    login = LOGIN_WORDS & set(_all_words(tool.name))
    if schema is None and login:
        for words in (
            ("session", "id"),
            ("access", "token"),
            ("auth", "token"),
            ("session", "token"),
            ("token",),
        ):
            found.append(Field(index, "<root>", words, (head,), frozenset({"string"}), "", origin="login"))
    if schema is None and set(verbs) & CHECK_VERBS:
        found = [field for field in found if field.origin != "tool_name"]
        found.append(_root(index, head, "checked", ""))
    if set(verbs) & {"convert"} and any(
        "unit" in str(name).lower() for name in (*tool.parameters, *_all_words(tool.name))
    ):
        found.append(
            Field(index, "<root>", ("converted", "value"), (head,), frozenset({"number"}), origin="converter")
        )
    return found


def _tells_of_many(tool: Tool) -> bool:
    """A map at the top is keyed by things where the name or an input is plural (`get_hotels_prices`)."""
    return any(is_plural(word) for word in split_identifier(tool.name)) or any(
        isinstance(schema, Mapping) and schema.get("type") == "array" for schema in tool.parameters.values()
    )


def _is_ambient(tool: Tool, verbs: tuple[str, ...]) -> bool:
    """A tool that needs nothing and tells of here, now or this user (`get_current_date`)."""
    return not tool.required and bool(AMBIENT & set(_all_words(tool.name))) and not set(verbs) & MAKE_VERBS


def _full_head(tool: Tool) -> tuple[str, ...]:
    """The words of the name without the leading verb, as a description would name the result."""
    words = list(name_words(tool.name))
    while len(words) > 1 and words[0] in VERBS:
        words.pop(0)
    return tuple(words[:4])


def _all_words(name: str) -> tuple[str, ...]:
    words = tuple(split_identifier(name))
    joined = tuple(left + right for left, right in itertools.pairwise(words))
    return words + joined


def _names_its_result(verbs: tuple[str, ...]) -> float:
    """How surely the name of a tool without declared output names its result: a deletion does not give the deleted."""
    if set(verbs) & {"is", "has", "can", "check", "compare"}:
        return 0.3
    if set(verbs) & READ_VERBS or not verbs:
        return 0.9
    return 0.6 if set(verbs) & MAKE_VERBS else 0.35


def _root(index: int, head: tuple[str, ...], origin: str, text: str) -> Field:
    return Field(index, "<root>", (), (head,) if head else (), frozenset(), text, origin=origin, alone=True)


def _says_something(schema: Mapping[str, Any]) -> bool:
    if schema.get("type") == "object" and not (
        schema.keys() & {"properties", "additionalProperties", "$ref", "anyOf", "oneOf", "allOf"}
    ):
        return False
    return bool(schema) and schema.get("type") != "null"


def unwrapped(schema: Mapping[str, Any]) -> Any:
    """The schema inside a single wrapper property (`result`, `returns`), which says nothing itself."""
    properties = schema.get("properties")
    if isinstance(properties, Mapping) and len(properties) == 1:
        ((name, inner),) = properties.items()
        if str(name).lower() in _WRAPPERS and isinstance(inner, Mapping):
            return {**inner, **{key: schema[key] for key in ("$defs", "definitions") if key in schema}}
    return schema


def _from_docstring(index: int, tool: Tool, head: tuple[str, ...]) -> Iterator[Field]:
    match = _RETURNS.search(tool.description)
    if match is None:
        return
    for name, kind, text in _RETURN_FIELD.findall(match.group(1)):
        words = name_words(name)
        if words and name.lower() not in (
            "dict",
            "list",
            "str",
            "int",
            "float",
            "bool",
            "none",
            "returns",
            "object",
        ):
            kinds = {"str": "string", "int": "integer", "float": "number", "bool": "boolean"}.get(
                kind.strip()
            )
            yield Field(
                index,
                name,
                words,
                (head,),
                frozenset({kinds} if kinds else ()),
                text.strip(),
                origin="docstring",
            )
