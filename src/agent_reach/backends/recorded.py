"""Calls answered from a task's recordings: its golden path first, then its `results`.

Nothing is executed and nothing is guessed: a call that was not recorded fails as `not_found` and is marked
`off_recording`, unless `on_miss` says otherwise. One backend serves one attempt, because it remembers what it gave.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from agent_reach.backends.base import failure, success
from agent_reach.backends.matching import Lookup, values_match
from agent_reach.records.task import GoldenCall, GoldenPath, MatchOptions, RecordedResult, Task
from agent_reach.records.tool import Tool
from agent_reach.records.trace import ERROR_KINDS, CallOutcome, ErrorKind

OnMiss = Literal["not_found", "any_args", "stop"]
Comparison = Callable[[Any, Any, Any, MatchOptions, Lookup], bool]
"""`(expected, actual, schema, options, lookup) -> bool`, for one argument."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Recording:
    tool: str
    id: str = ""
    args: Mapping[str, Any] | None = None
    optional: Mapping[str, Any] | None = None
    result: Any = None
    error: str = ""
    error_kind: str = ""
    path: int = -1


class RecordedBackend:
    """Answers the calls of one attempt at `task`.

    A call fits a recorded one when every argument of `args` matches, every argument of `optional` that was sent matches
    (a differing one is still answered, marked `off_recording`, because the author declared it optional), and nothing
    else was sent but schema-required names without gold and schema defaults. Equal calls get successive recordings,
    then the last one again. `on_miss`: `not_found` fails the call, `any_args` answers with a recording of the same tool
    (marked), `stop` fails it and sets `metadata["stop"]`, at which the caller ends the attempt.
    """

    def __init__(
        self, task: Task, *, on_miss: OnMiss = "not_found", comparison: Comparison = values_match
    ) -> None:
        self._task = task
        self._on_miss = on_miss
        self._compare = comparison
        self._recordings = tuple(_recordings(task))
        self._given: set[int] = set()
        self._results: dict[str, Any] = {}

    async def call(
        self, tool: Tool, arguments: Mapping[str, Any], *, call_id: str = "", timeout: float | None = None
    ) -> CallOutcome:
        """Answer one call from the recordings."""
        started = time.perf_counter()
        own = [recording for recording in self._recordings if _names(recording.tool, tool)]
        exact, declared = self._fitting(own, tool, arguments)
        chosen = exact or declared or [recording for recording in own if recording.args is None]
        if chosen:
            outcome = self._answer(chosen, tool)
            off_recording = not exact and bool(declared)
        elif own and self._on_miss == "any_args":
            outcome = self._answer(own, tool)
            off_recording = True
        else:
            return self._missing(tool, bool(own))
        latency = (time.perf_counter() - started) * 1000
        return replace(outcome, latency_ms=latency, off_recording=off_recording)

    async def aclose(self) -> None:
        """Nothing to give back."""

    def _fitting(
        self, own: list[_Recording], tool: Tool, arguments: Mapping[str, Any]
    ) -> tuple[list[_Recording], list[_Recording]]:
        """Recordings that fit in every argument, and those that differ only in arguments declared optional."""
        exact: list[_Recording] = []
        declared: list[_Recording] = []
        for recording in own:
            if recording.args is None:
                continue
            required, optional = self._fit(recording, tool, arguments)
            if required:
                (exact if optional else declared).append(recording)
        return _one_path(exact), _one_path(declared)

    def _fit(self, recording: _Recording, tool: Tool, arguments: Mapping[str, Any]) -> tuple[bool, bool]:
        expected = recording.args or {}
        optional = recording.optional or {}
        optional_fits = True
        for name in {**expected, **optional, **arguments}:
            schema = tool.parameters.get(name)
            if self._ignored(name, tool):
                continue
            if name in expected:
                if not self._argument_fits(expected[name], name, arguments, schema):
                    return False, False
            elif name not in arguments:
                continue
            elif name in optional:
                optional_fits &= self._argument_fits(optional[name], name, arguments, schema)
            elif recording.path >= 0 and name in tool.required:
                continue
            elif not _is_default(arguments[name], schema):
                return False, False
        return True, optional_fits

    def _argument_fits(self, expected: Any, name: str, arguments: Mapping[str, Any], schema: Any) -> bool:
        options = self._task.match
        if name in arguments:
            return self._compare(expected, arguments[name], schema, options, self._lookup)
        if isinstance(expected, Mapping) and "$default" in expected:
            return True
        has_default = isinstance(schema, Mapping) and "default" in schema
        return has_default and self._compare(expected, schema["default"], schema, options, self._lookup)

    def _ignored(self, name: str, tool: Tool) -> bool:
        ignored = self._task.match.ignore_args
        return name in ignored or f"{tool.name}.{name}" in ignored or f"{tool.key}.{name}" in ignored

    def _answer(self, recordings: list[_Recording], tool: Tool) -> CallOutcome:
        fresh = [recording for recording in recordings if id(recording) not in self._given]
        recording = fresh[0] if fresh else recordings[-1]
        self._given.add(id(recording))
        if recording.error or recording.error_kind:
            kind: ErrorKind = "tool_error"
            if recording.error_kind in ERROR_KINDS:
                kind = recording.error_kind  # type: ignore[assignment]
            return failure(kind, recording.error or kind, tool=tool)
        outcome = success(recording.result)
        self._results[recording.id or recording.tool] = outcome.value
        return outcome

    def _missing(self, tool: Tool, tool_is_recorded: bool) -> CallOutcome:
        reason = "with these arguments" if tool_is_recorded else "at all"
        outcome = failure(
            "not_found",
            f"no result was recorded for {tool.key} {reason}",
            metadata={"stop": True} if self._on_miss == "stop" else None,
        )
        return replace(outcome, off_recording=True)

    def _lookup(self, reference: str) -> Any:
        """The value at `step.path`: of the result that step's call was given, else of its recorded one."""
        step, *path = reference.split(".")
        if step in self._results:
            value = self._results[step]
        else:
            value = next(
                (
                    recording.result
                    for recording in self._recordings
                    if step == (recording.id or recording.tool)
                ),
                LookupError,
            )
        for part in path:
            if isinstance(value, Mapping) and part in value:
                value = value[part]
            elif isinstance(value, list) and part.lstrip("-").isdigit() and int(part) < len(value):
                value = value[int(part)]
            else:
                raise LookupError(reference)
        if value is LookupError:
            raise LookupError(reference)
        return value


def _recordings(task: Task) -> Iterable[_Recording]:
    paths: tuple[GoldenPath, ...] = task.paths
    if not paths:
        paths = tuple(path for turn in task.turns for path in turn.paths)
    for number, path in enumerate(paths):
        for call in path.calls:
            if call.has_result or call.error or call.error_kind:
                yield _of_golden(call, number)
    for result in task.results:
        yield _of_result(result)


def _of_golden(call: GoldenCall, path: int) -> _Recording:
    return _Recording(
        tool=call.tool,
        id=call.id,
        args=call.args,
        optional=call.optional,
        result=call.result,
        error=call.error,
        error_kind=call.error_kind,
        path=path,
    )


def _of_result(result: RecordedResult) -> _Recording:
    return _Recording(
        tool=result.tool,
        args=result.args,
        result=result.result,
        error=result.error,
        error_kind=result.error_kind,
    )


def _one_path(recordings: list[_Recording]) -> list[_Recording]:
    """Those of the first golden path that has any, then the results: alternatives are not successive answers."""
    paths = [recording.path for recording in recordings if recording.path >= 0]
    return [recording for recording in recordings if recording.path < 0 or recording.path == paths[0]]


def _names(written: str, tool: Tool) -> bool:
    return written in (tool.key, tool.name) or written in tool.aliases


def _is_default(value: Any, schema: Any) -> bool:
    return isinstance(schema, Mapping) and "default" in schema and bool(schema["default"] == value)
