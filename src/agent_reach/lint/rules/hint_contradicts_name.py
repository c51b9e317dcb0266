"""AR403 hint-contradicts-name: a hint that the name denies."""

from __future__ import annotations

from collections.abc import Iterator

from agent_reach.lint.base import Hit, LintContext, Rule
from agent_reach.lint.wording import DESTROYING_VERBS, READING_VERBS, WRITING_VERBS
from agent_reach.records.message import Message
from agent_reach.text.tokens import split_identifier


def check(context: LintContext) -> Iterator[Hit]:
    """readOnlyHint on a tool named delete/create/..., or destructiveHint on one named get/list/...."""
    for tool in context.tools:
        named = split_identifier(tool.name)
        verb = next((word for word in named if word in READING_VERBS | WRITING_VERBS | DESTROYING_VERBS), "")
        read_only = tool.annotations.get("readOnlyHint") is True or tool.effects == {"read"}
        destructive = (
            tool.annotations.get("destructiveHint") is True
            and tool.annotations.get("readOnlyHint") is not True
        )
        if read_only and named and named[0] in WRITING_VERBS | DESTROYING_VERBS:
            told = Message(f"is marked read-only, but its name says {verb!r}", f"标为只读，但名称含 {verb!r}")
        elif (
            destructive
            and named
            and named[0] in READING_VERBS
            and not set(named) & (WRITING_VERBS | DESTROYING_VERBS)
        ):
            told = Message(
                f"is marked destructive, but its name says {verb!r}", f"标为破坏性，但名称含 {verb!r}"
            )
        else:
            continue
        yield Hit(
            subject=tool.key,
            pointer="/annotations",
            message=told,
            fix=Message(
                "correct the hint, or state the effect in the overlay", "改正提示，或在 overlay 里写 effect"
            ),
        )


RULE = Rule(
    code="AR403",
    name="hint-contradicts-name",
    severity="warning",
    about="contract",
    summary=Message("Effect hints agree with the name.", "读写提示要与名称一致。"),
    check=check,
)
