"""One path against the calls of one attempt: pairs, what each pair is worth, and how good the whole path looks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agent_reach.evals.scoring.alignment import pair, pair_any_order
from agent_reach.evals.scoring.calls import SeenCall
from agent_reach.evals.scoring.golds import CompiledGold, CompiledPath, Evaluation
from agent_reach.evals.scoring.values import parsed_text

WORKED_WEIGHT = 1e-5


class Pairing:
    """The calls paired with a path's golds: `positions` in order, `displaced` those only found out of order."""

    __slots__ = ("_used", "calls", "displaced", "evaluations", "path", "positions")

    def __init__(self, path: CompiledPath, calls: Sequence[SeenCall], order: str) -> None:
        self.path = path
        self.calls = calls
        self.evaluations: list[Evaluation | None] = [None] * len(path.golds)
        self.positions = pair(path, calls, order, self._weigh)
        is_open = order != "any_order" and -1 in self.positions
        self.displaced = self._pair_displaced() if is_open else [-1] * len(path.golds)
        self._used: set[int] | None = None
        for gold in path.golds:
            position = self.positions[gold.index]
            if position >= 0:
                look = self.evaluate if gold.depends_on else self.first_look
                self.evaluations[gold.index] = look(gold, calls[position])

    def call_of(self, gold: CompiledGold) -> SeenCall | None:
        """The call paired in order with a gold."""
        position = self.positions[gold.index]
        return self.calls[position] if position >= 0 else None

    def used_positions(self) -> set[int]:
        """Positions of all calls that answer a gold, in order or not."""
        if self._used is None:
            self._used = {*self.positions, *self.displaced}
            self._used.discard(-1)
        return self._used

    def result_of(self, step: str) -> list[Any]:
        """The value that a step's call got, else the recorded one (one item), or nothing."""
        gold = self.path.by_id.get(step)
        if gold is None:
            return []
        position = self.positions[gold.index]
        if position < 0:
            position = self.displaced[gold.index]
        if position >= 0:
            outcome = self.calls[position].last
            if outcome is not None and outcome.status == "ok":
                return [outcome.value if outcome.value is not None else parsed_text(outcome.text)]
        return [gold.call.result] if gold.call.has_result else []

    def evaluate(self, gold: CompiledGold, seen: SeenCall) -> Evaluation:
        """Counts of a call against a gold, references taken from the paired calls."""
        references = self.result_of if gold.depends_on else None
        return gold.evaluate(seen.arguments, seen.problem_names, references)

    def _weigh(self, gold: CompiledGold, seen: SeenCall) -> float:
        weight = self.first_look(gold, seen).weight
        return weight + WORKED_WEIGHT if seen.went_well else weight

    def first_look(self, gold: CompiledGold, seen: SeenCall) -> Evaluation:
        """Counts before anything is paired: a reference may be any earlier result of the referenced tool.

        Arguments that this gold has been compared with before are not compared again, in whatever attempt they stood.
        """
        mark = seen.mark
        if mark is None or gold.depends_on:
            return self._look_once(gold, seen)
        found = gold.remembered.get(mark)
        if found is None:
            found = gold.evaluate(seen.arguments, seen.problem_names, None)
            gold.remember(mark, found)
        return found

    def _look_once(self, gold: CompiledGold, seen: SeenCall) -> Evaluation:
        held = seen.evaluations
        if held is None:
            held = seen.evaluations = {}
        found = held.get(id(gold))
        if found is None:
            references = (lambda step: self._possible_results(step, seen)) if gold.depends_on else None
            found = held[id(gold)] = gold.evaluate(seen.arguments, seen.problem_names, references)
        return found

    def _possible_results(self, step: str, before: SeenCall) -> list[Any]:
        gold = self.path.by_id.get(step)
        if gold is None:
            return []
        found = [gold.call.result] if gold.call.has_result else []
        for seen in self.calls:
            if seen.key == gold.key and seen.message < before.message:
                outcome = seen.last
                if outcome is not None and outcome.status == "ok":
                    found.append(outcome.value if outcome.value is not None else parsed_text(outcome.text))
        return found

    def _pair_displaced(self) -> list[int]:
        """Golds left over, paired with left-over calls of their tool wherever those stand."""
        result = [-1] * len(self.path.golds)
        left = [gold for gold in self.path.golds if self.positions[gold.index] < 0]
        if left:
            taken = {position for position in self.positions if position >= 0}
            keys = {gold.key for gold in left}
            free = [seen for seen in self.calls if seen.position not in taken and seen.key in keys]
            if free:
                left.sort(key=lambda gold: gold.order_key)
                pair_any_order(left, free, self._weigh, result)
        return result
