"""Answers that the gateway gives itself: results of calls that no server answered, and refusals.

What they say about a call (whether it was sent, whether it may have happened) stands in `_meta` too, for programs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agent_reach.records.trace import CallOutcome

OUTCOME_META = "io.github.agent-reach/outcome"


MALFORMED = frozenset(
    {
        "result_not_object",
        "result_nested",
        "content_missing",
        "content_not_list",
        "content_block_malformed",
        "content_type_unknown",
    }
)
"""Findings about a result whose shape a client would refuse as a whole."""


class GatewayError(Exception):
    """A request that ends as an error of the protocol; `code`, `message` and `data` go to the client as they are."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


def text_result(text: str, *, structured: Any = None, is_error: bool = False) -> dict[str, Any]:
    """A result with one block of text."""
    result: dict[str, Any] = {"content": [{"type": "text", "text": text}], "isError": is_error}
    if structured is not None:
        result["structuredContent"] = structured
    return result


def outcome_result(outcome: CallOutcome) -> dict[str, Any]:
    """The result for an outcome without a server's own result."""
    if outcome.ok:
        structured = outcome.value if isinstance(outcome.value, Mapping) else None
        return text_result(outcome.text, structured=structured)
    text = outcome.message or outcome.text or "the call failed"
    if outcome.status == "unknown":
        text += " (the call may have happened; check before you repeat it)"
    result = text_result(text, is_error=True)
    facts: dict[str, Any] = {
        "status": outcome.status,
        "kind": outcome.error_kind,
        "sent": outcome.reached_backend,
    }
    if outcome.retry_after is not None:
        facts["retry_after"] = outcome.retry_after
    result["_meta"] = {OUTCOME_META: facts}
    return result


def capped_result(raw: Mapping[str, Any], outcome: CallOutcome) -> dict[str, Any]:
    """A server's result with the text that was cut to the size limit; what else it held is left out."""
    result = {key: value for key, value in raw.items() if key not in ("content", "structuredContent")}
    result["content"] = [{"type": "text", "text": outcome.text}]
    return result


def readable_result(raw: Any, outcome: CallOutcome) -> dict[str, Any]:
    """A result in a shape that no client refuses, with everything that could be read of a malformed one."""
    fields = raw if isinstance(raw, Mapping) else {}
    structured = fields.get("structuredContent")
    result = text_result(outcome.text, structured=structured, is_error=not outcome.ok)
    if structured is None:
        result.pop("structuredContent", None)
    return result
