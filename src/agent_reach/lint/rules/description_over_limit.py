"""AR107 description-over-limit: a description that some surface cuts."""

from __future__ import annotations

from collections.abc import Iterator

from agent_reach.lint.base import Hit, LintContext, Rule
from agent_reach.records.message import Message


def check(context: LintContext) -> Iterator[Hit]:
    """A description longer than what surfaces show (1,024 or 2,048 characters), or one that was cut there."""
    limits = (context.thresholds.description_characters_hard, context.thresholds.description_characters)
    for tool in context.tools:
        length = len(tool.description)
        over = next((limit for limit in limits if length > limit), None)
        if over is not None:
            yield Hit(
                subject=tool.key,
                pointer="/description",
                message=Message(
                    f"the description has {length} characters; surfaces that show {over} cut the rest",
                    f"描述有 {length} 个字符；只显示 {over} 个字符的界面会截断其余部分",
                ),
                fix=Message(
                    "move what decides the choice to the front and shorten", "把决定选择的内容放到前面并缩短"
                ),
                data={"characters": length, "limit": over},
            )
        elif length in limits or (length >= 200 and tool.description.rstrip().endswith(("...", "…"))):
            yield Hit(
                subject=tool.key,
                pointer="/description",
                message=Message(
                    f"the description looks cut after {length} characters",
                    f"描述看起来在 {length} 个字符处被截断",
                ),
                fix=Message("find out which layer cuts it", "查出是哪一层截断了它"),
                data={"characters": length},
            )


RULE = Rule(
    code="AR107",
    name="description-over-limit",
    severity="warning",
    about="description",
    summary=Message("The description fits the surfaces that show it.", "描述要放得进展示它的界面。"),
    check=check,
)
