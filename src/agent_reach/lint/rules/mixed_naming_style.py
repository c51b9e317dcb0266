"""AR302 mixed-naming-style: names of one server in different styles."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agent_reach.lint.base import Hit, LintContext, Rule
from agent_reach.records.message import Message


def naming_style(name: str) -> str:
    """snake_case, kebab-case, camelCase, PascalCase, dotted or mixed; empty for a single lower-case word."""
    if re.fullmatch(r"[a-z0-9]+", name) or not name.isascii():
        return ""
    kinds = [
        ("snake_case", r"_?[a-z0-9]+(?:_+[a-z0-9]+)+"),
        ("kebab-case", r"[a-z0-9]+(?:-[a-z0-9]+)+"),
        ("camelCase", r"[a-z]+[a-z0-9]*(?:[A-Z][a-z0-9]*)+"),
        ("PascalCase", r"(?:[A-Z][a-z0-9]*)+"),
        ("dotted", r"[A-Za-z0-9_]+(?:\.[A-Za-z0-9_]+)+"),
    ]
    return next((style for style, pattern in kinds if re.fullmatch(pattern, name)), "mixed")


def check(context: LintContext) -> Iterator[Hit]:
    """Tools of one server named in more than one style (snake_case, camelCase, kebab-case); the minority is listed."""
    for server in sorted({tool.server for tool in context.tools}):
        styles: dict[str, list[str]] = {}
        for tool in context.tools:
            style = naming_style(tool.name) if tool.server == server else ""
            if style:
                styles.setdefault(style, []).append(tool.name)
        if len(styles) > 1:
            main = max(styles, key=lambda style: (len(styles[style]), style))
            odd = [name for style, names in sorted(styles.items()) if style != main for name in names]
            yield Hit(
                subject=server,
                message=Message(
                    f"most names are {main}; not so: {', '.join(odd[:8])}",
                    f"多数名称为 {main}；例外：{', '.join(odd[:8])}",
                ),
                fix=Message(
                    "name them alike, or give aliases in the overlay", "统一命名，或在 overlay 里给别名"
                ),
                data={"style": main, "odd": odd},
            )


RULE = Rule(
    code="AR302",
    name="mixed-naming-style",
    severity="info",
    about="catalog",
    summary=Message("The tools of a server share one naming style.", "同一服务器的工具命名风格一致。"),
    check=check,
)
