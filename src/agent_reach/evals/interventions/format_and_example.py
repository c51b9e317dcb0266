"""A parameter that was written in the wrong notation or type says its format and shows an example.

The example has the form of the gold and is not the gold: digits and letters are moved on.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from agent_reach.evals.interventions.base import Changed, Intervention, Situation, with_hints
from agent_reach.records.message import Message

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}(?!\d)")


def _change(situation: Situation) -> Changed | None:
    gold = situation.gold
    if gold is None:
        return None
    scores = {score.name: score for score in situation.decision.argument_scores}
    hints: dict[str, Mapping[str, Any]] = {}
    for name in situation.wrong_arguments:
        spec = gold.args.get(name, gold.optional.get(name))
        value = _literal(spec)
        if value is None or scores[name].verdict in ("missing", "unknown"):
            continue
        if (situation.cause == "wrong_format") != (_kind(value) == _kind(scores[name].actual)):
            continue
        hints[name] = {"format": written_form(value), "example": moved_on(value)}
    variant = with_hints(situation, hints)
    if variant is None:
        return None
    listed = "; ".join(f"{name}: {hint['format']}" for name, hint in hints.items())
    return Changed(variant, Message(f"format and example added ({listed})", f"补充格式与示例（{listed}）"))


def _literal(spec: Any) -> Any:
    if isinstance(spec, Mapping) and len(spec) == 1:
        key, value = next(iter(spec.items()))
        if key in ("$date",):
            return value
        if key == "$one_of" and value:
            return value[0]
        if str(key).startswith("$"):
            return None
    return spec


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, (int, float)):
        return "number"
    return type(value).__name__


def written_form(value: Any) -> str:
    """The form of a value in words: `YYYY-MM-DD`, `AAA-0000`, a type name."""
    if isinstance(value, bool):
        return "true or false (JSON boolean)"
    if isinstance(value, int):
        return "a whole number (JSON integer, no quotes)"
    if isinstance(value, float):
        return "a number (JSON number, no quotes)"
    if isinstance(value, (list, tuple)):
        return "a JSON array" + (f" of items like {written_form(value[0])}" if value else "")
    if isinstance(value, Mapping):
        return f"a JSON object with {', '.join(map(str, value))}"
    text = _DATE.sub("YYYY-MM-DD", str(value))
    if "YYYY" in text:
        head, *rest = re.split(r"(YYYY-MM-DD)", text, maxsplit=1)
        return head + "".join(re.sub(r"\d", "0", part) for part in rest)
    return re.sub(r"\d", "0", text) if re.search(r"\d", text) else "text"


def moved_on(value: Any) -> Any:
    """A value of the same form that is another one."""
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value + 1
    if isinstance(value, float):
        return value + 1.0
    if isinstance(value, (list, tuple)):
        return [moved_on(item) for item in value]
    if isinstance(value, Mapping):
        return {key: moved_on(item) for key, item in value.items()}
    text = str(value)
    if _DATE.search(text):
        return _DATE.sub(lambda match: "2019-03-14" if match.group() != "2019-03-14" else "2018-05-16", text)
    return re.sub(r"\d", lambda match: str((int(match.group()) + 3) % 10), text)


INTERVENTION = Intervention(
    name="format_and_example",
    removes=("wrong_format", "wrong_type"),
    summary=Message("The parameter states its format and an example.", "参数写明格式并给出示例。"),
    change=_change,
)
