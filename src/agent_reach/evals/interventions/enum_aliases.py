"""The listed values say which words people use for them: the word that was sent stands beside the value it means."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agent_reach.evals.interventions.base import Changed, Intervention, Situation, with_hints
from agent_reach.lint.base import schema_enum
from agent_reach.records.message import Message


def enum_words(situation: Situation) -> dict[str, tuple[str, str]]:
    """Argument -> (legal value that was meant, word that was sent)."""
    found: dict[str, tuple[str, str]] = {}
    gold, tool = situation.gold, situation.tool
    if gold is None or tool is None:
        return found
    for score in situation.decision.argument_scores:
        if score.verdict not in ("wrong", "illegal"):
            continue
        spec: Any = gold.args.get(score.name, gold.optional.get(score.name))
        if isinstance(spec, Mapping) and isinstance(spec.get("$one_of"), (list, tuple)) and spec["$one_of"]:
            spec = spec["$one_of"][0]
        schema = tool.parameters.get(score.name)
        options = schema_enum(schema) if isinstance(schema, Mapping) else ()
        if spec in options and isinstance(score.actual, str) and score.actual not in options:
            found[score.name] = (str(spec), score.actual)
    return found


def _change(situation: Situation) -> Changed | None:
    words = enum_words(situation)
    variant = with_hints(
        situation, {name: {"values": {value: (word,)}} for name, (value, word) in words.items()}
    )
    if variant is None:
        return None
    listed = "; ".join(f"{name}: {word} = {value}" for name, (value, word) in words.items())
    return Changed(variant, Message(f"aliases added ({listed})", f"补充别名（{listed}）"))


INTERVENTION = Intervention(
    name="enum_aliases",
    removes=("enum_synonym",),
    summary=Message("The listed values name the words people use.", "枚举取值写明用户的说法。"),
    change=_change,
)
