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
from agent_reach.evals.suite.reading_context import read_context, read_state_slots
from agent_reach.evals.suite.reading_golds import read_match, read_paths, read_results
from agent_reach.records.task import GoldenPath, OrderMode, ScriptedTurn, Task, TaskKind

KINDS = ("must", "may", "forbid")
ORDERS = ("in_order", "any_order", "exact")
ROLES = ("system", "developer", "user", "assistant", "tool", "function")
MAX_PATHS = 256
"""Turns with alternatives multiply; more combined paths than this are refused."""

_ASKED = ("id", "kind", "query", "messages", "turns", "tags", "language", "now", "context", "state_slots")
_WANTED = ("path", "paths", "order", "forbid", "max_extra", "match", "results")
TASK_KEYS = (*_ASKED, *_WANTED, "tools", "environment", "metadata", "review")
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
    _refuse_half_characters(merged, title, document, path, problems)
    return task if len(problems.found) == before else None


def _refuse_half_characters(
    value: Mapping[str, Any], title: str, document: Document, path: Steps, problems: Problems
) -> None:
    """Half of a surrogate pair can be sent to no model and written to no file."""
    from agent_reach.calls.json_text import surrogate_pointer

    try:
        json.dumps(value, ensure_ascii=False, default=str).encode("utf-8")
    except UnicodeEncodeError:
        pointer = surrogate_pointer(value)
        problems.add(
            document.where(path),
            f"{title}: {pointer or 'a key'} holds half of a surrogate pair",
            "write the character itself",
        )
    except (TypeError, ValueError, RecursionError):
        return


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
        context=read_context(section),
        state_slots=read_state_slots(section),
        paths=paths,
        order=cast(
            OrderMode, section.choice("order", ORDERS, "in_order", {"any": "any_order", "strict": "exact"})
        ),
        forbid=section.texts("forbid"),
        max_extra=section.whole("max_extra", None, minimum=0, allow_null=True),
        match=read_match(section.section("match")),
        results=read_results(section),
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
    own = read_paths(section)
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
    turn = ScriptedTurn(
        user=section.text("user", required=True, allow_number=True), paths=read_paths(section)
    )
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
