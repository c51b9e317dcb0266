"""In which language a request is written, as far as its script tells; reports group by it."""

from __future__ import annotations

import re

_KANA_OR_HANGUL = re.compile(r"[\u3040-\u30ff\uac00-\ud7af]")
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_LATIN = re.compile(r"[A-Za-z]")
_OTHER_LETTER = re.compile(r"[^\W\d_A-Za-z]")


def language_of(text: str) -> str:
    """`zh` for text with Han characters (and no kana or hangul), `en` for text whose letters are all of the basic Latin
    alphabet, else empty: unknown is not guessed."""
    if _KANA_OR_HANGUL.search(text):
        return ""
    if _HAN.search(text):
        return "zh"
    return "en" if _LATIN.search(text) and not _OTHER_LETTER.search(text) else ""
