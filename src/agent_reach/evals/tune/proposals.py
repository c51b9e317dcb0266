"""What a proposal is, and how small pieces of overlay are put together.

A proposal never says anything about the user's sources: it is a piece of overlay, or a setting of the run.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agent_reach.records.message import Message
from agent_reach.records.tool import Tool


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """One change. `patch` is a piece of overlay; `hide` tools that are no longer offered; `candidates` how many the reach
    layer offers; `tasks` are the tasks whose failure asks for it (empty: lint asks). `parts` are proposals that are tried
    together and may be dropped one by one afterwards."""

    name: str
    kind: str
    why: Message
    patch: Mapping[str, Any] = field(default_factory=dict)
    hide: tuple[str, ...] = ()
    candidates: int | None = None
    tasks: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    parts: tuple[Proposal, ...] = ()


def together(kind: str, words: Message, parts: Sequence[Proposal]) -> Proposal:
    """Several proposals of one kind as one: single changes are often too few for any held-back task to speak of them."""
    return Proposal(
        name=f"{kind} together",
        kind="bundle",
        why=words,
        patch=merged(part.patch for part in parts),
        tasks=tuple(dict.fromkeys(task for part in parts for task in part.tasks)),
        tools=tuple(dict.fromkeys(tool for part in parts for tool in part.tools)),
        parts=tuple(parts),
    )


def merged(documents: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """One overlay document out of several: mappings are joined, lists keep each item once, of two other values the later
    one wins."""
    whole: dict[str, Any] = {}
    for document in documents:
        _merge(whole, document)
    return whole


def _merge(target: dict[str, Any], addition: Mapping[str, Any]) -> None:
    for key, value in addition.items():
        known = target.get(key)
        if isinstance(value, Mapping) and isinstance(known, dict):
            _merge(known, value)
        elif isinstance(value, (list, tuple)) and isinstance(known, list):
            known.extend(item for item in value if item not in known)
        else:
            target[key] = copy.deepcopy(_plain(value))


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, (list, tuple)) else value


def note_patch(tool: Tool, **parts: Any) -> dict[str, Any]:
    """A piece of overlay for the tool's note; an overlay's triggers replace those of the source, so known ones come along."""
    note = dict(parts)
    if "triggers" in note and tool.note is not None:
        note["triggers"] = list(dict.fromkeys([*tool.note.triggers, *note["triggers"]]))
    return {"tools": {tool.key: {"note": note}}}


def hint_patch(tool: Tool, name: str, **fields: Any) -> dict[str, Any]:
    """A piece of overlay for one parameter; a hint replaces a known one, so what that says comes along."""
    known = tool.note.param_hints.get(name) if tool.note is not None else None
    hint: dict[str, Any] = {}
    if known is not None:
        hint = {
            "names": list(known.names),
            "values": {value: list(words) for value, words in known.values.items()},
            "format": known.format,
            "example": known.example,
            "fill": known.fill,
        }
        hint = {key: value for key, value in hint.items() if value not in (None, "", [], {})}
    _merge(hint, fields)
    return note_patch(tool, param_hints={name: hint})
