"""Who lost a request: the model, the reach layer, the normaliser or the tool; and the figures of each stage.

Blame needs to know what would have been right; without that it is undetermined. Shares with an empty denominator are
None.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from agent_reach.records.message import Message
from agent_reach.records.trace import CallOutcome

Culprit = Literal["none", "model", "reach", "normaliser", "tool", "undetermined"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Blame:
    """Who lost the request, and why."""

    culprit: Culprit
    reason: Message


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestFacts:
    """What is known of one required call of a request.

    `offered` are the keys shown to the model in order, `expected` the right tool (None: not known), `chosen` the model's.
    `legal_before` and `legal_after` are before and after normalising (None: no call). `outcome` is the end, `first_outcome`
    the first try, `before_switch` the end without a switch. `exposure` `all` means that no reach layer stood between.
    """

    offered: Sequence[str] = ()
    expected: Collection[str] | None = None
    chosen: str | None = None
    legal_before: bool | None = None
    legal_after: bool | None = None
    outcome: CallOutcome | None = None
    first_outcome: CallOutcome | None = None
    before_switch: CallOutcome | None = None
    exposure: Literal["reach", "all", "names"] = "reach"
    expected_arguments: Mapping[str, Any] | None = None
    emitted_arguments: Mapping[str, Any] | None = None
    sent_arguments: Mapping[str, Any] | None = None


def blame(facts: RequestFacts) -> Blame:
    """Who lost one request.

    A right tool that was not offered is the reach layer's; one that was offered and not chosen, the model's; arguments
    still illegal after normalising, the normaliser's (the model's where none stood between); what then fails, the tool's.
    """
    if facts.expected is None:
        return Blame(
            culprit="undetermined", reason=Message("no right tool is known", "不知道哪个工具是正确的")
        )
    shown = ", ".join(sorted(facts.expected))
    if facts.chosen is None or facts.chosen not in facts.expected:
        if not set(facts.offered) & set(facts.expected):
            culprit: Culprit = "reach" if facts.exposure == "reach" else "undetermined"
            return Blame(culprit=culprit, reason=Message(f"{shown} was not offered", f"没有提供 {shown}"))
        chosen = facts.chosen or "no tool"
        return Blame(
            culprit="model",
            reason=Message(
                f"{shown} was offered, {chosen} was chosen",
                f"提供了 {shown}，却选了 {facts.chosen or '没有调用'}",
            ),
        )
    if facts.legal_after is False:
        if facts.exposure == "all":
            return Blame(culprit="model", reason=Message("illegal arguments", "参数不合法"))
        return Blame(
            culprit="normaliser",
            reason=Message("arguments still illegal after normalising", "归一化后参数仍不合法"),
        )
    if facts.outcome is not None and not facts.outcome.ok:
        kind = facts.outcome.error_kind or facts.outcome.status
        return Blame(culprit="tool", reason=Message(f"the call failed: {kind}", f"调用失败：{kind}"))
    wrong = _wrong_arguments(facts)
    if wrong is not None:
        return wrong
    return Blame(culprit="none", reason=Message("nothing was lost", "没有损失"))


def _wrong_arguments(facts: RequestFacts) -> Blame | None:
    """Legal arguments of another value than the right one: whoever wrote the value."""
    if facts.expected_arguments is None or facts.sent_arguments is None:
        return None
    wrong = [
        name for name, value in facts.expected_arguments.items() if facts.sent_arguments.get(name) != value
    ]
    if not wrong:
        return None
    emitted = facts.emitted_arguments or {}
    spoiled = [name for name in wrong if emitted.get(name) == facts.expected_arguments[name]]
    names = ", ".join(wrong)
    if spoiled and facts.exposure != "all":
        return Blame(
            culprit="normaliser", reason=Message(f"normalising spoiled {names}", f"归一化改错了 {names}")
        )
    return Blame(
        culprit="model", reason=Message(f"other values than expected: {names}", f"取值与预期不同：{names}")
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class StageFigures:
    """Shares over requests, each None where nothing counts; `requests` is their number, `with_gold` those with a right tool.

    `recall_at_k` is the mean share of right tools offered, `completeness_at_k` the share with all of them, `mrr` the mean
    of one over the rank of the first right tool, `hit_at_1` the share with a right tool first. `success_*` are shares of
    calls that ended `ok`: on the first try, with retries, with retries and switches.
    """

    requests: int
    with_gold: int
    k: int
    recall_at_k: float | None = None
    completeness_at_k: float | None = None
    mrr: float | None = None
    hit_at_1: float | None = None
    empty_answers: float | None = None
    legality_before: float | None = None
    legality_after: float | None = None
    success_first_try: float | None = None
    success_with_retry: float | None = None
    success_with_switch: float | None = None
    culprits: Mapping[str, int] = field(default_factory=dict)


def stage_figures(requests: Iterable[RequestFacts], *, k: int = 5) -> StageFigures:
    """The figures of each stage over many requests."""
    facts = list(requests)
    golds = [(list(item.offered[:k]), set(item.expected)) for item in facts if item.expected]
    ranks = [
        next((i + 1 for i, key in enumerate(item.offered) if key in item.expected), 0)
        for item in facts
        if item.expected
    ]
    culprits: dict[str, int] = {}
    for item in facts:
        name = blame(item).culprit
        culprits[name] = culprits.get(name, 0) + 1
    return StageFigures(
        requests=len(facts),
        with_gold=len(golds),
        k=k,
        recall_at_k=_mean(len(gold & set(offered)) / len(gold) for offered, gold in golds),
        completeness_at_k=_mean(float(gold <= set(offered)) for offered, gold in golds),
        mrr=_mean(1 / rank if rank else 0.0 for rank in ranks),
        hit_at_1=_mean(float(rank == 1) for rank in ranks),
        empty_answers=_mean(float(not item.offered) for item in facts),
        legality_before=_mean(float(item.legal_before) for item in facts if item.legal_before is not None),
        legality_after=_mean(float(item.legal_after) for item in facts if item.legal_after is not None),
        success_first_try=_success(item.first_outcome for item in facts),
        success_with_retry=_success(item.before_switch for item in facts),
        success_with_switch=_success(item.outcome for item in facts),
        culprits=culprits,
    )


def _mean(values: Iterable[float]) -> float | None:
    listed = list(values)
    return sum(listed) / len(listed) if listed else None


def _success(outcomes: Iterable[CallOutcome | None]) -> float | None:
    return _mean(float(outcome.ok) for outcome in outcomes if outcome is not None)
