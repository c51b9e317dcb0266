"""Pauses the cycle collector while many long-lived objects are made, which would make it walk all of them again and again.

Nothing made here forms cycles that must be freed meanwhile; the collector is put back as it was, also after an error.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def paused_collection() -> Iterator[None]:
    """No cycle collection inside the block."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
