"""AR406 tool-name-breaks-clients: a tool name that model interfaces refuse."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agent_reach.lint.base import Hit, LintContext, Rule
from agent_reach.records.message import Message


def check(context: LintContext) -> Iterator[Hit]:
    """A name outside `^[a-zA-Z0-9_-]{1,64}$`, which the interfaces of models ask for."""
    for tool in context.tools:
        if not re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", tool.name):
            yield Hit(
                subject=tool.key,
                pointer="/name",
                message=Message(
                    f"model interfaces refuse the name {tool.name!r}", f"模型接口拒绝名称 {tool.name!r}"
                ),
                fix=Message(
                    "rename it; until then the wire name stands in", "改名；在此之前使用线上名称代替"
                ),
            )


RULE = Rule(
    code="AR406",
    name="tool-name-breaks-clients",
    severity="warning",
    about="contract",
    summary=Message(
        "Tool names use the characters that model interfaces take.", "工具名只用模型接口接受的字符。"
    ),
    check=check,
)
