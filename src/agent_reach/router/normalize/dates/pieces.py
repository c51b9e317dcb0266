"""Date expressions of a text put together: with the time of day beside them, the year a neighbour lends, and as ranges.

It works on folded text and knows nothing of what stands around an expression.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import time

from agent_reach.router.normalize.dates.calendar import Atom, Clock, Context, DateSpan
from agent_reach.router.normalize.dates.chinese import chinese_atom
from agent_reach.router.normalize.dates.english import english_atom
from agent_reach.router.normalize.dates.numeric import numeric_atom
from agent_reach.router.normalize.dates.times import TimeOfDay, time_at
from agent_reach.router.normalize.folding import is_han

_JOIN = re.compile(
    r"\s?(?:到了?|至|—{1,2}|–|-|~|\.\.\.?|\bto\b|\bthrough\b|\bthru\b|\buntil\b|\btill\b|\band\b|与|和|及|/)\s?(?:the )?"
)
_PAIR_WORDS = ("and", "与", "和", "及")
_NEAR = re.compile(r",? ?(?:at|on|@|的|in)? ?")
_LEND = re.compile(r",? ?(?:'s|of|in|on|的|on the|in the)? ?(?:the )?")
_BARE_DAY = re.compile(r"(\d{1,2})(?:st|nd|rd|th)?(?:,? ([12]\d{3}))?(?![\d:/]|\.\d|[a-z%])(?=$|[ ,.)]|-)")
_TO_NOW = re.compile(
    r"(?:起|开始)?(?:至今|到今天?为止|到今天|迄今|以来|到目前为止)|(?:起|开始)(?=$)|,? ?onwards?\b"
)


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of the text: a date expression (`atom`), a time of day, or both; `span` once it is resolved."""

    start: int
    end: int
    atom: Atom | None
    time: time | None = None
    vague_time: bool = False
    span: DateSpan | None = None


def pieces_of(text: str, clock: Clock) -> list[Piece]:
    """Expressions with their times of day, lent years, and joined ranges, resolved against the clock."""
    context = Context(clock)
    pieces = _lend(text, _with_times(text, _scan(text, clock)), context)
    joined: list[Piece] = []
    index = 0
    while index < len(pieces):
        merged, used = _joined(text, pieces[index:], context)
        joined.append(merged)
        index += used
    resolved = [_resolve(text, piece, context) for piece in joined]
    return _without_weekday_echo([piece for piece in resolved if piece.atom is not None])


def _scan(text: str, clock: Clock) -> list[Piece]:
    pieces: list[Piece] = []
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


def _left_ok(text: str, position: int, pieces: Sequence[Piece]) -> bool:
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


def _piece_at(text: str, position: int, clock: Clock) -> Piece | None:
    atoms = (
        numeric_atom(text, position, clock),
        chinese_atom(text, position, clock),
        english_atom(text, position, clock),
    )
    usable = [atom for atom in atoms if atom is not None and _right_ok(text, atom.end)]
    if usable:
        best = max(usable, key=lambda atom: atom.end)
        return Piece(best.start, best.end, best)
    found: TimeOfDay | None = time_at(text, position)
    if found is not None and found.end > position and _right_ok(text, found.end):
        return Piece(found.start, found.end, None, found.time, found.time is None)
    return None


def _with_times(text: str, pieces: list[Piece]) -> list[Piece]:
    """A date and the time of day beside it become one piece."""
    merged: list[Piece] = []
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


def _lend(text: str, pieces: list[Piece], context: Context) -> list[Piece]:
    """`last year in March`, `the 5th of last month`, `next week Friday`: the wider expression lends what the other lacks."""
    out: list[Piece] = []
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


def _joined(text: str, rest: Sequence[Piece], context: Context) -> tuple[Piece, int]:
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


def _range_piece(left: Piece, right: Piece, span: DateSpan) -> Piece:
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
    return Piece(left.start, right.end, atom, None, left.vague_time or right.vague_time)


def _range(left: Piece, right: Atom, context: Context) -> DateSpan | None:
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
        first=begin.first,
        last=end.last,
        grain="range",
        relative=begin.relative or end.relative or right.is_now,
    )


def _to_bare_day(left: Piece, bare: re.Match[str], context: Context) -> tuple[Piece, int]:
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
        left.atom,
        end=bare.end(),
        build=lambda _: span,
        strength=max(left.atom.strength, 1),
        lacks=frozenset(),
    )
    return replace(left, end=bare.end(), atom=atom), 1


_LEADING_DAY = re.compile(r"(?:^|(?<=[ (]))(\d{1,2})(?:st|nd|rd|th)? ?(?:-|–|—|~|to|through|and) ?$")


def _resolve(text: str, piece: Piece, context: Context) -> Piece:
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
        found = piece.atom
        atom = None if found is None else replace(found, strength=max(1, found.strength))
        return replace(piece, start=start, end=end, span=span, atom=atom)
    return replace(piece, span=span)


def _without_weekday_echo(pieces: list[Piece]) -> list[Piece]:
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


def _is_weekday(piece: Piece) -> bool:
    return piece.atom is not None and "week" in piece.atom.lacks
