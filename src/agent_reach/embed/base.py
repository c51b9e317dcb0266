"""What an embedder is: a function from texts to unit vectors. Optional everywhere, and never needed for a correct answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Protocol, runtime_checkable

EMBEDDERS = {
    "encoder": "agent_reach.embed.encoder:Encoder",
    "endpoint": "agent_reach.embed.endpoint:EndpointEmbedder",
    "function": "agent_reach.embed.function:FunctionEmbedder",
}
"""The built-in embedders: name to class."""
BY_NAME = ("encoder",)
"""Those that need nothing but their name; an endpoint needs an address, a function is given as one."""
ENTRY_POINTS = "agent_reach.embedders"
"""The entry-point group in which installed packages name further ones."""


@runtime_checkable
class Embedder(Protocol):
    """Texts to vectors; `name` tells vectors of different models apart in caches."""

    name: str

    def embed(self, texts: Sequence[str]) -> Any:
        """A float32 array (texts x dimensions) whose rows have length 1 (or 0 for a text without content)."""
        ...


def unit_rows(vectors: Any) -> Any:
    """The vectors as float32 rows of length 1; rows of zeros and of numbers that are not finite become zeros."""
    import numpy as np

    rows = np.asarray(vectors, dtype=np.float32)
    if rows.ndim == 1:
        rows = rows.reshape(1, -1)
    rows = np.where(np.isfinite(rows), rows, 0).astype(np.float32)
    length = np.sqrt((rows * rows).sum(1, keepdims=True))
    return rows / np.where(length > 0, length, 1)


def as_embedder(given: Any) -> Embedder:
    """An embedder from what a caller gave: an embedder, a function of texts, or the name of a built-in one."""
    from agent_reach.errors import ConfigError

    if isinstance(given, str):
        return _named(given)
    if isinstance(given, Embedder):
        return given
    if callable(given):
        from agent_reach.embed.function import FunctionEmbedder

        return FunctionEmbedder(given)
    raise ConfigError(
        f"{type(given).__name__} is no embedder",
        next_step="give an object with name and embed(texts), a function of a list of texts, or 'encoder'",
    )


@cache
def _named(name: str) -> Embedder:
    """The embedder of that name, one in the process: its weights are read and its texts embedded once for everybody."""
    from importlib import import_module
    from importlib.metadata import entry_points

    from agent_reach.errors import ConfigError

    where = EMBEDDERS.get(name)
    if where is None or name not in BY_NAME:
        installed = {point.name: point for point in entry_points(group=ENTRY_POINTS)}
        if name in installed:
            return _remembering(installed[name].load()())
        known = ", ".join((*BY_NAME, *installed))
        raise ConfigError(
            f"no embedder is named {name!r}",
            next_step=f"known by name: {known}; an endpoint is written {{base_url: ..., model: ...}}",
        )
    module, _, attribute = where.partition(":")
    return _remembering(getattr(import_module(module), attribute)())


def _remembering(embedder: Embedder) -> Embedder:
    from agent_reach.embed.cache import CachedEmbedder

    return CachedEmbedder(embedder)


EmbedFunction = Callable[[Sequence[str]], Any]
