"""Conversations stored as OpenAI chat messages or Anthropic messages: bare lists, records with `messages`, dialogues of
evaluation sets. Anthropic content blocks and OpenAI tool calls may even stand in one file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from agent_reach.calls.arguments import read_arguments
from agent_reach.calls.message import parse_message
from agent_reach.calls.records import ParsedCall
from agent_reach.records.message import Message
from agent_reach.records.trace import Trace
from agent_reach.traces.importers.base import Entry, ImportLog, RecordNames, as_text, outcome_of, seconds
from agent_reach.traces.importers.conversation import ChatMessage, StoredResult, build_trace

_ROLES = {"system", "developer", "user", "assistant", "tool", "function"}


def detect_chat(first: Any) -> bool:
    """A record with `messages`, or a list of messages with roles."""
    messages = _messages(first)
    return bool(messages) and all(
        isinstance(item, Mapping) and item.get("role") in _ROLES for item in messages[:3]
    )


def detect_anthropic(first: Any) -> bool:
    """Messages whose content holds `tool_use` or `tool_result` blocks."""
    return detect_chat(first) and any(
        isinstance(part, Mapping) and part.get("type") in ("tool_use", "tool_result", "server_tool_use")
        for item in _messages(first)
        for part in (item.get("content") if isinstance(item.get("content"), list) else ())
    )


def _messages(value: Any) -> list[Any]:
    if isinstance(value, Mapping):
        for key in ("messages", "traj", "trajectory", "conversation"):
            if isinstance(value.get(key), list):
                found: list[Any] = value[key]
                return found
        return []
    if isinstance(value, list) and value and isinstance(value[0], Mapping) and "role" in value[0]:
        return value
    return []


def read_chat(entries: Iterable[Entry], log: ImportLog) -> Iterator[Trace]:
    """One trace per record with messages. A record may bring `id`, `task_id`, `trial`, `model`, `tools`, `agent`."""
    names = RecordNames("chat")
    for entry in entries:
        rows = [entry.value]
        if isinstance(entry.value, list) and not _messages(entry.value):
            rows = entry.value
        for row in rows:
            messages = _messages(row)
            if not messages:
                log.add(
                    "unreadable_record",
                    Message("a record without messages is left out", "没有 messages 的记录已跳过"),
                    line=entry.line,
                )
                continue
            record = row if isinstance(row, Mapping) else {}
            given = record.get("id") or record.get("trace_id") or record.get("request_id")
            yield _trace(record, messages, log, names.of(given, row))


def _trace(row: Mapping[str, Any], messages: list[Any], log: ImportLog, identity: str) -> Trace:
    metadata = {
        key: row[key]
        for key in ("task_id", "trial", "reward", "domain", "suite", "gold_actions", "termination_reason")
        if key in row
    }
    task = row.get("task_id")
    return build_trace(
        chat_messages(messages, log, identity),
        log,
        trace_id=identity,
        source=log.source,
        offered=_offered(row.get("tools")),
        task_id="" if task is None else str(task),
        attempt=row["trial"] if isinstance(row.get("trial"), int) else 0,
        model=str(row.get("model") or ""),
        agent=str(row.get("agent") or ""),
        metadata=metadata,
    )


def _offered(tools: Any) -> list[str]:
    names = []
    for tool in tools if isinstance(tools, list) else ():
        if isinstance(tool, str):
            names.append(tool)
        elif isinstance(tool, Mapping):
            inner = tool.get("function") if isinstance(tool.get("function"), Mapping) else tool
            if isinstance(inner, Mapping) and isinstance(inner.get("name"), str):
                names.append(inner["name"])
    return names


def chat_messages(messages: Iterable[Any], log: ImportLog, trace_id: str) -> Iterator[ChatMessage]:
    """OpenAI chat or Anthropic messages as `ChatMessage`s; what is no message is a finding."""
    for position, message in enumerate(messages):
        if not isinstance(message, Mapping) or message.get("role") not in _ROLES:
            log.add(
                "unreadable_message",
                Message(f"message {position} has no known role", f"第 {position} 条消息没有已知角色"),
                subject=trace_id,
            )
            continue
        yield chat_message(message)


def chat_message(message: Mapping[str, Any]) -> ChatMessage:
    """One message of the OpenAI chat or Anthropic form."""
    role = str(message["role"])
    time = seconds(message.get("timestamp") or message.get("created_at") or message.get("time"))
    raw_usage = message.get("usage")
    usage: Mapping[str, Any] = raw_usage if isinstance(raw_usage, Mapping) else {}
    if role in ("tool", "function"):
        result = StoredResult(
            call_id=str(message.get("tool_call_id") or message.get("id") or ""),
            name=str(message.get("name") or ""),
            outcome=outcome_of(
                _tool_content(message.get("content")), is_error=_flag(message), latency_ms=_latency(message)
            ),
        )
        return ChatMessage(role="tool", results=(result,), time=time)
    content = message.get("content")
    blocks = [part for part in content if isinstance(part, Mapping)] if isinstance(content, list) else []
    uses = [part for part in blocks if part.get("type") in ("tool_use", "server_tool_use", "mcp_tool_use")]
    results = [part for part in blocks if str(part.get("type", "")).endswith("tool_result")]
    if uses or results:
        return _anthropic(role, blocks, uses, results, time, usage)
    reply = parse_message(message, tools_offered=False)
    return ChatMessage(
        role=role,
        text=reply.text,
        reasoning=reply.reasoning,
        calls=reply.calls,
        problems=reply.problems,
        time=time,
        agent=str(message.get("agent") or "") if role == "assistant" else "",
        input_tokens=_whole(usage.get("prompt_tokens", usage.get("input_tokens"))),
        output_tokens=_whole(usage.get("completion_tokens", usage.get("output_tokens"))),
        finish_reason=str(message.get("finish_reason") or ""),
    )


def _anthropic(
    role: str,
    blocks: list[Mapping[str, Any]],
    uses: list[Mapping[str, Any]],
    results: list[Mapping[str, Any]],
    time: float | None,
    usage: Mapping[str, Any],
) -> ChatMessage:
    calls = []
    for use in uses:
        read = read_arguments(use.get("input"))
        calls.append(
            ParsedCall(
                call_id=str(use.get("id") or ""),
                name=str(use.get("name") or ""),
                arguments=read.values,
                raw_arguments=use["input"] if isinstance(use.get("input"), str) else "",
                problems=read.problems,
                emitted_id=str(use.get("id") or ""),
                origin="content_block",
            )
        )
    stored = tuple(
        StoredResult(
            call_id=str(part.get("tool_use_id") or ""),
            outcome=outcome_of(
                _tool_content(part.get("content")), is_error=bool(part.get("is_error", False))
            ),
        )
        for part in results
    )
    text = "\n".join(str(part.get("text") or "") for part in blocks if part.get("type") == "text")
    reasoning = "\n".join(
        str(part.get("thinking") or "") for part in blocks if part.get("type") == "thinking"
    )
    return ChatMessage(
        role=role,
        text=text,
        reasoning=reasoning,
        calls=tuple(calls),
        results=stored,
        time=time,
        input_tokens=_whole(usage.get("input_tokens")),
        output_tokens=_whole(usage.get("output_tokens")),
    )


def _tool_content(content: Any) -> Any:
    if isinstance(content, list) and all(isinstance(part, Mapping) and "type" in part for part in content):
        return as_text(content)
    return "" if content is None else content


def _flag(message: Mapping[str, Any]) -> bool | None:
    for key in ("is_error", "isError", "error"):
        if isinstance(message.get(key), bool):
            return bool(message[key])
    if message.get("error"):
        return True
    return False if message.get("status") == "success" else True if message.get("status") == "error" else None


def _latency(message: Mapping[str, Any]) -> float | None:
    value = message.get("latency_ms", message.get("duration_ms"))
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _whole(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
