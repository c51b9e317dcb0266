"""One primary cause for each lost decision, and the others that also hold: the first detector that holds wins."""

from __future__ import annotations

from dataclasses import replace

from agent_reach.evals.attribution.arguments import ARGUMENT_DETECTORS
from agent_reach.evals.attribution.choice import CHOICE_DETECTORS, chosen_instead
from agent_reach.evals.attribution.evidence import AttemptEvidence, DecisionEvidence
from agent_reach.evals.attribution.found import Detector, Found
from agent_reach.evals.attribution.reach import REACH_DETECTORS
from agent_reach.evals.attribution.table import CAUSE_ORDER, CAUSES
from agent_reach.evals.attribution.trouble import TROUBLE_DETECTORS
from agent_reach.evals.scoring.calls import SeenCall
from agent_reach.evals.scoring.golds import CompiledGold
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


def attribute(
    attempt: AttemptEvidence, decision: Decision, gold: CompiledGold, seen: SeenCall | None
) -> Decision:
    """The decision with its primary cause under `cause` and the others that hold under `also`.

    A tool of another kind that was called instead, with nothing else to explain it, is a chosen rival; a decision that
    nothing explains keeps no cause.
    """
    evidence = DecisionEvidence(attempt, decision, gold, seen)
    found: list[Cause] = []
    for name in CAUSE_ORDER:
        result = DETECTORS[name](evidence)
        if result is not None:
            found.append(_cause(name, result, evidence))
            evidence.explained.update(result.data.get("arguments", ()))
    if not found:
        result = chosen_instead(evidence)
        if result is None:
            return decision
        found.append(_cause("rival_chosen", result, evidence))
    return replace(decision, cause=found[0], also=tuple(found[1:]))


def _cause(name: str, found: Found, evidence: DecisionEvidence) -> Cause:
    entry = CAUSES[name]
    return Cause(
        name=name,
        layer=entry.layer,
        evidence=found.evidence,
        fix=entry.fix,
        blame=blame_of(name, evidence),
        step=found.step,
        data=found.data,
    )


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
        cause = Cause(
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
        cause = Cause(
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
