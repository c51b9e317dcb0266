"""A server with tools that work, fail, hang, die, ask back and change: plain JSON-RPC on stdio or HTTP, in either era.

    python tool_server.py [--era legacy|modern] [--name NAME] [--state FILE] [--http] [--refuse N] [--version V]

`--state` counts executions in a file and holds the list's version; `--http` prints the port on stderr; `--refuse N`
answers the first N calls with status 429.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import json
import os
import sys
from pathlib import Path

MODERN = "2026-07-28"


def schema(*required: str, **properties: dict) -> dict:
    return {"type": "object", "properties": properties, "required": list(required)}


TEXT = {"type": "string"}
NUMBER = {"type": "number"}
READ = {"readOnlyHint": True}


class Server:
    def __init__(self, options: argparse.Namespace, send) -> None:
        self.options = options
        self.send = send
        self.modern = options.era == "modern"
        self.level = "info"
        self.asked: dict = {}
        self.next_id = 0
        self.running: dict = {}
        self.refused = 0
        self.changed = 0
        self.client: dict = {}
        self.listening = None

    def tools(self) -> list[dict]:
        tools = [
            tool("echo", "Give the text back.", schema("text", text=TEXT), READ),
            tool("slow", "Wait and give the seconds back.", schema("seconds", seconds=NUMBER), READ),
            tool("write", "Count one execution.", schema(text=TEXT), {"readOnlyHint": False}),
            tool("die", "End the process in the middle of the call.", schema(), {"readOnlyHint": False}),
            tool("hang", "Never answer.", schema(), READ),
            tool("noise", "Print what is no protocol, then answer.", schema(), READ),
            tool("big", "A text of so many bytes.", schema("bytes", bytes={"type": "integer"}), READ),
            tool("steps", "Report progress.", schema("count", count={"type": "integer"}), READ),
            tool("fail", "A tool error.", schema(text=TEXT), READ),
            tool("refuse", "A protocol error.", schema(code={"type": "integer"}), READ),
            tool("rich", "All kinds of blocks.", schema(), READ),
            tool("change", "Add a tool to the list and announce it.", schema(), {"readOnlyHint": False}),
            tool("ask", "Ask the person for a name.", schema(), {"readOnlyHint": False}),
            tool("log", "Write a line of log.", schema(text=TEXT), READ),
            tool("meta", "What came beside the arguments.", schema(), READ),
            tool(
                "remind",
                "Remember something on a day.",
                schema("day", day={"type": "string", "format": "date"}, priority={"enum": ["low", "high"]}),
                READ,
            ),
        ]
        tools.append(
            {
                **tool("table", "Structured rows.", schema(), READ),
                "outputSchema": schema("rows", rows={"type": "array", "items": {"type": "object"}}),
            }
        )
        if self.modern:
            tools.append(
                {
                    **tool("rows", "A bare list.", schema(), READ),
                    "outputSchema": {"type": "array", "items": {"type": "integer"}},
                }
            )
        for number in range(self.changed):
            tools.append(tool(f"added_{number}", "Added later.", schema(), READ))
        if self.options.version:
            tools.append(tool("versioned", f"Version {self.options.version}.", schema(), READ))
        if self.options.odd:
            tools.append(
                {"name": "broken", "description": "No usable schema.", "inputSchema": {"type": "string"}}
            )
        return tools

    async def request(self, method: str, params: dict, request_id) -> dict:
        if method == "initialize":
            self.client = params.get("capabilities", {})
            return {
                "protocolVersion": "2025-11-25",
                "capabilities": capabilities(),
                "serverInfo": {"name": self.options.name, "version": "1"},
            }
        if method == "server/discover" and self.modern:
            return {
                "resultType": "complete",
                "supportedVersions": [MODERN],
                "capabilities": capabilities(),
                "ttlMs": 0,
                "cacheScope": "private",
                "_meta": {"io.modelcontextprotocol/serverInfo": {"name": self.options.name, "version": "1"}},
            }
        if method == "tools/list":
            return self.page(self.tools(), params)
        if method == "tools/call":
            return await self.call(params["name"], params.get("arguments") or {}, params, request_id)
        if method == "prompts/list":
            return {
                "prompts": [{"name": "greet", "description": "A greeting.", "arguments": [{"name": "who"}]}]
            }
        if method == "prompts/get":
            if params["name"] != "greet":
                raise Refusal(-32602, "no such prompt")
            who = (params.get("arguments") or {}).get("who", "you")
            return {
                "messages": [
                    {
                        "role": "user",
                        "content": {"type": "text", "text": f"hello {who} from {self.options.name}"},
                    }
                ]
            }
        if method == "resources/list":
            return {"resources": [{"uri": f"memo://{self.options.name}/one", "name": "one"}]}
        if method == "resources/templates/list":
            return {
                "resourceTemplates": [{"uriTemplate": f"note://{self.options.name}/{{id}}", "name": "note"}]
            }
        if method == "resources/read":
            if f"//{self.options.name}/" not in params["uri"]:
                raise Refusal(-32602 if self.modern else -32002, "no such resource")
            return {"contents": [{"uri": params["uri"], "text": f"content of {params['uri']}"}]}
        if method in ("resources/subscribe", "resources/unsubscribe", "logging/setLevel", "ping"):
            if method == "resources/subscribe":
                asyncio.get_running_loop().call_later(
                    0.05, self.notify, "notifications/resources/updated", {"uri": params["uri"]}
                )
            return {}
        if method == "completion/complete":
            return {
                "completion": {
                    "values": [f"{self.options.name}-{params['argument']['value']}"],
                    "hasMore": False,
                }
            }
        if method == "subscriptions/listen" and self.modern:
            self.listening = request_id
            self.notify(
                "notifications/subscriptions/acknowledged", {"notifications": params["notifications"]}
            )
            await asyncio.Event().wait()
        raise Refusal(-32601, "Method not found")

    def page(self, tools: list[dict], params: dict) -> dict:
        start = int(params.get("cursor") or 0)
        more = {"nextCursor": str(start + 7)} if start + 7 < len(tools) else {}
        return {"tools": tools[start : start + 7], **more}

    async def call(self, name: str, arguments: dict, params: dict, request_id) -> dict:
        if name == "echo" or name.startswith("added_"):
            return text(str(arguments.get("text", "")))
        if name == "slow":
            await asyncio.sleep(arguments["seconds"])
            return text(f"waited {arguments['seconds']}")
        if name == "write":
            return text(f"execution {self.count()}")
        if name == "die":
            self.count()
            os._exit(7)
        if name == "hang":
            self.count()
            await asyncio.Event().wait()
        if name == "noise":
            sys.stdout.write("starting up ...\n{not json\n[cache] ready\n")
            sys.stdout.flush()
            return text("answered")
        if name == "big":
            return text("0123456789abcdef" * (arguments["bytes"] // 16))
        if name == "steps":
            token = (params.get("_meta") or {}).get("progressToken")
            for number in range(arguments["count"]):
                if token is not None:
                    self.notify(
                        "notifications/progress",
                        {
                            "progressToken": token,
                            "progress": number + 1,
                            "total": arguments["count"],
                            "message": f"step {number + 1}",
                        },
                    )
                await asyncio.sleep(0.01)
            return text("done")
        if name == "fail":
            self.count()
            return {**text(str(arguments.get("text", "record 12 is locked"))), "isError": True}
        if name == "refuse":
            raise Refusal(arguments.get("code", -32050), "the server refuses", {"detail": [1, 2]})
        if name == "rich":
            return rich()
        if name == "change":
            self.changed += 1
            self.notify("notifications/tools/list_changed", {})
            return text("changed")
        if name == "ask":
            return await self.ask(params)
        if name == "log":
            self.notify("notifications/message", {"level": "info", "data": arguments.get("text", "")})
            return text("logged")
        if name == "meta":
            return text(json.dumps({"meta": params.get("_meta"), "client": self.client}))
        if name == "table":
            return {**text('{"rows": [{"id": 1}]}'), "structuredContent": {"rows": [{"id": 1, "none": None}]}}
        if name == "rows":
            return {"content": [], "structuredContent": [1, 2, 3]}
        if name == "remind":
            return text(json.dumps(arguments))
        if name == "versioned":
            return text(self.options.version)
        raise Refusal(-32602, f"Unknown tool: {name}")

    async def ask(self, params: dict) -> dict:
        question = {"mode": "form", "message": "Your name?", "requestedSchema": schema("name", name=TEXT)}
        if self.modern:
            answers = params.get("inputResponses")
            if not answers:
                return {
                    "resultType": "input_required",
                    "inputRequests": {"who": {"method": "elicitation/create", "params": question}},
                    "requestState": "state-7",
                }
            if params.get("requestState") != "state-7":
                raise Refusal(-32602, "the state was lost")
            return text(f"hello {answers['who']['content']['name']}")
        answer = await self.ask_client("elicitation/create", question)
        return text(
            f"hello {answer['content']['name']}"
            if "content" in answer
            else f"no answer: {json.dumps(answer)}"
        )

    async def ask_client(self, method: str, params: dict) -> dict:
        self.next_id += 1
        future = asyncio.get_running_loop().create_future()
        self.asked[self.next_id] = future
        self.send({"jsonrpc": "2.0", "id": self.next_id, "method": method, "params": params})
        return await future

    def count(self) -> int:
        if not self.options.state:
            return 0
        file = Path(self.options.state)
        number = int(file.read_text() or 0) + 1 if file.exists() else 1
        file.write_text(str(number))
        return number

    def notify(self, method: str, params: dict) -> None:
        if self.listening is not None and method.endswith("list_changed"):
            params = {**params, "_meta": {"io.modelcontextprotocol/subscriptionId": self.listening}}
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def receive(self, message: dict) -> None:
        if "method" not in message:
            future = self.asked.pop(message.get("id"), None)
            if future is not None and not future.done():
                future.set_result(message.get("result", {"error": message.get("error")}))
        elif "id" in message:
            task = asyncio.get_running_loop().create_task(self.answer(message))
            self.running[message["id"]] = task
        elif message["method"] == "notifications/cancelled":
            task = self.running.pop(message["params"].get("requestId"), None)
            if task is not None:
                task.cancel()
                if self.options.state:
                    Path(self.options.state + ".cancelled").write_text(str(message["params"]["requestId"]))

    async def answer(self, message: dict) -> None:
        reply = {"jsonrpc": "2.0", "id": message["id"]}
        params = message.get("params") or {}
        try:
            if self.modern and message["method"] == "initialize":
                raise Refusal(-32022, "no handshake", {"supported": [MODERN]})
            result = await self.request(message["method"], params, message["id"])
            if self.modern:
                result.setdefault("resultType", "complete")
            reply["result"] = result
        except Refusal as error:
            reply["error"] = {"code": error.code, "message": error.message}
            if error.data is not None:
                reply["error"]["data"] = error.data
        self.running.pop(message["id"], None)
        self.send(reply)


class Refusal(Exception):
    def __init__(self, code: int, message: str, data=None) -> None:
        super().__init__(message)
        self.code, self.message, self.data = code, message, data


def capabilities() -> dict:
    listed = {"listChanged": True}
    return {
        "tools": listed,
        "prompts": listed,
        "resources": {"subscribe": True, **listed},
        "logging": {},
        "completions": {},
    }


def tool(name: str, description: str, inputs: dict, annotations: dict) -> dict:
    return {"name": name, "description": description, "inputSchema": inputs, "annotations": annotations}


def text(words: str) -> dict:
    return {"content": [{"type": "text", "text": words}]}


def rich() -> dict:
    pixel = base64.b64encode(b"\x89PNG\r\n\x1a\n").decode()
    return {
        "content": [
            {"type": "text", "text": "词 and words", "annotations": {"audience": ["user"], "priority": 0.5}},
            {"type": "image", "data": pixel, "mimeType": "image/png"},
            {"type": "audio", "data": pixel, "mimeType": "audio/wav"},
            {"type": "resource_link", "uri": "memo://one", "name": "one", "mimeType": "text/plain"},
            {"type": "resource", "resource": {"uri": "memo://two", "text": "inside", "_meta": {"k": 1}}},
        ],
        "structuredContent": {"a": None, "b": [1, 2.5, "x"], "deep": {"ü": "ß"}},
        "_meta": {"example.org/trace": "t-1"},
    }


async def serve_stdio(options: argparse.Namespace) -> None:
    loop = asyncio.get_running_loop()
    out = sys.stdout

    def send(message: dict) -> None:
        out.write(json.dumps(message, ensure_ascii=False) + "\n")
        out.flush()

    server = Server(options, send)
    reader = asyncio.StreamReader(limit=64 * 1024 * 1024)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    if options.slow_start:
        await asyncio.sleep(options.slow_start)
    while line := await reader.readline():
        server.receive(json.loads(line))


async def serve_http(options: argparse.Namespace) -> None:
    """One POST, one JSON answer; enough of the protocol for a client that keeps no stream."""
    refused = 0

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal refused
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                sizes = [
                    line.split(":", 1)[1]
                    for line in head.split("\r\n")
                    if line.lower().startswith("content-length")
                ]
                tokens = [
                    line.split(":", 1)[1].strip()
                    for line in head.split("\r\n")
                    if line.lower().startswith("authorization")
                ]
                body = await reader.readexactly(int(sizes[0]) if sizes else 0)
                status, answer, extra = 405, b"", ""
                if head.startswith("POST"):
                    message = json.loads(body)
                    status, answer = 202, b""
                    if message.get("method") == "tools/call" and refused < options.refuse:
                        refused += 1
                        status, extra = 429, "Retry-After: 0\r\n"
                    elif "id" in message:
                        sent: list[dict] = []
                        server = Server(options, sent.append)
                        server.client = {"authorization": tokens[0] if tokens else ""}
                        await server.answer(message)
                        status, answer = 200, json.dumps(sent[-1]).encode()
                writer.write(
                    f"HTTP/1.1 {status} X\r\nContent-Type: application/json\r\n{extra}Content-Length: {len(answer)}\r\n\r\n".encode()
                    + answer
                )
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    listening = await asyncio.start_server(handle, "127.0.0.1", 0, limit=64 * 1024 * 1024)
    sys.stderr.write(f"port {listening.sockets[0].getsockname()[1]}\n")
    sys.stderr.flush()
    await listening.serve_forever()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--era", default="legacy")
    parser.add_argument("--name", default="tools")
    parser.add_argument("--state", default="")
    parser.add_argument("--version", default="")
    parser.add_argument("--http", action="store_true")
    parser.add_argument("--odd", action="store_true")
    parser.add_argument("--refuse", type=int, default=0)
    parser.add_argument("--slow-start", type=float, default=0)
    options = parser.parse_args()
    asyncio.run(serve_http(options) if options.http else serve_stdio(options))


if __name__ == "__main__":
    main()
