"""Only the right tool and four far ones are offered.

The rivals and what was chosen instead stay offered: the length of the list goes, the confusion stays.
"""

from __future__ import annotations

from agent_reach.catalog.similar import similarity
from agent_reach.evals.interventions.base import Changed, Intervention, Situation, offering
from agent_reach.records.message import Message

FAR_TOOLS = 4


def _change(situation: Situation) -> Changed | None:
    gold = situation.tool
    if gold is None or gold.key not in situation.offered:
        return None
    kept = {*situation.golden_keys, *situation.rivals}
    others = [key for key in situation.offered if key not in kept]
    nearness = {key: similarity(gold, situation.variant.catalog.get(key)) for key in others}
    far = sorted(others, key=lambda key: (nearness[key], key))[:FAR_TOOLS]
    if len(others) <= FAR_TOOLS:
        return None
    variant = offering(situation, {*kept, *far})
    if variant is None:
        return None
    count = sum(key in kept or key in far for key in situation.offered)
    total = len(situation.offered)
    return Changed(
        variant,
        Message(f"{count} tools offered instead of {total}", f"提供 {count} 个工具，而不是 {total} 个"),
    )


INTERVENTION = Intervention(
    name="few_tools",
    removes=("crowded_out",),
    summary=Message(
        "Only the right tool, its rivals and four far tools are offered.",
        "只提供正确的工具、它的混淆项和四个无关工具。",
    ),
    change=_change,
)
