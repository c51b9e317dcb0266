"""Kinds of things that a request names (a date, a region, an amount, an id, a person, ...) and that parameters ask for.

A request that names a date and an order number speaks for tools that take a date and an order number. Read from
patterns and parameter names; it finds kinds, not values: what the value is, is the business of `router.normalize`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from agent_reach.records.tool import Tool
from agent_reach.text.folding import simplify
from agent_reach.text.tokens import split_identifier

_TEXT_PATTERNS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("email", re.compile(r"[\w.+-]+@[\w-]+\.[\w.]+")),
    ("url", re.compile(r"https?://|\bwww\.|\b[\w-]+\.(?:com|org|net|io|cn|edu|gov)\b")),
    ("ip", re.compile(r"\b(?:\d{1,3}\.){3}\d{1,3}\b")),
    ("path", re.compile(r"(?:^|\s|['\"“])(?:/|~/|[A-Za-z]:\\)[\w./\\-]+|\b[\w-]+\.(?:pdf|csv|txt|docx?|xlsx?|png|jpe?g|mp[34]|py|json|zip)\b")),
    ("coordinate", re.compile(r"latitude|longitude|经度|纬度|经纬", re.I)),
    (
        "date",
        re.compile(
            r"\b\d{4}[-/.]\d{1,2}|\b\d{1,2}/\d{1,2}\b|\d{1,2}月|\d{1,2}[号日]|\b(?:today|tomorrow|yesterday|tonight|monday|tuesday|wednesday|"
            r"thursday|friday|saturday|sunday|january|february|march|april|june|july|august|september|october|november|december)\b|"
            r"\b(?:last|next|this|past) (?:week|month|year|quarter|weekend|\d+ days?)\b|\bq[1-4]\b|今天|明天|昨天|后天|前天|上个?月|下个?月|上周|下周|本周|本月|今年|去年|季度|周[一二三四五六日末]",
            re.I,
        ),
    ),
    ("time", re.compile(r"\b\d{1,2}:\d{2}\b|\b\d{1,2}\s*(?:am|pm)\b|[上下]午|晚上|\d{1,2}点", re.I)),
    ("money", re.compile(r"[$€£¥]\s?\d|\b\d[\d,.]*\s*(?:usd|eur|gbp|cny|rmb|dollars?|euros?|yuan|pounds?)\b|\d+\s*(?:元|块钱|万元|美元|欧元|日元)", re.I)),
    ("phone", re.compile(r"(?<!\d)(?:\+?\d{1,3}[- ])?(?:1[3-9]\d{9}|\(?\d{3}\)?[- ]\d{3}[- ]\d{4})(?!\d)")),
    ("id", re.compile(r"\b(?=[A-Za-z-]*\d)(?=[\d-]*[A-Za-z])[A-Za-z0-9]+(?:[-_][A-Za-z0-9]+)*\b|\bids?\b|编号|单号|序号", re.I)),
    ("percent", re.compile(r"\d\s*(?:%|percent)|百分之")),
    ("number", re.compile(r"(?<![\w.-])\d+(?:\.\d+)?(?![\w-])")),
)  # fmt: skip

_PARAMETER_WORDS: dict[str, frozenset[str]] = {
    "email": frozenset({"email", "mail"}),
    "url": frozenset({"url", "link", "website", "domain", "uri", "site", "hostname"}),
    "ip": frozenset({"ip"}),
    "path": frozenset({"path", "file", "filename", "directory", "folder"}),
    "coordinate": frozenset({"latitude", "longitude", "lat", "lon", "lng", "coordinates"}),
    "date": frozenset({"date", "day", "month", "year", "deadline", "birthday", "period", "quarter", "since", "until"}),
    "time": frozenset({"time", "hour", "timezone", "timestamp", "datetime"}),
    "money": frozenset({"price", "amount", "budget", "cost", "currency", "salary", "fee", "income", "payment"}),
    "phone": frozenset({"phone", "mobile", "telephone", "tel"}),
    "id": frozenset({"id", "ids", "identifier", "code", "number", "uuid", "sku", "serial", "no"}),
    "percent": frozenset({"percent", "percentage", "rate", "ratio"}),
    "number": frozenset({"count", "limit", "size", "quantity", "age", "length", "width", "height", "weight", "value", "total"}),
}  # fmt: skip
_CHINESE_PARAMETER_WORDS = {
    "日期": "date",
    "时间": "time",
    "邮箱": "email",
    "电话": "phone",
    "编号": "id",
    "金额": "money",
}


def kinds_in_text(text: str) -> tuple[str, ...]:
    """The kinds of things named in a request, in a fixed order, each once."""
    text = simplify(text)
    return tuple(kind for kind, pattern in _TEXT_PATTERNS if pattern.search(text))


@lru_cache(maxsize=16384)
def kinds_of_name(name: str) -> tuple[str, ...]:
    """The kinds of things that a parameter of that name asks for."""
    words = set(split_identifier(name))
    found = [kind for kind, wanted in _PARAMETER_WORDS.items() if words & wanted]
    found.extend(
        kind for word, kind in _CHINESE_PARAMETER_WORDS.items() if word in name and kind not in found
    )
    return tuple(found)


def kinds_of_tool(tool: Tool) -> frozenset[str]:
    """The kinds of things that the top-level parameters of a tool ask for."""
    found: set[str] = set()
    for name, schema in tool.parameters.items():
        found.update(kinds_of_name(str(name)))
        if isinstance(schema, Mapping):
            found.update(_kinds_of_format(schema))
    return frozenset(found)


def _kinds_of_format(schema: Mapping[str, Any]) -> tuple[str, ...]:
    form = schema.get("format")
    known = {"date": "date", "date-time": "date", "time": "time", "email": "email", "uri": "url", "ipv4": "ip", "uuid": "id"}  # fmt: skip
    return (known[form],) if isinstance(form, str) and form in known else ()
