"""Each argument of a right-tool call against its gold, one by one, for the report and for the causes."""

from __future__ import annotations

from typing import Any

from agent_reach.evals.scoring.calls import SeenCall
from agent_reach.evals.scoring.golds import ArgumentGold, CompiledGold, Evaluation
from agent_reach.evals.scoring.making import make_argument_score
from agent_reach.evals.scoring.values import (
    MISSING,
    References,
    is_matcher,
    json_type,
    same_value,
    split_reference,
)
from agent_reach.records.score import ArgumentScore
from agent_reach.text.pointers import escape_pointer


def scores_of(
    gold: CompiledGold, seen: SeenCall, evaluation: Evaluation | None, references: References | None
) -> tuple[ArgumentScore, ...]:
    """`argument_scores`, kept with the evaluation: it lives as long as what they depend on stays the same."""
    if evaluation is None:
        return argument_scores(gold, seen, references)
    if evaluation.scores is None:
        evaluation.scores = argument_scores(gold, seen, references if gold.depends_on else None)
        evaluation.unused = sum(score.verdict == "unused" for score in evaluation.scores)
    return evaluation.scores


def argument_scores(
    gold: CompiledGold, seen: SeenCall, references: References | None
) -> tuple[ArgumentScore, ...]:
    """The verdict on every argument: those with a gold, required ones without, and whatever else was sent."""
    arguments = seen.arguments
    found = [
        make_argument_score(name=item.name, verdict="right", required=True, expected=item.spec, actual=value)
        if type(value := arguments.get(item.name, MISSING)) is item.plain and value == item.spec
        else _required(item, value, references)
        for item in gold.required
    ]
    for name in gold.free_required:
        value = arguments.get(name, MISSING)
        if value is MISSING:
            found.append(
                make_argument_score(name=name, verdict="missing", required=True, reason="missing_required")
            )
        elif name in seen.problem_names:
            found.append(_illegal(name, value, seen, required=True))
        else:
            found.append(make_argument_score(name=name, verdict="legal", required=True, actual=value))
    found.extend(_optional(item, arguments.get(item.name, MISSING), references) for item in gold.optional)
    named = {score.name for score in found}
    if not arguments.keys() <= named:
        for name, value in arguments.items():
            if name in named:
                continue
            if name in gold.ignored:
                found.append(make_argument_score(name=name, verdict="ignored"))
            elif name not in gold.known and not gold.is_open:
                found.append(
                    make_argument_score(name=name, verdict="unknown", actual=value, reason="unknown_argument")
                )
            elif name in seen.problem_names:
                found.append(_illegal(name, value, seen, required=False))
            else:
                found.append(make_argument_score(name=name, verdict="legal", actual=value))
    return tuple(found)


def _required(item: ArgumentGold, value: Any, references: References | None) -> ArgumentScore:
    effective = item.default if value is MISSING else value
    if item.compare(effective, references):
        return make_argument_score(
            name=item.name,
            verdict="right",
            required=True,
            expected=item.spec,
            actual=None if value is MISSING else value,
            reason="" if value is not MISSING else "default",
            matched=_matched(item, effective, references),
        )
    if value is MISSING:
        return make_argument_score(
            name=item.name, verdict="missing", required=True, expected=item.spec, reason="missing_required"
        )
    return make_argument_score(
        name=item.name,
        verdict="wrong",
        required=True,
        expected=item.spec,
        actual=value,
        reason=mismatch(item, value, references),
    )


def _optional(item: ArgumentGold, value: Any, references: References | None) -> ArgumentScore:
    if value is MISSING or (item.has_default and same_value(value, item.default)):
        at_default = item.compare(item.default, references)
        return make_argument_score(
            name=item.name,
            verdict="legal" if at_default else "unused",
            expected=item.spec,
            actual=None if value is MISSING else value,
            reason="default" if at_default else "",
        )
    if item.compare(value, references):
        return make_argument_score(
            name=item.name,
            verdict="right",
            expected=item.spec,
            actual=value,
            matched=_matched(item, value, references),
        )
    return make_argument_score(
        name=item.name,
        verdict="wrong",
        expected=item.spec,
        actual=value,
        reason=mismatch(item, value, references),
    )


def mismatch(item: ArgumentGold, value: Any, references: References | None) -> str:
    """Why a value is not its gold: `type`, `no_value_to_compare` or `value`."""
    spec = item.spec
    if is_matcher(spec):
        if "$from" not in spec or references is None:
            return "value"
        return "value" if references(split_reference(str(spec["$from"]))[0]) else "no_value_to_compare"
    kinds = {json_type(spec), json_type(value)}
    return "value" if len(kinds) == 1 or kinds == {"integer", "number"} else "type"


def _matched(item: ArgumentGold, value: Any, references: References | None) -> str:
    """Which of several accepted values matched, or the reference it was taken from."""
    if not item.matcher:
        return ""
    spec = item.spec
    if "$one_of" in spec:
        return item.matched_choice(value, references)
    return f"$from {spec['$from']}" if "$from" in spec else ""


def _illegal(name: str, value: Any, seen: SeenCall, *, required: bool) -> ArgumentScore:
    pointer = "/" + escape_pointer(name)
    problem = next(
        (item for item in seen.problems if item.pointer == pointer or item.pointer.startswith(pointer + "/")),
        None,
    )
    return make_argument_score(
        name=name,
        verdict="illegal",
        required=required,
        expected=problem.expected if problem is not None else None,
        actual=value,
        reason=problem.code if problem is not None else "illegal",
    )
