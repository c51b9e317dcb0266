"""Number words of Chinese and English as whole numbers: what dates and numeric arguments share.

Exact readings only; a word that is no complete number is None.
"""

from __future__ import annotations

import re

_DIGITS = {
    "零": 0, "〇": 0, "○": 0, "一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9,
    "壹": 1, "贰": 2, "叁": 3, "肆": 4, "伍": 5, "陆": 6, "柒": 7, "捌": 8, "玖": 9, "俩": 2,
}  # fmt: skip
_SMALL = {"十": 10, "百": 100, "千": 1000, "拾": 10, "佰": 100, "仟": 1000}
_LARGE = {"万": 10_000, "萬": 10_000, "亿": 100_000_000, "億": 100_000_000}

CHINESE_NUMERAL = "[零〇一二两俩三四五六七八九十百千万亿]"


def chinese_number(text: str) -> int | None:
    """三十五 -> 35, 两百零六 -> 206, 一万二 -> 12000, 二〇二四 -> 2024; None where it is no well-formed numeral."""
    if not text:
        return None
    if all(character in _DIGITS for character in text):
        # 三五 means "three to five"; digit by digit only years and other long rows are read.
        if 1 < len(text) < 4:
            return None
        return int("".join(str(_DIGITS[character]) for character in text))
    total = section = 0
    digit: int | None = None
    unit_before, last_small, last_large = 1, 10_000, 10**12
    for index, character in enumerate(text):
        if character in _DIGITS:
            if digit:
                return None
            digit = _DIGITS[character]
            if digit == 0:
                unit_before = 1
        elif character in _SMALL:
            unit = _SMALL[character]
            bare_ten = unit == 10 and digit is None and (index == 0 or text[index - 1] in _LARGE)
            if unit >= last_small or (not digit and not bare_ten):
                return None
            section += (digit or 1) * unit
            digit, unit_before, last_small = None, unit, unit
        elif character in _LARGE:
            unit = _LARGE[character]
            if unit >= last_large or (section == 0 and not digit):
                return None
            total += (section + (digit or 0)) * unit
            section, digit, unit_before, last_small, last_large = 0, None, unit, 10_000, unit
        else:
            return None
    if digit:
        # 一万二 and 三百五 leave the last unit unsaid: the digit counts one place lower.
        section += digit * (unit_before // 10 if unit_before >= 100 else 1)
    return total + section


_ENGLISH_SMALL = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16,
    "seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50,
    "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90,
}  # fmt: skip
_ENGLISH_LARGE = {"thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}

ENGLISH_COUNT = (
    "(?:"
    + "|".join(sorted(_ENGLISH_SMALL, key=len, reverse=True))
    + ")(?:[- ](?:one|two|three|four|five|six|seven|eight|nine))?"
)


def english_number(text: str) -> int | None:
    """twenty-five -> 25, two hundred and six -> 206; None where a word is no number."""
    words = [word for word in re.split(r"[\s-]+", text.strip().casefold()) if word]
    if not words or words[0] == "and" or words[-1] == "and":
        return None
    total = section = 0
    room = 10**12
    last = 0
    for word in words:
        if word in _ENGLISH_SMALL:
            value = _ENGLISH_SMALL[word]
            tens_open = last in range(20, 100, 10) and 0 < value < 10
            if last and not tens_open:
                return None
            section += value
            last = value or 1
        elif word == "hundred":
            if not 0 < section < 10:
                return None
            section *= 100
            last = 0
        elif word in _ENGLISH_LARGE:
            scale = _ENGLISH_LARGE[word]
            if not section or scale >= room:
                return None
            total, section, room, last = total + section * scale, 0, scale, 0
        elif word != "and":
            return None
    return total + section


def whole_number(text: str) -> int | None:
    """Digits, a Chinese numeral or an English number word as an integer."""
    text = text.strip()
    if text.isascii() and text.isdigit():
        return int(text) if len(text) <= 18 else None
    return chinese_number(text) if text[:1] in _DIGITS or text[:1] in _SMALL else english_number(text)
