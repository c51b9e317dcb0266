"""Folding of Unicode forms, so that equal text compares equal."""

from __future__ import annotations

import unicodedata
from functools import cache

from agent_reach.text.traditional import SIMPLIFIED, TRADITIONAL


@cache
def _table() -> dict[int, int]:
    return str.maketrans(TRADITIONAL, SIMPLIFIED)


def simplify(text: str) -> str:
    """NFKC, and traditional Chinese characters turned to simplified ones; case and white space stay."""
    if text.isascii():
        return text
    return unicodedata.normalize("NFKC", text).translate(_table())


def fold(text: str) -> str:
    """NFKC, case-folded, traditional Chinese characters turned to simplified ones, white space runs to one blank."""
    return " ".join(simplify(text).casefold().split())
