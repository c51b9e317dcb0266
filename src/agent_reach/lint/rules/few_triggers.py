"""AR108 few-triggers: a note with too few phrasings of users."""

from __future__ import annotations

from collections.abc import Iterator

from agent_reach.lint.base import Hit, LintContext, Rule
from agent_reach.records.message import Message


def check(context: LintContext) -> Iterator[Hit]:
    """A note that has triggers, but fewer than three."""
    least = context.thresholds.triggers
    for tool in context.tools:
        if tool.note is not None and 0 < len(tool.note.triggers) < least:
            yield Hit(
                subject=tool.key,
                pointer="/note/triggers",
                message=Message(
                    f"only {len(tool.note.triggers)} trigger phrases (at least {least})",
                    f"只有 {len(tool.note.triggers)} 条触发语（至少 {least} 条）",
                ),
                fix=Message("add phrasings from real requests", "补充真实请求里的说法"),
            )


RULE = Rule(
    code="AR108",
    name="few-triggers",
    severity="info",
    about="description",
    summary=Message("A note has at least three user phrasings.", "备注至少有三种用户说法。"),
    check=check,
)
