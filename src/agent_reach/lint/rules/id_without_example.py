"""AR203 id-without-example: an id whose form the model cannot know."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agent_reach.lint.base import Hit, LintContext, Rule, hint_proposal, parameters
from agent_reach.lint.wording import EXAMPLE_IN_TEXT
from agent_reach.records.message import Message
from agent_reach.text.tokens import split_identifier

_ID_WORDS = frozenset({"id", "ids", "uuid", "guid", "sku"})
_SOURCE = re.compile(
    r"(?i)\b(?:returned|obtained|from|via|see|use) (?:by |from |the )?[`'\"]?[a-z]+_?[a-z]*|由.+返回|通过.+(?:获取|查询)|来自"
)


def check(context: LintContext) -> Iterator[Hit]:
    """A required text parameter that is an id by name, without format, pattern, example or source anywhere."""
    for tool in context.tools:
        for parameter in parameters(tool):
            named = split_identifier(parameter.name)
            if (
                not named
                or named[-1] not in _ID_WORDS
                or parameter.types - {"string"}
                or not parameter.required
            ):
                continue
            if (
                parameter.has_example
                or EXAMPLE_IN_TEXT.search(parameter.description)
                or _SOURCE.search(parameter.description)
            ):
                continue
            if any(
                parameter.name in line and EXAMPLE_IN_TEXT.search(line)
                for line in tool.description.splitlines()
            ):
                continue
            yield Hit(
                subject=tool.key,
                pointer=parameter.pointer,
                message=Message(
                    f"id parameter {parameter.name!r} shows no example and no source",
                    f"标识参数 {parameter.name!r} 没有例子，也没有说明来源",
                ),
                fix=Message(
                    "give one example and the tool that returns it", "给一个例子，并写明由哪个工具返回"
                ),
                proposal=hint_proposal(parameter, {"example": ""}),
            )


RULE = Rule(
    code="AR203",
    name="id-without-example",
    severity="info",
    about="parameter",
    summary=Message(
        "An id parameter shows an example or says where the id comes from.", "标识参数要给例子或说明来源。"
    ),
    check=check,
)
