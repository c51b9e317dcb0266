"""How figures are written: percentages, fractions, intervals, durations, JSON values in a line.

A figure that was not evaluated is written as such, never as 0 or 100%. It rounds for the eye only; `report.json` keeps
the exact values.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable
from typing import Any

from agent_reach.records.message import Language
from agent_reach.records.report import CatalogInfo, OfferedTools
from agent_reach.records.score import Interval, Metric
from agent_reach.reports.wording import PLAIN_NUMBERS


def percent(value: float | None) -> str:
    """`83.3%`; a value that only rounds to 100% or 0% keeps a digit more, so that it never looks whole."""
    if value is None:
        return "-"
    text = f"{value * 100:.1f}"
    if text in ("100.0", "0.0", "-0.0"):
        return f"{value * 100:.0f}%" if value in (0, 1) else f"{_short_of(value)}%"
    return f"{text}%"


def _short_of(value: float) -> str:
    if 0 < value < 0.0005:
        return "<0.1"
    if 0.9995 <= value < 1:
        return ">99.9"
    return f"{value * 100:.1f}"


def metric_value(name: str, metric: Metric, language: Language) -> str:
    """The value of a metric for people: a percentage, a plain number for ratios that are no rate, or `n/a`."""
    if metric.value is None:
        return "未评估" if language == "zh" else "n/a"
    return f"{metric.value:.2f}" if name in PLAIN_NUMBERS else percent(metric.value)


def count(value: float) -> str:
    """A count or a sum: whole numbers without a point, thousands apart, others with at most two digits."""
    if float(value).is_integer():
        return f"{int(value):,}"
    return f"{value:,.2f}".rstrip("0").rstrip(".")


def plural(number: int, noun: str) -> str:
    """`1 task`, `2,000 tasks`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def fraction(metric: Metric) -> str:
    """`25/30`, or empty when nothing was counted."""
    return f"{count(metric.numerator)}/{count(metric.denominator)}" if metric.denominator else ""


def interval_text(name: str, interval: Interval | None) -> str:
    """`71.2%-90.1%`, or empty without an interval."""
    if interval is None:
        return ""
    if name in PLAIN_NUMBERS:
        return f"{interval.low:.2f}-{interval.high:.2f}"
    return f"{percent(interval.low)}-{percent(interval.high)}"


def duration(milliseconds: float | None) -> str:
    """`340 ms`, `2.1 s`, `3 min 5 s`; empty when unknown."""
    if milliseconds is None:
        return ""
    if milliseconds < 1000:
        return f"{milliseconds:.0f} ms"
    seconds = milliseconds / 1000
    if seconds < 60:
        return f"{seconds:.1f} s"
    return f"{int(seconds // 60)} min {int(seconds % 60)} s"


def json_value(value: Any) -> str:
    """A JSON value on one line as a person reads it: every digit kept, Chinese as it is."""
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (TypeError, ValueError):
        return str(value)


def display_width(text: str) -> int:
    """Columns of a terminal that the text takes: wide and full-width characters two, combining and control ones none."""
    return len(text) if text.isascii() else sum(map(_character_width, text))


def _character_width(character: str) -> int:
    if unicodedata.east_asian_width(character) in "WF":
        return 2
    if unicodedata.category(character) in ("Mn", "Me", "Cf", "Cc"):
        return 0
    return 1


def fit(text: str, width: int) -> str:
    """The text cut to that many columns, `...` at the end of what was cut, and padded with blanks."""
    if display_width(text) > width:
        kept, used = "", 0
        for character in text:
            size = _character_width(character)
            if used + size > width - 3:
                break
            kept += character
            used += size
        text = kept + "..."[: max(0, width - used)]
    return text + " " * (width - display_width(text))


def one_line(text: str) -> str:
    """The text on one line, control characters (terminal escapes among them) replaced so that they do nothing."""
    return plain_text(" ".join(text.split()))


def plain_text(text: str) -> str:
    """The text with its line breaks and tabs, every other control character (terminal escapes, bells, marks that turn the
    direction of writing) replaced so that it does nothing."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        "\ufffd" if character not in "\n\t" and is_control(character) else character for character in text
    )


def is_control(character: str) -> bool:
    """True for a character that a terminal acts on instead of showing it, line breaks and tabs among them."""
    return unicodedata.category(character) in ("Cc", "Cs") or character in _DIRECTION_MARKS


_DIRECTION_MARKS = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_NOT_AT_START = frozenset("，。；：、！？）】》”’%,.;:!?)]}")


def wrap(text: str, width: int, *, indent: str = "", first: str | None = None) -> list[str]:
    """The text in lines of at most that many columns: broken at blanks and between Chinese characters, long words cut;
    no line starts with a closing punctuation mark."""
    lines: list[str] = []
    line = indent if first is None else first
    empty = True
    for piece in _pieces(one_line(text)):
        room = width - display_width(line)
        if display_width(piece.rstrip()) > room and not empty:
            lines.append(line.rstrip())
            line, piece = indent, piece.lstrip()
        while display_width(piece) > width - display_width(line) and len(piece.rstrip()) > 1:
            head = _head(piece, width - display_width(line))
            if head == piece.rstrip():
                break
            lines.append(line + head)
            line, piece = indent, piece[len(head) :].lstrip()
        line += piece
        empty = False
    if line.strip() or not lines:
        lines.append(line.rstrip())
    return lines


def _head(text: str, width: int) -> str:
    used = 0
    for index, character in enumerate(text):
        used += _character_width(character)
        if used > width:
            return text[: max(1, index)]
    return text


def _pieces(text: str) -> Iterable[str]:
    """Parts that must not be broken: a word with the blanks behind it, a Chinese character with its punctuation."""
    piece = ""
    for character in text:
        wide = _character_width(character) == 2
        starts = bool(piece) and (
            (piece[-1] == " " and character != " ")
            or (wide and character not in _NOT_AT_START)
            or (_character_width(piece[-1]) == 2 and character != " " and character not in _NOT_AT_START)
        )
        if starts:
            yield piece
            piece = ""
        piece += character
    if piece:
        yield piece


def offered_count(offered: OfferedTools) -> str:
    """How many tools attempts were offered: one number, or fewest to most (`4-8`)."""
    if offered.least == offered.most:
        return f"{offered.least:,}"
    return f"{offered.least:,}-{offered.most:,}"


def tool_list_parts(catalog: CatalogInfo, language: Language) -> list[str]:
    """How many tools there are and what they weigh, and how much of that was offered where it was not all."""
    chinese = language == "zh"
    offered = catalog.offered
    if offered is None or not catalog.shows_part:
        if chinese:
            return [f"{catalog.tool_count:,} 个工具", f"工具列表 {catalog.tokens:,} token"]
        return [plural(catalog.tool_count, "tool"), plural(catalog.tokens, "tool-list token")]
    some = offered_count(offered)
    parts = [
        f"提供 {some} / {catalog.tool_count:,} 个工具"
        if chinese
        else f"{some} of {catalog.tool_count:,} tools offered"
    ]
    whole = f"{catalog.tokens:,}"
    if offered.tokens is not None:
        whole = f"{offered.tokens:,.0f} / {whole}" if chinese else f"{offered.tokens:,.0f} of {whole}"
    return [*parts, f"工具列表 {whole} token" if chinese else f"{whole} tool-list tokens"]
