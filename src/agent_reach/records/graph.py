"""Edges of the reachability graph and what speaks for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

AGENT_NODE = "__agent__"


@dataclass(frozen=True, slots=True, kw_only=True)
class Binding:
    """One reason why an output of the source can feed an input of the target: the two field paths and the rule."""

    rule: str
    source_field: str
    target_field: str
    score: float
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeEvidence:
    """What speaks for an edge, kind by kind; None is unmeasured.

    `structural`, `planning` and `execution` are shares in 0..1; counts are (taken or worked, wanted or taken).
    """

    structural: float | None = None
    planning: float | None = None
    execution: float | None = None
    planning_counts: tuple[int, int] = (0, 0)
    execution_counts: tuple[int, int] = (0, 0)
    bindings: tuple[Binding, ...] = ()
    failures: Mapping[str, int] = field(default_factory=dict)
    truncation_rate: float | None = None
    latency_ms: float | None = None
    origin: str = "inferred"
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """A directed edge between two nodes, each written as a tool key (or `__agent__`, or `partition:NAME`)."""

    source: str
    target: str
    score: float
    trusted: bool
    evidence: EdgeEvidence = field(default_factory=EdgeEvidence)
