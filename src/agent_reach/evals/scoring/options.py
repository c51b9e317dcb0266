"""What scoring is asked to do beyond the verdicts, and where its lines are drawn."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreOptions:
    """`causes`, `blocks` and `provenance` switch those parts on; `keep_trace` keeps the trace in the score.

    `long_list` is the number of offered tools from which a lost tool counts as crowded out; `many_passages` and
    `heavy_context_tokens` (estimated, tool list apart) make a context overloaded.
    """

    causes: bool = True
    blocks: bool = True
    provenance: bool = True
    keep_trace: bool = True
    long_list: int = 30
    many_passages: int = 6
    heavy_context_tokens: int = 6000


DEFAULT_OPTIONS = ScoreOptions()
