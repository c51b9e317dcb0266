"""Causes outside this decision: the infrastructure failed after it, or an earlier step did before it."""

from __future__ import annotations

import re

from agent_reach.evals.attribution.evidence import DecisionEvidence
from agent_reach.evals.attribution.found import Detector, Found, found
from agent_reach.evals.attribution.needed import telling_leaves
from agent_reach.evals.scoring.decisions import empty_is_expected, is_empty
from agent_reach.evals.scoring.facts import folded, leaves
from agent_reach.evals.scoring.provenance import holders
from agent_reach.evals.scoring.values import is_matcher, same_value
from agent_reach.records.score import ArgumentScore, Decision
from agent_reach.records.trace import CallOutcome


def _failed_outcome(evidence: DecisionEvidence) -> CallOutcome | None:
    """The outcome of a right decision that did not end well."""
    decision = evidence.decision
    outcome = decision.outcome
    if not decision.decision_success or outcome is None or decision.call_success is not False:
        return None
    return outcome


def rate_limited(evidence: DecisionEvidence) -> Found | None:
    """The right call was refused because of its rate."""
    outcome = _failed_outcome(evidence)
    if outcome is None or outcome.error_kind != "rate_limited":
        return None
    tries = evidence.decision.tries
    return found(
        f"{evidence.gold.key} was called rightly and rate-limited ({tries} tries)",
        f"{evidence.gold.key} 调用正确，但被限流（尝试 {tries} 次）",
        retry_after=outcome.retry_after,
    )


def timed_out(evidence: DecisionEvidence) -> Found | None:
    """The right call got no answer in time."""
    outcome = _failed_outcome(evidence)
    if outcome is None:
        return None
    if outcome.error_kind != "timeout" and not (outcome.status == "unknown" and outcome.error_kind is None):
        return None
    return found(
        f"{evidence.gold.key} was called rightly and gave no answer in time",
        f"{evidence.gold.key} 调用正确，但未在时限内返回",
        latency_ms=outcome.latency_ms,
    )


REFUSALS = frozenset(("tool_error", "argument", "not_found"))
"""Error kinds by which a tool says that it cannot do what it was asked."""

_TELLING = 3
"""Shorter texts turn up in an error by chance."""


def _has_wrong_argument(evidence: DecisionEvidence) -> bool:
    return any(score.verdict in ("wrong", "illegal") for score in evidence.wrong)


def refused_for(evidence: DecisionEvidence) -> list[ArgumentScore]:
    """The arguments nobody asked for whose value or name stands in the words with which the tool refused the call."""
    outcome = _failed_outcome(evidence)
    if outcome is None or outcome.error_kind not in REFUSALS:
        return []
    words = folded(outcome.message or outcome.text)
    return [
        score
        for score in evidence.decision.argument_scores
        if score.verdict == "legal"
        and not score.required
        and any(
            re.search(rf"(?<!\w){re.escape(folded(told))}(?!\w)", words)
            for told in (score.name, *(leaf for _, leaf in leaves(score.actual)))
            if isinstance(told, str) and len(told) >= _TELLING
        )
    ]


_NOT_THE_TOOL = frozenset(("rate_limited", "timeout", "permission", "empty", "write_blocked", "context_lost"))


def tool_failed(evidence: DecisionEvidence) -> Found | None:
    """The right call failed in the tool or on the way to it."""
    outcome = _failed_outcome(evidence)
    if (
        outcome is None
        or outcome.status == "ok"
        or outcome.error_kind in _NOT_THE_TOOL
        or outcome.off_recording
    ):
        return None
    if outcome.error_kind is None and outcome.status == "unknown":
        return None
    if outcome.error_kind in REFUSALS and (_has_wrong_argument(evidence) or refused_for(evidence)):
        return None  # the tool was asked for something else than what was meant, and said so
    kind = outcome.error_kind or "failed"
    detail = (outcome.message or outcome.text)[:160]
    return found(
        f"{evidence.gold.key} was called rightly and failed: {kind} {detail}".rstrip(),
        f"{evidence.gold.key} 调用正确，但执行失败：{kind} {detail}".rstrip(),
        error_kind=kind,
    )


def empty_result(evidence: DecisionEvidence) -> Found | None:
    """The right call worked and gave nothing to use."""
    outcome = _failed_outcome(evidence)
    if outcome is None or not is_empty(outcome) or empty_is_expected(evidence.gold):
        return None
    return found(
        f"{evidence.gold.key} was called rightly and answered with nothing",
        f"{evidence.gold.key} 调用正确，但返回为空",
    )


def cascaded(evidence: DecisionEvidence) -> Found | None:
    """An earlier step was lost, and this one needed its result."""
    if evidence.decision.decision_success:
        return None
    needed = set(evidence.gold.depends_on)
    for earlier in evidence.attempt.decisions:
        if earlier.step >= evidence.decision.step or not _is_lost(earlier):
            continue
        if earlier.golden_id in needed or _held_only_by(evidence, earlier):
            return found(
                f"needed the result of step {earlier.golden_id} ({earlier.expected_tool}), which was lost",
                f"依赖步骤 {earlier.golden_id}（{earlier.expected_tool}）的结果，而该步骤已失败",
                step=earlier.golden_id,
            )
    return None


def _is_lost(decision: Decision) -> bool:
    return decision.order_right and (not decision.decision_success or decision.call_success is False)


def _held_only_by(evidence: DecisionEvidence, earlier: Decision) -> bool:
    """The recorded result of the earlier step holds a value that this gold needs and nothing the model saw does."""
    pairing = evidence.attempt.pairing
    assert pairing is not None
    gold = pairing.path.golds[earlier.step]
    if not gold.call.has_result:
        return False
    results = [leaf for _, leaf in leaves(gold.call.result)]
    for item in evidence.gold.required:
        if is_matcher(item.spec):
            continue
        for leaf in telling_leaves(item.spec):
            in_result = any(same_value(leaf, result) for result in results)
            if in_result and not holders(leaf, evidence.visible_sources()):
                return True
    return False


TROUBLE_DETECTORS: dict[str, Detector] = {
    "rate_limited": rate_limited,
    "timed_out": timed_out,
    "tool_failed": tool_failed,
    "empty_result": empty_result,
    "cascaded": cascaded,
}
