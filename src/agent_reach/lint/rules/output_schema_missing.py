"""AR401 output-schema-missing: results whose fields nobody can plan with."""

from __future__ import annotations

from collections.abc import Iterator

from agent_reach.lint.base import Hit, LintContext, Rule
from agent_reach.records.message import Message


def check(context: LintContext) -> Iterator[Hit]:
    """Per server: how many tools declare no output schema."""
    for server in sorted({tool.server for tool in context.tools}):
        mine = [tool for tool in context.tools if tool.server == server]
        bare = [
            tool.name for tool in mine if tool.output_schema is None and "outputSchema" not in tool.original
        ]
        if bare:
            yield Hit(
                subject=server,
                message=Message(
                    f"{len(bare)} of {len(mine)} tools declare no output schema",
                    f"{len(mine)} 个工具中有 {len(bare)} 个没有声明输出模式",
                ),
                fix=Message(
                    "declare what comes back, so that later calls can be planned",
                    "声明返回内容，便于规划后续调用",
                ),
                data={"tools": bare[:20], "count": len(bare)},
            )


RULE = Rule(
    code="AR401",
    name="output-schema-missing",
    severity="info",
    about="contract",
    summary=Message("Tools declare their output schema.", "工具要声明输出模式。"),
    check=check,
)
