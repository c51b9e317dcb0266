"""What tools do: the verbs of tool names and what each kind of verb says of the result.

A verb that reads or makes stands in `VERBS` too.
"""

from __future__ import annotations

VERBS = frozenset({
    "get", "find", "search", "list", "fetch", "lookup", "look", "retrieve", "read", "show", "view", "query",
    "check", "create", "make", "add", "new", "build", "generate", "compose", "produce", "draft", "register",
    "insert", "update", "modify", "edit", "change", "alter", "set", "put", "patch", "post", "delete",
    "remove", "cancel", "erase", "drop", "clear", "send", "deliver", "forward", "share", "book", "reserve",
    "schedule", "order", "buy", "purchase", "sell", "place", "submit", "open", "close", "start", "stop",
    "pause", "resume", "enable", "disable", "calculate", "compute", "estimate", "convert", "transform",
    "validate", "verify", "authenticate", "login", "signin", "log", "sign", "logout", "authorize", "connect",
    "track", "monitor", "count", "filter", "sort", "export", "import", "download", "upload", "save", "store",
    "load", "run", "execute", "invoke", "call", "return", "exchange", "transfer", "withdraw", "deposit",
    "pay", "refund", "subscribe", "unsubscribe", "follow", "unfollow", "like", "invite", "accept", "reject",
    "approve", "decline", "reply", "comment", "mention", "rename", "move", "copy", "mount", "translate",
    "summarize", "analyze", "detect", "recognize", "extract", "parse", "describe", "compare", "recommend",
    "suggest", "discover", "browse", "select", "choose", "pick", "apply", "activate", "deactivate", "assign",
    "unassign", "reset", "restart", "lock", "unlock", "turn", "grant", "revoke", "attach", "detach", "merge",
    "link", "unlink", "publish", "archive", "restore", "rate", "review", "report", "request", "notify",
    "remind", "plan", "resolve", "reschedule", "determine", "obtain", "is", "has", "can",
})  # fmt: skip
READ_VERBS = frozenset({
    "get", "find", "search", "list", "fetch", "lookup", "look", "retrieve", "read", "show", "view", "query",
    "check", "discover", "browse", "describe", "count", "calculate", "compute", "estimate", "obtain",
    "determine", "filter", "track", "is", "has", "compare", "detect", "extract", "parse", "convert",
})  # fmt: skip
MAKE_VERBS = frozenset({
    "create", "make", "add", "new", "build", "generate", "compose", "produce", "draft", "register", "insert",
    "book", "reserve", "place", "submit", "post", "upload", "open", "start", "order", "buy", "purchase",
    "schedule", "request", "send",
})  # fmt: skip
# Verbs that are never the thing itself: inside a name (`shop_get_recipe`) they part the service from the thing.
ACTIONS = frozenset({
    "get", "find", "search", "fetch", "lookup", "retrieve", "read", "show", "query", "create", "add",
    "insert", "update", "modify", "edit", "delete", "remove", "cancel", "send", "login", "validate", "verify",
    "convert", "calculate", "compute", "list", "generate",
})  # fmt: skip
CHECK_VERBS = frozenset({
    "validate", "verify", "normalize", "check", "format", "sanitize", "standardize", "resolve",
})  # fmt: skip
LOGIN_WORDS = frozenset({"login", "signin", "authenticate", "authorize", "logon", "auth"})
# Verbs that stand in pairs (`start_stop`, `lock_unlock`); any other second verb is a noun (`get_order`).
PAIRED = frozenset({
    "start", "stop", "enable", "disable", "lock", "unlock", "activate", "deactivate", "open", "close", "turn",
    "check", "set", "add", "remove",
})  # fmt: skip
# HTTP methods that generated names begin with, and the verbs that may follow one (`get_list_orders`).
METHODS = frozenset({"get", "post", "put", "patch", "delete"})
METHOD_VERBS = ACTIONS | {"discover", "browse", "list"}
