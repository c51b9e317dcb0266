"""What a server answered to a call, as one outcome, however odd its shape.

A result is judged by what it says, not by what the protocol would like: readable data is always kept, oddities become
findings about the server, and only an answer with nothing usable in it is `malformed_result`. Whether the content is
right is judged elsewhere; schema checks of structured results come in from outside as `validator`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from agent_reach.records.finding import Finding, Severity
from agent_reach.records.message import Message
from agent_reach.records.tool import Tool
from agent_reach.records.trace import CallOutcome, ErrorKind
from agent_reach.wire.blocks import KNOWN_BLOCKS, block_text, block_value
from agent_reach.wire.failures import (
    ConnectionLost,
    InputRequired,
    RequestFailure,
    RequestRefused,
    RequestTimedOut,
)
from agent_reach.wire.protocol import INVALID_PARAMS, METHOD_NOT_FOUND, MODERN_VERSIONS

OutputValidator = Callable[[Tool, Any], Sequence[Any]]
"""The problems of a structured result under the tool's output schema; each has a `message` (or a text form)."""

_RATE_LIMITED = (429,)
_NOT_PERMITTED = (401, 403)


def outcome_of_result(
    raw: Any,
    tool: Tool,
    *,
    validator: OutputValidator | None = None,
    strict: bool = False,
    protocol_version: str = "",
    latency_ms: float | None = None,
) -> CallOutcome:
    """The outcome of a call from the raw `result` of `tools/call`.

    `value` is the structured content, else the JSON that the text holds, else the text; `text` what a model is shown.
    An absent `isError` is no error. The output schema is checked on success only; what it finds is a warning about the
    server unless `strict`. A read-only tool that answers with nothing is `ok` with the error kind `empty`.
    """
    reader = _Reader(tool)
    result = reader.unwrap(raw)
    content = reader.blocks(result)
    structured = result.get("structuredContent")
    has_structured = structured is not None
    usable = has_structured or reader.usable > 0
    text = reader.text(content)
    if has_structured and not text.strip():
        text = json.dumps(structured, ensure_ascii=False)
    is_error = result.get("isError") is True or str(result.get("isError")).lower() == "true"
    status: Any = "ok"
    kind: ErrorKind | None = None
    message = ""
    if is_error:
        status, kind, message = (
            "failed",
            "tool_error",
            text.strip() or "the tool reported an error without a text",
        )
    else:
        reader.check_output(structured, validator, protocol_version)
        blank = not has_structured and not text.strip() and not reader.has_binary
        if (reader.malformed and not usable) or (strict and reader.broken_schema):
            status, kind = "failed", "malformed_result"
        elif blank and tool.is_read_only:
            kind = "empty"
        if kind == "malformed_result":
            message = reader.findings[0].message.en if reader.findings else "the result has no usable form"
    return CallOutcome(
        status=status,
        error_kind=kind,
        value=structured if has_structured else reader.value(content),
        text=text or message,
        message=message,
        latency_ms=latency_ms,
        findings=tuple(reader.findings),
        metadata={"is_error": True} if is_error else {},
    )


def outcome_of_failure(error: RequestFailure, tool: Tool, *, latency_ms: float | None = None) -> CallOutcome:
    """The outcome of a call that got no result.

    `unknown` where the call may have happened: a time-out or a lost connection after sending, unless the tool only
    reads. A refusal by HTTP or JSON-RPC did not happen and is `failed`.
    """
    kind = _kind(error)
    may_have_happened = isinstance(error, (RequestTimedOut, ConnectionLost)) and error.sent
    message = f"{tool.key}: {error.message}"
    metadata: dict[str, Any] = {}
    retry_after = None
    if isinstance(error, RequestRefused):
        retry_after = error.retry_after
        if error.code:
            metadata["code"] = error.code
        if error.http_status is not None:
            metadata["http_status"] = error.http_status
        message = error.message
        may_have_happened = error.http_status in (408, 502, 504)
    if isinstance(error, RequestTimedOut):
        metadata.update(elapsed_s=round(error.elapsed, 3), limit_s=error.limit)
    return CallOutcome(
        status="unknown" if may_have_happened and not tool.is_read_only else "failed",
        error_kind=kind,
        text=message,
        message=message,
        latency_ms=latency_ms,
        retry_after=retry_after,
        reached_backend=error.sent,
        metadata=metadata,
    )


def _kind(error: RequestFailure) -> ErrorKind:
    if isinstance(error, RequestTimedOut):
        return "timeout"
    if isinstance(error, ConnectionLost):
        return "transport"
    if isinstance(error, InputRequired):
        return "tool_error"
    if not isinstance(error, RequestRefused):
        return "transport"
    if error.http_status is not None:
        return kind_of_status(error.http_status)
    if error.code == INVALID_PARAMS:
        unknown = "unknown tool" in error.message.lower() or "not found" in error.message.lower()
        return "not_found" if unknown else "argument"
    if error.code == METHOD_NOT_FOUND:
        return "not_found"
    if error.code == 429 or _mentions_rate_limit(error.message):
        return "rate_limited"
    if error.code in (401, 403):
        return "permission"
    return "tool_error"


def kind_of_status(status: int) -> ErrorKind:
    """The error kind of an HTTP status."""
    if status in _RATE_LIMITED:
        return "rate_limited"
    if status in _NOT_PERMITTED:
        return "permission"
    if status in (404, 405, 410):
        return "not_found"
    if status in (408, 504):
        return "timeout"
    if status in (400, 409, 413, 415, 422):
        return "argument"
    return "transport" if status in (502, 503) else "tool_error"


def _mentions_rate_limit(message: str) -> bool:
    lower = message.lower()
    return "rate limit" in lower or "too many requests" in lower


class _Reader:
    """Reads one result and notes what is odd about it."""

    def __init__(self, tool: Tool) -> None:
        self._tool = tool
        self.findings: list[Finding] = []
        self.malformed = False
        self.broken_schema = False
        self.has_binary = False
        self.usable = 0

    def unwrap(self, raw: Any) -> Mapping[str, Any]:
        """The result object itself, out of the wrappers some servers put around it."""
        if not isinstance(raw, Mapping):
            self._malformed(
                "result_not_object",
                "",
                f"the result is {type(raw).__name__}, not an object",
                f"结果是 {type(raw).__name__} 而不是对象",
            )
            return {"content": [raw]} if raw is not None else {"content": []}
        if (
            "content" not in raw
            and "structuredContent" not in raw
            and isinstance(raw.get("toolResult"), Mapping)
        ):
            self._malformed(
                "result_nested",
                "/toolResult",
                "the result is nested under 'toolResult'",
                "结果嵌套在 'toolResult' 之下",
            )
            return dict(raw["toolResult"])
        return raw

    def blocks(self, result: Mapping[str, Any]) -> list[Any]:
        """The content blocks; oddities are noted with their index."""
        content = result.get("content")
        if content is None:
            if result.get("structuredContent") is not None:
                return []
            others = {
                key: item for key, item in result.items() if key not in ("_meta", "isError", "resultType")
            }
            self._malformed(
                "content_missing",
                "/content",
                "the result has neither content nor structuredContent",
                "结果中既没有 content 也没有 structuredContent",
            )
            return [others] if others else []
        if not isinstance(content, list):
            kind = type(content).__name__
            self._malformed(
                "content_not_list",
                "/content",
                f"content is {kind}, not a list",
                f"content 是 {kind} 而不是列表",
            )
            return [content]
        for index, block in enumerate(content):
            self._check_block(block, index)
        return content

    def _check_block(self, block: Any, index: int) -> None:
        pointer = f"/content/{index}"
        kind = block.get("type") if isinstance(block, Mapping) else None
        if not isinstance(block, Mapping):
            name = type(block).__name__
            self._malformed(
                "content_block_malformed",
                pointer,
                f"content[{index}] is {name}, not an object",
                f"content[{index}] 是 {name} 而不是对象",
            )
        elif kind not in KNOWN_BLOCKS:
            self._malformed(
                "content_type_unknown",
                pointer,
                f"content[{index}] has the unknown type {kind!r}",
                f"content[{index}] 的类型 {kind!r} 未知",
            )
        elif kind == "text" and not isinstance(block.get("text"), str):
            self._malformed(
                "content_block_malformed",
                pointer,
                f"content[{index}] is text without a text",
                f"content[{index}] 是没有 text 的文本块",
            )
        else:
            self.usable += 1
            self.has_binary |= kind in ("image", "audio", "resource", "resource_link")

    def text(self, content: list[Any]) -> str:
        """All blocks as one text."""
        return "\n".join(part for part in map(block_text, content) if part)

    def value(self, content: list[Any]) -> Any:
        """The data in the blocks: parsed where the text is JSON."""
        if not content:
            return None
        if any(isinstance(block, Mapping) and block.get("type") in KNOWN_BLOCKS[1:] for block in content):
            return list(content)
        values = [block_value(block) for block in content]
        if len(values) == 1:
            return values[0]
        if all(isinstance(value, (dict, list)) for value in values):
            return values
        return self.text(content)

    def check_output(self, structured: Any, validator: OutputValidator | None, protocol_version: str) -> None:
        """Hold a successful result against the declared output."""
        declared = self._tool.output_schema is not None
        if structured is None:
            if declared and not self.malformed:
                self.broken_schema = True
                self._note(
                    "structured_missing",
                    "warning",
                    "/structuredContent",
                    "outputSchema declared, structuredContent missing (a defect of the server)",
                    "声明了 outputSchema，却没有 structuredContent（服务器的缺陷）",
                )
            return
        if not isinstance(structured, Mapping) and protocol_version not in MODERN_VERSIONS:
            kind = "array" if isinstance(structured, list) else type(structured).__name__
            self._note(
                "structured_not_object",
                "warning",
                "/structuredContent",
                f"structuredContent is {kind}; before 2026-07-28 the protocol allows objects only",
                f"structuredContent 是 {kind}；2026-07-28 之前的协议只允许对象",
            )
        if declared and validator is not None:
            problems = list(validator(self._tool, structured))
            if problems:
                self.broken_schema = True
                first = getattr(problems[0], "message", "") or str(problems[0])
                self._note(
                    "structured_invalid",
                    "warning",
                    "/structuredContent",
                    f"structuredContent does not fit the declared outputSchema: {first}",
                    f"structuredContent 不符合声明的 outputSchema：{first}",
                    problems=[getattr(item, "message", "") or str(item) for item in problems],
                )

    def _malformed(self, code: str, pointer: str, en: str, zh: str) -> None:
        self.malformed = True
        self._note(code, "warning", pointer, en, zh)

    def _note(self, code: str, severity: Severity, pointer: str, en: str, zh: str, **data: Any) -> None:
        self.findings.append(
            Finding(
                code=code,
                severity=severity,
                message=Message(en, zh),
                subject=self._tool.key,
                pointer=pointer,
                data=data,
            )
        )
