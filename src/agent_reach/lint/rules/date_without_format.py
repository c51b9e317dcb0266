"""AR202 date-without-format: a date or time whose form the model has to guess."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agent_reach.lint.base import Hit, LintContext, Parameter, Rule, hint_proposal, parameters
from agent_reach.lint.wording import DATE_NAME_WORDS, EXAMPLE_IN_TEXT
from agent_reach.records.message import Message
from agent_reach.text.tokens import split_identifier

_CHINESE_DATE = re.compile(r"日期|(?<!最后)时间(?!间隔|戳|跨度|复杂|区)|时刻|年月|截止日")
_ENGLISH_DATE = re.compile(
    r"(?i)^(?:the |a |an |optional |start |end |first |last |due |new )*(?:date|day|datetime|deadline)\b"
)


def _is_date(parameter: Parameter) -> bool:
    named = split_identifier(parameter.name)
    if named and (
        named[-1] in DATE_NAME_WORDS - {"since", "until", "day"}
        or set(named) & {"date", "datetime", "birthday", "dob"}
    ):
        return not set(named) & {
            "range",
            "format",
            "count",
            "column",
            "field",
            "mode",
            "zone",
            "type",
            "filter",
            "property",
            "style",
        }
    text = parameter.description
    return bool(_ENGLISH_DATE.search(text) or _CHINESE_DATE.search(text[:16]))


def _explained(description: str, name: str) -> bool:
    """True if the tool's own description gives an example on a line that names the parameter."""
    return any(name in line and EXAMPLE_IN_TEXT.search(line) for line in description.splitlines())


def check(context: LintContext) -> Iterator[Hit]:
    """A text parameter that is a date or time by name or description, without format, pattern or example anywhere."""
    for tool in context.tools:
        for parameter in parameters(tool):
            if parameter.types - {"string"} or not _is_date(parameter):
                continue
            if (
                parameter.has_example
                or EXAMPLE_IN_TEXT.search(parameter.description)
                or _explained(tool.description, parameter.name)
            ):
                continue
            yield Hit(
                subject=tool.key,
                pointer=parameter.pointer,
                message=Message(
                    f"date or time parameter {parameter.name!r} states no format",
                    f"日期时间参数 {parameter.name!r} 没有写明格式",
                ),
                fix=Message(
                    "state it, e.g. YYYY-MM-DD, with an example", "写明格式，例如 YYYY-MM-DD，并给例子"
                ),
                proposal=hint_proposal(parameter, {"format": "YYYY-MM-DD", "example": "2025-12-10"}),
            )


RULE = Rule(
    code="AR202",
    name="date-without-format",
    severity="warning",
    about="parameter",
    summary=Message("A date or time parameter states its format.", "日期时间参数要写明格式。"),
    check=check,
)
