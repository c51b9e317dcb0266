"""Tool definitions as each provider wants them, with its limits kept and every change told.

`FORMS` is the table of forms. Names are wire names; keys that a provider refuses get aliases. `ExportedTools` leads
names and arguments of a model's call back to the tool's own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from agent_reach.catalog.portable import ExportChange, SchemaLimits, make_portable
from agent_reach.catalog.view import hint_text, model_view, shown_description, shown_schema
from agent_reach.errors import InputError
from agent_reach.records.message import Message
from agent_reach.text.tokens import nearest_names

if TYPE_CHECKING:
    from agent_reach.catalog.catalog import Catalog

__all__ = [
    "FORMS",
    "ExportChange",
    "ExportForm",
    "ExportedTools",
    "export_tools",
    "hint_text",
    "model_view",
    "to_anthropic",
    "to_gemini",
    "to_langchain",
    "to_mcp",
    "to_openai",
    "to_responses",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedTools:
    """Definitions in exposure order, what was changed, and the ways back: wire name -> tool key, and per wire name the
    aliases of argument names."""

    form: str
    definitions: tuple[dict[str, Any], ...]
    changes: tuple[ExportChange, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)
    aliases: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def restore_arguments(self, wire_name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """A call's arguments with aliases turned back into the tool's own names, at every depth."""
        table = self.aliases.get(wire_name)
        if not table:
            return dict(arguments)
        restored = _restored(arguments, table)
        assert isinstance(restored, dict)
        return restored


def _restored(value: Any, table: Mapping[str, str]) -> Any:
    if isinstance(value, Mapping):
        return {table.get(key, key): _restored(item, table) for key, item in value.items()}
    if isinstance(value, list):
        return [_restored(item, table) for item in value]
    return value


Shape = Callable[[str, str, dict[str, Any], Any], dict[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportForm:
    """One provider's form: the shape of a definition, its limits on text and number, and on schemas (None: untouched)."""

    shape: Shape
    schema: SchemaLimits | None
    max_description: int | None = None
    max_tools: int | None = None
    notes: bool = True


def _openai(name: str, description: str, schema: dict[str, Any], _: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "description": description, "parameters": schema}}


def _responses(name: str, description: str, schema: dict[str, Any], _: Any) -> dict[str, Any]:
    return {
        "type": "function",
        "name": name,
        "description": description,
        "parameters": schema,
        "strict": False,
    }


def _anthropic(name: str, description: str, schema: dict[str, Any], _: Any) -> dict[str, Any]:
    return {"name": name, "description": description, "input_schema": schema}


def _langchain(name: str, description: str, schema: dict[str, Any], _: Any) -> dict[str, Any]:
    return {**schema, "title": name, "description": description}


def _gemini(name: str, description: str, schema: dict[str, Any], _: Any) -> dict[str, Any]:
    made: dict[str, Any] = {"name": name, "description": description}
    if schema.get("properties"):
        made["parameters"] = schema
    return made


def _mcp(name: str, description: str, schema: dict[str, Any], tool: Any) -> dict[str, Any]:
    made: dict[str, Any] = {"name": name, "description": description, "inputSchema": schema}
    if tool.title:
        made["title"] = tool.title
    if tool.output_schema is not None:
        made["outputSchema"] = dict(tool.output_schema)
    if tool.annotations:
        made["annotations"] = dict(tool.annotations)
    return made


_GEMINI_WORDS = (
    "type format title description nullable enum maxItems minItems properties required minProperties maxProperties"
    " minLength maxLength pattern example anyOf propertyOrdering default items minimum maximum"
)
_GEMINI_KEYWORDS = frozenset(_GEMINI_WORDS.split())

FORMS: dict[str, ExportForm] = {
    "openai": ExportForm(shape=_openai, schema=SchemaLimits(), max_description=1024, max_tools=128),
    "responses": ExportForm(shape=_responses, schema=SchemaLimits(), max_description=1024, max_tools=128),
    "anthropic": ExportForm(shape=_anthropic, schema=SchemaLimits()),
    "langchain": ExportForm(shape=_langchain, schema=SchemaLimits()),
    "gemini": ExportForm(
        shape=_gemini,
        schema=SchemaLimits(
            keywords=_GEMINI_KEYWORDS,
            key_pattern=r"^[a-zA-Z_][a-zA-Z0-9_.-]{0,63}$",
            references=False,
            types_required=True,
            upper_types=True,
            string_enums=True,
            formats=frozenset({"enum", "date-time", "int32", "int64", "float", "double"}),
        ),
        max_tools=512,
    ),
    "mcp": ExportForm(shape=_mcp, schema=None),
}


def export_tools(
    catalog: Catalog,
    form: str,
    *,
    notes: bool = True,
    max_description: int | None = None,
    require_types: bool = False,
) -> ExportedTools:
    """The catalog's tools in a form of `FORMS`.

    Descriptions are cut at the smaller of `max_description` and the provider's limit (characters); `require_types` states
    the type of every parameter that has one, for endpoints that refuse schemas without. More tools than the provider
    takes are exported all the same, and said.
    """
    known = FORMS.get(form)
    if known is None:
        near = nearest_names(form, list(FORMS), limit=1)
        step = f"did you mean {near[0]!r}?" if near else f"use {', '.join(FORMS)}"
        raise InputError(f"there is no form {form!r}", next_step=step)
    definitions: list[dict[str, Any]] = []
    changes: list[ExportChange] = []
    names: dict[str, str] = {}
    aliases: dict[str, dict[str, str]] = {}
    for tool in catalog.tools:
        name = _exported_name(catalog.wire_name(tool), form, tool.key, changes)
        if name != tool.name:
            message = Message(f"called {name!r} on the wire", f"线上名称为 {name!r}")
            changes.append(ExportChange(tool=tool.key, rule="name_changed", message=message))
        names[name] = tool.key
        text = shown_description(catalog, tool, notes=notes)
        text = _cut(text, _smaller(known.max_description, max_description), tool.key, changes)
        schema = shown_schema(tool, notes=notes)
        if known.schema is not None:
            limits = known.schema
            result = make_portable(tool.key, schema, limits)
            changes.extend(result.changes)
            schema = result.schema
            if result.aliases:
                aliases[name] = result.aliases
            if require_types and not limits.types_required:
                schema = _with_types(schema, tool.key, changes)
        definitions.append(known.shape(name, text, schema, tool))
    if known.max_tools is not None and len(definitions) > known.max_tools:
        english = f"{len(definitions)} tools; {form} takes at most {known.max_tools}"
        chinese = f"共 {len(definitions)} 个工具，{form} 最多接受 {known.max_tools} 个"
        changes.append(ExportChange(tool="", rule="too_many_tools", message=Message(english, chinese)))
    return ExportedTools(
        form=form, definitions=tuple(definitions), changes=tuple(changes), names=names, aliases=aliases
    )


def _exported_name(name: str, form: str, key: str, changes: list[ExportChange]) -> str:
    """Gemini wants a letter or an underscore in front."""
    return f"_{name}"[:64] if form == "gemini" and not (name[0].isalpha() or name[0] == "_") else name


def _smaller(one: int | None, other: int | None) -> int | None:
    given = [limit for limit in (one, other) if limit is not None]
    return min(given) if given else None


def _cut(text: str, limit: int | None, key: str, changes: list[ExportChange]) -> str:
    if limit is None or len(text) <= limit:
        return text
    english = f"the description of {len(text)} characters is cut at {limit}"
    chinese = f"描述共 {len(text)} 个字符，截到 {limit}"
    changes.append(ExportChange(tool=key, rule="description_cut", message=Message(english, chinese)))
    return text[:limit]


def _with_types(schema: dict[str, Any], key: str, changes: list[ExportChange]) -> dict[str, Any]:
    """The schema with a type beside every top-level choice that has one; null stays allowed."""
    from agent_reach.catalog.shape import is_nullable, parameter_types

    properties = dict(schema.get("properties") or {})
    for name, part in properties.items():
        if not isinstance(part, Mapping) or "type" in part or "$ref" in part:
            continue
        kinds = sorted(parameter_types(part, schema))
        if kinds:
            stated = [*kinds, "null"] if is_nullable(part, schema) else kinds
            properties[name] = {**part, "type": stated if len(stated) > 1 else stated[0]}
            message = Message(f"the type {stated} is stated", f"补上类型 {stated}")
            changes.append(
                ExportChange(tool=key, rule="type_added", pointer=f"/properties/{name}", message=message)
            )
    return {**schema, "properties": properties}


def to_openai(catalog: Catalog, **options: Any) -> ExportedTools:
    """OpenAI chat completions: `{type: function, function: {name, description, parameters}}` (see `export_tools`)."""
    return export_tools(catalog, "openai", **options)


def to_responses(catalog: Catalog, **options: Any) -> ExportedTools:
    """OpenAI Responses: the flat form."""
    return export_tools(catalog, "responses", **options)


def to_anthropic(catalog: Catalog, **options: Any) -> ExportedTools:
    """Anthropic Messages: `{name, description, input_schema}`."""
    return export_tools(catalog, "anthropic", **options)


def to_langchain(catalog: Catalog, **options: Any) -> ExportedTools:
    """LangChain: a JSON schema with the tool's name as title."""
    return export_tools(catalog, "langchain", **options)


def to_gemini(catalog: Catalog, **options: Any) -> ExportedTools:
    """Gemini function declarations, in the subset of schemas that they take."""
    return export_tools(catalog, "gemini", **options)


def to_mcp(catalog: Catalog, **options: Any) -> ExportedTools:
    """The protocol's own form, schemas as they are."""
    return export_tools(catalog, "mcp", **options)
