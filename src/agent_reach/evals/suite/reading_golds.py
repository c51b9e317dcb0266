"""Golden paths, recorded results and matching options, from the loose form to records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from agent_reach.config.fields import Section, shown
from agent_reach.records.task import GoldenCall, GoldenPath, MatchOptions, RecordedResult
from agent_reach.records.trace import ERROR_KINDS

STRING_MODES = ("nfc", "nfkc", "casefold")
MATCH_MODES = ("path", "end_state")
_CALL_SYNONYMS = {
    "name": "tool",
    "function": "tool",
    "arguments": "args",
    "kwargs": "args",
    "parameters": "args",
}


def read_paths(section: Section) -> tuple[GoldenPath, ...]:
    """The golden paths under `path` or `paths`; empty when neither is written."""
    has_path, has_paths = section.raw("path") is not None, section.raw("paths") is not None
    if has_path and has_paths:
        section.refuse(
            "paths", "stands beside `path`", "keep `paths` for alternatives, `path` for a single way"
        )
    if has_path:
        return (_path(section, "path", section.raw("path")),)
    if not has_paths:
        return ()
    value = section.raw("paths")
    if not isinstance(value, (list, tuple)) or not value:
        section.refuse(
            "paths", f"must be a list of paths, not {shown(value)}", "paths: [[{tool: a}], [{tool: b}]]"
        )
        return ()
    holder = section.child("paths", {})
    return tuple(_path(holder, index, item) for index, item in enumerate(value))


def _path(section: Section, key: str | int, value: Any) -> GoldenPath:
    if not isinstance(value, (list, tuple)):
        section.refuse(key, f"must be a list of calls, not {shown(value)}", "path: [{tool: name, args: {}}]")
        return GoldenPath()
    holder = section.child(key, {})
    stages: list[tuple[GoldenCall, ...]] = []
    for index, item in enumerate(value):
        if isinstance(item, (list, tuple)):
            nested = holder.child(index, {})
            if not item:
                holder.refuse(index, "is an empty group of calls", "remove it")
            stages.append(tuple(_call(nested, position, call) for position, call in enumerate(item)))
        else:
            stages.append((_call(holder, index, item),))
    _check_step_ids(section, key, stages)
    return GoldenPath(stages=tuple(stages))


def _check_step_ids(section: Section, key: str | int, stages: Sequence[tuple[GoldenCall, ...]]) -> None:
    seen: set[str] = set()
    for call in (call for stage in stages for call in stage if call.id):
        if call.id in seen:
            section.refuse(key, f"has two calls with the id {call.id!r}", "give each call its own id")
        seen.add(call.id)


def _call(holder: Section, key: int, value: Any) -> GoldenCall:
    if isinstance(value, str) and value:
        return GoldenCall(tool=value)
    section = holder.child(key, value, synonyms=_CALL_SYNONYMS)
    error, kind = _error(section)
    has_result = section.has("result")
    if has_result:
        section.check_finite("result", section.raw("result"))
    call = GoldenCall(
        tool=section.text("tool", required=isinstance(value, Mapping)),
        id=section.text("id", allow_number=True),
        args=section.mapping("args"),
        optional=section.mapping("optional"),
        result=section.raw("result"),
        has_result=has_result,
        error=error,
        error_kind=kind,
    )
    if value is None:
        holder.refuse(key, "is empty", "write {tool: name, args: {}}")
    if has_result and (error or kind):
        section.refuse("error", "stands beside `result`", "a call has one recorded answer")
    for name in call.optional:
        if name in call.args:
            section.refuse("optional", f"names {name!r}, which `args` requires", "keep it in one of the two")
    section.finish()
    return call


def _error(section: Section) -> tuple[str, str]:
    kind = section.choice("error_kind", ERROR_KINDS, "")
    value = section.raw("error")
    if isinstance(value, Mapping):
        inner = section.section("error", synonyms={"type": "kind", "text": "message"})
        kind = inner.choice("kind", ERROR_KINDS, kind)
        message = inner.text("message")
        inner.finish()
        return message or kind, kind
    return section.text("error"), kind


def read_results(section: Section) -> tuple[RecordedResult, ...]:
    """The recorded results beside the golden path."""
    found = []
    for entry in section.sections("results", synonyms=_CALL_SYNONYMS):
        error, kind = _error(entry)
        if entry.has("result") == bool(error or kind):
            entry.refuse("result", "needs exactly one of `result` and `error`", "add `result: ...`")
        entry.check_finite("result", entry.raw("result"))
        found.append(
            RecordedResult(
                tool=entry.text("tool", required=True),
                args=entry.mapping("args") if entry.raw("args") is not None else None,
                result=entry.raw("result"),
                error=error,
                error_kind=kind,
            )
        )
        entry.finish()
    return tuple(found)


def read_match(section: Section) -> MatchOptions:
    """How values are compared, of a task or of a whole suite."""
    options = MatchOptions(
        strings=cast(Any, section.choice("strings", STRING_MODES, "nfc")),
        ignore_args=section.texts("ignore_args"),
        float_tolerance=section.number("float_tolerance", 0.0, minimum=0, maximum=1),
        mode=cast(Any, section.choice("mode", MATCH_MODES, "path")),
    )
    section.finish()
    return options
