"""Text that should be JSON: where it was cut, and what in it no JSON value can be (NaN, half a surrogate pair, `\\x`).

Both readers of arguments stand on it: the exact one of this folder, and the one of the reach layer that mends more. It
changes nothing.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any

from agent_reach.text.pointers import escape_pointer

_LENGTH_REASONS = frozenset({"length", "max_tokens", "max_output_tokens", "model_length"})
_FENCE = re.compile(r"\A\s*(?:```|~~~)[\w+-]*[ \t]*\n?(.*?)\n?\s*(?:```|~~~)\s*\Z", re.DOTALL)
_LONE_SURROGATE = re.compile(
    r"(?<!\\)(?:\\\\)*(\\u(?:[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])|[dD][c-fC-F][0-9a-fA-F]{2}))"
)


def stopped_at_limit(finish_reason: str) -> bool:
    """True if a finish reason says that the model stopped at its output limit."""
    return finish_reason.lower() in _LENGTH_REASONS


def inside_fence(text: str) -> str | None:
    """What stands in a Markdown code fence that is the whole text; None where there is none."""
    fenced = _FENCE.match(text)
    return fenced.group(1).strip() if fenced else None


def is_cut(text: str) -> bool:
    """True if the text ends inside a string, or with brackets still open."""
    brackets, in_string = outer_brackets(text)
    return in_string or sum(1 if bracket in "{[" else -1 for bracket in brackets) > 0


def outer_brackets(text: str) -> tuple[str, bool]:
    """The brackets outside strings in their order, and whether the text ends inside a string."""
    found: list[str] = []
    quote = ""
    index = 0
    while index < len(text):
        character = text[index]
        if quote:
            if character == "\\":
                index += 1
            elif character == quote:
                quote = ""
        elif character == '"' or (character == "'" and _opens_string(text, index)):
            quote = character
        elif character in "{[]}":
            found.append(character)
        index += 1
    return "".join(found), bool(quote)


def _opens_string(text: str, index: int) -> bool:
    """A single quote opens a string only where a value or key may begin."""
    before = text[:index].rstrip()
    return not before or before[-1] in "{[,:("


def bad_escape(text: str) -> str:
    """What is wrong with the first escape that JSON does not know, or with half a surrogate pair; empty for nothing."""
    in_string = False
    index = 0
    while index < len(text):
        character = text[index]
        if character == '"':
            in_string = not in_string
        elif character == "\\" and in_string:
            following = text[index + 1 : index + 2]
            known = following in ('"', "\\", "/", "b", "f", "n", "r", "t") and following != ""
            if following == "u":
                known = bool(re.match(r"u[0-9a-fA-F]{4}", text[index + 1 : index + 6]))
            rest_is_cut = index + (6 if following == "u" else 2) > len(text)
            if not known and not rest_is_cut:
                return f"bad escape {text[index : index + 6]!r} at character {index}; send the literal text"
            index += 1
        index += 1
    lone = _LONE_SURROGATE.search(text)
    if lone and not _is_second_half(text, lone.start(1)) and not _may_continue(text[lone.end(1) :]):
        return f"half of a surrogate pair {lone.group(1)!r} at character {lone.start(1)}; send the character itself"
    return ""


def _is_second_half(text: str, start: int) -> bool:
    return bool(
        re.match(r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F]", text[max(0, start - 6) : start + 4])
    )


def _may_continue(rest: str) -> bool:
    """The text ends before the second half of the pair could be written out."""
    return bool(re.fullmatch(r"(\\(u([dD]([c-fC-F][0-9a-fA-F]?)?)?)?)?", rest))


def surrogate_pointer(value: Any, pointer: str = "") -> str | None:
    """The JSON pointer of the first string that UTF-8 cannot carry; None when there is none."""
    if isinstance(value, str):
        return pointer if any("\ud800" <= character <= "\udfff" for character in value) else None
    items: Any = ()
    if isinstance(value, Mapping):
        for key in value:
            if surrogate_pointer(key) is not None:
                return pointer
        items = value.items()
    elif isinstance(value, (list, tuple)):
        items = enumerate(value)
    for key, item in items:
        found = surrogate_pointer(item, f"{pointer}/{escape_pointer(key)}")
        if found is not None:
            return found
    return None


class NotFiniteError(ValueError):
    """A number that JSON cannot carry: NaN or an infinity."""


def refuse_constant(name: str) -> Any:
    """What a JSON parser does with `NaN` and `Infinity`: raises `NotFiniteError`."""
    raise NotFiniteError(f"{name} is no JSON number")


def finite_number(text: str) -> float:
    """The number that the text writes; raises `NotFiniteError` for one that is too large."""
    value = float(text)
    if not math.isfinite(value):
        raise NotFiniteError(f"the number {text[:40]} is too large")
    return value


JSON_DECODER = json.JSONDecoder(parse_constant=refuse_constant, parse_float=finite_number)
"""Standard JSON without NaN and infinities."""
