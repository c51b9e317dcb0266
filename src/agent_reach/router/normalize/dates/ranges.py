"""Reading a date out of a text: which expressions it holds, and whether the words around them leave their meaning alone.

A text is read only when it holds exactly one expression and the rest of it cannot mean something else: identifiers,
versions, recurrences (every Friday) and half-open periods (before March) are left alone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import pairwise

from agent_reach.router.normalize.dates.calendar import Clock, DateSpan
from agent_reach.router.normalize.dates.pieces import pieces_of
from agent_reach.router.normalize.folding import fold_for_dates, is_han

_RECURRING = re.compile(
    r"每|every\b|each\b|daily\b|weekly\b|monthly\b|逢|fy ?'?\d|fiscal|财年|农历(?!新年|春节)|同期|年级|环比|同比"
)
_BEFORE = re.compile(
    r"(?:^|(?<=[\s(（]))(?:from|between|during|in|for|on|of|at|over|within|since|throughout|the period|period|date|dated|the month of|month of|the|starting|starting from|beginning|,)\s*$"
    r"|(?:从|自从|自|由|在|于|介于|时间|日期|期间|为|是|:|,|，|：|\()$"
)
_AFTER = re.compile(
    r"^\s*(?:之间|期间|内|这段时间|当天|这天|整天|全天|整月|全月|为止|间|止|inclusive|\)|。|,|，|\.|!|;)"
)
_NOT_A_DATE = re.compile(
    r"\b(?:before|after|until|till|by|not|except|than|about|around|excluding|besides|no|vs|versus|v|early|late|mid|middle|half|part|version|release|build|ver|ticket|order|sku|id|no)\b"
    r"|前|后|除|不|非|截|到|至|起|初|末|底|版本|编号|单号|型号|序列|批次|直到|早于|晚于|超过|以上|以下|对比|相比"
)
_METRICS = re.compile(
    r"(?:的|'s )?[\u4e00-\u9fff]{0,4}(?:营收|收入|销售额|销量|销售|业绩|数据|报表|报告|订单|库存|利润|费用|成本|情况|记录|明细|统计|流水|账单|总额|趋势)"
    r"|(?:'s )?(?:sales|revenue|report|data|figures|orders|results|numbers|profit|costs?|invoices?|usage|traffic)(?: report| data| figures)?"
)


@dataclass(frozen=True, slots=True)
class DateReading:
    """The one date expression of a text: what it means, where it stands (offsets of the original text), whether it is the
    whole text, and whether it has several readings (then `span` is only one of them)."""

    span: DateSpan
    start: int
    end: int
    whole: bool
    ambiguous: bool = False
    vague_time: bool = False


def read_date(original: str, clock: Clock) -> DateReading | None:
    """The date or period that a text means, None where it holds none, several, or something else besides."""
    if not original or len(original) > 200:
        return None
    readings = find_dates(original, clock)
    if not readings:
        return None
    folded = fold_for_dates(original)
    pieces = pieces_of(folded.text, clock)
    spans = {(piece.span.first, piece.span.last, piece.span.time) for piece in pieces if piece.span}
    if len(spans) != 1:
        return None
    before = folded.text[: pieces[0].start]
    after = folded.text[pieces[-1].end :]
    between = "".join(folded.text[left.end : right.start] for left, right in pairwise(pieces))
    strength = min(piece.atom.strength for piece in pieces if piece.atom)
    whole = _is_filler(before, after) and not between.strip(" (),（），/:")
    if not whole and not (
        not between.strip(" (),（），") and _may_stand_among(before, after, strength, folded.text)
    ):
        return None
    return replace(readings[0], whole=whole)


def find_dates(original: str, clock: Clock) -> list[DateReading]:
    """Every date expression of a running text, in order; nothing from a text about recurring dates."""
    folded = fold_for_dates(original)
    if _RECURRING.search(folded.text):
        return []
    found = []
    for piece in pieces_of(folded.text, clock):
        if piece.span is None or piece.atom is None:
            continue
        start, end = folded.original_span(piece.start, piece.end)
        found.append(
            DateReading(
                piece.span, start, end, False, piece.atom.ambiguous, piece.vague_time and piece.time is None
            )
        )
    return found


def _is_filler(before: str, after: str) -> bool:
    before, after = before.strip(), after.strip()
    while before:
        shorter = _BEFORE.sub("", before).strip()
        if shorter == before:
            break
        before = shorter
    while after:
        shorter = _AFTER.sub("", after).strip()
        if shorter == after:
            break
        after = shorter
    return not before and not after


def _may_stand_among(before: str, after: str, strength: int, text: str) -> bool:
    """Whether other words around an expression leave its meaning untouched: a region before it, a metric after it."""
    rest = before + " " + after
    if strength == 0 or re.search(r"[\d_#@$%<>=\\]|-|/", rest) or _NOT_A_DATE.search(rest):
        return False
    if after.strip() and not (_METRICS.fullmatch(after.strip()) or _is_filler("", after)):
        return False
    before = before.strip()
    if not before:
        return True
    if all(is_han(character) or character in " ,，的、" for character in before):
        return len(before) <= 12
    words = re.findall(r"[a-z']+", before)
    return (
        strength == 2
        and len(words) <= 8
        and "of" not in words[-1:]
        and re.fullmatch(r"[a-z', ]+", before) is not None
    )
