"""An argument that was left out is marked as required and shows the form of its value."""

from __future__ import annotations

from dataclasses import replace

from agent_reach.evals.interventions.base import Changed, Intervention, Situation, with_hints
from agent_reach.evals.interventions.format_and_example import written_form
from agent_reach.records.message import Message


def _change(situation: Situation) -> Changed | None:
    tool, gold = situation.tool, situation.gold
    missing = [score.name for score in situation.decision.argument_scores if score.verdict == "missing"]
    if tool is None or gold is None or not missing:
        return None
    names = [name for name in missing if name in tool.parameters]
    forms = {
        name: {"format": "always to be given"
               + ("" if isinstance(gold.args.get(name), dict) else f"; {written_form(gold.args.get(name))}")}
        for name in names
    }  # fmt: skip
    variant = with_hints(situation, forms)
    if variant is None:
        return None
    changed = variant.catalog.get(tool.key)
    schema = {**changed.input_schema, "required": list(dict.fromkeys([*changed.required, *names]))}
    return Changed(
        variant.with_tools({tool.key: replace(changed, input_schema=schema)}),
        Message(f"marked as required: {', '.join(names)}", f"标为必填：{'、'.join(names)}"),
    )


INTERVENTION = Intervention(
    name="required_marked",
    removes=("missing_required",),
    summary=Message("The argument is marked as required.", "参数标为必填。"),
    change=_change,
)
