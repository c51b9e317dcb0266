"""What an intervention is, what it may look at, and the few moves that several of them share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from agent_reach.evals.scoring.look_alike import look_alikes
from agent_reach.evals.trials.variant import Variant
from agent_reach.records.context import ContextBlock
from agent_reach.records.message import Message
from agent_reach.records.score import AttemptScore, Cause, Decision
from agent_reach.records.task import GoldenCall, GoldenPath, Task
from agent_reach.records.tool import AgentNote, ParameterHint, Tool
from agent_reach.records.trace import Exposure

WRONG = frozenset(("wrong", "missing", "unknown", "illegal"))


@dataclass(frozen=True, slots=True)
class Changed:
    """A variant without the cause, and what was changed for it."""

    variant: Variant
    what: Message


@dataclass(frozen=True, slots=True, kw_only=True)
class Intervention:
    """One way of removing a cause. `removes` names the causes; `change` gives the variant without it, or None where there
    is nothing to remove."""

    name: str
    removes: tuple[str, ...]
    summary: Message
    change: Callable[[Situation], Changed | None]


class Situation:
    """A lost decision: the task as it is run, what was offered, and the attempt that lost it.

    `variant` is what is changed (already changed once where causes are tried in pairs), `cause` the hypothesis. `unwanted`
    are the tools that were called and should not have been, where no decision was lost but a call was too many.
    `own_agent`: the caller brought the agent, so that its settings cannot be changed.
    """

    def __init__(
        self,
        variant: Variant,
        decision: Decision,
        attempt: AttemptScore,
        exposure: Exposure,
        cause: str,
        *,
        unwanted: tuple[str, ...] = (),
        own_agent: bool = False,
    ) -> None:
        self.variant = variant
        self.decision = decision
        self.attempt = attempt
        self.exposure = exposure
        self.cause = cause
        self.unwanted = unwanted
        self.own_agent = own_agent

    def within(self, variant: Variant) -> Situation:
        """The same decision in another variant."""
        return Situation(
            variant,
            self.decision,
            self.attempt,
            self.exposure,
            self.cause,
            unwanted=self.unwanted,
            own_agent=self.own_agent,
        )

    @property
    def task(self) -> Task:
        """The task."""
        return self.variant.task

    @cached_property
    def tool(self) -> Tool | None:
        """The right tool, None where the catalog lacks it."""
        return self.variant.catalog.resolve(self.decision.expected_tool)

    @property
    def offered(self) -> tuple[str, ...]:
        """Keys of the tools that were offered, in order."""
        return self.exposure.offered

    @cached_property
    def path(self) -> GoldenPath:
        """The golden path that was scored."""
        paths = self.task.paths
        index = self.attempt.path_index or 0
        return paths[index] if index < len(paths) else GoldenPath()

    @cached_property
    def golden_keys(self) -> frozenset[str]:
        """Keys of all tools of all golden paths."""
        return frozenset(
            tool.key
            for path in self.task.paths
            for call in path.calls
            if (tool := self.variant.catalog.resolve(call.tool)) is not None
        )

    @cached_property
    def gold(self) -> GoldenCall | None:
        """The golden call of this decision."""
        calls = self.path.calls
        return calls[self.decision.step] if self.decision.step < len(calls) else None

    @cached_property
    def chosen(self) -> tuple[str, ...]:
        """Keys of the tools that were called instead of the right one; none where that was called."""
        found: dict[str, None] = {}
        if self.decision.tool_right:
            return ()
        if self.decision.selected_tool:
            found[self.decision.selected_tool] = None
        found.update(dict.fromkeys(extra.tool for extra in self.attempt.extra_calls if extra.tool))
        return tuple(key for key in found if key in self.variant.catalog and key not in self.golden_keys)

    @cached_property
    def rivals(self) -> tuple[str, ...]:
        """Keys of the right tool's look-alikes and of what was chosen instead."""
        alike = (
            look_alikes(self.variant.catalog).get(self.tool.key, frozenset()) if self.tool else frozenset()
        )
        return tuple(dict.fromkeys([*self.chosen, *sorted(alike - self.golden_keys)]))

    def suspicion(self, cause: str = "") -> Cause | None:
        """The cause (this one unless named) as it was put down for the decision; None where it was not suspected."""
        name = cause or self.cause
        known = (self.decision.cause, *self.decision.also)
        return next((item for item in known if item is not None and item.name == name), None)

    @property
    def wrong_arguments(self) -> tuple[str, ...]:
        """Names of the arguments of the right tool that were off."""
        return tuple(score.name for score in self.decision.argument_scores if score.verdict in WRONG)

    def outcome_is(self, *kinds: str) -> bool:
        """The right call ended in one of these error kinds."""
        outcome = self.decision.outcome
        return outcome is not None and self.decision.tool_right and (outcome.error_kind or "") in kinds


def offering(situation: Situation, keys: Iterable[str]) -> Variant | None:
    """The variant that offers exactly these of the offered tools, in their order; None where that changes nothing or leaves
    none. The reach layer is denied the others, and may find further ones in their place."""
    kept = set(keys)
    names = tuple(key for key in situation.offered if key in kept)
    if len(names) == len(situation.offered):
        return None
    variant = situation.variant
    if variant.config.exposure.mode == "reach":
        return _denied(variant, [key for key in situation.offered if key not in kept])
    return replace(variant, task=replace(variant.task, tools=names)) if names else None


def without(situation: Situation, keys: Iterable[str]) -> Variant | None:
    """The variant that never offers these tools, also where nothing is left or the reach layer found them for later words;
    None where they were not offered."""
    hidden = list(keys)
    variant = situation.variant
    if variant.config.exposure.mode == "reach":
        return _denied(variant, hidden) if hidden else None
    if set(situation.offered) <= set(hidden):
        nothing = replace(variant.config.exposure, mode="names", tools=())
        config = replace(variant.config, exposure=nothing)
        return replace(variant, task=replace(variant.task, tools=()), config=config)
    return offering(situation, set(situation.offered) - set(hidden))


def _denied(variant: Variant, hidden: Sequence[str]) -> Variant:
    exposure = variant.config.exposure
    settings = {**exposure.settings, "deny": [*exposure.settings.get("deny", ()), *hidden]}
    pinned = tuple(name for name in exposure.pinned if _key(variant, name) not in hidden)
    changed = replace(exposure, settings=settings, pinned=pinned)
    return replace(variant, config=replace(variant.config, exposure=changed))


def _key(variant: Variant, name: str) -> str:
    tool = variant.catalog.resolve(name)
    return name if tool is None else tool.key


def offered_too(variant: Variant, key: str) -> Variant:
    """The variant that offers this tool of its catalog as well."""
    task, exposure = variant.task, variant.config.exposure
    exposure = replace(exposure, pinned=(*exposure.pinned, key))
    if exposure.mode == "names":
        exposure = replace(exposure, tools=(*exposure.tools, key))
    if task.tools:
        task = replace(task, tools=(*task.tools, key))
    return replace(variant, task=task, config=replace(variant.config, exposure=exposure))


def with_instruction(situation: Situation, name: str, text: Message) -> Variant | None:
    """The variant in which one more instruction stands; None where it stands already."""
    task = situation.task
    if any(block.id == name for block in task.context):
        return None
    words = text.text("zh" if task.language == "zh" else "en")
    block = ContextBlock(id=name, kind="instruction", text=words)
    return replace(situation.variant, task=replace(task, context=(*task.context, block)))


def with_hints(situation: Situation, hints: Mapping[str, Mapping[str, Any]]) -> Variant | None:
    """The variant in which the right tool's note says these things of its parameters, beside what it says already."""
    tool = situation.tool
    if tool is None or not hints:
        return None
    note = tool.note or AgentNote()
    merged = dict(note.param_hints)
    for name, fields in hints.items():
        known = merged.get(name, ParameterHint())
        values = {**known.values}
        for value, words in fields.get("values", {}).items():
            values[value] = tuple(dict.fromkeys([*values.get(value, ()), *words]))
        names = tuple(dict.fromkeys([*known.names, *fields.get("names", ())]))
        merged[name] = replace(
            known,
            values=values,
            names=names,
            format=fields.get("format") or known.format,
            example=fields.get("example", known.example),
        )
    if merged == dict(note.param_hints):
        return None
    return situation.variant.with_tools({tool.key: replace(tool, note=replace(note, param_hints=merged))})


def with_context(situation: Situation, **settings: Any) -> Variant | None:
    """The variant with other context settings; None where they are so already."""
    config = situation.variant.config
    context = replace(config.context, **settings)
    if context == config.context:
        return None
    return replace(situation.variant, config=replace(config, context=context))


def names_of(keys: Iterable[str], limit: int = 5) -> str:
    """Some names for a sentence."""
    listed = list(keys)
    return ", ".join(listed[:limit]) + (f" and {len(listed) - limit} more" if len(listed) > limit else "")
