"""A small MCP server of the old era over stdio, whose answers are read from a JSON file; for tests of the loader."""

import json
import sys
import time


def main() -> None:
    with open(sys.argv[1], encoding="utf-8") as file:
        plan = json.load(file)
    time.sleep(plan.get("delay", 0))
    print(plan.get("banner", "[]"), flush=True) if plan.get("banner") else None
    if plan.get("dies"):
        print(plan["dies"], file=sys.stderr, flush=True)
        sys.exit(3)
    lists = iter(plan["lists"])
    last = plan["lists"][-1]
    for line in sys.stdin:
        message = json.loads(line)
        method, identity = message.get("method"), message.get("id")
        if identity is None:
            continue
        if method == "initialize":
            result = {
                "protocolVersion": "2025-06-18",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": plan.get("name", "fake"), "version": "1"},
            }
        elif method == "tools/list":
            if plan.get("killed_while_listing"):
                sys.exit(9)
            result = next(lists, last)
        else:
            answer = {
                "jsonrpc": "2.0",
                "id": identity,
                "error": {"code": -32601, "message": "no such method"},
            }
            print(json.dumps(answer), flush=True)
            continue
        print(json.dumps({"jsonrpc": "2.0", "id": identity, "result": result}), flush=True)


if __name__ == "__main__":
    main()
