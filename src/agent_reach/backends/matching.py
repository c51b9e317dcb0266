"""Whether a call fits a recording: values compared by the schema's type, and the `$` matchers of golden paths.

This decides only which recorded answer belongs to a call. Scores are made elsewhere, with their own account of every
single argument; a caller that wants both to agree to the letter passes its own comparison to the backend.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from agent_reach.records.matchers import is_matcher
from agent_reach.records.task import MatchOptions
from agent_reach.text.patterns import pattern_search

Lookup = Callable[[str], Any]
"""From `step.path` to the value of an earlier result; raises LookupError where there is none."""

_TYPES: dict[str, type | tuple[type, ...]] = {
    "string": str,
    "array": list,
    "object": Mapping,
    "boolean": bool,
    "null": type(None),
}


def values_match(
    expected: Any,
    actual: Any,
    schema: Any = None,
    options: MatchOptions | None = None,
    lookup: Lookup | None = None,
) -> bool:
    """Whether `actual` is what `expected` (a literal or a matcher) asks for under `schema`."""
    options = options or MatchOptions()
    if isinstance(expected, Mapping):
        if is_matcher(expected):
            return _matcher(expected, actual, schema, options, lookup)
        return _objects_match(expected, actual, schema, options, lookup)
    if isinstance(expected, (list, tuple)):
        return _arrays_match(expected, actual, schema, options, lookup)
    return _scalars_match(expected, actual, options)


def _objects_match(
    expected: Mapping[str, Any], actual: Any, schema: Any, options: MatchOptions, lookup: Lookup | None
) -> bool:
    if not isinstance(actual, Mapping) or set(expected) != set(actual):
        return False
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    properties = properties if isinstance(properties, Mapping) else {}
    return all(
        values_match(item, actual[name], properties.get(name), options, lookup)
        for name, item in expected.items()
    )


def _arrays_match(
    expected: Sequence[Any], actual: Any, schema: Any, options: MatchOptions, lookup: Lookup | None
) -> bool:
    if not isinstance(actual, (list, tuple)) or len(expected) != len(actual):
        return False
    items = schema.get("items") if isinstance(schema, Mapping) else None
    if isinstance(schema, Mapping) and schema.get("uniqueItems") is True:
        return _unordered(expected, actual, items, options, lookup)
    return all(values_match(a, b, items, options, lookup) for a, b in zip(expected, actual, strict=True))


def _scalars_match(expected: Any, actual: Any, options: MatchOptions) -> bool:
    if isinstance(expected, bool) or isinstance(actual, bool):
        return expected is actual
    if isinstance(expected, (int, float)) and isinstance(actual, (int, float)):
        if isinstance(expected, int) and isinstance(actual, int):
            return expected == actual
        return expected == actual or math.isclose(
            expected, actual, rel_tol=options.float_tolerance, abs_tol=0.0
        )
    if isinstance(expected, str) and isinstance(actual, str):
        return _text(expected, options) == _text(actual, options)
    return type(expected) is type(actual) and bool(expected == actual)


def _text(value: str, options: MatchOptions) -> str:
    if options.strings == "raw":
        return value
    form = unicodedata.normalize("NFC" if options.strings == "nfc" else "NFKC", value).strip()
    return form.casefold() if options.strings == "casefold" else form


def _unordered(
    expected: Sequence[Any],
    actual: Any,
    schema: Any,
    options: MatchOptions,
    lookup: Lookup | None,
    *,
    exact: bool = True,
) -> bool:
    """A matching of all that is expected by augmenting paths: a greedy pairing would let a wide matcher steal a narrow
    one's value. `exact` allows nothing beside it."""
    if not isinstance(actual, (list, tuple)) or len(actual) < len(expected):
        return False
    if exact and len(actual) != len(expected):
        return False
    fits = [
        [index for index, item in enumerate(actual) if values_match(wanted, item, schema, options, lookup)]
        for wanted in expected
    ]
    owner: dict[int, int] = {}

    def place(row: int, seen: set[int]) -> bool:
        for column in fits[row]:
            if column not in seen:
                seen.add(column)
                if column not in owner or place(owner[column], seen):
                    owner[column] = row
                    return True
        return False

    return all(place(row, set()) for row in range(len(expected)))


def _matcher(
    matcher: Mapping[str, Any], actual: Any, schema: Any, options: MatchOptions, lookup: Lookup | None
) -> bool:
    if "$any" in matcher:
        return True
    if "$one_of" in matcher:
        return any(
            values_match(item, actual, schema, options, lookup) for item in _listed(matcher["$one_of"])
        )
    if "$pattern" in matcher:
        return _holds_pattern(str(matcher["$pattern"]), actual, options)
    if "$approx" in matcher:
        return _is_near(actual, matcher["$approx"], matcher.get("$tol", 1e-9))
    if "$range" in matcher:
        low, high = (*_listed(matcher["$range"]), None, None)[:2]
        above = not _is_number(low) or (_is_number(actual) and actual >= low)
        return _is_number(actual) and above and (not _is_number(high) or actual <= high)
    if "$type" in matcher:
        return any(_is_type(actual, str(name)) for name in _listed(matcher["$type"]))
    if "$unordered" in matcher or "$contains" in matcher:
        exact = "$unordered" in matcher
        items = schema.get("items") if isinstance(schema, Mapping) else None
        listed = _listed(matcher["$unordered" if exact else "$contains"])
        return _unordered(listed, actual, items, options, lookup, exact=exact)
    if "$date" in matcher:
        return isinstance(actual, str) and _day(actual) == _day(str(matcher["$date"]))
    if "$from" in matcher:
        try:
            wanted = lookup(str(matcher["$from"])) if lookup else None
        except LookupError:
            return False
        return lookup is not None and values_match(wanted, actual, schema, options, lookup)
    if "$default" in matcher:
        return isinstance(schema, Mapping) and "default" in schema and schema["default"] == actual
    return False


def _listed(value: Any) -> Sequence[Any]:
    return value if isinstance(value, (list, tuple)) else (value,)


def _holds_pattern(pattern: str, actual: Any, options: MatchOptions) -> bool:
    search = pattern_search(pattern, ignore_case=options.strings == "casefold")
    if search is None or not isinstance(actual, str):
        return False
    form: Any = "NFC" if options.strings == "nfc" else "NFKC"
    text = actual if options.strings == "raw" else unicodedata.normalize(form, actual).strip()
    return search(text)


def _is_near(actual: Any, wanted: Any, tolerance: Any) -> bool:
    if not (_is_number(actual) and _is_number(wanted) and _is_number(tolerance)):
        return False
    slack = abs(tolerance) + 4e-16 * max(abs(wanted), abs(actual))
    return bool(actual == wanted or abs(actual - wanted) <= slack)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_type(value: Any, name: str) -> bool:
    if name == "number":
        return _is_number(value)
    if name == "integer":
        return _is_number(value) and float(value).is_integer()
    return name in _TYPES and isinstance(value, _TYPES[name])


def _day(text: str) -> str:
    found = re.match(r"\s*(\d{4})[-/.年]?(\d{1,2})[-/.月]?(\d{1,2})", text)
    return "-".join(part.zfill(2) for part in found.groups()) if found else text.strip()
