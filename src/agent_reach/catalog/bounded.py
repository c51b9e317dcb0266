"""Foreign JSON made safe to walk: no cycles, bounded depth, bounded size, plain types.

A tool list comes from somebody else's server. A value nested 5,000 deep, a Python object that contains itself, or
a few shared objects that unfold to millions would end every recursive walk with a crash. Here such values are cut, each
cut is reported, and everything later may recurse without care. What was cut away stays inside the hash: a digest of it
is kept. It knows JSON, not JSON Schema.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Any

from agent_reach.text.pointers import escape_pointer

MAX_DEPTH = 128
MAX_NODES = 100_000

CUT_KEY = "x-agent-reach-cut"


@dataclass(frozen=True, slots=True)
class Cut:
    """One place where a value was cut: `reason` is `depth`, `cycle` or `size`; `pointer` says where."""

    reason: str
    pointer: str


def bounded_copy(
    value: Any, *, max_depth: int = MAX_DEPTH, max_nodes: int = MAX_NODES, keep_text: bool = True
) -> tuple[Any, tuple[Cut, ...]]:
    """A copy of a JSON-like value in plain types (dict, list, str, int, float, bool, None), and what was cut.

    Mappings become dicts with text keys, tuples and sets lists, NaN and infinities None, other objects their text (or, without
    `keep_text`, an empty object, so that they are taken for no text). A container below `max_depth`, inside itself, or beyond `max_nodes` values becomes `{CUT_KEY: digest}`.
    """
    copier = _Copier(max_depth, max_nodes, keep_text)
    try:
        return copier.copy(value, 0, ()), tuple(copier.cuts)
    except RecursionError:
        shallow = _Copier(max_depth // 4, max_nodes, keep_text)
        return shallow.copy(value, 0, ()), tuple(shallow.cuts)


Path = tuple[Any, ...]


class _Copier:
    def __init__(self, max_depth: int, max_nodes: int, keep_text: bool) -> None:
        self.keep_text = keep_text
        self.max_depth = max_depth
        self.left = max_nodes
        self.cuts: list[Cut] = []
        self.open: set[int] = set()

    def copy(self, value: Any, depth: int, path: Path) -> Any:
        kind = type(value)
        if kind is str or kind is bool or kind is int or value is None:
            return value
        if kind is dict:
            return self._container(value, depth, path)
        if kind is list or kind is tuple:
            return self._container(value, depth, path)
        return self._other(value, depth, path)

    def _container(self, value: Any, depth: int, path: Path) -> Any:
        identity = id(value)
        self.left -= len(value) + 1
        if depth >= self.max_depth and value:
            return self._cut("depth", value, path)
        if identity in self.open:
            return self._cut("cycle", None, path)
        if self.left < 0 and value:
            return self._cut("size", value, path)
        self.open.add(identity)
        copy = self.copy
        deeper = depth + 1
        result: Any
        if isinstance(value, Mapping):
            result = {}
            for key, item in value.items():
                kind = type(item)
                name = key if type(key) is str else _key_text(key)
                if kind is str or kind is bool or kind is int or item is None:
                    result[name] = item
                else:
                    result[name] = copy(item, deeper, (path, name))
        else:
            result = [copy(item, deeper, (path, index)) for index, item in enumerate(value)]
        self.open.discard(identity)
        return result

    def _other(self, value: Any, depth: int, path: Path) -> Any:
        if isinstance(value, float):
            return float(value) if math.isfinite(value) else None
        if isinstance(value, bool):
            return bool(value)
        if isinstance(value, str):
            return str.__str__(value)
        if isinstance(value, int):
            return int(value)
        if isinstance(value, (Mapping, list, tuple)):
            return self._container(value, depth, path)
        if isinstance(value, (set, frozenset)):
            return self._container(sorted(value, key=str), depth, path)
        if not self.keep_text:
            return {}
        try:
            return str(value)
        except Exception:
            return f"<{type(value).__name__}>"

    def _cut(self, reason: str, value: Any, path: Path) -> Any:
        if len(self.cuts) < 20:
            self.cuts.append(Cut(reason, path_pointer(path)))
        return {CUT_KEY: deep_digest(value) if reason == "depth" else reason}


def _key_text(key: Any) -> str:
    if isinstance(key, str):
        return str.__str__(key)
    if key is True or key is False or key is None:
        return json.dumps(key)
    return str(key)


def path_pointer(path: Path) -> str:
    """The JSON pointer of a linked path `(parent, part)`."""
    parts: list[str] = []
    while path:
        path, part = path
        parts.append(escape_pointer(part))
    return "".join("/" + part for part in reversed(parts))


def deep_digest(value: Any, *, max_nodes: int = MAX_NODES) -> str:
    """A digest of a value of any depth, independent of key order, without recursion; cycles count as a mark."""
    results: list[str] = []
    work: list[tuple[Any, bool]] = [(value, False)]
    open_ids: set[int] = set()
    left = max_nodes
    while work:
        item, done = work.pop()
        children = _children(item)
        if children is None:
            results.append(repr(item))
            continue
        if done:
            open_ids.discard(id(item))
            count = len(children)
            parts = results[len(results) - count :] if count else []
            del results[len(results) - count :]
            if isinstance(item, Mapping):
                parts = sorted(f"{key!s}:{part}" for key, part in zip(item, parts, strict=True))
            text = f"{type(item).__name__}[{','.join(parts)}]"
            results.append(hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest())
        elif id(item) in open_ids or left <= 0:
            results.append("...")
        else:
            open_ids.add(id(item))
            left -= len(children)
            work.append((item, True))
            work.extend((child, False) for child in reversed(children))
    return "sha256:" + hashlib.sha256(results[-1].encode("utf-8", "surrogatepass")).hexdigest()


def _children(item: Any) -> list[Any] | None:
    if isinstance(item, Mapping):
        return list(item.values())
    if isinstance(item, (list, tuple)):
        return list(item)
    return None


class DuplicateKeyError(ValueError):
    """An object that gives a key twice: readers differ in which one they take, so that nobody knows what is meant."""

    def __init__(self, key: str, lineno: int = 0) -> None:
        super().__init__(f"the key {key!r} is written twice in one object")
        self.key = key
        self.lineno = lineno


def parse_json(text: str) -> Any:
    """The JSON value of a text of any depth; raises `json.JSONDecodeError`, and `DuplicateKeyError` with the line of the
    last place where that key stands. A byte order mark is skipped."""
    text = text.removeprefix("\ufeff")
    try:
        return json.loads(text, object_pairs_hook=_unique_pairs)
    except RecursionError:
        return _parse_deep(text)
    except DuplicateKeyError as error:
        needle = re.escape(json.dumps(error.key, ensure_ascii=False)) + r"\s*:"
        found = list(re.finditer(needle, text))
        line = text.count("\n", 0, found[-1].start()) + 1 if found else 0
        raise DuplicateKeyError(error.key, line) from None


def _unique_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise DuplicateKeyError(key)
            seen.add(key)
    return found


_TOKEN = re.compile(r"[ \t\n\r]*(?:([{}\[\],:\"])|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null))")


def _parse_deep(text: str) -> Any:
    """An iterative reader for texts that the standard one cannot nest."""
    reader = _DeepReader(text)
    while not reader.done:
        reader.step()
    rest = text[reader.position :].lstrip(" \t\n\r")
    if rest:
        raise json.JSONDecodeError("extra text", text, len(text) - len(rest))
    return reader.root


class _DeepReader:
    """`wants` is what may come next: a value, a key, a colon, or a comma; `may_end` that the container may close."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0
        self.root: Any = None
        self.stack: list[Any] = []
        self.key = ""
        self.wants = "value"
        self.may_end = False
        self.done = False

    def step(self) -> None:
        match = _TOKEN.match(self.text, self.position)
        if match is None:
            self.refuse("a value is missing or broken")
        assert match is not None
        self.position = match.end()
        mark, scalar = match.groups()
        if mark in ("}", "]"):
            self.close(mark)
        elif mark in (",", ":"):
            self.punctuate(mark)
        elif mark == '"':
            value, self.position = scanstring(self.text, self.position, True)
            if self.wants == "key":
                self.key, self.wants, self.may_end = value, ":", False
            else:
                self.place(value)
        elif mark is None:
            self.place(json.loads(scalar))
        else:
            self.open({} if mark == "{" else [])

    def refuse(self, message: str) -> None:
        raise json.JSONDecodeError(message, self.text, self.position)

    def punctuate(self, mark: str) -> None:
        if self.wants != mark:
            self.refuse(f"unexpected {mark!r}")
        inside_object = isinstance(self.stack[-1], dict)
        self.wants = "value" if mark == ":" or not inside_object else "key"
        self.may_end = False

    def place(self, value: Any) -> None:
        if self.wants != "value":
            self.refuse("unexpected value")
        if not self.stack:
            self.root, self.done = value, not isinstance(value, (dict, list))
        elif isinstance(self.stack[-1], dict):
            if self.key in self.stack[-1]:
                raise DuplicateKeyError(self.key, self.text.count("\n", 0, self.position) + 1)
            self.stack[-1][self.key] = value
        else:
            self.stack[-1].append(value)
        self.wants, self.may_end = ",", True

    def open(self, value: Any) -> None:
        self.place(value)
        self.stack.append(value)
        self.wants = "key" if isinstance(value, dict) else "value"
        self.may_end = True

    def close(self, mark: str) -> None:
        if not self.stack or not self.may_end or isinstance(self.stack[-1], dict) is not (mark == "}"):
            self.refuse(f"unexpected {mark!r}")
        self.stack.pop()
        self.wants, self.may_end = ",", True
        self.done = not self.stack
