"""The constants by which bindings are weighed: how often a value that could flow from one tool to another really does.

They were chosen once on public tool lists and apply to every catalog. `benchmarks/graph_edges.py --leave-one-out` says how
much of the figures there hangs on that choice. The strengths of the rules themselves stand in `binding`.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeWeights:
    """Factors 0..1 unless said otherwise.

    Kinds of tools: `read_to_read`, `write_to_read`, `write_to_write` by what both do; `new_thing` where a write gives a thing
    it has just made; `given_by_lookup` for a reading tool that searches nothing; `known_already` where a lookup of one thing
    would be fed by a tool that takes that thing; `same_search` and `same_name_again` where a tool would look for, or make
    anew, what the other one just gave; `into_login` for what feeds a login.
    Outputs: `read_echo` and `write_echo` for a value that the tool itself took; `spoken_of` for a result that only the name of
    a tool tells and that it took; `deep` per level below the third.
    Inputs: `optional`; by what the value is, `date`, `text`, `quantity` and `other` (identifiers and codes: 1).
    Nearness: tools whose words are `alike` (a cosine) count as near; (factor when far, what nearness adds) for weak and
    strong bindings, and `id_near` the share of the gap that an identifier spares.
    Joining: `outdone` is what a binding keeps where another gives the same input far better; `support` the share that the
    bindings of further inputs add; `even` the raw strength that is put at the line of trust.
    """

    read_to_read: float = 0.93
    write_to_read: float = 0.45
    write_to_write: float = 0.7
    new_thing: float = 0.95
    given_by_lookup: float = 0.96
    known_already: float = 0.35
    same_search: float = 0.5
    same_name_again: float = 0.5
    into_login: float = 0.45
    read_echo: float = 0.8
    write_echo: float = 0.55
    spoken_of: float = 0.5
    deep: float = 0.9
    optional: float = 0.9
    date: float = 0.75
    text: float = 0.7
    quantity: float = 0.8
    other: float = 0.95
    alike: float = 0.25
    weak_near: tuple[float, float] = (0.5, 0.65)
    strong_near: tuple[float, float] = (0.45, 0.55)
    id_near: float = 0.4
    outdone: float = 0.4
    support: float = 0.08
    even: float = 0.29


DEFAULT_WEIGHTS = EdgeWeights()
