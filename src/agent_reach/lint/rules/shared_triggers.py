"""AR305 shared-triggers: one user phrasing that leads to two tools."""

from __future__ import annotations

from collections.abc import Iterator

from agent_reach.lint.base import Hit, LintContext, Rule
from agent_reach.records.message import Message
from agent_reach.text.folding import fold


def check(context: LintContext) -> Iterator[Hit]:
    """The same trigger phrase in the notes of several tools."""
    owners: dict[str, list[str]] = {}
    for tool in context.tools:
        for trigger in tool.note.triggers if tool.note is not None else ():
            owners.setdefault(fold(trigger), []).append(tool.key)
    for trigger, keys in sorted(owners.items()):
        shared = sorted(set(keys))
        if len(shared) > 1:
            yield Hit(
                subject=shared[0],
                pointer="/note/triggers",
                message=Message(
                    f"the trigger {trigger!r} is shared by {', '.join(shared)}",
                    f"触发语 {trigger!r} 被多个工具共用：{', '.join(shared)}",
                ),
                fix=Message(
                    "keep it with one tool and write conflicts for the others",
                    "只留给一个工具，其他的写冲突说明",
                ),
                data={"tools": shared},
            )


RULE = Rule(
    code="AR305",
    name="shared-triggers",
    severity="warning",
    about="catalog",
    summary=Message("A trigger phrase leads to one tool.", "一条触发语只指向一个工具。"),
    check=check,
)
