"""Which of the given blocks were used: a key fact of the block turns up in an argument or in the output.

Declared facts identify a block even when another holds them too; derived facts only where no other block does. A block
without an identifying fact is `not_identifiable`; the answer of a call that did not work is not counted at all. A fact counts only from the step on at which the block was there.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from agent_reach.evals.scoring.facts import (
    contains,
    folded,
    leaf_facts,
    leaves,
    spans,
    text_facts,
    text_spans,
    value_facts,
)
from agent_reach.evals.scoring.values import same_value, value_at
from agent_reach.records.context import ContextBlock, StateSlot
from agent_reach.records.score import BlockUse
from agent_reach.records.task import Task
from agent_reach.records.trace import Trace

UNCOUNTED_KINDS = frozenset(("tools", "constraint"))
QUERY_BLOCK = "query"


class Output:
    """One thing the model put out: an argument or a text, at a step."""

    __slots__ = ("_facts", "leaf", "place", "step", "text")

    def __init__(self, step: int, place: str, text: str, leaf: Any = None) -> None:
        self.step = step
        self.place = place
        self.text = folded(text)
        self.leaf = leaf
        self._facts: frozenset[str] | None = None

    @property
    def facts(self) -> frozenset[str]:
        """The facts in it, worked out when first asked."""
        if self._facts is None:
            self._facts = frozenset(leaf_facts(self.leaf)) if self.leaf is not None else text_facts(self.text)
        return self._facts


def outputs_of(trace: Trace) -> list[Output]:
    """All arguments (leaf by leaf) and texts of the model, in order."""
    found = []
    last = -1
    for step in trace.steps:
        if step.kind != "model":
            continue
        last = step.index
        for call in step.calls:
            arguments = call.sent_arguments if call.sent_arguments is not None else call.arguments
            for pointer, leaf in leaves(arguments or {}):
                found.append(Output(step.index, f"{call.call_id}{pointer}", str(leaf), leaf))
        if step.text:
            found.append(Output(step.index, f"step {step.index}", step.text))
    if trace.final_text and not (found and found[-1].text == folded(trace.final_text)):
        found.append(Output(last + 1, "answer", trace.final_text))
    return found


def given_blocks(task: Task, trace: Trace) -> list[ContextBlock]:
    """The blocks the model saw, cut to what it saw; results that the trace does not list as blocks are added."""
    found = _listed_blocks(task, trace) if trace.blocks else []
    listed = {block.call_id for block in found if block.call_id}
    for step in trace.steps:
        for call in step.calls:
            outcome = call.outcome
            if outcome is None or call.call_id in listed or (outcome.value is None and not outcome.text):
                continue
            text = outcome.text or json.dumps(outcome.value, ensure_ascii=False, default=str)
            found.append(
                ContextBlock(
                    id=f"result:{call.call_id}",
                    kind="tool_result",
                    text=text,
                    call_id=call.call_id,
                    from_step=step.index,
                )
            )
    return found


def _listed_blocks(task: Task, trace: Trace) -> list[ContextBlock]:
    """The blocks that the trace lists, without what was never sent, with the facts that the task declares of them."""
    declared = {block.id: block.facts for block in task.context if block.facts}
    gone = {item.block_id for item in trace.dropped if item.reason in ("max_passages", "token_budget")}
    cut = {item.block_id: item.kept_characters for item in trace.dropped if item.reason == "cut"}
    found = []
    for block in trace.blocks:
        if block.id in gone:
            continue
        if block.id in cut:
            block = replace(block, text=block.text[: cut[block.id]])
        if not block.facts and block.id in declared:
            block = replace(block, facts=declared[block.id])
        found.append(block)
    return found


def block_uses(
    task: Task,
    trace: Trace,
    blocks: Sequence[ContextBlock],
    outputs: Sequence[Output],
    common: frozenset[str],
) -> tuple[BlockUse, ...]:
    """For every given block (tools and constraints apart) whether it was used, by which fact, and where.

    `common` are words that identify nothing: enum values of the catalog, folded. The answer to a call that did not work
    (an error, a refusal, a call that no recording answers) gave the model no result: it is no given block, though it stays
    a place where a value can come from.
    """
    without_result = _calls_without_result(trace)
    derived = [_derived(block) for block in blocks]
    held = Counter(fact for facts in derived for fact in facts)
    query = text_facts(trace.query or task.query)
    if not any(block.kind == "instruction" and text_facts(block.text) >= query for block in blocks):
        held.update(query)
    found = []
    for block, facts in zip(blocks, derived, strict=True):
        if block.kind in UNCOUNTED_KINDS or (block.kind == "tool_result" and block.call_id in without_result):
            continue
        own = {fact for fact in facts if held[fact] == 1 and fact not in common}
        found.append(_block_use(block, own, blocks, outputs))
    return tuple(found)


def _calls_without_result(trace: Trace) -> frozenset[str]:
    """Ids of the calls whose outcome is known and not `ok`."""
    return frozenset(
        call.call_id
        for step in trace.steps
        for call in step.calls
        if call.outcome is not None and call.outcome.status != "ok" and call.call_id
    )


def _derived(block: ContextBlock) -> frozenset[str]:
    return frozenset(value_facts(block.value)) if block.value is not None else text_facts(block.text)


def _block_use(
    block: ContextBlock, own: set[str], blocks: Sequence[ContextBlock], outputs: Sequence[Output]
) -> BlockUse:
    declared = [folded(fact).strip() for fact in block.facts if fact.strip()]
    long_facts = [fact for fact in own if " " in fact or not fact.isascii()]
    for output in outputs:
        if output.step <= block.from_step:
            continue
        fact = next((fact for fact in declared if contains(output.text, fact)), "")
        if not fact and own:
            fact = min(own & output.facts, default="")
        if not fact:
            fact = next((fact for fact in long_facts if contains(output.text, fact)), "")
        if fact:
            return _use(block, "used", fact, output.place)
    if block.facts:
        return _use(block, "unused")
    own_spans = text_spans(block.text) if block.value is None else frozenset()
    if own_spans:
        for output in outputs:
            if output.step <= block.from_step or len(output.text) < 6:
                continue
            for span in sorted(own_spans & spans(output.text)):
                if not any(other is not block and span in text_spans(other.text) for other in blocks):
                    return _use(block, "used", span, output.place)
    return _use(block, "unused" if own or own_spans else "not_identifiable")


def _use(block: ContextBlock, state: str, fact: str = "", place: str = "") -> BlockUse:
    return BlockUse(
        block_id=block.id,
        kind=block.kind,
        partition=block.partition,
        state=state,  # type: ignore[arg-type]
        fact=fact,
        place=place,
    )


def slot_use(trace: Trace, outputs: Sequence[Output]) -> tuple[int, int]:
    """(slots filled, slots used): a slot is used when its value is an argument after the slot could be filled."""
    filled = used = 0
    for slot in trace.state_slots:
        if not slot.filled:
            continue
        filled += 1
        used += _slot_is_used(slot, trace, outputs)
    return filled, used


def _slot_is_used(slot: StateSlot, trace: Trace, outputs: Sequence[Output]) -> bool:
    since = _slot_step(slot, trace)
    values = [leaf for _, leaf in leaves(slot.value)]
    telling = [leaf for leaf in values if leaf_facts(leaf) or (isinstance(leaf, str) and len(leaf) >= 3)]
    for output in outputs:
        if output.step <= since:
            continue
        if output.leaf is not None:
            name = output.place.rpartition("/")[2]
            if any(
                same_value(output.leaf, leaf) for leaf in (telling or (values if name == slot.name else []))
            ):
                return True
        elif any(contains(output.text, folded(str(leaf))) for leaf in telling):
            return True
    return False


def _slot_step(slot: StateSlot, trace: Trace) -> int:
    """The step whose result filled the slot, or -1."""
    tool, _, path = slot.source.partition(".")
    for step in trace.steps:
        for call in step.calls:
            if (
                call.outcome is not None
                and tool
                in (
                    call.name,
                    call.tool,
                    (call.tool or "").rpartition("/")[2],
                )
                and same_value(value_at(call.outcome.value, path), slot.value)
            ):
                return step.index
    return -1


def enum_words(schemas: Sequence[Mapping[str, Any]]) -> frozenset[str]:
    """All enum and const words of input schemas, folded: they identify no block."""
    found: set[str] = set()

    def walk(node: Any, depth: int) -> None:
        if depth > 12:
            return
        if isinstance(node, Mapping):
            options = node.get("enum")
            for option in [*(options if isinstance(options, (list, tuple)) else ()), node.get("const")]:
                if isinstance(option, str):
                    found.add(folded(option))
            for item in node.values():
                walk(item, depth + 1)
        elif isinstance(node, (list, tuple)):
            for item in node:
                walk(item, depth + 1)

    for schema in schemas:
        walk(schema, 0)
    return frozenset(found)
