"""AR405 pattern-not-portable: a pattern that some engines cannot read."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agent_reach.lint.base import Hit, LintContext, Rule, parameters
from agent_reach.records.message import Message


def check(context: LintContext) -> Iterator[Hit]:
    """A pattern with look-around, back-references or Unicode property classes."""
    for tool in context.tools:
        for parameter in parameters(tool):
            pattern = parameter.schema.get("pattern")
            if isinstance(pattern, str) and re.search(r"\(\?(?:[=!]|<[=!])|\\[pP]\{|\\[1-9]", pattern):
                yield Hit(
                    subject=tool.key,
                    pointer=f"{parameter.pointer}/pattern",
                    message=Message(
                        f"the pattern of {parameter.name!r} is not portable: {pattern:.60}",
                        f"{parameter.name!r} 的正则不可移植：{pattern:.60}",
                    ),
                    fix=Message(
                        "write it without look-around and property classes", "改写为不含环视和属性类的形式"
                    ),
                )


RULE = Rule(
    code="AR405",
    name="pattern-not-portable",
    severity="info",
    about="contract",
    summary=Message("Patterns keep to what all engines read.", "正则只用各引擎都支持的写法。"),
    check=check,
)
