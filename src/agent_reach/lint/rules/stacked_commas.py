"""AR104 stacked-commas: a first line that lists instead of saying."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agent_reach.lint.base import Hit, LintContext, Rule, first_line
from agent_reach.records.message import Message


def check(context: LintContext) -> Iterator[Hit]:
    """A first line with many commas: an enumeration where a sentence belongs."""
    limit = context.thresholds.first_line_commas
    for tool in context.tools:
        sentence = re.split(r"(?<=[.!?。！？])\s|(?<=[。！？])", first_line(tool.description))[0]
        commas = len(re.findall(r"[,，、;；](?!\d)", re.sub(r"\([^)]*\)|（[^）]*）", "", sentence)))
        if commas >= limit:
            yield Hit(
                subject=tool.key,
                pointer="/description",
                message=Message(f"the first sentence stacks {commas} commas", f"首句堆了 {commas} 个逗号"),
                fix=Message("name the purpose first, list details later", "先写用途，细节放后"),
                data={"commas": commas, "limit": limit},
            )


RULE = Rule(
    code="AR104",
    name="stacked-commas",
    severity="info",
    about="description",
    summary=Message("The first line is a sentence, not an enumeration.", "首行应是一句话，而不是罗列。"),
    check=check,
)
