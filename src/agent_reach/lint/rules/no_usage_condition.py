"""AR102 no-usage-condition: nothing says when the tool is the right one."""

from __future__ import annotations

from collections.abc import Iterator

from agent_reach.lint.base import Hit, LintContext, Rule
from agent_reach.lint.wording import WHEN_TO_USE
from agent_reach.records.message import Message


def check(context: LintContext) -> Iterator[Hit]:
    """Neither the description nor the note holds a phrase that says when to use the tool."""
    for tool in context.tools:
        if not tool.description.strip():
            continue
        if tool.note is not None and (tool.note.triggers or WHEN_TO_USE.search(tool.note.summary)):
            continue
        if WHEN_TO_USE.search(tool.description):
            continue
        yield Hit(
            subject=tool.key,
            pointer="/description",
            message=Message("nothing says when to use it", "没有说明什么时候使用"),
            fix=Message(
                'add "Use when the user ..." to the description, or triggers to the note',
                "在描述里加“当用户……时使用”，或在备注里加触发语",
            ),
            proposal={"tools": {tool.key: {"note": {"triggers": []}}}},
        )


RULE = Rule(
    code="AR102",
    name="no-usage-condition",
    severity="info",
    about="description",
    summary=Message("The description or the note says when to use the tool.", "描述或备注要说明何时使用。"),
    check=check,
)
