"""The calls of a trace as scoring sees them: resolved, checked against their schema, repeats folded into one.

A repeat is the same tool with the same arguments after a try that did not end well; it is one call whose last try
counts. It does not see what was expected.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agent_reach.catalog.schema import argument_problems, is_legal
from agent_reach.evals.scoring.golds import CompiledTask, Evaluation
from agent_reach.records.tool import Tool
from agent_reach.records.trace import ArgumentProblem, Call, CallOutcome, Trace

_NOTHING: Mapping[str, Any] = {}
_CLEAN: frozenset[str] = frozenset()


class SeenCall:
    """One call: `message` counts model messages, `position` calls; `tries` holds the call and its repeats."""

    __slots__ = (
        "_problems",
        "arguments",
        "call",
        "evaluations",
        "is_legal",
        "key",
        "message",
        "position",
        "step",
        "tool",
        "tries",
    )

    def __init__(self, call: Call, tool: Tool | None, step: int, message: int, position: int) -> None:
        self.call = call
        self.tool = tool
        self.key = tool.key if tool is not None else ""
        self.step = step
        self.message = message
        self.position = position
        emitted = call.arguments
        self.arguments: Mapping[str, Any] = (
            call.sent_arguments
            if call.sent_arguments is not None
            else emitted
            if emitted is not None
            else _NOTHING
        )
        self.tries: list[SeenCall] = [self]
        self.evaluations: dict[int, Evaluation] = {}
        self.is_legal = tool is None or is_legal(tool, self.arguments)
        self._problems: tuple[ArgumentProblem, ...] | None = () if self.is_legal else None

    @property
    def problems(self) -> tuple[ArgumentProblem, ...]:
        """How the arguments do not fit the schema; worked out when first asked, because it costs much more than `is_legal`."""
        if self._problems is None:
            assert self.tool is not None
            self._problems = argument_problems(self.tool, self.arguments)
        return self._problems

    @property
    def problem_names(self) -> frozenset[str]:
        """Names of the arguments that the schema refuses."""
        if self.is_legal:
            return _CLEAN
        return frozenset(_top_name(problem.pointer) for problem in self.problems)

    @property
    def last(self) -> CallOutcome | None:
        """The outcome of the last try."""
        return self.tries[-1].call.outcome

    @property
    def went_well(self) -> bool:
        """The last try ended ok; a call without a recorded outcome is taken to have."""
        outcome = self.tries[-1].call.outcome
        return outcome is None or outcome.status == "ok"

    def is_legal_emitted(self) -> bool:
        """The arguments fit the schema as the model emitted them."""
        call = self.call
        if call.arguments is None:
            return False
        if call.sent_arguments is None:
            return self.is_legal
        return self.tool is not None and is_legal(self.tool, call.arguments)


def _top_name(pointer: str) -> str:
    return pointer[1:].partition("/")[0].replace("~1", "/").replace("~0", "~")


def seen_calls(trace: Trace, compiled: CompiledTask) -> list[SeenCall]:
    """All calls of a trace in order; the calls of one message in canonical order, because they have none."""
    found: list[SeenCall] = []
    message = 0
    failed = False
    for step in trace.steps:
        if not step.calls:
            continue
        start = len(found)
        for call in step.calls:
            tool = compiled.tool(call.tool) if call.tool else None
            if tool is None:
                tool = compiled.tool(call.name)
            found.append(SeenCall(call, tool, step.index, message, len(found)))
            failed = failed or (call.outcome is not None and call.outcome.status != "ok")
        if len(found) - start > 1:
            group = found[start:]
            # Arguments are only spelled out where the same tool is called twice in a message.
            is_distinct = len({seen.key for seen in group}) == len(group)
            found[start:] = sorted(group, key=_name_key if is_distinct else _canonical_key)
            for position in range(start, len(found)):
                found[position].position = position
        message += 1
    return _fold_repeats(found) if failed else found


def _name_key(seen: SeenCall) -> str:
    return seen.key


def _canonical_key(seen: SeenCall) -> tuple[str, str, str, str]:
    outcome = seen.call.outcome
    status = "" if outcome is None else f"{outcome.status}:{outcome.error_kind or ''}"
    return (seen.key, seen.call.name, repr(seen.arguments), status)


def _fold_repeats(calls: list[SeenCall]) -> list[SeenCall]:
    """The calls without repeats; each repeat is listed under the call that it repeats."""
    kept: list[SeenCall] = []
    open_calls: list[SeenCall] = []
    for seen in calls:
        original = next((earlier for earlier in open_calls if _repeats(seen, earlier)), None)
        if original is not None:
            original.tries.append(seen)
            if seen.went_well:
                open_calls.remove(original)
            continue
        kept.append(seen)
        if not seen.went_well:
            open_calls.append(seen)
    for position, seen in enumerate(kept):
        seen.position = position
    return kept


def _repeats(seen: SeenCall, earlier: SeenCall) -> bool:
    if seen.message == earlier.tries[-1].message:
        return False
    if seen.call.retry_of and seen.call.retry_of in {tried.call.call_id for tried in earlier.tries}:
        return True
    return bool(seen.key) and seen.key == earlier.key and seen.arguments == earlier.arguments
