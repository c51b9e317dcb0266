"""An MCP server over streamable HTTP behind OAuth, and its authorization server, in one process on loopback.

Prints `port N` on stderr. Grants: client credentials, authorization code with PKCE (allowed at once), refresh token.
`/grants` tells which grants were made. `--expires` is the life of an access token in seconds.
"""

import argparse
import asyncio
import base64
import hashlib
import json
import secrets
import socket
import sys
import time
from typing import Any
from urllib.parse import parse_qs, urlencode

from mcp.server.mcpserver import MCPServer

parser = argparse.ArgumentParser()
parser.add_argument("transport")
parser.add_argument("--expires", type=int, default=3600)
parser.add_argument("--no-refresh", action="store_true")
options = parser.parse_args()

server = MCPServer("guarded")
grants: list[str] = []
codes: dict[str, str] = {}
access: dict[str, float] = {}
refreshes: set[str] = set()
clients: dict[str, dict[str, Any]] = {"machine": {"client_secret": "s3cret"}}


@server.tool()
def hello() -> str:
    """Greets."""
    return "let in"


def issue(grant: str, *, refreshable: bool) -> dict[str, Any]:
    grants.append(grant)
    token = secrets.token_hex(8)
    access[token] = time.time() + options.expires
    answer: dict[str, Any] = {"access_token": token, "token_type": "Bearer", "expires_in": options.expires}
    if refreshable and not options.no_refresh:
        answer["refresh_token"] = secrets.token_hex(8)
        refreshes.add(answer["refresh_token"])
    return answer


def token(form: dict[str, str], headers: dict[str, str]) -> tuple[int, dict[str, Any]]:
    grant = form.get("grant_type")
    if grant == "client_credentials":
        scheme, _, credentials = headers.get("authorization", "").partition(" ")
        name, _, secret = (
            base64.b64decode(credentials).decode().partition(":") if scheme == "Basic" else ("", "", "")
        )
        if clients.get(name, {}).get("client_secret") != secret:
            return 401, {"error": "invalid_client"}
        return 200, issue(grant, refreshable=False)
    if grant == "authorization_code":
        challenge = codes.pop(form.get("code", ""), None)
        proof = (
            base64.urlsafe_b64encode(hashlib.sha256(form["code_verifier"].encode()).digest())
            .decode()
            .rstrip("=")
        )
        if challenge != proof:
            return 400, {"error": "invalid_grant"}
        return 200, issue(grant, refreshable=True)
    if grant == "refresh_token" and form.get("refresh_token") in refreshes:
        refreshes.discard(form["refresh_token"])
        return 200, issue(grant, refreshable=True)
    return 400, {"error": "invalid_grant"}


class Guard:
    """Answers for the authorization server, and lets requests with a living token through."""

    def __init__(self, app: Any, base: str) -> None:
        self.app = app
        self.base = base

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        path = scope["path"]
        headers = {key.decode().lower(): value.decode() for key, value in scope["headers"]}
        if path == "/mcp":
            _, _, bearer = headers.get("authorization", "").partition(" ")
            if access.get(bearer, 0) > time.time():
                await self.app(scope, receive, send)
                return
            where = f'Bearer resource_metadata="{self.base}/.well-known/oauth-protected-resource/mcp"'
            await answer(send, 401, {"error": "invalid_token"}, [("www-authenticate", where)])
            return
        body = b""
        while scope["method"] == "POST":
            event = await receive()
            body += event.get("body", b"")
            if not event.get("more_body"):
                break
        form = {key: values[0] for key, values in parse_qs(body.decode()).items()}
        query = {key: values[0] for key, values in parse_qs(scope["query_string"].decode()).items()}
        await self.route(path, form, query, headers, body, send)

    async def route(
        self,
        path: str,
        form: dict[str, str],
        query: dict[str, str],
        headers: dict[str, str],
        body: bytes,
        send: Any,
    ) -> None:
        base = self.base
        if path.startswith("/.well-known/oauth-protected-resource"):
            await answer(send, 200, {"resource": f"{base}/mcp", "authorization_servers": [base]})
        elif path.startswith("/.well-known/oauth-authorization-server"):
            await answer(
                send,
                200,
                {
                    "issuer": base,
                    "authorization_endpoint": f"{base}/authorize",
                    "token_endpoint": f"{base}/token",
                    "registration_endpoint": f"{base}/register",
                    "response_types_supported": ["code"],
                    "grant_types_supported": ["authorization_code", "refresh_token", "client_credentials"],
                    "code_challenge_methods_supported": ["S256"],
                    "token_endpoint_auth_methods_supported": [
                        "none",
                        "client_secret_basic",
                        "client_secret_post",
                    ],
                },
            )
        elif path == "/register":
            wanted = json.loads(body)
            grants.append("register")
            await answer(
                send, 201, {**wanted, "client_id": f"c-{len(clients)}", "token_endpoint_auth_method": "none"}
            )
        elif path == "/authorize":
            if query.get("client_id") == "refused":
                back = urlencode({"error": "access_denied", "state": query["state"]})
            else:
                code = secrets.token_hex(8)
                codes[code] = query["code_challenge"]
                back = urlencode({"code": code, "state": query["state"]})
            await answer(send, 302, {}, [("location", f"{query['redirect_uri']}?{back}")])
        elif path == "/token":
            status, made = token(form, headers)
            await answer(send, status, made)
        elif path == "/grants":
            await answer(send, 200, {"grants": grants})
        else:
            await answer(send, 404, {})


async def answer(send: Any, status: int, value: Any, headers: list[tuple[str, str]] | None = None) -> None:
    data = json.dumps(value).encode()
    extra = [(name.encode(), text.encode()) for name, text in headers or []]
    await send(
        {
            "type": "http.response.start",
            "status": status,
            "headers": [(b"content-type", b"application/json"), *extra],
        }
    )
    await send({"type": "http.response.body", "body": data})


def main() -> None:
    import uvicorn

    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    listening.listen(128)
    port = listening.getsockname()[1]
    sys.stderr.write(f"port {port}\n")
    sys.stderr.flush()
    app = Guard(server.streamable_http_app(), f"http://127.0.0.1:{port}")
    asyncio.run(
        uvicorn.Server(uvicorn.Config(app, log_level="error", lifespan="on")).serve(sockets=[listening])
    )


main()
