"""Causes in what reached the model: the tool was not there, not shown, not allowed, or what it needed was cut."""

from __future__ import annotations

from agent_reach.evals.attribution.evidence import DecisionEvidence
from agent_reach.evals.attribution.found import Detector, Found, found
from agent_reach.evals.scoring.facts import contains, folded
from agent_reach.evals.scoring.provenance import Source, holders
from agent_reach.records.context import ContextBlock, DroppedBlock


def unavailable(evidence: DecisionEvidence) -> Found | None:
    """The catalog does not have the tool, or its server could not be used."""
    if evidence.is_paired:
        return None
    key = evidence.gold.key
    reason = evidence.attempt.hidden.get(key, "")
    if evidence.gold.tool is None:
        reason = reason or "not_in_catalog"
    if reason not in ("not_in_catalog", "unavailable", "quarantined"):
        return None
    return found(
        f"{key} could not be used in this run: {reason}", f"本次运行无法使用 {key}：{reason}", reason=reason
    )


def not_offered(evidence: DecisionEvidence) -> Found | None:
    """The tool was kept out of the list that was sent (not by recall)."""
    if evidence.is_paired or evidence.gold.tool is None:
        return None
    reason = evidence.attempt.hidden.get(evidence.gold.key, "")
    if not reason and evidence.trace.exposure.mode != "reach" and _left_out(evidence):
        reason = "not_listed"
    if reason not in ("not_listed", "limit"):
        return None
    count = len(evidence.offered)
    return found(
        f"{evidence.gold.key} was not among the {count} tools offered ({reason})",
        f"提供的 {count} 个工具中没有 {evidence.gold.key}（{reason}）",
        reason=reason,
        offered=count,
    )


def not_recalled(evidence: DecisionEvidence) -> Found | None:
    """The reach layer did not put the tool before the model."""
    if evidence.is_paired or evidence.gold.tool is None:
        return None
    reason = evidence.attempt.hidden.get(evidence.gold.key, "")
    by_recall = not reason and evidence.trace.exposure.mode == "reach" and _left_out(evidence)
    if reason != "not_recalled" and not by_recall:
        return None
    step = evidence.due_step
    candidates = [candidate.tool for candidate in step.candidates[:5]] if step is not None else []
    shown = ", ".join(candidates or evidence.offered[:5]) or "none"
    return found(
        f"{evidence.gold.key} was not recalled; offered were: {shown}",
        f"{evidence.gold.key} 未被召回；提供的是：{shown}",
        offered=list(evidence.offered),
    )


def _left_out(evidence: DecisionEvidence) -> bool:
    offered = evidence.offered
    if not offered:
        step = evidence.due_step
        if step is None:
            return False
        offered = tuple(evidence.attempt.key(candidate.tool) for candidate in step.candidates)
    return bool(offered) and evidence.gold.key not in offered


def permission_denied(evidence: DecisionEvidence) -> Found | None:
    """The tool was kept back or refused for want of a permission."""
    key = evidence.gold.key
    missing: tuple[str, ...] = ()
    for name, lacks in evidence.trace.permissions_missing.items():
        if evidence.attempt.key(name) == key:
            missing = tuple(lacks)
    outcome = evidence.decision.outcome
    refused = (
        outcome is not None and outcome.error_kind == "permission" and evidence.decision.selected_tool == key
    )
    hidden = not evidence.is_paired and evidence.attempt.hidden.get(key) == "permission"
    if not (refused or hidden or (missing and not evidence.decision.decision_success)):
        return None
    lacks_text = ", ".join(missing) or (outcome.message if refused and outcome is not None else "") or "?"
    return found(
        f"{key} needs a permission that is missing here: {lacks_text}",
        f"{key} 缺少所需权限：{lacks_text}",
        missing=list(missing),
    )


def out_of_window(evidence: DecisionEvidence) -> Found | None:
    """A block that held a needed value was dropped, cut, or had fallen out of the window."""
    decision, trace = evidence.decision, evidence.trace
    if decision.decision_success:
        return None
    outcome = decision.outcome
    if outcome is not None and outcome.error_kind == "context_lost":
        return found(
            f"a value that {evidence.gold.key} needed had left the context",
            f"{evidence.gold.key} 需要的值已不在上下文中",
        )
    if not trace.dropped:
        return None
    names = None if evidence.is_missed else [score.name for score in evidence.wrong]
    needed = evidence.expected_leaves(names)
    step = evidence.due_step
    now = step.index if step is not None else 1 << 30
    for item in trace.dropped:
        if item.reason == "out_of_window" and item.from_step > now:
            continue
        lost = _lost_text(evidence, item)
        if lost is None:
            continue
        held = Source(ContextBlock(id=item.block_id, kind=item.kind, text=lost))
        visible = _still_visible(evidence, item)
        for leaf in needed:
            if holders(leaf, [held]) and not holders(leaf, visible):
                return found(
                    f"{leaf!r} stood only in {item.block_id!r}, which the model did not see ({item.reason})",
                    f"{leaf!r} 只出现在 {item.block_id!r} 中，而模型没有看到它（{item.reason}）",
                    block=item.block_id,
                    reason=item.reason,
                )
        if evidence.is_missed and _speaks_of_tool(evidence, lost):
            return found(
                f"{item.block_id!r}, which speaks of {evidence.gold.key}, was not seen ({item.reason})",
                f"提到 {evidence.gold.key} 的 {item.block_id!r} 未被模型看到（{item.reason}）",
                block=item.block_id,
                reason=item.reason,
            )
    return None


def _lost_text(evidence: DecisionEvidence, item: DroppedBlock) -> str | None:
    """The text that was lost, or None where the trace does not keep it."""
    blocks = (*evidence.trace.blocks, *evidence.attempt.task.context)
    text = next((block.text for block in blocks if block.id == item.block_id and block.text), None)
    if text is None:
        for seen in evidence.attempt.calls:
            if item.block_id in (seen.call.call_id, f"result:{seen.call.call_id}") and seen.last is not None:
                text = seen.last.text or str(seen.last.value)
    if text is None and item.kind == "instruction":
        text = evidence.trace.query or evidence.attempt.task.query
    if text is None:
        return None
    return text[item.kept_characters :] if item.reason == "cut" else text


def _still_visible(evidence: DecisionEvidence, item: DroppedBlock) -> list[Source]:
    found_sources = []
    for source in evidence.visible_sources():
        own = source.block.id == item.block_id or (
            source.block.call_id and item.block_id in (source.block.call_id, f"result:{source.block.call_id}")
        )
        if own and item.reason != "cut":
            continue
        if item.kind == "instruction" and source.block.id == "query":
            continue
        found_sources.append(source)
    return found_sources


def _speaks_of_tool(evidence: DecisionEvidence, text: str) -> bool:
    tool = evidence.gold.tool
    names = {evidence.gold.key, *((tool.name, tool.title) if tool is not None else ())}
    return any(name and contains(folded(text), folded(name)) for name in names)


def description_truncated(evidence: DecisionEvidence) -> Found | None:
    """The tool's description was cut where it says what decides."""
    decision, tool = evidence.decision, evidence.gold.tool
    if decision.decision_success or tool is None or not decision.order_right:
        return None
    shown = next(
        (
            length
            for name, length in evidence.trace.exposure.cut_descriptions.items()
            if evidence.attempt.key(name) == tool.key
        ),
        None,
    )
    if shown is None or shown >= len(tool.description):
        return None
    if decision.tool_right:
        lost = folded(tool.description[shown:])
        told = [
            score.name
            for score in evidence.wrong
            if contains(lost, folded(score.name))
            or (isinstance(score.expected, str) and score.expected and contains(lost, folded(score.expected)))
        ]
        if not told:
            return None
    return found(
        f"only {shown} of {len(tool.description)} characters of {tool.key}'s description were shown",
        f"{tool.key} 的描述共 {len(tool.description)} 个字符，只展示了 {shown} 个",
        shown=shown,
        length=len(tool.description),
    )


REACH_DETECTORS: dict[str, Detector] = {
    "unavailable": unavailable,
    "not_offered": not_offered,
    "not_recalled": not_recalled,
    "permission_denied": permission_denied,
    "out_of_window": out_of_window,
    "description_truncated": description_truncated,
}
