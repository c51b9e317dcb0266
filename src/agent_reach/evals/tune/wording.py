"""Wording made by rule out of what people really asked, within the limits that lint draws."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from agent_reach.lint.base import Thresholds, first_line
from agent_reach.records.tool import Tool
from agent_reach.text.counting import count_tokens
from agent_reach.text.stopwords import is_function_word
from agent_reach.text.tokens import is_cjk, words

MOST_TRIGGERS = 5
_LONGEST_TRIGGER = 60
_VALUE = re.compile(
    r"[\"“「『'][^\"”」』']{1,80}[\"”」』']|\b\d{4}-\d{2}-\d{2}\S*|[A-Za-z]{1,10}(?:[-_][A-Za-z0-9]+)+|\b[A-Za-z]{1,5}\d{2,}\b"
    r"|[\w.+-]+@[\w.-]+|https?://\S+|(?<![\w.])-?\d+(?:\.\d+)?%?"
)
_SPACES = re.compile(r"\s+")


def phrase(request: str) -> str:
    """The request as a phrasing: its own ids, numbers, dates and quotations left out, cut at a word."""
    text = _SPACES.sub(" ", _VALUE.sub("…", request.splitlines()[0] if request.strip() else "")).strip(
        " ,.;:!?，。；：！？"
    )
    text = re.sub(r"(?:… ?){2,}", "… ", text).strip()
    if len(text) <= _LONGEST_TRIGGER:
        return text
    cut = text[:_LONGEST_TRIGGER]
    return (cut if is_cjk(cut[-1]) else cut.rsplit(" ", 1)[0]).rstrip(" ,，") + "…"


def trigger_phrases(requests: Iterable[str], known: Sequence[str] = ()) -> tuple[str, ...]:
    """Up to five phrasings, those known already left out; a phrase that is all value is none."""
    found: dict[str, str] = {}
    for request in requests:
        text = phrase(request)
        bare = text.replace("…", "").strip()
        if len(bare) >= 4 or (bare and is_cjk(bare) and len(bare) >= 2):
            found.setdefault(bare.casefold(), text)
    have = {item.replace("…", "").strip().casefold() for item in known}
    fresh = [text for bare, text in found.items() if bare not in have]
    return tuple(fresh[: max(0, MOST_TRIGGERS - len(known))])


def telling_words(own: Sequence[str], others: Sequence[str], most: int = 5) -> tuple[str, ...]:
    """The words that requests of a tool have and requests of other tools have not, most frequent first."""
    mine = Counter(word for text in own for word in set(_plain_words(text)))
    theirs = Counter(word for text in others for word in set(_plain_words(text)))
    scored = {
        word: count / max(1, len(own)) - theirs[word] / max(1, len(others))
        for word, count in mine.items()
        if not word.isdigit()
    }
    best = sorted(scored, key=lambda word: (-scored[word], word))
    return tuple(word for word in best if scored[word] > 0)[:most]


def _plain_words(text: str) -> list[str]:
    return [word for word in words(_VALUE.sub(" ", text)) if not is_function_word(word) and len(word) > 1]


def summary_line(tool: Tool, told: Sequence[str], language: str) -> str:
    """The first line with the words of real requests; empty where it would be longer than lint allows."""
    line = first_line(tool.description).rstrip(".。") or tool.name.replace("_", " ")
    kept = [word for word in told if word not in words(line)]
    while kept:
        if language == "zh":
            text = f"{line}。用户提到{'、'.join(kept)}时使用。"
        else:
            text = f"{line}. Use when the user mentions {', '.join(kept)}."
        if (
            count_tokens(text) <= Thresholds().first_line_tokens
            and text.count(",") <= Thresholds().first_line_commas
        ):
            return text
        kept = kept[:-1]
    return ""


def border(rival: Tool, language: str) -> str:
    """What a tool says of its rival: what that one is for."""
    line = first_line(rival.description).rstrip(".。")
    if not line:
        return ""
    line = line if len(line) <= 100 else line[:100].rsplit(" ", 1)[0]
    return f"那个工具用于：{line}" if language == "zh" else f"that one is for: {line}"


def language_of_tool(tool: Tool) -> str:
    """`zh` where a third of the description is Han characters, else `en`."""
    text = tool.description or tool.name
    return "zh" if sum(is_cjk(letter) for letter in text) * 3 >= len(text) else "en"
