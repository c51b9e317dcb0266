"""Schemas in use: compiled once, asked often.

`argument_problems` and `is_legal` hold a call's arguments against a tool and list every problem. Formats are
asserted. Names that a tool does not declare are problems at the top level unless its schema says that more are
welcome. How a schema is read is the business of `reading`; what it says of its values, of `shape`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agent_reach.catalog.bounded import bounded_copy, path_pointer
from agent_reach.catalog.engine import build_validator
from agent_reach.catalog.problems import describe_errors
from agent_reach.catalog.reading import ReadSchema, empty_schema, read_schema
from agent_reach.catalog.shape import (
    allowed_values,
    is_nullable,
    known_names,
    parameter_types,
    resolved_schema,
)
from agent_reach.records.tool import Tool
from agent_reach.records.trace import ArgumentProblem

_CACHE_LIMIT = 50_000

__all__ = [
    "ReadSchema",
    "allowed_values",
    "argument_problems",
    "empty_schema",
    "is_legal",
    "is_nullable",
    "known_names",
    "output_problems",
    "parameter_types",
    "read_schema",
    "resolved_schema",
    "value_problems",
]


@dataclass(frozen=True, slots=True)
class _Compiled:
    source: Any
    schema: dict[str, Any]
    validator: Any
    names: frozenset[str] | None


_compiled: dict[int, _Compiled] = {}


def _compile(source: Any, *, arguments: bool) -> _Compiled:
    """The validator of a schema object, cached by its identity (the cache holds the object, so ids stay unique)."""
    known = _compiled.get(id(source))
    if known is not None and known.source is source:
        return known
    schema = source if isinstance(source, dict) else None
    validator = None
    if schema is not None:
        try:
            validator = build_validator(schema)
        except Exception:
            schema = None
    if schema is None:
        schema = read_schema(source, repair=True, arguments=arguments).schema
        validator = build_validator(schema)
    names = known_names(schema) if arguments else None
    made = _Compiled(source, schema, validator, names)
    if len(_compiled) >= _CACHE_LIMIT:
        _compiled.clear()
    _compiled[id(source)] = made
    return made


def argument_problems(
    tool: Tool, arguments: Mapping[str, Any] | None, *, closed: bool = True
) -> tuple[ArgumentProblem, ...]:
    """Every way in which the arguments do not fit the tool; empty means legal.

    None counts as no arguments. `pointer` names the place; for `missing_required` and `unknown_argument` it ends in the
    missing or unknown name. A failed choice between discriminated branches is told as the problems of the branch that
    the discriminator chose. With `closed` (the default), top-level names that the schema does not declare are
    `unknown_argument`, unless it allows further ones expressly.
    """
    value: Any = {} if arguments is None else arguments
    if not isinstance(value, Mapping):
        return (
            ArgumentProblem(
                code="wrong_type",
                message=f"arguments are {type(value).__name__}, not an object",
                expected="object",
                actual=value,
            ),
        )
    compiled = _compile(tool.input_schema, arguments=True)
    problems = _problems(compiled, value if isinstance(value, dict) else dict(value))
    if closed and compiled.names is not None and not value.keys() <= compiled.names:
        told = {problem.pointer for problem in problems}
        for name in value:
            if name not in compiled.names:
                pointer = path_pointer(((), name))
                if pointer not in told:
                    problems.append(
                        ArgumentProblem(
                            code="unknown_argument",
                            pointer=pointer,
                            message=f"the tool has no argument {name!r}",
                            expected=sorted(compiled.names)[:50],
                            actual=value[name],
                        )
                    )
    return tuple(problems)


def is_legal(tool: Tool, arguments: Mapping[str, Any] | None, *, closed: bool = True) -> bool:
    """True if the arguments fit the tool; the same answer as an empty `argument_problems`, faster."""
    value: Any = {} if arguments is None else arguments
    if not isinstance(value, Mapping):
        return False
    compiled = _compile(tool.input_schema, arguments=True)
    if closed and compiled.names is not None and not value.keys() <= compiled.names:
        return False
    try:
        if compiled.validator.is_valid(value if isinstance(value, dict) else dict(value)):
            return True
    except Exception:
        pass
    return not argument_problems(tool, value, closed=closed)


def output_problems(tool: Tool, value: Any) -> tuple[ArgumentProblem, ...]:
    """Every way in which a result does not fit the declared output schema; empty where none is declared."""
    if tool.output_schema is None:
        return ()
    return tuple(_problems(_compile(tool.output_schema, arguments=False), value))


def value_problems(
    schema: Mapping[str, Any] | bool, value: Any, root: Any = None
) -> tuple[ArgumentProblem, ...]:
    """Every way in which a value does not fit one schema (part); `root` is the document its references point into."""
    if isinstance(schema, bool):
        return (
            ()
            if schema
            else (ArgumentProblem(code="wrong_shape", message="nothing is allowed here", actual=value),)
        )
    whole = dict(schema)
    if isinstance(root, Mapping):
        for key in ("$defs", "definitions"):
            if key in root and key not in whole:
                whole[key] = root[key]
    read = read_schema(whole, arguments=False)
    return tuple(describe_errors(_errors(build_validator(read.schema), value)))


def _problems(compiled: _Compiled, value: Any) -> list[ArgumentProblem]:
    return describe_errors(_errors(compiled.validator, value))


def _errors(validator: Any, value: Any) -> list[Any]:
    try:
        return list(validator.iter_errors(value))
    except (UnicodeError, ValueError, TypeError, OverflowError):
        copied, _ = bounded_copy(value, keep_text=False)
        return list(validator.iter_errors(_printable(copied)))


def _printable(value: Any) -> Any:
    """The value with lone surrogates replaced, which no UTF-8 text can hold."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, dict):
        return {_printable(key): _printable(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_printable(item) for item in value]
    return value
