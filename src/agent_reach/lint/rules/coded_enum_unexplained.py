"""AR205 coded-enum-unexplained: an enum of codes that nothing explains."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from agent_reach.lint.base import Hit, LintContext, Rule, hint_proposal, parameters
from agent_reach.records.message import Message

_CODE = re.compile(r"^(?:[A-Z]{1,3}\d{0,2}|[A-Za-z]?\d{1,3})$")
_KNOWN_CODES = frozenset(
    [
        "GET",
        "PUT",
        "AND",
        "OR",
        "XOR",
        "ASC",
        "DES",
        "CSV",
        "PDF",
        "PNG",
        "JPG",
        "SVG",
        "XML",
        "USD",
        "EUR",
        "CNY",
        "GBP",
        "JPY",
        "UTC",
        "YES",
        "NO",
        "ON",
        "OFF",
        "ALL",
        "MAX",
        "MIN",
        "SUM",
        "AVG",
        "AM",
        "PM",
        "KB",
        "MB",
        "GB",
        "KM",
        "MI",
        "UP",
    ]
)


def _is_code(value: Any) -> bool:
    if isinstance(value, bool):
        return False
    text = str(value)
    return bool(_CODE.match(text)) and text not in _KNOWN_CODES


def _says(text: str, value: str) -> bool:
    """True if the text holds the value followed or led by an explanation (`P1: urgent`, `east (P1)`, `P1 紧急`)."""
    return bool(
        re.search(
            rf"(?<![A-Za-z0-9]){re.escape(value)}(?![A-Za-z0-9])\s*['\"`]?\s*(?:[:：=(（-]|是|为|[\u4e00-\u9fff])|[(（]{re.escape(value)}[)）]",
            text,
        )
    )


def _shown(values: tuple[Any, ...]) -> str:
    return ", ".join(map(str, values[:6])) + (", ..." if len(values) > 6 else "")


def check(context: LintContext) -> Iterator[Hit]:
    """An enum whose values are codes (P1, SF, 0 1 2) while neither description nor note says what they mean."""
    for tool in context.tools:
        for parameter in parameters(tool):
            values = parameter.enum
            if len(values) < 2 or not all(_is_code(value) for value in values):
                continue
            hint = parameter.hint
            if hint is not None and hint.values:
                continue
            explained = parameter.description + " " + tool.description
            if sum(_says(explained, str(value)) for value in values) * 2 >= len(values):
                continue
            yield Hit(
                subject=tool.key,
                pointer=parameter.pointer,
                message=Message(
                    f"nothing explains the codes of {parameter.name!r}: {_shown(values)}",
                    f"没有解释 {parameter.name!r} 的代码：{_shown(values)}",
                ),
                fix=Message("say what each value means", "写明每个值的含义"),
                proposal=hint_proposal(parameter, {"values": {str(value): [] for value in values}}),
            )


RULE = Rule(
    code="AR205",
    name="coded-enum-unexplained",
    severity="warning",
    about="parameter",
    summary=Message("Coded enum values are explained.", "代码式枚举值要有解释。"),
    check=check,
)
