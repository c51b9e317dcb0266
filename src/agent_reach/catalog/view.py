"""A tool as a model sees it: name, text with the agent note, parameters with their hints.

Derived from the tool and the catalog it is shown in; the schema that calls are checked against is not touched. The
border to a rival is told only where the rival is shown too.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from agent_reach.errors import AmbiguousToolError
from agent_reach.records.tool import AgentNote, ParameterHint, Tool

if TYPE_CHECKING:
    from agent_reach.catalog.catalog import Catalog


def model_view(
    catalog: Catalog, tool: str | Tool, *, max_description: int | None = None, notes: bool = True
) -> dict[str, Any]:
    """`{name, description, parameters}` with the wire name; the description cut at `max_description` characters.

    With `notes` the agent note stands in it: summary first, phrasings, borders to rivals of this catalog, hints in the
    descriptions of the parameters.
    """
    found = catalog.get(tool)
    description = shown_description(catalog, found, notes=notes)
    if max_description is not None:
        description = description[:max_description]
    return {
        "name": catalog.wire_name(found),
        "description": description,
        "parameters": shown_schema(found, notes=notes),
    }


def shown_description(catalog: Catalog, tool: Tool, *, notes: bool = True) -> str:
    """The text of a tool with its note, uncut."""
    note = tool.note if notes else None
    if note is None:
        return tool.description
    lines = []
    if note.summary and not tool.description.startswith(note.summary):
        lines.append(note.summary)
    if tool.description:
        lines.append(tool.description)
    if note.triggers:
        lines.append("Use for requests like: " + " | ".join(note.triggers))
    lines.extend(_borders(catalog, note))
    return "\n".join(lines)


def _borders(catalog: Catalog, note: AgentNote) -> list[str]:
    lines = []
    for rival, text in note.conflicts.items():
        try:
            other = catalog.resolve(rival)
        except AmbiguousToolError:
            other = None
        if other is not None:
            lines.append(
                f"Not {catalog.wire_name(other)}: {text}"
                if text
                else f"Not to be mixed up with {catalog.wire_name(other)}."
            )
    return lines


def shown_schema(tool: Tool, *, notes: bool = True) -> dict[str, Any]:
    """The input schema without its `$schema` mark, with the hints of the note in the parameters' descriptions."""
    schema = {key: value for key, value in tool.input_schema.items() if key != "$schema"}
    if not notes or tool.note is None or not tool.note.param_hints:
        return schema
    properties = dict(tool.parameters)
    for name, hint in tool.note.param_hints.items():
        part = properties.get(name)
        text = hint_text(hint)
        if text and (isinstance(part, dict) or part is True):
            known = part.get("description", "") if isinstance(part, dict) else ""
            joined = f"{known} {text}".strip() if isinstance(known, str) else text
            properties[name] = {**(part if isinstance(part, dict) else {}), "description": joined}
    return {**schema, "properties": properties}


def hint_text(hint: ParameterHint) -> str:
    """One line that tells a hint."""
    parts = []
    if hint.names:
        parts.append(f"Also called: {', '.join(hint.names)}.")
    if hint.values:
        values = "; ".join(
            f"{value} ({', '.join(words)})" if words else value for value, words in hint.values.items()
        )
        parts.append(f"Values: {values}.")
    if hint.format:
        parts.append(f"Format: {hint.format}.")
    if hint.example is not None:
        example = (
            hint.example if isinstance(hint.example, str) else json.dumps(hint.example, ensure_ascii=False)
        )
        parts.append(f"Example: {example}")
    return " ".join(parts)
