"""The shortcuts of scoring change nothing: with every one of them taken out, random attempts score the same to the letter."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.evals_scoring.building import catalog, failed, gold, ok, path, task, tool, trace

from agent_reach.evals.attribution import attribute, found
from agent_reach.evals.scoring import (
    alignment,
    arguments,
    attempt,
    calls,
    decisions,
    extras,
    golds,
    making,
    provenance,
)
from agent_reach.evals.scoring.assignment import assign
from agent_reach.evals.scoring.options import ScoreOptions
from agent_reach.evals.scoring.score import score_attempt
from agent_reach.records.context import ContextBlock, DroppedBlock
from agent_reach.records.message import Message
from agent_reach.records.score import ArgumentScore, AttemptScore, Cause, Decision, ExtraCall, Provenance
from agent_reach.records.task import GoldenPath, Task
from agent_reach.records.trace import CallOutcome, Exposure, Trace

KINDS: tuple[Any, ...] = (ArgumentScore, AttemptScore, Cause, Decision, ExtraCall, Message, Provenance)
CATALOG = catalog(
    tool("find_item", {"id": "string", "limit": "integer"}, ["id"], effects=frozenset({"read"})),
    tool("find_items", {"id": "string", "tags": {"type": "array"}}, effects=frozenset({"read"})),
    tool(
        "set_price", {"id": "string", "price": "number", "day": {"type": "string", "format": "date"}}, ["id"]
    ),
    tool(
        "set_level",
        {"id": "string", "level": {"type": "string", "enum": ["gold", "silver"], "default": "silver"}},
        ["id", "level"],
        effects=frozenset({"write"}),
    ),
    tool("anything"),
)
NAMES = ["find_item", "find_items", "set_price", "set_level", "anything"]
SCALARS = [
    "A-1",
    "A-2",
    " A-1",
    "gold",
    "Gold",
    "2024-03-01",
    "2024/3/1",
    "x y z",
    "",
    1,
    1.0,
    True,
    2,
    -0.0,
    0.0,
]
HOLDERS = [None, ["a", "b"], ["b", "a"], {"n": 1}, {"n": 1.0}, {"n": True}]
VALUES = st.sampled_from([*SCALARS, *HOLDERS])
ARGUMENTS = st.dictionaries(
    st.sampled_from(["id", "limit", "tags", "price", "day", "level", "strange"]), VALUES, max_size=4
)
SPECS = st.one_of(
    VALUES,
    st.sampled_from(
        [
            {"$one_of": ["A-1", "A-2"]},
            {"$any": True},
            {"$type": "number"},
            {"$from": "first.id"},
            {"$range": [0, 2]},
        ]
    ),
)
GOLDS = st.builds(
    lambda name, args, optional, result: gold(name, args, optional=optional, **result),
    st.sampled_from([*NAMES, "gone"]),
    st.dictionaries(st.sampled_from(["id", "price", "level", "tags"]), SPECS, max_size=2),
    st.dictionaries(st.sampled_from(["limit", "day", "level"]), SPECS, max_size=1),
    st.sampled_from([{}, {}, {"result": {"id": "A-2"}}, {"result": "x y z", "id": "first"}]),
)
PATHS = st.lists(st.lists(GOLDS, min_size=1, max_size=3), min_size=1, max_size=4).map(
    lambda stages: path(*stages)
)
OUTCOMES = st.sampled_from(
    [
        ok({"id": "A-1"}),
        ok(""),
        failed("tool_error"),
        failed("rate_limited"),
        failed("permission"),
        failed("context_lost"),
        failed("not_found", off_recording=True),
        CallOutcome(status="unknown"),
    ]
)
CALLS = st.tuples(st.sampled_from([*NAMES, "find_itm"]), ARGUMENTS, OUTCOMES)
MESSAGES = st.lists(
    st.one_of(
        CALLS, st.lists(CALLS, min_size=2, max_size=4), st.sampled_from(["I will set_price now.", "Done."])
    ),
    max_size=6,
)
SETTINGS = st.fixed_dictionaries(
    {},
    optional={
        "exposure": st.builds(
            Exposure,
            mode=st.sampled_from(["all", "reach"]),
            offered=st.sampled_from([(), ("find_item", "set_price"), tuple(NAMES)]),
            hidden=st.sampled_from([{}, {"set_level": "permission"}, {"find_item": "not_recalled"}]),
            cut_descriptions=st.sampled_from([{}, {"set_price": 2}]),
        ),
        "permissions_missing": st.just({"set_price": ("prices",)}),
        "dropped": st.just((DroppedBlock(block_id="d", kind="retrieval", reason="token_budget"),)),
        "blocks": st.just(
            (
                ContextBlock(id="d", kind="retrieval", text="the id is A-1"),
                ContextBlock(id="e", kind="retrieval", text="of A-2 the price is 1.0"),
            )
        ),
    },
)


@st.composite
def tasks(draw: st.DrawFn) -> Task:
    order = draw(st.sampled_from(["in_order", "any_order", "exact"]))
    kind = draw(st.sampled_from(["must", "must", "must", "may"]))
    return task(*draw(st.lists(PATHS, min_size=1, max_size=2)), kind=kind, order=order, forbid=("set_level",))


@st.composite
def attempts_of_a_golden_path(draw: st.DrawFn) -> tuple[Task, list[Any]]:
    """A path and nearly the calls that it wants, so that the ways for right and almost right attempts are walked."""
    calls_wanted = draw(st.lists(st.tuples(st.sampled_from(NAMES[:4]), ARGUMENTS), min_size=1, max_size=4))
    wanted = GoldenPath(stages=tuple((gold(name, args),) for name, args in calls_wanted))
    made = [(name, args, draw(OUTCOMES)) for name, args in calls_wanted]
    changed = draw(st.sampled_from(["", "", "drop", "reverse", "repeat", "together"]))
    if changed == "drop":
        made.pop(draw(st.integers(0, len(made) - 1)))
    elif changed == "reverse":
        made.reverse()
    elif changed == "repeat":
        made += made[:1] * 3
    order = draw(st.sampled_from(["in_order", "any_order", "exact"]))
    return task(wanted, order=order), [made] if changed == "together" else made


def without_mark(arguments_sent: Any) -> None:
    return None


@contextmanager
def slow_paths() -> Iterator[None]:
    """Scoring with nothing remembered, every detector asked, every alignment worked out, plain constructors."""

    class Unordered(golds.CompiledPath):
        def __init__(self, *given: Any) -> None:
            super().__init__(*given)
            self.key_order = []

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(attempt, "_compiled", {})
        patch.setattr(golds, "CompiledPath", Unordered)
        patch.setattr(calls, "mark_of", without_mark)
        patch.setattr(alignment, "settled", lambda weights: None)
        patch.setattr(attribute, "asked", lambda detectors, evidence: detectors)
        patch.setattr(arguments, "make_argument_score", ArgumentScore)
        patch.setattr(decisions, "make_decision", Decision)
        patch.setattr(extras, "make_extra_call", ExtraCall)
        patch.setattr(attribute, "make_cause", Cause)
        patch.setattr(found, "make_message", Message)
        patch.setattr(provenance, "make_provenance", Provenance)
        patch.setattr(attempt, "make_attempt_score", AttemptScore)
        yield


def assert_same(wanted: Task, made: Trace, options: ScoreOptions) -> AttemptScore:
    with slow_paths():
        slow = score_attempt(wanted, made, CATALOG, options=options)
    first = score_attempt(wanted, made, CATALOG, options=options)
    again = score_attempt(wanted, made, CATALOG, options=options)
    # To the letter: 1, 1.0 and true are equal in Python and are not the same value.
    assert repr(first) == repr(slow)
    assert repr(again) == repr(slow)
    assert first == slow == again
    return first


@given(tasks(), st.lists(st.tuples(MESSAGES, SETTINGS), min_size=1, max_size=3), st.booleans())
@settings(deadline=None, max_examples=250)
def test_random_attempts_score_the_same_without_the_shortcuts(
    wanted: Task, tries: list[Any], full: bool
) -> None:
    for messages, more in tries:
        assert_same(wanted, trace(*messages, **more), ScoreOptions(blocks=full, provenance=full))


@given(attempts_of_a_golden_path(), st.booleans())
@settings(deadline=None, max_examples=250)
def test_nearly_right_attempts_score_the_same_without_the_shortcuts(
    given_attempt: tuple[Task, list[Any]], full: bool
) -> None:
    wanted, messages = given_attempt
    assert_same(wanted, trace(*messages), ScoreOptions(blocks=full, provenance=full))


@given(tasks(), MESSAGES, SETTINGS)
@settings(deadline=None, max_examples=250)
def test_every_decision_that_is_not_right_has_a_cause(wanted: Task, messages: Any, more: Any) -> None:
    scored = score_attempt(wanted, trace(*messages, **more), CATALOG)
    for decision in scored.decisions:
        assert decision.verdict == "right" or decision.cause is not None, decision


def test_a_call_left_out_beside_calls_for_other_steps_has_a_cause() -> None:
    stages = [gold("find_item", {"id": "A-1"}), gold("set_price", {"id": "A-1"})]
    scored = score_attempt(task(path(*stages)), trace(("set_level", {"id": "A-1", "level": "gold"})), CATALOG)
    causes = [decision.cause.name if decision.cause else None for decision in scored.decisions]
    assert [decision.error for decision in scored.decisions] == ["set_level called instead", "not called"]
    assert causes == ["rival_chosen", "no_call"]
    assert scored.decisions[1].cause is not None
    assert "set_level" in scored.decisions[1].cause.evidence.zh


def test_arguments_are_known_again_only_with_the_same_types_in_the_same_order() -> None:
    given_arguments: list[Any] = [
        {"a": 1}, {"a": 1.0}, {"a": True}, {"a": "1"}, {"a": None}, {"a": [1]}, {"a": 0.0}, {"a": -0.0},
        {"a": 1, "b": 2}, {"b": 2, "a": 1}, {"a": {"b": 1}}, {"a": {"b": 1.0}}, {},
    ]  # fmt: skip
    marks = [calls.mark_of(item) for item in given_arguments]
    assert len(set(marks)) == len(marks)
    shared = ["x" * 3]
    assert calls.mark_of({"a": shared, "b": shared}) == calls.mark_of({"a": ["xxx"], "b": ["x" * 3]})
    assert calls.mark_of({"a": object()}) is None
    assert calls.mark_of({"a": "x" * 5000}) is None


def test_what_is_remembered_stays_bounded() -> None:
    wanted = task(path(gold("find_item", {"id": "A-1"})))
    for number in range(3 * golds.REMEMBERED):
        score_attempt(wanted, trace(("find_item", {"id": f"A-{number}", "limit": "x"})), CATALOG)
    compiled = attempt.compiled_task(wanted, CATALOG)
    known = compiled.known("find_item")
    held = (compiled.paths[0].golds[0].remembered, known.legal, known.problems)
    assert all(0 < len(item) <= golds.REMEMBERED for item in held)


@given(
    st.integers(1, 4).flatmap(
        lambda width: st.lists(
            st.lists(st.floats(1, 9), min_size=width, max_size=width), min_size=1, max_size=4
        )
    )
)
def test_what_is_settled_at_sight_is_the_heaviest_assignment(weights: list[list[float]]) -> None:
    columns = alignment.settled(weights)
    if columns is not None:
        total = sum(row[column] for row, column in zip(weights, columns, strict=True))
        best = sum(row[column] for row, column in zip(weights, assign(weights), strict=True) if column >= 0)
        assert total == pytest.approx(best)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_made_records_are_the_records_that_constructors_make(kind: Any) -> None:
    make = making.maker(kind)
    fields = dataclasses.fields(kind)
    needed = {
        field.name: f"value of {field.name}"
        for field in fields
        if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
    }
    everything = {field.name: f"value of {field.name}" for field in fields}
    for values in (needed, everything):
        made = make(**values)
        assert type(made) is kind
        assert made == kind(**values)
        assert repr(made) == repr(kind(**values))
        assert dataclasses.replace(made) == made
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(made, fields[0].name, 1)
    with pytest.raises(TypeError):
        make(**everything, no_such_field=1)
    with pytest.raises(TypeError):
        make(**{name: value for name, value in everything.items() if name != fields[0].name})


def test_made_records_do_not_share_their_defaults() -> None:
    one, other = (
        making.make_cause(name="n", layer="discovery", evidence=Message("", ""), fix=Message("", ""))
        for _ in range(2)
    )
    assert one.data == {}
    assert one.data is not other.data


def test_only_slotted_records_can_be_made() -> None:
    @dataclasses.dataclass(frozen=True)
    class Open:
        name: str

    with pytest.raises(TypeError):
        making.maker(Open)


def test_a_call_that_did_not_work_gave_no_block_to_use() -> None:
    wanted = task(path(gold("find_item", {"id": "A-1"})))
    missed = CallOutcome(
        status="failed", error_kind="not_found", text="no result was recorded for ticket TCK-5011",
        off_recording=True,
    )  # fmt: skip
    good = ok({"ticket": "TCK-7022"})
    attempt_made = trace(
        ("find_item", {"id": "A-1"}, missed),
        ("find_items", {"id": "A-1"}, good),
        "Nothing on TCK-5011, see TCK-7022.",
    )
    scored = score_attempt(wanted, attempt_made, CATALOG)
    assert [(use.block_id, use.state) for use in scored.blocks] == [("result:c1", "used")]
    listed = dataclasses.replace(
        attempt_made,
        blocks=(
            ContextBlock(id="r0", kind="tool_result", text=missed.text, call_id="c0", from_step=0),
            ContextBlock(id="r1", kind="tool_result", text=good.text, call_id="c1", from_step=1),
            ContextBlock(id="note", kind="retrieval", text="Ask for ticket TCK-9033 first."),
        ),
    )
    scored = score_attempt(wanted, listed, CATALOG)
    assert [(use.block_id, use.state) for use in scored.blocks] == [("r1", "used"), ("note", "unused")]


def test_an_unknown_argument_shows_beside_a_missing_one() -> None:
    """As many arguments as the gold requires, one of them misnamed: missing and unknown, neither hides the other."""
    from agent_reach import Catalog, Suite, score
    from agent_reach.records.trace import Call, CallOutcome, Step, Trace

    schema = {
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
        "required": ["a", "b"],
    }
    catalog = Catalog.load([{"name": "put", "description": "Put.", "inputSchema": schema}])
    suite = Suite.load(
        [{"id": "t", "kind": "must", "query": "x y", "path": [{"tool": "put", "args": {"a": "x", "b": "y"}}]}]
    )
    call = Call(
        call_id="c", name="put", tool="put", arguments={"a": "x", "bb": "y"}, outcome=CallOutcome(status="ok")
    )
    trace = Trace(trace_id="t", task_id="t", steps=(Step(index=0, calls=(call,)),))
    decision = score(suite, [trace], catalog).tasks[0].attempts[0].decisions[0]
    assert {one.name: one.verdict for one in decision.argument_scores} == {
        "a": "right",
        "b": "missing",
        "bb": "unknown",
    }
