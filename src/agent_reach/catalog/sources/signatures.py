"""Input and output schemas from a Python signature: annotations, defaults, docstring.

A type that is only written in the docstring counts where the signature is silent; what no schema can express accepts
any value, with a finding.
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from agent_reach.catalog.findings import make_finding
from agent_reach.catalog.sources.annotations import AnnotationReader, Unknown, json_value
from agent_reach.catalog.sources.docstrings import ParsedDocstring, parse_docstring
from agent_reach.catalog.type_words import read_type
from agent_reach.records.finding import Finding

_DEFAULT_TYPES = {
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    list: "array",
    dict: "object",
}


@dataclass(slots=True)
class ReadSignature:
    """The schemas of a function and what its docstring says."""

    input_schema: dict[str, Any]
    output_schema: dict[str, Any] | None
    docstring: ParsedDocstring
    findings: list[Finding] = field(default_factory=list)


def read_signature(function: Callable[..., Any], key: str) -> ReadSignature:
    """The input and output schema of a callable."""
    return _SignatureReader(function, key).read()


class _SignatureReader:
    def __init__(self, function: Any, key: str) -> None:
        self.key = key
        self.docstring = parse_docstring(_docstring_of(function))
        self.findings: list[Finding] = []
        self.hints = _hints(function)
        try:
            self.signature = inspect.signature(function)
        except (TypeError, ValueError):
            self.signature = inspect.Signature()

    def read(self) -> ReadSignature:
        annotations = AnnotationReader()
        properties: dict[str, Any] = {}
        required: list[str] = []
        schema: dict[str, Any] = {"type": "object", "properties": properties}
        for index, parameter in enumerate(self.signature.parameters.values()):
            if parameter.kind is inspect.Parameter.VAR_KEYWORD:
                schema["additionalProperties"] = True
                continue
            is_self = index == 0 and parameter.name in ("self", "cls")
            if parameter.kind is inspect.Parameter.VAR_POSITIONAL or is_self:
                continue
            properties[parameter.name] = self._parameter(parameter, annotations)
            if parameter.default is inspect.Parameter.empty:
                required.append(parameter.name)
        if required:
            schema["required"] = required
        if annotations.definitions:
            schema["$defs"] = annotations.definitions
        return ReadSignature(schema, self._output(), self.docstring, self.findings)

    def _type(self, annotation: Any, annotations: AnnotationReader, pointer: str) -> dict[str, Any]:
        try:
            return annotations.read(annotation)
        except Unknown as error:
            self.findings.append(make_finding("python_type_unknown", self.key, pointer, found=str(error)))
            return {}

    def _parameter(self, parameter: inspect.Parameter, annotations: AnnotationReader) -> dict[str, Any]:
        name = parameter.name
        annotation = self.hints.get(name, parameter.annotation)
        if annotation is not inspect.Parameter.empty:
            schema = self._type(annotation, annotations, f"/properties/{name}")
        else:
            kind = _DEFAULT_TYPES.get(type(parameter.default))
            schema = read_type(self.docstring.types.get(name, "")) or ({"type": kind} if kind else {})
        text = self.docstring.parameters.get(name, "")
        if text and "description" not in schema:
            schema = {**schema, "description": text}
        if parameter.default is not inspect.Parameter.empty:
            found, value = json_value(_field_default(parameter.default))
            if found:
                schema = {**schema, "default": value}
        return schema

    def _output(self) -> dict[str, Any] | None:
        annotation = self.hints.get("return", self.signature.return_annotation)
        if annotation is type(None) or annotation is None:
            return None
        annotations = AnnotationReader("serialization")
        schema: dict[str, Any] | None = None
        if annotation is not inspect.Signature.empty:
            schema = self._type(annotation, annotations, "/returns")
        elif self.docstring.return_type:
            schema = read_type(self.docstring.return_type)
        if not schema or schema == {"type": "null"}:
            return None
        if self.docstring.returns and "description" not in schema:
            schema = {**schema, "description": self.docstring.returns}
        if annotations.definitions:
            schema = {**schema, "$defs": annotations.definitions}
        return schema


def _field_default(value: Any) -> Any:
    """The default inside pydantic's `Field(...)` used as a default."""
    inner = getattr(value, "default", value) if type(value).__name__ == "FieldInfo" else value
    return None if type(inner).__name__ in ("PydanticUndefinedType", "ellipsis") else inner


def _is_plain(function: Any) -> bool:
    return inspect.isroutine(function) or inspect.isclass(function) or hasattr(function, "__wrapped__")


def _docstring_of(function: Any) -> str | None:
    inner = getattr(function, "func", None)
    if callable(inner):
        return inspect.getdoc(inner)
    if not _is_plain(function):
        return inspect.getdoc(type(function).__call__) or inspect.getdoc(type(function))
    return inspect.getdoc(function)


def _hints(function: Any) -> dict[str, Any]:
    plain = getattr(function, "func", function)
    if not _is_plain(plain):
        plain = type(plain).__call__
    elif inspect.isclass(plain):
        plain = plain.__init__
        return {name: hint for name, hint in _hints_of(plain).items() if name != "return"}
    return _hints_of(inspect.unwrap(plain))


def _hints_of(plain: Any) -> dict[str, Any]:
    try:
        return typing.get_type_hints(plain, include_extras=True)
    except Exception:
        return dict(getattr(plain, "__annotations__", {}) or {})
