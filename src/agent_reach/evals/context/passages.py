"""Which retrieval passages are shown, and where the best of them stand.

Models read the head and the tail of a long list better than its middle; the place of the best passage is a setting so
that its effect can be measured.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Literal

from agent_reach.records.context import ContextBlock
from agent_reach.text.tokens import words


def rank_passages(passages: Sequence[ContextBlock], query: str, rerank: str) -> list[ContextBlock]:
    """Best first. `lexical` ranks by the share of the request's words that a passage holds; `none` by the passages' own
    scores where they have any (those without one stand behind). Ties keep the written order."""
    if rerank == "none":
        return sorted(
            passages, key=lambda block: -(block.score if block.score is not None else float("-inf"))
        )
    wanted = Counter(words(query))
    total = sum(wanted.values()) or 1
    held = {id(block): sum((wanted & Counter(words(block.text))).values()) / total for block in passages}
    return sorted(passages, key=lambda block: -held[id(block)])


def place_passages(
    ranked: Sequence[ContextBlock], best: Literal["first", "middle", "last"]
) -> list[ContextBlock]:
    """Passages in the order they are shown: best `first`, best `last`, or best in the `middle`."""
    if best == "first":
        return list(ranked)
    if best == "last":
        return list(reversed(ranked))
    head: list[ContextBlock] = []
    tail: list[ContextBlock] = []
    for position, block in enumerate(reversed(ranked)):
        (head if position % 2 == 0 else tail).append(block)
    return [*head, *reversed(tail)]
