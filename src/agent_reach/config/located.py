"""A JSON value together with the file it came from and the line of each of its parts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Steps = tuple[str | int, ...]
"""The way from the root of a document to a part of it: keys and positions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A JSON value with the file it came from and the line of each part (a part without one has its parent's)."""

    value: Any
    source: str = ""
    lines: Mapping[Steps, int] = field(default_factory=dict)

    def line(self, path: Steps = ()) -> int | None:
        """The line of that part, counted from 1; None when the document did not come from text."""
        for length in range(len(path), -1, -1):
            found = self.lines.get(path[:length])
            if found is not None:
                return found
        return None

    def where(self, path: Steps = ()) -> str:
        """`file:line` of that part."""
        line = self.line(path)
        if line is None:
            return self.source
        return f"{self.source}:{line}" if self.source else f"line {line}"
