"""AR304 catalog-too-large: more tools than surfaces show or models tell apart."""

from __future__ import annotations

from collections.abc import Iterator

from agent_reach.lint.base import Hit, LintContext, Rule
from agent_reach.records.message import Message
from agent_reach.text.counting import count_json_tokens


def check(context: LintContext) -> Iterator[Hit]:
    """A catalog over a surface's limit (40, 64, 128), with its weight in tokens and the share of each server."""
    limits = context.thresholds
    over = [
        limit
        for limit in (limits.catalog_tools, limits.catalog_tools_high, limits.catalog_tools_hard)
        if len(context.tools) > limit
    ]
    if over:
        weights: dict[str, int] = {}
        for tool in context.tools:
            weight = count_json_tokens(
                {"name": tool.name, "description": tool.description, "parameters": tool.input_schema}
            )
            weights[tool.server] = weights.get(tool.server, 0) + weight
        total = sum(weights.values())
        heaviest = sorted(weights.items(), key=lambda item: (-item[1], item[0]))[:3]
        told = ", ".join(f"{server or '-'} {weight}" for server, weight in heaviest)
        yield Hit(
            subject="",
            message=Message(
                f"{len(context.tools)} tools, about {total} tokens; over the limit of {', '.join(map(str, over))}; heaviest: {told}",
                f"{len(context.tools)} 个工具，约 {total} 个 token；超过 {'、'.join(map(str, over))} 的上限；最重：{told}",
            ),
            fix=Message(
                "show fewer: use the reach layer or split by task", "减少展示：使用 reach 层或按任务拆分"
            ),
            data={"tools": len(context.tools), "tokens": total, "limits": over, "servers": weights},
        )


RULE = Rule(
    code="AR304",
    name="catalog-too-large",
    severity="warning",
    about="catalog",
    summary=Message("The catalog fits the surfaces that show it.", "目录要放得进展示它的界面。"),
    check=check,
)
