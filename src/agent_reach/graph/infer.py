"""Candidate edges from schemas, links and words: bindings of fields, weighed by context and joined to one structural score.

The score says how likely it is that a value of the source's result is used as an argument of the target, in 0..1; it is a
judgement from words, not a probability. Its constants stand in `weights`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from typing import Any

from agent_reach.graph.binding import Match, matches
from agent_reach.graph.context import Context
from agent_reach.graph.fields import Field, input_fields, noun_of, output_fields
from agent_reach.graph.links import linked_matches
from agent_reach.graph.weights import DEFAULT_WEIGHTS, EdgeWeights
from agent_reach.records.graph import Binding
from agent_reach.records.tool import Tool

WEAKEST = 0.08
RIVALS = 2
SHARED_SERVICE = 1.0
SAME_SERVICE = 0.75
MAX_BINDINGS = 6
LINE = 0.4


@dataclass(slots=True)
class Candidate:
    """A possible edge between two tools (positions in the catalog): structural score and, strongest first, the weighed
    matches that speak for it."""

    score: float
    matches: list[tuple[float, Match]] = dataclass_field(default_factory=list)

    @property
    def bindings(self) -> tuple[Binding, ...]:
        """The strongest matches as records, made when they are asked for."""
        return tuple(
            Binding(
                rule=match.rule,
                source_field=match.source.path,
                target_field=match.target.path,
                score=round(score, 4),
                reason=match.reason,
            )
            for score, match in self.matches[:MAX_BINDINGS]
        )


@dataclass(slots=True)
class Inferred:
    """What schemas and words say: candidate edges by (source, target) position in the catalog; for each tool the strongest
    binding of each input path (from another tool); and the inputs themselves."""

    edges: dict[tuple[int, int], Candidate] = dataclass_field(default_factory=dict)
    fed: list[dict[str, float]] = dataclass_field(default_factory=list)
    inputs: list[list[Field]] = dataclass_field(default_factory=list)


def infer_edges(
    tools: Sequence[Tool],
    observed: Mapping[str, Mapping[str, Any]] | None = None,
    *,
    weights: EdgeWeights = DEFAULT_WEIGHTS,
) -> Inferred:
    """Candidate edges between tools; self edges included, bindings weaker than `WEAKEST` left out.

    `observed` maps a tool key to a schema of results that were seen, for tools that declare none.
    """
    observed = observed or {}
    nouns = [noun_of(tool) for tool in tools]
    ins = [input_fields(index, tool) for index, tool in enumerate(tools)]
    outs = [output_fields(index, tool, observed.get(tool.key)) for index, tool in enumerate(tools)]
    outputs = [
        (item, nouns[index][1], frozenset(nouns[index][0]))
        for index, found in enumerate(outs)
        for item in found
    ]
    inputs = [(item, nouns[index][1]) for index, found in enumerate(ins) for item in found]
    context = Context(tools, nouns, ins, outs, weights)
    result = Inferred(fed=[{} for _ in tools], inputs=ins)
    by_pair: dict[tuple[int, int], list[tuple[float, Match]]] = defaultdict(list)
    linked: dict[Field, float] = {}
    for match in linked_matches(tools, ins, outs):  # first, so that of equals the link stands in the evidence
        _add(result, by_pair, match.score, match)
        linked[match.target] = max(match.score, linked.get(match.target, 0.0))
    for group in matches(outputs, inputs):
        for score, match in _competed(group, context, linked.get(group[0].target, 0.0)):
            _add(result, by_pair, score, match)
    result.edges = {pair: _joined(found, weights) for pair, found in by_pair.items()}
    for fed in result.fed:
        for path, score in fed.items():
            fed[path] = round(_calibrated(score, weights.even), 6)
    return result


def _add(
    result: Inferred, by_pair: dict[tuple[int, int], list[tuple[float, Match]]], score: float, match: Match
) -> None:
    """Keep a weighed match, unless it is weaker than `WEAKEST`."""
    if score < WEAKEST:
        return
    giver, taker, path = match.source.tool, match.target.tool, match.target.path
    by_pair[(giver, taker)].append((score, match))
    fed = result.fed[taker]
    if giver != taker and score > fed.get(path, 0.0):
        fed[path] = score


def _competed(group: list[Match], context: Context, linked: float) -> list[tuple[float, Match]]:
    """Bindings of one input, weighed; of many tools that offer the same, those of the input's own service stay strong.

    `linked` is the strength of the strongest link to the input: a guess is outdone by it as by a better guess. Twenty logins all give a session: the one that shares the rarest words with the taker is meant.
    """
    weighed = [(context.weigh(match), match) for match in group]
    best = max(linked, *(score for score, _ in weighed))
    outdone = context.weights.outdone
    weighed = (
        [(score * (outdone + (1 - outdone) * score / best), match) for score, match in weighed]
        if best
        else weighed
    )
    rivals = [
        match for match in group if match.source.origin in ("login", "tool_name") and match.score >= 0.5
    ]
    if len({match.source.tool for match in rivals}) < RIVALS:
        return weighed
    shared = {match.source.tool: context.service(match.source.tool, match.target.tool) for match in rivals}
    most = max(shared.values())
    if most < SHARED_SERVICE:
        return weighed
    rival = set(map(id, rivals))
    return [
        (score * (1.0 if shared[match.source.tool] >= SAME_SERVICE * most else 0.3), match)
        if id(match) in rival
        else (score, match)
        for score, match in weighed
    ]


def _joined(found: list[tuple[float, Match]], weights: EdgeWeights) -> Candidate:
    """The best binding carries the edge; bindings of further inputs add a part of what is left."""
    if len(found) > 1:
        best: dict[str, tuple[float, Match]] = {}
        for score, match in found:
            known = best.get(match.target.path)
            if known is None or score > known[0]:
                best[match.target.path] = (score, match)
        found = sorted(best.values(), key=lambda item: (-item[0], item[1].target.path))
    total = found[0][0]
    for score, _ in found[1:]:
        total += (1 - total) * score * weights.support
    return Candidate(round(_calibrated(min(total, 1.0), weights.even), 6), found)


def _calibrated(raw: float, even: float) -> float:
    """The raw strength stretched so that the default line of trust (0.4) lies where a map still misses few real edges."""
    if raw <= even:
        return LINE * raw / even
    return LINE + (1 - LINE) * (raw - even) / (1 - even)
