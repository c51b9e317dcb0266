"""Every intervention changes only what it says, tells nothing of the gold, and leaves the run as it was."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.evals_prove.scripted import OTHER, World, cut_world, worlds

from agent_reach.backends.base import success
from agent_reach.evals.agents import base as agents
from agent_reach.evals.interventions.planning import Trial, plan_proofs
from agent_reach.evals.interventions.repeat_remarked import RemarkedRepeats
from agent_reach.evals.interventions.table import INTERVENTIONS
from agent_reach.evals.interventions.value_place_named import value_place, words_around
from agent_reach.evals.runner import run
from agent_reach.evals.runner_setup import RunOptions
from agent_reach.evals.trials.laboratory import Laboratory, LaboratoryOptions
from agent_reach.evals.trials.variant import Variant
from agent_reach.records.codec import to_json
from agent_reach.records.tool import Tool
from agent_reach.records.trace import CallOutcome
from agent_reach.text.tokens import is_cjk

CHANGES: dict[str, set[str]] = {
    "rival_hidden": {"task.tools", "config.exposure.settings"},
    "few_tools": {"task.tools"},
    "reach_candidates": {"task.tools"},
    "description_restored": {"config.exposure.surface"},
    "description_first_line": {"tool.description"},
    "request_as_trigger": {"tool.note"},
    "format_and_example": {"tool.note"},
    "enum_aliases": {"tool.note"},
    "value_in_slot": {"task.state_slots", "config.context.state_slots"},
    "entities_narrowed": {"wrappers"},
    "window_widened": {"config.context.token_budget", "config.context.max_passages"},
    "passages_five": {"config.context.max_passages"},
    "passages_none": {"config.context.max_passages"},
    "blocks_reordered": {"config.context.order", "config.context.best_passages"},
    "tools_before_retrieval": {"config.context.order"},
    "faults_off": {"config.execution.faults"},
    "recorded_result": {"wrappers"},
    "permission_granted": {"config.environment.scopes"},
    "tool_offered": {"task.tools", "config.exposure.pinned", "config.exposure.tools"},
    "alias_added": {"tool.aliases"},
    "names_added": {"tool.note"},
    "required_marked": {"tool.note", "tool.input_schema"},
    "earlier_result_given": {"task.context"},
    "told_to_call": {"task.context"},
    "order_stated": {"tool.description"},
    "unwanted_hidden": {"task.tools"},
    "told_to_hold_back": {"task.context"},
    "request_excluded": {"tool.description"},
    "tool_stood_in": {"wrappers", "tool added", "config.exposure.pinned"},
    "call_form_stated": {"task.context"},
    "reply_constrained": {"config.agent.options"},
    "output_limit_raised": {"config.agent.max_tokens"},
    "repeat_remarked": {"wrappers"},
    "told_not_to_repeat": {"task.context"},
    "value_place_named": {"tool.note"},
    "unasked_hidden": {"tool.input_schema"},
}
"""Intervention -> the only parts of a run that it may change."""


def trials_of(world: World, folder: Path) -> list[tuple[Variant, Trial]]:
    own = world.config.agent.type != "local"
    options = RunOptions(
        catalog=world.catalog, agent=world.agent() if own else None, archive=folder / "runs", concurrency=1
    )
    report = run(world.config, suite=world.suite, options=options)

    async def plans() -> list[tuple[Variant, Trial]]:
        async with Laboratory("prove", world.config, world.suite, LaboratoryOptions(run=options)) as opened:
            planned = plan_proofs(opened, report, all_causes=True, pairs=0)
            return [(plan.untouched, trial) for plan in planned for trial in plan.trials]

    return asyncio.run(plans())


def differences(before: Variant, after: Variant) -> Iterator[str]:
    for part in ("task", "config"):
        yield from _records(getattr(before, part), getattr(after, part), part)
    if before.wrappers != after.wrappers:
        yield "wrappers"
    known = {tool.key: tool for tool in before.catalog.tools}
    for tool in after.catalog.tools:
        if tool.key not in known:
            yield "tool added"
        else:
            yield from _records(known[tool.key], tool, "tool")
    if set(known) - {tool.key for tool in after.catalog.tools}:
        yield "tool removed"


def _records(before: Any, after: Any, place: str) -> Iterator[str]:
    for field in fields(before):
        old, new = getattr(before, field.name), getattr(after, field.name)
        if old == new:
            continue
        if hasattr(old, "__dataclass_fields__") and type(old) is type(new) and place == "config":
            yield from _records(old, new, f"{place}.{field.name}")
        else:
            yield f"{place}.{field.name}"


Found = list[tuple[Variant, Trial]]


@pytest.fixture(scope="module")
def trials(tmp_path_factory: pytest.TempPathFactory) -> Found:
    """Everything that is tried in any of the worlds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(agents.AGENTS, "local", "tests.evals_prove.scripted:build_cut_agent")
        return [
            found
            for world in (*worlds(), cut_world())
            for found in trials_of(world, tmp_path_factory.mktemp("world"))
        ]


def test_interventions_change_only_what_they_say(trials: Found) -> None:
    seen: dict[str, set[str]] = {}
    for untouched, trial in trials:
        changed = set(differences(untouched, trial.variant))
        assert changed, f"{trial.name} changes nothing"
        assert changed <= CHANGES[trial.name], f"{trial.name} changes {changed}"
        seen.setdefault(trial.name, set()).update(changed)
    assert set(seen) == set(CHANGES) == set(INTERVENTIONS)


def test_what_is_named_or_stands_in_tells_no_golden_value(trials: Found) -> None:
    looked = [(one, trial) for one, trial in trials if trial.name in ("value_place_named", "tool_stood_in")]
    assert len(looked) >= 2
    for untouched, trial in looked:
        known = json.dumps(to_json(untouched.catalog.tools), ensure_ascii=False)
        shown = json.dumps(to_json(trial.variant.catalog.tools), ensure_ascii=False)
        # Words of the request that stand beside the value may be told, the value that is asked for may not.
        values = ("250", "2031-04-05", "WH-SH-01") if trial.name == "tool_stood_in" else ("250",)
        for value in values:
            assert shown.count(value) == known.count(value), trial.name


@pytest.mark.parametrize("cause", ["talked_not_called", "over_called", "loop", "unparsable_call"])
def test_instructions_speak_the_language_of_the_task(cause: str, tmp_path: Path) -> None:
    planted = next(world for world in worlds() if world.cause == cause)
    chinese = replace(planted, task=replace(planted.task, language="zh"))
    added = [
        trial.variant.task.context[-1]
        for _, trial in trials_of(chinese, tmp_path)
        if CHANGES[trial.name] == {"task.context"} and cause in trial.causes
    ]
    assert added
    assert all(block.kind == "instruction" and any(is_cjk(c) for c in block.text) for block in added)


@given(
    st.integers(0, 9999), st.text("abc, ", max_size=20), st.text("xyz, ", max_size=20), st.sampled_from([str, int])
)  # fmt: skip
def test_words_around_a_value_never_hold_it(number: int, left: str, right: str, kind: Any) -> None:
    value = kind(number)
    around = words_around(f"{left} {number} {right} {number}", value)
    assert around is not None
    assert all(str(number) not in side.split() for side in around)


@pytest.mark.parametrize(
    ("text", "value", "around"),
    [
        ("Set it to 1,250 pieces now", 1250, ("it to", "pieces now")),
        ("把上海仓补到50件", 50, ("海仓补到", "件")),
        ("order 12 of 2012", 12, ("order", "of 2012")),
        ("Level HIGH please", "high", ("Level", "please")),
        ("nothing here", 7, None),
        ("v1.25", 25, None),
    ],
)
def test_where_a_value_stands(text: str, value: Any, around: Any) -> None:
    assert words_around(text, value) == around


@pytest.mark.parametrize("value", [True, False, None, [1], {"a": 1}, "x"])
def test_values_that_a_place_would_give_away_or_that_have_none_are_left_alone(value: Any) -> None:
    assert value_place(None, value) is None  # type: ignore[arg-type]


def test_only_an_answer_that_came_before_is_remarked_on() -> None:
    class Counter:
        def __init__(self, answers: list[str]) -> None:
            self.answers = answers

        async def call(self, tool: Tool, arguments: Any, **more: Any) -> CallOutcome:
            return success(self.answers.pop(0))

        async def aclose(self) -> None:
            """Nothing."""

    tool = Tool(name=OTHER)
    backend = RemarkedRepeats(Counter(["a", "a", "b", "b", "c"]), "Again.")
    texts = [asyncio.run(backend.call(tool, {"x": 1})).text for _ in range(4)]
    assert texts == ["a", "Again.\na", "b", "Again.\nb"]
    last = asyncio.run(backend.call(tool, {"x": 2}))
    assert (last.text, last.value) == ("c", "c")
