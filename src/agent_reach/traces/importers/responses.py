"""OpenAI Responses: stored request and response items (`function_call`, `function_call_output`, `message`, `reasoning`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from agent_reach.calls.arguments import read_arguments
from agent_reach.calls.records import ParsedCall
from agent_reach.records.message import Message
from agent_reach.records.trace import Trace
from agent_reach.traces.importers.base import Entry, ImportLog, RecordNames, as_text, outcome_of, seconds
from agent_reach.traces.importers.conversation import ChatMessage, StoredResult, build_trace

_ITEMS = {
    "function_call",
    "function_call_output",
    "custom_tool_call",
    "custom_tool_call_output",
    "mcp_call",
    "reasoning",
    "message",
}


def _items(value: Any) -> list[Any]:
    if isinstance(value, Mapping):
        given = value.get("input")
        asked: list[Any] = list(given) if isinstance(given, list) else []
        if isinstance(given, str):
            asked = [{"type": "message", "role": "user", "content": given}]
        made = value.get("output")
        return [*asked, *(made if isinstance(made, list) else [])]
    return value if isinstance(value, list) else []


def detect_responses(first: Any) -> bool:
    """A response object, or items among which there is a call, an output or a reasoning item."""
    if isinstance(first, Mapping) and first.get("object") == "response":
        return True
    kinds = {item.get("type") for item in _items(first) if isinstance(item, Mapping)}
    return bool(kinds & (_ITEMS - {"message"}))


def read_responses(entries: Iterable[Entry], log: ImportLog) -> Iterator[Trace]:
    """One trace per chain of responses: an entry whose `previous_response_id` is known goes on with that trace."""
    chains: dict[str, list[tuple[Mapping[str, Any], list[Any]]]] = {}
    order: list[str] = []
    owner: dict[str, str] = {}
    names = RecordNames("responses")
    for entry in entries:
        row = entry.value if isinstance(entry.value, Mapping) else {}
        items = _items(entry.value)
        if not items:
            log.add(
                "unreadable_record", Message("an entry without items", "该条目没有 items"), line=entry.line
            )
            continue
        identity = names.of(row.get("id"), entry.value)
        root = owner.get(str(row.get("previous_response_id") or ""), identity)
        owner[identity] = root
        if root not in chains:
            chains[root] = []
            order.append(root)
        chains[root].append((row, items))
    for root in order:
        parts = chains[root]
        first = parts[0][0]
        messages = [message for row, items in parts for message in _messages(items, row, log, root)]
        yield build_trace(
            messages,
            log,
            trace_id=root,
            source=log.source,
            offered=_tools(first),
            model=str(first.get("model") or ""),
        )


def _tools(row: Mapping[str, Any]) -> list[str]:
    return [
        str(tool["name"]) for tool in row.get("tools") or () if isinstance(tool, Mapping) and tool.get("name")
    ]


def _messages(items: list[Any], row: Mapping[str, Any], log: ImportLog, root: str) -> Iterator[ChatMessage]:
    """Items in order; the calls between two results or texts are one model message."""
    time = seconds(row.get("created_at"))
    calls: list[ParsedCall] = []
    text, reasoning = "", ""
    for item in items:
        kind = item.get("type", "message") if isinstance(item, Mapping) else None
        if kind in ("function_call", "custom_tool_call", "mcp_call"):
            calls.append(_call(item))
            if kind == "mcp_call" and ("output" in item or item.get("error")):
                yield ChatMessage(
                    role="assistant", text=text, reasoning=reasoning, calls=tuple(calls), time=time
                )
                failed = bool(item.get("error"))
                outcome = outcome_of(item.get("error") if failed else item.get("output"), is_error=failed)
                yield ChatMessage(
                    role="tool", results=(StoredResult(call_id=str(item.get("id") or ""), outcome=outcome),)
                )
                calls, text, reasoning = [], "", ""
            continue
        if kind == "reasoning":
            reasoning += as_text(item.get("summary") or item.get("content"))
            continue
        assistant = kind == "message" and item.get("role") == "assistant"
        if (calls or text) and not assistant:
            yield ChatMessage(role="assistant", text=text, reasoning=reasoning, calls=tuple(calls), time=time)
            calls, text, reasoning = [], "", ""
        if assistant:
            text += as_text(item.get("content"))
        elif kind == "message":
            yield ChatMessage(
                role=str(item.get("role") or "user"), text=as_text(item.get("content")), time=time
            )
        elif kind in ("function_call_output", "custom_tool_call_output"):
            outcome = outcome_of(item.get("output") if item.get("output") is not None else "")
            yield ChatMessage(
                role="tool", results=(StoredResult(call_id=str(item.get("call_id") or ""), outcome=outcome),)
            )
        else:
            log.add(
                "unknown_item",
                Message(f"item of type {kind!r} is left out", f"跳过类型为 {kind!r} 的条目"),
                subject=root,
                severity="info",
            )
    if calls or text:
        yield ChatMessage(role="assistant", text=text, reasoning=reasoning, calls=tuple(calls), time=time)


def _call(item: Mapping[str, Any]) -> ParsedCall:
    raw = item.get("arguments", item.get("input"))
    read = read_arguments(raw)
    identifier = str(item.get("call_id") or item.get("id") or "")
    return ParsedCall(
        call_id=identifier,
        name=str(item.get("name") or ""),
        arguments=read.values,
        raw_arguments=raw if isinstance(raw, str) else "",
        problems=read.problems,
        emitted_id=identifier,
    )
