"""Tool calls that arrive in pieces, put together again.

Endpoints disagree about `index`: some leave it out, some send 0 for every call, some repeat the name with every piece.
The rule here needs none of them: a new id, a new name after finished arguments, or text behind a completed top-level
object starts a new call.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class _Assembling:
    index: int
    identifier: str = ""
    name: str = ""
    arguments: str = ""
    extra: dict[str, Any] = field(default_factory=dict)
    depth: int = 0
    in_string: bool = False
    escaped: bool = False

    @property
    def is_complete(self) -> bool:
        """A top-level object has begun and is closed."""
        return self.depth == 0 and not self.in_string and self.arguments.rstrip().endswith("}")

    def feed(self, text: str) -> str:
        """Take text up to the end of the top-level object; what stands behind it is returned."""
        for position, character in enumerate(text):
            if self.is_complete and not character.isspace():
                return text[position:]
            self.arguments += character
            if self.in_string:
                if self.escaped:
                    self.escaped = False
                elif character == "\\":
                    self.escaped = True
                elif character == '"':
                    self.in_string = False
            elif character == '"':
                self.in_string = True
            elif character in "{[":
                self.depth += 1
            elif character in "}]":
                self.depth = max(0, self.depth - 1)
        return ""


class StreamAssembler:
    """Collects the `delta` objects of a streamed chat completion into one message."""

    def __init__(self) -> None:
        self._calls: list[_Assembling] = []
        self._text: list[str] = []
        self._reasoning: dict[str, list[str]] = {}
        self._legacy: _Assembling | None = None

    def add(self, delta: Mapping[str, Any]) -> None:
        """Take the next `choices[0].delta`."""
        content = delta.get("content")
        if isinstance(content, str):
            self._text.append(content)
        for key in ("reasoning_content", "reasoning"):
            if isinstance(delta.get(key), str):
                self._reasoning.setdefault(key, []).append(delta[key])
        legacy = delta.get("function_call")
        if isinstance(legacy, Mapping):
            if self._legacy is None:
                self._legacy = _Assembling(index=0)
            self._legacy.name += str(legacy.get("name") or "")
            self._legacy.arguments += str(legacy.get("arguments") or "")
        for piece in delta.get("tool_calls") or ():
            if isinstance(piece, Mapping):
                self.add_call(piece)

    def add_call(self, piece: Mapping[str, Any]) -> None:
        """Take one element of `delta.tool_calls`."""
        function = piece.get("function")
        function = function if isinstance(function, Mapping) else {}
        identifier = str(piece.get("id") or "")
        name = str(function.get("name") or "")
        arguments = function.get("arguments")
        if isinstance(arguments, Mapping):
            arguments = json.dumps(arguments, ensure_ascii=False)
        call = self._owner(piece.get("index"), identifier, name)
        if identifier:
            call.identifier = identifier
        if name and name != call.name:
            call.name += name
        call.extra.update(
            {key: value for key, value in piece.items() if key not in ("index", "id", "type", "function")}
        )
        rest = call.feed(arguments) if isinstance(arguments, str) else ""
        while rest:
            if call.arguments.strip() == "{}" and not name:
                call.arguments = ""
            else:
                call = _Assembling(index=call.index, name=call.name)
                self._calls.append(call)
            before = rest
            rest = call.feed(rest)
            if rest == before:
                call.arguments += rest
                break

    def _owner(self, index: Any, identifier: str, name: str) -> _Assembling:
        number = index if isinstance(index, int) else None
        if identifier and number is None:
            for call in self._calls:
                if call.identifier == identifier and not (name and call.is_complete):
                    return call
        current = next(
            (call for call in reversed(self._calls) if number is None or call.index == number), None
        )
        if current is None or self._starts_new(current, identifier, name):
            current = _Assembling(index=number if number is not None else len(self._calls))
            self._calls.append(current)
        return current

    @staticmethod
    def _starts_new(current: _Assembling, identifier: str, name: str) -> bool:
        if identifier and current.identifier and identifier != current.identifier:
            return True
        return (
            bool(name)
            and current.is_complete
            and not (identifier and identifier == current.identifier and name == current.name)
        )

    def message(self) -> dict[str, Any]:
        """The whole assistant message in the form of an unstreamed one."""
        message: dict[str, Any] = {"role": "assistant", "content": "".join(self._text) or None}
        for key, parts in self._reasoning.items():
            message[key] = "".join(parts)
        if self._legacy is not None:
            message["function_call"] = {"name": self._legacy.name, "arguments": self._legacy.arguments}
        if self._calls:
            message["tool_calls"] = [
                {
                    **call.extra,
                    "id": call.identifier,
                    "type": "function",
                    "function": {"name": call.name, "arguments": call.arguments},
                }
                for call in self._calls
            ]
        return message


def assemble_calls(pieces: list[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The finished `tool_calls` of a list of streamed pieces."""
    assembler = StreamAssembler()
    for piece in pieces:
        assembler.add_call(piece)
    return list(assembler.message().get("tool_calls") or [])
