"""Inspect evaluation logs and Claude Code session files: conversations in wrappers of their own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from agent_reach.calls.arguments import read_arguments
from agent_reach.calls.records import ParsedCall
from agent_reach.records.message import Message
from agent_reach.records.trace import CallOutcome, ErrorKind, Trace
from agent_reach.traces.importers.base import (
    Entry,
    ImportLog,
    as_text,
    content_id,
    error_kind,
    outcome_of,
    seconds,
)
from agent_reach.traces.importers.chat import chat_message, detect_chat
from agent_reach.traces.importers.conversation import ChatMessage, StoredResult, build_trace

_INSPECT_KINDS: dict[str, ErrorKind] = {
    "timeout": "timeout",
    "permission": "permission",
    "parsing": "argument",
}


def detect_inspect(first: Any) -> bool:
    """An evaluation log with `samples`, or one sample with `messages` and `epoch`."""
    if not isinstance(first, Mapping):
        return False
    return ("eval" in first and "samples" in first) or ("messages" in first and "epoch" in first)


def read_inspect(entries: Iterable[Entry], log: ImportLog) -> Iterator[Trace]:
    """One trace per sample and epoch."""
    for entry in entries:
        whole = entry.value if isinstance(entry.value, Mapping) else {}
        info = whole.get("eval") if isinstance(whole.get("eval"), Mapping) else {}
        samples = whole.get("samples") if isinstance(whole.get("samples"), list) else [whole]
        for sample in samples or ():
            if not isinstance(sample, Mapping) or not isinstance(sample.get("messages"), list):
                log.add(
                    "unreadable_record",
                    Message("a sample without messages", "样本没有 messages"),
                    line=entry.line,
                )
                continue
            epoch = sample.get("epoch", 1)
            identity = f"{sample.get('id', '')}#{epoch}"
            yield build_trace(
                (_inspect_message(item) for item in sample["messages"] if isinstance(item, Mapping)),
                log,
                trace_id=str(sample.get("uuid") or identity),
                source=log.source,
                task_id=str(sample.get("id", "")),
                attempt=epoch - 1 if isinstance(epoch, int) else 0,
                model=str((info or {}).get("model") or ""),
                metadata={"scores": sample["scores"]} if "scores" in sample else {},
            )


def _inspect_message(message: Mapping[str, Any]) -> ChatMessage:
    role = str(message.get("role") or "")
    if role == "tool":
        error = message.get("error")
        told = as_text(error.get("message")) if isinstance(error, Mapping) else ""
        outcome = outcome_of(told or as_text(message.get("content")), is_error=bool(error))
        if isinstance(error, Mapping) and outcome.error_kind == "tool_error":
            outcome = replace(
                outcome, error_kind=_INSPECT_KINDS.get(str(error.get("type"))) or error_kind(told)
            )
        result = StoredResult(
            call_id=str(message.get("tool_call_id") or ""),
            name=str(message.get("function") or ""),
            outcome=outcome,
        )
        return ChatMessage(role="tool", results=(result,))
    calls = []
    for call in message.get("tool_calls") or ():
        if not isinstance(call, Mapping):
            continue
        function = call.get("function")
        read = read_arguments(call.get("arguments"))
        identifier = str(call.get("id") or "")
        calls.append(
            ParsedCall(
                call_id=identifier,
                name=function if isinstance(function, str) else str((function or {}).get("name") or ""),
                arguments=read.values,
                problems=read.problems,
                emitted_id=identifier,
            )
        )
    return ChatMessage(role=role, text=as_text(message.get("content")), calls=tuple(calls))


def detect_claude_code(first: Any) -> bool:
    """A line of a session file: `sessionId` beside `type`, and a message or a summary."""
    return (
        isinstance(first, Mapping)
        and "type" in first
        and (
            ("sessionId" in first and ("message" in first or "uuid" in first))
            or (first["type"] == "summary" and "leafUuid" in first)
        )
    )


def read_claude_code(entries: Iterable[Entry], log: ImportLog) -> Iterator[Trace]:
    """One trace per session and side chain (a side chain is a sub-agent), in order of the file."""
    sessions: dict[tuple[str, bool], list[ChatMessage]] = {}
    for entry in entries:
        row = entry.value
        if not isinstance(row, Mapping):
            log.add("unreadable_record", Message("a line that is no object", "该行不是对象"), line=entry.line)
            continue
        message = row.get("message")
        if (
            row.get("type") not in ("user", "assistant")
            or not isinstance(message, Mapping)
            or row.get("isMeta")
        ):
            continue
        if not detect_chat([message]):
            log.add("unreadable_message", Message("a message without role", "消息没有角色"), line=entry.line)
            continue
        key = (str(row.get("sessionId") or ""), bool(row.get("isSidechain")))
        read = chat_message({**message, "timestamp": row.get("timestamp")})
        rows = sessions.setdefault(key, [])
        rows.append(read)
    for (session, side), messages in sessions.items():
        yield build_trace(
            messages,
            log,
            trace_id=f"{session}/side" if side else session,
            source=log.source,
            agent="sub_agent" if side else "",
            model="",
        )


def detect_mcp_log(first: Any) -> bool:
    """A JSON-RPC message, bare or under `message`, `data` or `payload`."""
    return _rpc(first) is not None


def _rpc(value: Any) -> Mapping[str, Any] | None:
    if isinstance(value, Mapping):
        if value.get("jsonrpc") == "2.0":
            return value
        for key in ("message", "data", "payload", "msg", "body"):
            inner = value.get(key)
            if isinstance(inner, Mapping) and inner.get("jsonrpc") == "2.0":
                return inner
    return None


def read_mcp_log(entries: Iterable[Entry], log: ImportLog) -> Iterator[Trace]:
    """One trace per session (field `session`, `session_id` or `sessionId` of the wrapper; else one for the log).

    Each `tools/call` is a step of its own; a reply belongs to the last open request with its id. `tools/list` replies say
    what was offered.
    """
    sessions: dict[str, list[tuple[Mapping[str, Any], float | None, str]]] = {}
    for entry in entries:
        for row in entry.value if isinstance(entry.value, list) else [entry.value]:
            message = _rpc(row)
            if message is None:
                log.add(
                    "unreadable_record",
                    Message("a line that is no JSON-RPC message", "该行不是 JSON-RPC 消息"),
                    line=entry.line,
                )
                continue
            session = next(
                (str(row[key]) for key in ("session", "session_id", "sessionId") if row.get(key)), ""
            )
            time = next(
                (
                    moment
                    for key in ("timestamp", "time", "ts")
                    if (moment := seconds(row.get(key))) is not None
                ),
                None,
            )
            sessions.setdefault(session, []).append((message, time, str(row.get("server") or "")))
    for session, rows in sessions.items():
        yield _mcp_trace(session or content_id("mcp", [row[0] for row in rows]), rows, log)


def _mcp_trace(
    identity: str, rows: list[tuple[Mapping[str, Any], float | None, str]], log: ImportLog
) -> Trace:
    messages: list[ChatMessage] = []
    lists: dict[str, str] = {}
    calls: dict[str, tuple[str, float | None]] = {}
    offered: list[str] = []
    for number, (message, time, server) in enumerate(rows):
        key = f"{type(message.get('id')).__name__}:{message.get('id')}"
        prefix = f"{server}/" if server else ""
        method = message.get("method")
        if method == "tools/list":
            lists[key] = prefix
        elif method == "tools/call":
            raw = message.get("params")
            parameters: Mapping[str, Any] = raw if isinstance(raw, Mapping) else {}
            read = read_arguments(parameters.get("arguments"))
            identifier = f"rpc_{message.get('id')}_{number}"
            calls[key] = (identifier, time)
            call = ParsedCall(
                call_id=identifier,
                name=prefix + str(parameters.get("name") or ""),
                arguments=read.values,
                problems=read.problems,
                emitted_id=identifier,
            )
            messages.append(ChatMessage(role="assistant", calls=(call,), time=time))
        elif method is None and key in lists:
            listed = message.get("result")
            tools = listed.get("tools") if isinstance(listed, Mapping) else None
            before = lists.pop(key)
            offered.extend(
                before + str(tool["name"])
                for tool in tools or ()
                if isinstance(tool, Mapping) and tool.get("name")
            )
        elif method is None and key in calls:
            identifier, asked = calls.pop(key)
            latency = (
                (time - asked) * 1000 if time is not None and asked is not None and time >= asked else None
            )
            messages.append(
                ChatMessage(
                    role="tool",
                    results=(StoredResult(call_id=identifier, outcome=_rpc_outcome(message, latency)),),
                    time=time,
                )
            )
    return build_trace(
        messages, log, trace_id=identity, source=log.source, offered=list(dict.fromkeys(offered))
    )


def _rpc_outcome(message: Mapping[str, Any], latency: float | None) -> CallOutcome:
    error = message.get("error")
    if isinstance(error, Mapping):
        return outcome_of(str(error.get("message") or error), is_error=True, latency_ms=latency)
    result = message.get("result")
    if not isinstance(result, Mapping):
        return outcome_of(result if result is not None else "", is_error=False, latency_ms=latency)
    structured = result.get("structuredContent")
    content = structured if structured is not None else as_text(result.get("content"))
    return outcome_of(content, is_error=bool(result.get("isError", False)), latency_ms=latency)
