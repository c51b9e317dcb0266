"""AR103 long-first-line: a first line that a short list of candidates cannot show."""

from __future__ import annotations

from collections.abc import Iterator

from agent_reach.lint.base import Hit, LintContext, Rule, first_line
from agent_reach.records.message import Message
from agent_reach.text.counting import count_tokens


def check(context: LintContext) -> Iterator[Hit]:
    """A first line over the limit of tokens (default 40)."""
    limit = context.thresholds.first_line_tokens
    for tool in context.tools:
        tokens = count_tokens(first_line(tool.description))
        if tokens > limit:
            yield Hit(
                subject=tool.key,
                pointer="/description",
                message=Message(
                    f"the first line has about {tokens} tokens (limit {limit})",
                    f"首行约 {tokens} 个 token（上限 {limit}）",
                ),
                fix=Message("put one short sentence first, details below", "先写一句短话，细节放到后面"),
                data={"tokens": tokens, "limit": limit},
            )


RULE = Rule(
    code="AR103",
    name="long-first-line",
    severity="warning",
    about="description",
    summary=Message("The first line stays under 40 tokens.", "首行不超过 40 个 token。"),
    check=check,
)
