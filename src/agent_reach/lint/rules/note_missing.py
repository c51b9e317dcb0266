"""AR109 note-missing: no tool of the catalog has an agent note."""

from __future__ import annotations

from collections.abc import Iterator

from agent_reach.lint.base import Hit, LintContext, Rule
from agent_reach.records.message import Message


def check(context: LintContext) -> Iterator[Hit]:
    """A catalog over the smallest limit in which no tool, or only a few, carry a note."""
    bare = [tool.key for tool in context.tools if tool.note is None]
    if bare and len(context.tools) > context.thresholds.catalog_tools:
        yield Hit(
            subject="",
            message=Message(
                f"{len(bare)} of {len(context.tools)} tools have no agent note",
                f"{len(context.tools)} 个工具中有 {len(bare)} 个没有智能体备注",
            ),
            fix=Message("write notes for the tools that are confused first", "先给容易混淆的工具写备注"),
            data={"tools": bare[:20], "count": len(bare)},
        )


RULE = Rule(
    code="AR109",
    name="note-missing",
    severity="info",
    about="catalog",
    summary=Message("Tools of a large catalog carry agent notes.", "大目录里的工具要有智能体备注。"),
    check=check,
)
