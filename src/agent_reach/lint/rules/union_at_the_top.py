"""AR407 union-at-the-top: an input schema that several providers refuse."""

from __future__ import annotations

from collections.abc import Iterator

from agent_reach.lint.base import Hit, LintContext, Rule
from agent_reach.records.message import Message


def check(context: LintContext) -> Iterator[Hit]:
    """`anyOf`, `oneOf`, `allOf`, `not` or `enum` at the top of an input schema."""
    for tool in context.tools:
        found = [
            keyword for keyword in ("anyOf", "oneOf", "allOf", "not", "enum") if keyword in tool.input_schema
        ]
        if found:
            yield Hit(
                subject=tool.key,
                pointer=f"/inputSchema/{found[0]}",
                message=Message(
                    f"{', '.join(found)} at the top of the input schema", f"输入模式顶层有 {', '.join(found)}"
                ),
                fix=Message("merge the branches into one object", "把各分支合并为一个对象"),
            )


RULE = Rule(
    code="AR407",
    name="union-at-the-top",
    severity="warning",
    about="contract",
    summary=Message("The top of an input schema is a plain object.", "输入模式的顶层是普通对象。"),
    check=check,
)
