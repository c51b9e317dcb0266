"""AR207 required-with-default: a flag and a value that contradict each other."""

from __future__ import annotations

from collections.abc import Iterator

from agent_reach.lint.base import Hit, LintContext, Rule, parameters
from agent_reach.records.message import Message


def check(context: LintContext) -> Iterator[Hit]:
    """A parameter that is required and has a default at once."""
    for tool in context.tools:
        for parameter in parameters(tool):
            if parameter.required and parameter.schema.get("default") is not None:
                yield Hit(
                    subject=tool.key,
                    pointer=parameter.pointer,
                    message=Message(
                        f"{parameter.name!r} is required and has the default {parameter.schema['default']!r:.40}",
                        f"{parameter.name!r} 既是必填，又有默认值 {parameter.schema['default']!r:.40}",
                    ),
                    fix=Message("drop one of the two", "去掉其中一个"),
                )


RULE = Rule(
    code="AR207",
    name="required-with-default",
    severity="warning",
    about="parameter",
    summary=Message("A required parameter has no default.", "必填参数不应有默认值。"),
    check=check,
)
