"""Reading a date out of a text: finds expressions, joins them to ranges and judges the words around them.

A text is read only when it holds exactly one expression and the rest of it cannot mean something else: identifiers,
versions, recurrences (every Friday) and half-open periods (before March) are left alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import time

from agent_reach.router.normalize.calendar import Atom, Clock, Context, DateSpan, day
from agent_reach.router.normalize.dates_en import english_atom
from agent_reach.router.normalize.dates_iso import numeric_atom
from agent_reach.router.normalize.dates_zh import chinese_atom
from agent_reach.router.normalize.folding import fold_for_dates, is_han
from agent_reach.router.normalize.times import TimeOfDay, time_at

_JOIN = re.compile(
    r"\s?(?:到了?|至|—{1,2}|–|-|~|\.\.\.?|\bto\b|\bthrough\b|\bthru\b|\buntil\b|\btill\b|\band\b|与|和|及|/)\s?(?:the )?"
)
_PAIR_WORDS = ("and", "与", "和", "及")
_NEAR = re.compile(r",? ?(?:at|on|@|的|in)? ?")
_LEND = re.compile(r",? ?(?:'s|of|in|on|的|on the|in the)? ?(?:the )?")
_BARE_DAY = re.compile(r"(\d{1,2})(?:st|nd|rd|th)?(?:,? ([12]\d{3}))?(?![\d:/]|\.\d|[a-z%])(?=$|[ ,.)]|-)")
_TO_NOW = re.compile(r"(?:起|开始)?(?:至今|到今天?为止|到今天|迄今|以来|到目前为止)|(?:起|开始)(?=$)|,? ?onwards?\b")
_RECURRING = re.compile(r"每|every\b|each\b|daily\b|weekly\b|monthly\b|逢|fy ?'?\d|fiscal|财年|农历(?!新年|春节)|同期|年级|环比|同比")
_BEFORE = re.compile(
    r"(?:^|(?<=[\s(（]))(?:from|between|during|in|for|on|of|at|over|within|since|throughout|the period|period|date|dated|the month of|month of|the|starting|starting from|beginning|,)\s*$"
    r"|(?:从|自从|自|由|在|于|介于|时间|日期|期间|为|是|:|,|，|：|\()$"
)
_AFTER = re.compile(r"^\s*(?:之间|期间|内|这段时间|当天|这天|整天|全天|整月|全月|为止|间|止|inclusive|\)|。|,|，|\.|!|;)")
_NOT_A_DATE = re.compile(
    r"\b(?:before|after|until|till|by|not|except|than|about|around|excluding|besides|no|vs|versus|v)\b"
    r"|前|后|除|不|非|截|直到|早于|晚于|超过|以上|以下|对比|相比"
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


@dataclass(frozen=True, slots=True)
class _Piece:
    start: int
    end: int
    atom: Atom | None
    time: time | None = None
    vague_time: bool = False
    span: DateSpan | None = None


def read_date(original: str, clock: Clock) -> DateReading | None:
    """The date or period that a text means, None where it holds none, several, or something else besides."""
    if not original or len(original) > 200:
        return None
    readings = find_dates(original, clock)
    if not readings:
        return None
    folded = fold_for_dates(original)
    pieces = _pieces(folded.text, clock)
    spans = {(piece.span.first, piece.span.last, piece.span.time) for piece in pieces if piece.span}
    if len(spans) != 1:
        return None
    before = folded.text[: pieces[0].start]
    after = folded.text[pieces[-1].end :]
    between = "".join(
        folded.text[left.end : right.start] for left, right in zip(pieces, pieces[1:], strict=False)
    )
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
    for piece in _pieces(folded.text, clock):
        if piece.span is None or piece.atom is None:
            continue
        start, end = folded.original_span(piece.start, piece.end)
        found.append(
            DateReading(piece.span, start, end, False, piece.atom.ambiguous, piece.vague_time and piece.time is None)
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
    return strength == 2 and len(words) <= 8 and "of" not in words[-1:] and re.fullmatch(r"[a-z', ]+", before) is not None


def _pieces(text: str, clock: Clock) -> list[_Piece]:
    """Expressions with their times of day, lent years, and joined ranges, resolved against the clock."""
    context = Context(clock)
    pieces = _lend(text, _with_times(text, _scan(text, clock)), context)
    joined: list[_Piece] = []
    index = 0
    while index < len(pieces):
        merged, used = _joined(text, pieces[index:], context)
        joined.append(merged)
        index += used
    resolved = [_resolve(text, piece, context) for piece in joined]
    return _without_weekday_echo([piece for piece in resolved if piece.atom is not None])


def _scan(text: str, clock: Clock) -> list[_Piece]:
    pieces: list[_Piece] = []
    position = 0
    while position < len(text):
        piece = None
        if text[position] != " " and _left_ok(text, position, pieces):
            piece = _piece_at(text, position, clock)
        if piece is None:
            position += 1
        else:
            pieces.append(piece)
            position = piece.end
    return pieces


def _left_ok(text: str, position: int, pieces: Sequence[_Piece]) -> bool:
    if position == 0 or is_han(text[position]):
        return True
    before = text[position - 1]
    if before in "-/~" and pieces and pieces[-1].end == position - 1:
        return True
    if before in "-–" and re.search(r"(?:^|[ (])\d{1,2}$", text[: position - 1]) and text[position].isdigit():
        return True
    return not (before.isascii() and before.isalnum()) and before not in "_-./#@'$:"


def _right_ok(text: str, end: int) -> bool:
    if end >= len(text) or not text[end - 1].isascii():
        return True
    after = text[end]
    if after.isascii() and (after.isalnum() or after in "_%:@"):
        return False
    return not (after == "." and text[end + 1 : end + 2].isalnum())


def _piece_at(text: str, position: int, clock: Clock) -> _Piece | None:
    atoms = (
        numeric_atom(text, position, clock),
        chinese_atom(text, position, clock),
        english_atom(text, position, clock),
    )
    usable = [atom for atom in atoms if atom is not None and _right_ok(text, atom.end)]
    if usable:
        best = max(usable, key=lambda atom: atom.end)
        return _Piece(best.start, best.end, best)
    found: TimeOfDay | None = time_at(text, position)
    if found is not None and found.end > position and _right_ok(text, found.end):
        return _Piece(found.start, found.end, None, found.time, found.time is None)
    return None


def _with_times(text: str, pieces: list[_Piece]) -> list[_Piece]:
    """A date and the time of day beside it become one piece."""
    merged: list[_Piece] = []
    for piece in pieces:
        last = merged[-1] if merged else None
        if last is not None and _NEAR.fullmatch(text[last.end : piece.start]):
            if last.atom is not None and piece.atom is None and last.time is None:
                vague = last.vague_time or piece.vague_time
                merged[-1] = replace(last, end=piece.end, time=piece.time, vague_time=vague)
                continue
            if last.atom is None and piece.atom is not None:
                merged[-1] = replace(piece, start=last.start, time=last.time, vague_time=last.vague_time)
                continue
        merged.append(piece)
    return merged


def _lend(text: str, pieces: list[_Piece], context: Context) -> list[_Piece]:
    """`last year in March`, `the 5th of last month`, `next week Friday`: the wider expression lends what the other lacks."""
    out: list[_Piece] = []
    for piece in pieces:
        last = out[-1] if out else None
        if last is not None and last.atom is not None and piece.atom is not None:
            gap = text[last.end : piece.start]
            if _LEND.fullmatch(gap):
                for wide, narrow in ((last, piece), (piece, last)):
                    atom = _lent(wide.atom, narrow.atom, context)
                    if atom is not None:
                        atom = replace(atom, start=last.start, end=piece.end)
                        out[-1] = replace(narrow, start=last.start, end=piece.end, atom=atom)
                        break
                else:
                    out.append(piece)
                continue
        out.append(piece)
    return out


def _lent(wide: Atom | None, narrow: Atom | None, context: Context) -> Atom | None:
    if wide is None or narrow is None or wide.lacks:
        return None
    span = wide.build(context)
    if span is None:
        return None
    if span.grain == "year" and "year" in narrow.lacks:
        lending = replace(context, year=span.first.year)
    elif span.grain == "month" and "month" in narrow.lacks:
        lending = replace(context, month=(span.first.year, span.first.month))
    elif span.grain == "week" and "week" in narrow.lacks:
        lending = replace(context, week=span.first)
    else:
        return None
    if narrow.build(lending) is None:
        return None
    return replace(narrow, build=lambda _: narrow.build(lending), strength=wide.strength, lacks=frozenset())


def _joined(text: str, rest: Sequence[_Piece], context: Context) -> tuple[_Piece, int]:
    """The first piece and what follows it as one range where a joining word stands between them, and how many pieces were
    used."""
    left = rest[0]
    right = rest[1] if len(rest) > 1 else None
    if left.atom is None:
        return left, 1
    join = _JOIN.match(text, left.end)
    if join is None or join.end() == left.end:
        return left, 1
    word = join[0].strip()
    if word in _PAIR_WORDS and not re.search(r"(?:between|介于|在|从|自)\s*(?:the )?$", text[: left.start]):
        return left, 1
    bare = _BARE_DAY.match(text, join.end()) if "month" not in left.atom.lacks else None
    if bare is not None and (right is None or right.start != join.end()):
        piece, used = _to_bare_day(left, bare, context)
        if used:
            return piece, 1 + sum(1 for other in rest[1:] if other.start < bare.end())
    if right is not None and right.start == join.end() and right.atom is not None:
        span = _range(left, right.atom, context)
        return (left, 1) if span is None else (_range_piece(left, right, span), 2)
    if right is not None and right.start == join.end() and right.atom is None and left.time and right.time:
        span = left.atom.build(context)
        if span is not None and span.is_single_day:
            ranged = replace(span, time=left.time, last_time=right.time)
            return replace(left, end=right.end, atom=replace(left.atom, build=lambda _: ranged), time=None), 2
    return left, 1


def _range_piece(left: _Piece, right: _Piece, span: DateSpan) -> _Piece:
    assert left.atom is not None
    assert right.atom is not None
    span = replace(span, time=left.time, last_time=right.time if right.time else None)
    atom = replace(
        left.atom,
        end=right.end,
        build=lambda _: span,
        strength=max(left.atom.strength, right.atom.strength, 1),
        lacks=frozenset(),
        ambiguous=left.atom.ambiguous or right.atom.ambiguous,
    )
    return _Piece(left.start, right.end, atom, None, left.vague_time or right.vague_time)


def _range(left: _Piece, right: Atom, context: Context) -> DateSpan | None:
    """First day of the left to last day of the right, each lending the other the year, month or week it lacks."""
    assert left.atom is not None
    atom = left.atom
    if "year" in atom.lacks and not right.lacks:
        end = right.build(context)
        begin = atom.build(replace(context, year=end.first.year)) if end else None
        if begin and end and begin.first > end.last:
            begin = atom.build(replace(context, year=end.first.year - 1))
    else:
        begin = atom.build(context)
        if begin is None:
            return None
        lent = replace(
            context, year=begin.first.year, month=(begin.first.year, begin.first.month), week=begin.first
        )
        end = right.build(lent)
        if end is not None and end.last < begin.first and "year" in right.lacks:
            end = right.build(replace(lent, year=begin.first.year + 1))
    if begin is None or end is None or end.last < begin.first:
        return None
    return DateSpan(
        first=begin.first, last=end.last, grain="range", relative=begin.relative or end.relative or right.is_now
    )


def _to_bare_day(left: _Piece, bare: re.Match[str], context: Context) -> tuple[_Piece, int]:
    assert left.atom is not None
    year = int(bare[2]) if bare[2] else None
    begin = left.atom.build(replace(context, year=year) if year is not None else context)
    if begin is None or not begin.is_single_day or begin.grain != "day":
        return left, 0
    try:
        last = begin.first.replace(day=int(bare[1]))
    except ValueError:
        return left, 0
    if last <= begin.first:
        return left, 0
    span = replace(begin, last=last, grain="range", relative=begin.relative and year is None)
    atom = replace(
        left.atom, end=bare.end(), build=lambda _: span, strength=max(left.atom.strength, 1), lacks=frozenset()
    )
    return replace(left, end=bare.end(), atom=atom), 1


_LEADING_DAY = re.compile(r"(?:^|(?<=[ (]))(\d{1,2})(?:st|nd|rd|th)? ?(?:-|–|—|~|to|through|and) ?$")


def _resolve(text: str, piece: _Piece, context: Context) -> _Piece:
    """The piece with its span: times put in, `3-9 March` and `since Monday` widened."""
    if piece.atom is None:
        return piece
    span = piece.atom.build(context)
    if span is None:
        return replace(piece, atom=None)
    leading = _LEADING_DAY.search(text[: piece.start])
    if leading and span.grain == "day" and int(leading[1]) < span.first.day and int(leading[1]) >= 1:
        span = replace(span, first=span.first.replace(day=int(leading[1])), grain="range")
        piece = replace(piece, start=leading.start(1))
    if piece.time is not None and span.time is None and span.is_single_day:
        span = replace(span, time=piece.time)
    since = re.search(r"(?:^|[\s(])since (?:the )?$|自从?$", text[: piece.start])
    to_now = _TO_NOW.match(text, piece.end)
    if since or to_now:
        today = context.clock.today
        end = to_now.end() if to_now else piece.end
        start = since.start() + (1 if since[0][0] in " (" else 0) if since else piece.start
        if span.first > today or (span.grain == "range" and span.last != today):
            return replace(piece, atom=None)
        span = DateSpan(first=span.first, last=today, grain="range", time=None)
        atom = replace(piece.atom, strength=max(1, piece.atom.strength))
        return replace(piece, start=start, end=end, span=span, atom=atom)
    return replace(piece, span=span)


def _without_weekday_echo(pieces: list[_Piece]) -> list[_Piece]:
    """`Friday, December 12`: a weekday that only repeats the day beside it is dropped; one that contradicts it stays, so
    that the text has two dates and is not read."""
    days = [piece for piece in pieces if piece.span and piece.span.is_single_day and not _is_weekday(piece)]
    if len(days) != 1 or days[0].span is None:
        return pieces
    expected = days[0].span.first.weekday()
    kept = []
    for piece in pieces:
        if _is_weekday(piece) and piece.span is not None and piece.span.first.weekday() == expected:
            kept.append(replace(piece, span=replace(days[0].span, time=days[0].span.time), atom=days[0].atom))
        else:
            kept.append(piece)
    return kept


def _is_weekday(piece: _Piece) -> bool:
    return piece.atom is not None and "week" in piece.atom.lacks


def single_day(reading: DateReading) -> DateSpan | None:
    """The reading as one day, None where it is a period."""
    return day(reading.span.first, at=reading.span.time) if reading.span.is_single_day else None
