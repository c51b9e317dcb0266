"""Confirm: candidates as compactly as a model can choose among them, in each host's own form.

The text of a candidate is its summary, its parameters with legal values and formats, what the conversation already says,
and the border to a rival where the rival is a candidate too. Nothing is hidden that a call needs: a candidate that was
cut says so, and its full definition is one `describe` away.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

from agent_reach.catalog.catalog import Catalog
from agent_reach.catalog.schema import parameter_types
from agent_reach.errors import AmbiguousToolError
from agent_reach.records.tool import ParameterHint, Tool
from agent_reach.router.stages import Candidate
from agent_reach.text.counting import count_json_tokens, count_tokens

MAX_SUMMARY = 110
MAX_VALUES = 8
_SENTENCE_END = re.compile(r"(?<=[.!?])\s|(?<=[。！？；])|\n")


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenSaving:
    """Estimated tokens: of what is shown, of the full definitions of the same tools, of listing every tool."""

    shown: int
    full: int
    all_tools: int

    @property
    def against_full(self) -> float:
        """The share saved against the full definitions of the same tools."""
        return 1 - self.shown / self.full if self.full else 0.0

    @property
    def against_all(self) -> float:
        """The share saved against listing every tool."""
        return 1 - self.shown / self.all_tools if self.all_tools else 0.0

    def __str__(self) -> str:
        return (
            f"{self.shown} tokens shown; {self.full} as full definitions (-{self.against_full:.0%}); "
            f"{self.all_tools} for all tools (-{self.against_all:.0%})"
        )


def tools_of(candidates: Iterable[Candidate | Tool]) -> list[Tool]:
    """The tools of candidates, or the tools themselves."""
    return [one.tool if isinstance(one, Candidate) else one for one in candidates]


def candidate_text(
    tool: Tool,
    *,
    name: str = "",
    rivals: Iterable[str] = (),
    filled: Mapping[str, Any] | None = None,
    values: int = MAX_VALUES,
    optional: bool = True,
) -> str:
    """One tool in one or two lines: `name(required, optional?): summary`, known values, borders to `rivals`."""
    known = dict(filled or {})
    parts = []
    left_out = 0
    for parameter, schema in tool.parameters.items():
        required = parameter in tool.required
        if not required and not optional and parameter not in known:
            left_out += 1
            continue
        text = parameter if required else f"{parameter}?"
        text += _shape(schema, _hint(tool, parameter), values)
        if parameter in known:
            text += "=" + json.dumps(known[parameter], ensure_ascii=False, default=str)
        parts.append(text)
    if left_out:
        parts.append(f"+{left_out} optional")
    line = f"{name or tool.name}({', '.join(parts)}): {summary_of(tool)}"
    if tool.note is not None:
        rivals = set(rivals)
        borders = [
            f"{rival}: {text}"
            for rival, text in tool.note.conflicts.items()
            if rival in rivals or rival.split("/")[-1] in rivals
        ]
        if borders:
            line += f" (not {'; not '.join(borders)})"
    return line


def summary_of(tool: Tool) -> str:
    """The note's summary, else the first sentence of the description, cut at a word."""
    text = tool.note.summary if tool.note is not None and tool.note.summary else ""
    if not text:
        text = next(
            (part.strip() for part in _SENTENCE_END.split(tool.description) if part and part.strip()), ""
        )
    text = " ".join(text.split())
    if len(text) <= MAX_SUMMARY:
        return text
    cut = text[:MAX_SUMMARY]
    return (cut.rsplit(" ", 1)[0] if " " in cut[MAX_SUMMARY // 2 :] else cut) + "…"


def _hint(tool: Tool, parameter: str) -> ParameterHint | None:
    return tool.note.param_hints.get(parameter) if tool.note is not None else None


def _shape(schema: Any, hint: ParameterHint | None, limit: int) -> str:
    """Values of an enum, or a format, or the type where it is not text."""
    if not isinstance(schema, Mapping):
        return ""
    values = schema.get("enum")
    items = schema.get("items")
    if not isinstance(values, (list, tuple)) and isinstance(items, Mapping):
        values = items.get("enum")
    if isinstance(values, (list, tuple)) and values:
        shown = "|".join(_value(value, hint) for value in values[:limit])
        return f"={shown}{'|…' if len(values) > limit else ''}"
    if hint is not None and hint.format:
        return f":{hint.format}"
    if isinstance(schema.get("format"), str):
        return f":{schema['format']}"
    types = sorted(parameter_types(dict(schema)) - {"null", "string"})
    short = {"integer": "int", "number": "num", "boolean": "bool", "array": "list", "object": "object"}
    return f":{short.get(types[0], types[0])}" if len(types) == 1 else ""


def _value(value: Any, hint: ParameterHint | None) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    spoken = hint.values.get(str(value), ()) if hint is not None else ()
    return f"{text}({'/'.join(spoken[:3])})" if spoken else text


def render_text(
    candidates: Sequence[Candidate | Tool],
    catalog: Catalog,
    *,
    filled: Mapping[str, Mapping[str, Any]] | None = None,
    budget: int | None = None,
) -> str:
    """All candidates as lines, within `budget` tokens: first values, then optional parameters, then the last candidates go.

    `filled` maps tool keys to arguments that the conversation already says. What was left out is said in the last line.
    """
    tools = tools_of(candidates)
    for values, optional in ((MAX_VALUES, True), (4, True), (4, False)):
        lines = _lines(tools, catalog, filled or {}, values, optional)
        if budget is None or count_tokens("\n".join(lines)) <= budget:
            return "\n".join(lines)
    kept = list(lines)
    while len(kept) > 1 and count_tokens("\n".join([*kept, "(+00 more)"])) > (budget or 0):
        kept.pop()
    if len(kept) < len(lines):
        kept.append(f"(+{len(lines) - len(kept)} more)")
    return "\n".join(kept)


def _lines(
    tools: Sequence[Tool],
    catalog: Catalog,
    filled: Mapping[str, Mapping[str, Any]],
    values: int,
    optional: bool,
) -> list[str]:
    rivals = {name for tool in tools for name in (tool.key, tool.name)}
    return [
        candidate_text(
            tool,
            name=shown_name(catalog, tool),
            rivals=rivals - {tool.key, tool.name},
            filled=filled.get(tool.key),
            values=values,
            optional=optional,
        )
        for tool in tools
    ]


def token_saving(text: str, candidates: Sequence[Candidate | Tool], catalog: Catalog) -> TokenSaving:
    """What the text saves (estimated tokens, see `text.counting`)."""
    sizes = [count_json_tokens(_definition(catalog, tool)) for tool in tools_of(candidates)]
    return TokenSaving(shown=count_tokens(text), full=sum(sizes), all_tools=_weight_of(catalog))


_weights: WeakKeyDictionary[Catalog, int] = WeakKeyDictionary()


def _weight_of(catalog: Catalog) -> int:
    """Tokens of all tools of a catalog; counted once, because catalogs do not change."""
    known = _weights.get(catalog)
    if known is None:
        known = sum(count_json_tokens(_definition(catalog, tool)) for tool in catalog.tools)
        _weights[catalog] = known
    return known


def openai_tools(candidates: Sequence[Candidate | Tool], catalog: Catalog) -> list[dict[str, Any]]:
    """The candidates as definitions of the chat completions form."""
    return [{"type": "function", "function": _definition(catalog, tool)} for tool in tools_of(candidates)]


def openai_tool_search(description: str = "Find tools for what has to be done.") -> dict[str, Any]:
    """The tool definition of a search that the client executes (Responses API, `tool_search`)."""
    return {
        "type": "tool_search",
        "execution": "client",
        "description": description,
        "parameters": _QUERY_SCHEMA,
    }


def openai_tool_search_output(
    call_id: str | None, candidates: Sequence[Candidate | Tool], catalog: Catalog
) -> dict[str, Any]:
    """The answer to a `tool_search_call`: the candidates as loadable function definitions."""
    tools = [
        {"type": "function", **_definition(catalog, tool), "defer_loading": True}
        for tool in tools_of(candidates)
    ]
    return {
        "type": "tool_search_output",
        "execution": "client",
        "call_id": call_id,
        "status": "completed",
        "tools": tools,
    }


def anthropic_tools(catalog: Catalog, loaded: Iterable[str] = ()) -> list[dict[str, Any]]:
    """All tools in Anthropic's form, deferred but for those in `loaded` (keys): what `tool_reference` refers to."""
    loaded = set(loaded)
    found = []
    for tool in catalog.tools:
        view = _definition(catalog, tool)
        entry = {"name": view["name"], "description": view["description"], "input_schema": view["parameters"]}
        found.append(entry if tool.key in loaded else {**entry, "defer_loading": True})
    return found


def anthropic_tool_references(
    tool_use_id: str, candidates: Sequence[Candidate | Tool], catalog: Catalog
) -> dict[str, Any]:
    """The `tool_result` of a search tool of one's own: references that the API expands into definitions."""
    references = [
        {"type": "tool_reference", "tool_name": _wire(catalog, tool)} for tool in tools_of(candidates)
    ]
    return {"type": "tool_result", "tool_use_id": tool_use_id, "content": references}


_QUERY_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"query": {"type": "string", "description": "What has to be done, in the user's words."}},
    "required": ["query"],
}
SEARCH, DESCRIBE, CALL = "tool_search", "tool_describe", "tool_call"


def meta_tools() -> list[dict[str, Any]]:
    """Three tools that stand for all: search, describe, call (`{name, description, parameters}`)."""
    name = {"type": "string", "description": f"A tool name that {SEARCH} returned."}
    return [
        {
            "name": SEARCH,
            "description": "Find the tools for a task. Returns names with parameters and a summary; call them by that name.",
            "parameters": _QUERY_SCHEMA,
        },
        {
            "name": DESCRIBE,
            "description": "The full definition of one tool.",
            "parameters": {"type": "object", "properties": {"name": name}, "required": ["name"]},
        },
        {
            "name": CALL,
            "description": f"Call a tool that {SEARCH} returned.",
            "parameters": {
                "type": "object",
                "properties": {
                    "name": name,
                    "arguments": {"type": "object", "description": "Its arguments."},
                },
                "required": ["name"],
            },
        },
    ]


def shown_name(catalog: Catalog, tool: Tool) -> str:
    """The tool's own name where it is unique in the catalog, else its key: what text shows and `Reach.call` accepts."""
    try:
        return tool.name if catalog.resolve(tool.name) is not None else tool.key
    except AmbiguousToolError:
        return tool.key


def _definition(catalog: Catalog, tool: Tool) -> dict[str, Any]:
    if tool in catalog:
        return catalog.model_view(tool)
    return {"name": tool.name, "description": tool.description, "parameters": dict(tool.input_schema)}


def _wire(catalog: Catalog, tool: Tool) -> str:
    return catalog.wire_name(tool) if tool in catalog else tool.name


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceRepair:
    """What a model's choice stands for: the candidate, or None where it is not certainly one of them; `repair` says how the
    name was read, `candidates` what came into question."""

    tool: Tool | None
    repair: str = ""
    candidates: tuple[str, ...] = ()


def repair_choice(name: str, candidates: Sequence[Candidate | Tool], catalog: Catalog) -> ChoiceRepair:
    """The candidate that a chosen name certainly means.

    A name of a tool that exists but was no candidate is not bent to a candidate; a name that fits two is refused.
    """
    from agent_reach.catalog.naming import resolve_emitted_name

    tools = tools_of(candidates)
    keys = {tool.key for tool in tools}
    whole = resolve_emitted_name(name, catalog)
    if whole.tool is not None:
        if whole.tool.key in keys:
            return ChoiceRepair(tool=whole.tool, repair=whole.repair)
        return ChoiceRepair(tool=None, repair="not_a_candidate", candidates=(whole.tool.key,))
    among = resolve_emitted_name(name, Catalog.from_tools(tools))
    if among.tool is not None and set(whole.candidates) & keys <= {among.tool.key}:
        return ChoiceRepair(tool=among.tool, repair=among.repair or "candidates_only")
    return ChoiceRepair(tool=None, repair=whole.repair or "unknown", candidates=tuple(whole.candidates))
