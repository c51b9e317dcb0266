"""The overlay: notes, needs, effects, aliases and partitions beside tools that belong to somebody else.

An overlay file never touches the source; it is read loosely (one word where a list may stand), and what it says of no
tool is a finding with the nearest names. Hand-made edges, partitions of retrieval tools and state slots are kept as they
are written, for the parts that use them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from agent_reach.catalog.catalog import Catalog
from agent_reach.catalog.findings import make_finding
from agent_reach.errors import AmbiguousToolError, CatalogError
from agent_reach.records.finding import Finding
from agent_reach.records.tool import AgentNote, Effect, Needs, ParameterHint, Tool
from agent_reach.text.tokens import nearest_names

EFFECTS: tuple[Effect, ...] = ("read", "write", "destructive", "idempotent")
_TOP_KEYS = ("tools", "edges", "partitions", "state_slots", "version")
_TOOL_KEYS = (
    "note",
    "needs",
    "effect",
    "effects",
    "aliases",
    "actor",
    "partitions",
    "suppress",
)
_NOTE_KEYS = ("summary", "triggers", "param_hints", "conflicts")
_HINT_KEYS = ("names", "values", "format", "example", "fill")
_NEED_KEYS = ("services", "scopes", "env", "files")


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOverlay:
    """What an overlay says of one tool; None or empty where it is silent."""

    note: AgentNote | None = None
    needs: Needs | None = None
    effects: frozenset[Effect] | None = None
    aliases: tuple[str, ...] = ()
    partitions: tuple[str, ...] = ()
    actor: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Overlay:
    """A loaded overlay file. `tools` maps the written key or name; `partitions` a tool to its partitions."""

    tools: Mapping[str, ToolOverlay] = field(default_factory=dict)
    edges: tuple[Mapping[str, Any], ...] = ()
    partitions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    state_slots: tuple[Mapping[str, Any], ...] = ()
    findings: tuple[Finding, ...] = ()
    source: str = ""


def load_overlay(source: Overlay | str | Path | Mapping[str, Any]) -> Overlay:
    """The overlay in a YAML or JSON file or a mapping; raises `CatalogError` where it is no overlay at all."""
    if isinstance(source, Overlay):
        return source
    where = ""
    document: Any = source
    if isinstance(source, (str, Path)):
        where = str(source)
        document = _read(Path(source))
    if document is None:
        document = {}
    if not isinstance(document, Mapping):
        raise CatalogError("an overlay is a mapping", where=where, next_step="begin it with `tools:`")
    return _OverlayReader(where).read(document)


def _read(path: Path) -> Any:
    from agent_reach.catalog.load import parse_text, read_text

    text = read_text(path)
    if path.suffix == ".json":
        return parse_text(text, str(path))
    from agent_reach.config.documents import parse_yaml

    return parse_yaml(text, str(path), error=CatalogError).value


class _OverlayReader:
    def __init__(self, where: str) -> None:
        self.where = where
        self.findings: list[Finding] = []

    def read(self, document: Mapping[str, Any]) -> Overlay:
        self.known(document, _TOP_KEYS, "")
        tools: dict[str, ToolOverlay] = {}
        written = document.get("tools") or {}
        if not isinstance(written, Mapping):
            raise CatalogError(
                "tools is no mapping", where=self.where, next_step="write `server/name: {...}` below it"
            )
        for key, value in written.items():
            tools[str(key)] = self.tool(value or {}, f"/tools/{key}")
        partitions = document.get("partitions") or {}
        if not isinstance(partitions, Mapping):
            raise CatalogError("partitions is no mapping", where=self.where)
        return Overlay(
            tools=tools,
            edges=tuple(item for item in _listed(document.get("edges")) if isinstance(item, Mapping)),
            partitions={str(key): texts(value) for key, value in partitions.items()},
            state_slots=tuple(
                item for item in _listed(document.get("state_slots")) if isinstance(item, Mapping)
            ),
            findings=tuple(self.findings),
            source=self.where,
        )

    def known(self, mapping: Mapping[str, Any], keys: Sequence[str], pointer: str) -> None:
        for key in mapping:
            if key not in keys and not str(key).startswith("x-"):
                near = nearest_names(str(key), list(keys), limit=1)
                hint = f"; did you mean {near[0]!r}?" if near else ""
                self.findings.append(
                    make_finding(
                        "overlay_unknown_key",
                        "",
                        f"{pointer}/{key}",
                        source=self.where,
                        found=repr(key),
                        near=hint,
                    )
                )

    def tool(self, value: Any, pointer: str) -> ToolOverlay:
        if not isinstance(value, Mapping):
            raise CatalogError(
                f"{pointer} is no mapping", where=self.where, next_step="write `note:`, `needs:`, ..."
            )
        self.known(value, _TOOL_KEYS, pointer)
        note = value.get("note")
        if isinstance(note, Mapping):
            self.known(note, _NOTE_KEYS, pointer + "/note")
            for name, hint in (note.get("param_hints") or {}).items():
                if isinstance(hint, Mapping):
                    self.known(hint, _HINT_KEYS, f"{pointer}/note/param_hints/{name}")
        needs = value.get("needs")
        if isinstance(needs, Mapping):
            self.known(needs, _NEED_KEYS, pointer + "/needs")
        effect = value.get("effect", value.get("effects"))
        return ToolOverlay(
            note=read_note(note) if note else None,
            needs=read_needs(needs) if needs else None,
            effects=self.effects(effect, pointer) if effect is not None else None,
            aliases=texts(value.get("aliases")),
            partitions=texts(value.get("partitions")),
            actor=str(value.get("actor") or ""),
        )

    def effects(self, value: Any, pointer: str) -> frozenset[Effect]:
        words = texts(value)
        for word in words:
            if word not in EFFECTS:
                near = nearest_names(word, list(EFFECTS), limit=1)
                raise CatalogError(
                    f"{pointer}/effect: {word!r} is no effect",
                    where=self.where,
                    next_step=f"did you mean {near[0]!r}?" if near else f"use {', '.join(EFFECTS)}",
                )
        return frozenset(effect for effect in EFFECTS if effect in words)


def _listed(value: Any) -> list[Any]:
    if value is None:
        return []
    return list(value) if isinstance(value, (list, tuple)) else [value]


def texts(value: Any) -> tuple[str, ...]:
    """One word or a list of words as a tuple of texts."""
    if value is None or value == "":
        return ()
    if isinstance(value, str):
        return (value,)
    if isinstance(value, Iterable) and not isinstance(value, Mapping):
        return tuple(str(item) for item in value)
    return (str(value),)


def read_note(value: Any) -> AgentNote:
    """An agent note as written: a text is its summary."""
    if isinstance(value, AgentNote):
        return value
    if isinstance(value, str):
        return AgentNote(summary=value)
    if not isinstance(value, Mapping):
        raise CatalogError(f"a note is a text or a mapping, not {type(value).__name__}")
    hints = value.get("param_hints") or {}
    conflicts = value.get("conflicts") or {}
    if not isinstance(conflicts, Mapping):
        conflicts = dict.fromkeys(texts(conflicts), "")
    return AgentNote(
        summary=str(value.get("summary") or ""),
        triggers=texts(value.get("triggers")),
        param_hints={str(name): _read_hint(hint) for name, hint in hints.items()}
        if isinstance(hints, Mapping)
        else {},
        conflicts={str(name): str(text or "") for name, text in conflicts.items()},
    )


def _read_hint(value: Any) -> ParameterHint:
    if isinstance(value, ParameterHint):
        return value
    if isinstance(value, str):
        return ParameterHint(format=value)
    if not isinstance(value, Mapping):
        return ParameterHint(names=texts(value))
    values = value.get("values") or {}
    if not isinstance(values, Mapping):
        values = dict.fromkeys(texts(values), ())
    return ParameterHint(
        names=texts(value.get("names")),
        values={str(key): texts(words) for key, words in values.items()},
        format=str(value.get("format") or ""),
        example=value.get("example"),
        fill=str(value.get("fill") or ""),
    )


def read_needs(value: Any) -> Needs:
    """Needs as written: one word or a list for each kind."""
    if isinstance(value, Needs):
        return value
    if not isinstance(value, Mapping):
        return Needs(scopes=texts(value))
    return Needs(**{kind: texts(value.get(kind)) for kind in _NEED_KEYS})


# -- laying it over a catalog ------------------------------------------------------------------------------


def apply_overlay(catalog: Catalog, overlay: Overlay) -> Catalog:
    """The catalog with the overlay laid over its tools; what matches no tool is a finding."""
    changed: dict[tuple[str, str], Tool] = {}
    findings: list[Finding] = list(overlay.findings)
    for name, entry in overlay.tools.items():
        found = _find(catalog, name, overlay, findings)
        if found is not None:
            current = changed.get((found.server, found.name), found)
            changed[(found.server, found.name)] = _laid_over(current, entry, overlay, findings)
    for name, partitions in overlay.partitions.items():
        found = _find(catalog, name, overlay, findings)
        if found is not None:
            current = changed.get((found.server, found.name), found)
            joined = tuple(dict.fromkeys([*current.partitions, *partitions]))
            changed[(found.server, found.name)] = replace(current, partitions=joined)
    return Catalog(
        (changed.get((tool.server, tool.name), tool) for tool in catalog.tools),
        quarantined=catalog.quarantined,
        findings=(*catalog.findings, *findings),
        provenance=catalog.provenance,
        overlay=overlay,
    )


def _find(catalog: Catalog, name: str, overlay: Overlay, findings: list[Finding]) -> Tool | None:
    try:
        found = catalog.resolve(name)
    except AmbiguousToolError as error:
        names = ", ".join(error.candidates)
        findings.append(
            make_finding("overlay_ambiguous", name, source=overlay.source, found=name, candidates=names)
        )
        return None
    if found is None and not any(name in (item.key, item.name) for item in catalog.quarantined):
        near = nearest_names(name, list(catalog.names), limit=3)
        hint = f"; did you mean {', '.join(map(repr, near))}?" if near else ""
        findings.append(make_finding("overlay_unmatched", name, source=overlay.source, found=name, near=hint))
    return found


def _laid_over(tool: Tool, entry: ToolOverlay, overlay: Overlay, findings: list[Finding]) -> Tool:
    if entry.note is not None:
        for name in entry.note.param_hints:
            if name not in tool.parameters:
                near = nearest_names(name, list(tool.parameters), limit=1)
                hint = f"; did you mean {near[0]!r}?" if near else ""
                findings.append(
                    make_finding(
                        "overlay_unknown_parameter",
                        tool.key,
                        source=overlay.source,
                        found=repr(name),
                        near=hint,
                    )
                )
    return replace(
        tool,
        note=_joined_note(tool.note, entry.note),
        needs=entry.needs if entry.needs is not None else tool.needs,
        effects=entry.effects if entry.effects is not None else tool.effects,
        aliases=tuple(dict.fromkeys([*tool.aliases, *entry.aliases])),
        partitions=tuple(dict.fromkeys([*tool.partitions, *entry.partitions])),
        actor=entry.actor or tool.actor,
    )


def _joined_note(known: AgentNote | None, given: AgentNote | None) -> AgentNote | None:
    """The given note over the known one: each part that is given wins."""
    if known is None or given is None:
        return given if given is not None else known
    return AgentNote(
        summary=given.summary or known.summary,
        triggers=given.triggers or known.triggers,
        param_hints={**known.param_hints, **given.param_hints},
        conflicts={**known.conflicts, **given.conflicts},
    )
