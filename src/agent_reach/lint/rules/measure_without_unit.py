"""AR204 measure-without-unit: a number whose unit the model has to guess."""

from __future__ import annotations

from collections.abc import Iterator

from agent_reach.lint.base import Hit, LintContext, Rule, hint_proposal, parameters
from agent_reach.lint.wording import MEASURE_WORDS, MONEY_WORDS, UNIT_IN_TEXT
from agent_reach.records.message import Message
from agent_reach.text.tokens import split_identifier

_UNITLESS = frozenset({"page", "batch", "sample", "window", "step", "grid", "pool", "max", "limit"})
_NAMED_UNITS = frozenset(
    [
        "ms",
        "sec",
        "seconds",
        "minutes",
        "hours",
        "days",
        "px",
        "pixels",
        "usd",
        "eur",
        "cny",
        "kg",
        "km",
        "cm",
        "mm",
        "mb",
        "kb",
        "bytes",
        "percent",
        "pct",
    ]
)


def check(context: LintContext) -> Iterator[Hit]:
    """A numeric parameter that is money or a measure by name, without a unit in name or description."""
    for tool in context.tools:
        for parameter in parameters(tool):
            if not parameter.types & {"number", "integer"} or parameter.enum:
                continue
            named = split_identifier(parameter.name)
            if not named or named[-1] not in MONEY_WORDS | MEASURE_WORDS:
                continue
            if (
                set(named) & _UNITLESS
                or set(named) & _NAMED_UNITS
                or UNIT_IN_TEXT.search(parameter.description)
            ):
                continue
            hint = parameter.hint
            if hint is not None and hint.format:
                continue
            yield Hit(
                subject=tool.key,
                pointer=parameter.pointer,
                message=Message(
                    f"{parameter.name!r} is a measure without a unit",
                    f"{parameter.name!r} 是度量，但没有单位",
                ),
                fix=Message("state the unit in the description", "在描述里写明单位"),
                proposal=hint_proposal(parameter, {"format": "number in ..."}),
            )


RULE = Rule(
    code="AR204",
    name="measure-without-unit",
    severity="warning",
    about="parameter",
    summary=Message("A money or measure parameter states its unit.", "金额与度量参数要写明单位。"),
    check=check,
)
