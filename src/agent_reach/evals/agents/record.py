"""What is written down of one attempt while it lasts: steps, results, findings, slots, and the trace they make.

It decides nothing and executes nothing.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any

from agent_reach.calls.records import ParsedCall
from agent_reach.catalog.naming import NameResolution
from agent_reach.evals.context.slots import fill_slots, slots_block
from agent_reach.records.context import ContextBlock, StateSlot
from agent_reach.records.finding import Finding
from agent_reach.records.tool import Tool
from agent_reach.records.trace import Call, CallOutcome, Step, Trace


class AttemptRecord:
    """Grows with the attempt. `results` are the context blocks that calls brought, `slots` the state as it is now."""

    def __init__(self, slots: tuple[StateSlot, ...]) -> None:
        self.slots = slots
        self.results: list[ContextBlock] = []
        self.final_text = ""
        self._steps: list[Step] = []
        self._findings: list[Finding] = []
        self._filled_at: dict[str, int] = {}

    @property
    def step_index(self) -> int:
        """The number of the next step."""
        return len(self._steps)

    def add_step(self, step: Step) -> None:
        """The next step."""
        self._steps.append(step)

    def set_calls(self, index: int, calls: Sequence[Call]) -> None:
        """The calls of a step as far as they are known."""
        self._steps[index] = dataclasses.replace(self._steps[index], calls=tuple(calls))

    def note(self, findings: Iterable[Finding]) -> None:
        """Keep findings with the trace."""
        self._findings.extend(findings)

    def learn(self, tool: Tool, call_id: str, outcome: CallOutcome, step: int) -> None:
        """A result of a server becomes a context block, and fills the state slots that name it."""
        self.results.append(
            ContextBlock(
                id=result_block_id(call_id),
                kind="tool_result",
                text=outcome.text,
                value=outcome.value,
                call_id=call_id,
                from_step=step,
            )
        )
        if not outcome.ok:
            return
        filled = fill_slots(self.slots, tool, outcome.value)
        for before, after in zip(self.slots, filled, strict=True):
            if after is not before:
                self._filled_at[after.name] = step
        self.slots = filled

    def completed(self, trace: Trace, *, shows_slots: bool) -> Trace:
        """The trace with everything so far; `trace` holds what was known before the first step and the blocks given."""
        slots = slots_block(self.slots) if shows_slots else None
        blocks = (*trace.blocks, *self.results)
        if slots is not None:
            first = min(self._filled_at.values(), default=-1)
            blocks = (*blocks, dataclasses.replace(slots, from_step=first))
        return dataclasses.replace(
            trace,
            steps=tuple(self._steps),
            blocks=blocks,
            state_slots=self.slots,
            final_text=self.final_text,
            findings=tuple(self._findings),
            metadata={"slots_filled_at": dict(self._filled_at)} if self._filled_at else {},
        )


def result_block_id(call_id: str) -> str:
    """The id of the context block that holds a call's result."""
    return f"result:{call_id}"


def emitted_call(parsed: ParsedCall, resolution: NameResolution, started_at: float) -> Call:
    """The call as the model wrote it and as its name was understood, before anything is done about it."""
    metadata: dict[str, Any] = {}
    if resolution.tool is not None and resolution.repair:
        metadata["name_repair"] = resolution.repair
    if parsed.repairs:
        metadata["repairs"] = list(parsed.repairs)
    if parsed.emitted_id and parsed.emitted_id != parsed.call_id:
        metadata["emitted_id"] = parsed.emitted_id
    if parsed.origin not in ("tool_calls", "python"):
        metadata["origin"] = parsed.origin
    return Call(
        call_id=parsed.call_id,
        name=parsed.name,
        tool=resolution.tool.key if resolution.tool else None,
        arguments=parsed.arguments,
        raw_arguments=parsed.raw_arguments,
        problems=parsed.problems,
        started_at=started_at,
        metadata=metadata,
    )
