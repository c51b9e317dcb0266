"""Records to JSON values and back, and the canonical JSON that hashes are made of.

`to_json` leaves out fields that hold their default, so that files stay small; `from_json` puts the defaults back and
refuses what does not fit with the path to it. Whole numbers stay whole at any size; NaN and infinities are refused by
canonical JSON. It knows records and plain JSON values, nothing else.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, TypeVar

from agent_reach.errors import InputError
from agent_reach.records.message import Message

Record = TypeVar("Record")


def to_json(value: Any) -> Any:
    """A record (or a container of records) as plain JSON values; fields equal to their default are left out."""
    kind: Any = type(value)
    if kind is str or kind is int or kind is float or kind is bool or value is None:
        return value
    if kind is dict or isinstance(value, Mapping):
        return {str(key): to_json(item) for key, item in value.items()}
    if kind is tuple or kind is list:
        return [to_json(item) for item in value]
    if isinstance(value, Message):
        return {"en": value.en, "zh": value.zh}
    if dataclasses.is_dataclass(value):
        out: dict[str, Any] = {}
        for name, default in _fields(kind):
            item = getattr(value, name)
            if default is not _REQUIRED and item == default:
                continue
            out[name] = to_json(item)
        return out
    if isinstance(value, (set, frozenset)):
        return sorted(to_json(item) for item in value)
    if isinstance(value, (str, int, float)):
        return value
    return str(value)


_REQUIRED = object()


@cache
def _fields(kind: type) -> tuple[tuple[str, Any], ...]:
    found = []
    for field in dataclasses.fields(kind):
        if field.default is not dataclasses.MISSING:
            default: Any = field.default
        elif field.default_factory is not dataclasses.MISSING:
            default = field.default_factory()
        else:
            default = _REQUIRED
        found.append((field.name, default))
    return tuple(found)


def from_json(kind: type[Record], data: Any, *, where: str = "") -> Record:
    """The record of that type in `data`, a JSON value.

    Unknown keys are ignored (a newer version may have written them); a missing required key or a value of another shape
    raises `InputError` with the path.
    """
    return typing.cast(Record, _reader(typing.cast(Any, kind))(data, where or kind.__name__))


Reader = Callable[[Any, str], Any]


@cache
def _reader(kind: Any) -> Reader:
    origin = typing.get_origin(kind)
    arguments = typing.get_args(kind)
    if kind is Any or origin is typing.Literal:
        return lambda data, where: data
    if origin in (typing.Union, types.UnionType):
        options = [option for option in arguments if option is not type(None)]
        inner = _reader(options[0]) if len(options) == 1 else (lambda data, where: data)
        return lambda data, where: None if data is None else inner(data, where)
    if origin is tuple:
        return _tuple_reader(arguments)
    if origin in (frozenset, set):
        return lambda data, where: frozenset(_expect(data, list, where))
    if origin is not None and isinstance(origin, type) and issubclass(origin, Mapping):
        inner = _reader(arguments[1])
        return lambda data, where: {
            key: inner(item, f"{where}.{key}") for key, item in _expect(data, dict, where).items()
        }
    if dataclasses.is_dataclass(kind):
        return _record_reader(typing.cast(type, kind))
    if kind is float:
        return lambda data, where: float(_expect(data, (int, float), where))
    if kind in (int, str, bool):
        return lambda data, where: _expect(data, kind, where)
    return lambda data, where: data


def _tuple_reader(arguments: tuple[Any, ...]) -> Reader:
    if len(arguments) == 2 and arguments[1] is Ellipsis:
        inner = _reader(arguments[0])
        return lambda data, where: tuple(
            inner(item, f"{where}[{index}]") for index, item in enumerate(_expect(data, list, where))
        )
    readers = [_reader(argument) for argument in arguments]

    def read(data: Any, where: str) -> Any:
        items = _expect(data, list, where)
        if len(items) != len(readers):
            raise InputError(f"expected {len(readers)} items, found {len(items)}", where=where)
        return tuple(reader(item, where) for reader, item in zip(readers, items, strict=True))

    return read


def _record_reader(kind: type) -> Reader:
    hints = typing.get_type_hints(kind)
    readers: dict[str, Reader] = {}

    def read(data: Any, where: str) -> Any:
        mapping = _expect(data, dict, where)
        if not readers:
            readers.update({name: _reader(hints[name]) for name, _ in _fields(kind)})
        values = {}
        for name, default in _fields(kind):
            if name in mapping:
                values[name] = readers[name](mapping[name], f"{where}.{name}")
            elif default is _REQUIRED:
                raise InputError(f"the field {name!r} is missing", where=where)
        return kind(**values)

    return read


def _expect(data: Any, kind: Any, where: str) -> Any:
    if kind is list and isinstance(data, tuple):
        return data
    if not isinstance(data, kind) or (isinstance(data, bool) and kind not in (bool,)):
        wanted = kind.__name__ if isinstance(kind, type) else " or ".join(option.__name__ for option in kind)
        raise InputError(f"expected {wanted}, found {type(data).__name__} {data!r:.60}", where=where)
    return data


def canonical_json(value: Any) -> str:
    """Canonical JSON: keys sorted by code point, no white space, no escapes beyond JSON's own, whole floats as integers,
    lone surrogates escaped; raises `ValueError` for NaN and infinities."""
    return json.dumps(
        _canonical(value), ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False
    )


def _canonical(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    if isinstance(value, Mapping):
        return {str(key): _canonical(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        return [_canonical(item) for item in value]
    return value


def content_hash(value: Any) -> str:
    """`sha256:` and the hex digest of the canonical JSON in UTF-8."""
    text = canonical_json(value)
    return "sha256:" + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
