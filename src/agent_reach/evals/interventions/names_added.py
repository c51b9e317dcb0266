"""Parameters say the names that were used for them."""

from __future__ import annotations

from agent_reach.evals.interventions.base import Changed, Intervention, Situation, with_hints
from agent_reach.records.message import Message


def _change(situation: Situation) -> Changed | None:
    scores = situation.decision.argument_scores
    invented = [score for score in scores if score.verdict == "unknown"]
    missing = [score for score in scores if score.verdict == "missing"]
    pairs: dict[str, list[str]] = {}
    for score in invented:
        meant = next((other.name for other in missing if other.expected == score.actual), "")
        meant = meant or (missing[0].name if len(missing) == 1 else "")
        if meant:
            pairs.setdefault(meant, []).append(score.name)
    variant = with_hints(situation, {name: {"names": words} for name, words in pairs.items()})
    if variant is None:
        return None
    listed = "; ".join(f"{name} ({', '.join(words)})" for name, words in pairs.items())
    return Changed(variant, Message(f"parameter names explained: {listed}", f"说明参数名：{listed}"))


INTERVENTION = Intervention(
    name="names_added",
    removes=("unknown_argument",),
    summary=Message("The parameter says the name that was used for it.", "参数写明被误用的名称。"),
    change=_change,
)
