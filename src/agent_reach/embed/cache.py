"""Vectors kept by what was embedded: model name and text. A changed text is another entry, so nothing goes stale."""

from __future__ import annotations

import hashlib
import os
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agent_reach.embed.base import Embedder


class CachedEmbedder:
    """An embedder that remembers; with `path` (an .npz file) also beyond the process, written by `save`.

    A cache file that cannot be read is treated as empty: it only ever saves time.
    """

    def __init__(self, embedder: Embedder, path: str | Path | None = None, *, limit: int = 200_000) -> None:
        self._embedder = embedder
        self.name = embedder.name
        self._path = Path(path) if path is not None else None
        self._limit = limit
        self._known: dict[str, Any] = {}
        self._lock = threading.Lock()
        self._changed = False
        if self._path is not None and self._path.exists():
            self._read(self._path)

    def embed(self, texts: Sequence[str]) -> Any:
        """One row per text; only unknown texts reach the embedder, each once."""
        import numpy as np

        keys = [self._key(text) for text in texts]
        with self._lock:
            missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._known}
        if missing:
            rows = self._embedder.embed(list(missing.values()))
            with self._lock:
                self._known.update(zip(missing, rows, strict=True))
                self._changed = True
        with self._lock:
            found = [self._known[key] for key in keys]
            while len(self._known) > self._limit:
                self._known.pop(next(iter(self._known)))
        return np.array(found, dtype=np.float32) if found else np.zeros((0, 0), dtype=np.float32)

    def save(self) -> None:
        """Write the file whole or not at all; nothing happens without a path or without news."""
        import numpy as np

        if self._path is None or not self._changed:
            return
        with self._lock:
            keys = np.array(list(self._known), dtype="S32")
            rows = np.array(list(self._known.values()), dtype=np.float32)
            self._changed = False
        self._path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=self._path.parent, prefix=f".{self._path.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                np.savez(file, keys=keys, rows=rows)
            os.replace(name, self._path)
        except BaseException:
            os.unlink(name)
            raise

    def _key(self, text: str) -> str:
        content = f"{self.name}\0{text}".encode("utf-8", "surrogatepass")
        return hashlib.sha256(content).hexdigest()[:32]

    def _read(self, path: Path) -> None:
        import zipfile

        import numpy as np

        try:
            with np.load(path, allow_pickle=False) as stored:
                keys, rows = stored["keys"], stored["rows"]
            self._known = {key.decode("ascii"): row for key, row in zip(keys, rows, strict=True)}
        except (OSError, ValueError, KeyError, zipfile.BadZipFile, UnicodeDecodeError):
            self._known = {}
