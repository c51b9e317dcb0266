"""From the schema that a source gave to the schema that a `Tool` holds, with a finding for every change."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from agent_reach.catalog.bounded import MAX_DEPTH, MAX_NODES, Cut, bounded_copy
from agent_reach.catalog.dialect import Dialect, Illegal
from agent_reach.catalog.engine import build_validator, pattern_compiles
from agent_reach.catalog.findings import make_finding
from agent_reach.catalog.references import settle_references
from agent_reach.records.finding import Finding

MAX_KEYWORD_REPAIRS = 50
_CLASS_HYPHEN = re.compile(r"(\\[wdsWDS])-(?=[^\]])")


@dataclass(frozen=True, slots=True)
class ReadSchema:
    """A schema brought to one dialect; `fatal` is set where the tool has to be given up."""

    schema: dict[str, Any]
    findings: tuple[Finding, ...] = ()
    fatal: Finding | None = None


def empty_schema() -> dict[str, Any]:
    """The one schema of a tool without parameters."""
    return {"type": "object", "properties": {}}


_CUT_CODES = {"depth": "schema_too_deep", "size": "schema_too_large", "cycle": "schema_contains_itself"}


def cut_findings(cuts: Sequence[Cut], subject: str) -> list[Finding]:
    """One finding for each reason why a definition was cut, at the first place."""
    first: dict[str, Cut] = {}
    for cut in cuts:
        first.setdefault(cut.reason, cut)
    limits = {"depth": MAX_DEPTH, "size": MAX_NODES, "cycle": 0}
    return [
        make_finding(_CUT_CODES[reason], subject, cut.pointer, limit=limits[reason])
        for reason, cut in first.items()
    ]


def read_schema(raw: Any, subject: str = "", *, repair: bool = True, arguments: bool = True) -> ReadSchema:
    """The 2020-12 form of a schema as a source gave it.

    `raw` may be anything; it is not changed. `arguments` demands an object at the root (the input schema of a tool).
    Without `repair`, an illegal type or keyword is fatal instead of being read generously.
    """
    if raw is None or raw == {} or raw is True:
        return ReadSchema(empty_schema() if arguments else {})
    copied, cuts = bounded_copy(raw)
    dialect = Dialect(subject, repair=repair, part="input" if arguments else "output")
    dialect.findings.extend(cut_findings(cuts, subject))
    dialect.has_cuts = bool(cuts)
    try:
        if not isinstance(copied, dict):
            return _unreadable_root(dialect, copied, arguments)
        schema = dialect.read(copied)
        if arguments:
            schema = _as_arguments(dialect, schema)
        settle_references(dialect, schema)
        _settle_patterns(dialect)
        _settle_compilation(dialect, schema)
    except Illegal as error:
        return ReadSchema(empty_schema() if arguments else {}, tuple(dialect.findings), error.finding)
    return ReadSchema(schema, tuple(dialect.findings))


def _unreadable_root(dialect: Dialect, value: Any, arguments: bool) -> ReadSchema:
    code = "root_not_object" if arguments else "schema_illegal"
    found = type(value).__name__
    fatal = make_finding(code, dialect.subject, found=found, detail=f"the schema is {found}")
    return ReadSchema(empty_schema() if arguments else {}, tuple(dialect.findings), fatal)


def _as_arguments(dialect: Dialect, schema: dict[str, Any]) -> dict[str, Any]:
    kind = schema.get("type")
    if kind not in (None, "object") and not (isinstance(kind, list) and "object" in kind):
        found = kind if isinstance(kind, str) else " or ".join(kind)
        raise Illegal(make_finding("root_not_object", dialect.subject, "/type", found=found))
    if set(schema) <= {"$schema"}:
        return empty_schema()
    schema["type"] = "object"
    if dialect.has_cuts and "properties" not in schema:
        schema["additionalProperties"] = True
    if "properties" not in schema:
        schema["properties"] = {}
    return schema


def _settle_patterns(dialect: Dialect) -> None:
    for holder, key, path in dialect.patterns:
        is_name = not isinstance(holder.get(key), str)
        if key not in holder:
            continue
        pattern = key if is_name else holder[key]
        if not pattern_compiles(pattern):
            lenient = _CLASS_HYPHEN.sub(r"\1\\-", pattern)
            if lenient != pattern and pattern_compiles(
                lenient
            ):  # `[\w-.]`: browsers read the hyphen as itself
                if is_name:
                    holder.setdefault(lenient, holder.pop(key))
                else:
                    holder[key] = lenient
                continue
            place = (path, key) if is_name else path
            dialect.note("pattern_uncompilable", place, found=pattern)
            del holder[key]


def _settle_compilation(dialect: Dialect, schema: dict[str, Any]) -> None:
    """Compile; drop one illegal keyword after another until it works, or give the tool up."""
    for _ in range(MAX_KEYWORD_REPAIRS):
        try:
            build_validator(schema)
            return
        except Exception as error:
            path = list(getattr(error, "instance_path", []) or [])
            detail = str(getattr(error, "message", error)).splitlines()[0][:200]
            if not _drop_at(dialect, schema, path, detail):
                break
    dialect.illegal("schema_illegal", (), detail="the schema cannot be compiled")
    dialect.note("schema_repaired", (), detail="the schema cannot be compiled")
    schema.clear()
    schema.update({"type": "object", "properties": {}, "additionalProperties": True})


def _drop_at(dialect: Dialect, schema: dict[str, Any], path: list[Any], detail: str) -> bool:
    place: Any = ()
    for part in path:
        place = (place, part)
    dialect.illegal("schema_illegal", place, detail=detail)
    holder: Any = schema
    trail: list[tuple[Any, Any]] = []
    for part in path:
        if not isinstance(holder, (dict, list)):
            break
        trail.append((holder, part))
        try:
            holder = holder[part]
        except (KeyError, IndexError, TypeError):
            return False
    while trail and not isinstance(trail[-1][0], dict):
        trail.pop()
    if not trail:
        return False
    owner, key = trail[-1]
    dialect.note("schema_repaired", place, detail=detail)
    del owner[key]
    return True
