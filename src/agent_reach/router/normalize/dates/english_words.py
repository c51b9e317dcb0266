"""The words and forms of English date expressions, in lower case. What they mean is said in `english`."""

from __future__ import annotations

import re

from agent_reach.router.normalize.dates.holidays import HOLIDAYS
from agent_reach.router.normalize.numerals import ENGLISH_COUNT

MONTHS = {
    name: index + 1
    for index, names in enumerate(
        [
            "january jan",
            "february feb",
            "march mar",
            "april apr",
            "may",
            "june jun",
            "july jul",
            "august aug",
            "september sept sep",
            "october oct",
            "november nov",
            "december dec",
        ]
    )
    for name in names.split()
}
"""Word -> number of the month."""
_MONTH = "(?:" + "|".join(sorted(MONTHS, key=len, reverse=True)) + r")(?![a-z])\.?"
WEEKDAYS = {
    name: index
    for index, names in enumerate(
        [
            "monday mon",
            "tuesday tues tue",
            "wednesday wed",
            "thursday thurs thur thu",
            "friday fri",
            "saturday sat",
            "sunday sun",
        ]
    )
    for name in names.split()
}
"""Word -> day of the week, Monday is 0."""
_WEEKDAY = "(?:" + "|".join(sorted(WEEKDAYS, key=len, reverse=True)) + r")(?![a-z])"
ORDINALS = {
    "first": 1,
    "1st": 1,
    "second": 2,
    "2nd": 2,
    "third": 3,
    "3rd": 3,
    "fourth": 4,
    "4th": 4,
    "last": -1,
}
"""Word -> which one, -1 for the last."""
_ORDINAL = r"(?:first|second|third|fourth|1st|2nd|3rd|4th)"
_DAY = r"(?:\d{1,2})(?:st|nd|rd|th)?(?![\d:])"
_YEAR = r"(?:(?:the )?year )?(?:[12]\d{3}|'\d\d)(?!\d)|(?:this|last|previous|next|the current|the) year"
_COUNT = rf"(?:\d{{1,4}}|{ENGLISH_COUNT}|a couple of|couple of|an?|half an?)"
UNITS = {
    "day": "day", "week": "week", "fortnight": "fortnight", "month": "month", "quarter": "quarter", "year": "year",
    "hour": "hour", "hr": "hour", "minute": "minute", "min": "minute", "decade": "decade", "yr": "year",
}  # fmt: skip
"""Word -> unit of a count."""
_UNIT = (
    r"(?:days?|weeks?|fortnights?|months?|quarters?|years?|yrs?|hours?|hrs?|minutes?|mins?|decades?)(?![a-z])"
)
SHIFTS = {
    "last": -1, "previous": -1, "prior": -1, "this": 0, "current": 0, "the current": 0, "next": 1, "following": 1,
    "the previous": -1, "the last": -1, "the next": 1, "the following": 1, "the prior": -1, "the": 0,
}  # fmt: skip
"""Word -> how many periods from the present one."""
_SHIFT = r"(?:(?:the )?(?:last|previous|prior|current|next|following)|this)"
_HOLIDAY = "|".join(
    sorted(
        (re.escape(name) for name in HOLIDAYS if name[0].isascii() and name != "618"), key=len, reverse=True
    )
)
DAY_WORDS = {
    "the day before yesterday": -2, "day before yesterday": -2, "yesterday": -1, "today": 0, "tomorrow": 1,
    "the day after tomorrow": 2, "day after tomorrow": 2, "tonight": 0, "last night": -1,
}  # fmt: skip
"""Expression -> days from today."""

PATTERNS: dict[str, str] = {
    "day_word": "|".join(sorted(DAY_WORDS, key=len, reverse=True)) + r"|this (?:morning|afternoon|evening)",
    "now": r"(?:right )?now|the present|present|to date|date(?=$)",
    "shifted": rf"(?P<shift>{_SHIFT}) (?P<unit>weekend|week|month|quarter|year|{_WEEKDAY}|{_MONTH})(?![a-z])(?:,? (?P<day>{_DAY}))?",
    "rolling_one": r"(?:the |over the |in the )?(?P<side>past|trailing|upcoming|coming) (?P<unit>day|week|fortnight|month|quarter|year|hour|decade)(?![a-z])",
    "weekend": r"(?:the |coming |the coming |upcoming )?weekend(?![a-z])",
    "end_of": r"(?P<unit>month|quarter|year)[- ]end(?![a-z])",
    "far": r"(?:the )?(?P<unit>week|month|quarter|year|weekend) (?P<side>before last|after next)",
    "ago": rf"(?P<count>{_COUNT}) (?P<unit>{_UNIT}) (?P<side>ago|from now|from today|later|earlier)",
    "in": rf"in (?P<count>{_COUNT}) (?P<unit>{_UNIT})(?:'s? time)?",
    "rolling": rf"(?:(?:over|in|during|within) )?(?:the |these )?(?P<side>last|past|previous|trailing|rolling|most recent|next|coming|following|upcoming) (?P<count>{_COUNT})[ -](?P<unit>{_UNIT})",
    "quarter": rf"(?:q(?P<q>[1-4])|(?P<ordinal>{_ORDINAL}) quarter)(?:,? ?(?:of |in )?(?P<year>{_YEAR}))?|(?P<year_first>[12]\d{{3}})[ -]?q(?P<q_last>[1-4])",
    "half": rf"(?:h(?P<h>[12])|(?:the )?(?P<ordinal>first|second|1st|2nd) half)(?:,? ?(?:of |in )?(?P<year>{_YEAR}))?|(?P<year_first>[12]\d{{3}})[ -]?h(?P<h_last>[12])",
    "month_day": rf"(?P<month>{_MONTH}) (?:the )?(?P<day>{_DAY})(?:,? (?:of )?(?P<year>{_YEAR}))?",
    "day_month": rf"(?:the )?(?P<day>{_DAY})(?: of)?[ -](?P<month>{_MONTH})(?:[, -]+(?:of )?(?P<year>{_YEAR}))?",
    "month_year": rf"(?P<month>{_MONTH})(?:,? (?:of |in )?(?P<year>{_YEAR}))?",
    "year": r"(?:(?:the )?year )?(?P<year>(?:19|20)\d\d)(?!\d)",
    "weekday": rf"(?:on |this coming |the coming |coming |upcoming )?(?P<weekday>{_WEEKDAY})",
    "edge": r"(?:the )?(?P<edge>end|beginning|start|first day|last day) of (?P<whole>(?:the |this )?(?:week|month|quarter|year)(?![a-z])|.+)",
    "to_date": r"(?P<unit>week|month|quarter|year)[- ]to[- ]date|(?P<short>wtd|mtd|qtd|ytd)|(?:so far )?this (?P<so_far>week|month|quarter|year)(?: so far)?",
    "day_of_month": r"(?:the )(?P<day>\d{1,2}(?:st|nd|rd|th))(?: of (?P<which>this|last|next) month)?",
    "nth": rf"(?:the )?(?P<ordinal>{_ORDINAL}|last) (?P<weekday>{_WEEKDAY}) (?:of|in) (?P<month>{_MONTH})(?:,? (?P<year>{_YEAR}))?",
    "week_number": r"week (?P<week>\d{1,2})(?:,? (?:of )?(?P<year>[12]\d{3}))?",
    "week_of": rf"(?:the )?week of (?:the )?(?P<month>{_MONTH}) (?P<day>{_DAY})(?:,? (?P<year>{_YEAR}))?",
    "holiday": rf"(?P<holiday>{_HOLIDAY})(?![a-z])(?:,? (?:of |in )?(?P<year>{_YEAR}))?",
    "holiday_shift": rf"(?P<shift>this year's|last year's|next year's|last|this) (?P<holiday>{_HOLIDAY})(?![a-z])",
}  # fmt: skip
"""Kind of expression -> what it looks like; `english` says what each means."""
