"""The calls of a trace as scoring sees them: resolved, checked against their schema, repeats folded into one.

A repeat is the same tool with the same arguments after a try that did not end well; it is one call whose last try
counts. It does not see what was expected.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby
from marshal import dumps
from operator import attrgetter
from typing import Any

from agent_reach.catalog.schema import argument_problems, is_legal
from agent_reach.evals.scoring.golds import REMEMBERED, CompiledTask, Evaluation, KnownTool
from agent_reach.records.trace import ArgumentProblem, Call, CallOutcome, Trace
from agent_reach.text.pointers import unescape_pointer

_NOTHING: Mapping[str, Any] = {}
_MARK_FORMAT = 2
"""The last format of `marshal` without references between equal parts: the same values always give the same bytes."""
_MARK_LIMIT = 4096
_CLEAN: frozenset[str] = frozenset()


class SeenCall:
    """One call: `message` counts model messages, `position` calls; `tries` holds the call and its repeats."""

    __slots__ = (
        "_names",
        "_problems",
        "arguments",
        "call",
        "evaluations",
        "is_legal",
        "key",
        "known",
        "mark",
        "message",
        "position",
        "step",
        "tool",
        "tries",
    )

    def __init__(self, call: Call, known: KnownTool, step: int, message: int, position: int) -> None:
        self.call = call
        self.known = known
        self.tool = tool = known.tool
        self.key = known.key
        self.step = step
        self.message = message
        self.position = position
        arguments = call.sent_arguments
        if arguments is None:
            arguments = call.arguments
            if arguments is None:
                arguments = _NOTHING
        self.arguments: Mapping[str, Any] = arguments
        self.mark = mark = mark_of(arguments)
        self.tries: list[SeenCall] = [self]
        self.evaluations: dict[int, Evaluation] | None = None
        self._problems: tuple[ArgumentProblem, ...] | None = None
        self._names: frozenset[str] | None = None
        if tool is None:
            self.is_legal = True
        elif mark is None:
            self.is_legal = is_legal(tool, arguments)
        else:
            legal = known.legal.get(mark)
            self.is_legal = _first_legality(known, mark, arguments) if legal is None else legal

    @property
    def problems(self) -> tuple[ArgumentProblem, ...]:
        """How the arguments do not fit the schema; worked out when first asked, because it costs much more than `is_legal`."""
        if self.is_legal:
            return ()
        if self._problems is None:
            assert self.tool is not None
            mark, held = self.mark, self.known.problems
            self._problems = held.get(mark) if mark is not None else None
            if self._problems is None:
                self._problems = argument_problems(self.tool, self.arguments)
                if mark is not None:
                    if len(held) >= REMEMBERED:
                        held.clear()
                    held[mark] = self._problems
        return self._problems

    @property
    def problem_names(self) -> frozenset[str]:
        """Names of the arguments that the schema refuses."""
        if self.is_legal:
            return _CLEAN
        if self._names is None:
            self._names = frozenset(_top_name(problem.pointer) for problem in self.problems)
        return self._names

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


def mark_of(arguments: Any) -> bytes | None:
    """What arguments are known again by: equal marks mean equal values of equal types in the same order.

    `1`, `1.0` and `true` differ. None for what is no plain JSON, or so long that keeping it would cost more than judging
    it again.
    """
    try:
        mark = dumps(arguments, _MARK_FORMAT)
    except ValueError:
        return None
    return mark if len(mark) <= _MARK_LIMIT else None


def _first_legality(known: KnownTool, mark: bytes, arguments: Mapping[str, Any]) -> bool:
    assert known.tool is not None
    legal = is_legal(known.tool, arguments)
    if len(known.legal) >= REMEMBERED:
        known.legal.clear()
    known.legal[mark] = legal
    return legal


def _top_name(pointer: str) -> str:
    return unescape_pointer(pointer[1:].partition("/")[0])


def seen_calls(trace: Trace, compiled: CompiledTask) -> list[SeenCall]:
    """All calls of a trace in order; the calls of one message in canonical order, because they have none."""
    found: list[SeenCall] = []
    message = 0
    failed = False
    known_tools = compiled.known_tools
    for step in trace.steps:
        calls = step.calls
        if not calls:
            continue
        start = len(found)
        index = step.index
        for call in calls:
            known = compiled.known(call.tool) if call.tool else None
            if known is None or known.tool is None:
                known = known_tools.get(call.name) or compiled.known(call.name)
            found.append(SeenCall(call, known, index, message, len(found)))
            if call.outcome is not None and call.outcome.status != "ok":
                failed = True
        if len(found) - start > 1:
            found[start:] = _in_canonical_order(found[start:])
            for position in range(start, len(found)):
                found[position].position = position
        message += 1
    return _fold_repeats(found) if failed else found


_by_key = attrgetter("key")


def _in_canonical_order(message: list[SeenCall]) -> list[SeenCall]:
    """The calls of a message by tool; arguments are only spelled out where the same tool is called twice."""
    message.sort(key=_by_key)
    if len({seen.key for seen in message}) == len(message):
        return message
    ordered: list[SeenCall] = []
    for _, same in groupby(message, _by_key):
        group = list(same)
        ordered.extend(sorted(group, key=_canonical_key) if len(group) > 1 else group)
    return ordered


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
