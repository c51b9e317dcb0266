"""The values that a golden call needed, so that causes can ask where those values were."""

from __future__ import annotations

from typing import Any

from agent_reach.evals.scoring.facts import folded, leaf_facts, leaves
from agent_reach.evals.scoring.pairing import Pairing
from agent_reach.evals.scoring.values import MISSING, is_matcher, split_reference, value_at


def needed_values(spec: Any, pairing: Pairing) -> list[Any]:
    """The leaves of a gold that can be looked for in a text: literals, accepted values, referenced results."""
    if is_matcher(spec):
        if "$from" in spec:
            step, path = split_reference(str(spec["$from"]))
            found = [value_at(result, path) for result in recorded_and_real(pairing, step)]
            return [leaf for value in found if value is not MISSING for leaf in telling_leaves(value)]
        for name in ("$one_of", "$unordered", "$contains", "$date", "$approx"):
            if name in spec:
                return telling_leaves(spec[name])
        return []
    return telling_leaves(spec)


def recorded_and_real(pairing: Pairing, step: str) -> list[Any]:
    """The result that a step's call got and the recorded one, as far as there are any."""
    found = list(pairing.result_of(step))
    gold = pairing.path.by_id.get(step)
    if gold is not None and gold.call.has_result:
        found.append(gold.call.result)
    return found


def telling_leaves(value: Any) -> list[Any]:
    """Leaves that can be told apart in a text: with facts, or strings of three characters or more."""
    return [
        leaf
        for _, leaf in leaves(value)
        if leaf_facts(leaf)
        or (isinstance(leaf, str) and len(folded(leaf).strip()) >= (3 if leaf.isascii() else 2))
    ]
