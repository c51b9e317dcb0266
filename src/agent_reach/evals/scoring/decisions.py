"""From a pairing to one `Decision` per golden call: verdict, counts, detours, first choice, what stood in its place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agent_reach.evals.scoring.arguments import scores_of
from agent_reach.evals.scoring.calls import SeenCall
from agent_reach.evals.scoring.golds import CompiledGold, Evaluation
from agent_reach.evals.scoring.making import make_decision
from agent_reach.evals.scoring.pairing import Pairing
from agent_reach.records.score import ArgumentScore, Decision
from agent_reach.records.trace import CallOutcome, Trace

_EMPTY_TEXTS = frozenset(("", "[]", "{}", "null", "None", '""'))


class DecisionContext:
    """What a decision is judged in: the trace, the pairing, the extra calls and the look-alikes."""

    __slots__ = ("attempt", "claimed", "extras", "order", "pairing", "rivals", "task_id", "trace")

    def __init__(
        self,
        task_id: str,
        attempt: int,
        order: str,
        trace: Trace,
        pairing: Pairing,
        extras: Sequence[SeenCall],
        rivals: Mapping[str, frozenset[str]],
    ) -> None:
        self.task_id = task_id
        self.attempt = attempt
        self.order = order
        self.trace = trace
        self.pairing = pairing
        self.extras = extras
        self.rivals = rivals
        self.claimed: set[int] = set()

    def window(self, gold: CompiledGold) -> tuple[int, int]:
        """Positions (exclusive) between which this gold's call was due."""
        return window_of(self.pairing, self.order, gold)

    def extras_in(self, low: int, high: int) -> list[SeenCall]:
        """Extra calls strictly between two positions."""
        return [seen for seen in self.extras if low < seen.position < high]


def window_of(pairing: Pairing, order: str, gold: CompiledGold) -> tuple[int, int]:
    """Positions (exclusive) between which a gold's call was due."""
    positions = pairing.positions
    own = positions[gold.index]
    if own >= 0:
        return max([other for other in positions if other < own], default=-1), own
    low, high = -1, len(pairing.calls)
    if order == "any_order":
        return low, high
    stage = gold.stage
    for other in pairing.path.golds:
        position = positions[other.index]
        if position < 0:
            continue
        if other.stage < stage:
            if position > low:
                low = position
        elif other.stage > stage and position < high:
            high = position
    return low, high


def build_decision(context: DecisionContext, gold: CompiledGold) -> tuple[Decision, SeenCall | None]:
    """The decision of one golden call, and the call that answers it or stands in its place."""
    pairing = context.pairing
    seen = pairing.call_of(gold)
    if seen is not None:
        return _reached(context, gold, seen), seen
    position = pairing.displaced[gold.index]
    if position >= 0:
        seen = pairing.calls[position]
        return _displaced(context, gold, seen), seen
    return _missed(context, gold)


def _reached(context: DecisionContext, gold: CompiledGold, seen: SeenCall) -> Decision:
    pairing = context.pairing
    evaluation = pairing.evaluations[gold.index]
    assert evaluation is not None
    scores = evaluation.scores
    if scores is None:
        scores = scores_of(gold, seen, evaluation, pairing.result_of)
    detour, first = _way_there(context, gold, seen) if context.extras else (False, True)
    success = evaluation.success
    argument_off = not success or evaluation.optional_hit < evaluation.optional_used
    call = seen.call
    outcome = seen.tries[-1].call.outcome
    step = _step_at(context.trace, seen.step)
    call_success: bool | None = None
    if outcome is not None:
        call_success = success and _call_success(gold, outcome)
    return make_decision(
        task_id=context.task_id,
        attempt=context.attempt,
        step=gold.index,
        golden_id=gold.id,
        expected_tool=gold.key,
        expected_arguments=gold.call.args,
        optional_arguments=gold.call.optional,
        verdict="deviation" if argument_off or detour else "right",
        selected_tool=seen.key,
        call_id=call.call_id,
        trace_step=seen.step,
        model_raw=(step.raw or step.text) if step is not None else "",
        arguments=call.arguments,
        sent_arguments=call.sent_arguments,
        tool_right=True,
        first_choice=first,
        detour=detour,
        argument_scores=scores,
        required_right=evaluation.required_right,
        required_total=gold.required_total,
        optional_hit=evaluation.optional_hit,
        optional_used=evaluation.optional_used,
        optional_expected=evaluation.optional_used + evaluation.unused,
        legal_emitted=seen.is_legal_emitted(),
        legal_sent=seen.is_legal,
        decision_success=success,
        call_success=call_success,
        outcome=outcome,
        error="" if success and outcome is None else error_line(told_of(evaluation, scores), outcome),
        tries=len(seen.tries),
    )


def _displaced(context: DecisionContext, gold: CompiledGold, seen: SeenCall) -> Decision:
    pairing = context.pairing
    evaluation = None if gold.depends_on else pairing.first_look(gold, seen)
    scores = scores_of(gold, seen, evaluation, pairing.result_of)
    step = _step_at(context.trace, seen.step)
    return make_decision(
        task_id=context.task_id,
        attempt=context.attempt,
        step=gold.index,
        golden_id=gold.id,
        expected_tool=gold.key,
        expected_arguments=gold.call.args,
        optional_arguments=gold.call.optional,
        verdict="deviation",
        selected_tool=seen.key,
        call_id=seen.call.call_id,
        trace_step=seen.step,
        model_raw=(step.raw or step.text) if step is not None else "",
        arguments=seen.call.arguments,
        sent_arguments=seen.call.sent_arguments,
        order_right=False,
        argument_scores=scores,
        call_success=None if seen.last is None else False,
        outcome=seen.last,
        error=error_line(told_of(evaluation, scores), seen.last, "called out of order"),
        tries=len(seen.tries),
    )


def _missed(context: DecisionContext, gold: CompiledGold) -> tuple[Decision, SeenCall | None]:
    seen = _stand_in(context, gold)
    low, _ = context.window(gold)
    step = _step_at(context.trace, seen.step) if seen is not None else _due_step(context, low)
    decision = make_decision(
        task_id=context.task_id,
        attempt=context.attempt,
        step=gold.index,
        golden_id=gold.id,
        expected_tool=gold.key,
        expected_arguments=gold.call.args,
        optional_arguments=gold.call.optional,
        verdict="wrong",
        selected_tool=None if seen is None else seen.key or seen.call.name,
        call_id="" if seen is None else seen.call.call_id,
        trace_step=None if step is None else step.index,
        model_raw="" if step is None else step.raw or step.text,
        arguments=None if seen is None else seen.call.arguments,
        sent_arguments=None if seen is None else seen.call.sent_arguments,
        call_success=False,
        outcome=None if seen is None else seen.last,
        error="not called" if seen is None else f"{seen.key or seen.call.name} called instead",
        tries=0,
    )
    return decision, seen


def _stand_in(context: DecisionContext, gold: CompiledGold) -> SeenCall | None:
    """The extra call that most plausibly stands in for a gold that was never called; each stands in once."""
    low, high = context.window(gold)
    rivals = context.rivals.get(gold.key, frozenset())
    used = context.pairing.used_positions()
    done = [(seen.key, seen.arguments) for seen in context.pairing.calls if seen.position in used]
    candidates = [
        seen
        for seen in context.extras_in(low, high)
        if seen.position not in context.claimed and (seen.key, seen.arguments) not in done
    ]
    if not candidates:
        return None
    chosen = next((seen for seen in candidates if seen.key in rivals), None)
    if chosen is None:
        chosen = next((seen for seen in candidates if seen.tool is None), None)
    if chosen is None:
        chosen = next(
            (s for s in candidates if s.tool is not None and not s.tool.is_read_only), candidates[0]
        )
    context.claimed.add(chosen.position)
    return chosen


def _way_there(context: DecisionContext, gold: CompiledGold, seen: SeenCall) -> tuple[bool, bool]:
    """(over a rival or a write?, first choice?) for a call that was reached."""
    if seen.position < context.extras[0].position:
        return False, True
    low, own = context.window(gold)
    between = context.extras_in(low, own)
    if not between:
        return False, True
    rivals = context.rivals.get(gold.key, frozenset())
    path_keys = context.pairing.path.keys
    detour = any((other.key in rivals and other.key not in path_keys) or _wrote(other) for other in between)
    return detour, _is_first_choice(gold, seen, between)


def _is_first_choice(gold: CompiledGold, seen: SeenCall, between: Sequence[SeenCall]) -> bool:
    """The first call made for this decision was one of the right tool, whatever its arguments; calls of one message have
    no order."""
    first = min(seen.message, min(other.message for other in between))
    return first == seen.message or any(other.key == gold.key and other.message == first for other in between)


def _wrote(seen: SeenCall) -> bool:
    """A call that changed something, or would have: a known write that did not fail, or that failed only because nothing
    stood behind it (not recorded, or refused by the write guard). Unknown effects are no write: most catalogs declare none,
    and every look around would be a detour."""
    tool, outcome = seen.tool, seen.last
    if tool is None or not tool.effects & {"write", "destructive"}:
        return False
    if outcome is None or outcome.status != "failed":
        return True
    return outcome.off_recording or outcome.error_kind == "write_blocked"


def is_empty(outcome: CallOutcome) -> bool:
    """The call worked but gave nothing to use."""
    if outcome.error_kind == "empty":
        return True
    return (
        outcome.status == "ok"
        and not outcome.value
        and outcome.value not in (0, False)
        and (outcome.text.strip() in _EMPTY_TEXTS)
    )


def empty_is_expected(gold: CompiledGold) -> bool:
    """The recorded result is empty too, or the tool writes and promises no output."""
    if gold.call.has_result and gold.call.result in (None, "", [], {}):
        return True
    tool = gold.tool
    return (
        tool is not None
        and bool(tool.effects & {"write", "destructive"})
        and tool.output_schema is None
        and not gold.call.has_result
    )


def _call_success(gold: CompiledGold, outcome: CallOutcome) -> bool | None:
    if outcome.off_recording and outcome.status == "failed":
        return None  # nobody wrote down what a right call gets, which says nothing against it
    return outcome.status == "ok" and (not is_empty(outcome) or empty_is_expected(gold))


def told_of(evaluation: Evaluation | None, scores: Sequence[ArgumentScore]) -> str:
    """What is wrong with the arguments in one line, by name; kept with an evaluation."""
    if evaluation is not None and evaluation.told is not None:
        return evaluation.told
    parts = []
    for score in scores:
        if score.verdict in ("wrong", "illegal"):
            parts.append(f"{score.name}: {_short(score.actual)} instead of {_short(score.expected)}")
        elif score.verdict == "missing":
            parts.append(f"{score.name}: missing")
        elif score.verdict == "unknown":
            parts.append(f"{score.name}: no such argument")
    told = "; ".join(parts)
    if evaluation is not None:
        evaluation.told = told
    return told


def error_line(told: str, outcome: CallOutcome | None, first: str = "") -> str:
    """What is wrong with a call in one line: `first`, what is told of its arguments, then the outcome."""
    ended = ""
    if outcome is not None and outcome.status != "ok":
        ended = f"{outcome.status}: {outcome.error_kind or outcome.message or 'no reason given'}"
    return "; ".join([part for part in (first, told, ended) if part])


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def _step_at(trace: Trace, index: int) -> Any:
    steps = trace.steps
    if 0 <= index < len(steps):
        step = steps[index]
        if step.index == index:
            return step
    return next((step for step in steps if step.index == index), None)


def _due_step(context: DecisionContext, low: int) -> Any:
    """The model message in which a call that was never made was due: the first after the calls made before it."""
    after = context.pairing.calls[low].step if low >= 0 else -1
    model_steps = [step for step in context.trace.steps if step.kind == "model"]
    following = [step for step in model_steps if step.index > after]
    return following[0] if following else (model_steps[-1] if model_steps else None)
