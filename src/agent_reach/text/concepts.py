"""Groups of related words in English and Chinese: `forecast`, `rainy` and 天气 belong together.

A small hand-made table of general language (`lexicon.txt`): it lets a request meet a tool that says the same in other
words or in the other language. It is no thesaurus: groups are loose, a word may be in several, names are in none.
"""

from __future__ import annotations

from functools import cache, lru_cache
from importlib.resources import files

from agent_reach.text.stemming import stem
from agent_reach.text.tokens import is_cjk, split_identifier


@cache
def _groups() -> tuple[dict[str, tuple[int, ...]], dict[str, tuple[int, ...]], int]:
    """Stem -> group numbers, Chinese word -> group numbers, longest Chinese word in characters."""
    english: dict[str, list[int]] = {}
    chinese: dict[str, list[int]] = {}
    text = files("agent_reach.text").joinpath("lexicon.txt").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    for number, line in enumerate(lines):
        left, _, right = line.partition("|")
        for word in left.split():
            english.setdefault(stem(word), []).append(number)
        for word in right.split():
            chinese.setdefault(word, []).append(number)
    return (
        {word: tuple(sorted(set(numbers))) for word, numbers in english.items()},
        {word: tuple(sorted(set(numbers))) for word, numbers in chinese.items()},
        max(map(len, chinese)),
    )


@lru_cache(maxsize=65536)
def concepts_of_run(run: str) -> tuple[str, ...]:
    """The groups that the words of one run (see `tokens.runs`) belong to, each as a term `#number`."""
    english, chinese, longest = _groups()
    found: list[int] = []
    if not is_cjk(run):
        for part in split_identifier(run):
            found.extend(english.get(stem(part), ()))
        return tuple(f"#{number}" for number in found)
    start = 0
    while start < len(run):
        for length in range(min(longest, len(run) - start), 0, -1):
            numbers = chinese.get(run[start : start + length])
            if numbers is not None:
                found.extend(numbers)
                start += length
                break
        else:
            start += 1
    return tuple(f"#{number}" for number in found)
