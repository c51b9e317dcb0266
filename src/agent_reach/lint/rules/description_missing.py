"""AR105 description-missing: a tool without a description can be chosen by its name alone."""

from __future__ import annotations

from collections.abc import Iterator

from agent_reach.lint.base import Hit, LintContext, Rule
from agent_reach.records.message import Message
from agent_reach.text.tokens import split_identifier


def check(context: LintContext) -> Iterator[Hit]:
    """No description at all, neither in the definition nor in the note."""
    for tool in context.tools:
        if tool.description.strip() or (tool.note is not None and tool.note.summary):
            continue
        yield Hit(
            subject=tool.key,
            pointer="/description",
            message=Message("there is no description", "没有描述"),
            fix=Message("write one line: what it does and when", "写一行：做什么、何时用"),
            proposal={"tools": {tool.key: {"note": {"summary": " ".join(split_identifier(tool.name))}}}},
        )


RULE = Rule(
    code="AR105",
    name="description-missing",
    severity="error",
    about="description",
    summary=Message("Every tool has a description.", "每个工具都要有描述。"),
    check=check,
)
