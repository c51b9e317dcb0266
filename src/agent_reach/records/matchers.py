"""The matchers of golden values (`{"$one_of": [...]}`): the one table of their names and of how each is written.

Suite lint, scoring, recorded execution, reports and the pages of documentation all know exactly these. What a matcher
accepts in a call is decided where calls are scored; nothing here sees a call, and no regular expression is compiled.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

JSON_TYPES = ("string", "number", "integer", "boolean", "array", "object", "null")
_STEP_REFERENCE = re.compile(r"[^.\s\[]+([.\[].+)?")
_LONGEST_SHOWN = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class MatcherForm:
    """One matcher: `problem(value)` says what is wrong with the value under its name (empty: nothing); `holds_golds`
    says that the value is a list of golden values, which may be matchers themselves; `belongs_to` names the matcher
    that this one only stands beside."""

    name: str
    problem: Callable[[Any], str]
    holds_golds: bool = False
    belongs_to: str = ""


def is_matcher(value: Any) -> bool:
    """A mapping all of whose keys are names of matchers; every other mapping is a literal."""
    if not (type(value) is dict or isinstance(value, Mapping)):
        return False
    return bool(value) and all(key in MATCHERS for key in value)


def form_problem(matcher: Mapping[str, Any]) -> str:
    """What is wrong with the form of a matcher whose keys are all known; empty when nothing is."""
    names = [key for key in matcher if not MATCHERS[key].belongs_to]
    if len(names) != 1:
        return f"must have exactly one of {', '.join(MATCHER_NAMES)}, not {', '.join(map(str, matcher))}"
    for key, value in matcher.items():
        form = MATCHERS[key]
        if form.belongs_to and form.belongs_to != names[0]:
            return f"{key!r} goes with {form.belongs_to!r} only"
        problem = form.problem(value)
        if problem:
            return f"{key!r} {problem}"
    return ""


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[: _LONGEST_SHOWN - 3]}..."


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _choices(value: Any) -> str:
    return "" if isinstance(value, (list, tuple)) and value else "must be a list of at least one value"


def _list(value: Any) -> str:
    return "" if isinstance(value, (list, tuple)) else f"must be a list, not {_shown(value)}"


def _pattern(value: Any) -> str:
    return "" if isinstance(value, str) else "must be a regular expression"


def _number(value: Any) -> str:
    return "" if _is_number(value) else f"must be a number, not {_shown(value)}"


def _tolerance(value: Any) -> str:
    if _is_number(value) and value >= 0:
        return ""
    return f"must be a number of 0 or more, not {_shown(value)}"


def _range(value: Any) -> str:
    if not isinstance(value, (list, tuple)) or len(value) != 2:
        return f"must be [lowest, highest], not {_shown(value)}"
    low, high = value
    if any(bound is not None and not _is_number(bound) for bound in value) or (low is None and high is None):
        return f"must be two numbers, one of which may be null, not {_shown(value)}"
    if low is not None and high is not None and low > high:
        return f"holds no number: {low!r} is above {high!r}"
    return ""


def _types(value: Any) -> str:
    names = value if isinstance(value, (list, tuple)) else [value]
    if names and all(isinstance(name, str) and name in JSON_TYPES for name in names):
        return ""
    return f"must be one of {', '.join(JSON_TYPES)}, not {_shown(value)}"


def _true(value: Any) -> str:
    return "" if value is True else f"must be true, not {_shown(value)}"


def _date(value: Any) -> str:
    from datetime import date, datetime

    if isinstance(value, str):
        for read in (date.fromisoformat, datetime.fromisoformat):
            try:
                read(value)
            except ValueError:
                continue
            return ""
    return f"must be a date such as 2024-03-01, not {_shown(value)}"


def _reference(value: Any) -> str:
    if isinstance(value, str) and _STEP_REFERENCE.fullmatch(value):
        return ""
    return f"must be 'step_id.path', not {_shown(value)}"


MATCHERS: Mapping[str, MatcherForm] = {
    form.name: form
    for form in (
        MatcherForm(name="$one_of", problem=_choices, holds_golds=True),
        MatcherForm(name="$pattern", problem=_pattern),
        MatcherForm(name="$approx", problem=_number),
        MatcherForm(name="$tol", problem=_tolerance, belongs_to="$approx"),
        MatcherForm(name="$range", problem=_range),
        MatcherForm(name="$type", problem=_types),
        MatcherForm(name="$any", problem=_true),
        MatcherForm(name="$unordered", problem=_list, holds_golds=True),
        MatcherForm(name="$contains", problem=_list, holds_golds=True),
        MatcherForm(name="$date", problem=_date),
        MatcherForm(name="$from", problem=_reference),
        MatcherForm(name="$default", problem=_true),
    )
}
MATCHER_NAMES: tuple[str, ...] = tuple(name for name, form in MATCHERS.items() if not form.belongs_to)
"""The names that stand alone."""
