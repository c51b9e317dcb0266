"""When is an argument value right: the comparison by schema type, and the matchers that begin with `$`.

A gold value is compiled once per task into a function `(actual, references) -> bool`, so that scoring thousands of
attempts reads neither schemas nor patterns again. It sees values only; which call is compared is decided elsewhere.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from agent_reach.evals.scoring import schema_view
from agent_reach.evals.scoring.assignment import assign
from agent_reach.evals.scoring.dates import same_date, same_moment
from agent_reach.records.matchers import is_matcher as is_matcher
from agent_reach.records.task import MatchOptions
from agent_reach.text.patterns import pattern_search

Compare = Callable[[Any, Any], bool]
"""Takes the actual value and the references: a function from a step id to the results that step may have had."""
References = Callable[[str], Sequence[Any]]


class _Missing:
    def __repr__(self) -> str:
        return "MISSING"


MISSING: Any = _Missing()
"""The value of an argument that was left out."""


def compile_value(spec: Any, schema: Any, root: Any, options: MatchOptions, path: str = "") -> Compare:
    """The comparison for a gold value, which is a matcher or a literal of the type that `schema` gives.

    `root` is the tool's input schema (for local references) and `path` the dotted place of the value, for
    `ignore_args`. Raises nothing: an impossible gold simply never matches (suite lint says so).
    """
    viewed = schema_view.view(schema, root)
    if is_matcher(spec):
        return _compile_matcher(spec, viewed, root, options, path)
    if isinstance(spec, str):
        return _compile_string(spec, viewed, options)
    if spec is None:
        return lambda actual, _: actual is None
    if isinstance(spec, bool):
        return lambda actual, _: actual is spec
    if isinstance(spec, (int, float)):
        return _compile_number(spec, viewed, options)
    if isinstance(spec, Mapping):
        return _compile_object(spec, viewed, root, options, path)
    if isinstance(spec, (list, tuple)):
        inner = [
            compile_value(item, _item_schema(viewed, i), root, options, path) for i, item in enumerate(spec)
        ]
        return _unordered(inner) if viewed.get("uniqueItems") is True else _ordered(inner)
    return lambda actual, _: bool(actual == spec)


def normalise_text(text: str, mode: str) -> str:
    """The text as strings are compared in that mode: `raw`, `nfc`, `nfkc` or `casefold` (NFKC, then case-folded);
    all but `raw` trim white space at the ends."""
    if mode == "raw":
        return text
    if mode == "nfc":
        return text.strip() if text.isascii() else unicodedata.normalize("NFC", text).strip()
    text = unicodedata.normalize("NFKC", text).strip()
    return unicodedata.normalize("NFKC", text.casefold()) if mode == "casefold" else text


def _compile_string(gold: str, viewed: Mapping[str, Any], options: MatchOptions) -> Compare:
    mode = options.strings
    wanted = normalise_text(gold, mode)
    moment = viewed.get("format") == "date-time"

    def compare(actual: Any, _: Any) -> bool:
        if actual == gold:
            return True
        if not isinstance(actual, str):
            return False
        return normalise_text(actual, mode) == wanted or (moment and same_moment(gold, actual))

    return compare


def _compile_number(gold: float, viewed: Mapping[str, Any], options: MatchOptions) -> Compare:
    tolerance = options.float_tolerance
    whole = isinstance(gold, int) or gold.is_integer() or schema_view.types(viewed) == {"integer"}

    def compare(actual: Any, _: Any) -> bool:
        if isinstance(actual, bool) or not isinstance(actual, (int, float)):
            return False
        if actual == gold:
            return True
        return not whole and bool(tolerance) and abs(actual - gold) <= tolerance * abs(gold)

    return compare


def _compile_object(
    gold: Mapping[str, Any], viewed: Mapping[str, Any], root: Any, options: MatchOptions, path: str
) -> Compare:
    properties = schema_view.property_schemas(viewed, root)
    ignored = frozenset(options.ignore_args)
    inner = {
        name: compile_value(item, properties.get(name), root, options, f"{path}.{name}")
        for name, item in gold.items()
        if f"{path}.{name}" not in ignored
    }
    skipped = frozenset(entry[len(path) + 1 :] for entry in ignored if entry.startswith(f"{path}."))
    defaults = {
        name: found for name, sub in properties.items() if (found := default_of(sub, root)) is not MISSING
    }

    def compare(actual: Any, references: Any) -> bool:
        if type(actual) is not dict and not isinstance(actual, Mapping):
            return False
        for name, matches in inner.items():
            value = actual.get(name, MISSING)
            if value is MISSING:
                value = defaults.get(name, MISSING)
            if not matches(value, references):
                return False
        return all(
            name in gold or name in skipped or same_value(value, defaults.get(name, MISSING))
            for name, value in actual.items()
        )

    return compare


def _ordered(inner: Sequence[Compare]) -> Compare:
    def compare(actual: Any, references: Any) -> bool:
        if not isinstance(actual, (list, tuple)) or len(actual) != len(inner):
            return False
        return all(matches(item, references) for matches, item in zip(inner, actual, strict=True))

    return compare


def _unordered(inner: Sequence[Compare], *, exact: bool = True) -> Compare:
    def compare(actual: Any, references: Any) -> bool:
        if not isinstance(actual, (list, tuple)) or len(actual) < len(inner):
            return False
        if exact and len(actual) != len(inner):
            return False
        weights = [[float(matches(item, references)) for item in actual] for matches in inner]
        return -1 not in assign(weights) if inner else True

    return compare


def _compile_matcher(
    spec: Mapping[str, Any], viewed: Mapping[str, Any], root: Any, options: MatchOptions, path: str
) -> Compare:
    if "$one_of" in spec:
        return _one_of(_listed(spec["$one_of"]), viewed, root, options, path)
    if "$pattern" in spec:
        return _compile_pattern(spec["$pattern"], options)
    if "$approx" in spec:
        return _compile_approx(spec["$approx"], spec.get("$tol", 1e-9))
    if "$range" in spec:
        low, high = _bounds(spec["$range"])
        return lambda actual, _: (
            _is_number(actual) and (low is None or actual >= low) and (high is None or actual <= high)
        )
    if "$type" in spec:
        named = spec["$type"]
        kinds = _listed(named)
        return lambda actual, _: actual is not MISSING and any(has_type(actual, kind) for kind in kinds)
    if "$unordered" in spec or "$contains" in spec:
        exact = "$unordered" in spec
        items = _listed(spec["$unordered" if exact else "$contains"])
        item_schema = _item_schema(viewed, 0)
        return _unordered(
            [compile_value(item, item_schema, root, options, path) for item in items], exact=exact
        )
    if "$date" in spec:
        gold = str(spec["$date"])
        return lambda actual, _: isinstance(actual, str) and same_date(gold, actual)
    if "$from" in spec:
        return _compile_reference(str(spec["$from"]), viewed, root, options, path)
    if "$default" in spec:
        default = default_of(viewed, root)
        return lambda actual, _: actual is MISSING or same_value(actual, default)
    return lambda actual, _: actual is not MISSING


def _listed(value: Any) -> Sequence[Any]:
    return value if isinstance(value, (list, tuple)) else (value,)


def _bounds(value: Any) -> tuple[float | None, float | None]:
    """Lowest and highest; null, and what is no number, is no bound."""
    low, high = (*_listed(value), None, None)[:2]
    return low if _is_number(low) else None, high if _is_number(high) else None


def _one_of(
    choices: Sequence[Any], viewed: Mapping[str, Any], root: Any, options: MatchOptions, path: str
) -> Compare:
    if all(isinstance(choice, str) for choice in choices) and viewed.get("format") != "date-time":
        mode = options.strings
        words = frozenset(normalise_text(choice, mode) for choice in choices)
        return lambda actual, _: isinstance(actual, str) and normalise_text(actual, mode) in words
    inner = [compile_value(choice, viewed, root, options, path) for choice in choices]

    def compare(actual: Any, references: Any) -> bool:
        for matches in inner:  # noqa: SIM110 - a generator costs more than the comparisons
            if matches(actual, references):
                return True
        return False

    return compare


def _compile_pattern(pattern: Any, options: MatchOptions) -> Compare:
    search = pattern_search(str(pattern), ignore_case=options.strings == "casefold")
    if search is None:
        return lambda actual, _: False
    mode = "nfkc" if options.strings == "casefold" else options.strings
    return lambda actual, _: isinstance(actual, str) and search(normalise_text(actual, mode))


def _compile_approx(gold: Any, tolerance: Any) -> Compare:
    def compare(actual: Any, _: Any) -> bool:
        if not (_is_number(actual) and _is_number(gold) and _is_number(tolerance)):
            return False
        slack = abs(tolerance) + 4e-16 * max(abs(gold), abs(actual))
        return bool(actual == gold or abs(actual - gold) <= slack)

    return compare


def _compile_reference(
    reference: str, viewed: Mapping[str, Any], root: Any, options: MatchOptions, path: str
) -> Compare:
    step, rest = split_reference(reference)

    def compare(actual: Any, references: Any) -> bool:
        if actual is MISSING or references is None:
            return False
        for result in references(step):
            value = value_at(result, rest)
            if value is not MISSING and compile_value(value, viewed, root, options, path)(actual, None):
                return True
        return False

    return compare


def split_reference(reference: str) -> tuple[str, str]:
    """`look.items[0].id` -> the step id `look` and the path `items[0].id` in its result."""
    step, _, rest = reference.partition(".")
    if "[" in step:
        step, bracket, tail = step.partition("[")
        rest = bracket + tail + ("." + rest if rest else "")
    return step, rest


def references_in(spec: Any) -> list[str]:
    """All step ids that a gold value takes something from."""
    if isinstance(spec, Mapping):
        if is_matcher(spec) and "$from" in spec:
            return [split_reference(str(spec["$from"]))[0]]
        return [step for item in spec.values() for step in references_in(item)]
    if isinstance(spec, (list, tuple)):
        return [step for item in spec for step in references_in(item)]
    return []


def value_at(result: Any, path: str) -> Any:
    """The value at a dotted path with `[n]` or `.n` for list items; a text that holds JSON is read; else `MISSING`."""
    node = result
    for part in re.findall(r"[^.\[\]]+", path):
        if isinstance(node, str):
            node = parsed_text(node)
        if isinstance(node, Mapping) and part in node:
            node = node[part]
        elif (
            isinstance(node, (list, tuple))
            and part.lstrip("-").isdigit()
            and -len(node) <= int(part) < len(node)
        ):
            node = node[int(part)]
        else:
            return MISSING
    return node


def parsed_text(text: str) -> Any:
    """The JSON value that a text holds, or the text."""
    if text[:1] in "{[" or text.strip()[:1] in ("{", "["):
        try:
            return json.loads(text)
        except ValueError:
            return text
    return text


def default_of(schema: Any, root: Any) -> Any:
    """The schema's default, or `MISSING`."""
    viewed = schema_view.view(schema, root)
    return viewed.get("default", MISSING)


def same_value(left: Any, right: Any) -> bool:
    """Equal as JSON: numbers by value, booleans never equal to numbers, objects by key, arrays in order."""
    if left is MISSING or right is MISSING:
        return False
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        return left.keys() == right.keys() and all(same_value(left[key], right[key]) for key in left)
    if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
        return len(left) == len(right) and all(map(same_value, left, right))
    return type(left) is type(right) and left == right if isinstance(left, str) else bool(left == right)


def has_type(value: Any, kind: str) -> bool:
    """The value is of that JSON type; a whole float counts as an integer."""
    match kind:
        case "null":
            return value is None
        case "boolean":
            return isinstance(value, bool)
        case "integer":
            return not isinstance(value, bool) and (
                isinstance(value, int) or (isinstance(value, float) and value.is_integer())
            )
        case "number":
            return _is_number(value)
        case "string":
            return isinstance(value, str)
        case "array":
            return isinstance(value, (list, tuple))
        case "object":
            return isinstance(value, Mapping)
    return False


def json_type(value: Any) -> str:
    """The JSON type of a value: null, boolean, integer, number, string, array or object."""
    for kind in ("null", "boolean", "integer", "number", "string", "array", "object"):
        if has_type(value, kind):
            return kind
    return "missing"


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _item_schema(viewed: Mapping[str, Any], index: int) -> Any:
    prefix = viewed.get("prefixItems")
    if isinstance(prefix, (list, tuple)) and index < len(prefix):
        return prefix[index]
    items = viewed.get("items")
    if isinstance(items, (list, tuple)):
        return items[index] if index < len(items) else None
    return items
