"""Traces as JSON without secrets: what a writer keeps of a record.

Names, numbers and states of a record stay what they are; everything that came from a user, a model or a tool is masked by
its name, form or place. A value that was masked for its name or place is masked wherever else the same trace says it, too,
if it is long enough to be no ordinary word.
"""

from __future__ import annotations

import dataclasses
import json
import re
import typing
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from agent_reach.records.codec import to_json
from agent_reach.records.message import Message
from agent_reach.records.trace import ArgumentChange, ArgumentProblem, Call, CallOutcome, Trace
from agent_reach.redact.places import Place
from agent_reach.redact.redactor import Redactor
from agent_reach.text.pointers import unescape_pointer

_RESULTS = frozenset({"value", "text", "message"})
_ARGUMENTS = frozenset({"arguments", "sent_arguments", "raw_arguments"})
_LEAST, _PLAIN = 6, 12
"""A masked value is looked for elsewhere if it has six characters and a digit, or twelve."""


def redacted_json(record: Any, redactor: Redactor) -> Any:
    """A record as JSON values, masked; fields that hold their default are left out, as in `to_json`."""
    learning = _Learning(redactor)
    found = _Walk(learning, record).record(record, ())
    return _Walk(learning, record).record(record, ()) if learning.has_learned() else found


class _Learning(Redactor):
    """A redactor that remembers what it masked for its name or place, and masks it anywhere once it `has_learned`."""

    def __init__(self, base: Redactor) -> None:
        self.__dict__.update(base.__dict__)
        self._seen: dict[str, str] = {}
        self._learned: re.Pattern[str] | None = None

    def has_learned(self) -> bool:
        """Take what was seen into use; False when that is nothing."""
        if not self._seen:
            return False
        forms = {json.dumps(text, ensure_ascii=False)[1:-1]: mask for text, mask in self._seen.items()}
        self._seen = {**forms, **self._seen}
        longest_first = sorted(self._seen, key=len, reverse=True)
        self._learned = re.compile("|".join(map(re.escape, longest_first)))
        return True

    def masked(self, value: Any, *, remove: bool = False) -> Any:
        """See `Redactor.masked`."""
        found = super().masked(value, remove=remove)
        if isinstance(value, (str, int, float)) and found != value and self._learned is None:
            text = str(value)
            if len(text) >= _PLAIN or (len(text) >= _LEAST and any(map(str.isdigit, text))):
                self._seen[text] = found
        return found

    def text(self, text: str) -> str:
        """See `Redactor.text`."""
        if self._learned is not None:
            text = self._learned.sub(lambda match: self._seen[match.group()], text)
        return super().text(text)

    def value(self, value: Any, *, key: str = "", place: Place = ()) -> Any:
        """See `Redactor.value`."""
        found = super().value(value, key=key, place=place)
        is_number = isinstance(found, (int, float)) and not isinstance(found, bool)
        return self._seen.get(str(found), found) if is_number and self._learned is not None else found


class _Walk:
    """Walks a record along its fields."""

    def __init__(self, redactor: Redactor, root: Any) -> None:
        self._redactor = redactor
        self._tool_of: dict[str, str] = {}
        if isinstance(root, Trace):
            self._tool_of = {call.call_id: call.tool or call.name for call in root.calls if call.call_id}

    def record(self, record: Any, place: Place) -> dict[str, Any]:
        if isinstance(record, Message):
            return {"en": self._redactor.text(record.en), "zh": self._redactor.text(record.zh)}
        if isinstance(record, (ArgumentChange, ArgumentProblem)):
            return self._at_pointer(record, place)
        return {
            name: self._field(record, name, value, (*place, name), kind)
            for name, value, kind in _given(record)
        }

    def _field(self, record: Any, name: str, value: Any, place: Place, kind: str) -> Any:
        if kind == "fixed":
            return to_json(value)
        if isinstance(record, Call):
            tool = record.tool or record.name
            place = (tool, "arguments") if name in _ARGUMENTS or name in ("changes", "problems") else place
            place = (tool, "result") if name == "outcome" else place
        elif isinstance(record, CallOutcome):
            place = place[:-1] if name in _RESULTS else place
        elif name in ("text", "value") and (answered := self._tool_of.get(getattr(record, "call_id", ""))):
            place = (answered, "result")
        key = str(getattr(record, "name", "")) if kind == "free" and name == "value" else ""
        return self._any(value, place, kind, key)

    def _any(self, value: Any, place: Place, kind: str, key: str = "") -> Any:
        if dataclasses.is_dataclass(value) or isinstance(value, Message):
            return self.record(value, place)
        if kind == "free":
            return self._redactor.value(to_json(value), key=key, place=place)
        if isinstance(value, str):
            return self._redactor.value(value, place=place)
        if isinstance(value, Mapping):
            return {
                self._redactor.text(str(name)): self._any(item, place, kind) for name, item in value.items()
            }
        if isinstance(value, (tuple, list, set, frozenset)):
            items = sorted(value) if isinstance(value, (set, frozenset)) else value
            return [self._any(item, place, kind) for item in items]
        return to_json(value)

    def _at_pointer(self, record: Any, place: Place) -> dict[str, Any]:
        """A change or problem of an argument: its values stand where its pointer says."""
        steps = [unescape_pointer(step) for step in record.pointer.split("/")[1:]]
        named = [step for step in steps if not step.isdigit()]
        secret = next((step for step in named if self._redactor.is_secret_key(step)), "")
        place = (*place, *named)
        found: dict[str, Any] = {}
        for name, value, kind in _given(record):
            if name in ("rule", "code", "pointer", "source") or kind == "fixed":
                found[name] = self._redactor.text(value) if isinstance(value, str) else to_json(value)
            else:
                found[name] = self._redactor.value(to_json(value), key=secret, place=place)
        return found


def _given(record: Any) -> Iterator[tuple[str, Any, str]]:
    """The fields of a record that do not hold their default, with their kind."""
    for name, default, kind in _kinds(record.__class__):
        value = getattr(record, name)
        if default is dataclasses.MISSING or value != default:
            yield name, value, kind


@cache
def _kinds(record: type[Any]) -> tuple[tuple[str, Any, str], ...]:
    """Name, default and kind of each field: `fixed` (numbers and words of a fixed list), `text`, or `free` (any JSON)."""
    hints = typing.get_type_hints(record)
    found = []
    for field in dataclasses.fields(record):
        default: Any = field.default
        if field.default_factory is not dataclasses.MISSING:
            default = field.default_factory()
        found.append((field.name, default, _kind(hints[field.name])))
    return tuple(found)


def _kind(hint: Any) -> str:
    parts = [part for part in typing.get_args(hint) if part is not type(None)]
    if typing.get_origin(hint) is typing.Literal or hint in (int, float, bool):
        return "fixed"
    if hint is Any or (typing.get_origin(hint) is not None and Any in parts):
        return "free"
    kinds = {_kind(part) for part in parts if part is not Ellipsis}
    if not kinds:
        return "text"
    return "fixed" if kinds == {"fixed"} else "free" if "free" in kinds else "text"
