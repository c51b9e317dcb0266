"""Words that names of fields are made of: what marks an identifier, what says nothing alone, what steers and measures.

A word that names a thing belongs to none of these tables: it is what fields are matched by.
"""

from __future__ import annotations

# The last word of a field name that makes it an identifier, a name or a code of the thing before it.
ID_WORDS = frozenset({"id", "uuid", "key", "slug", "handle", "reference", "uri", "urn", "token", "sku"})
NAME_WORDS = frozenset({"name", "title", "label"})
CODE_WORDS = frozenset({"code", "number", "symbol", "ticker"})
SUFFIXES = {
    **dict.fromkeys(ID_WORDS, "id"),
    **dict.fromkeys(NAME_WORDS, "name"),
    **dict.fromkeys(CODE_WORDS, "code"),
}
# Names that say nothing without the thing they belong to.
GENERIC = frozenset({
    "id", "uuid", "key", "name", "title", "label", "type", "status", "state", "code", "number", "value",
    "result", "data", "item", "items", "object", "output", "response", "message", "text", "content",
    "description", "detail", "info", "information", "success", "ok", "error", "count", "total", "page",
    "limit", "offset", "size", "index", "list", "entry", "record", "field", "property", "attribute", "option",
    "mode", "format", "kind", "category", "level", "flag", "query", "q", "filter", "sort", "order_by", "url",
    "link", "href", "version", "note", "comment", "comments", "reason", "metadata", "meta", "params",
    "parameter", "argument", "input", "body", "subject", "summary", "results", "returns", "return", "self",
    "root", "set", "enabled", "active", "action", "date", "time",
})  # fmt: skip
# Results that only say that it worked.
ACKNOWLEDGEMENTS = frozenset({
    "status", "success", "ok", "message", "error", "result", "done", "acknowledged", "confirmation", "code",
    "updated", "deleted", "created", "returns", "detail", "reason", "count", "warning", "warnings", "errors",
    "note", "page", "total", "limit", "offset", "per_page", "has_more", "next", "previous",
})  # fmt: skip
# Inputs that steer a request rather than carry a value of the world.
STEERING = frozenset({
    "page", "limit", "offset", "per_page", "page_size", "page_number", "size", "sort", "sort_by", "order_by",
    "order", "direction", "ascending", "descending", "include", "exclude", "fields", "expand", "verbose",
    "format", "mode", "cursor", "max_results", "count", "top_k", "k", "timeout", "human_readable",
    "precision", "debug", "dry_run", "force", "recursive", "retries",
})  # fmt: skip
UNITS = frozenset({
    "kg", "kilogram", "g", "gram", "lb", "lbs", "pound", "oz", "ounce", "km", "kilometer", "m", "meter",
    "metre", "cm", "centimeter", "mm", "mile", "mi", "foot", "feet", "ft", "inch", "yard", "celsius",
    "fahrenheit", "kelvin", "c", "f", "l", "liter", "litre", "ml", "gallon", "kwh", "kw", "watt", "hectare",
    "acre", "m2", "sqft", "sqm", "minute", "min", "sec", "second", "hour", "usd", "eur", "cny", "rmb", "gbp",
    "jpy", "db", "bar", "psi", "mph", "kph",
})  # fmt: skip
# In the name of a tool that needs nothing: it tells of here, now or this user.
AMBIENT = frozenset({"current", "system", "user", "my", "device", "today", "now", "local", "default"})
AMBIENT_FAMILIES = {
    "date": frozenset({"date", "day", "year", "month", "today", "deadline", "datetime"}),
    "time": frozenset({"time", "hour", "timestamp", "datetime"}),
    "location": frozenset({"location", "position", "coordinate", "latitude", "longitude", "place", "region"}),
    "language": frozenset({"language", "locale"}),
}
