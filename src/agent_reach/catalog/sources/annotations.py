"""JSON Schema from Python annotations.

Plain types, containers, unions, literals, enums, dataclasses, typed dictionaries and named tuples are read here, so
that most tools need no validation library at all; models and constrained types go through pydantic. Classes become
definitions and are referred to, so that recursive ones end. What nothing can express accepts any value.
"""

from __future__ import annotations

import collections.abc
import dataclasses
import datetime
import decimal
import enum
import pathlib
import types
import typing
import uuid
import warnings
from typing import Any

from agent_reach.catalog.type_words import read_type

_PLAIN: dict[Any, dict[str, Any]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    bytes: {"type": "string"},
    complex: {"type": "string"},
    type(None): {"type": "null"},
    None: {"type": "null"},
    list: {"type": "array"},
    tuple: {"type": "array"},
    set: {"type": "array", "uniqueItems": True},
    frozenset: {"type": "array", "uniqueItems": True},
    dict: {"type": "object"},
    decimal.Decimal: {"type": "number"},
    datetime.datetime: {"type": "string", "format": "date-time"},
    datetime.date: {"type": "string", "format": "date"},
    datetime.time: {"type": "string", "format": "time"},
    datetime.timedelta: {"type": "string", "format": "duration"},
    uuid.UUID: {"type": "string", "format": "uuid"},
    pathlib.Path: {"type": "string", "format": "path"},
    pathlib.PurePath: {"type": "string", "format": "path"},
    collections.abc.Sequence: {"type": "array"},
    collections.abc.Iterable: {"type": "array"},
    collections.abc.Mapping: {"type": "object"},
}
_ARRAYS = (
    list, tuple, set, frozenset, collections.abc.Sequence, collections.abc.Iterable, collections.abc.Collection,
    collections.abc.MutableSequence, collections.abc.Set, collections.abc.MutableSet, collections.abc.Iterator,
    collections.abc.AsyncIterator, collections.abc.Generator, collections.abc.AsyncGenerator, collections.deque,
)  # fmt: skip
_SETS = (set, frozenset, collections.abc.Set, collections.abc.MutableSet)
_OBJECTS = (
    dict,
    collections.abc.Mapping,
    collections.abc.MutableMapping,
    collections.defaultdict,
    collections.OrderedDict,
)
_WRAPPERS = ("Required", "NotRequired", "ReadOnly", "Final", "ClassVar", "Awaitable", "Coroutine")


class Unknown(Exception):
    """No schema can be made of an annotation."""


class AnnotationReader:
    """Reads annotations of one tool; `definitions` collects the classes they name. `mode` is pydantic's word for whether
    a value goes in (`validation`) or comes out (`serialization`)."""

    def __init__(self, mode: str = "validation") -> None:
        self.mode = mode
        self.definitions: dict[str, Any] = {}
        self._names: dict[Any, str] = {}

    def read(self, annotation: Any) -> dict[str, Any]:
        """The schema of an annotation; raises `Unknown`."""
        if annotation is Any or annotation is object or annotation is typing.NoReturn:
            return {}
        if isinstance(annotation, (str, typing.ForwardRef)):
            return self._written(annotation)
        try:
            if annotation in _PLAIN:
                return dict(_PLAIN[annotation])
        except TypeError:
            pass
        origin = typing.get_origin(annotation)
        if origin is not None:
            return self._generic(annotation, origin, typing.get_args(annotation))
        if isinstance(annotation, typing.TypeVar):
            return self.read(annotation.__bound__) if annotation.__bound__ is not None else {}
        if hasattr(annotation, "__supertype__"):
            return self.read(annotation.__supertype__)
        if hasattr(annotation, "__value__"):
            return self.read(annotation.__value__)
        if isinstance(annotation, type):
            return self._class(annotation)
        return self._by_pydantic(annotation)

    def _written(self, annotation: Any) -> dict[str, Any]:
        text = annotation if isinstance(annotation, str) else annotation.__forward_arg__
        known = read_type(text)
        if known is None:
            raise Unknown(text)
        return known

    def _generic(self, annotation: Any, origin: Any, arguments: tuple[Any, ...]) -> dict[str, Any]:
        if origin is typing.Annotated or getattr(origin, "__name__", "") == "Annotated":
            return self._annotated(annotation)
        if origin in (typing.Union, types.UnionType):
            return self._union(arguments)
        if origin is typing.Literal or getattr(origin, "_name", "") == "Literal":
            return _listed(list(arguments))
        if origin in _ARRAYS:
            return self._array(origin, arguments)
        if origin in _OBJECTS:
            schema: dict[str, Any] = {"type": "object"}
            if len(arguments) == 2 and (values := self.read(arguments[1])):
                schema["additionalProperties"] = values
            return schema
        if getattr(origin, "_name", getattr(origin, "__name__", "")) in _WRAPPERS and arguments:
            return self.read(arguments[-1])
        return self._by_pydantic(annotation)

    def _array(self, origin: Any, arguments: tuple[Any, ...]) -> dict[str, Any]:
        schema: dict[str, Any] = {"type": "array"}
        if origin is tuple and arguments and not (len(arguments) == 2 and arguments[1] is Ellipsis):
            items = [self.read(argument) for argument in arguments if argument != ()]
            return (
                {**schema, "prefixItems": items, "minItems": len(items), "maxItems": len(items)}
                if items
                else schema
            )
        if arguments and (items_schema := self.read(arguments[0])):
            schema["items"] = items_schema
        if origin in _SETS:
            schema["uniqueItems"] = True
        return schema

    def _union(self, arguments: tuple[Any, ...]) -> dict[str, Any]:
        options = [self.read(argument) for argument in arguments]
        if any(not option for option in options):
            return {}
        unique = [option for index, option in enumerate(options) if option not in options[:index]]
        return unique[0] if len(unique) == 1 else {"anyOf": unique}

    def _annotated(self, annotation: Any) -> dict[str, Any]:
        base, *marks = typing.get_args(annotation)
        texts = [mark for mark in marks if isinstance(mark, str)]
        texts += [
            mark.documentation for mark in marks if isinstance(getattr(mark, "documentation", None), str)
        ]
        others = [mark for mark in marks if not isinstance(mark, str) and not hasattr(mark, "documentation")]
        schema = self.read(base)
        if others:
            schema = {**schema, **self._constraints(base, others)}
        if texts and "description" not in schema:
            schema = {**schema, "description": " ".join(texts)}
        return schema

    def _constraints(self, base: Any, marks: list[Any]) -> dict[str, Any]:
        """What marks such as pydantic's `Field(ge=1, description=...)` add to the schema of the type."""
        try:
            return self._by_pydantic(typing.Annotated[(base, *marks)])
        except Unknown:
            texts = [getattr(mark, "description", None) for mark in marks]
            told = [text for text in texts if isinstance(text, str)]
            return {"description": told[-1]} if told else {}

    def _class(self, kind: type) -> dict[str, Any]:
        if issubclass(kind, enum.Enum):
            return _listed([member.value for member in kind])
        if kind in self._names:
            return {"$ref": f"#/$defs/{self._names[kind]}"}
        if typing.is_typeddict(kind) or hasattr(kind, "__required_keys__"):
            return self._defined(kind, self._typed_dict)
        if dataclasses.is_dataclass(kind) and not hasattr(kind, "__pydantic_validator__"):
            return self._defined(kind, self._dataclass)
        if issubclass(kind, tuple) and hasattr(kind, "_fields"):
            return self._defined(kind, self._named_tuple)
        if hasattr(kind, "model_json_schema") or hasattr(kind, "__get_pydantic_core_schema__"):
            return self._by_pydantic(kind)
        for known in (bool, int, float, str, bytes, dict, list, tuple, set):
            if issubclass(kind, known):
                return dict(_PLAIN[known])
        return self._by_pydantic(kind)

    def _defined(self, kind: type, make: Any) -> dict[str, Any]:
        name, count = kind.__name__, 2
        while name in self.definitions:
            name = f"{kind.__name__}_{count}"
            count += 1
        self._names[kind] = name
        self.definitions[name] = {}
        self.definitions[name] = make(kind)
        return {"$ref": f"#/$defs/{name}"}

    def _hints(self, kind: type) -> dict[str, Any]:
        try:
            return typing.get_type_hints(kind, include_extras=True)
        except Exception:
            return dict(getattr(kind, "__annotations__", {}))

    def _member(self, annotation: Any) -> dict[str, Any]:
        try:
            return self.read(annotation)
        except Unknown:
            return {}

    def _typed_dict(self, kind: Any) -> dict[str, Any]:
        hints = self._hints(kind)
        properties = {name: self._member(annotation) for name, annotation in hints.items()}
        required = [name for name in hints if name in kind.__required_keys__]
        return _object(properties, required, kind.__doc__)

    def _dataclass(self, kind: Any) -> dict[str, Any]:
        hints = self._hints(kind)
        properties: dict[str, Any] = {}
        required: list[str] = []
        for item in dataclasses.fields(kind):
            if not item.init and self.mode == "validation":
                continue
            schema = self._member(hints.get(item.name, item.type))
            text = item.metadata.get("description") if item.metadata else None
            if isinstance(text, str):
                schema = {**schema, "description": text}
            if item.default is not dataclasses.MISSING:
                found, value = json_value(item.default)
                schema = {**schema, "default": value} if found else schema
            elif item.default_factory is dataclasses.MISSING:
                required.append(item.name)
            properties[item.name] = schema
        doc = kind.__doc__ or ""
        return _object(properties, required, "" if doc.startswith(kind.__name__ + "(") else doc)

    def _named_tuple(self, kind: Any) -> dict[str, Any]:
        hints = self._hints(kind)
        items = [self._member(hints.get(name, Any)) for name in kind._fields]
        return {"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)}

    def _by_pydantic(self, annotation: Any) -> dict[str, Any]:
        try:
            import pydantic

            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                adapter: Any = pydantic.TypeAdapter(annotation)
                schema = adapter.json_schema(mode=typing.cast(Any, self.mode))
        except Exception as error:
            raise Unknown(getattr(annotation, "__name__", None) or str(annotation)) from error
        schema = without_titles(schema)
        local = schema.pop("$defs", {})
        table = self._adopt(local)
        return typing.cast(dict[str, Any], _renamed(schema, table)) if table else schema

    def _adopt(self, local: dict[str, Any]) -> dict[str, str]:
        """Add pydantic's definitions; of two different ones with one name the later is renamed."""
        renamed: dict[str, str] = {}
        for name, schema in local.items():
            target, count = name, 2
            while target in self.definitions and self.definitions[target] != schema:
                target = f"{name}_{count}"
                count += 1
            if target != name:
                renamed[f"#/$defs/{name}"] = f"#/$defs/{target}"
            self.definitions[target] = schema
        for target in [reference.rsplit("/", 1)[-1] for reference in renamed.values()]:
            self.definitions[target] = _renamed(self.definitions[target], renamed)
        return renamed


def _object(properties: dict[str, Any], required: list[str], doc: str | None) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    if required:
        schema["required"] = required
    if doc and doc.strip():
        schema["description"] = " ".join(doc.split("\n\n")[0].split())
    return schema


def _listed(values: list[Any]) -> dict[str, Any]:
    plain = [value.value if isinstance(value, enum.Enum) else value for value in values]
    usable = [value for value in plain if value is None or isinstance(value, (str, int, float, bool))]
    if not usable:
        return {}
    kinds = dict.fromkeys(_PLAIN[type(value)]["type"] for value in usable if type(value) in _PLAIN)
    schema: dict[str, Any] = {"enum": usable}
    if len(kinds) == 1:
        schema = {"type": next(iter(kinds)), "enum": usable}
    elif kinds:
        schema = {"type": list(kinds), "enum": usable}
    return schema


def json_value(value: Any) -> tuple[bool, Any]:
    """Whether a default can be told in JSON, and its JSON value."""
    if isinstance(value, enum.Enum):
        return json_value(value.value)
    if value is None or isinstance(value, (str, bool, int, float)):
        return True, value
    if isinstance(value, (list, tuple, set, frozenset)):
        parts = [json_value(item) for item in value]
        return all(found for found, _ in parts), [item for _, item in parts]
    if isinstance(value, dict):
        pairs = {str(key): json_value(item) for key, item in value.items()}
        return all(found for found, _ in pairs.values()), {key: item for key, (_, item) in pairs.items()}
    if isinstance(value, (datetime.date, datetime.time)):
        return True, value.isoformat()
    if isinstance(value, (pathlib.PurePath, uuid.UUID, decimal.Decimal)):
        return True, str(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return json_value(dataclasses.asdict(value))
    if hasattr(value, "model_dump"):
        return json_value(value.model_dump(mode="json"))
    return False, None


def _renamed(value: Any, table: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {
            key: table.get(item, item) if key == "$ref" and isinstance(item, str) else _renamed(item, table)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [_renamed(item, table) for item in value]
    return value


def without_titles(schema: Any, *, is_schema: bool = True) -> Any:
    """The schema without the titles that pydantic derives from names: they cost tokens and say nothing."""
    if isinstance(schema, list):
        return [without_titles(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if not is_schema:
        return {key: without_titles(item) for key, item in schema.items()}
    return {
        key: item
        if key in ("default", "const", "enum", "examples")
        else without_titles(item, is_schema=key not in ("properties", "$defs"))
        for key, item in schema.items()
        if not (key == "title" and isinstance(item, str))
    }
