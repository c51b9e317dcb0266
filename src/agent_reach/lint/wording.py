"""Word lists and patterns that several rules share, for English and Chinese.

General words of the two languages and of the field; no tool names.
"""

from __future__ import annotations

import re

WHEN_TO_USE = re.compile(
    r"(?i)\b(?:use (?:this|it|when|for|if|to|only|after|before|instead)|used (?:to|for|when|if)|useful (?:for|when|if|to)"
    r"|when (?:you|the user|users?|asked|a user|needed|working|there|it)|whenever|should be used|call (?:this|it)"
    r"|for (?:when|use|tasks|cases|quer|question|request)|if (?:you|the user|users?|it)|ideal for|best for|perfect for|intended for"
    r"|prefer (?:this|it|[a-z]+ing)|before (?:calling|using|you)|after (?:calling|using|you)|helpful (?:for|when)|suitable for"
    r"|allows? (?:you|users?|the)|in order to|so that)\b"
    r"|用于|使用|适用|适合|当用户|用户(?:说|问|要|想|需要)|时调用|的时候|场景|如果|可用来|以便|帮助|之前|先用"
)

EXAMPLE_IN_TEXT = re.compile(
    r"(?i)\b(?:e\.?g\.?|for example|for instance|such as|example|like ['\"`]|format|iso[ -]?\d|rfc ?\d|yyyy|mm-dd|hh:mm|unix|epoch"
    r"|timestamp|utc|iana|timezone name)|例如|比如|例：|格式|形如|如[:：'\"“「]|如 ?[A-Za-z0-9\"'“]|示例|样例|[（(]如|毫秒|秒级|时间戳"
    r"|['\"`“「][^'\"`”」]{2,}['\"`”」]|\d{4}-\d{2}|\b[A-Z]{2,}-?\d{2,}"
)

REQUIRED_IN_TEXT = re.compile(
    r"(?i)(?:^|[.;,(\[-]\s*)required\.?\s*(?:$|[)\]])|^required\b(?! (?:when|if|for|by|only|unless|in|with))[.:,]"
    r"|\b(?:this|it|parameter|field|argument|value) (?:is|is always) (?:required|mandatory)\b(?! (?:when|if|for|by|only|unless|in|with))"
    r"|\bmust (?:always )?be (?:provided|specified|given|supplied)\b(?! (?:when|if|for|unless|with|together|as|in))"
    r"|(?<!非)必填(?!项?[时当])|必须(?:填写|提供|指定|传入)(?!.{0,6}时)"
)

UNIT_IN_TEXT = re.compile(
    r"(?i)\b(?:seconds?|secs?|minutes?|mins?|hours?|days?|weeks?|months?|years?|ms|milliseconds?|bytes?|kb|mb|gb|kib|mib|pixels?|px"
    r"|percent(?:age)?|%|usd|eur|cny|rmb|dollars?|euros?|yuan|cents?|kg|kilograms?|grams?|lbs?|pounds?|meters?|metres?|km|cm|mm|miles?"
    r"|feet|inches|degrees?|celsius|fahrenheit|liters?|litres?|points?|pt|emu|dpi|rows?|items?|lines?|characters?|tokens?|between \d|from \d|\d ?[-–] ?\d"
    r"|fraction|ratio|currency)\b|[%％°$€¥£]|元|美元|人民币|分钟|小时|天|周|月|年|秒|公里|千米|米|厘米|毫米|公斤|千克|克|吨|斤|升|件|个|条|次|字节|像素|百分比|单位|之间|比例"
)

DATE_NAME_WORDS = frozenset(
    {"date", "datetime", "timestamp", "day", "birthday", "dob", "deadline", "since", "until", "日期", "时间"}
)
MONEY_WORDS = frozenset(
    {
        "price",
        "amount",
        "cost",
        "fee",
        "budget",
        "salary",
        "balance",
        "payment",
        "金额",
        "价格",
        "费用",
        "预算",
    }
)
MEASURE_WORDS = frozenset(
    {
        "weight",
        "height",
        "width",
        "length",
        "distance",
        "duration",
        "timeout",
        "interval",
        "delay",
        "radius",
        "temperature",
        "speed",
        "size",
        "volume",
        "area",
        "重量",
        "高度",
        "宽度",
        "长度",
        "距离",
        "时长",
    }
)
READING_VERBS = frozenset(
    [
        "get",
        "list",
        "read",
        "find",
        "search",
        "query",
        "show",
        "describe",
        "view",
        "fetch",
        "check",
        "count",
        "lookup",
        "look",
        "inspect",
        "status",
        "diff",
    ]
)
WRITING_VERBS = frozenset(
    [
        "create",
        "update",
        "delete",
        "remove",
        "set",
        "add",
        "write",
        "insert",
        "put",
        "post",
        "send",
        "edit",
        "modify",
        "move",
        "rename",
        "drop",
        "cancel",
        "reset",
        "commit",
        "push",
        "merge",
        "upload",
    ]
)
DESTROYING_VERBS = frozenset(
    ["delete", "remove", "drop", "destroy", "erase", "purge", "wipe", "truncate", "reset"]
)
GENERIC_OPENINGS = re.compile(
    r"(?i)^(?:this (?:tool|function|api|method|endpoint)|a (?:tool|function) (?:to|that|for|which)|tool (?:to|for)|function (?:to|for)|该(?:工具|函数|接口)|这个(?:工具|函数|接口)|本(?:工具|接口))[\s，,]*"
)
