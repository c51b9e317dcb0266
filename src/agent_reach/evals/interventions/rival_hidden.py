"""The rival is not offered: what was chosen instead of the right tool, and the tools that look like it."""

from __future__ import annotations

from agent_reach.evals.interventions.base import Changed, Intervention, Situation, names_of, offering
from agent_reach.records.message import Message


def _change(situation: Situation) -> Changed | None:
    rivals = [key for key in situation.rivals if key in situation.offered]
    variant = offering(situation, set(situation.offered) - set(rivals)) if rivals else None
    if variant is None:
        return None
    return Changed(variant, Message(f"not offered: {names_of(rivals)}", f"不提供：{names_of(rivals)}"))


INTERVENTION = Intervention(
    name="rival_hidden",
    removes=("rival_chosen",),
    summary=Message("The rival is not offered.", "不提供混淆的工具。"),
    change=_change,
)
