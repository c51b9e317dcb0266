"""What surrounds a binding and weighs it: echoes, what a user would say anyway, what kinds of tools meet, shared words.

A field that fits says only that a value could flow. These factors say how often one does: from lookups to actions more
than from a deletion to a lookup, an identifier more than a date, within one service more than across two.
"""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from collections.abc import Sequence

from agent_reach.graph.binding import (
    AMBIENT_VALUE,
    NAMED_IN_TEXT,
    UNIT,
    Match,
)
from agent_reach.graph.fields import Field
from agent_reach.graph.weights import DEFAULT_WEIGHTS, EdgeWeights
from agent_reach.graph.words.families import families
from agent_reach.graph.words.fields import GENERIC
from agent_reach.graph.words.fillers import PREPOSITIONS
from agent_reach.graph.words.reading import entity_and_attribute, name_words
from agent_reach.graph.words.verbs import LOGIN_WORDS, MAKE_VERBS, READ_VERBS
from agent_reach.records.tool import Tool
from agent_reach.text.stopwords import is_function_word
from agent_reach.text.tokens import split_identifier

# Bindings of this strength and above are strong.
STRONG = 0.6
_ALWAYS_NEAR = frozenset({AMBIENT_VALUE, NAMED_IN_TEXT, UNIT})
Noun = tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]
_WORD = re.compile(r"[a-z]{3,}")


class Context:
    """Weighs bindings between the tools of one catalog."""

    def __init__(
        self,
        tools: Sequence[Tool],
        nouns: Sequence[Noun],
        inputs: Sequence[Sequence[Field]],
        outputs: Sequence[Sequence[Field]],
        weights: EdgeWeights = DEFAULT_WEIGHTS,
    ) -> None:
        self.weights = weights
        self.tools = tools
        self.nouns = nouns
        self.own = [{item.words for item in found if item.words} for found in inputs]
        self.own_things = [
            {entity_and_attribute(item.words) for item in found if entity_and_attribute(item.words)[1]}
            for found in inputs
        ]
        self.verbs = [self._verbs(tool, noun) for tool, noun in zip(tools, nouns, strict=True)]
        self.reads = [
            tool.is_read_only or (not tool.effects and bool(verbs & READ_VERBS) and not verbs & MAKE_VERBS)
            for tool, verbs in zip(tools, self.verbs, strict=True)
        ]
        self.makes = [bool(verbs & MAKE_VERBS) for verbs in self.verbs]
        self.finds = [bool({"search", "find", "lookup"} & verbs) for verbs in self.verbs]
        self.logins = [bool(LOGIN_WORDS & _joined_words(tool.name)) for tool in tools]
        self.only = [_only_thing(found, noun) for found, noun in zip(outputs, nouns, strict=True)]
        self.bags = _bags(tools)
        # A small catalog is about one subject; in a large one, tools without a rare word in common seldom meet.
        self.spread = min(1.0, max(0.0, (len(tools) - 10) / 60))
        self.names = [
            set(name_words(tool.name)) - GENERIC - PREPOSITIONS
            | ({f"server:{tool.server}"} if tool.server else set())
            for tool in tools
        ]
        spread = Counter(word for words in self.names for word in words)
        self.rarity = {word: math.log((1 + len(tools)) / count) for word, count in spread.items()}
        self._alike: dict[tuple[int, int], float] = {}
        self._known_givers: dict[Field, tuple[bool, bool]] = {}

    @staticmethod
    def _verbs(tool: Tool, noun: Noun) -> frozenset[str]:
        if noun[0]:
            return frozenset(noun[0])
        first = _WORD.search(tool.description.lower())
        return frozenset({first.group(0).rstrip("s")}) if first else frozenset()

    def weigh(self, match: Match) -> float:
        """The strength of a binding in its surroundings, 0..1."""
        weights = self.weights
        source, target = match.source, match.target
        giver, taker = source.tool, target.tool
        takes_noun, echoes = self._giving(source)
        score = match.score * self._value(target, match.rule == AMBIENT_VALUE)
        if takes_noun:
            score *= weights.spoken_of
        if echoes:
            score *= weights.read_echo if self.reads[giver] else weights.write_echo
        if source.depth > 3:
            score *= weights.deep ** (source.depth - 3)
        if not target.required:
            score *= weights.optional
        if match.rule in _ALWAYS_NEAR:
            return score
        near = 1.0
        if not source.ambient and source.origin != "checked":
            near -= self.spread * (1.0 - min(1.0, self.alike(giver, taker) / weights.alike))
        score *= self._nearness(match.score, near, entity_and_attribute(target.words)[1] in ("id", "code"))
        if self.logins[taker] and not source.ambient and source.origin != "checked":
            score *= weights.into_login
        return min(score * self._kinds(source, target, echoes), 1.0)

    def _nearness(self, strength: float, near: float, is_identifier: bool) -> float:
        """What nearness (0..1) makes of a binding: more of a weak one, which never overtakes a strong one thereby."""
        weights = self.weights
        factors = []
        for low, high in (weights.strong_near, weights.weak_near):
            if is_identifier:
                low, high = low + weights.id_near * high, (1 - weights.id_near) * high
            factors.append(low + high * near)
        strong, weak = factors
        return strong if strength >= STRONG else min(weak, strong * STRONG / strength)

    def _giving(self, source: Field) -> tuple[bool, bool]:
        """(whether the output only names a thing that was given, whether it only echoes an input)."""
        known = self._known_givers.get(source)
        if known is None:
            known = self._known_givers[source] = (self._takes_its_noun(source), self._echoes(source))
        return known

    def _kinds(self, source: Field, target: Field, echoes: bool) -> float:
        """What kinds of tools meet."""
        weights = self.weights
        giver, taker = source.tool, target.tool
        factor = 1.0
        if not self.reads[giver]:
            new = (self.makes[giver] or self.logins[giver]) and not echoes
            if self.reads[taker]:
                factor *= weights.new_thing if new else weights.write_to_read
            else:
                factor *= weights.new_thing if new else weights.write_to_write
        elif not self.finds[giver]:
            factor *= weights.given_by_lookup
        if self.reads[giver] and self.reads[taker]:
            factor *= weights.read_to_read
        factor *= self._pointless(giver, taker, target)
        only = self.only[taker]
        if only is not None and self.reads[taker] and (only in self.own_things[giver]):
            factor *= weights.known_already
        return factor

    def _pointless(self, giver: int, taker: int, target: Field) -> float:
        """Looking for what was just found, or making a new thing under the name of a known one, is seldom done."""
        if not self.nouns[giver][1] or self.nouns[giver][1] != self.nouns[taker][1]:
            return 1.0
        attribute = entity_and_attribute(target.words)[1]
        if attribute == "id":
            return 1.0
        if {"search", "find", "filter"} & self.verbs[taker]:
            return self.weights.same_search
        if self.makes[taker] and (
            attribute == "name" or target.words[-1] in ("content", "body", "description")
        ):
            return self.weights.same_name_again
        return 1.0

    def _value(self, target: Field, is_ambient: bool) -> float:
        """How far the value is one that only another tool knows, and not the user, the clock or the model."""
        words = target.words
        _, attribute = entity_and_attribute(words)
        if attribute in ("id", "code"):
            return 1.0
        kinds = {family for word in words[-1:] for family in families(word)}
        if kinds & {"date", "time"} and not is_ambient:
            return self.weights.date
        if kinds & {"text"} and attribute != "name":
            return self.weights.text
        if kinds & {"money", "quantity"}:
            return self.weights.quantity
        return self.weights.other

    def _echoes(self, source: Field) -> bool:
        own = self.own[source.tool]
        if source.words and source.words in own:
            return True
        entity, attribute = entity_and_attribute(source.words)
        if attribute and not entity:
            return any((owner, attribute) in self.own_things[source.tool] for owner in source.entity[:1])
        return False

    def _takes_its_noun(self, source: Field) -> bool:
        """A bare result named only by the tool, of a thing that the tool was given (`read_file(path) -> str`)."""
        if source.path.startswith("<") and source.origin not in ("login", "checked", "converter"):
            head = self.nouns[source.tool][1]
            return (
                bool(head)
                and not entity_and_attribute(head)[1]
                and any(head[-1] in words for words in self.own[source.tool])
            )
        return False

    def alike(self, left: int, right: int) -> float:
        """How much the two tools speak of the same service or subject: cosine of their rare words, 0..1."""
        pair = (left, right)
        known = self._alike.get(pair)
        if known is None:
            known = self._alike[pair] = self._cosine(self.bags[left], self.bags[right])
        return known

    def service(self, left: int, right: int) -> float:
        """Weight of the rare words that both names share (in nats; a word of every tenth tool weighs 2.3)."""
        shared = self.names[left] & self.names[right]
        return sum(self.rarity[word] for word in shared)

    @staticmethod
    def _cosine(left: dict[str, float], right: dict[str, float]) -> float:
        if len(left) > len(right):
            left, right = right, left
        total = 0.0
        for word, weight in left.items():
            other = right.get(word)
            if other is not None:
                total += weight * other
        return min(total, 1.0)


def _joined_words(name: str) -> set[str]:
    words = split_identifier(name)
    return {*words, *(left + right for left, right in itertools.pairwise(words))}


def _only_thing(outputs: Sequence[Field], noun: Noun) -> tuple[tuple[str, ...], str] | None:
    """The one thing a resolving tool gives (`find_user_id_by_email` -> a user's id); None for a richer result."""
    if len(outputs) != 1 or not noun[0]:
        return None
    words = outputs[0].words or noun[1]
    entity, attribute = entity_and_attribute(words)
    return (entity, attribute) if entity and attribute else None


def _bags(tools: Sequence[Tool]) -> list[dict[str, float]]:
    """Unit vectors of the words of name and description, rare words heavy; the server counts as a word."""
    counted = []
    spread: Counter[str] = Counter()
    for tool in tools:
        words = set(name_words(tool.name))
        words.update(
            word for word in _WORD.findall(tool.description[:300].lower()) if not is_function_word(word)
        )
        if tool.server:
            words.add(f"server:{tool.server}")
        words -= GENERIC
        counted.append(words)
        spread.update(words)
    total = len(tools)
    vectors = []
    for words in counted:
        vector = {word: math.log((1 + total) / spread[word]) for word in words if spread[word] < total}
        length = math.sqrt(sum(value * value for value in vector.values())) or 1.0
        vectors.append({word: value / length for word, value in vector.items()})
    return vectors
