"""AR206 enum-in-prose: legal values that only the prose knows."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agent_reach.lint.base import Hit, LintContext, Rule, hint_proposal, parameters
from agent_reach.records.message import Message

_LEAD = re.compile(
    r"(?i)(?:one of|must be|either|options?(?: are| include)?|allowed values?(?: are)?|valid values?(?: are)?|possible values?(?: are)?"
    r"|supported values?(?: are)?|accepts|可选值?(?:为|有|包括)?|取值(?:为|范围)?|枚举值?)\s*[:：]?\s*"
)
_QUOTED = r"(?:'[\w./+-]{1,24}'|\"[\w./+-]{1,24}\"|`[\w./+-]{1,24}`)"
_LIST = re.compile(
    rf"{_QUOTED}(?:\s*\([^()]{{1,60}}\))?(?:\s*(?:,|，|、|/|\||;|\bor\b|\band\b|或)+\s*(?:or |and )?{_QUOTED}(?:\s*\([^()]{{1,60}}\))?)+"
)
_BARE = re.compile(
    r"(?:[A-Za-z_][\w-]{1,20}\s*(?:,|、|\|)\s*){1,10}(?:(?:or|and|或)\s+)?[A-Za-z_][\w-]{1,20}(?=\s*(?:[.;。)）]|$))"
)
_OPEN_ENDED = re.compile(
    r"(?i)\b(?:e\.?g\.?|for example|such as|like|etc|for instance|example|any|custom)\b|例如|比如|如[:：“\"']|等"
)


_CONDITIONAL = re.compile(
    r"(?i)\b(?:if|when|for|unless|depending|in case|or (?:an? |any |custom |free )*(?:string|text|number|path|url))\b|如果|时[为用]"
)


def _sentence(text: str, position: int) -> str:
    """The sentence of the text around that position."""
    start = max((text.rfind(mark, 0, position) for mark in (". ", "\n", "。", "; ")), default=-1) + 1
    ends = [end for mark in (". ", "\n", "。", "; ") if (end := text.find(mark, position)) >= 0]
    return text[start : min(ends, default=len(text))]


def prose_values(description: str) -> list[str]:
    """The closed list of values that a description states; empty if there is none or if it is open-ended (`such as`)."""
    lead = _LEAD.search(description)
    quoted = _LIST.search(description)
    if quoted and (lead or quoted.start() <= 40):
        before = description[max(0, quoted.start() - 24) : quoted.start()]
        after = description[quoted.end() : quoted.end() + 6]
        if _OPEN_ENDED.search(before) or _OPEN_ENDED.search(after):
            return []
        if _CONDITIONAL.search(_sentence(description, quoted.start())):
            return []
        inside = re.sub(r"\([^()]*\)", "", quoted.group())
        return list(dict.fromkeys(value.strip("'\"`") for value in re.findall(_QUOTED, inside)))
    if lead:
        bare = _BARE.match(description[lead.end() :])
        if bare and not _OPEN_ENDED.search(_sentence(description, lead.start())):
            found = [
                part
                for part in re.split(r"\s*(?:,|、|\|)\s*|\s+(?:or|and)\s+|或", bare.group().strip())
                if part
            ]
            return [part.removeprefix("or ").removeprefix("and ").strip() for part in found]
    return []


def check(context: LintContext) -> Iterator[Hit]:
    """A text parameter without enum whose description lists the legal values."""
    for tool in context.tools:
        for parameter in parameters(tool):
            if (
                parameter.enum
                or parameter.types != {"string"}
                or any(key in parameter.schema for key in ("const", "pattern"))
            ):
                continue
            values = prose_values(parameter.description)
            if len(values) < 2:
                continue
            yield Hit(
                subject=tool.key,
                pointer=parameter.pointer,
                message=Message(
                    f"{parameter.name!r} lists its values only in prose: {', '.join(values[:6])}",
                    f"{parameter.name!r} 的取值只写在描述里：{', '.join(values[:6])}",
                ),
                fix=Message("declare them as enum", "声明为 enum"),
                data={"values": values},
                proposal=hint_proposal(parameter, {"values": {value: [] for value in values}}),
            )


RULE = Rule(
    code="AR206",
    name="enum-in-prose",
    severity="warning",
    about="parameter",
    summary=Message("Legal values stand in an enum, not in prose.", "合法取值应写成枚举，而不是散文。"),
    check=check,
)
