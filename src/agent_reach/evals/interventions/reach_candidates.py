"""The candidates of the reach layer are offered instead of everything.

Only the list changes: rivals stay in it, and arguments are not normalised.
"""

from __future__ import annotations

from agent_reach.evals.interventions.base import Changed, Intervention, Situation, offering
from agent_reach.records.message import Message

CANDIDATES = 8


def _change(situation: Situation) -> Changed | None:
    if situation.variant.config.exposure.mode == "reach" or len(situation.offered) <= CANDIDATES:
        return None
    from agent_reach.router.reach import Reach

    offered = situation.variant.catalog.subset(situation.offered)
    queries = [situation.task.query, *(turn.user for turn in situation.task.turns[1:])]
    reach = Reach(offered)
    found = {item.tool.key for query in queries for item in reach.find(query, CANDIDATES)}
    variant = offering(situation, {*found, *situation.rivals}) if found else None
    if variant is None:
        return None
    count = sum(key in found or key in situation.rivals for key in situation.offered)
    return Changed(variant, Message(f"the reach layer offers {count} tools", f"由触达层提供 {count} 个工具"))


INTERVENTION = Intervention(
    name="reach_candidates",
    removes=("crowded_out",),
    summary=Message(
        "The candidates of the reach layer are offered instead of all.", "提供触达层的候选工具，而不是全部。"
    ),
    change=_change,
)
