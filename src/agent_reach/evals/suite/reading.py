"""One task, from the loose form a person writes to the record that is measured.

The loose form knows short cuts (a call written as its name, slots as a mapping, one text where a list may stand); the
record has one form only, and `writing.dump_task` writes one that reads back equal. Whether a gold can be right at all
is the business of `lint`; here only what cannot be understood is refused, with line, task and field.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, cast

from agent_reach.config.documents import Document, Steps
from agent_reach.config.fields import Section, shown
from agent_reach.config.problems import Problems
from agent_reach.evals.suite.language import language_of
from agent_reach.records.context import BLOCK_KINDS, BlockKind, ContextBlock, StateSlot
from agent_reach.records.task import (
    GoldenCall,
    GoldenPath,
    MatchOptions,
    OrderMode,
    RecordedResult,
    ScriptedTurn,
    Task,
    TaskKind,
)

KINDS = ("must", "may", "forbid")
ORDERS = ("in_order", "any_order", "exact")
STRING_MODES = ("nfc", "nfkc", "casefold")
MATCH_MODES = ("path", "end_state")
ROLES = ("system", "developer", "user", "assistant", "tool", "function")
MAX_PATHS = 256
"""Turns with alternatives multiply; more combined paths than this are refused."""

TASK_KEYS = (
    *("id", "kind", "query", "messages", "turns", "tags", "language", "now", "context", "state_slots"),
    *(
        "path",
        "paths",
        "order",
        "forbid",
        "max_extra",
        "match",
        "results",
        "tools",
        "environment",
        "metadata",
        "review",
    ),
)
_TASK_SYNONYMS = {
    "name": "id",
    "question": "query",
    "prompt": "query",
    "user": "query",
    "input": "query",
    "gold": "path",
    "golden_path": "path",
    "expected": "path",
    "expected_calls": "path",
    "actions": "path",
    "type": "kind",
    "forbidden": "forbid",
    "blocks": "context",
}
_CALL_SYNONYMS = {
    "name": "tool",
    "function": "tool",
    "arguments": "args",
    "kwargs": "args",
    "parameters": "args",
}
_BLOCK_SYNONYMS = {"type": "kind", "content": "text", "name": "id"}
_TURN_SYNONYMS = {"query": "user", "content": "user", "gold": "path"}


def read_task(
    document: Document, path: Steps, problems: Problems, *, defaults: Mapping[str, Any] | None = None
) -> Task | None:
    """The task at `path` of a document; None when something in it was refused (see `problems`).

    `defaults` are task fields in the loose form that stand in for absent ones (`match` is merged key by key).
    """
    value = _at(document.value, path)
    before = len(problems.found)
    if not isinstance(value, Mapping):
        problems.add(
            document.where(path), f"a task must be a mapping, not {shown(value)}", "write id, kind and query"
        )
        return None
    name = value.get("id")
    title = f"task {name!r}" if isinstance(name, (str, int)) and name != "" else f"task {_position(path)}"
    merged = _with_defaults(value, defaults or {})
    section = Section(
        document, merged, path, problems=problems, title=title, base=len(path), synonyms=_TASK_SYNONYMS
    )
    task = _task(section, document, path)
    section.finish(*TASK_KEYS)
    return task if len(problems.found) == before else None


def _at(value: Any, path: Steps) -> Any:
    for step in path:
        value = value[step]
    return value


def _position(path: Steps) -> str:
    return f"{path[-1] + 1}" if path and isinstance(path[-1], int) else "?"


def _with_defaults(value: Mapping[str, Any], defaults: Mapping[str, Any]) -> Mapping[str, Any]:
    if not defaults:
        return value
    merged = {**defaults, **value}
    if isinstance(defaults.get("match"), Mapping) and isinstance(value.get("match"), Mapping):
        merged["match"] = {**defaults["match"], **value["match"]}
    # one way of saying what is asked, or what would be right, replaces a default said in another way
    for family in (("path", "paths"), ("query", "messages")):
        if any(key in value for key in family):
            for key in family:
                if key not in value:
                    merged.pop(key, None)
    return merged


def _task(section: Section, document: Document, path: Steps) -> Task:
    identity = section.text("id", required=True, allow_number=True)
    kind = section.choice("kind", KINDS, "must", {"required": "must", "optional": "may", "never": "forbid"})
    if section.raw("kind") is None:
        section.refuse("kind", "is missing", f"add `kind: {' | '.join(KINDS)}`")
    messages = _messages(section)
    query, turns, paths = _conversation(section, messages)
    tags = section.texts("tags", numbers=True)
    task = Task(
        id=identity,
        kind=cast(TaskKind, kind),
        query=query,
        messages=messages,
        turns=turns,
        tags=tags,
        language=section.text("language") if section.has("language") else language_of(query),
        now=section.text("now"),
        context=_context(section),
        state_slots=_state_slots(section),
        paths=paths,
        order=cast(
            OrderMode, section.choice("order", ORDERS, "in_order", {"any": "any_order", "strict": "exact"})
        ),
        forbid=section.texts("forbid"),
        max_extra=section.whole("max_extra", None, minimum=0, allow_null=True),
        match=read_match(section.section("match")),
        results=_results(section),
        tools=section.texts("tools"),
        environment=section.mapping("environment"),
        metadata=section.mapping("metadata"),
        review=section.flag("review", False),
        source=document.source,
        line=document.line(path),
    )
    _check_now(section, task.now)
    return task


def _check_now(section: Section, now: str) -> None:
    from datetime import datetime

    if not now:
        return
    try:
        datetime.fromisoformat(now)
    except ValueError:
        section.refuse(
            "now", f"must be a date and time in ISO form, not {shown(now)}", "2025-12-10T10:00:00+08:00"
        )


# --- what is asked


def _messages(section: Section) -> tuple[Mapping[str, Any], ...]:
    value = section.raw("messages")
    if value is None:
        return ()
    if not isinstance(value, (list, tuple)) or not value:
        section.refuse(
            "messages", f"must be a list of messages, not {shown(value)}", "[{role: user, content: ...}]"
        )
        return ()
    section.check_finite("messages", value)
    good = []
    for index, message in enumerate(value):
        if not isinstance(message, Mapping):
            section.refuse(
                "messages", f"must be a mapping, not {shown(message)}", "{role: user, content: ...}", index
            )
        elif message.get("role") not in ROLES:
            said = shown(message.get("role"))
            section.refuse("messages", f"must be one of {', '.join(ROLES)}, not {said}", "", index, "role")
        else:
            good.append(dict(message))
    if good and not any(message["role"] == "user" for message in good):
        section.refuse("messages", "has no message of the user", "add {role: user, content: ...}")
    return tuple(good)


def message_text(message: Mapping[str, Any]) -> str:
    """The text of a message in OpenAI form, its text parts joined by line breaks."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    if not isinstance(content, Sequence):
        return ""
    parts = [
        part if isinstance(part, str) else part.get("text")
        for part in content
        if isinstance(part, (str, Mapping))
    ]
    return "\n".join(part for part in parts if isinstance(part, str))


def _conversation(
    section: Section, messages: tuple[Mapping[str, Any], ...]
) -> tuple[str, tuple[ScriptedTurn, ...], tuple[GoldenPath, ...]]:
    """Query, all user turns (the first included) and the golden paths over all of them."""
    later = [_turn(turn) for turn in section.sections("turns", synonyms=_TURN_SYNONYMS)]
    own = _paths(section)
    query = section.text("query", allow_number=True)
    if query and messages:
        section.refuse(
            "query", "stands beside `messages`: one of them must say what is asked", "remove one of the two"
        )
    if messages:
        query = next(
            (message_text(message) for message in reversed(messages) if message["role"] == "user"), ""
        )
    if not query and not later:
        if section.raw("messages") is None:
            section.refuse("query", "is missing or empty", "add `query`, `messages` or `turns`")
        return "", (), own
    if not later:
        return query, (), own
    if not query:
        if own and any(turn.paths for turn in later):
            section.refuse(
                "path", "is given for the task and for its turns", "give it in one of the two places"
            )
        turns = later
        if len(turns) == 1:
            return turns[0].user, (), own or turns[0].paths
    else:
        by_turn = any(turn.paths for turn in later)
        turns = [ScriptedTurn(user=query, paths=own if by_turn else ()), *later]
        own = () if by_turn else own
    return turns[0].user, tuple(turns), own or _combined(section, turns)


def _turn(section: Section) -> ScriptedTurn:
    turn = ScriptedTurn(user=section.text("user", required=True, allow_number=True), paths=_paths(section))
    section.finish("path", "paths")
    return turn


def _combined(section: Section, turns: Sequence[ScriptedTurn]) -> tuple[GoldenPath, ...]:
    """The paths over all turns: one alternative of each turn after the other."""
    if not any(turn.paths for turn in turns):
        return ()
    count = 1
    for turn in turns:
        count *= max(1, len(turn.paths))
    if count > MAX_PATHS:
        section.refuse(
            "turns", f"have {count} combined paths, more than {MAX_PATHS}", "give fewer alternatives per turn"
        )
        return ()
    return tuple(
        GoldenPath(stages=tuple(stage for part in parts for stage in part.stages))
        for parts in product(*(turn.paths or (GoldenPath(),) for turn in turns))
    )


# --- what would be right


def _paths(section: Section) -> tuple[GoldenPath, ...]:
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
    from agent_reach.records.trace import ERROR_KINDS

    kind = section.choice("error_kind", ERROR_KINDS, "")
    value = section.raw("error")
    if isinstance(value, Mapping):
        inner = section.section("error", synonyms={"type": "kind", "text": "message"})
        kind = inner.choice("kind", ERROR_KINDS, kind)
        message = inner.text("message")
        inner.finish()
        return message or kind, kind
    return section.text("error"), kind


def _results(section: Section) -> tuple[RecordedResult, ...]:
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


# --- what is given


def _context(section: Section) -> tuple[ContextBlock, ...]:
    blocks: list[ContextBlock] = []
    seen: set[str] = set()
    for index, entry in enumerate(section.sections("context", synonyms=_BLOCK_SYNONYMS)):
        block = _block(entry, index)
        if block.id in seen:
            entry.refuse(
                "id", f"{block.id!r} is the id of another block of this task", "give each block its own id"
            )
        seen.add(block.id)
        blocks.append(block)
    return tuple(blocks)


def _block(entry: Section, index: int) -> ContextBlock:
    value = entry.raw("value")
    entry.check_finite("value", value)
    has_text = entry.raw("text") is not None
    if not has_text and value is None and entry.values:
        entry.refuse("text", "is missing", "add `text: ...`")
    text = (
        entry.text("text", allow_number=True)
        if has_text
        else json.dumps(value, ensure_ascii=False, default=str)
    )
    if entry.raw("kind") is None and entry.values:
        entry.refuse("kind", "is missing", f"add `kind: {' | '.join(BLOCK_KINDS)}`")
    block = ContextBlock(
        id=entry.text("id", allow_number=True) or f"block_{index + 1}",
        kind=cast(
            BlockKind,
            entry.choice("kind", BLOCK_KINDS, "instruction", {"rag": "retrieval", "doc": "retrieval"}),
        ),
        text=text,
        partition=entry.text("partition"),
        facts=entry.texts("facts", numbers=True),
        score=entry.number("score", None, allow_null=True),
        call_id=entry.text("call_id", allow_number=True),
        from_step=entry.whole("from_step", -1, minimum=-1),
        value=value,
    )
    entry.finish()
    return block


def _state_slots(section: Section) -> tuple[StateSlot, ...]:
    value = section.raw("state_slots")
    if isinstance(value, Mapping):
        slots = section.text_mapping("state_slots")
        return tuple(StateSlot(name=name, source=source) for name, source in slots.items())
    found: list[StateSlot] = []
    for entry in section.sections("state_slots", synonyms={"source": "from", "path": "from"}):
        filled = entry.has("value")
        entry.check_finite("value", entry.raw("value"))
        slot = StateSlot(
            name=entry.text("name", required=True),
            source=entry.text("from", required=not filled),
            value=entry.raw("value"),
            filled=filled,
            metadata=entry.mapping("metadata"),
        )
        if any(other.name == slot.name for other in found):
            entry.refuse(
                "name", f"{slot.name!r} is the name of another slot of this task", "give each its own name"
            )
        found.append(slot)
        entry.finish()
    return tuple(found)
