"""The Chinese words of a catalog, for a segmenter: what a dictionary of general language cannot know.

Short runs of Han characters in names, triggers and listed values are taken for words; whether they are is not checked,
and a catalog described in English gives none.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from agent_reach.records.tool import Tool
from agent_reach.router.recall_fields import FIELDS, field_texts
from agent_reach.text.segmenting import TeachableSegmenter, WordBorders, as_segmenter
from agent_reach.text.tokens import is_cjk, runs

MAX_WORD = 8
"""A longer run of Han characters is a sentence rather than a word."""
COINING = tuple(FIELDS.index(field) for field in ("name", "triggers", "parameter_names", "values"))


def domain_words(tools: Iterable[Tool]) -> list[str]:
    """The Chinese words that tools coin: short runs in names, aliases, triggers, parameter names, and values with the words
    noted for them; simplified, each once, in the order of the tools."""
    found: dict[str, None] = {}
    for tool in tools:
        texts = field_texts(tool)
        for text in (text for place in COINING for text in texts[place] if not text.isascii()):
            found.update((run, None) for run in runs(text) if 1 < len(run) <= MAX_WORD and is_cjk(run))
    return list(found)


def word_borders(given: Any, tools: Iterable[Tool]) -> WordBorders | None:
    """The borders that a segmenter sees, taught the words of these tools where it can be taught; None without one.

    `given` is what `as_segmenter` takes; raises what it raises.
    """
    if given is None:
        return None
    segmenter = as_segmenter(given)
    if isinstance(segmenter, TeachableSegmenter):
        words = domain_words(tools)
        segmenter = segmenter.knowing(words) if words else segmenter
    return WordBorders(segmenter)
