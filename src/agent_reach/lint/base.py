"""What a rule is, what it is given, and how it reports."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from agent_reach.records.finding import Finding, Severity
from agent_reach.records.message import Message
from agent_reach.records.report import SimilarPair
from agent_reach.records.tool import Tool
from agent_reach.text.pointers import escape_pointer

MAXIMUM_DEPTH = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """The limits that rules compare with; each can be set in `reach.yaml` under `lint.thresholds`."""

    first_line_tokens: int = 40
    first_line_commas: int = 4
    description_characters: int = 1024
    description_characters_hard: int = 2048
    triggers: int = 3
    catalog_tools: int = 40
    catalog_tools_high: int = 64
    catalog_tools_hard: int = 128
    similar_score: float = 0.0
    retrieval_passages: int = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateFacts:
    """What a rule may ask about the context template: order of block kinds and the passage limit (None: unlimited)."""

    order: tuple[str, ...] = ()
    max_passages: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LintContext:
    """All that a rule may look at.

    `tools` are the usable tools; `similar_pairs` is called at most once, by the rules that need it; `template` is None where
    no run configuration is known.
    """

    tools: tuple[Tool, ...]
    thresholds: Thresholds = field(default_factory=Thresholds)
    similar_pairs: Callable[[], tuple[SimilarPair, ...]] = tuple
    template: TemplateFacts | None = None

    def by_key(self) -> Mapping[str, Tool]:
        """Tool key -> tool."""
        return {tool.key: tool for tool in self.tools}


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One place where a rule does not hold, before code and severity are put on it.

    `proposal` is a piece of overlay (`{"tools": {key: {...}}}`) that would mend it, where a machine can write one.
    """

    subject: str
    message: Message
    pointer: str = ""
    fix: Message | None = None
    data: Mapping[str, Any] = field(default_factory=dict)
    proposal: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One rule: `code` is stable, `name` is what a person writes, `check` yields its hits over the whole context."""

    code: str
    name: str
    severity: Severity
    about: Literal["description", "parameter", "catalog", "contract", "context"]
    summary: Message
    check: Callable[[LintContext], Iterable[Hit]]

    def findings(self, context: LintContext, severity: Severity | None = None) -> Iterator[Finding]:
        """The hits as findings; a proposal travels in `data["proposal"]`."""
        for hit in self.check(context):
            data = dict(hit.data)
            if hit.proposal is not None:
                data["proposal"] = hit.proposal
            yield Finding(
                code=self.code,
                severity=severity or self.severity,
                message=hit.message,
                subject=hit.subject,
                pointer=hit.pointer,
                fix=hit.fix,
                data=data,
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One parameter at any depth of an input schema: JSON pointer, name, schema, whether it must be given, and the texts
    and hints that say something about it."""

    tool: Tool
    pointer: str
    name: str
    schema: Mapping[str, Any]
    required: bool
    depth: int

    @property
    def description(self) -> str:
        """Its own description, without white space at the ends."""
        text = self.schema.get("description")
        return text.strip() if isinstance(text, str) else ""

    @property
    def types(self) -> frozenset[str]:
        """The types it may have, null left out; empty where none is stated."""
        return schema_types(self.schema)

    @property
    def enum(self) -> tuple[Any, ...]:
        """The values it is limited to, those of `anyOf` branches included; null left out."""
        return schema_enum(self.schema)

    @property
    def hint(self) -> Any:
        """The hint that the agent note gives for it (None without one); only top-level parameters have hints."""
        if self.tool.note is None or self.depth:
            return None
        return self.tool.note.param_hints.get(self.name)

    @property
    def has_example(self) -> bool:
        """An example or a format is stated in the schema or the note."""
        schema = self.schema
        if any(schema.get(key) for key in ("format", "pattern", "examples", "example", "const")) or self.enum:
            return True
        default = schema.get("default")
        if isinstance(default, (str, int, float)) and not isinstance(default, bool) and default != "":
            return True
        hint = self.hint
        return bool(hint is not None and (hint.format or hint.example is not None or hint.values))


def schema_types(schema: Mapping[str, Any]) -> frozenset[str]:
    """The type names a schema allows at its top, through `anyOf` and `oneOf`; null left out."""
    found: set[str] = set()
    stated = schema.get("type")
    if isinstance(stated, str):
        found.add(stated)
    elif isinstance(stated, (list, tuple)):
        found.update(name for name in stated if isinstance(name, str))
    for branch in _branches(schema):
        found |= schema_types(branch)
    return frozenset(found - {"null"})


def schema_enum(schema: Mapping[str, Any]) -> tuple[Any, ...]:
    """The values a schema limits to at its top, through `anyOf` and `oneOf`; null left out."""
    values = schema.get("enum")
    found = [value for value in values if value is not None] if isinstance(values, (list, tuple)) else []
    for branch in _branches(schema):
        found.extend(value for value in schema_enum(branch) if value not in found)
    return tuple(found)


def _branches(schema: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for keyword in ("anyOf", "oneOf"):
        branches = schema.get(keyword)
        if isinstance(branches, (list, tuple)):
            yield from (branch for branch in branches if isinstance(branch, Mapping))


def parameters(tool: Tool) -> Iterator[Parameter]:
    """All parameters of a tool, nested ones too, down to a bounded depth; references are not followed."""
    yield from _walk(tool, tool.input_schema, "", 0)


def _walk(tool: Tool, schema: Mapping[str, Any], pointer: str, depth: int) -> Iterator[Parameter]:
    if depth > MAXIMUM_DEPTH:
        return
    properties = schema.get("properties")
    required = schema.get("required")
    names = set(required) if isinstance(required, (list, tuple)) else set()
    if isinstance(properties, Mapping):
        for name, inner in properties.items():
            if not isinstance(inner, Mapping):
                continue
            place = f"{pointer}/properties/{escape_pointer(name)}"
            yield Parameter(
                tool=tool, pointer=place, name=str(name), schema=inner, required=name in names, depth=depth
            )
            yield from _walk(tool, inner, place, depth + 1)
    items = schema.get("items")
    if isinstance(items, Mapping):
        yield from _walk(tool, items, f"{pointer}/items", depth + 1)
    for keyword in ("anyOf", "oneOf"):
        branches = schema.get(keyword)
        if isinstance(branches, (list, tuple)):
            for index, branch in enumerate(branches):
                if isinstance(branch, Mapping):
                    yield from _walk(tool, branch, f"{pointer}/{keyword}/{index}", depth + 1)


def first_line(text: str) -> str:
    """The first line of a description that has words in it."""
    for line in text.strip().splitlines():
        if line.strip():
            return line.strip()
    return ""


def explained_in_tool(parameter: Parameter) -> bool:
    """True if the tool's own description explains the parameter on a line of its own (`path: where to look`, `- path (str) -`)."""
    name = re.escape(parameter.name)
    line = rf"(?m)^\s*[-*•]?\s*[`'\"*]{{0,2}}{name}[`'\"*]{{0,2}}\s*(?:\([^)]*\))?\s*(?::|：|=|—|–| - )\s*\S"
    return bool(re.search(line, parameter.tool.description))


def hint_proposal(parameter: Parameter, hint: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """A piece of overlay that gives a top-level parameter a hint; None for a nested one."""
    if parameter.depth:
        return None
    return {"tools": {parameter.tool.key: {"note": {"param_hints": {parameter.name: dict(hint)}}}}}
