"""Vectors beside words: what a request means, where an embedder is installed.

Tool vectors are computed in the background; until they are there, words decide alone. How much a vector counts depends
on what the words know: a request whose words a tool covers needs no help, one in another script than the catalog gets
nearly all of it from here. Equal weights would let a weak side spoil a strong one.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from agent_reach.embed.base import Embedder
from agent_reach.embed.cache import CachedEmbedder
from agent_reach.records.tool import Tool
from agent_reach.router.recall import Evidence, LexicalIndex
from agent_reach.router.request import Request
from agent_reach.text.tokens import split_identifier

BATCH = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorWeights:
    """`share` is what the likest tool gains in units of the best word score, less where words cover the request (`yield_`
    says how fast); `sharpness` favours the likest over the merely like; `alone` is used instead where request and catalog differ in script."""

    share: float = 1.0
    yield_: float = 4.0
    sharpness: float = 1.5
    alone: float = 4.0


class VectorIndex:
    """One vector per tool, filled by a thread of its own; `wait` blocks until it is done."""

    def __init__(
        self,
        tools: Iterable[Tool],
        embedder: Embedder,
        *,
        weights: VectorWeights | None = None,
        background: bool = True,
    ) -> None:
        self.embedder = embedder if isinstance(embedder, CachedEmbedder) else CachedEmbedder(embedder)
        self.weights = weights or VectorWeights()
        self.failure: Exception | None = None
        self._rows: dict[str, Any] = {}
        self._lock = threading.Lock()
        self._table: tuple[int, int, int, Any] | None = None
        self._changes = 0
        tools = list(tools)
        self._thread = threading.Thread(
            target=self._compute, args=(tools,), name="agent-reach-vectors", daemon=True
        )
        if background:
            self._thread.start()
        else:
            self._compute(tools)

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for the vectors of all tools; True when they are there. `timeout` in seconds."""
        if self._thread.is_alive():
            self._thread.join(timeout)
        return not self._thread.is_alive() and self.failure is None

    def update(self, tool: Tool) -> None:
        """Embed one changed tool."""
        self._embed([tool])

    def _compute(self, tools: list[Tool]) -> None:
        try:
            for start in range(0, len(tools), BATCH):
                self._embed(tools[start : start + BATCH])
        except Exception as error:  # a broken embedder must not break recall by words; Reach reports it
            self.failure = error

    def _embed(self, tools: list[Tool]) -> None:
        rows = self.embedder.embed([tool_text(tool) for tool in tools])
        with self._lock:
            self._rows.update(zip((tool.key for tool in tools), rows, strict=True))
            self._changes += 1

    def weigh(
        self, evidence: Evidence, request: Request, index: LexicalIndex, *, scripts_differ: bool = False
    ) -> Evidence:
        """The evidence with likeness added to it, need by need; unchanged while no vectors are there."""
        import numpy as np

        table = self._aligned(index)
        if table is None or not request.text.strip():
            return evidence
        share = self._share(evidence, scripts_differ)
        by_need = evidence.by_need
        texts = [request.text, *(request.need_texts if by_need is not None else ())]
        likeness = table @ self.embedder.embed(texts).T
        sure = float(max(0.0, likeness.max()))
        whole = self._gain(likeness[:, 0], evidence.total, share)
        if by_need is None or len(request.need_texts) != len(by_need):
            return replace(evidence, total=evidence.total + whole, support=max(evidence.support, sure))
        gains = np.array(
            [self._gain(likeness[:, 1 + row], words, share) for row, words in enumerate(by_need)],
            dtype=np.float32,
        )
        return replace(
            evidence,
            by_need=by_need + gains,
            total=evidence.total + 0.5 * gains.sum(0) + 0.5 * whole,
            support=max(evidence.support, sure),
        )

    def _share(self, evidence: Evidence, scripts_differ: bool) -> float:
        import numpy as np

        if scripts_differ:
            return self.weights.alone
        best = int(evidence.total.argmax())
        covered = float(evidence.coverage(np.array([best]))[0])
        return float(self.weights.share * max(0.0, 1.0 - covered) ** self.weights.yield_)

    def _gain(self, likeness: Any, words: Any, share: float) -> Any:
        """Likeness stretched from the middle of all tools (0) to the likest (1), in the unit of the word scores."""
        import numpy as np

        best = float(words.max(initial=0.0)) or 1.0
        middle, highest = float(np.median(likeness)), float(likeness.max())
        stretched = np.clip((likeness - middle) / max(highest - middle, 1e-9), 0.0, 1.0)
        return share * best * stretched**self.weights.sharpness

    def _aligned(self, index: LexicalIndex) -> Any:
        """The vectors in slot order; zeros for a tool that has none yet, None while nothing is there."""
        import numpy as np

        with self._lock:
            state = (id(index), index.version, self._changes)
            if self._table is not None and self._table[:3] == state:
                return self._table[3]
            if not self._rows:
                return None
            width = len(next(iter(self._rows.values())))
            table = np.zeros((index.slots, width), dtype=np.float32)
            for key, slot in index.slot_of.items():
                row = self._rows.get(key)
                if row is not None:
                    table[slot] = row
            self._table = (*state, table)
            return table


def tool_text(tool: Tool) -> str:
    """What of a tool is embedded: the words of its name, the note's summary, the description's beginning."""
    summary = f" {tool.note.summary}" if tool.note is not None and tool.note.summary else ""
    return f"{' '.join(split_identifier(tool.name))}.{summary} {tool.description[:300]}"
