"""All importers by name, in the order in which a file is tried; plug-ins add theirs through the entry-point group
`agent_reach.importers`."""

from __future__ import annotations

from agent_reach.traces.importers.base import FunctionImporter, Importer
from agent_reach.traces.importers.chat import detect_anthropic, detect_chat, read_chat
from agent_reach.traces.importers.own import detect_own, read_own
from agent_reach.traces.importers.responses import detect_responses, read_responses
from agent_reach.traces.importers.runs import detect_langfuse, detect_langsmith, read_langfuse, read_langsmith
from agent_reach.traces.importers.sessions import (
    detect_claude_code,
    detect_inspect,
    detect_mcp_log,
    read_claude_code,
    read_inspect,
    read_mcp_log,
)
from agent_reach.traces.importers.spans import detect_spans
from agent_reach.traces.importers.telemetry import read_telemetry

IMPORTERS: dict[str, Importer] = {
    importer.name: importer
    for importer in (
        FunctionImporter(name="agent-reach", detect=detect_own, read=read_own),
        FunctionImporter(name="mcp", detect=detect_mcp_log, read=read_mcp_log),
        FunctionImporter(name="claude-code", detect=detect_claude_code, read=read_claude_code),
        FunctionImporter(name="inspect", detect=detect_inspect, read=read_inspect),
        FunctionImporter(name="langsmith", detect=detect_langsmith, read=read_langsmith),
        FunctionImporter(name="langfuse", detect=detect_langfuse, read=read_langfuse),
        FunctionImporter(name="otel", detect=detect_spans, read=read_telemetry),
        FunctionImporter(name="openai-responses", detect=detect_responses, read=read_responses),
        FunctionImporter(name="anthropic", detect=detect_anthropic, read=read_chat),
        FunctionImporter(name="openai-chat", detect=detect_chat, read=read_chat),
    )
}
ALIASES: dict[str, str] = {
    "openinference": "otel",
    "opentelemetry": "otel",
    "otlp": "otel",
    "chat": "openai-chat",
}
ENTRY_POINT_GROUP = "agent_reach.importers"
