"""YAML text as plain JSON values with lines, under the core schema of YAML 1.2.

`no`, `on`, `12:30` and `2024-03-01` are strings, `0o7` is seven, `010` is ten. Keys are strings as they were written.
Merge keys (`<<: *base`) are the one thing kept from YAML 1.1, because people use them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from agent_reach.config.located import Document, Steps
from agent_reach.config.problems import Problems
from agent_reach.errors import ConfigError, InputError

MAX_NODES = 2_000_000
FREE_NODES = 100_000
MOST_UNFOLDED = 20
MAX_DEPTH = 200

_INTEGER = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_INFINITY = re.compile(r"[-+]?\.(?:inf|Inf|INF)")
_CONSTANTS: dict[str, Any] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_TAG = "tag:yaml.org,2002:"
_PLAIN = "plain"


def yaml_scalar(text: str) -> Any:
    """What a plain (unquoted) scalar means in the core schema of YAML 1.2."""
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if _INTEGER.fullmatch(text):
        base = {"0o": 8, "0x": 16}.get(text[:2], 10)
        return int(text[2:] if base != 10 else text, base)
    if _FLOAT.fullmatch(text):
        return float(text)
    if _INFINITY.fullmatch(text):
        return -math.inf if text[0] == "-" else math.inf
    return math.nan if text in (".nan", ".NaN", ".NAN") else text


@cache
def _loader() -> Any:
    """The fastest loader there is, with one implicit rule in place of those of YAML 1.1: a plain scalar is marked as
    plain, and `yaml_scalar` says what it means."""
    import yaml

    base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    plain = {None: [(_PLAIN, re.compile(""))]}
    return type("CoreLoader", (base,), {"yaml_implicit_resolvers": plain})


def parse_yaml(text: str, source: str = "", *, error: type[InputError] = ConfigError) -> Document:
    """The one document in YAML text; raises `error` with file, line and column."""
    import yaml

    try:
        node = yaml.compose(text, Loader=_loader())
    except yaml.MarkedYAMLError as cause:
        raise _yaml_error(cause, text, source, error) from cause
    except yaml.YAMLError as cause:
        raise error(
            _reader_message(cause),
            where=_reader_place(cause, text, source),
            next_step="remove that character",
        ) from cause
    except RecursionError as cause:
        raise error("nested too deeply to be read", where=source, next_step="write it flatter") from cause
    if node is None:
        return Document(value=None, source=source)
    if _unfolds_too_far(node):
        raise error(
            "the aliases of this file unfold to far more than it holds",
            where=source,
            next_step="write the parts out",
        )
    builder = _YamlBuilder(source, error)
    value = builder.build(node, ())
    builder.problems.raise_if_any()
    return Document(value=value, source=source, lines=builder.lines)


def _unfolds_too_far(root: Any) -> bool:
    """True if aliases make far more parts out of a document than it has: told by adding up sizes, each part counted once, so
    that it takes no time however far it would unfold."""
    sizes: dict[int, int] = {}
    work: list[tuple[Any, bool]] = [(root, False)]
    while work:
        node, done = work.pop()
        key = id(node)
        if node.id == "scalar":
            sizes[key] = 1
        elif done:
            sizes[key] = 1 + sum(sizes[id(child)] for child in _children(node))
        elif key not in sizes:
            sizes[key] = 0  # what it adds when it contains itself, which is refused later
            work.append((node, True))
            work.extend((child, False) for child in _children(node))
    return sizes[id(root)] > max(FREE_NODES, MOST_UNFOLDED * len(sizes))


def _children(node: Any) -> Iterator[Any]:
    for part in node.value:
        if isinstance(part, tuple):
            yield from part
        else:
            yield part


def _yaml_error(cause: Any, text: str, source: str, error: type[InputError]) -> InputError:
    mark = cause.problem_mark or cause.context_mark
    place = f"{source}:{mark.line + 1}:{mark.column + 1}" if mark is not None else source
    said = " ".join(part for part in (cause.context, cause.problem) if part)
    step = "check the indentation, quotes and brackets at this line"
    row = text.split("\n")[mark.line] if mark is not None and mark.line <= text.count("\n") else ""
    if "\t" in row[: len(row) - len(row.lstrip())]:
        step = "indent with blanks, not with tabs"
    elif "single document" in said:
        step = "keep one document per file: remove the '---' between them"
    return error(f"not valid YAML: {said}", where=place, next_step=step)


def _reader_message(cause: Any) -> str:
    character = getattr(cause, "character", None)
    shown = f"#x{character:04x}" if isinstance(character, int) else repr(character)
    reason = getattr(cause, "reason", "") or str(cause)
    return (
        f"not valid YAML: {reason} (character {shown})"
        if character is not None
        else f"not valid YAML: {cause}"
    )


def _reader_place(cause: Any, text: str, source: str) -> str:
    position = getattr(cause, "position", None)
    if not isinstance(position, int):
        return source
    return f"{source}:{text.count(chr(10), 0, position) + 1}"


class _YamlBuilder:
    """Turns the node tree into values, noting lines; what it refuses is collected with its line."""

    def __init__(self, source: str, error: type[InputError]) -> None:
        self.source = source
        self.lines: dict[Steps, int] = {}
        self.problems = Problems(error, source)
        self.open: set[int] = set()
        self.count = 0

    def build(self, node: Any, path: Steps, line: int | None = None) -> Any:
        self.lines[path] = line or node.start_mark.line + 1
        self.count += 1
        if self.count > MAX_NODES or len(path) > MAX_DEPTH or id(node) in self.open:
            reason = (
                "an alias that contains itself"
                if id(node) in self.open
                else "too many or too deeply nested parts (aliases count each time they are used)"
            )
            raise self.problems.error(reason, where=self._where(node), next_step="write the parts out")
        if node.id == "scalar":
            return self._scalar(node)
        self.open.add(id(node))
        try:
            if node.id == "sequence":
                self._expect_tag(node, "seq")
                return [self.build(item, (*path, index)) for index, item in enumerate(node.value)]
            self._expect_tag(node, "map")
            return self._mapping(node, path)
        finally:
            self.open.discard(id(node))

    def _mapping(self, node: Any, path: Steps) -> dict[str, Any]:
        out: dict[str, Any] = {}
        merged: dict[str, Any] = {}
        for key_node, value_node in node.value:
            if key_node.id != "scalar":
                self._refuse(key_node, "a key must be one word or text, not a list or mapping")
                continue
            key = key_node.value
            if key == "<<" and key_node.tag == _PLAIN and value_node.id != "scalar":
                self._merge(value_node, path, merged)
                continue
            if key in out:
                first = self.lines[(*path, key)]
                self._refuse(
                    key_node, f"the key {key!r} is written twice (first in line {first})", "keep one"
                )
                continue
            out[key] = self.build(value_node, (*path, key), key_node.start_mark.line + 1)
        return {**merged, **out} if merged else out

    def _merge(self, node: Any, path: Steps, merged: dict[str, Any]) -> None:
        for part in node.value if node.id == "sequence" else [node]:
            if part.id != "mapping":
                self._refuse(part, "'<<' merges mappings only")
                continue
            for key, value in self.build(part, (*path, "<<")).items():
                merged.setdefault(key, value)

    def _scalar(self, node: Any) -> Any:
        if node.tag == _PLAIN:
            return self._plain(node)
        if node.tag in (f"{_TAG}str", "!"):
            return node.value
        return self._tagged(node, node.tag)

    def _plain(self, node: Any) -> Any:
        try:
            return yaml_scalar(node.value)
        except ValueError:
            self._refuse(node, f"the number {node.value[:40]!r}... is too long", "write it in quotes")
            return None

    def _tagged(self, node: Any, tag: str) -> Any:
        wanted: dict[str, tuple[type, ...]] = {
            f"{_TAG}int": (int,),
            f"{_TAG}float": (int, float),
            f"{_TAG}bool": (bool,),
            f"{_TAG}null": (type(None),),
        }
        if tag in wanted:
            value = self._plain(node)
            if type(value) in wanted[tag]:
                return float(value) if tag.endswith("float") else value
            self._refuse(node, f"{node.value!r} is not {tag.removeprefix(_TAG)!r}")
            return None
        self._refuse(
            node, f"the tag {_short_tag(tag)!r} is not allowed", "write plain text, numbers or lists"
        )
        return None

    def _expect_tag(self, node: Any, name: str) -> None:
        if node.tag not in (f"{_TAG}{name}", "!", None):
            self._refuse(
                node, f"the tag {_short_tag(node.tag)!r} is not allowed", "write a plain list or mapping"
            )

    def _where(self, node: Any) -> str:
        return f"{self.source}:{node.start_mark.line + 1}"

    def _refuse(self, node: Any, message: str, next_step: str = "") -> None:
        self.problems.add(
            self._where(node), message, next_step or "write plain texts, numbers, lists and mappings"
        )


def _short_tag(tag: str) -> str:
    return f"!!{tag.removeprefix(_TAG)}" if tag.startswith(_TAG) else tag
