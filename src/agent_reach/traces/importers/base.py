"""What an importer is, and what several of them share: outcomes out of stored results, times, JSON that may be text.

An importer turns one stored form into `Trace` records, one at a time. What cannot be read becomes a finding and the rest
goes on; nothing is invented: a call without a result has no outcome, an absent argument list is None.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Protocol

from agent_reach.records.finding import Finding, Severity
from agent_reach.records.message import Message
from agent_reach.records.trace import CallOutcome, ErrorKind, Trace


@dataclass(kw_only=True)
class ImportLog:
    """Collects what an importer noticed. Grows while traces are read; at most `limit` findings of one code are kept,
    the rest is counted."""

    source: str = ""
    limit: int = 50
    findings: list[Finding] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)

    def add(
        self,
        code: str,
        message: Message,
        *,
        subject: str = "",
        severity: Severity = "warning",
        line: int | None = None,
    ) -> None:
        """Note one thing."""
        self.counts[code] = self.counts.get(code, 0) + 1
        if self.counts[code] <= self.limit:
            self.findings.append(
                Finding(
                    code=code,
                    severity=severity,
                    message=message,
                    subject=subject,
                    source=self.source,
                    line=line,
                )
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One JSON value of the input with the line it came from (None for a file that is one value)."""

    value: Any
    line: int | None = None


class Importer(Protocol):
    """One stored form of traces."""

    @property
    def name(self) -> str:
        """What the form is called in tables and on the command line."""

    def detect(self, first: Any) -> bool:
        """True if the first JSON value of the input (whole file, or first line) is of this form."""

    def read(self, entries: Iterable[Entry], log: ImportLog) -> Iterator[Trace]:
        """The traces in the entries, in order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionImporter:
    """An importer made of two functions."""

    name: str
    detect: Callable[[Any], bool]
    read: Callable[[Iterable[Entry], ImportLog], Iterator[Trace]]


_ERROR_TEXT = re.compile(
    r"(?i)^\s*(?:[\"'{\[]*\s*(?:\"?error\"?\s*[:=]|error\b|exception\b|traceback \(most recent|failed to\b|failure\b)|错误|失败|异常|出错)"
)
_KINDS: tuple[tuple[ErrorKind, re.Pattern[str]], ...] = (
    ("rate_limited", re.compile(r"(?i)\b429\b|rate.?limit|too many requests|quota|限流|请求过于频繁")),
    ("timeout", re.compile(r"(?i)time.?d? ?out|deadline exceeded|超时")),
    (
        "permission",
        re.compile(
            r"(?i)\b(?:401|403)\b|permission|forbidden|unauthori[sz]ed|access denied|not allowed|无权|没有权限|拒绝访问"
        ),
    ),
    (
        "transport",
        re.compile(
            r"(?i)connection (?:refused|reset|closed|aborted|error)|broken pipe|econn|\b50[234]\b|连接"
        ),
    ),
    (
        "argument",
        re.compile(
            r"(?i)invalid (?:argument|parameter|param|input|params)|validation error|missing (?:required|\d+ required)|unexpected keyword|参数(?:错误|缺失|无效)"
        ),
    ),
    (
        "not_found",
        re.compile(
            r"(?i)\b(?:unknown|no such) (?:tool|function)|(?:tool|function) .{0,60}(?:not found|does not exist)"
        ),
    ),
    ("cancelled", re.compile(r"(?i)\bcancell?ed\b|已取消")),
)


def error_kind(text: str) -> ErrorKind:
    """The kind of error that a stored error text tells of; `tool_error` where nothing narrower is said."""
    head = text[:500]
    return next((kind for kind, pattern in _KINDS if pattern.search(head)), "tool_error")


def outcome_of(
    content: Any, *, is_error: bool | None = None, latency_ms: float | None = None, infer_errors: bool = True
) -> CallOutcome:
    """The outcome that a stored result tells of.

    `is_error` None means the store does not say; then a text that begins like an error counts as one (noted in the
    metadata as `inferred`), unless `infer_errors` is off.
    """
    value = decoded(content)
    text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False, default=str)
    metadata: dict[str, Any] = {}
    if is_error is None:
        error_field = value.get("error") if isinstance(value, Mapping) else None
        is_error = infer_errors and bool(error_field or (isinstance(value, str) and _ERROR_TEXT.match(value)))
        if is_error:
            metadata["inferred"] = True
    if is_error:
        return CallOutcome(
            status="failed",
            error_kind=error_kind(text),
            text=text,
            message=text[:300],
            latency_ms=latency_ms,
            metadata=metadata,
        )
    return CallOutcome(status="ok", value=value, text=text, latency_ms=latency_ms)


def decoded(content: Any) -> Any:
    """JSON text as its value; any other text, and values, as they are."""
    if not isinstance(content, str):
        return content
    text = content.strip()
    if not text or text[0] not in '{["-0123456789tfn':
        return content
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return content


def content_id(prefix: str, value: Any) -> str:
    """An id for a record that brings none: the same record gives the same id, whatever its file is called."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=True, default=str)
    return f"{prefix}-{hashlib.sha256(text.encode()).hexdigest()[:16]}"


class RecordNames:
    """Ids for the records of one file: the one a record brings, else one made of its content. The same record twice in a
    file gets a number, so that both are kept and importing the file again finds the same ids."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._seen: dict[str, int] = {}

    def of(self, given: Any, record: Any) -> str:
        """The id of the next record."""
        if given not in (None, ""):
            return str(given)
        name = content_id(self._prefix, record)
        self._seen[name] = self._seen.get(name, 0) + 1
        return name if self._seen[name] == 1 else f"{name}~{self._seen[name]}"


def as_text(value: Any) -> str:
    """The words of message content: a text, parts with `text` or `content`, or anything else as JSON."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        inner = value.get("text", value.get("content"))
        return as_text(inner) if inner is not None else json.dumps(value, ensure_ascii=False, default=str)
    if isinstance(value, (list, tuple)):
        return "\n".join(part for part in (as_text(item) for item in value) if part)
    return str(value)


def seconds(value: Any) -> float | None:
    """A time as seconds since the epoch: numbers in s, ms, us or ns by their size, ISO texts (without zone: UTC)."""
    if isinstance(value, bool) or value is None or value == "":
        return None
    if isinstance(value, str) and not re.fullmatch(r"-?\d+(?:\.\d+)?", value.strip()):
        try:
            moment = datetime.fromisoformat(value.strip().replace("Z", "+00:00"))
        except ValueError:
            return None
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    for limit, divisor in ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3)):
        if abs(number) >= limit:
            return number / divisor
    return number
