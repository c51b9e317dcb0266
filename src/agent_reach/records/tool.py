"""What a tool is: identity, the text and schema a model sees, and what people noted beside it.

A tool here is already loaded: `input_schema` is legal JSON Schema, `original` is what the source said. How sources
are read and schemas repaired is the business of `catalog`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Effect = Literal["read", "write", "destructive", "idempotent"]


def tool_key(server: str, name: str) -> str:
    """The written identity of a tool: `server/name`, or `name` for a tool without a server."""
    return f"{server}/{name}" if server else name


@dataclass(frozen=True, slots=True, kw_only=True)
class ParameterHint:
    """What a note says of one parameter.

    `values` maps each legal value to the words people use for it; `names` are other names of the parameter;
    `fill` is a rule that may fill it (`last_user_event`).
    """

    names: tuple[str, ...] = ()
    values: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    format: str = ""
    example: Any = None
    fill: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentNote:
    """Text for the model beside the schema: what and when, phrasings, parameter hints, the border to rivals."""

    summary: str = ""
    triggers: tuple[str, ...] = ()
    param_hints: Mapping[str, ParameterHint] = field(default_factory=dict)
    conflicts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """What must be granted before a tool can work: services, scopes, environment variables, files."""

    services: tuple[str, ...] = ()
    scopes: tuple[str, ...] = ()
    env: tuple[str, ...] = ()
    files: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.services or self.scopes or self.env or self.files)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """One tool of a catalog.

    `input_schema` is an object schema used for validation (repaired where the meaning was certain);
    `output_schema` is None where none is declared or the declared one is unusable; `annotations` are the hints of the
    protocol as sent; `original` is the definition as the source gave it; `effects` holds what is known of side
    effects (empty: unknown); `actor` is `agent`, or `user` for a tool on the user's side.
    """

    name: str
    server: str = ""
    title: str = ""
    description: str = ""
    input_schema: Mapping[str, Any] = field(default_factory=lambda: {"type": "object", "properties": {}})
    output_schema: Mapping[str, Any] | None = None
    annotations: Mapping[str, Any] = field(default_factory=dict)
    original: Mapping[str, Any] = field(default_factory=dict)
    note: AgentNote | None = None
    needs: Needs = field(default_factory=Needs)
    effects: frozenset[Effect] = frozenset()
    aliases: tuple[str, ...] = ()
    partitions: tuple[str, ...] = ()
    actor: str = "agent"

    @property
    def key(self) -> str:
        """The identity: `server/name`, or `name` without a server."""
        return tool_key(self.server, self.name)

    @property
    def is_read_only(self) -> bool:
        """Known to change nothing; unknown effects count as a write."""
        return "read" in self.effects and not (self.effects & {"write", "destructive"})

    @property
    def is_idempotent(self) -> bool:
        """Known to be safe to repeat."""
        return self.is_read_only or "idempotent" in self.effects

    @property
    def parameters(self) -> Mapping[str, Any]:
        """Top-level parameter name -> schema (a mapping, or a boolean schema)."""
        properties = self.input_schema.get("properties")
        return properties if isinstance(properties, Mapping) else {}

    @property
    def required(self) -> tuple[str, ...]:
        """Names of the top-level parameters that must be given."""
        names = self.input_schema.get("required")
        return tuple(names) if isinstance(names, (list, tuple)) else ()

    def __str__(self) -> str:
        return self.key
