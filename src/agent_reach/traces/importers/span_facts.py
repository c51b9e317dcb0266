"""What a span says about models, tools and agents, across the attribute names of several conventions.

OpenTelemetry GenAI (several versions), OpenInference, traceloop, Google ADK. Names are looked up in a fixed order, the
standard's newest first; nothing is guessed from the wording of a result.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Literal

from agent_reach.traces.importers.base import as_text, decoded
from agent_reach.traces.importers.spans import Span

SpanKind = Literal["tool", "requested", "model", "agent", "other"]

_MODEL_OPERATIONS = {"chat", "generate_content", "text_completion", "responses", "completion"}


def kind_of(span: Span) -> SpanKind:
    """What the span records: a tool execution, a call synthesised from a model's message, a model, an agent, or else."""
    attributes = span.attributes
    if attributes.get("agent_reach.kind") == "synthesised" or span.name.startswith("tool_call "):
        return "requested"
    if (
        re.match(r"(?i)handoff\b", span.name)
        and "gen_ai.tool.name" not in attributes
        and "tool.name" not in attributes
    ):
        return "other"
    operation = str(attributes.get("gen_ai.operation.name", "")).lower()
    inference = str(attributes.get("openinference.span.kind", "")).upper()
    loop = str(attributes.get("traceloop.span.kind", "")).lower()
    if (
        operation == "execute_tool"
        or inference == "TOOL"
        or loop == "tool"
        or span.name.startswith("execute_tool ")
    ):
        return "tool"
    if operation in _MODEL_OPERATIONS or inference == "LLM":
        return "model"
    if "gcp.vertex.agent.llm_response" in attributes and operation != "execute_tool":
        return "model"
    if (
        operation == "invoke_agent"
        or inference == "AGENT"
        or loop == "agent"
        or span.name.startswith("invoke_agent ")
    ):
        return "agent"
    return "other"


def _pick(attributes: Mapping[str, Any], *names: str) -> Any:
    for name in names:
        value = attributes.get(name)
        if value not in (None, ""):
            return value
    return None


def tool_name(span: Span) -> str:
    """The tool's name; from the span's own name where no attribute has it."""
    found = _pick(
        span.attributes,
        "gen_ai.tool.name",
        "tool.name",
        "tool_call.function.name",
        "traceloop.entity.name",
        "mcp.tool.name",
    )
    if found is not None:
        return str(found)
    return re.sub(r"^(?:execute_tool|tool_call)\s+|\.tool$", "", span.name)


def tool_call_id(span: Span) -> str:
    """The id of the call as the model gave it, from the attributes or from the stored tool message; empty where neither
    says."""
    found = _pick(span.attributes, "gen_ai.tool.call.id", "tool_call.id", "tool.id", "agent_reach.call_id")
    if found is None:
        message = decoded(span.attributes.get("output.value"))
        found = message.get("tool_call_id") if isinstance(message, Mapping) else None
    return str(found or "")


def tool_arguments(span: Span) -> tuple[Mapping[str, Any] | None, str]:
    """(arguments, raw text); (None, "") where the span does not carry them."""
    attributes = span.attributes
    for name in (
        "gen_ai.tool.call.arguments",
        "gcp.vertex.agent.tool_call_args",
        "tool_call.function.arguments",
        "input.value",
        "traceloop.entity.input",
        "tool.parameters",
        "tool_arguments",
    ):
        raw = attributes.get(name)
        if raw in (None, ""):
            continue
        value = decoded(raw)
        if not isinstance(value, Mapping):
            continue
        if name == "tool.parameters" and _is_schema(value):
            continue
        if set(value) >= {"args", "kwargs"} and isinstance(value["kwargs"], Mapping):
            value = value["kwargs"]
        elif set(value) <= {"inputs", "tags", "metadata", "kwargs"} and isinstance(
            value.get("inputs"), Mapping
        ):
            value = value["inputs"]
        return dict(value), raw if isinstance(raw, str) else ""
    return None, ""


def _is_schema(value: Mapping[str, Any]) -> bool:
    return value.get("type") == "object" or any(
        isinstance(item, Mapping) and "type" in item for item in value.values()
    )


def tool_result(span: Span) -> Any:
    """What the tool gave back, None where the span does not carry it."""
    found = _pick(
        span.attributes,
        "gen_ai.tool.call.result",
        "gcp.vertex.agent.tool_response",
        "output.value",
        "traceloop.entity.output",
        "tool_response",
    )
    value = decoded(found)
    if isinstance(value, Mapping) and set(value) == {"outputs"}:
        return value["outputs"]
    if isinstance(value, Mapping) and "tool_call_id" in value and "content" in value:
        return value["content"]
    return found


def error_of(span: Span) -> str | None:
    """The error text of a span that failed, else None."""
    if span.status != "ERROR" and "error.type" not in span.attributes:
        return None
    told = [str(span.attributes.get("error.type", "")), span.status_message]
    for event in span.events:
        if event["name"] == "exception":
            told.append(str(event["attributes"].get("exception.message", "")))
    return ": ".join(dict.fromkeys(part for part in told if part)) or "error"


def agent_name(span: Span) -> str:
    """The agent that the span names, if any."""
    return str(_pick(span.attributes, "gen_ai.agent.name", "agent.name", "agent_reach.agent") or "")


def model_name(span: Span) -> str:
    """The model that answered, else the one that was asked."""
    return str(
        _pick(span.attributes, "gen_ai.response.model", "gen_ai.request.model", "llm.model_name") or ""
    )


def token_counts(span: Span) -> tuple[int | None, int | None]:
    """(input, output) tokens of a model span."""
    attributes = span.attributes
    given = _pick(
        attributes, "gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.token_count.prompt"
    )
    made = _pick(
        attributes,
        "gen_ai.usage.output_tokens",
        "gen_ai.usage.completion_tokens",
        "llm.token_count.completion",
    )
    return tuple(int(count) if isinstance(count, (int, float)) else None for count in (given, made))  # type: ignore[return-value]


def offered_tools(span: Span) -> list[str]:
    """Names of the tools that a model span says were offered, in order."""
    names = []
    definitions = decoded(span.attributes.get("gen_ai.tool.definitions"))
    for item in definitions if isinstance(definitions, list) else ():
        inner = item.get("function", item) if isinstance(item, Mapping) else None
        if isinstance(inner, Mapping) and inner.get("name"):
            names.append(str(inner["name"]))
    number = 0
    while f"llm.tools.{number}.tool.json_schema" in span.attributes:
        schema = decoded(span.attributes[f"llm.tools.{number}.tool.json_schema"])
        inner = schema.get("function", schema) if isinstance(schema, Mapping) else None
        if isinstance(inner, Mapping) and inner.get("name"):
            names.append(str(inner["name"]))
        number += 1
    listed = span.attributes.get("smolagents.tools_names")
    return names or ([str(name) for name in listed] if isinstance(listed, (list, tuple)) else [])


def messages(span: Span, side: Literal["input", "output"]) -> list[dict[str, Any]]:
    """The messages of a model or agent span as `{"role", "text", "calls": [...], "responses": [...]}`.

    A call is `{"id", "name", "arguments"}`, a response `{"id", "result"}`.
    """
    found = _part_messages(decoded(span.attributes.get(f"gen_ai.{side}.messages")))
    if found:
        return found
    for event in span.events:
        found = _part_messages(decoded(event["attributes"].get(f"gen_ai.{side}.messages")))
        if found:
            return found
    return (
        list(_indexed(span.attributes, side))
        or list(_loop_messages(span.attributes, side))
        or _adk(span, side)
    )


def _part_messages(value: Any) -> list[dict[str, Any]]:
    out = []
    for item in value if isinstance(value, list) else ():
        if not isinstance(item, Mapping):
            continue
        message: dict[str, Any] = {
            "role": str(item.get("role", "")),
            "text": "",
            "calls": [],
            "responses": [],
        }
        parts = item.get("parts")
        if not isinstance(parts, list):
            message["text"] = as_text(item.get("content"))
            parts = []
        for part in parts:
            if not isinstance(part, Mapping):
                continue
            kind = part.get("type")
            if kind == "text":
                message["text"] += as_text(part.get("content", part.get("text")))
            elif kind == "tool_call":
                message["calls"].append({key: part.get(key) for key in ("id", "name", "arguments")})
            elif kind == "tool_call_response":
                result = next((part[key] for key in ("response", "result", "content") if key in part), None)
                message["responses"].append({"id": part.get("id"), "result": result})
        out.append(message)
    return out


def _indexed(attributes: Mapping[str, Any], side: str) -> Iterator[dict[str, Any]]:
    """OpenInference: `llm.output_messages.0.message.tool_calls.0.tool_call.function.name`."""
    pattern = re.compile(rf"^llm\.{side}_messages\.(\d+)\.message\.(.+)$")
    rows: dict[int, dict[str, Any]] = {}
    for key, value in attributes.items():
        match = pattern.match(key)
        if match:
            rows.setdefault(int(match.group(1)), {})[match.group(2)] = value
    for number in sorted(rows):
        row = rows[number]
        texts = [
            as_text(row[key])
            for key in sorted(row)
            if key == "content" or re.fullmatch(r"content\.\d+|contents\.\d+\.message_content\.text", key)
        ]
        calls = [_indexed_call(row, index) for index in _indices(row, "tool_calls")]
        message: dict[str, Any] = {
            "role": str(row.get("role", "")),
            "text": "\n".join(texts),
            "calls": calls,
            "responses": [],
        }
        if row.get("tool_call_id"):
            message["responses"].append({"id": row["tool_call_id"], "result": message["text"]})
        yield message


def _indices(row: Mapping[str, Any], name: str) -> list[int]:
    return sorted({int(match.group(1)) for key in row if (match := re.match(rf"{name}\.(\d+)\.", key))})


def _indexed_call(row: Mapping[str, Any], index: int) -> dict[str, Any]:
    stem = f"tool_calls.{index}.tool_call"
    return {
        "id": row.get(f"{stem}.id"),
        "name": row.get(f"{stem}.function.name"),
        "arguments": row.get(f"{stem}.function.arguments"),
    }


def _loop_messages(attributes: Mapping[str, Any], side: str) -> Iterator[dict[str, Any]]:
    """traceloop: `gen_ai.prompt.0.role`, `gen_ai.completion.0.tool_calls.0.name`."""
    stem = "gen_ai.prompt" if side == "input" else "gen_ai.completion"
    rows: dict[int, dict[str, Any]] = {}
    for key, value in attributes.items():
        match = re.match(rf"^{re.escape(stem)}\.(\d+)\.(.+)$", key)
        if match:
            rows.setdefault(int(match.group(1)), {})[match.group(2)] = value
    for number in sorted(rows):
        row = rows[number]
        calls = [
            {key: row.get(f"tool_calls.{index}.{key}") for key in ("id", "name", "arguments")}
            for index in _indices(row, "tool_calls")
        ]
        message: dict[str, Any] = {
            "role": str(row.get("role", "")),
            "text": as_text(row.get("content")),
            "calls": calls,
            "responses": [],
        }
        if row.get("tool_call_id"):
            message["responses"].append({"id": row["tool_call_id"], "result": message["text"]})
        yield message


def _adk(span: Span, side: str) -> list[dict[str, Any]]:
    """Google ADK: one JSON text per request and response."""
    name = "gcp.vertex.agent.llm_response" if side == "output" else "gcp.vertex.agent.llm_request"
    value = decoded(span.attributes.get(name))
    if not isinstance(value, Mapping):
        return []
    contents = [value.get("content")] if side == "output" else value.get("contents")
    out = []
    for content in contents if isinstance(contents, list) else ():
        if not isinstance(content, Mapping):
            continue
        message: dict[str, Any] = {
            "role": str(content.get("role") or "assistant"),
            "text": "",
            "calls": [],
            "responses": [],
        }
        for part in content.get("parts") or ():
            if not isinstance(part, Mapping):
                continue
            call, response = part.get("function_call"), part.get("function_response")
            if isinstance(call, Mapping):
                message["calls"].append(
                    {"id": call.get("id"), "name": call.get("name"), "arguments": call.get("args")}
                )
            elif isinstance(response, Mapping):
                message["responses"].append({"id": response.get("id"), "result": response.get("response")})
            elif part.get("text"):
                message["text"] += str(part["text"])
        out.append(message)
    return out
