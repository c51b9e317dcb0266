"""One attempt of one task, scored: best path, decisions, extra calls, blocks, provenance, causes, passed or not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from agent_reach.evals.attribution.attribute import attribute, over_call_cause
from agent_reach.evals.attribution.evidence import AttemptEvidence
from agent_reach.evals.scoring.blocks import block_uses, enum_words, given_blocks, outputs_of, slot_use
from agent_reach.evals.scoring.calls import SeenCall, seen_calls
from agent_reach.evals.scoring.decisions import DecisionContext, build_decision
from agent_reach.evals.scoring.end_state import end_state_equal, end_state_findings
from agent_reach.evals.scoring.extras import OVER_CALL_KINDS, extra_calls
from agent_reach.evals.scoring.golds import CompiledTask
from agent_reach.evals.scoring.look_alike import look_alikes
from agent_reach.evals.scoring.making import make_attempt_score
from agent_reach.evals.scoring.options import DEFAULT_OPTIONS, ScoreOptions
from agent_reach.evals.scoring.pairing import Pairing
from agent_reach.evals.scoring.provenance import provenance_of, sources_of
from agent_reach.records.context import ContextBlock
from agent_reach.records.finding import Finding
from agent_reach.records.score import (
    AttemptScore,
    AttemptState,
    BlockUse,
    Decision,
    ExtraCall,
    Provenance,
)
from agent_reach.records.task import Task
from agent_reach.records.trace import Trace

if TYPE_CHECKING:
    from agent_reach.catalog.catalog import Catalog

_CACHE_LIMIT = 4096
_compiled: dict[tuple[int, int], CompiledTask] = {}
_enum_words: dict[int, tuple[Catalog, frozenset[str]]] = {}


def score_attempt(
    task: Task,
    trace: Trace,
    catalog: Catalog,
    *,
    index: int | None = None,
    state: AttemptState | None = None,
    error: str = "",
    options: ScoreOptions = DEFAULT_OPTIONS,
) -> AttemptScore:
    """The score of one attempt.

    `index` defaults to the trace's attempt number, `state` to `trace.metadata["state"]`, else `scored`. An
    `infra_error` has no decisions and counts nowhere. Raises `AmbiguousToolError` for a gold that several servers own.
    """
    compiled = compiled_task(task, catalog)
    number = trace.attempt if index is None else index
    found_state: AttemptState = state or trace.metadata.get("state") or "scored"
    kept = trace if options.keep_trace else None
    if found_state == "infra_error":
        reason = error or str(trace.metadata.get("error", ""))
        return AttemptScore(index=number, state=found_state, error=reason, trace=kept)
    calls = seen_calls(trace, compiled)
    pairing, decisions, answers, extras = _best_path(compiled, trace, calls, number)
    if options.causes and (extras or not all(map(_is_kept, decisions))):
        evidence = AttemptEvidence(compiled, trace, pairing, calls, extras, found_state, options, decisions)
        decisions = _with_causes(evidence, decisions, answers)
        extras = [(seen, over_call_cause(evidence, seen, extra)) for seen, extra in extras]
    over_called = bool(extras) and any(extra.kind in OVER_CALL_KINDS for _, extra in extras)
    counts = CallCounts(calls)
    blocks = given_blocks(task, trace) if options.blocks or options.provenance else []
    uses, slots, provenance = _origins(compiled, trace, calls, blocks, options)
    if provenance:
        _set_blocks(decisions, blocks, provenance)
    passed = _passed(compiled, found_state, decisions, extras, over_called, bool(calls))
    equal: bool | None = None
    findings: tuple[Finding, ...] = ()
    if task.match.mode == "end_state":
        equal = end_state_equal(task, trace)
        findings = end_state_findings(task, equal, passed)
        passed = None if equal is None else equal and not over_called and found_state == "scored"
    right = [decision.verdict for decision in decisions].count("right")
    return make_attempt_score(
        index=number,
        state=found_state,
        path_index=pairing.path.index if pairing is not None else None,
        share=right / len(decisions) if decisions else None,
        passed=passed,
        decisions=tuple(decisions),
        extra_calls=tuple([extra for _, extra in extras]),
        over_called=over_called,
        called=bool(calls),
        blocks=uses,
        provenance=provenance,
        slots_filled=slots[0],
        slots_used=slots[1],
        legality_emitted=(counts.legal, counts.known),
        legality_sent=(counts.legal_sent, counts.sent),
        executed=(counts.ok, counts.reached),
        off_recording=counts.off_recording,
        end_state_equal=equal,
        error=error,
        duration_ms=_duration(trace),
        findings=findings,
        trace=kept,
    )


def _with_causes(
    evidence: AttemptEvidence, decisions: Sequence[Decision], answers: Sequence[SeenCall | None]
) -> list[Decision]:
    """The decisions, each lost one with its cause."""
    if evidence.pairing is None:
        return list(decisions)
    golds = evidence.pairing.path.golds
    return [
        decision
        if _is_kept(decision)
        else attribute(evidence, decision, golds[decision.step], answers[decision.step])
        for decision in decisions
    ]


def compiled_task(task: Task, catalog: Catalog) -> CompiledTask:
    """The task compiled against the catalog, remembered while both live."""
    key = (id(task), id(catalog))
    known = _compiled.get(key)
    if known is not None and known.task is task and known.catalog is catalog:
        return known
    if len(_compiled) >= _CACHE_LIMIT:
        _compiled.clear()
    made = _compiled[key] = CompiledTask(task, catalog)
    return made


Extras = list[tuple[SeenCall, ExtraCall]]
Origins = tuple[tuple[BlockUse, ...], tuple[int, int], tuple[Provenance, ...]]
Judged = tuple[Pairing | None, list[Decision], list[SeenCall | None], Extras]


def _best_path(compiled: CompiledTask, trace: Trace, calls: list[SeenCall], number: int) -> Judged:
    """The path with the highest share of right decisions, then argument score, then fewest decisions, then first."""
    task = compiled.task
    if not compiled.paths or task.kind == "forbid":
        return None, [], [], extra_calls(compiled, calls, set(), frozenset())
    best: Judged | None = None
    best_rank: tuple[float, ...] = ()
    for path in compiled.paths:
        judged = _judge_path(compiled, Pairing(path, calls, task.order), trace, calls, number)
        if len(compiled.paths) == 1:
            best = judged
            break
        rank = _rank(judged)
        if best is None or rank > best_rank:
            best, best_rank = judged, rank
    assert best is not None
    return best if task.kind == "must" else (best[0], [], [], best[3])


def _judge_path(
    compiled: CompiledTask, pairing: Pairing, trace: Trace, calls: list[SeenCall], number: int
) -> Judged:
    used = pairing.used_positions()
    extras = extra_calls(compiled, calls, used, pairing.path.keys) if len(used) < len(calls) else []
    task = compiled.task
    rivals = look_alikes(compiled.catalog) if extras else {}
    context = DecisionContext(
        task.id, number, task.order, trace, pairing, [seen for seen, _ in extras], rivals
    )
    decisions, answers = [], []
    for gold in pairing.path.golds:
        decision, answer = build_decision(context, gold)
        decisions.append(decision)
        answers.append(answer)
    return pairing, decisions, answers, extras


def _rank(judged: Judged) -> tuple[float, ...]:
    """What makes one path better than another; equal ranks mean equal figures, so that their order cannot matter."""
    decisions = judged[1]
    total = len(decisions)
    scores = [score for decision in decisions if (score := decision.argument_score) is not None]
    return (
        sum(decision.verdict == "right" for decision in decisions) / total,
        sum(scores) / total,
        -total,
        sum(decision.tool_right for decision in decisions),
        sum(decision.decision_success for decision in decisions),
        sum(decision.call_success is True for decision in decisions),
        sum(decision.first_choice for decision in decisions),
        -sum(decision.optional_expected - decision.optional_hit for decision in decisions),
        -sum(decision.required_total for decision in decisions),
        -len(judged[3]),
    )


def _succeeded(decision: Decision) -> bool:
    return decision.order_right and decision.decision_success


def _is_kept(decision: Decision) -> bool:
    return decision.verdict == "right" and decision.call_success is not False


def _passed(
    compiled: CompiledTask,
    state: AttemptState,
    decisions: Sequence[Decision],
    extras: Extras,
    over_called: bool,
    called: bool,
) -> bool | None:
    task = compiled.task
    if state == "agent_timeout":
        return False
    if task.kind == "forbid":
        return not called
    if task.max_extra is not None and len(extras) > task.max_extra:
        return False
    if task.kind == "may":
        return not over_called
    if not decisions:
        return None
    if over_called or (task.order == "exact" and extras):
        return False
    return all(map(_succeeded, decisions))


class CallCounts:
    """Counts over the calls of an attempt: `legal` of `known` tries of catalog tools as emitted, `legal_sent` of `sent` as
    sent, `ok` of `reached` calls that a backend answered (a call and its repeats are one; those off the recording are
    left out), and any `off_recording`."""

    __slots__ = ("known", "legal", "legal_sent", "off_recording", "ok", "reached", "sent")

    def __init__(self, calls: Sequence[SeenCall]) -> None:
        known = legal = sent = legal_sent = reached = ok = 0
        self.off_recording = False
        for seen in calls:
            for tried in seen.tries:
                call = tried.call
                outcome = call.outcome
                if outcome is not None and outcome.off_recording:
                    self.off_recording = True
                if tried.tool is None:
                    continue
                known += 1
                legal += tried.is_legal_emitted()
                if call.sent_arguments is not None or (outcome is not None and outcome.reached_backend):
                    sent += 1
                    legal_sent += tried.is_legal and call.arguments is not None
            outcome = seen.tries[-1].call.outcome
            if outcome is None or seen.tool is None:
                continue
            if outcome.reached_backend and not outcome.off_recording:
                reached += 1
                ok += outcome.status == "ok"
        self.known, self.legal, self.sent, self.legal_sent = known, legal, sent, legal_sent
        self.reached, self.ok = reached, ok


def _origins(
    compiled: CompiledTask,
    trace: Trace,
    calls: Sequence[SeenCall],
    blocks: Sequence[ContextBlock],
    options: ScoreOptions,
) -> Origins:
    """Block uses, (slots filled, used) and provenance, as far as asked for."""
    uses: tuple[BlockUse, ...] = ()
    slots = (0, 0)
    if options.blocks and (blocks or trace.state_slots):
        outputs = outputs_of(trace)
        uses = block_uses(compiled.task, trace, blocks, outputs, _catalog_words(compiled.catalog))
        slots = slot_use(trace, outputs)
    provenance: tuple[Provenance, ...] = ()
    if options.provenance and calls:
        provenance = provenance_of(calls, sources_of(trace, compiled.task.query, blocks))
    return uses, slots, provenance


def _catalog_words(catalog: Catalog) -> frozenset[str]:
    known = _enum_words.get(id(catalog))
    if known is not None and known[0] is catalog:
        return known[1]
    words = enum_words([tool.input_schema for tool in catalog.tools])
    if len(_enum_words) >= 1024:
        _enum_words.clear()
    _enum_words[id(catalog)] = (catalog, words)
    return words


def _set_blocks(
    decisions: Sequence[Decision], blocks: Sequence[ContextBlock], provenance: Sequence[Provenance]
) -> None:
    """Give every decision the blocks that were there and those its arguments came from."""
    if not blocks:
        return
    used: dict[str, set[str]] = {}
    for entry in provenance:
        if entry.blocks:
            used.setdefault(entry.call_id, set()).update(entry.blocks)
    for decision in decisions:
        step = decision.trace_step if decision.trace_step is not None else 1 << 30
        given = tuple([block.id for block in blocks if block.from_step < step])
        own = used.get(decision.call_id)
        # The decision was made a moment ago and nobody else has it yet; copying its forty fields would cost more.
        object.__setattr__(decision, "context_blocks", given)
        if own:
            object.__setattr__(decision, "used_blocks", tuple([name for name in given if name in own]))


def _duration(trace: Trace) -> float | None:
    if trace.started_at is None or trace.ended_at is None:
        return None
    return (trace.ended_at - trace.started_at) * 1000.0
