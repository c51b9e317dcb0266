"""AR211 nullable-without-type: a nullable parameter with no `type` beside its branches."""

from __future__ import annotations

from collections.abc import Iterator

from agent_reach.lint.base import Hit, LintContext, Rule, parameters
from agent_reach.records.message import Message


def check(context: LintContext) -> Iterator[Hit]:
    """`anyOf` of one type and null without `type`: some providers refuse the whole request and name only the first one."""
    for tool in context.tools:
        for parameter in parameters(tool):
            branches = parameter.schema.get("anyOf") or parameter.schema.get("oneOf")
            if "type" in parameter.schema or not isinstance(branches, (list, tuple)):
                continue
            if {"type": "null"} in [dict(branch) for branch in branches if isinstance(branch, dict)]:
                yield Hit(
                    subject=tool.key,
                    pointer=parameter.pointer,
                    message=Message(
                        f"nullable {parameter.name!r} has no `type` beside anyOf",
                        f"可空参数 {parameter.name!r} 在 anyOf 旁没有 type",
                    ),
                    fix=Message(
                        "export through a form that adds the type; null stays legal",
                        "用会补上类型的导出形式；null 仍然合法",
                    ),
                )


RULE = Rule(
    code="AR211",
    name="nullable-without-type",
    severity="info",
    about="contract",
    summary=Message(
        "A nullable parameter states its type where providers ask for it.",
        "可空参数在要求 type 的平台上要写明类型。",
    ),
    check=check,
)
