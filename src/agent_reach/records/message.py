"""One sentence in both languages, made where the facts are known, so that every output can speak either."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Language = Literal["en", "zh"]


@dataclass(frozen=True, slots=True)
class Message:
    """The same sentence in English and Chinese."""

    en: str
    zh: str

    def text(self, language: Language = "en") -> str:
        """The sentence in that language."""
        return self.zh if language == "zh" else self.en

    def __str__(self) -> str:
        return self.en
