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

_DIGITS_PATTERNS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("ip", re.compile(r"\b\d{1,3}(?:\.\d{1,3}){3}\b")),
    ("date", re.compile(r"\d{4}[-/.]\d|\d/\d|\d[月号日]|\b[qQ][1-4]\b")),
    ("time", re.compile(r"\d:\d\d|\d ?[apAP][mM]\b|\d点")),
    ("money", re.compile(r"[$€£¥] ?\d|\d ?(?:usd|eur|gbp|cny|rmb|dollars?|euros?|yuan|pounds?)\b|\d(?:元|块|万元|美元|欧元|日元)", re.I)),
    ("phone", re.compile(r"(?<!\d)(?:1[3-9]\d{9}|\(?\d{3}\)?[- ]\d{3}[- ]\d{4})(?!\d)")),
    ("id", re.compile(r"[A-Za-z]-?\d[\w-]*|\d[A-Za-z]\w+")),
    ("percent", re.compile(r"\d ?(?:%|percent)")),
    ("number", re.compile(r"(?<![\w.:-])\d+(?:\.\d+)?(?![\w:-]|\.\w)")),
)  # fmt: skip
_FILE = re.compile(
    r"(?:^|[\s'\"“])(?:/|~/|[A-Za-z]:\\)[\w./\\-]+|\b[\w-]+\.(?:pdf|csv|txt|docx?|xlsx?|png|jpe?g|mp[34]|py|json|zip)\b"
)
_ADDRESS = re.compile(r"https?://|\bwww\.|\b[\w-]+\.(?:com|org|net|io|cn|edu|gov)\b")
_EMAIL = re.compile(r"[\w.+-]+@[\w-]+\.\w")
_CHINESE = (
    ("coordinate", re.compile(r"[经纬]度")),
    (
        "date",
        re.compile(r"[今明昨后前]天|[上下]个?月|[上下本这]周|本月|[今去明]年|季度|周[一二三四五六日末]"),
    ),
    ("time", re.compile(r"[上下]午|晚上|凌晨")),
    ("id", re.compile(r"编号|单号|序号")),
    ("percent", re.compile(r"百分之")),
)
_DIGIT = re.compile(r"\d")
_ENGLISH_WORD = re.compile(r"[a-z]+")
_DATE_WORDS = """
today tomorrow yesterday tonight monday tuesday wednesday thursday friday saturday sunday january february march april
june july august september october november december week month year quarter weekend
"""
DATE_WORDS = frozenset(_DATE_WORDS.split())
_WORD_KINDS = {
    **dict.fromkeys(DATE_WORDS, "date"),
    **dict.fromkeys(("latitude", "longitude", "coordinates"), "coordinate"),
    **dict.fromkeys(("id", "ids"), "id"),
}

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
    """The kinds of things named in a request, sorted, each once."""
    text = simplify(text)
    words = _WORD_KINDS.keys() & set(_ENGLISH_WORD.findall(text.lower()))
    found = {_WORD_KINDS[word] for word in words}
    if _DIGIT.search(text):
        found.update(kind for kind, pattern in _DIGITS_PATTERNS if pattern.search(text))
    if "@" in text and _EMAIL.search(text):
        found.add("email")
    if ("." in text or "://" in text) and _ADDRESS.search(text):
        found.add("url")
    if ("/" in text or "\\" in text or "." in text) and _FILE.search(text):
        found.add("path")
    if not text.isascii():
        found.update(kind for kind, pattern in _CHINESE if pattern.search(text))
    return tuple(sorted(found))


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
