"""Candidate edges from schemas and words: bindings of fields, weighed by context and joined to one structural score.

The score says how likely it is that a value of the source's result is used as an argument of the target, in 0..1; it is a
judgement from words, not a probability. Constants were chosen once on public tool lists and are stated here.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field as dataclass_field
from typing import Any

from agent_reach.graph import binding
from agent_reach.graph.binding import Match, matches
from agent_reach.graph.fields import Field, input_fields, noun_of, output_fields
from agent_reach.graph.vocabulary import GENERIC, READ_VERBS, entity_and_attribute
from agent_reach.records.graph import Binding
from agent_reach.records.tool import Tool

ECHO = 0.55
WEAKEST = 0.08
MAX_BINDINGS = 6


@dataclass(slots=True)
class Candidate:
    """A possible edge between two tools (positions in the catalog): structural score and the bindings for it."""

    score: float
    bindings: tuple[Binding, ...] = dataclass_field(default_factory=tuple)


def candidate_edges(
    tools: Sequence[Tool], observed: Mapping[str, Mapping[str, Any]] | None = None
) -> dict[tuple[int, int], Candidate]:
    """Candidate edges by (source, target) position; self edges included, weaker ones than `WEAKEST` left out."""
    observed = observed or {}
    nouns = [noun_of(tool) for tool in tools]
    ins = [input_fields(index, tool) for index, tool in enumerate(tools)]
    outs = [output_fields(index, tool, observed.get(tool.key)) for index, tool in enumerate(tools)]
    outputs = [(item, nouns[index][1], frozenset(nouns[index][0])) for index, found in enumerate(outs) for item in found]
    inputs = [(item, nouns[index][1]) for index, found in enumerate(ins) for item in found]
    context = _Context(tools, nouns, ins)
    by_pair: dict[tuple[int, int], list[tuple[float, Match]]] = defaultdict(list)
    for match in matches(outputs, inputs):
        score = context.weigh(match)
        if score >= WEAKEST:
            by_pair[(match.source.tool, match.target.tool)].append((score, match))
    return {pair: _joined(found) for pair, found in by_pair.items()}


def _joined(found: list[tuple[float, Match]]) -> Candidate:
    """The best binding carries the edge; bindings of further inputs add a part of what is left."""
    best: dict[str, tuple[float, Match]] = {}
    for score, match in found:
        known = best.get(match.target.path)
        if known is None or score > known[0]:
            best[match.target.path] = (score, match)
    ordered = sorted(best.values(), key=lambda item: (-item[0], item[1].target.path))
    total = 0.0
    for place, (score, _) in enumerate(ordered):
        total += (1 - total) * score * (1.0 if place == 0 else 0.2)
    bindings = tuple(
        Binding(rule=match.rule, source_field=match.source.path, target_field=match.target.path, score=round(score, 4))
        for score, match in ordered[:MAX_BINDINGS]
    )
    return Candidate(round(min(total, 1.0), 6), bindings)


class _Context:
    """What surrounds a binding: echoes, what the user would say anyway, kinds of tools, shared words of the two tools."""

    def __init__(
        self,
        tools: Sequence[Tool],
        nouns: Sequence[tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]],
        inputs: Sequence[Sequence[Field]],
    ) -> None:
        self.tools = tools
        self.nouns = nouns
        self.own = [{item.words for item in found if item.words} for found in inputs]
        self.own_things = [
            {entity_and_attribute(item.words) for item in found if entity_and_attribute(item.words)[1]} for found in inputs
        ]
        self.reads = [
            tool.is_read_only or bool(set(noun[0]) & READ_VERBS) for tool, noun in zip(tools, nouns, strict=True)
        ]

    def weigh(self, match: Match) -> float:
        source, target = match.source, match.target
        score = match.score
        if self._echoes(source):
            score *= ECHO
        if not target.required:
            score *= 0.9
        if not self.reads[source.tool]:
            score *= 0.9
        return score

    def _echoes(self, source: Field) -> bool:
        own = self.own[source.tool]
        if source.words and source.words in own:
            return True
        entity, attribute = entity_and_attribute(source.words)
        if attribute and not entity:
            return any((owner, attribute) in self.own_things[source.tool] for owner in source.entity[:1])
        return False
