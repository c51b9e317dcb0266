"""What a validator says, turned into argument problems that a person and a model can act on.

One error of the engine becomes one or more `ArgumentProblem`s: every missing and every unknown name by itself; a failed
`anyOf` or `oneOf` becomes the problems of the branch that was meant, where a type or a discriminator shows which one
it was.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from agent_reach.records.trace import ArgumentProblem
from agent_reach.text.pointers import escape_pointer

_CODES = {
    "type": "wrong_type",
    "enum": "not_in_enum",
    "const": "not_in_enum",
    "format": "wrong_format",
    "pattern": "wrong_format",
    "contentEncoding": "wrong_format",
    "contentMediaType": "wrong_format",
    "minimum": "out_of_range",
    "maximum": "out_of_range",
    "exclusiveMinimum": "out_of_range",
    "exclusiveMaximum": "out_of_range",
    "multipleOf": "out_of_range",
    "minLength": "out_of_range",
    "maxLength": "out_of_range",
    "minItems": "out_of_range",
    "maxItems": "out_of_range",
    "minProperties": "out_of_range",
    "maxProperties": "out_of_range",
}
_ENGINE_TROUBLE = frozenset({"BacktrackLimitExceeded", "RegexEngineFailure"})
_MAX_NESTING = 8


def describe_errors(errors: Iterable[Any]) -> list[ArgumentProblem]:
    """The problems behind the errors of the engine, in its order, each told once."""
    problems: list[ArgumentProblem] = []
    for error in errors:
        problems.extend(_describe(error, 0))
    if len(problems) > 1:
        unique: dict[tuple[str, str, str], ArgumentProblem] = {}
        for problem in problems:
            unique.setdefault((problem.code, problem.pointer, problem.message), problem)
        return list(unique.values())
    return problems


def _pointer(path: Iterable[Any]) -> str:
    return "".join("/" + escape_pointer(part) for part in path)


def _describe(error: Any, nesting: int) -> list[ArgumentProblem]:
    kind = error.kind
    shape = type(kind).__name__
    if shape.rsplit("_", 1)[-1] in _ENGINE_TROUBLE:
        return []
    path = list(error.instance_path)
    facts = kind.as_dict()
    keyword = kind.name
    if keyword == "required":
        return [missing(path, facts["property"])]
    if keyword in ("additionalProperties", "unevaluatedProperties"):
        return [unknown(path, name, error.instance) for name in facts["unexpected"]]
    if (
        keyword in ("anyOf", "oneOf")
        and "context" in facts
        and _has_failures(facts["context"], keyword, shape)
    ):
        return _choice(error, path, facts["context"], nesting)
    code = _CODES.get(keyword, "wrong_shape")
    pointer = _pointer(path)
    if keyword == "propertyNames":
        return [
            ArgumentProblem(code=code, pointer=pointer, message=_message(pointer, facts["error"].message))
        ]
    return [
        ArgumentProblem(
            code=code,
            pointer=pointer,
            message=_message(pointer, error.message),
            expected=_expected(keyword, facts),
            actual=error.instance,
        )
    ]


def _has_failures(context: list[list[Any]], keyword: str, shape: str) -> bool:
    return "Multiple" not in shape and any(context)


def missing(path: list[Any], name: str) -> ArgumentProblem:
    """A required name that is not given."""
    return ArgumentProblem(
        code="missing_required",
        pointer=_pointer([*path, name]),
        message=f"{name!r} is required",
        expected=name,
    )


def unknown(path: list[Any], name: str, holder: Any) -> ArgumentProblem:
    """A name that the schema does not allow."""
    return ArgumentProblem(
        code="unknown_argument",
        pointer=_pointer([*path, name]),
        message=f"there is no {name!r} here",
        actual=holder.get(name) if isinstance(holder, dict) else None,
    )


def _expected(keyword: str, facts: dict[str, Any]) -> Any:
    if keyword == "type":
        return facts.get("types")
    if keyword == "enum":
        return facts.get("options")
    if keyword == "const":
        return [facts.get("expected_value")]
    for name in ("limit", "pattern", "format", "multiple_of"):
        if name in facts:
            return facts[name]
    return None


def _message(pointer: str, text: str) -> str:
    shown = text if len(text) <= 300 else text[:297] + "..."
    return f"{pointer or '/'}: {shown}"


def _choice(error: Any, path: list[Any], context: list[list[Any]], nesting: int) -> list[ArgumentProblem]:
    """The problems of the branch that was meant, or one problem that tells the choices."""
    pointer = _pointer(path)
    if nesting >= _MAX_NESTING:
        return [_no_branch(error, pointer)]
    typed = [branch for branch in context if not any(_is_type_error(item, path) for item in branch)]
    if not typed:
        kinds: list[str] = []
        for branch in context:
            for item in branch:
                if _is_type_error(item, path):
                    kinds.extend(item.kind.as_dict().get("types", ()))
        expected = list(dict.fromkeys(kinds))
        text = f"{_short(error.instance)} is not of type {' or '.join(expected)}"
        return [
            ArgumentProblem(
                code="wrong_type",
                pointer=pointer,
                message=_message(pointer, text),
                expected=expected,
                actual=error.instance,
            )
        ]
    label = ""
    if len(typed) > 1:
        typed, label = _discriminated(typed, path, error.instance)
    if len(typed) == 1:
        problems = [problem for item in typed[0] for problem in _describe(item, nesting + 1)]
        return [_labelled(problem, label) for problem in problems] if label else problems
    return _common(error, typed, path, pointer, nesting)


def _is_type_error(item: Any, path: list[Any]) -> bool:
    return item.kind.name == "type" and list(item.instance_path) == path


def _refuted_by(branch: list[Any], path: list[Any]) -> set[Any]:
    """Names of members whose fixed value in this branch is not the one given."""
    names = set()
    for item in branch:
        place = list(item.instance_path)
        if item.kind.name in ("const", "enum") and len(place) == len(path) + 1 and place[:-1] == path:
            names.add(place[-1])
    return names


def _discriminated(branches: list[list[Any]], path: list[Any], instance: Any) -> tuple[list[list[Any]], str]:
    """The branches that the discriminator leaves, and the words for its value."""
    refuted = [_refuted_by(branch, path) for branch in branches]
    names = set().union(*refuted)
    for name in sorted(names, key=str):
        left = [branch for branch, against in zip(branches, refuted, strict=True) if name not in against]
        if 0 < len(left) < len(branches) and isinstance(instance, dict):
            return left, f"{name}={instance.get(name)!r}"
    return branches, ""


def _labelled(problem: ArgumentProblem, label: str) -> ArgumentProblem:
    return ArgumentProblem(
        code=problem.code,
        pointer=problem.pointer,
        message=f"{problem.message} (branch {label})",
        expected=problem.expected,
        actual=problem.actual,
    )


def _common(
    error: Any, branches: list[list[Any]], path: list[Any], pointer: str, nesting: int
) -> list[ArgumentProblem]:
    """What several possible branches have in common: a missing name, a value outside all enums, else the nearest."""
    described = [
        [problem for item in branch for problem in _describe(item, nesting + 1)] for branch in branches
    ]
    shared = [
        problem
        for problem in described[0]
        if problem.code == "missing_required"
        and all(any(_same(problem, other) for other in rest) for rest in described[1:])
    ]
    if shared:
        return shared
    refused = set.intersection(*(_refuted_by(branch, path) for branch in branches))
    if refused and isinstance(error.instance, dict):
        return [_outside(branches, path, sorted(refused, key=str)[0], error.instance)]
    if all(len(problems) == 1 and problems[0].code == "not_in_enum" for problems in described):
        places = {problems[0].pointer for problems in described}
        if len(places) == 1:
            values = [value for problems in described for value in problems[0].expected or ()]
            first = described[0][0]
            text = f"{_short(first.actual)} is none of {_short(values)}"
            return [
                ArgumentProblem(
                    code="not_in_enum",
                    pointer=first.pointer,
                    message=_message(first.pointer, text),
                    expected=values,
                    actual=first.actual,
                )
            ]
    if all(len(problems) == 1 and problems[0].code == "missing_required" for problems in described):
        names = [problems[0].expected for problems in described]
        return [
            ArgumentProblem(
                code="missing_required",
                pointer=described[0][0].pointer,
                message=_message(pointer, f"one of {', '.join(map(repr, names))} is required"),
                expected=names,
            )
        ]
    sizes = [len(problems) for problems in described]
    least = min(sizes)
    if least and sizes.count(least) == 1:
        return described[sizes.index(least)]
    return [_no_branch(error, pointer)]


def _outside(
    branches: list[list[Any]], path: list[Any], name: Any, instance: dict[str, Any]
) -> ArgumentProblem:
    """The discriminator has a value that no branch knows."""
    values: list[Any] = []
    for branch in branches:
        for item in branch:
            if list(item.instance_path) == [*path, name] and item.kind.name in ("const", "enum"):
                values.extend(_expected(item.kind.name, item.kind.as_dict()) or ())
    pointer = _pointer([*path, name])
    text = f"{_short(instance.get(name))} is none of {_short(values)}"
    return ArgumentProblem(
        code="not_in_enum",
        pointer=pointer,
        message=_message(pointer, text),
        expected=values,
        actual=instance.get(name),
    )


def _same(one: ArgumentProblem, other: ArgumentProblem) -> bool:
    return one.code == other.code and one.pointer == other.pointer


def _no_branch(error: Any, pointer: str) -> ArgumentProblem:
    text = f"{_short(error.instance)} fits none of the choices of {error.kind.name}"
    return ArgumentProblem(
        code="wrong_shape", pointer=pointer, message=_message(pointer, text), actual=error.instance
    )


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 120 else text[:117] + "..."
