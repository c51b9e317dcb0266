"""A parameter says where its value stands: between which words of the request, in which passage or result. Never the value.

Where the value stands nowhere that the model could read (it has to be worked out, or is one of two), there is no place to
name, and nothing short of the gold itself would help.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from agent_reach.evals.interventions.base import Changed, Intervention, Situation, with_hints
from agent_reach.evals.interventions.value_in_slot import places
from agent_reach.records.message import Language, Message

_NUMBER = re.compile(r"(?<![A-Za-z0-9_.])-?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?![A-Za-z0-9_])")
_WORDS = 2
_CHARACTERS = 4
_LEAST_TEXT = 2


def _change(situation: Situation) -> Changed | None:
    hints: dict[str, Mapping[str, Any]] = {}
    language: Language = "zh" if situation.task.language == "zh" else "en"
    for name in wrong_values(situation):
        place = value_place(situation, _literal(situation, name))
        if place is not None:
            hints[name] = {"format": place.text(language)}
    variant = with_hints(situation, hints)
    if variant is None:
        return None
    listed = "; ".join(f"{name}: {hint['format']}" for name, hint in hints.items())
    return Changed(
        variant, Message(f"the place of the value is named ({listed})", f"说明取值所在的位置（{listed}）")
    )


def wrong_values(situation: Situation) -> tuple[str, ...]:
    """The arguments whose value is just wrong: those of the suspicion, else those that no other cause explains."""
    suspected = situation.suspicion("wrong_value")
    if suspected is not None:
        listed = tuple(map(str, suspected.data.get("arguments", ())))
        return tuple(name for name in listed if name in situation.wrong_arguments)
    known = (situation.decision.cause, *situation.decision.also)
    explained = {name for cause in known if cause is not None for name in cause.data.get("arguments", ())}
    return tuple(
        score.name
        for score in situation.decision.argument_scores
        if score.verdict in ("wrong", "illegal") and score.name not in explained
    )


def _literal(situation: Situation, name: str) -> Any:
    gold = situation.gold
    spec = gold.args.get(name, gold.optional.get(name)) if gold is not None else None
    if isinstance(spec, Mapping):
        accepted = spec.get("$one_of")
        return accepted[0] if isinstance(accepted, (list, tuple)) and accepted else spec.get("$date")
    return spec


def value_place(situation: Situation, value: Any) -> Message | None:
    """Where the model could read the value, in words; None where it could not."""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return None
    if isinstance(value, str) and len(value.strip()) < _LEAST_TEXT:
        return None
    said = [turn.user for turn in situation.task.turns] or [situation.task.query]
    for text in said:
        around = words_around(text, value)
        if around is not None:
            return _told(Message("taken from the user's request", "取自用户的请求"), *around)
    trace = situation.attempt.trace
    unseen = {item.block_id for item in trace.dropped} if trace is not None else set()
    for block in trace.blocks if trace is not None else ():
        if block.kind in ("tools", "tool_result") or block.id in unseen:
            continue
        around = words_around(block.text, value)
        if around is not None:
            return _told(Message(f"taken from {block.id}", f"取自 {block.id}"), *around)
    for tool, place in _result_places(situation, value):
        return Message(f"taken from {place} in the result of {tool}", f"取自 {tool} 结果中的 {place}")
    return None


def words_around(text: str, value: str | float) -> tuple[str, str] | None:
    """The words before and after the first place of a value in a text, None where it does not stand there."""
    span = _span(text, value)
    if span is None:
        return None
    before, after = text[: span[0]], text[span[1] :]
    if text.isascii() or " " in text.strip():
        words = (before.split()[-_WORDS:], after.split()[:_WORDS])
        left, right = (" ".join(part).strip(" ,.;:!?\"'") for part in words)
    else:
        left, right = before[-_CHARACTERS:].strip(), after[:_CHARACTERS].strip()
    return tuple("" if _span(side, value) else side for side in (left, right))  # type: ignore[return-value]


def _span(text: str, value: str | float) -> tuple[int, int] | None:
    if isinstance(value, str):
        found = re.search(
            rf"(?<![A-Za-z0-9_]){re.escape(value.strip())}(?![A-Za-z0-9_])", text, re.IGNORECASE
        )
        return found.span() if found is not None else None
    for match in _NUMBER.finditer(text):
        if float(match.group().replace(",", "")) == value:
            return match.span()
    return None


def _told(source: Message, left: str, right: str) -> Message:
    def quoted(text: str) -> str:
        return json.dumps(text, ensure_ascii=False)

    if left and right:
        return Message(
            f"{source.en}, where it stands between {quoted(left)} and {quoted(right)}",
            f"{source.zh}，位于{quoted(left)}与{quoted(right)}之间",
        )
    if left or right:
        side = Message("behind", "之后") if left else Message("before", "之前")
        return Message(
            f"{source.en}, where it stands {side.en} {quoted(left or right)}",
            f"{source.zh}，位于{quoted(left or right)}{side.zh}",
        )
    return source


def _result_places(situation: Situation, value: Any) -> Iterator[tuple[str, str]]:
    """(tool, place) of the value in the results that came before the call."""
    trace = situation.attempt.trace
    for made in trace.calls if trace is not None else ():
        if made.call_id == situation.decision.call_id:
            return
        if made.tool and made.outcome is not None and made.outcome.ok:
            for place, found in places(made.outcome.value):
                if place and found == value and isinstance(found, bool) == isinstance(value, bool):
                    yield made.tool, place


INTERVENTION = Intervention(
    name="value_place_named",
    removes=("wrong_value",),
    summary=Message(
        "The parameter says where its value stands (never the value).",
        "参数说明取值所在的位置（不给出取值）。",
    ),
    change=_change,
)
