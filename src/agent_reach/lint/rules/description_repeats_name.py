"""AR106 description-repeats-name: a description that is the name again tells nothing new."""

from __future__ import annotations

from collections.abc import Iterator

from agent_reach.lint.base import Hit, LintContext, Rule
from agent_reach.records.message import Message
from agent_reach.text.tokens import split_identifier, words

_EMPTY = frozenset({"the", "a", "an", "of", "to", "and", "for", "this", "tool", "function"})


def check(context: LintContext) -> Iterator[Hit]:
    """The words of the description are those of the name."""
    for tool in context.tools:
        said = set(words(tool.description)) - _EMPTY
        named = set(words(" ".join(split_identifier(tool.name))))
        if said and said <= named:
            yield Hit(
                subject=tool.key,
                pointer="/description",
                message=Message(
                    f"the description only repeats the name: {tool.description.strip()!r}",
                    f"描述只是重复名称：{tool.description.strip()!r}",
                ),
                fix=Message("say what comes back and when to use it", "写明返回什么、何时使用"),
            )


RULE = Rule(
    code="AR106",
    name="description-repeats-name",
    severity="warning",
    about="description",
    summary=Message("The description says more than the name.", "描述要比名称多说一些。"),
    check=check,
)
