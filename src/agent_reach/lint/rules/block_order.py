"""AR502 block-order: a template in which the request stands late or retrieval before the tools."""

from __future__ import annotations

from collections.abc import Iterator

from agent_reach.lint.base import Hit, LintContext, Rule
from agent_reach.records.message import Message


def check(context: LintContext) -> Iterator[Hit]:
    """A context template whose first block is not the request, or that puts retrieval before tool definitions."""
    order = context.template.order if context.template is not None else ()
    if order and order[0] not in ("request", "instruction"):
        yield Hit(
            subject="context.template",
            message=Message(
                f"the first block is {order[0]!r}, not the request", f"第一个块是 {order[0]!r}，而不是请求"
            ),
            fix=Message("put the request first", "把请求放到最前"),
        )
    if "tools" in order and "retrieval" in order and order.index("retrieval") < order.index("tools"):
        yield Hit(
            subject="context.template",
            message=Message("retrieval stands before the tool definitions", "检索内容排在工具定义之前"),
            fix=Message("put retrieval last", "把检索放到最后"),
        )


RULE = Rule(
    code="AR502",
    name="block-order",
    severity="info",
    about="context",
    summary=Message("The request stands first, retrieval last.", "请求在前，检索在后。"),
    check=check,
)
