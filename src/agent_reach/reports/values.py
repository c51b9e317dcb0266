"""Argument values side by side: what was expected in words, what differs between two values.

Matchers of a golden path (`{"$one_of": [...]}`) are put into words here for people; what they accept is decided by the
scorer alone. Texts that are compared are cut into parts that both have and parts that one has.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agent_reach.records.matchers import is_matcher
from agent_reach.records.message import Language
from agent_reach.records.score import ArgumentScore, Decision
from agent_reach.reports.figures import json_value

Segment = tuple[str, bool]
"""A part of a text and whether it differs from the other side."""


class _Absent:
    """The argument is not there; apart from null, which is a value."""


ABSENT = _Absent()


def expected_text(value: Any, language: Language) -> str:
    """An expected value for people: a matcher in words, anything else as JSON."""
    if is_matcher(value):
        return _matcher_text(value, language)
    return json_value(value)


def _matcher_text(matcher: Mapping[str, Any], language: Language) -> str:
    chinese = language == "zh"
    if "$one_of" in matcher and isinstance(matcher["$one_of"], (list, tuple)):
        options = ", ".join(expected_text(option, language) for option in matcher["$one_of"])
        return f"其一：{options}" if chinese else f"one of: {options}"
    if "$approx" in matcher:
        tolerance = f" ± {json_value(matcher['$tol'])}" if "$tol" in matcher else ""
        return f"{'约' if chinese else 'about '}{json_value(matcher['$approx'])}{tolerance}"
    if "$range" in matcher and isinstance(matcher["$range"], (list, tuple)) and len(matcher["$range"]) == 2:
        return _range_text(*matcher["$range"], chinese=chinese)
    words = {
        "$pattern": ("text matching ", "匹配 "),
        "$type": ("any value of type ", "任意类型值："),
        "$unordered": ("in any order: ", "不计顺序："),
        "$contains": ("a list that holds ", "包含："),
        "$date": ("the date ", "日期 "),
        "$from": ("the result ", "取自结果 "),
    }
    for key, (english, chinese_words) in words.items():
        if key in matcher:
            value = matcher[key]
            text = value if isinstance(value, str) else json_value(value)
            return (chinese_words if chinese else english) + text
    if "$any" in matcher:
        return "任意值" if chinese else "anything"
    if "$default" in matcher:
        return "默认值" if chinese else "the default"
    return json_value(matcher)


def _range_text(low: Any, high: Any, *, chinese: bool) -> str:
    if low is None:
        return f"{'至多' if chinese else 'at most '}{json_value(high)}"
    if high is None:
        return f"{'至少' if chinese else 'at least '}{json_value(low)}"
    if chinese:
        return f"{json_value(low)} 到 {json_value(high)}"
    return f"from {json_value(low)} to {json_value(high)}"


def argument_rows(decision: Decision) -> list[tuple[ArgumentScore | None, str, Any, Any]]:
    """One row per argument: its score where there is one, its name, what was given, what was expected.

    `ABSENT` stands for an argument that is not there. Without scores (another tool was called) the names of both sides
    stand beside each other.
    """
    given = decision.arguments or {}
    expected = {**decision.expected_arguments}
    expected |= {name: value for name, value in decision.optional_arguments.items() if name not in expected}
    if decision.argument_scores:
        rows: list[tuple[ArgumentScore | None, str, Any, Any]] = []
        for score in decision.argument_scores:
            absent = score.verdict in ("missing", "unused")
            no_gold = score.verdict in ("legal", "illegal", "unknown")
            wanted = ABSENT if no_gold and score.expected is None else score.expected
            rows.append((score, score.name, ABSENT if absent else score.actual, wanted))
        return rows
    names = [*given, *(name for name in expected if name not in given)]
    return [(None, name, given.get(name, ABSENT), expected.get(name, ABSENT)) for name in names]


def golden_name(decision: Decision) -> str:
    """The id of the golden call where a person gave one; ids made from the position (`step0`) say nothing new."""
    return "" if decision.golden_id == f"step{decision.step}" else decision.golden_id


def differing(left: str, right: str) -> tuple[list[Segment], list[Segment]]:
    """Both texts in parts, the middle that is not common to them marked."""
    if left == right:
        return [(left, False)], [(right, False)]
    head = 0
    shortest = min(len(left), len(right))
    while head < shortest and left[head] == right[head]:
        head += 1
    tail = 0
    while tail < shortest - head and left[-1 - tail] == right[-1 - tail]:
        tail += 1
    # Two values with next to nothing in common are marked whole: scattered marks say less than none.
    if head + tail < shortest / 3:
        head = tail = 0
    return _parts(left, head, tail), _parts(right, head, tail)


def _parts(text: str, head: int, tail: int) -> list[Segment]:
    end = len(text) - tail
    parts = [(text[:head], False), (text[head:end], True), (text[end:], False)]
    return [part for part in parts if part[0]]


def shortened(text: str, limit: int) -> str:
    """The text, its end replaced by the number of characters left out when it is longer than `limit`."""
    if len(text) <= limit:
        return text
    return f"{text[:limit]} [... +{len(text) - limit:,}]"


def around(text: str, fact: str, limit: int) -> tuple[str, str, str, int]:
    """The text before the fact, the fact as it stands there, the text after, and how many characters were left out.

    The fact is looked for without regard to case; a fact that is not found leaves the middle empty.
    """
    at = text.casefold().find(fact.casefold()) if fact else -1
    if at >= 0 and text[at : at + len(fact)].casefold() != fact.casefold():
        at = text.find(fact)
    if at < 0:
        return text[:limit], "", "", max(0, len(text) - limit)
    start = max(0, min(at - limit // 2, len(text) - limit))
    end = min(len(text), max(start + limit, at + len(fact)))
    return text[start:at], text[at : at + len(fact)], text[at + len(fact) : end], len(text) - (end - start)
