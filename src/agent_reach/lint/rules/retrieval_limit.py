"""AR501 retrieval-limit: more passages than a model reads."""

from __future__ import annotations

from collections.abc import Iterator

from agent_reach.lint.base import Hit, LintContext, Rule
from agent_reach.records.message import Message


def check(context: LintContext) -> Iterator[Hit]:
    """A context template without a passage limit, or one above five."""
    if context.template is not None:
        limit, most = context.template.max_passages, context.thresholds.retrieval_passages
        if limit is None or limit > most:
            shown = "no limit" if limit is None else str(limit)
            yield Hit(
                subject="context.max_passages",
                message=Message(
                    f"passages: {shown} (recommended {most})",
                    f"检索段落：{'无上限' if limit is None else limit}（建议 {most}）",
                ),
                fix=Message(f"set context.max_passages: {most}", f"设置 context.max_passages: {most}"),
            )


RULE = Rule(
    code="AR501",
    name="retrieval-limit",
    severity="warning",
    about="context",
    summary=Message("The template keeps retrieval to five passages.", "模板把检索段落限制在五段。"),
    check=check,
)
