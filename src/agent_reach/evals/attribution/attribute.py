"""One primary cause for each lost decision, and the others that also hold: the first detector that holds wins."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from agent_reach.evals.attribution.arguments import ARGUMENT_DETECTORS
from agent_reach.evals.attribution.asked import asked
from agent_reach.evals.attribution.choice import CHOICE_DETECTORS, chosen_instead, left_out
from agent_reach.evals.attribution.evidence import AttemptEvidence, DecisionEvidence
from agent_reach.evals.attribution.found import Detector, Found
from agent_reach.evals.attribution.reach import REACH_DETECTORS
from agent_reach.evals.attribution.table import CAUSE_ORDER, CAUSES
from agent_reach.evals.attribution.trouble import TROUBLE_DETECTORS
from agent_reach.evals.scoring.calls import SeenCall
from agent_reach.evals.scoring.golds import CompiledGold
from agent_reach.evals.scoring.making import make_cause
from agent_reach.records.message import Message
from agent_reach.records.score import Cause, Decision, ExtraCall
from agent_reach.text.tokens import nearest_names

DETECTORS: dict[str, Detector] = {
    **TROUBLE_DETECTORS,
    **REACH_DETECTORS,
    **CHOICE_DETECTORS,
    **ARGUMENT_DETECTORS,
}
"""Cause -> the function that says whether it holds; tried in the order of the table."""

_AFTER_A_RIGHT_DECISION = ("rate_limited", "timed_out", "tool_failed", "empty_result")
_OF_A_MISSED_CALL = (
    "unavailable",
    "not_offered",
    "not_recalled",
    "name_hallucinated",
    "talked_not_called",
    "context_overload",
    "crowded_out",
    "no_call",
)


def _in_order(skipped: Iterable[str]) -> tuple[tuple[str, Detector], ...]:
    left_out = frozenset(skipped)
    return tuple((name, DETECTORS[name]) for name in CAUSE_ORDER if name not in left_out)


# Detectors that cannot hold for a kind of loss are not asked.
_FOR_MISSED = _in_order((*_AFTER_A_RIGHT_DECISION, *ARGUMENT_DETECTORS))
_FOR_PAIRED = _in_order((*_AFTER_A_RIGHT_DECISION, *_OF_A_MISSED_CALL))
_FOR_RIGHT = _in_order((*_OF_A_MISSED_CALL, "cascaded"))


def attribute(
    attempt: AttemptEvidence, decision: Decision, gold: CompiledGold, seen: SeenCall | None
) -> Decision:
    """The decision with its primary cause under `cause` and the others that hold under `also`.

    A tool of another kind that was called instead, with nothing else to explain it, is a chosen rival; a call that was
    left out, where the others made there already answer for other steps, is `no_call`. So every decision that is not
    right has a cause. A right one keeps none where its call was only refused by the write guard or not recorded.
    """
    evidence = DecisionEvidence(attempt, decision, gold, seen)
    found: list[Cause] = []
    if evidence.is_missed:
        detectors = _FOR_MISSED
    else:
        detectors = _FOR_RIGHT if decision.decision_success else _FOR_PAIRED
    for name, detector in asked(detectors, evidence):
        if name == "wrong_order" and not decision.order_right:
            # It says the same of every attempt that calls this gold out of order.
            found.append(gold.wrong_order or _wrong_order(detector, evidence))
            continue
        result = detector(evidence)
        if result is not None:
            found.append(_cause(name, result, evidence))
            evidence.explained.update(result.data.get("arguments", ()))
    if not found:
        result = chosen_instead(evidence)
        if result is not None:
            found.append(_cause("rival_chosen", result, evidence))
        elif evidence.is_missed:
            found.append(_cause("no_call", left_out(evidence), evidence))
        else:
            return decision
    # The decision was made a moment ago and nobody else has it yet; copying its forty fields would cost more than all.
    object.__setattr__(decision, "cause", found[0])
    object.__setattr__(decision, "also", tuple(found[1:]))
    return decision


def _cause(name: str, found: Found, evidence: DecisionEvidence) -> Cause:
    entry = CAUSES[name]
    return make_cause(
        name=name,
        layer=entry.layer,
        evidence=found.evidence,
        fix=entry.fix,
        blame=blame_of(name, evidence),
        step=found.step,
        data=found.data,
    )


def _wrong_order(detector: Detector, evidence: DecisionEvidence) -> Cause:
    result = detector(evidence)
    assert result is not None
    made = evidence.gold.wrong_order = _cause("wrong_order", result, evidence)
    return made


def blame_of(name: str, evidence: DecisionEvidence) -> str:
    """Who lost the decision: `model`, `reach_layer`, `normaliser` or `tool`.

    Not offered: the reach layer. Offered but not chosen: the model. Arguments that are illegal as sent: the normaliser,
    where there is one (exposure `reach`), else the model that wrote them. Failed on right arguments: the tool.
    """
    decision = evidence.decision
    layer = CAUSES[name].layer
    if layer == "infrastructure" or name in ("unavailable", "permission_denied"):
        return "tool"
    if name in ("not_offered", "not_recalled", "out_of_window", "description_truncated"):
        return "reach_layer"
    if name == "cascaded":
        return "undetermined"
    if decision.tool_right and decision.legal_sent is False and evidence.trace.exposure.mode == "reach":
        return "normaliser"
    return "model"


def over_call_cause(attempt: AttemptEvidence, seen: SeenCall, extra: ExtraCall) -> ExtraCall:
    """The extra call with its cause where it is a mistake of its own: a call too many, or a tool that does not exist."""
    called = seen.key or seen.call.name
    if extra.kind in ("forbidden", "over_call"):
        entry = CAUSES["over_called"]
        evidence = Message(
            f"{called} was called although the task {_why(extra.kind, attempt.task.kind)[0]}",
            f"任务{_why(extra.kind, attempt.task.kind)[1]}，却调用了 {called}",
        )
        cause = make_cause(
            name="over_called", layer=entry.layer, evidence=evidence, fix=entry.fix, blame="model",
            data={"tool": called},
        )  # fmt: skip
        return replace(extra, cause=cause)
    if extra.kind == "hallucinated":
        near = nearest_names(seen.call.name, [tool.name for tool in attempt.compiled.catalog.tools], limit=3)
        entry = CAUSES["name_hallucinated"]
        evidence = Message(
            f"no tool is named {seen.call.name!r}" + (f"; nearest: {', '.join(near)}" if near else ""),
            f"没有名为 {seen.call.name!r} 的工具" + (f"；最接近：{'、'.join(near)}" if near else ""),
        )
        cause = make_cause(
            name="name_hallucinated", layer=entry.layer, evidence=evidence, fix=entry.fix, blame="model",
            data={"name": seen.call.name, "nearest": near},
        )  # fmt: skip
        return replace(extra, cause=cause)
    return extra


def _why(kind: str, task_kind: str) -> tuple[str, str]:
    if kind == "forbidden":
        return "forbids it", "禁止使用它"
    if task_kind == "forbid":
        return "asks for no call", "不需要任何调用"
    return "accepts only the calls of its path", "只接受路径内的调用"
