"""The lost decisions of an HTML report as small plain values that the page's script turns into text nodes.

Everything is text already (a browser's numbers lose digits), long texts are cut around what matters, and the context of an
attempt is stored once however many decisions it lost. After `CONTEXT_BUDGET` characters of context the rest is left to
`agent-reach explain`, which the page then says.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from agent_reach.records.context import DroppedBlock
from agent_reach.records.matchers import is_matcher
from agent_reach.records.message import Language
from agent_reach.records.score import AttemptScore, BlockUse, Cause, Decision, ExtraCall, Provenance
from agent_reach.records.trace import Call, CallOutcome, Step, Trace
from agent_reach.reports.figures import count, duration, json_value
from agent_reach.reports.lost import LostDecision, call_of
from agent_reach.reports.proof_text import proof_lines, proof_word
from agent_reach.reports.values import (
    ABSENT,
    argument_rows,
    around,
    differing,
    expected_text,
    golden_name,
    shortened,
)
from agent_reach.reports.wording import (
    ARGUMENT_VERDICTS,
    BLAMES,
    BLOCK_KINDS,
    BLOCK_STATES,
    DROP_REASONS,
    ERROR_KINDS,
    EXTRA_KINDS,
    HIDDEN_REASONS,
    LAYERS,
    STATUSES,
    cause_word,
    word,
)

CHUNK = 40
CONTEXT_BUDGET = 6_000_000
_VALUE_LIMIT = 600
_BLOCK_LIMIT = 900
_RAW_LIMIT = 1_500
_QUERY_LIMIT = 600


def lost_chunks(lost: Sequence[LostDecision], language: Language) -> Iterator[dict[str, Any]]:
    """The lost decisions in groups of `CHUNK`: `items`, and `contexts` that items point to by number."""
    # Each cause gets its share, so that a rare one is not left without context by a frequent one.
    names = {entry.cause_name for entry in lost}
    left = dict.fromkeys(names, CONTEXT_BUDGET // max(1, len(names)))
    for start in range(0, len(lost), CHUNK):
        contexts: list[dict[str, Any]] = []
        places: dict[tuple[str, int], int] = {}
        items = []
        for entry in lost[start : start + CHUNK]:
            item = _item(entry, language)
            key = (entry.task.task_id, entry.attempt.index)
            if key not in places and left[entry.cause_name] > 0:
                context = _context(entry.attempt, language)
                left[entry.cause_name] -= _weight(context)
                places[key] = len(contexts)
                contexts.append(context)
            item["ctx"] = places.get(key)
            items.append(item)
        yield {"items": items, "contexts": contexts}


def _weight(context: dict[str, Any]) -> int:
    """Characters of a context, about."""
    blocks = sum(200 + len(block["before"]) + len(block["after"]) for block in context["blocks"])
    steps = sum(
        len(step["text"]) + sum(len(call[0]) + len(call[1]) + 20 for call in step["calls"])
        for step in context["steps"]
    )
    return blocks + steps + 120 * len(context["sources"]) + 500


def _item(lost: LostDecision, language: Language) -> dict[str, Any]:
    task, attempt = lost.task, lost.attempt
    item: dict[str, Any] = {
        "task": task.task_id,
        "attempt": attempt.index,
        "attempts": len(task.attempts),
        "query": shortened(task.query, _QUERY_LIMIT),
        "label": cause_word(lost.cause_name, language),
        "cause": None if lost.cause is None else _cause(lost.cause, language),
    }
    if lost.decision is not None:
        item |= _decision(lost.decision, attempt, language)
    elif lost.extra is not None:
        item |= _extra(lost.extra, attempt, language)
    return item


def _cause(cause: Cause, language: Language) -> dict[str, Any]:
    tried = proof_lines(cause, language)
    return {
        "label": cause_word(cause.name, language),
        "layer": word(LAYERS, cause.layer, language),
        "evidence": cause.evidence.text(language),
        "fix": cause.fix.text(language),
        "blame": "" if cause.blame == "undetermined" else word(BLAMES, cause.blame, language),
        "proof": ": ".join(
            [proof_word(cause.proof, cause.trials, language), *([" · ".join(tried)] if tried else [])]
        )
        if cause.proof
        else "",
        "step": cause.step,
    }


def _decision(decision: Decision, attempt: AttemptScore, language: Language) -> dict[str, Any]:
    found = call_of(attempt.trace, decision.call_id, decision.trace_step)
    call = found[1] if found is not None else None
    did = decision.selected_tool or (call.name if call is not None else "")
    return {
        "step": str(decision.step + 1),
        "golden": golden_name(decision),
        "verdict": decision.verdict,
        "should": decision.expected_tool,
        "did": did,
        "same": decision.tool_right,
        "rows": _rows(decision, language),
        "unreadable": _unreadable(decision, call),
        "sent": _sent(call, decision.sent_arguments),
        "outcome": _outcome(decision.outcome, language),
        "also": [_cause(cause, language) for cause in decision.also],
        "raw": shortened(decision.model_raw, _RAW_LIMIT),
        "error": decision.error if decision.cause is None else "",
        "order": not decision.order_right,
        "detour": decision.detour,
    }


def _unreadable(decision: Decision, call: Call | None) -> str:
    if decision.arguments is None and call is not None and call.raw_arguments:
        return shortened(call.raw_arguments, _VALUE_LIMIT)
    return ""


def _rows(decision: Decision, language: Language) -> list[dict[str, Any]]:
    rows = []
    for score, name, given, wanted in argument_rows(decision):
        left = "" if given is ABSENT else shortened(json_value(given), _VALUE_LIMIT)
        right = "" if wanted is ABSENT else shortened(expected_text(wanted, language), _VALUE_LIMIT)
        verdict = score.verdict if score is not None else ""
        wrong = verdict in ("wrong", "illegal", "unknown")
        if score is None and decision.arguments is not None:
            # Another tool was called: no verdict, but what only one side has may be seen at a glance.
            wrong = left != right and not is_matcher(wanted)
        left_parts, right_parts = (
            differing(left, right)
            if wrong and left and right
            else ([(left, wrong)] if left else [], [(right, wrong)] if right else [])
        )
        rows.append(
            {
                "name": name,
                "optional": name in decision.optional_arguments,
                "did": left_parts,
                "should": right_parts,
                "verdict": verdict,
                "word": word(ARGUMENT_VERDICTS, verdict, language) if verdict else "",
                "reason": score.reason if score is not None else "",
            }
        )
    return rows


def _sent(call: Call | None, sent: Any) -> dict[str, Any] | None:
    if call is None or (sent is None and not call.changes):
        return None
    changes = [
        f"{change.pointer}: {json_value(change.before)} -> {json_value(change.after)} ({change.rule})"
        for change in call.changes
    ]
    if not changes and sent == call.arguments:
        return None
    return {"arguments": shortened(json_value(sent), _VALUE_LIMIT), "changes": changes}


def _outcome(outcome: CallOutcome | None, language: Language) -> dict[str, Any] | None:
    if outcome is None:
        return None
    detail = outcome.message or outcome.text
    kind = word(ERROR_KINDS, outcome.error_kind, language) if outcome.error_kind else ""
    parts = [kind, duration(outcome.latency_ms)]
    if outcome.attempts > 1:
        parts.append(f"{outcome.attempts} 次" if language == "zh" else f"{outcome.attempts} tries")
    return {
        "status": outcome.status,
        "word": word(STATUSES, outcome.status, language),
        "parts": [part for part in parts if part],
        "detail": shortened(detail, _VALUE_LIMIT),
    }


def _extra(extra: ExtraCall, attempt: AttemptScore, language: Language) -> dict[str, Any]:
    found = call_of(attempt.trace, extra.call_id, extra.trace_step)
    call = found[1] if found is not None else None
    arguments = call.arguments if call is not None and call.arguments is not None else {}
    return {
        "step": "",
        "golden": "",
        "verdict": "wrong",
        "should": None,
        "did": extra.tool or extra.name,
        "same": False,
        "rows": [
            {
                "name": name,
                "optional": False,
                "did": [(shortened(json_value(value), _VALUE_LIMIT), False)],
                "should": [],
                "verdict": "",
                "word": "",
                "reason": "",
            }
            for name, value in arguments.items()
        ],
        "unreadable": "",
        "sent": _sent(call, None if call is None else call.sent_arguments),
        "outcome": _outcome(call.outcome if call is not None else None, language),
        "also": [_cause(cause, language) for cause in extra.also],
        "raw": shortened(found[0].raw, _RAW_LIMIT) if found is not None else "",
        "error": "",
        "order": False,
        "detour": False,
        "kind": word(EXTRA_KINDS, extra.kind, language),
    }


def _context(attempt: AttemptScore, language: Language) -> dict[str, Any]:
    trace = attempt.trace
    uses = {use.block_id: use for use in attempt.blocks}
    return {
        "blocks": [] if trace is None else _blocks(trace, uses, language),
        "dropped": [] if trace is None else [_dropped(drop, language) for drop in trace.dropped],
        "steps": [] if trace is None else [_step(step, language) for step in trace.steps],
        "sources": [_source(entry) for entry in attempt.provenance],
        "offered": "" if trace is None else _offered(trace, language),
        "final": "" if trace is None else shortened(trace.final_text, _VALUE_LIMIT),
        "error": attempt.error,
    }


def _blocks(trace: Trace, uses: dict[str, BlockUse], language: Language) -> list[dict[str, Any]]:
    blocks = []
    for block in trace.blocks:
        use = uses.get(block.id)
        fact = use.fact if use is not None else ""
        before, middle, after, left_out = around(block.text, fact, _BLOCK_LIMIT)
        blocks.append(
            {
                "id": block.id,
                "kind": word(BLOCK_KINDS, block.kind, language),
                "partition": block.partition,
                "state": use.state if use is not None else "",
                "word": word(BLOCK_STATES, use.state, language) if use is not None else "",
                "fact": fact,
                "place": use.place if use is not None else "",
                "before": before,
                "mark": middle,
                "after": after,
                "left": count(left_out) if left_out else "",
            }
        )
    return blocks


def _dropped(drop: DroppedBlock, language: Language) -> str:
    parts = [
        drop.block_id,
        word(BLOCK_KINDS, drop.kind, language),
        word(DROP_REASONS, drop.reason, language),
    ]
    if drop.reason == "cut":
        kept = f"{drop.kept_characters:,}"
        parts.append(f"保留 {kept} 字符" if language == "zh" else f"{kept} characters kept")
    if drop.reason == "out_of_window" and drop.from_step >= 0:
        parts.append(
            f"自第 {drop.from_step + 1} 条消息起"
            if language == "zh"
            else f"from message {drop.from_step + 1} on"
        )
    if drop.tokens:
        parts.append(f"{drop.tokens:,} token" if language == "zh" else f"{drop.tokens:,} tokens")
    return " · ".join(parts)


def _step(step: Step, language: Language) -> dict[str, Any]:
    text = step.text or ("" if step.calls else step.raw)
    calls = []
    for call in step.calls:
        arguments = call.raw_arguments if call.arguments is None else json_value(call.arguments)
        outcome = word(STATUSES, call.outcome.status, language) if call.outcome is not None else ""
        calls.append([call.tool or call.name, shortened(arguments, 240), outcome])
    return {
        "user": step.kind == "user",
        "text": shortened(text, 400),
        "calls": calls,
        "problems": [problem.message or problem.code for problem in step.problems],
    }


def _source(entry: Provenance) -> list[str]:
    return [
        f"{entry.call_id}{entry.pointer}",
        shortened(json_value(entry.value), 120),
        ", ".join(entry.blocks),
    ]


def _offered(trace: Trace, language: Language) -> str:
    exposure = trace.exposure
    parts = []
    if exposure.offered:
        number = len(exposure.offered)
        parts.append(f"提供 {number:,} 个工具" if language == "zh" else f"{number:,} tools offered")
    if exposure.tokens is not None:
        parts.append(f"{exposure.tokens:,} token" if language == "zh" else f"{exposure.tokens:,} tokens")
    for tool, reason in list(exposure.hidden.items())[:12]:
        reason_word = word(HIDDEN_REASONS, reason, language)
        parts.append(
            f"{tool} 未显示（{reason_word}）" if language == "zh" else f"{tool} hidden ({reason_word})"
        )
    for tool, kept in list(exposure.cut_descriptions.items())[:12]:
        parts.append(
            f"{tool} 描述截至 {kept:,} 字符"
            if language == "zh"
            else f"{tool} description cut to {kept:,} characters"
        )
    return " · ".join(parts)
