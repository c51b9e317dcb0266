"""Pauses the garbage collector while very many records are made that all stay.

The collector would walk all of them again and again, which about doubles the time of reading a large report or building
a large map. It judges nothing about memory: what is made inside the block must form no cycles that have to go meanwhile.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collector_paused() -> Iterator[None]:
    """No garbage collection inside the block; the collector is put back as it was, also after an error."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
