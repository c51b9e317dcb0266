"""AR303 name-collision: one bare name on several servers."""

from __future__ import annotations

from collections.abc import Iterator

from agent_reach.lint.base import Hit, LintContext, Rule
from agent_reach.records.message import Message
from agent_reach.text.folding import fold


def check(context: LintContext) -> Iterator[Hit]:
    """A tool name that more than one server uses; clients that send bare names call the wrong one."""
    owners: dict[str, list[str]] = {}
    for tool in context.tools:
        owners.setdefault(fold(tool.name).replace("-", "_"), []).append(tool.key)
    for keys in owners.values():
        if len(keys) > 1:
            yield Hit(
                subject=sorted(keys)[0],
                message=Message(
                    f"the same name on several servers: {', '.join(sorted(keys))}",
                    f"多个服务器有同名工具：{', '.join(sorted(keys))}",
                ),
                fix=Message("clients must use the qualified name", "客户端须使用带服务器的名称"),
                data={"tools": sorted(keys)},
            )


RULE = Rule(
    code="AR303",
    name="name-collision",
    severity="warning",
    about="catalog",
    summary=Message("A bare tool name belongs to one server.", "一个裸名称只属于一个服务器。"),
    check=check,
)
