"""How names of fields and tools are read: singular words, suffix families, verbs, qualifiers and families of meaning.

General language only: no name of a product or of a benchmark. The families are small on purpose; they carry the weak
rules of `binding`, and what they miss is missed, not guessed. Chinese words reach the same families through
`CHINESE_TERMS`.
"""

from __future__ import annotations

from functools import lru_cache

from agent_reach.text.tokens import split_identifier

_IRREGULAR = {
    "people": "person", "children": "child", "men": "man", "women": "woman", "indices": "index",
    "vertices": "vertex", "matrices": "matrix", "criteria": "criterion", "analyses": "analysis", "feet": "foot",
    "teeth": "tooth", "mice": "mouse", "geese": "goose", "leaves": "leaf", "knives": "knife", "lives": "life",
    "halves": "half", "shelves": "shelf", "wives": "wife", "wolves": "wolf", "media": "medium", "data": "data",
    "movies": "movie", "cookies": "cookie", "series": "series", "species": "species", "news": "news",
    "aliases": "alias", "statuses": "status", "buses": "bus", "viruses": "virus", "appendices": "appendix",
    "addresses": "address", "axes": "axis", "bases": "base", "diagnoses": "diagnosis", "quizzes": "quiz",
    "categories": "category", "caches": "cache", "invoices": "invoice", "licenses": "license", "zombies": "zombie",
}  # fmt: skip
_KEPT_S = ("ss", "us", "is", "ous", "news")
# Abbreviations that names of fields use for whole words.
_ABBREVIATIONS = {
    "num": "number", "no": "number", "nr": "number", "addr": "address", "dest": "destination", "src": "source",
    "desc": "description", "qty": "quantity", "amt": "amount", "acct": "account", "org": "organization",
    "repo": "repository", "dir": "directory", "msg": "message", "pwd": "password", "tel": "phone", "img": "image",
    "lang": "language", "cat": "category", "dept": "department", "emp": "employee", "cust": "customer",
    "pic": "picture", "pkg": "package", "ref": "reference", "txn": "transaction", "usr": "user", "info": "information",
    "lat": "latitude", "lng": "longitude", "lon": "longitude", "tz": "timezone", "organisation": "organization",
    "filename": "file_name", "username": "user_name", "zipcode": "zip_code", "postcode": "zip_code",
    "hostname": "host_name", "pathname": "path_name", "filepath": "file_path", "userid": "user_id",
    "orderid": "order_id", "ids": "id", "productid": "product_id", "folderid": "folder_id", "fileid": "file_id", "guid": "uuid",
    "identifier": "id", "timezone": "time_zone", "nickname": "nick_name", "email": "email", "dob": "birth_date",
}  # fmt: skip

ID_WORDS = frozenset({"id", "uuid", "key", "slug", "handle", "reference", "uri", "urn", "token", "sku"})
NAME_WORDS = frozenset({"name", "title", "label"})
CODE_WORDS = frozenset({"code", "number", "symbol", "ticker"})
SUFFIXES = {
    **dict.fromkeys(ID_WORDS, "id"),
    **dict.fromkeys(NAME_WORDS, "name"),
    **dict.fromkeys(CODE_WORDS, "code"),
}
# Names that say nothing without the thing they belong to.
GENERIC = frozenset(
    [
        "id",
        "uuid",
        "key",
        "name",
        "title",
        "label",
        "type",
        "status",
        "state",
        "code",
        "number",
        "value",
        "result",
        "data",
        "item",
        "items",
        "object",
        "output",
        "response",
        "message",
        "text",
        "content",
        "description",
        "detail",
        "info",
        "information",
        "success",
        "ok",
        "error",
        "count",
        "total",
        "page",
        "limit",
        "offset",
        "size",
        "index",
        "list",
        "entry",
        "record",
        "field",
        "property",
        "attribute",
        "option",
        "mode",
        "format",
        "kind",
        "category",
        "level",
        "flag",
        "query",
        "q",
        "filter",
        "sort",
        "order_by",
        "url",
        "link",
        "href",
        "version",
        "note",
        "comment",
        "comments",
        "reason",
        "metadata",
        "meta",
        "params",
        "parameter",
        "argument",
        "input",
        "body",
        "subject",
        "summary",
        "results",
        "returns",
        "return",
        "self",
        "root",
        "set",
        "enabled",
        "active",
        "action",
        "date",
        "time",
    ]
)
ACKNOWLEDGEMENTS = frozenset(
    [
        "status",
        "success",
        "ok",
        "message",
        "error",
        "result",
        "done",
        "acknowledged",
        "confirmation",
        "code",
        "updated",
        "deleted",
        "created",
        "returns",
        "detail",
        "reason",
        "count",
        "warning",
        "warnings",
        "errors",
        "note",
        "page",
        "total",
        "limit",
        "offset",
        "per_page",
        "has_more",
        "next",
        "previous",
    ]
)
# Inputs that steer a request rather than carry a value of the world.
STEERING = frozenset(
    [
        "page",
        "limit",
        "offset",
        "per_page",
        "page_size",
        "page_number",
        "size",
        "sort",
        "sort_by",
        "order_by",
        "order",
        "direction",
        "ascending",
        "descending",
        "include",
        "exclude",
        "fields",
        "expand",
        "verbose",
        "format",
        "mode",
        "cursor",
        "max_results",
        "count",
        "top_k",
        "k",
        "timeout",
        "include_adult",
        "append_to_response",
        "human_readable",
        "precision",
        "debug",
        "dry_run",
        "force",
        "recursive",
        "retries",
    ]
)
VERBS = frozenset(
    [
        "get",
        "find",
        "search",
        "list",
        "fetch",
        "lookup",
        "look",
        "retrieve",
        "read",
        "show",
        "view",
        "query",
        "check",
        "create",
        "make",
        "add",
        "new",
        "build",
        "generate",
        "compose",
        "produce",
        "draft",
        "register",
        "insert",
        "update",
        "modify",
        "edit",
        "change",
        "alter",
        "set",
        "put",
        "patch",
        "post",
        "delete",
        "remove",
        "cancel",
        "erase",
        "drop",
        "clear",
        "send",
        "deliver",
        "forward",
        "share",
        "book",
        "reserve",
        "schedule",
        "order",
        "buy",
        "purchase",
        "sell",
        "place",
        "submit",
        "open",
        "close",
        "start",
        "stop",
        "pause",
        "resume",
        "enable",
        "disable",
        "calculate",
        "compute",
        "estimate",
        "convert",
        "transform",
        "validate",
        "verify",
        "authenticate",
        "login",
        "signin",
        "log",
        "sign",
        "logout",
        "authorize",
        "connect",
        "track",
        "monitor",
        "count",
        "filter",
        "sort",
        "export",
        "import",
        "download",
        "upload",
        "save",
        "store",
        "load",
        "run",
        "execute",
        "invoke",
        "call",
        "return",
        "exchange",
        "transfer",
        "withdraw",
        "deposit",
        "pay",
        "refund",
        "subscribe",
        "unsubscribe",
        "follow",
        "unfollow",
        "like",
        "invite",
        "accept",
        "reject",
        "approve",
        "decline",
        "reply",
        "comment",
        "mention",
        "rename",
        "move",
        "copy",
        "mount",
        "translate",
        "summarize",
        "analyze",
        "detect",
        "recognize",
        "extract",
        "parse",
        "describe",
        "compare",
        "recommend",
        "suggest",
        "discover",
        "browse",
        "select",
        "choose",
        "pick",
        "apply",
        "activate",
        "deactivate",
        "assign",
        "unassign",
        "reset",
        "restart",
        "lock",
        "unlock",
        "turn",
        "grant",
        "revoke",
        "attach",
        "detach",
        "merge",
        "link",
        "unlink",
        "publish",
        "archive",
        "restore",
        "rate",
        "review",
        "report",
        "request",
        "notify",
        "remind",
        "plan",
        "resolve",
        "reschedule",
        "determine",
        "obtain",
        "is",
        "has",
        "can",
    ]
)
READ_VERBS = frozenset(
    [
        "get",
        "find",
        "search",
        "list",
        "fetch",
        "lookup",
        "look",
        "retrieve",
        "read",
        "show",
        "view",
        "query",
        "check",
        "discover",
        "browse",
        "describe",
        "count",
        "calculate",
        "compute",
        "estimate",
        "obtain",
        "determine",
        "filter",
        "track",
        "is",
        "has",
        "compare",
        "detect",
        "extract",
        "parse",
        "convert",
    ]
)
MAKE_VERBS = frozenset(
    [
        "create",
        "make",
        "add",
        "new",
        "build",
        "generate",
        "compose",
        "produce",
        "draft",
        "register",
        "insert",
        "book",
        "reserve",
        "place",
        "submit",
        "post",
        "upload",
        "open",
        "start",
        "order",
        "buy",
        "purchase",
        "schedule",
        "request",
        "send",
    ]
)
# Verbs that are never the thing itself: inside a name (`shop_get_recipe`) they part the service from the thing.
ACTIONS = frozenset(
    [
        "get",
        "find",
        "search",
        "fetch",
        "lookup",
        "retrieve",
        "read",
        "show",
        "query",
        "create",
        "add",
        "insert",
        "update",
        "modify",
        "edit",
        "delete",
        "remove",
        "cancel",
        "send",
        "login",
        "validate",
        "verify",
        "convert",
        "calculate",
        "compute",
        "list",
        "generate",
    ]
)
AMBIENT = frozenset({"current", "system", "user", "my", "device", "today", "now", "local", "default"})
AMBIENT_FAMILIES = {
    "date": frozenset({"date", "day", "year", "month", "today", "deadline", "datetime"}),
    "time": frozenset({"time", "hour", "timestamp", "datetime"}),
    "location": frozenset({"location", "position", "coordinate", "latitude", "longitude", "place", "region"}),
    "language": frozenset({"language", "locale"}),
}
UNITS = frozenset(
    [
        "kg",
        "kilogram",
        "g",
        "gram",
        "lb",
        "lbs",
        "pound",
        "oz",
        "ounce",
        "km",
        "kilometer",
        "m",
        "meter",
        "metre",
        "cm",
        "centimeter",
        "mm",
        "mile",
        "mi",
        "foot",
        "feet",
        "ft",
        "inch",
        "yard",
        "celsius",
        "fahrenheit",
        "kelvin",
        "c",
        "f",
        "l",
        "liter",
        "litre",
        "ml",
        "gallon",
        "kwh",
        "kw",
        "watt",
        "hectare",
        "acre",
        "m2",
        "sqft",
        "sqm",
        "minute",
        "min",
        "sec",
        "second",
        "hour",
        "usd",
        "eur",
        "cny",
        "rmb",
        "gbp",
        "jpy",
        "db",
        "bar",
        "psi",
        "mph",
        "kph",
    ]
)
LOGIN_WORDS = frozenset({"login", "signin", "authenticate", "authorize", "logon", "auth"})
CHECK_VERBS = frozenset(
    {"validate", "verify", "normalize", "check", "format", "sanitize", "standardize", "resolve"}
)
PREPOSITIONS = frozenset(
    [
        "by",
        "in",
        "for",
        "from",
        "of",
        "with",
        "on",
        "based",
        "at",
        "to",
        "using",
        "within",
        "near",
        "between",
        "under",
        "about",
        "per",
        "via",
        "and",
        "or",
        "as",
    ]
)
QUALIFIERS = frozenset(
    [
        "current",
        "latest",
        "recent",
        "most",
        "all",
        "my",
        "available",
        "list",
        "new",
        "details",
        "detail",
        "info",
        "information",
        "data",
        "nearest",
        "next",
        "previous",
        "last",
        "first",
        "full",
        "the",
        "a",
        "an",
        "any",
        "unread",
        "top",
        "popular",
        "active",
        "given",
        "specified",
        "desired",
        "target",
        "system",
        "user",
        "device",
        "today",
        "now",
        "default",
        "own",
        "each",
        "single",
        "multiple",
        "related",
        "similar",
        "trending",
        "upcoming",
        "received",
        "sent",
        "direct",
        "basic",
        "general",
        "specific",
        "complete",
        "entire",
        "total",
    ]
)
# Verbs that stand in pairs (`start_stop`, `lock_unlock`); any other second verb is a noun (`get_order`).
_PAIRED = frozenset(
    [
        "start",
        "stop",
        "enable",
        "disable",
        "lock",
        "unlock",
        "activate",
        "deactivate",
        "open",
        "close",
        "turn",
        "check",
        "set",
        "add",
        "remove",
    ]
)
_METHODS = frozenset({"get", "post", "put", "patch", "delete"})
_METHOD_VERBS = ACTIONS | {"discover", "browse", "list"}
_OWNERS = frozenset({"user", "system", "device"})
_LIGHT_TAILS = frozenset(
    [
        "detail",
        "details",
        "info",
        "information",
        "data",
        "list",
        "result",
        "results",
        "record",
        "records",
        "summary",
        "overview",
        "content",
        "contents",
        "history",
    ]
)
FAMILIES: dict[str, frozenset[str]] = {
    name: frozenset(words.split())
    for name, words in {
        "date": "date day month year today week weekday deadline birthday period quarter dob",
        "time": "time hour minute timestamp datetime moment",
        "place": """location place address destination origin city region country town area venue position latitude
            longitude coordinate zip postal street airport station departure arrival coordinates geolocation from to""",
        "party": """sender recipient receiver owner user participant attendee member contact person assignee author
            customer client guest friend employee cast crew actor director creator artist staff manager player
            people mention follower host speaker organizer""",
        "money": "price cost amount value fee fare budget balance payment sum charge total limit salary rate income",
        "quantity": "number value quantity amount distance volume weight height length speed count score figure size",
        "text": """content text body message description note comment caption subject title summary line transcript
            output article paragraph post""",
        "file": "file folder directory path document attachment filename item content",
        "address": "email recipient sender participant attendee contact cc bcc mail owner to",
        "language": "language locale",
        "company": "company organization network brand vendor supplier merchant studio publisher firm business",
        "show": "movie film tv show series season episode media",
        "song": "song track album music playlist",
        "secret": "token credential session password auth access",
        "security": "stock symbol ticker share security",
        "picture": "image picture photo logo icon poster avatar",
        "measure": "unit kg cm lb lbs mile km meter gram inch feet celsius fahrenheit liter gallon",
        "link": "url link website webpage site page href uri",
    }.items()
}
CHINESE_TERMS: tuple[tuple[str, str], ...] = (
    ("用户", "user"), ("订单", "order"), ("商品", "product"), ("产品", "product"), ("仓库", "warehouse"),
    ("库存", "stock"), ("客户", "customer"), ("员工", "employee"), ("部门", "department"), ("航班", "flight"),
    ("酒店", "hotel"), ("文件夹", "folder"), ("文件", "file"), ("邮件", "email"), ("邮箱", "email"),
    ("城市", "city"), ("地址", "address"), ("日期", "date"), ("时间", "time"), ("账户", "account"),
    ("账号", "account"), ("发票", "invoice"), ("支付", "payment"), ("付款", "payment"), ("物流", "shipment"),
    ("运单", "shipment"), ("快递", "shipment"), ("会议", "meeting"), ("日程", "event"), ("任务", "task"),
    ("项目", "project"), ("合同", "contract"), ("供应商", "supplier"), ("优惠券", "coupon"), ("门店", "store"),
    ("店铺", "store"), ("车辆", "vehicle"), ("设备", "device"), ("消息", "message"), ("评论", "comment"),
    ("标签", "tag"), ("价格", "price"), ("金额", "amount"), ("数量", "quantity"), ("名称", "name"),
    ("姓名", "name"), ("编号", "id"), ("号码", "number"), ("单号", "id"), ("标识", "id"), ("代码", "code"),
    ("手机", "phone"), ("电话", "phone"), ("公司", "company"), ("预订", "reservation"), ("工单", "ticket"),
    ("票", "ticket"), ("课程", "course"), ("学生", "student"), ("患者", "patient"), ("医生", "doctor"),
    ("语言", "language"), ("股票", "stock"), ("分类", "category"), ("类别", "category"), ("乘客", "passenger"),
)  # fmt: skip
_FAMILY_OF: dict[str, tuple[str, ...]] = {}
for _name, _words in FAMILIES.items():
    for _word in _words:
        _FAMILY_OF[_word] = (*_FAMILY_OF.get(_word, ()), _name)


@lru_cache(maxsize=65536)
def singular(word: str) -> str:
    """The singular of an English word in lower case; what looks singular stays."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) < 4 or not word.endswith("s") or word.endswith(_KEPT_S):
        return word
    if word.endswith("ies"):
        return word[:-3] + "y" if len(word) > 4 else word[:-1]
    if word.endswith(("sses", "shes", "ches", "xes", "zzes")):
        return word[:-2]
    if word.endswith("ves") and word[:-3] + "f" in {"shelf", "half", "wolf", "leaf", "calf"}:
        return word[:-3] + "f"
    return word[:-1]


def is_plural(word: str) -> bool:
    """True if the word has another singular."""
    return singular(word) != word


@lru_cache(maxsize=65536)
def name_words(name: str) -> tuple[str, ...]:
    """The singular words of a field or tool name, abbreviations written out, joined words split, digits cut.

    `userIds` -> user, id; `cityA` -> city; `file_name2` -> file, name; `订单编号` -> order, id.
    """
    found: list[str] = []
    for word in split_identifier(name):
        if not word.isascii():
            found.extend(chinese_words(word))
            continue
        if word.isdigit():
            continue
        word = singular(word)
        for part in _ABBREVIATIONS.get(word, word).split("_"):
            found.append(part)
    if len(found) > 1 and len(found[-1]) == 1 and found[-1].isalpha():
        found.pop()
    return tuple(found)


@lru_cache(maxsize=16384)
def chinese_words(text: str) -> tuple[str, ...]:
    """The known field words of a Chinese text, in order, in English; longest first at each place."""
    found: list[str] = []
    start = 0
    while start < len(text):
        for term, word in _CHINESE_BY_LENGTH:
            if text.startswith(term, start):
                found.append(word)
                start += len(term)
                break
        else:
            start += 1
    return tuple(found)


_CHINESE_BY_LENGTH = tuple(sorted(CHINESE_TERMS, key=lambda pair: -len(pair[0])))


def families(word: str) -> tuple[str, ...]:
    """The families of meaning that a singular word belongs to."""
    return _FAMILY_OF.get(word, ())


@lru_cache(maxsize=65536)
def entity_and_attribute(words: tuple[str, ...]) -> tuple[tuple[str, ...], str]:
    """The thing a name speaks of and what of it: (order, id) for `order_id`; ('', ...) where it names no thing."""
    if words and words[-1] in SUFFIXES:
        return words[:-1], SUFFIXES[words[-1]]
    return words, ""


@lru_cache(maxsize=65536)
def tool_noun(name: str) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """(verbs, words of the result, words after the preposition) of a tool name.

    `find_user_id_by_email` -> (find), (user, id), (email); `get_order_details` -> (get), (order), ().
    """
    words = [_ABBREVIATIONS.get(word, word) if len(word) < 4 else word for word in split_identifier(name)]
    raw = [part for word in words for part in _ABBREVIATIONS.get(word, word).split("_") if not part.isdigit()]
    verbs: list[str] = []
    while raw and raw[0] in VERBS and (len(raw) > 1 or not verbs):
        verbs.append(raw.pop(0))
        paired = bool(raw) and verbs[0] in _PAIRED and raw[0] in _PAIRED
        by_method = len(raw) > 1 and verbs[0] in _METHODS and raw[0] in _METHOD_VERBS
        if len(verbs) == 2 or not (paired or by_method):
            break
    if not verbs:
        middle = next((index for index, word in enumerate(raw) if word in VERBS and index), None)
        if middle is not None and raw[middle] in ACTIONS:
            verbs = [raw[middle]]
            if middle + 1 < len(raw) and raw[middle + 1] not in PREPOSITIONS:
                raw = raw[middle + 1 :]
    cut = next((index for index, word in enumerate(raw) if word in PREPOSITIONS and index), None)
    head = raw if cut is None else raw[:cut]
    tail = [] if cut is None else [word for word in raw[cut + 1 :] if word not in PREPOSITIONS]
    kept = [word for word in head if word not in QUALIFIERS]
    if not kept or all(singular(word) in GENERIC for word in kept):
        kept = [word for word in head if word not in QUALIFIERS or word in _OWNERS] or head
    while len(kept) > 1 and kept[-1] in _LIGHT_TAILS:
        kept.pop()
    return tuple(verbs), tuple(singular(word) for word in kept), tuple(singular(word) for word in tail)
