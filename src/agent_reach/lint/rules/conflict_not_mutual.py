"""AR306 conflict-not-mutual: a border that only one side knows."""

from __future__ import annotations

from collections.abc import Iterator

from agent_reach.lint.base import Hit, LintContext, Rule
from agent_reach.records.message import Message
from agent_reach.records.tool import Tool
from agent_reach.text.tokens import nearest_names


def check(context: LintContext) -> Iterator[Hit]:
    """A note names a rival whose own note does not name it back, or a rival that does not exist."""
    by_name: dict[str, list[Tool]] = {}
    for tool in context.tools:
        by_name.setdefault(tool.name, []).append(tool)
        by_name.setdefault(tool.key, []).append(tool)
    for tool in context.tools:
        for rival in tool.note.conflicts if tool.note is not None else ():
            others = by_name.get(rival, [])
            if not others:
                near = ", ".join(nearest_names(rival, list(by_name), limit=2))
                yield Hit(
                    subject=tool.key,
                    pointer="/note/conflicts",
                    message=Message(
                        f"the note names {rival!r}, which is no tool here",
                        f"备注提到 {rival!r}，但这里没有这个工具",
                    ),
                    fix=Message(f"nearest: {near or 'none'}", f"最接近：{near or '无'}"),
                )
            elif not any(
                other.note is not None and set(other.note.conflicts) & {tool.key, tool.name}
                for other in others
            ):
                yield Hit(
                    subject=tool.key,
                    pointer="/note/conflicts",
                    message=Message(
                        f"names {rival} as a rival, but {rival} does not name it back",
                        f"把 {rival} 写为冲突，但 {rival} 没有写回",
                    ),
                    fix=Message(f"add the border to the note of {rival}", f"在 {rival} 的备注里补上边界"),
                    proposal={
                        "tools": {
                            others[0].key: {
                                "note": {
                                    "conflicts": {tool.key: tool.note.conflicts[rival] if tool.note else ""}
                                }
                            }
                        }
                    },
                )


RULE = Rule(
    code="AR306",
    name="conflict-not-mutual",
    severity="warning",
    about="catalog",
    summary=Message(
        "Conflicts in notes are mutual and name real tools.", "备注里的冲突要互相写明，且工具真实存在。"
    ),
    check=check,
)
