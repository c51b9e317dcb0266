"""Pieces of Markdown that hold any text: code spans, sentences, tables, folded parts.

Made for the comments of code hosts: a bar, a backtick, an `@` or a tag in somebody's text must not change the comment.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from agent_reach.reports.figures import one_line
from agent_reach.reports.values import shortened


def code(text: str, limit: int = 200) -> str:
    """The text as a code span on one line; a longer fence where it holds backticks; bars escaped for tables."""
    shown = shortened(one_line(text), limit)
    if not shown:
        return ""
    longest = max((len(run) for run in re.findall("`+", shown)), default=0)
    fence = "`" * (longest + 1)
    padding = " " if shown.startswith("`") or shown.endswith("`") else ""
    return f"{fence}{padding}{shown}{padding}{fence}".replace("|", "\\|")


def prose(text: str) -> str:
    """A sentence of the program: its own code spans stay, names in it cannot mention people or start HTML."""
    parts = one_line(text).replace("|", "\\|").split("`")
    if len(parts) % 2 == 0:
        return "\\`".join(map(_harmless, parts))
    return "`".join(part if place % 2 else _harmless(part) for place, part in enumerate(parts))


def _harmless(text: str) -> str:
    safe = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([*_\[\]#])", r"\\\1", safe).replace("@", "@\u200b")


def table_head(names: Sequence[str], alignment: str) -> list[str]:
    """The first two lines of a table; one letter per column, `l` or `r`."""
    rules = {"l": "---", "r": "---:"}
    return ["| " + " | ".join(names) + " |", "| " + " | ".join(rules[side] for side in alignment) + " |"]


def folded(title: str, lines: Sequence[str]) -> list[str]:
    """Lines that open on a click."""
    return ["<details>", f"<summary>{title}</summary>", "", *lines, "", "</details>", ""]
