"""Words inside tool names that name no thing: prepositions, qualifiers, owners, and nouns too light to be the result."""

from __future__ import annotations

PREPOSITIONS = frozenset({
    "by", "in", "for", "from", "of", "with", "on", "based", "at", "to", "using", "within", "near", "between",
    "under", "about", "per", "via", "and", "or", "as",
})  # fmt: skip
QUALIFIERS = frozenset({
    "current", "latest", "recent", "most", "all", "my", "available", "list", "new", "details", "detail",
    "info", "information", "data", "nearest", "next", "previous", "last", "first", "full", "the", "a", "an",
    "any", "unread", "top", "popular", "active", "given", "specified", "desired", "target", "system", "user",
    "device", "today", "now", "default", "own", "each", "single", "multiple", "related", "similar",
    "trending", "upcoming", "received", "sent", "direct", "basic", "general", "specific", "complete",
    "entire", "total",
})  # fmt: skip
# Qualifiers that are the thing itself where nothing else is left (`get_user`).
OWNERS = frozenset({"user", "system", "device"})
# Dropped at the end of a name where another word is left (`get_order_details` gives an order).
LIGHT_TAILS = frozenset({
    "detail", "details", "info", "information", "data", "list", "result", "results", "record", "records",
    "summary", "overview", "content", "contents", "history",
})  # fmt: skip
