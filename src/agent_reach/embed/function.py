"""The user's own function as an embedder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agent_reach.embed.base import EmbedFunction, unit_rows
from agent_reach.errors import ModelError


class FunctionEmbedder:
    """Calls a function of a list of texts that returns one vector per text; the vectors are brought to length 1."""

    def __init__(self, function: EmbedFunction, name: str = "") -> None:
        self._function = function
        self.name = name or f"function:{getattr(function, '__qualname__', type(function).__name__)}"

    def embed(self, texts: Sequence[str]) -> Any:
        """One row per text; `ModelError` if the function returns another number of rows."""
        rows = unit_rows(self._function(list(texts)))
        if len(rows) != len(texts):
            raise ModelError(
                f"the embedder {self.name!r} returned {len(rows)} vectors for {len(texts)} texts"
            )
        return rows
