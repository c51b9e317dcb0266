"""Steps of JSON pointers (RFC 6901): names and positions as they are written between the slashes, and back."""

from __future__ import annotations


def escape_pointer(step: object) -> str:
    """A name or position as one step of a pointer."""
    return str(step).replace("~", "~0").replace("/", "~1")


def unescape_pointer(step: str) -> str:
    """The name that one step of a pointer writes."""
    return step.replace("~1", "/").replace("~0", "~")
