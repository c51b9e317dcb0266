"""Which detectors are worth asking about a lost decision: those whose first condition can hold at all.

A detector still decides by itself; leaving it out here must never change what it would have said. Reading off once what
a loss looks like costs less than asking thirty detectors.
"""

from __future__ import annotations

from collections.abc import Mapping

from agent_reach.evals.attribution.evidence import DecisionEvidence
from agent_reach.evals.attribution.found import Detector
from agent_reach.evals.attribution.trouble import REFUSALS

HIDDEN = 1 << 0
PERMISSION = 1 << 1
DROPPED = 1 << 2
CUT = 1 << 3
REACH = 1 << 4
NO_TOOL = 1 << 5
UNREADABLE = 1 << 6
OTHERS = 1 << 7
OUT_OF_ORDER = 1 << 8
DETOUR = 1 << 9
REPEATED = 1 << 10
RESULTS = 1 << 11
MISSING = 1 << 12
UNKNOWN = 1 << 13
OFF = 1 << 14
REFUSED = 1 << 15

NEEDS: Mapping[str, int] = {
    "cascaded": RESULTS,
    "unavailable": HIDDEN | NO_TOOL,
    "not_recalled": HIDDEN | REACH,
    "permission_denied": HIDDEN | PERMISSION,
    "out_of_window": DROPPED,
    "description_truncated": CUT,
    "unparsable_call": UNREADABLE,
    "name_hallucinated": OTHERS,
    "rival_chosen": OTHERS,
    "over_called": DETOUR,
    "loop": REPEATED,
    "wrong_order": OUT_OF_ORDER,
    "missing_required": MISSING,
    "unknown_argument": UNKNOWN,
    "wrong_type": OFF,
    "wrong_format": OFF,
    "enum_synonym": OFF,
    "state_lost": OFF,
    "wrong_entity": OFF,
    "wrong_value": OFF | REFUSED,
}
"""Detector -> the signs of which at least one must be there; a detector that is not listed is always asked."""

_SIGN_OF_VERDICT = {"missing": MISSING, "unknown": UNKNOWN, "wrong": OFF, "illegal": OFF}
_REPEATS = 3

_chosen: dict[tuple[int, int], tuple[tuple[str, Detector], ...]] = {}


def asked(
    detectors: tuple[tuple[str, Detector], ...], evidence: DecisionEvidence
) -> tuple[tuple[str, Detector], ...]:
    """Those of the detectors, in their order, that can hold for this decision."""
    signs = signs_of(evidence)
    key = (id(detectors), signs)
    found = _chosen.get(key)
    if found is None:
        found = _chosen[key] = tuple(
            (name, detector) for name, detector in detectors if NEEDS.get(name, -1) & signs
        )
    return found


def signs_of(evidence: DecisionEvidence) -> int:
    """What a loss looks like, as bits."""
    attempt, decision, gold = evidence.attempt, evidence.decision, evidence.gold
    signs = attempt_signs(evidence)
    outcome = decision.outcome
    if outcome is not None:
        if outcome.error_kind in REFUSALS:
            signs |= REFUSED
        if outcome.error_kind == "permission":
            signs |= PERMISSION
        elif outcome.error_kind == "context_lost":
            signs |= DROPPED
    if gold.tool is None:
        signs |= NO_TOOL
    if gold.depends_on or (attempt.pairing is not None and attempt.pairing.path.has_results):
        signs |= RESULTS
    if not decision.order_right:
        signs |= OUT_OF_ORDER
    if evidence.is_missed:
        return signs | UNREADABLE | OTHERS
    if evidence.seen is not None and evidence.seen.call.arguments is None:
        signs |= UNREADABLE
    if decision.detour:
        signs |= DETOUR | OTHERS
    if decision.tool_right:
        for score in decision.argument_scores:
            sign = _SIGN_OF_VERDICT.get(score.verdict)
            if sign is not None:
                signs |= sign
    return signs


def attempt_signs(evidence: DecisionEvidence) -> int:
    """The bits that are the same for every decision of an attempt, worked out once."""
    attempt = evidence.attempt
    signs = attempt.signs
    if signs is None:
        trace = attempt.trace
        exposure = trace.exposure
        signs = 1 << 15  # never zero: a detector without needs is asked whatever the signs
        if exposure.hidden:
            signs |= HIDDEN
        if trace.permissions_missing:
            signs |= PERMISSION
        if trace.dropped:
            signs |= DROPPED
        if exposure.cut_descriptions:
            signs |= CUT
        if exposure.mode == "reach":
            signs |= REACH
        if attempt.most_repeated[1] >= _REPEATS:
            signs |= REPEATED
        attempt.signs = signs
    return signs
