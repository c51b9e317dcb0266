"""`${NAME}` in texts of a configuration, resolved from a mapping that the caller hands in.

Nothing here reads the process environment.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

_REFERENCE = re.compile(r"\$(\$\{)|\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Expansion:
    """The resolved text and the names that have no value."""

    text: str
    missing: tuple[str, ...] = ()


def expand(text: str, environment: Mapping[str, str]) -> Expansion:
    """`${NAME}` and `${NAME:-otherwise}` replaced (an empty value counts as none where there is an otherwise);
    `$${` stands for a literal `${`."""
    missing: list[str] = []

    def replace(match: re.Match[str]) -> str:
        if match.group(1):
            return "${"
        name, otherwise = match.group(2), match.group(3)
        value = environment.get(name)
        if otherwise is not None:
            return value or otherwise
        if value is None:
            missing.append(name)
            return match.group(0)
        return value

    return Expansion(text=_REFERENCE.sub(replace, text), missing=tuple(dict.fromkeys(missing)))
