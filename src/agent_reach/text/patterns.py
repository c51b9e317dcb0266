"""Regular expressions that come from outside, searched for in text without ever hanging.

Patterns are those of JSON Schema (ECMA 262; `\\d` is 0-9), because the engine that checks schemas runs them: in time
linear in the text, but for look-around and back-references, whose tries it counts and ends. Python's own engine needs
hours for `^(a+)+$` and forty letters.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_PYTHON_ENDS = {"A": "^", "Z": "$"}


@lru_cache(maxsize=4096)
def pattern_search(pattern: str, *, ignore_case: bool = False) -> Callable[[str], bool] | None:
    """The search for a pattern: does the text hold it? None for a pattern that the engine cannot compile.

    `\\A` and `\\Z` are read as `^` and `$`. A search that is given up is one that found nothing.
    """
    import jsonschema_rs

    written = _ESCAPED.sub(lambda found: _PYTHON_ENDS.get(found[1], found[0]), pattern)
    try:
        validator = jsonschema_rs.Draft202012Validator(
            {"pattern": f"(?i){written}" if ignore_case else written}
        )
    except Exception:
        return None
    matches: Callable[[str], bool] = validator.is_valid

    def search(text: str) -> bool:
        try:
            return matches(text)
        except UnicodeEncodeError:
            return matches(text.encode("utf-8", "replace").decode("utf-8"))

    return search
