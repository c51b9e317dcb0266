"""Small real HTTP servers that answer from a script, and sessions to drive agents with."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from agent_reach.backends.base import Backend
from agent_reach.backends.recorded import RecordedBackend
from agent_reach.catalog.catalog import Catalog
from agent_reach.config.settings import AgentConfig, ContextConfig, ExposureConfig
from agent_reach.evals.agents.base import Agent
from agent_reach.evals.agents.session import AttemptSession, SessionSettings
from agent_reach.evals.context.conversation import Conversation
from agent_reach.evals.context.options import Layout
from agent_reach.evals.exposure import Exposer
from agent_reach.records.task import Task
from agent_reach.records.tool import Tool

TOOLS = (
    Tool(
        name="query_stock",
        description="Query the stock of a product. Use when the user asks how many are left.",
        input_schema={
            "type": "object",
            "properties": {"product_id": {"type": "string"}, "limit": {"type": "integer"}},
            "required": ["product_id"],
        },
        effects=frozenset({"read"}),
    ),
    Tool(
        name="send_note",
        description="Send a note to a colleague.",
        input_schema={"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
        effects=frozenset({"write"}),
    ),
)


class Exchange:
    """One answer of a scripted server: status, body (JSON value, text, or list of stream events), headers."""

    def __init__(self, body: Any, status: int = 200, headers: dict[str, str] | None = None) -> None:
        self.body = body
        self.status = status
        self.headers = headers or {}


class ScriptedServer:
    """Answers request after request from its script (the last answer again), and keeps what it was asked."""

    def __init__(self, script: list[Exchange | Callable[[dict[str, Any]], Exchange]]) -> None:
        self.script = script
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.address = ""

    def answer(self, body: dict[str, Any]) -> Exchange:
        item = self.script[min(len(self.requests) - 1, len(self.script) - 1)]
        return item(body) if callable(item) else item


@contextmanager
def serving(*script: Exchange | Callable[[dict[str, Any]], Exchange]) -> Iterator[ScriptedServer]:
    scripted = ScriptedServer(list(script))

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            length = int(self.headers.get("content-length", 0))
            body = json.loads(self.rfile.read(length) or b"{}")
            scripted.requests.append(body)
            scripted.headers.append({name.lower(): value for name, value in self.headers.items()})
            scripted.paths.append(self.path)
            exchange = scripted.answer(body)
            if exchange.status == 0:
                self.close_connection = True
                self.connection.close()
                return
            kind, payload = _encoded(exchange.body)
            self.send_response(exchange.status)
            self.send_header("content-type", kind)
            for name, value in exchange.headers.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(payload)))
            self.end_headers()
            self.wfile.write(payload)

        def log_message(self, *arguments: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    scripted.address = f"http://127.0.0.1:{server.server_address[1]}/v1"
    try:
        yield scripted
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _encoded(body: Any) -> tuple[str, bytes]:
    if isinstance(body, list):
        events = "".join(f"data: {json.dumps(event)}\n\n" for event in body) + "data: [DONE]\n\n"
        return "text/event-stream", events.encode()
    if isinstance(body, str):
        return "text/html", body.encode()
    return "application/json", json.dumps(body).encode()


def says(
    content: str | None = None, calls: list[tuple[str, str, str]] | None = None, **more: Any
) -> Exchange:
    """A chat completion with text and calls (id, name, arguments)."""
    message: dict[str, Any] = {"role": "assistant", "content": content, **more.pop("message", {})}
    if calls:
        message["tool_calls"] = [
            {"id": identifier, "type": "function", "function": {"name": name, "arguments": arguments}}
            for identifier, name, arguments in calls
        ]
    finish = more.pop("finish_reason", "tool_calls" if calls else "stop")
    return Exchange(
        {
            "choices": [{"message": message, "finish_reason": finish}],
            "usage": {"prompt_tokens": 11, "completion_tokens": 7},
        }
    )


def task(query: str = "how many PDT-1 are left?", **fields: Any) -> Task:
    return Task(id=fields.pop("id", "t"), kind=fields.pop("kind", "must"), query=query, **fields)


def session_for(
    agent: Agent | None = None,
    a_task: Task | None = None,
    *,
    tools: tuple[Tool, ...] = TOOLS,
    backend: Backend | None = None,
    context: ContextConfig | None = None,
    exposure: ExposureConfig | None = None,
    duplicates: Any = "unsafe",
) -> AttemptSession:
    """A session as the runner makes it."""
    a_task = a_task or task()
    catalog = Catalog.from_tools(tools)
    exposed = Exposer(catalog, exposure or ExposureConfig()).expose(a_task)
    info = agent.info if agent else None
    text = info.own_tools_text(exposed.definitions) if info and info.own_tools_text else ""
    layout = Layout(
        config=context or ContextConfig(),
        system_prompt=info.system_prompt if info else "",
        tools_in_system=info.tools_in_system if info else False,
    )
    return AttemptSession(
        task=a_task,
        attempt=0,
        trace_id="trace",
        catalog=catalog,
        exposed=exposed,
        conversation=Conversation(
            a_task, layout, tools_text=text, definition_tokens=50, slots=a_task.state_slots
        ),
        backend=backend or RecordedBackend(a_task),
        settings=SessionSettings(agent="test", clock=lambda: 1.0, duplicates=duplicates),
    )


def chat_config(address: str, **fields: Any) -> AgentConfig:
    return AgentConfig(
        **{"type": "chat", "model": "m", "base_url": address, "request_timeout": 10.0, **fields}
    )
