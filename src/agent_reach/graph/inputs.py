"""Required inputs that no tool produces and no user would know: where an agent must guess or ask."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent_reach.graph.words.families import families
from agent_reach.graph.words.reading import entity_and_attribute

if TYPE_CHECKING:
    from agent_reach.graph.build import ToolGraph
    from agent_reach.graph.fields import Field

_KNOWN_CODES = frozenset(
    {
        "phone",
        "zip",
        "postal",
        "country",
        "currency",
        "language",
        "flight",
        "room",
        "house",
        "street",
        "page",
        "year",
    }
)
_SECRETS = frozenset(
    {"token", "secret", "credential", "session", "cursor", "hash", "signature", "checksum", "etag"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnresolvedInput:
    """One required input without a trusted producer. `best` is the strength of the strongest binding there is (0: none)."""

    tool: str
    path: str
    best: float


def unresolved_inputs(graph: ToolGraph) -> tuple[UnresolvedInput, ...]:
    """Required inputs whose value is an identifier, a code or a secret and that no trusted binding feeds."""
    found = []
    flown = _flown(graph)
    for place, fields in enumerate(graph.table.inferred.inputs):
        key = graph.catalog.tools[place].key
        fed = graph.table.inferred.fed[place]
        for item in fields:
            if not item.required or item.values is not None or user_would_know(item):
                continue
            best = fed.get(item.path, 0.0)
            if best <= graph.options.trust_above and (key, item.path) not in flown:
                found.append(UnresolvedInput(tool=key, path=item.path, best=best))
    return tuple(found)


def user_would_know(item: Field) -> bool:
    """Whether a person would say the value: everything but identifiers, codes of things and secrets."""
    if item.format in ("email", "date", "date-time", "time", "uri"):
        return True
    if set(item.words) & _SECRETS:
        return False
    entity, attribute = entity_and_attribute(item.words)
    if attribute == "id":
        return False
    if attribute == "code":
        return (
            not entity
            or bool(set(entity) & _KNOWN_CODES)
            or any("place" in families(word) for word in entity)
        )
    return True


def _flown(graph: ToolGraph) -> set[tuple[str, str]]:
    """(tool, input path) that a value was seen to flow into."""
    found: set[tuple[str, str]] = set()
    if graph.evidence is not None:
        for (_, target), counts in graph.evidence.hops.items():
            if counts.fields:
                found.update((target, path) for _, path in counts.fields)
    return found
