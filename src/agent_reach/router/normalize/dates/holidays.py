"""Holidays with a certain day: fixed days, nth weekdays, Easter, and Chinese festivals from a table.

The festivals of the lunar calendar and Qingming are listed for 2000 to 2050; outside of it they stay unknown. Official
leave around a holiday differs from year to year and is not here.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta

from agent_reach.router.normalize.dates.calendar import nth_weekday, safe_date

# Spring Festival, Lantern, Dragon Boat, Qixi, Mid-Autumn, Double Ninth, Qingming as month and day.
_FESTIVALS: dict[int, str] = {
    2000: "0205 0219 0606 0806 0912 1006 0404",
    2001: "0124 0207 0625 0825 1001 1025 0405",
    2002: "0212 0226 0615 0815 0921 1014 0405",
    2003: "0201 0215 0604 0804 0911 1004 0405",
    2004: "0122 0205 0622 0822 0928 1022 0404",
    2005: "0209 0223 0611 0811 0918 1011 0405",
    2006: "0129 0212 0531 0731 1006 1030 0405",
    2007: "0218 0304 0619 0819 0925 1019 0405",
    2008: "0207 0221 0608 0807 0914 1007 0404",
    2009: "0126 0209 0528 0826 1003 1026 0404",
    2010: "0214 0228 0616 0816 0922 1016 0405",
    2011: "0203 0217 0606 0806 0912 1005 0405",
    2012: "0123 0206 0623 0823 0930 1023 0404",
    2013: "0210 0224 0612 0813 0919 1013 0404",
    2014: "0131 0214 0602 0802 0908 1002 0405",
    2015: "0219 0305 0620 0820 0927 1021 0405",
    2016: "0208 0222 0609 0809 0915 1009 0404",
    2017: "0128 0211 0530 0828 1004 1028 0404",
    2018: "0216 0302 0618 0817 0924 1017 0405",
    2019: "0205 0219 0607 0807 0913 1007 0405",
    2020: "0125 0208 0625 0825 1001 1025 0404",
    2021: "0212 0226 0614 0814 0921 1014 0404",
    2022: "0201 0215 0603 0804 0910 1004 0405",
    2023: "0122 0205 0622 0822 0929 1023 0405",
    2024: "0210 0224 0610 0810 0917 1011 0404",
    2025: "0129 0212 0531 0829 1006 1029 0404",
    2026: "0217 0303 0619 0819 0925 1018 0405",
    2027: "0206 0220 0609 0808 0915 1008 0405",
    2028: "0126 0209 0528 0826 1003 1026 0404",
    2029: "0213 0227 0616 0816 0922 1016 0404",
    2030: "0203 0217 0605 0805 0912 1005 0405",
    2031: "0123 0206 0624 0824 1001 1024 0405",
    2032: "0211 0225 0612 0812 0919 1012 0404",
    2033: "0131 0214 0601 0801 0908 1001 0404",
    2034: "0219 0305 0620 0820 0927 1020 0405",
    2035: "0208 0222 0610 0810 0916 1009 0405",
    2036: "0128 0211 0530 0828 1004 1027 0404",
    2037: "0215 0301 0618 0817 0924 1017 0404",
    2038: "0204 0218 0607 0807 0913 1007 0405",
    2039: "0124 0207 0527 0826 1002 1026 0405",
    2040: "0212 0226 0614 0814 0920 1014 0404",
    2041: "0201 0215 0603 0803 0910 1003 0404",
    2042: "0122 0205 0622 0822 0928 1022 0404",
    2043: "0210 0224 0611 0811 0917 1011 0405",
    2044: "0130 0213 0531 0731 1005 1029 0404",
    2045: "0217 0303 0619 0819 0925 1018 0404",
    2046: "0206 0220 0608 0808 0915 1008 0404",
    2047: "0126 0209 0529 0827 1004 1027 0405",
    2048: "0214 0228 0615 0816 0922 1016 0404",
    2049: "0202 0216 0604 0805 0911 1005 0404",
    2050: "0123 0206 0623 0823 0930 1024 0404",
}


def _fixed(month: int, day: int) -> Callable[[int], date | None]:
    return lambda year: safe_date(year, month, day)


def _nth(month: int, weekday: int, nth: int, plus: int = 0) -> Callable[[int], date | None]:
    def find(year: int) -> date | None:
        found = nth_weekday(year, month, weekday, nth)
        return found + timedelta(days=plus) if found else None

    return find


def _listed(column: int, plus: int = 0) -> Callable[[int], date | None]:
    def find(year: int) -> date | None:
        row = _FESTIVALS.get(year)
        if row is None:
            return None
        cell = row.split()[column]
        return date(year, int(cell[:2]), int(cell[2:])) + timedelta(days=plus)

    return find


def easter(year: int) -> date:
    """Western Easter Sunday (anonymous Gregorian computus)."""
    a, b, c = year % 19, year // 100, year % 100
    d, e = divmod(b, 4)
    g = (8 * b + 13) // 25
    h = (19 * a + b - d - g + 15) % 30
    i, k = divmod(c, 4)
    m = (32 + 2 * e + 2 * i - h - k) % 7
    n = (a + 11 * h + 19 * m) // 433
    month = (h + m - 7 * n + 90) // 25
    return date(year, month, (h + m - 7 * n + 33 * month + 19) % 32)


def _easter(plus: int) -> Callable[[int], date | None]:
    return lambda year: easter(year) + timedelta(days=plus)


_DAYS: dict[str, Callable[[int], date | None]] = {
    "元旦节|元旦|new year's day|new years day|new year day": _fixed(1, 1),
    "情人节|valentine's day|valentines day|valentine day": _fixed(2, 14),
    "妇女节|三八节|三八妇女节|女神节|international women's day|women's day": _fixed(3, 8),
    "植树节|arbor day in china": _fixed(3, 12),
    "st. patrick's day|st patrick's day|saint patrick's day": _fixed(3, 17),
    "愚人节|april fools' day|april fool's day|april fools day": _fixed(4, 1),
    "世界地球日|地球日|earth day": _fixed(4, 22),
    "劳动节|五一劳动节|五一节|五一|may day": _fixed(5, 1),
    "青年节|五四青年节": _fixed(5, 4),
    "儿童节|六一儿童节|六一": _fixed(6, 1),
    "六一八|618大促|618购物节|618": _fixed(6, 18),
    "建党节|七一建党节": _fixed(7, 1),
    "canada day": _fixed(7, 1),
    "美国独立日|independence day|fourth of july|4th of july|the fourth of july": _fixed(7, 4),
    "bastille day": _fixed(7, 14),
    "建军节|八一建军节": _fixed(8, 1),
    "教师节": _fixed(9, 10),
    "国庆节|国庆|十一国庆节|国庆日|chinese national day": _fixed(10, 1),
    "万圣夜|万圣节前夜|halloween": _fixed(10, 31),
    "光棍节|双十一|双11|双 11|singles' day|singles day|double 11|double eleven": _fixed(11, 11),
    "双十二|双12|双 12|double 12|double twelve": _fixed(12, 12),
    "平安夜|圣诞夜|christmas eve": _fixed(12, 24),
    "圣诞节|圣诞|christmas day|christmas|xmas": _fixed(12, 25),
    "boxing day": _fixed(12, 26),
    "跨年夜|new year's eve|new years eve": _fixed(12, 31),
    "母亲节|mother's day|mothers day": _nth(5, 6, 2),
    "父亲节|father's day|fathers day": _nth(6, 6, 3),
    "memorial day": _nth(5, 0, -1),
    "感恩节|thanksgiving day|thanksgiving": _nth(11, 3, 4),
    "黑色星期五|黑五|black friday": _nth(11, 3, 4, 1),
    "网络星期一|网购星期一|cyber monday": _nth(11, 3, 4, 4),
    "复活节|easter sunday|easter": _easter(0),
    "耶稣受难日|good friday": _easter(-2),
    "easter monday": _easter(1),
    "春节|大年初一|正月初一|农历新年|农历春节|中国新年|chinese new year|lunar new year|spring festival": _listed(
        0
    ),
    "除夕夜|除夕|大年三十|chinese new year's eve|lunar new year's eve": _listed(0, -1),
    "元宵节|元宵|正月十五|lantern festival": _listed(1),
    "端午节|端午|dragon boat festival": _listed(2),
    "七夕节|七夕|qixi festival": _listed(3),
    "中秋节|中秋|八月十五中秋节|mid-autumn festival|mid autumn festival|moon festival": _listed(4),
    "重阳节|重阳|double ninth festival": _listed(5),
    "清明节|清明|qingming festival|tomb-sweeping day|tomb sweeping day": _listed(6),
}

HOLIDAYS: dict[str, Callable[[int], date | None]] = {
    name: find for names, find in _DAYS.items() for name in names.split("|")
}


def holiday(name: str, year: int) -> date | None:
    """The day of a holiday in that year; None for an unknown name or a year outside its table."""
    find = HOLIDAYS.get(name.casefold())
    return find(year) if find is not None and 1 <= year <= 9999 else None
