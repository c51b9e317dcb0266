"""A reader for almost-JSON whose meaning is certain: Python literals, single or curly quotes, trailing commas, comments.

It never guesses: text that ends early is `truncated`, a bad escape or a lone surrogate is refused with its position, and
whole numbers keep every digit.
"""

from __future__ import annotations

import json
import re
from typing import Any

from agent_reach.calls.json_text import NotFiniteError, finite_number, refuse_constant, surrogate_pointer

_NUMBER = re.compile(r"[+-]?(?:\d+(?:_\d+)*)(?:\.\d+)?(?:[eE][+-]?\d+)?")
_WORD = re.compile(r"[A-Za-z_$][\w$.-]*|[\u4e00-\u9fff][\w]*")
_BLANK = re.compile(r"(?:\s|//[^\n]*|/\*.*?\*/|#[^\n]*)*", re.S)
_CONSTANTS = {"true": True, "True": True, "false": False, "False": False, "null": None, "None": None}
_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "'": "'"}
_QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’", "”": "”"}
_MAX_DEPTH = 100


class ParseTrouble(Exception):
    """Why a text cannot be read: `code` is `truncated` or `unparsable`, `position` a character offset."""

    def __init__(self, code: str, message: str, position: int) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.position = position


def strict_json(text: str) -> Any:
    """Standard JSON with exact integers; NaN, repeated names with different values and lone surrogates are refused."""
    try:
        value = json.loads(
            text, parse_constant=refuse_constant, parse_float=finite_number, object_pairs_hook=_pairs
        )
    except NotFiniteError as error:
        raise ParseTrouble("unparsable", str(error), 0) from error
    except RecursionError as error:
        raise ParseTrouble("unparsable", "nested too deeply", 0) from error
    _refuse_lone_surrogates(text, value)
    return value


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for key, value in pairs:
        if key in made and made[key] != value:
            raise ParseTrouble("ambiguous", f"{key!r} is given twice with different values", 0)
        made[key] = value
    return made


def _refuse_lone_surrogates(text: str, value: Any) -> None:
    if "\\u" not in text and not any("\ud800" <= character <= "\udfff" for character in text):
        return
    if surrogate_pointer(value) is not None:
        found = re.search(r"\\u[dD][89a-fA-F][0-9a-fA-F]{2}|[\ud800-\udfff]", text)
        position = found.start() if found else 0
        raise ParseTrouble(
            "unparsable",
            f"half a surrogate pair at character {position}: send the character itself",
            position,
        )


def relaxed_json(text: str) -> tuple[Any, int]:
    """The value at the beginning of the text, and where it ends; raises `ParseTrouble`."""
    reader = _Reader(text)
    reader.blank()
    value = reader.value(0)
    _refuse_lone_surrogates(text, value)
    return value, reader.position


class _Reader:
    """A recursive reader with one position."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0

    def blank(self) -> None:
        found = _BLANK.match(self.text, self.position)
        if found is not None:
            self.position = found.end()

    def peek(self) -> str:
        if self.position >= len(self.text):
            raise ParseTrouble("truncated", "the arguments end in the middle", self.position)
        return self.text[self.position]

    def value(self, depth: int) -> Any:
        if depth > _MAX_DEPTH:
            raise ParseTrouble("unparsable", "nested too deeply", self.position)
        character = self.peek()
        if character == "{":
            return self.mapping(depth)
        if character in "[(":
            return self.sequence(depth, "]" if character == "[" else ")")
        if character in _QUOTES:
            return self.string()
        number = _NUMBER.match(self.text, self.position)
        if number is not None:
            return self.number(number)
        word = _WORD.match(self.text, self.position)
        if word is not None and word[0] in _CONSTANTS:
            self.position = word.end()
            return _CONSTANTS[word[0]]
        if (
            word is not None
            and word.end() == len(self.text)
            and any(k.startswith(word[0]) for k in _CONSTANTS)
        ):
            raise ParseTrouble("truncated", "the arguments end in the middle", len(self.text))
        raise ParseTrouble(
            "unparsable", f"{self.text[self.position : self.position + 12]!r} is no value", self.position
        )

    def number(self, found: re.Match[str]) -> int | float:
        end = found.end()
        following = self.text[end : end + 1]
        if following and (following.isalnum() or following in "._"):
            raise ParseTrouble(
                "unparsable", f"{self.text[found.start() : end + 6]!r} is no number", found.start()
            )
        self.position = end
        digits = found[0].replace("_", "")
        if re.fullmatch(r"[+-]?\d+", digits):
            return int(digits)
        try:
            return finite_number(digits)
        except NotFiniteError as error:
            raise ParseTrouble("unparsable", str(error), found.start()) from error

    def string(self) -> str:
        opening = self.text[self.position]
        closing = _QUOTES[opening]
        parts: list[str] = []
        index = self.position + 1
        while index < len(self.text):
            character = self.text[index]
            if character == closing:
                self.position = index + 1
                return "".join(parts)
            if character == "\\":
                piece, index = self.escape(index)
                parts.append(piece)
            else:
                parts.append(character)
                index += 1
        raise ParseTrouble("truncated", "a string is not closed", len(self.text))

    def escape(self, index: int) -> tuple[str, int]:
        following = self.text[index + 1 : index + 2]
        if not following:
            raise ParseTrouble("truncated", "the arguments end in an escape", index)
        if following in _ESCAPES:
            return _ESCAPES[following], index + 2
        if following == "u":
            digits = self.text[index + 2 : index + 6]
            if re.fullmatch(r"[0-9a-fA-F]{4}", digits):
                return self.unicode_escape(index, int(digits, 16))
            if len(digits) < 4 and index + 2 + len(digits) == len(self.text):
                raise ParseTrouble("truncated", "the arguments end in an escape", index)
        shown = self.text[index : index + 2 + (4 if following == "u" else 0)]
        raise ParseTrouble(
            "unparsable", f"bad escape {shown!r} at character {index}: send the character itself", index
        )

    def unicode_escape(self, index: int, code: int) -> tuple[str, int]:
        if 0xD800 <= code < 0xDC00:
            low = re.match(r"\\u([dD][c-fC-F][0-9a-fA-F]{2})", self.text[index + 6 : index + 12])
            if low is not None:
                return chr(0x10000 + ((code - 0xD800) << 10) + int(low[1], 16) - 0xDC00), index + 12
        return chr(code), index + 6

    def sequence(self, depth: int, closing: str) -> list[Any]:
        self.position += 1
        items: list[Any] = []
        while True:
            self.blank()
            if self.peek() == closing:
                self.position += 1
                return items
            items.append(self.value(depth + 1))
            self.comma(closing)

    def comma(self, closing: str) -> None:
        self.blank()
        character = self.peek()
        if character in ",，":
            self.position += 1
        elif character != closing:
            raise ParseTrouble(
                "unparsable", f"expected a comma or {closing!r} at character {self.position}", self.position
            )

    def mapping(self, depth: int) -> dict[str, Any]:
        self.position += 1
        made: dict[str, Any] = {}
        while True:
            self.blank()
            if self.peek() == "}":
                self.position += 1
                return made
            key = self.key()
            self.blank()
            if self.peek() not in ":：":
                raise ParseTrouble(
                    "unparsable", f"expected a colon at character {self.position}", self.position
                )
            self.position += 1
            self.blank()
            value = self.value(depth + 1)
            if key in made and made[key] != value:
                raise ParseTrouble(
                    "ambiguous", f"{key!r} is given twice with different values", self.position
                )
            made[key] = value
            self.comma("}")

    def key(self) -> str:
        if self.peek() in _QUOTES:
            return self.string()
        word = _WORD.match(self.text, self.position) or re.compile(r"\d+").match(self.text, self.position)
        if word is None:
            raise ParseTrouble("unparsable", f"no name at character {self.position}", self.position)
        self.position = word.end()
        return word[0]
