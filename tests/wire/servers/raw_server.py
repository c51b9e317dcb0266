"""A small MCP server in raw JSON-RPC over stdio, with misbehaviours by flag. Standard library only.

Tools: echo, slow (seconds), never, fail, drop (ends the process after "executing"), big (bytes), progress (steps, gap),
count (how often `write` ran), write, raw (answers with the result given), pid, cancelled (notifications seen), env.
"""

import argparse
import json
import os
import subprocess
import sys
import threading
import time

parser = argparse.ArgumentParser()
parser.add_argument(
    "--era", default="legacy", choices=["legacy", "modern", "both", "crash-on-discover", "silent-on-discover"]
)
parser.add_argument("--pages", default="", help="JSON: list of list results, by cursor order")
parser.add_argument("--repeat", default="", help="JSON: the one result of every list request")
parser.add_argument("--empty-first", type=int, default=0)
parser.add_argument("--banner", action="store_true")
parser.add_argument("--noise", action="store_true", help="write noise between answers")
parser.add_argument("--handshake-delay", type=float, default=0.0)
parser.add_argument("--dead", action="store_true", help="say something on stderr and exit 3")
parser.add_argument("--mute", action="store_true", help="never answer anything")
parser.add_argument("--die-while-listing", action="store_true")
parser.add_argument("--hang-page", type=int, default=0, help="never answer the list request of that number")
parser.add_argument(
    "--wrong-ids", action="store_true", help="answer also to ids that were never sent, and as text"
)
parser.add_argument("--child", action="store_true", help="start a child that holds the pipes open")
parser.add_argument(
    "--ignore-eof", action="store_true", help="go on living after stdin closed and SIGTERM came"
)
parser.add_argument("--version", default="2025-11-25")
options = parser.parse_args()

lock = threading.Lock()
state = {"writes": 0, "lists": 0, "cancelled": []}
TOOLS = [
    {
        "name": name,
        "description": f"Synthetic tool {name}",
        "inputSchema": {"type": "object", "properties": {}},
    }
    for name in [
        "echo",
        "slow",
        "never",
        "fail",
        "drop",
        "big",
        "progress",
        "count",
        "write",
        "raw",
        "pid",
        "cancelled",
        "env",
        "rpc_error",
        "ask",
    ]
]


def send(message):
    with lock:
        sys.stdout.write(json.dumps(message) + "\n")
        sys.stdout.flush()


def line(text):
    with lock:
        sys.stdout.write(text + "\n")
        sys.stdout.flush()


def text(value):
    return {"content": [{"type": "text", "text": value if isinstance(value, str) else json.dumps(value)}]}


def answer(request, result):
    if options.noise:
        line("[cache] ready")
        line("{not json")
    if options.wrong_ids:
        send({"jsonrpc": "2.0", "id": 99999, "result": text("?")})
        send({"jsonrpc": "2.0", "id": str(request["id"]), "result": text("wrong type of id")})
    if "io.modelcontextprotocol/protocolVersion" in ((request.get("params") or {}).get("_meta") or {}):
        extra = {"ttlMs": 0, "cacheScope": "private"} if request["method"] == "tools/list" else {}
        result = {"resultType": "complete", **extra, **result}
    send({"jsonrpc": "2.0", "id": request["id"], "result": result})


def refuse(request, code, message, data=None):
    error = {"code": code, "message": message}
    if data is not None:
        error["data"] = data
    send({"jsonrpc": "2.0", "id": request["id"], "error": error})


def call(request):
    params = request["params"]
    name, arguments = params["name"], params.get("arguments", {})
    if name == "echo":
        answer(request, text(arguments))
    elif name == "slow":
        time.sleep(arguments["seconds"])
        answer(request, text(f"slow {arguments.get('tag', '')}"))
    elif name == "never":
        pass
    elif name == "fail":
        answer(request, {**text(arguments.get("text", "it failed")), "isError": True})
    elif name == "rpc_error":
        refuse(request, arguments["code"], arguments.get("message", "refused"), arguments.get("data"))
    elif name == "write":
        state["writes"] += 1
        answer(request, text(f"written {state['writes']}"))
    elif name == "drop":
        with open(arguments["log"], "a") as log:
            log.write("executed\n")
        sys.stderr.write("panic: disk on fire\n")
        sys.stderr.flush()
        os._exit(7)
    elif name == "big":
        answer(request, text("x" * arguments["bytes"]))
    elif name == "progress":
        token = params.get("_meta", {}).get("progressToken")
        for step in range(arguments["steps"]):
            time.sleep(arguments["gap"])
            if token is not None:
                send(
                    {
                        "jsonrpc": "2.0",
                        "method": "notifications/progress",
                        "params": {"progressToken": token, "progress": step + 1, "total": arguments["steps"]},
                    }
                )
        answer(request, text("done" if token is not None else "no token"))
    elif name == "count":
        answer(request, text(str(state["writes"])))
    elif name == "raw":
        answer(request, arguments["result"])
    elif name == "pid":
        answer(request, text(str(os.getpid())))
    elif name == "cancelled":
        answer(request, text(state["cancelled"]))
    elif name == "env":
        answer(request, text({key: os.environ.get(key) for key in arguments["names"]} | {"cwd": os.getcwd()}))
    elif name == "ask":
        state["ask"] = request
        send({"jsonrpc": "2.0", "id": "s-1", "method": arguments["method"], "params": {}})
    else:
        refuse(request, -32602, f"Unknown tool: {name}")


def handle(message):
    method = message.get("method")
    if options.mute:
        return
    if method is None:
        asked = state.pop("ask", None)
        if asked is not None:
            answer(asked, text({key: message[key] for key in ("result", "error") if key in message}))
        return
    if method == "notifications/cancelled":
        state["cancelled"].append(message["params"])
        return
    if "id" not in message:
        return
    if method == "server/discover":
        if options.era == "crash-on-discover":
            sys.stderr.write("unexpected method before initialize\n")
            os._exit(1)
        if options.era == "silent-on-discover":
            return
        if options.era in ("modern", "both"):
            time.sleep(options.handshake_delay)
            answer(
                message,
                {
                    "supportedVersions": ["2026-07-28"],
                    "capabilities": {"tools": {}},
                    "resultType": "complete",
                    "ttlMs": 0,
                    "cacheScope": "private",
                    "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "raw", "version": "1"}},
                },
            )
        else:
            refuse(message, -32601, "Method not found")
    elif method == "initialize":
        time.sleep(options.handshake_delay)
        if options.era == "modern":
            refuse(message, -32022, "Unsupported protocol version", {"supported": ["2026-07-28"]})
        else:
            answer(
                message,
                {
                    "protocolVersion": options.version,
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": "raw", "version": "1"},
                    "instructions": "be kind",
                },
            )
    elif method == "tools/list":
        listing(message)
    elif method == "tools/call":
        threading.Thread(target=call, args=(message,), daemon=True).start()
    else:
        refuse(message, -32601, "Method not found")


def listing(message):
    state["lists"] += 1
    if options.die_while_listing:
        sys.stderr.write("killed while listing\n")
        sys.stderr.flush()
        os.kill(os.getpid(), 9)
    if options.hang_page == state["lists"]:
        return
    if state["lists"] <= options.empty_first:
        answer(message, {"tools": []})
    elif options.repeat:
        answer(message, json.loads(options.repeat))
    elif options.pages:
        pages = json.loads(options.pages)
        cursor = (message.get("params") or {}).get("cursor")
        index = 0 if cursor is None else [page.get("nextCursor") for page in pages].index(cursor) + 1
        answer(message, pages[index])
    else:
        answer(message, {"tools": TOOLS})


if options.dead:
    sys.stderr.write("cannot read the licence file\n")
    sys.exit(3)
if options.banner:
    line("starting up ...")
    line("  ____ welcome ____ ")
if options.child:
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
if options.ignore_eof:
    import signal

    signal.signal(signal.SIGTERM, signal.SIG_IGN)
for received in sys.stdin:
    handle(json.loads(received))
if options.ignore_eof:
    time.sleep(600)
