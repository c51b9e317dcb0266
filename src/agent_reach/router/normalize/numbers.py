"""Text that is one certain number: digits with grouping, Chinese numerals, scales, per cent, money and units.

Ranges, approximations (`about 50`, `50+`) and units that a parameter does not state are not numbers here.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from agent_reach.router.normalize.numerals import CHINESE_NUMERAL, chinese_number, english_number
from agent_reach.router.normalize.units import COUNT_WORDS, mentions_word, stated_units, states_money, unit_of

_PLAIN = re.compile(r"[+-]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:[eE][+-]?\d{1,3})?|[+-]?\.\d+")
_SCALED = re.compile(
    rf"(?P<sign>[+-]?)(?P<before>[$€£¥￥]|us\$|hk\$|rmb|usd|eur)?\s?"
    rf"(?:(?P<digits>(?:\d{{1,3}}(?:,\d{{3}})+|\d+)(?:\.\d+)?)\s?(?P<scale>百万|千万|百亿|十万|亿|万|千|百|k|m|bn|b|w|thousand|million|billion)?(?![a-z0-9]*\d)(?:(?<![a-z])|(?![a-z]))"
    rf"|(?P<chinese>{CHINESE_NUMERAL}+(?:点[零〇一二三四五六七八九]+)?))"
    r"\s?(?P<unit>%|％|[a-z°²$/]+(?: [a-z]+)?|[\u4e00-\u9fff¥￥$℃℉]{1,4})?"
)
_SCALES = {
    "k": 10**3, "thousand": 10**3, "千": 10**3, "百": 100, "w": 10**4, "万": 10**4, "十万": 10**5, "m": 10**6,
    "million": 10**6, "百万": 10**6, "千万": 10**7, "亿": 10**8, "bn": 10**9, "b": 10**9, "billion": 10**9, "百亿": 10**10,
}  # fmt: skip
_MONEY_SIGNS = {"$": "money_usd", "us$": "money_usd", "usd": "money_usd", "€": "money_eur", "eur": "money_eur",
                "£": "money_gbp", "¥": "money_cny", "￥": "money_cny", "rmb": "money_cny", "hk$": "money_hkd"}  # fmt: skip
_MONEY_ONLY_SCALES = frozenset({"m", "b", "w"})


@dataclass(frozen=True, slots=True)
class NumberReading:
    """A number and the rule that read it; `doubt` says why a number that is there cannot be taken."""

    value: Fraction | None
    rule: str
    doubt: str = ""


def read_number(text: str, name: str, schema: Mapping[str, Any]) -> NumberReading | None:
    """The one number of a text for that parameter; None where the text is no number at all."""
    folded = unicodedata.normalize("NFKC", text).strip().casefold().replace("，", ",")
    if not folded or len(folded) > 60:
        return None
    if _PLAIN.fullmatch(folded):
        return NumberReading(Fraction(folded.replace(",", "")), "number_text")
    percent = re.fullmatch(rf"百分之({CHINESE_NUMERAL}+|\d+(?:\.\d+)?)", folded)
    if percent is not None:
        said = _chinese_value(percent[1]) if not percent[1][0].isdigit() else Fraction(percent[1])
        return None if said is None else _percent(said, name, schema)
    found = _SCALED.fullmatch(folded)
    if found is not None:
        return _scaled(found, name, schema)
    words = english_number(folded)
    return NumberReading(Fraction(words), "number_text") if words is not None else None


def _chinese_value(text: str) -> Fraction | None:
    whole_text, _, decimals = text.partition("点")
    whole = chinese_number(whole_text)
    if whole is None:
        return None
    if not decimals:
        return Fraction(whole)
    digits = "".join(str(chinese_number(character)) for character in decimals)
    return Fraction(f"{whole}.{digits}")


def _scaled(found: re.Match[str], name: str, schema: Mapping[str, Any]) -> NumberReading | None:
    money = _MONEY_SIGNS.get(found["before"] or "")
    rule = "number_text"
    if found["chinese"]:
        value = _chinese_value(found["chinese"])
        rule = "chinese_numeral"
    else:
        value = Fraction(found["digits"].replace(",", ""))
        scale = found["scale"]
        if scale in _MONEY_ONLY_SCALES and not money and not (scale == "w" and found["unit"] in ("元", "块")):
            return NumberReading(None, "number_unit", f"{scale!r} is no certain scale")
        if scale:
            value *= _SCALES[scale]
            rule = "chinese_numeral" if not scale.isascii() else "number_unit"
    if value is None:
        return None
    if found["sign"] == "-":
        value = -value
    unit_word = (found["unit"] or "").strip()
    if unit_word in ("%", "％"):
        return _percent(value, name, schema)
    if money and not unit_word:
        return _with_money(value, money, name, schema)
    if not unit_word:
        return NumberReading(value, rule)
    if money:
        unit = unit_of(unit_word)
        if unit is None or unit.dimension != money:
            return NumberReading(None, "number_unit", f"{unit_word!r} does not go with the currency sign")
        return _with_money(value, money, name, schema)
    return _with_unit(value, unit_word, name, schema)


def _with_money(value: Fraction, money: str, name: str, schema: Mapping[str, Any]) -> NumberReading:
    stated = states_money(name, str(schema.get("description") or ""))
    if stated and money not in stated:
        return NumberReading(None, "number_unit", "the parameter is in another currency")
    return NumberReading(value, "number_unit")


def _with_unit(value: Fraction, word: str, name: str, schema: Mapping[str, Any]) -> NumberReading:
    description = str(schema.get("description") or "")
    unit = unit_of(word)
    if unit is not None and unit.dimension.startswith("money_"):
        return _with_money(value, unit.dimension, name, schema)
    if unit is not None:
        stated = stated_units(name, description, unit.dimension)
        if len(stated) == 1:
            return NumberReading(value * unit.size / next(iter(stated)), "number_unit")
        if not stated and unit.dimension == "age" and mentions_word(name, description, "age"):
            return NumberReading(value, "number_unit")
        if not stated and ("岁" in word and "年龄" in description):
            return NumberReading(value, "number_unit")
        doubt = "the parameter states no such unit" if not stated else "the parameter states several units"
        return NumberReading(None, "number_unit", doubt)
    if word in COUNT_WORDS or mentions_word(name, description, word):
        return NumberReading(value, "number_unit")
    return NumberReading(None, "number_unit", f"{word!r} is no unit of this parameter")


def _percent(value: Fraction, name: str, schema: Mapping[str, Any]) -> NumberReading:
    """10% is 10 where the parameter counts per cent, 0.1 where it holds a share; otherwise nobody knows."""
    text = f"{name} {schema.get('description') or ''}"
    high = schema.get("maximum")
    if isinstance(high, (int, float)) and high <= 1:
        return NumberReading(value / 100, "number_unit")
    if re.search(r"percent|%|百分|pct", text, re.I) and not re.search(
        r"0\.\d|fraction|decimal|小数|0-1|0到1", text, re.I
    ):
        return NumberReading(value, "number_unit")
    if re.search(r"fraction|decimal|小数|between 0 and 1|0-1|0到1|0\.\d", text, re.I):
        return NumberReading(value / 100, "number_unit")
    return NumberReading(None, "number_unit", "10% may be 10 or 0.1")
