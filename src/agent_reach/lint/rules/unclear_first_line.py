"""AR101 unclear-first-line: the first line must say what the tool does."""

from __future__ import annotations

from collections.abc import Iterator

from agent_reach.lint.base import Hit, LintContext, Rule, first_line
from agent_reach.lint.wording import GENERIC_OPENINGS
from agent_reach.records.message import Message
from agent_reach.text.tokens import is_cjk, split_identifier, words


def check(context: LintContext) -> Iterator[Hit]:
    """A first line of one word, or one that opens with empty words and then says next to nothing."""
    for tool in context.tools:
        line = first_line(tool.description)
        if not line:
            continue
        core = GENERIC_OPENINGS.sub("", line)
        if len(words(core)) >= 2 or (is_cjk(core) and len(core) >= 4):
            continue
        if core and set(words(core)) <= set(split_identifier(tool.name)):
            continue
        yield Hit(
            subject=tool.key,
            pointer="/description",
            message=Message(f"the first line says too little: {line!r}", f"首行信息太少：{line!r}"),
            fix=Message("say what it does and when to use it, in one line", "用一行写清做什么、何时用"),
        )


RULE = Rule(
    code="AR101",
    name="unclear-first-line",
    severity="warning",
    about="description",
    summary=Message("The first line says what the tool does.", "首行要说清工具做什么。"),
    check=check,
)
