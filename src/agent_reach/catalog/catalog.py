"""A set of tools, frozen as a model may see them, and the ways to find one.

A catalog never changes: overlays and subsets make new ones. Tools that cannot be used are kept beside the usable ones
with the reason, so that nothing is silently missing. What a source means and how schemas are read is told in `load` and
`reading`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent_reach.catalog.naming import folded_name, wire_names
from agent_reach.errors import AmbiguousToolError, UnknownToolError
from agent_reach.records.finding import Finding
from agent_reach.records.tool import Tool, tool_key
from agent_reach.text.folding import fold
from agent_reach.text.tokens import nearest_names, split_identifier

if TYPE_CHECKING:
    from agent_reach.catalog.dialect import RepairTypes
    from agent_reach.catalog.overlay import Overlay

DEFAULT_TIMEOUT = 30.0
_SMALL = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class QuarantinedTool:
    """A definition that cannot be used: its key, why, and what the source said."""

    key: str
    reason: Finding
    original: Mapping[str, Any] = field(default_factory=dict)
    server: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceInfo:
    """One place that tools came from: `kind` (mcp, tools_list, functions, python, openapi, snapshot), where, how many."""

    kind: str
    location: str = ""
    server: str = ""
    tools: int = 0
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """Where a catalog came from: its sources, the git commit of the folder, the time (seconds since the epoch)."""

    sources: tuple[SourceInfo, ...] = ()
    git_commit: str = ""
    created_at: float | None = None


class Catalog:
    """Usable tools in exposure order (`tools`), unusable ones (`quarantined`), and what was found while loading.

    `hash` names the content whatever the order. Tools are found by key (`server/name`), by a name that only one server
    owns, by an alias of the overlay, or by wire name.
    """

    def __init__(
        self,
        tools: Iterable[Tool] = (),
        *,
        quarantined: Iterable[QuarantinedTool] = (),
        findings: Iterable[Finding] = (),
        provenance: Provenance | None = None,
        overlay: Overlay | None = None,
        wire_table: Mapping[tuple[str, str], str] | None = None,
    ) -> None:
        self.tools: tuple[Tool, ...] = tuple(tools)
        self.quarantined: tuple[QuarantinedTool, ...] = tuple(quarantined)
        self.findings: tuple[Finding, ...] = tuple(findings)
        self.provenance = provenance or Provenance()
        self.overlay = overlay
        self._given_wire_table = wire_table

    # -- making --------------------------------------------------------------------------------------------

    @classmethod
    def load(
        cls,
        source: Any,
        *,
        overlay: Overlay | str | Path | Mapping[str, Any] | None = None,
        server: str | None = None,
        environment: Mapping[str, str] | None = None,
        timeout: float = DEFAULT_TIMEOUT,
        strict: bool = False,
        repair_types: RepairTypes = "auto",
    ) -> Catalog:
        """The catalog in a source: a path, an `mcpServers` file, a saved tool list, a snapshot, an OpenAPI file, a Python
        module (`pkg.mod`, `file.py`), a list of tool dicts or functions in any known form, or a mapping of any of these.

        `server` names the tools' server where the source does not. `environment` fills `${VAR}` in server configurations;
        `timeout` in seconds limits the start of each server. Types outside JSON Schema (`int`, `dict`) are repaired with a
        finding, except in answers of the protocol, where they quarantine their tool (`repair_types`: `auto`, `always`,
        `never`). With `strict`, an error finding or a quarantined tool raises `CatalogError`, as does a source that cannot
        be read at all.
        """
        from agent_reach.catalog.load import LoadOptions, load_catalog

        options = LoadOptions(
            server=server, environment=environment, timeout=timeout, strict=strict, repair_types=repair_types
        )
        return load_catalog(source, options, overlay)

    @classmethod
    def from_tools(cls, tools: Iterable[Tool], findings: Iterable[Finding] = ()) -> Catalog:
        """A catalog of tools that are already loaded; of two with one identity the first stays."""
        unique: dict[tuple[str, str], Tool] = {}
        for tool in tools:
            unique.setdefault((tool.server, tool.name), tool)
        return cls(unique.values(), findings=findings)

    def subset(self, keys: Iterable[str | Tool]) -> Catalog:
        """These tools in this order, with the wire names that they have in the whole catalog."""
        chosen = {(tool.server, tool.name): tool for tool in map(self.get, keys)}
        return Catalog(
            chosen.values(),
            findings=self.findings,
            provenance=self.provenance,
            overlay=self.overlay,
            wire_table={identity: self._wire_table[identity] for identity in chosen},
        )

    def with_overlay(self, overlay: Overlay | str | Path | Mapping[str, Any]) -> Catalog:
        """The catalog with the overlay's notes, needs, effects, aliases, partitions and actors laid over its tools."""
        from agent_reach.catalog.overlay import apply_overlay, load_overlay

        return apply_overlay(self, load_overlay(overlay))

    # -- looking -------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self.tools)

    def __iter__(self) -> Iterator[Tool]:
        return iter(self.tools)

    def __contains__(self, item: object) -> bool:
        if isinstance(item, Tool):
            return (item.server, item.name) in self._by_identity
        if not isinstance(item, str):
            return False
        try:
            return self.resolve(item) is not None
        except AmbiguousToolError:
            return True

    def __repr__(self) -> str:
        return f"<Catalog of {len(self.tools)} tools, {len(self.quarantined)} quarantined>"

    @cached_property
    def hash(self) -> str:
        """`sha256:` of the content: the same for any order of tools and keys, on any machine."""
        from agent_reach.catalog.identity import catalog_hash

        return catalog_hash(self.tools, (item.original for item in self.quarantined))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Keys and bare names and aliases of all tools, each once."""
        found: dict[str, None] = {}
        for tool in self.tools:
            found[tool.name] = None
            found[tool.key] = None
            found.update(dict.fromkeys(tool.aliases))
        return tuple(found)

    @cached_property
    def _by_identity(self) -> dict[tuple[str, str], Tool]:
        return {(tool.server, tool.name): tool for tool in self.tools}

    @cached_property
    def _by_key(self) -> dict[str, list[Tool]]:
        return _group((tool.key, tool) for tool in self.tools)

    @cached_property
    def _by_name(self) -> dict[str, list[Tool]]:
        return _group((tool.name, tool) for tool in self.tools)

    @cached_property
    def _by_alias(self) -> dict[str, list[Tool]]:
        return _group((alias, tool) for tool in self.tools for alias in tool.aliases)

    @cached_property
    def _wire_table(self) -> Mapping[tuple[str, str], str]:
        return self._given_wire_table if self._given_wire_table is not None else wire_names(self.tools)

    @cached_property
    def _by_wire(self) -> dict[str, Tool]:
        return {self._wire_table[(tool.server, tool.name)]: tool for tool in self.tools}

    @cached_property
    def by_lower_name(self) -> dict[str, list[Tool]]:
        """Names, keys, aliases and wire names in lower case with `_` for `-`, and their tools."""
        return _group((fold(name).replace("-", "_"), tool) for name, tool in self._all_names())

    @cached_property
    def by_folded_name(self) -> dict[str, list[Tool]]:
        """Names, keys, aliases and wire names as words joined by `_`, and their tools."""
        return _group((folded_name(name), tool) for name, tool in self._all_names())

    def _all_names(self) -> Iterator[tuple[str, Tool]]:
        for tool in self.tools:
            wire = self._wire_table[(tool.server, tool.name)]
            for name in dict.fromkeys((tool.name, tool.key, wire, *tool.aliases)):
                yield name, tool

    def identified(self, server: str, name: str) -> Tool | None:
        """The tool of exactly this server and name."""
        return self._by_identity.get((server, name))

    def resolve(self, name: Any) -> Tool | None:
        """The tool of that key, wire name, name that only one server owns, or alias; None when there is none.

        Raises `AmbiguousToolError` where several tools could be meant.
        """
        if isinstance(name, Tool):
            return self._by_identity.get((name.server, name.name))
        if not isinstance(name, str):
            return None
        found = self._by_key.get(name)
        if found is None:
            wired = self._by_wire.get(name)
            if wired is not None:
                return wired
            found = self._by_name.get(name) or self._by_alias.get(name)
        if not found:
            return None
        if len(found) > 1:
            raise AmbiguousToolError(name, [_qualified(tool) for tool in found])
        return found[0]

    def get(self, key_or_name: str | Tool) -> Tool:
        """The tool of that key or name; raises `UnknownToolError` with the nearest names, or `AmbiguousToolError`."""
        found = self.resolve(key_or_name)
        if found is None:
            name = str(key_or_name)
            raise UnknownToolError(name, self.nearest(name))
        return found

    def nearest(self, name: str, limit: int = 5) -> list[str]:
        """The known names that look most like an unknown one, best first; in a large catalog only names that share a word
        or its beginning are looked at."""
        known: Iterable[str] = self.names
        if len(self.names) > _SMALL:
            parts = _name_parts(name)
            found = Counter(
                other for part in parts for other in self._names_by_part.get(part, ())[: 4 * _SMALL]
            )
            known = [other for other, _ in found.most_common(_SMALL)]
        return nearest_names(name[:200], list(known), limit=limit)

    @cached_property
    def _names_by_part(self) -> dict[str, list[str]]:
        table: dict[str, list[str]] = {}
        for name in self.names:
            for part in _name_parts(name):
                table.setdefault(part, []).append(name)
        return table

    def wire_name(self, tool: str | Tool) -> str:
        """The name of the tool as sent to a model: 1-64 of `[A-Za-z0-9_-]`, unique in the catalog."""
        found = self.get(tool)
        return self._wire_table[(found.server, found.name)]

    def from_wire(self, name: str) -> Tool | None:
        """The tool that has this wire name, by the table."""
        return self._by_wire.get(name)

    def model_view(self, tool: str | Tool, max_description: int | None = None) -> dict[str, Any]:
        """`{name, description, parameters}` of a tool as a model sees it (see `export.model_view`)."""
        from agent_reach.catalog.export import model_view

        return model_view(self, tool, max_description=max_description)

    def is_alias(self, name: str) -> bool:
        """True if the name reaches a tool only as an alias of the overlay."""
        return name in self._by_alias and name not in self._by_key and name not in self._by_name

    def findings_of(self, tool: str | Tool) -> tuple[Finding, ...]:
        """The findings about one tool."""
        key = tool.key if isinstance(tool, Tool) else tool
        return tuple(finding for finding in self.findings if finding.subject == key)


def _name_parts(name: str) -> set[str]:
    """The words of a name, and the first three letters of each."""
    found = split_identifier(name[:200])
    return {*found, *(word[:3] + "*" for word in found)}


def _qualified(tool: Tool) -> str:
    return tool_key(tool.server, tool.name)


def _group(pairs: Iterable[tuple[str, Tool]]) -> dict[str, list[Tool]]:
    groups: dict[str, list[Tool]] = {}
    for name, tool in pairs:
        known = groups.setdefault(name, [])
        if not any(other is tool for other in known):
            known.append(tool)
    return groups


__all__ = ["Catalog", "Provenance", "QuarantinedTool", "SourceInfo"]
