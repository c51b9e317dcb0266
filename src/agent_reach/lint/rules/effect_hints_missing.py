"""AR402 effect-hints-missing: nobody can tell a read from a write."""

from __future__ import annotations

from collections.abc import Iterator

from agent_reach.lint.base import Hit, LintContext, Rule
from agent_reach.lint.wording import DESTROYING_VERBS, READING_VERBS, WRITING_VERBS
from agent_reach.records.message import Message
from agent_reach.text.tokens import split_identifier


def effect_by_name(name: str) -> str:
    """`read`, `write` or `destructive` where the first word of the name says so; empty otherwise. A guess to review."""
    named = split_identifier(name)
    if not named:
        return ""
    if named[0] in DESTROYING_VERBS:
        return "destructive"
    if named[0] in WRITING_VERBS:
        return "write"
    return "read" if named[0] in READING_VERBS else ""


def check(context: LintContext) -> Iterator[Hit]:
    """A tool without any statement of its effect, neither as protocol hint nor in the overlay."""
    for server in sorted({tool.server for tool in context.tools}):
        mine = [tool for tool in context.tools if tool.server == server]
        bare = [
            tool
            for tool in mine
            if not tool.effects and not any(str(key).endswith("Hint") for key in tool.annotations)
        ]
        if bare:
            guesses = {tool.key: {"effect": guess} for tool in bare if (guess := effect_by_name(tool.name))}
            names = [tool.name for tool in bare]
            yield Hit(
                subject=server,
                message=Message(
                    f"{len(bare)} of {len(mine)} tools do not say whether they read or write: {', '.join(names[:5])}",
                    f"{len(mine)} 个工具中有 {len(bare)} 个没有说明读写：{', '.join(names[:5])}",
                ),
                fix=Message(
                    "set effect in the overlay; unknown counts as a write",
                    "在 overlay 里写 effect；未知按写处理",
                ),
                data={"tools": names[:50], "count": len(names)},
                proposal={"tools": guesses} if guesses else None,
            )


RULE = Rule(
    code="AR402",
    name="effect-hints-missing",
    severity="info",
    about="contract",
    summary=Message("Tools state whether they read or write.", "工具要说明是读还是写。"),
    check=check,
)
