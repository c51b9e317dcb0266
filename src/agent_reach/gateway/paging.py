"""Pages of our own lists: every entry once, in one order, with cursors that say which version of the list they belong to.

A cursor of another version is refused by name instead of giving a page of a list that has moved.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Sequence
from typing import TypeVar

Item = TypeVar("Item")


class StaleCursorError(ValueError):
    """The cursor belongs to another version of the list, or is no cursor of ours."""


def version_of(*parts: str) -> str:
    """A short name for one version of a list."""
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def page(
    items: Sequence[Item], version: str, cursor: str | None, size: int
) -> tuple[Sequence[Item], str | None]:
    """The entries at a cursor (None: the first page) and the cursor of the next page; raises `StaleCursorError`."""
    start = 0 if cursor is None else _position(cursor, version)
    if start > len(items):
        raise StaleCursorError("the cursor points behind the end of the list")
    end = start + size
    following = _cursor(version, end) if end < len(items) else None
    return items[start:end], following


def _cursor(version: str, position: int) -> str:
    return base64.urlsafe_b64encode(f"{version}:{position}".encode()).decode()


def _position(cursor: str, version: str) -> int:
    try:
        written, _, position = base64.urlsafe_b64decode(cursor.encode()).decode().partition(":")
        number = int(position)
    except (ValueError, binascii.Error) as error:
        raise StaleCursorError("this is no cursor of this list; list again from the beginning") from error
    if written != version:
        raise StaleCursorError(
            "stale cursor: the list has changed since that page; list again from the beginning"
        )
    if number < 0:
        raise StaleCursorError("this is no cursor of this list; list again from the beginning")
    return number
