"""JSON and JSON Lines text as values with lines; what Python's parser lets pass (NaN, keys written twice) is refused."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from agent_reach.config.located import Document, Steps
from agent_reach.config.problems import Problems
from agent_reach.errors import ConfigError, InputError


class _RefusedJson(ValueError):
    """A JSON text that the standard parser would take, but that cannot be what was meant; `needle` finds it again."""

    def __init__(self, message: str, needle: str) -> None:
        super().__init__(message)
        self.needle = needle


def _unique_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        needle = re.escape(json.dumps(twice, ensure_ascii=False)) + r"\s*:"
        raise _RefusedJson(f"the key {twice!r} is written twice in one object", needle)
    return found


def _refuse_constant(name: str) -> Any:
    raise _RefusedJson(f"{name} is not JSON: numbers must be finite", re.escape(name))


@cache
def _decoder() -> json.JSONDecoder:
    return json.JSONDecoder(object_pairs_hook=_unique_pairs, parse_constant=_refuse_constant)


def parse_json(text: str, source: str = "", *, error: type[InputError] = ConfigError) -> Document:
    """The document in JSON text; lines are known for the root and for the items of a top-level list (or of the
    list under a top-level `tasks`, `tools` or other key) as far as they can be found cheaply."""
    value = _decode(text, source, error, 1)
    return Document(value=value, source=source, lines=_item_lines(text, value))


def _decode(text: str, source: str, error: type[InputError], first_line: int) -> Any:
    try:
        return _decoder().decode(text)
    except json.JSONDecodeError as cause:
        line = first_line + cause.lineno - 1
        place = f"{source}:{line}:{cause.colno}" if source else f"line {line}, column {cause.colno}"
        raise error(
            f"not valid JSON: {cause.msg}", where=place, next_step="check quotes, commas and brackets here"
        ) from cause
    except (_RefusedJson, ValueError) as cause:
        line = first_line + _refused_line(cause, text)
        place = f"{source}:{line}" if source else f"line {line}"
        raise error(f"not valid JSON: {cause}", where=place, next_step="mend this value") from cause
    except RecursionError as cause:
        raise error("nested too deeply to be read", where=source, next_step="write it flatter") from cause


def _refused_line(cause: Exception, text: str) -> int:
    """Lines before the last place that holds what was refused (a key may rightly stand in other objects before)."""
    found = list(re.finditer(cause.needle, text)) if isinstance(cause, _RefusedJson) else []
    return text.count("\n", 0, found[-1].start()) if found else 0


def _item_lines(text: str, value: Any) -> dict[Steps, int]:
    lines: dict[Steps, int] = {(): 1}
    scan = json.JSONDecoder().raw_decode
    if isinstance(value, list):
        lines.update({(index,): line for index, line in _list_lines(text, text.index("[") + 1, scan)})
    elif isinstance(value, dict):
        for key, item in value.items():
            found = re.search(re.escape(json.dumps(key, ensure_ascii=False)) + r"\s*:\s*", text)
            if found is None:
                continue
            lines[(key,)] = text.count("\n", 0, found.start()) + 1
            if isinstance(item, list) and text[found.end() : found.end() + 1] == "[":
                lines.update({(key, index): line for index, line in _list_lines(text, found.end() + 1, scan)})
    return lines


def _list_lines(
    text: str, position: int, scan: Callable[[str, int], tuple[Any, int]]
) -> Iterator[tuple[int, int]]:
    """Line of each item of the list whose first character after the bracket is at `position`."""
    blank = re.compile(r"[\s,]*")
    line, counted, index = 1, 0, 0
    while True:
        position = blank.match(text, position).end()  # type: ignore[union-attr]
        if position >= len(text) or text[position] == "]":
            return
        line += text.count("\n", counted, position)
        counted = position
        yield index, line
        _, position = scan(text, position)
        index += 1


def parse_json_lines(text: str, source: str = "", *, error: type[InputError] = ConfigError) -> Document:
    """A list of the values of JSON Lines text (empty lines are passed over), with the line of each; every broken
    line is named."""
    problems = Problems(error, source)
    values: list[Any] = []
    lines: dict[Steps, int] = {}
    # str.splitlines would also split at characters that may stand inside a JSON string (U+2028)
    for number, row in enumerate(text.split("\n"), start=1):
        if not row.strip():
            continue
        try:
            value = _decode(row, source, error, number)
        except InputError as cause:
            problems.take(cause)
            continue
        lines[(len(values),)] = number
        values.append(value)
    problems.raise_if_any()
    return Document(value=values, source=source, lines=lines)
