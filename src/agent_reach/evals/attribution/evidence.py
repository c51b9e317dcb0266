"""What the detectors look at: an attempt, and one lost decision in it. Everything costly is worked out when asked for."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from agent_reach.evals.attribution.lazy import lazy
from agent_reach.evals.attribution.needed import needed_values
from agent_reach.evals.scoring.blocks import given_blocks
from agent_reach.evals.scoring.calls import SeenCall
from agent_reach.evals.scoring.decisions import window_of
from agent_reach.evals.scoring.facts import folded
from agent_reach.evals.scoring.golds import CompiledGold, CompiledTask
from agent_reach.evals.scoring.look_alike import look_alikes
from agent_reach.evals.scoring.options import ScoreOptions
from agent_reach.evals.scoring.pairing import Pairing
from agent_reach.evals.scoring.provenance import Source, sources_of
from agent_reach.records.score import ArgumentScore, Decision, ExtraCall
from agent_reach.records.trace import Step, Trace
from agent_reach.text.counting import count_tokens
from agent_reach.text.tokens import split_identifier


@lru_cache(maxsize=8192)
def name_words(key: str) -> frozenset[str]:
    """The words of a tool's name."""
    return frozenset(split_identifier(key.rpartition("/")[2]))


_WRONG = frozenset(("wrong", "missing", "unknown", "illegal"))


class AttemptEvidence:
    """One attempt as the detectors see it."""

    def __init__(
        self,
        compiled: CompiledTask,
        trace: Trace,
        pairing: Pairing | None,
        calls: Sequence[SeenCall],
        extras: Sequence[tuple[SeenCall, ExtraCall]],
        state: str,
        options: ScoreOptions,
        decisions: Sequence[Decision] = (),
    ) -> None:
        self.compiled = compiled
        self.task = compiled.task
        self.trace = trace
        self.pairing = pairing
        self.calls = calls
        self.extras = extras
        self.state = state
        self.options = options
        self.decisions = decisions
        self.signs: int | None = None

    @lazy
    def sources(self) -> list[Source]:
        """All places where a value can come from."""
        return sources_of(self.trace, self.task.query, given_blocks(self.task, self.trace))

    @lazy
    def context_tokens(self) -> int:
        """Estimated tokens of what the model was given, the tool list apart."""
        return sum(count_tokens(source.text) for source in self.sources)

    @lazy
    def context_characters(self) -> int:
        """Characters of what the model was given, the tool list apart."""
        return sum(len(source.text) for source in self.sources)

    @lazy
    def most_repeated(self) -> tuple[str, int]:
        """The name and the number of the most frequent call with the same arguments, tries included; none under three."""
        tries: dict[str, int] = {}
        for seen in self.calls:
            tries[seen.key] = tries.get(seen.key, 0) + len(seen.tries)
        if max(tries.values(), default=0) < 3:
            return "", 0
        counts: dict[tuple[str, str], int] = {}
        for seen in self.calls:
            key = (seen.key or seen.call.name, repr(sorted(seen.arguments.items())))
            counts[key] = counts.get(key, 0) + len(seen.tries)
        (name, _), count = max(counts.items(), key=lambda entry: entry[1])
        return name, count

    @lazy
    def passages(self) -> int:
        """Retrieval passages given."""
        return sum(source.block.kind == "retrieval" for source in self.sources)

    @lazy
    def hidden(self) -> dict[str, str]:
        """Tool key -> why it was kept back."""
        return {self.key(name): reason for name, reason in self.trace.exposure.hidden.items()}

    def key(self, name: str) -> str:
        """The key of a named tool, or the name."""
        tool = self.compiled.tool(name)
        return tool.key if tool is not None else name

    def offered_at(self, step: Step | None) -> tuple[str, ...]:
        """Keys of the tools offered for a message, in order; empty when unknown."""
        names = (step.offered if step is not None else ()) or self.trace.exposure.offered
        return self.compiled.keys_of(names)


class DecisionEvidence:
    """One lost decision: the gold, the call that answers it or stands in for it, and what surrounds it."""

    def __init__(
        self, attempt: AttemptEvidence, decision: Decision, gold: CompiledGold, seen: SeenCall | None
    ) -> None:
        self.attempt = attempt
        self.decision = decision
        self.gold = gold
        self.seen = seen
        self.trace = attempt.trace
        self.is_paired = decision.tool_right or not decision.order_right
        self.is_missed = not self.is_paired
        self.explained: set[str] = set()
        self.enum_words: dict[str, frozenset[str]] = {}

    @lazy
    def wrong(self) -> list[ArgumentScore]:
        """The arguments of a right-tool call that are off."""
        return [score for score in self.decision.argument_scores if score.verdict in _WRONG]

    @lazy
    def bounds(self) -> tuple[int, int]:
        """Positions (exclusive) between which the call was due."""
        assert self.attempt.pairing is not None
        return window_of(self.attempt.pairing, self.attempt.task.order, self.gold)

    @lazy
    def extras(self) -> list[tuple[SeenCall, ExtraCall]]:
        """Extra calls made where this one was due."""
        low, high = self.bounds
        return [(seen, extra) for seen, extra in self.attempt.extras if low < seen.position < high]

    @lazy
    def due_steps(self) -> list[Step]:
        """The model messages in which the call was due."""
        low, high = self.bounds
        calls = self.attempt.calls
        first = calls[low].step if low >= 0 else -1
        last = calls[high].step if high < len(calls) else 1 << 30
        steps = [step for step in self.trace.steps if step.kind == "model" and first <= step.index <= last]
        return [step for step in steps if step.index > first] or steps

    @lazy
    def due_step(self) -> Step | None:
        """The message in which the call was due, or made."""
        if self.seen is not None:
            return next((step for step in self.trace.steps if step.index == self.seen.step), None)
        return self.due_steps[0] if self.due_steps else None

    @lazy
    def offered(self) -> tuple[str, ...]:
        """Keys of the tools offered when the call was due; empty when unknown."""
        return self.attempt.offered_at(self.due_step)

    @lazy
    def wrong_choice(self) -> SeenCall | None:
        """The call of another tool that was made instead; a mere look-up before a write is none."""
        seen = self.seen
        if not self.is_missed or seen is None:
            return None
        if seen.tool is None or self.is_look_alike(seen.key):
            return seen
        tool = self.gold.tool
        expected_reads = tool is None or not tool.effects or tool.is_read_only
        return None if seen.tool.is_read_only and not expected_reads else seen

    def is_look_alike(self, key: str) -> bool:
        """A tool that the catalog's similar pairs, a note, or the words of its name set beside the expected one."""
        known = self.attempt.compiled.look_alikes
        pair = (key, self.gold.key)
        found = known.get(pair)
        if found is None:
            found = key in look_alikes(self.attempt.compiled.catalog).get(self.gold.key, frozenset())
            if not found:
                left, right = name_words(key), name_words(self.gold.key)
                found = len(left & right) * 2 >= len(left | right) > 0
            known[pair] = found
        return found

    @lazy
    def text(self) -> str:
        """What the model said where the call was due, folded."""
        parts = [step.text for step in self.due_steps]
        calls = self.attempt.calls
        if self.bounds[1] >= len(calls):
            parts.append(self.trace.final_text)
        return folded("\n".join(dict.fromkeys(part for part in parts if part)))

    @lazy
    def last_words(self) -> str:
        """The last thing the model said where the call was due."""
        said = [step.text for step in self.due_steps if step.text]
        if self.bounds[1] >= len(self.attempt.calls) and self.trace.final_text:
            said.append(self.trace.final_text)
        return said[-1] if said else ""

    def visible_sources(self) -> list[Source]:
        """The places where the model could have read a value when the call was due or made."""
        step = self.due_step
        before = step.index if step is not None else 1 << 30
        return [source for source in self.attempt.sources if source.block.from_step < before]

    def expected_leaves(self, names: Sequence[str] | None = None) -> list[Any]:
        """The gold values that a call needed (matchers opened), of the named arguments or of all."""
        assert self.attempt.pairing is not None
        found: list[Any] = []
        for item in self.gold.required:
            if names is None or item.name in names:
                found.extend(needed_values(item.spec, self.attempt.pairing))
        return found
