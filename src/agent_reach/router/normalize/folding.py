"""Text as the date reader sees it: one form of width, case and blanks, with the way back to the original offsets."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from agent_reach.text.traditional import SIMPLIFIED, TRADITIONAL

_SAME = {
    "’": "'",
    "‘": "'",
    "\u3000": " ",
    "\t": " ",
    "\n": " ",
    "\xa0": " ",
    "−": "-",
    "－": "-",
    "〜": "~",
    "～": "~",
}


@dataclass(frozen=True, slots=True)
class FoldedText:
    """`text` and, for each of its characters, the offset in the original; `offsets[len(text)]` is the original's end."""

    text: str
    offsets: tuple[int, ...]

    def original_span(self, start: int, end: int) -> tuple[int, int]:
        """Start and end offset in the original text."""
        return self.offsets[start], (self.offsets[end - 1] + 1 if end > start else self.offsets[end])


@cache
def _simplified() -> dict[int, int]:
    return str.maketrans(TRADITIONAL, SIMPLIFIED)


def is_han(character: str) -> bool:
    """A Chinese character."""
    return "\u3400" <= character <= "\u9fff" or character == "〇"


def fold_for_dates(original: str) -> FoldedText:
    """Half-width, lower case, single blanks, and no blank beside a Chinese character."""
    table = _simplified()
    characters: list[str] = []
    offsets: list[int] = []
    for index, character in enumerate(original):
        if character in _SAME:
            character = _SAME[character]
        elif "\uff01" <= character <= "\uff5e":
            character = chr(ord(character) - 0xFEE0)
        character = chr(table.get(ord(character), ord(character)))
        lowered = character.lower()
        if len(lowered) == 1:
            character = lowered
        if character == " " and (not characters or characters[-1] == " "):
            continue
        characters.append(character)
        offsets.append(index)
    while characters and characters[-1] == " ":
        characters.pop()
        offsets.pop()
    kept = [
        index
        for index, character in enumerate(characters)
        if character != " "
        or not (
            is_han(characters[index - 1]) or (index + 1 < len(characters) and is_han(characters[index + 1]))
        )
    ]
    return FoldedText(
        "".join(characters[index] for index in kept), (*(offsets[index] for index in kept), len(original))
    )
