"""Times of day in Chinese and English: 下午三点半, 3:30 pm, noon.

`三点` and `at 3` do not say which half of the day: they are found but have no time. 晚上12点 is left alone because it is
said of both midnights.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import time

from agent_reach.router.normalize.numerals import whole_number

_NUMBER = r"(?:\d{1,2}|[零〇一二两三四五六七八九十]{1,3})"
_PART = r"(?:凌晨|清晨|清早|早上|早晨|上午|中午|正午|下午|午后|傍晚|晚上|夜里|夜间|深夜|半夜|早|晨|晚|夜)"
_CHINESE = re.compile(
    rf"(?P<part>{_PART})?的?(?:(?P<clock>\d{{1,2}}[:：]\d{{2}}(?:[:：]\d{{2}})?)|(?P<hour>{_NUMBER})(?:点钟?|时)"
    rf"(?!间|候|段|光|代|候)(?:(?P<half>半)|(?P<quarter>[一三])刻|(?P<minute>{_NUMBER})分?|整)?)|(?P<only>{_PART})"
)
_ENGLISH = re.compile(
    r"(?:at |around )?(?:(?P<hour>\d{1,2})(?:[:.](?P<minute>\d{2}))?(?::(?P<second>\d{2}))? ?(?P<half>a\.?m\.?|p\.?m\.?)(?![a-z])"
    r"|(?P<clock>\d{1,2}:\d{2}(?::\d{2})?)(?![\d:])|(?P<word>noon|midday|midnight)(?![a-z])"
    r"|(?P<bare>\d{1,2}) o'?clock(?P<bare_part> in the (?:morning|afternoon|evening))?)|at (?P<vague>\d{1,2})(?![\d:.])"
)
_ENGLISH_PART = re.compile(r"(?:in the )?(?:morning|afternoon|evening|night)(?![a-z])")


@dataclass(frozen=True, slots=True)
class TimeOfDay:
    """A time of day found in a text; `time` None where it is vague or has two readings."""

    start: int
    end: int
    time: time | None


def time_at(text: str, position: int) -> TimeOfDay | None:
    """The time of day that begins at `position`, None where none does."""
    found = _CHINESE.match(text, position)
    if found is not None and (found["hour"] or found["part"] or found["only"]):
        return _chinese(found)
    english = _ENGLISH.match(text, position)
    if english is not None:
        return _english(english)
    part = _ENGLISH_PART.match(text, position)
    return TimeOfDay(part.start(), part.end(), None) if part else None


def _clock(text: str) -> tuple[int, int, int]:
    parts = [int(part) for part in re.split("[:：]", text)]
    return parts[0], parts[1], parts[2] if len(parts) > 2 else 0


def _exact(hour: int, minute: int, second: int = 0) -> time | None:
    return time(hour, minute, second) if hour < 24 and minute < 60 and second < 60 else None


def _chinese(found: re.Match[str]) -> TimeOfDay | None:
    if found["only"]:
        noon = found["only"] == "正午"
        return TimeOfDay(found.start(), found.end(), time(12) if noon else None)
    if found["clock"]:
        hour, minute, second = _clock(found["clock"])
    else:
        read = whole_number(found["hour"])
        if read is None:
            return None
        minute_text = found["minute"]
        said = (whole_number(minute_text) or 0) if minute_text else 0
        minute = (
            30 if found["half"] else 15 * (whole_number(found["quarter"]) or 0) if found["quarter"] else said
        )
        hour, second = read, 0
    part = found["part"]
    if part is None and not found["clock"] and 0 < hour <= 12:
        return TimeOfDay(found.start(), found.end(), None)
    placed = _hour_in_part(hour, part)
    return TimeOfDay(
        found.start(), found.end(), _exact(placed, minute, second) if placed is not None else None
    )


def _hour_in_part(hour: int, part: str | None) -> int | None:
    if part is None or hour > 12:
        return hour
    if part in ("下午", "午后", "傍晚"):
        return hour + 12 if hour < 12 else 12
    if part in ("晚上", "晚", "夜", "夜里", "夜间", "深夜"):
        return hour + 12 if 5 <= hour < 12 else None
    if part in ("中午", "正午"):
        return hour if hour >= 10 else hour + 12
    if part in ("凌晨", "半夜"):
        return 0 if hour == 12 else hour if hour < 7 else None
    return hour


def _english(found: re.Match[str]) -> TimeOfDay | None:
    exact: time | None
    if found["vague"]:
        return TimeOfDay(found.start(), found.end(), None) if int(found["vague"]) <= 12 else None
    if found["word"]:
        exact = time(0) if found["word"] == "midnight" else time(12)
    elif found["clock"]:
        exact = _exact(*_clock(found["clock"]))
        if exact is None:
            return None
    elif found["bare"]:
        hour, part = int(found["bare"]), found["bare_part"] or ""
        afternoon = "afternoon" in part or "evening" in part
        exact = _exact(hour % 12 + (12 if afternoon else 0), 0) if part and 1 <= hour <= 12 else None
    else:
        hour = int(found["hour"])
        if not 1 <= hour <= 12 and not (found["half"][0] == "p" and hour < 24):
            return None
        placed = hour if hour > 12 else hour % 12 + (12 if found["half"][0] == "p" else 0)
        exact = _exact(placed, int(found["minute"] or 0), int(found["second"] or 0))
    return TimeOfDay(found.start(), found.end(), exact)
