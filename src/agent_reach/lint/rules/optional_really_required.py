"""AR209 optional-really-required: an optional parameter that its own text calls required."""

from __future__ import annotations

from collections.abc import Iterator

from agent_reach.lint.base import Hit, LintContext, Rule, parameters
from agent_reach.lint.wording import REQUIRED_IN_TEXT
from agent_reach.records.message import Message


def check(context: LintContext) -> Iterator[Hit]:
    """A parameter outside `required`, without default, whose description says that it is required."""
    for tool in context.tools:
        for parameter in parameters(tool):
            if (
                parameter.required
                or "default" in parameter.schema
                or not REQUIRED_IN_TEXT.search(parameter.description)
            ):
                continue
            yield Hit(
                subject=tool.key,
                pointer=parameter.pointer,
                message=Message(
                    f"{parameter.name!r} is optional, but its text says it is required",
                    f"{parameter.name!r} 是可选的，但描述说必填",
                ),
                fix=Message("add it to `required`, or correct the text", "加入 required，或改正描述"),
            )


RULE = Rule(
    code="AR209",
    name="optional-really-required",
    severity="warning",
    about="parameter",
    summary=Message("A parameter whose text says required is required.", "描述写必填的参数应列入 required。"),
    check=check,
)
