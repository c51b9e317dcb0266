"""Units that numbers are written with: which are the same thing in another size, and which a parameter states.

Conversions are exact fractions; a unit of another kind, or one the parameter says nothing of, is for the model to settle.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from agent_reach.text.tokens import split_identifier


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit: its dimension and its size in the dimension's base unit."""

    dimension: str
    size: Fraction


def _table(*rows: tuple[str, str, str]) -> dict[str, Unit]:
    return {
        name: Unit(dimension, Fraction(size)) for dimension, size, names in rows for name in names.split("|")
    }


UNITS: dict[str, Unit] = _table(
    ("length", "1/1000", "mm|millimeter|millimetre|毫米"),
    ("length", "1/100", "cm|centimeter|centimetre|厘米|公分"),
    ("length", "1", "m|meter|metre|米|公尺"),
    ("length", "1000", "km|kilometer|kilometre|公里|千米"),
    ("length", "1609.344", "mi|mile|英里"),
    ("length", "0.3048", "ft|foot|feet|英尺"),
    ("length", "0.0254", "inch|inches|英寸"),
    ("mass", "1/1000", "mg|milligram|毫克"),
    ("mass", "1", "g|gram|克"),
    ("mass", "500", "斤"),
    ("mass", "1000", "kg|kgs|kilogram|kilo|公斤|千克"),
    ("mass", "1000000", "t|ton|tonne|吨"),
    ("mass", "453.59237", "lb|lbs|pound|磅"),
    ("time", "1/1000", "ms|millisecond|毫秒"),
    ("time", "1", "s|sec|second|秒|秒钟"),
    ("time", "60", "min|mins|minute|分钟"),
    ("time", "3600", "h|hr|hrs|hour|小时|钟头"),
    ("time", "86400", "d|day|天|日"),
    ("time", "604800", "week|周|星期"),
    ("months", "1", "month|个月|月"),
    ("months", "12", "year|yr|年|周年"),
    ("age", "1", "岁|周岁|years old|year old"),
    ("data", "1", "byte|bytes|字节"),
    ("data", "1000", "kb"),
    ("data", "1000000", "mb"),
    ("data", "1000000000", "gb"),
    ("data", "1000000000000", "tb"),
    ("volume", "1/1000", "ml|milliliter|millilitre|毫升"),
    ("volume", "1", "l|liter|litre|升"),
    ("area", "1", "sqm|m²|square meter|平方米|平米|平"),
    ("speed", "1", "km/h|kph|公里/小时"),
    ("temperature", "1", "°c|℃|degrees celsius|celsius|摄氏度|度"),
    ("temperature_f", "1", "°f|℉|degrees fahrenheit|fahrenheit|华氏度"),
    ("energy", "1", "kcal|calories|calorie|大卡|千卡|卡路里"),
    ("power", "1", "w|watt|瓦"),
    ("power", "1000", "kw|千瓦"),
    ("money_cny", "1", "cny|rmb|yuan|元|块|块钱|圆|元人民币|人民币|¥|￥"),
    ("money_usd", "1", "usd|dollar|us dollar|美元|美金|$|us$"),
    ("money_eur", "1", "eur|euro|欧元|€"),
    ("money_gbp", "1", "gbp|英镑|£"),
    ("money_jpy", "1", "jpy|yen|日元"),
    ("money_hkd", "1", "hkd|港元|港币|hk$"),
)

COUNT_WORDS = frozenset(
    [
        "个",
        "件",
        "位",
        "名",
        "人",
        "台",
        "辆",
        "张",
        "本",
        "份",
        "次",
        "条",
        "项",
        "只",
        "箱",
        "包",
        "瓶",
        "套",
        "双",
        "杯",
        "间",
        "家",
        "遍",
        "篇",
        "页",
        "盒",
        "块钱",
        "支",
        "枚",
        "颗",
        "把",
        "楼",
        "层",
        "倍",
        "item",
        "items",
        "piece",
        "pieces",
        "pcs",
        "pc",
        "unit",
        "units",
        "people",
        "person",
        "persons",
        "time",
        "times",
        "copy",
        "copies",
        "row",
        "rows",
        "result",
        "results",
        "page",
        "pages",
        "ticket",
        "tickets",
        "guest",
        "guests",
        "night",
        "nights",
        "room",
        "rooms",
    ]
)


def unit_of(word: str) -> Unit | None:
    """The unit of a word, singular or plural."""
    folded = word.strip().casefold()
    return UNITS.get(folded) or UNITS.get(folded.removesuffix("s")) or UNITS.get(folded.removesuffix("es"))


def stated_units(name: str, description: str, dimension: str) -> frozenset[Fraction]:
    """The sizes of that dimension that a parameter's name or description mentions."""
    sizes = set()
    for word in [*split_identifier(name), *re.findall(r"[A-Za-z°/²]+", description)]:
        unit = unit_of(word)
        # A single letter is a unit only in brackets: "(m)", "(g)".
        if unit is not None and unit.dimension == dimension and (len(word) > 1 or f"({word})" in description):
            sizes.add(unit.size)
    chinese = [unit for unit in UNITS if not unit.isascii() and unit in name + description]
    longest = [unit for unit in chinese if not any(unit != other and unit in other for other in chinese)]
    sizes |= {UNITS[unit].size for unit in longest if UNITS[unit].dimension == dimension}
    return frozenset(sizes)


def states_money(name: str, description: str) -> frozenset[str]:
    """The currencies a parameter mentions."""
    dimensions = set()
    for word in [*split_identifier(name), *re.findall(r"[A-Za-z]+|[$€£¥￥]|[\u4e00-\u9fff]+", description)]:
        for candidate in (
            word,
            *(unit for unit in UNITS if not unit.isascii() and len(unit) > 1 and unit in word),
        ):
            unit = unit_of(candidate)
            if unit is not None and unit.dimension.startswith("money_"):
                dimensions.add(unit.dimension)
    return frozenset(dimensions)


def mentions_word(name: str, description: str, word: str) -> bool:
    """Whether the name or the description holds the word, singular or plural."""
    stem = word.casefold().removesuffix("s")
    words = {*split_identifier(name), *re.findall(r"[a-z]+", description.casefold())}
    return any(known.removesuffix("s") == stem for known in words) or (
        not word.isascii() and word in description
    )
