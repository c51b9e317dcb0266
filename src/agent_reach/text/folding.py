"""Folding of Unicode forms, so that equal text compares equal."""

from __future__ import annotations

import unicodedata


def fold(text: str) -> str:
    """NFKC, case-folded, traditional Chinese characters turned to simplified ones, white space runs to one blank."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())
