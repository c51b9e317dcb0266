"""AR301 look-alike-tools: two tools that a model takes for one another."""

from __future__ import annotations

from collections.abc import Iterator

from agent_reach.lint.base import Hit, LintContext, Rule
from agent_reach.records.message import Message
from agent_reach.records.tool import Tool


def _has_border(left: Tool, right: Tool) -> bool:
    """True if a note or a description of one names the other."""
    return any(
        (one.note is not None and bool(set(one.note.conflicts) & {other.key, other.name}))
        or (other.name != one.name and other.name in one.description and len(other.name) > 5)
        for one, other in ((left, right), (right, left))
    )


def check(context: LintContext) -> Iterator[Hit]:
    """Pairs of tools alike in name, description and parameters while neither note says where the border is."""
    tools = context.by_key()
    for pair in context.similar_pairs():
        if pair.score < context.thresholds.similar_score:
            continue
        left, right = tools.get(pair.left), tools.get(pair.right)
        if left is None or right is None or _has_border(left, right):
            continue
        apart = ", ".join([*pair.left_only[:4], *pair.right_only[:4]]) or "-"
        yield Hit(
            subject=pair.left,
            message=Message(
                f"looks like {pair.right} (similarity {pair.score:.2f}); what separates them: {apart}",
                f"与 {pair.right} 相似（相似度 {pair.score:.2f}）；区别词：{apart}",
            ),
            fix=Message(
                "say in both notes when to take the other one, or merge them",
                "在两边的备注里写明何时用另一个，或合并",
            ),
            data={
                "pair": [pair.left, pair.right],
                "score": pair.score,
                "left_only": list(pair.left_only),
                "right_only": list(pair.right_only),
            },
            proposal={
                "tools": {
                    pair.left: {"note": {"conflicts": {pair.right: " ".join(pair.right_only[:6])}}},
                    pair.right: {"note": {"conflicts": {pair.left: " ".join(pair.left_only[:6])}}},
                }
            },
        )


RULE = Rule(
    code="AR301",
    name="look-alike-tools",
    severity="warning",
    about="catalog",
    summary=Message("Look-alike tools state the border between them.", "相似工具要写明彼此边界。"),
    check=check,
)
