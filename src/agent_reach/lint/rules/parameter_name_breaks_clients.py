"""AR404 parameter-name-breaks-clients: a parameter name that strict clients refuse."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agent_reach.lint.base import Hit, LintContext, Rule, parameters
from agent_reach.records.message import Message


def check(context: LintContext) -> Iterator[Hit]:
    """A property name outside `^[a-zA-Z0-9_.-]{1,64}$`."""
    for tool in context.tools:
        for parameter in parameters(tool):
            if not re.fullmatch(r"[a-zA-Z0-9_.-]{1,64}", parameter.name):
                yield Hit(
                    subject=tool.key,
                    pointer=parameter.pointer,
                    message=Message(
                        f"strict clients refuse the parameter name {parameter.name!r}",
                        f"严格的客户端拒绝参数名 {parameter.name!r}",
                    ),
                    fix=Message("rename it, or let the export use an alias", "改名，或让导出使用别名"),
                )


RULE = Rule(
    code="AR404",
    name="parameter-name-breaks-clients",
    severity="warning",
    about="contract",
    summary=Message(
        "Parameter names use the characters that all clients take.", "参数名只用所有客户端都接受的字符。"
    ),
    check=check,
)
