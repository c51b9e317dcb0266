"""Which tool a call means: keys, aliases, wire names, meta-tools that call others, and names that no tool has.

A hallucinated name never becomes a node; it is kept with its count, its places and the nearest real names.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from agent_reach.catalog.catalog import Catalog
from agent_reach.catalog.naming import resolve_emitted_name
from agent_reach.errors import AmbiguousToolError
from agent_reach.graph.options import GraphOptions
from agent_reach.records.trace import Call
from agent_reach.text.tokens import nearest_names

MAX_PLACES = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class HallucinatedName:
    """A name that was called and that no tool has. `places` are (trace id, number of the call in its trace from 0)."""

    name: str
    count: int
    nearest: tuple[str, ...] = ()
    places: tuple[tuple[str, int], ...] = ()


@dataclass(slots=True)
class _Place:
    count: int = 0
    places: list[tuple[str, int]] = field(default_factory=list)


class NameReader:
    """Resolves the names of calls against one catalog and collects those that mean nothing."""

    def __init__(self, catalog: Catalog, options: GraphOptions) -> None:
        self.catalog = catalog
        self.options = options
        self.unknown: dict[str, _Place] = {}
        self.aliased: Counter[str] = Counter()
        self._known: dict[str, str | None] = {}
        self._keys = {tool.key for tool in catalog.tools}

    def key_of(self, name: str) -> str | None:
        """The key of the tool that a name means, or None."""
        if name in self._known:
            return self._known[name]
        self._known[name] = found = self._resolve(name)
        return found

    def _resolve(self, name: str) -> str | None:
        if name in self._keys:
            return name
        try:
            tool = self.catalog.resolve(name)
        except AmbiguousToolError:
            return None
        if tool is not None:
            if self.catalog.is_alias(name):
                self.aliased[name] += 1
            return tool.key
        repaired = resolve_emitted_name(name, self.catalog)
        return repaired.tool.key if repaired.tool is not None else None

    def read(self, call: Call) -> tuple[str | None, Mapping[str, Any] | None]:
        """The tool key and arguments of a call, un-nested where it is a call of a meta-tool."""
        name = call.tool or call.name
        arguments = call.sent_arguments if call.sent_arguments is not None else call.arguments
        rule = self.options.meta_tools.get(call.name.rsplit("/", 1)[-1])
        if rule is not None and isinstance(arguments, Mapping):
            inner = next((arguments[key] for key in rule[0] if isinstance(arguments.get(key), str)), None)
            nested: Mapping[str, Any] = next(
                (arguments[key] for key in rule[1] if isinstance(arguments.get(key), Mapping)), {}
            )
            if inner is not None:
                return self.key_of(inner), nested
        key = self.key_of(name)
        if key is None and call.tool and call.tool != call.name:
            key = self.key_of(call.name)
        return key, arguments

    def meant(self, call: Call) -> str:
        """The name as called, un-nested; what is quarantined when no tool has it."""
        rule = self.options.meta_tools.get(call.name.rsplit("/", 1)[-1])
        if rule is not None and isinstance(call.arguments, Mapping):
            for key in rule[0]:
                if isinstance(call.arguments.get(key), str):
                    return str(call.arguments[key])
        return call.name

    def quarantine(self, name: str, trace_id: str, number: int) -> None:
        """Note a name that no tool has."""
        place = self.unknown.setdefault(name, _Place())
        place.count += 1
        if len(place.places) < MAX_PLACES:
            place.places.append((trace_id, number))

    def hallucinated(self) -> tuple[HallucinatedName, ...]:
        """All quarantined names, most frequent first."""
        names = list(self.catalog.names)
        found = [
            HallucinatedName(
                name=name,
                count=place.count,
                nearest=tuple(nearest_names(name, names, limit=3)),
                places=tuple(place.places),
            )
            for name, place in self.unknown.items()
        ]
        return tuple(sorted(found, key=lambda item: (-item.count, item.name)))
