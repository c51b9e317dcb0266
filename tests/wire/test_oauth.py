"""Servers behind OAuth on loopback: client credentials, a person's permission, refresh, and where tokens are kept."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import stat
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from tests.wire.launching import http_server, run

from agent_reach.errors import ServerError
from agent_reach.wire.oauth import LoopbackCallback
from agent_reach.wire.servers import OAuthSettings, ServerConfig
from agent_reach.wire.session import ServerSession, SessionOptions

QUICK = SessionOptions(startup_timeout=20, probe_timeout=15, list_retries=(), call_timeout=10)
MACHINE = OAuthSettings(grant="client_credentials", client_id="machine", client_secret="s3cret")


def config(port: int, folder: Path, oauth: OAuthSettings | None) -> ServerConfig:
    return ServerConfig(
        name="guarded",
        transport="http",
        url=f"http://127.0.0.1:{port}/mcp",
        oauth=oauth,
        token_folder=str(folder),
    )


async def fetch(url: str) -> str:
    def read() -> str:
        with urllib.request.urlopen(url, timeout=10) as response:
            return str(response.read().decode())

    return await asyncio.to_thread(read)


async def grants(port: int) -> list[str]:
    return list(json.loads(await fetch(f"http://127.0.0.1:{port}/grants"))["grants"])


async def greet(server: ServerConfig, options: SessionOptions = QUICK) -> str:
    async with ServerSession(server, options) as session:
        return str((await session.call_tool("hello"))["content"][0]["text"])


def test_client_credentials_and_a_token_file_for_its_owner_alone(tmp_path: Path) -> None:
    folder = tmp_path / "own" / "tokens"

    async def main() -> None:
        async with http_server("http", script="oauth_server.py") as port:
            server = config(port, folder, MACHINE)
            assert await greet(server) == "let in"
            assert await grants(port) == ["client_credentials"]
            (path,) = folder.iterdir()
            assert stat.S_IMODE(path.stat().st_mode) == 0o600
            assert stat.S_IMODE(folder.stat().st_mode) == 0o700
            assert "s3cret" not in path.read_text()
            assert await greet(server) == "let in"
            assert await grants(port) == ["client_credentials"]  # the kept token served again

    run(main())


def test_an_expired_token_is_replaced_without_anybody(tmp_path: Path) -> None:
    async def main() -> None:
        async with http_server("http", "--expires", "1", script="oauth_server.py") as port:
            server = config(port, tmp_path, MACHINE)
            assert await greet(server) == "let in"
            await asyncio.sleep(1.1)
            assert await greet(server) == "let in"
            assert await grants(port) == ["client_credentials", "client_credentials"]

    run(main())


def test_a_person_allows_once_and_the_token_is_refreshed_later(tmp_path: Path) -> None:
    shown: list[str] = []

    async def person(url: str) -> None:
        shown.append(url)
        page = await fetch(url)  # follows the redirect to the loopback address
        assert "Agent-Reach" in page

    async def main() -> None:
        async with http_server("http", "--expires", "2", script="oauth_server.py") as port:
            server = config(port, tmp_path, OAuthSettings())
            asking = dataclasses.replace(QUICK, open_address=person)
            assert await greet(server, asking) == "let in"
            assert await grants(port) == ["register", "authorization_code"]
            assert "code_challenge" in shown[0]
            await asyncio.sleep(2.1)
            assert await greet(server) == "let in"  # nobody could be asked: refreshed in a new session
            assert await grants(port) == ["register", "authorization_code", "refresh_token"]
            assert len(shown) == 1

    run(main())


def test_a_server_that_asks_unexpectedly_is_served_where_a_person_can_be_asked(tmp_path: Path) -> None:
    async def person(url: str) -> None:
        await fetch(url)

    async def main() -> None:
        async with http_server("http", script="oauth_server.py") as port:
            assert (
                await greet(config(port, tmp_path, None), dataclasses.replace(QUICK, open_address=person))
                == "let in"
            )

    run(main())


def test_nobody_to_ask_wrong_secrets_and_refusals_say_what_to_do(tmp_path: Path) -> None:
    async def refuse(url: str) -> None:
        await fetch(url.replace("client_id=c-1", "client_id=refused"))

    async def main() -> None:
        async with http_server("http", script="oauth_server.py") as port:
            with pytest.raises(ServerError, match="nobody can be asked here"):
                await greet(config(port, tmp_path / "a", OAuthSettings()))
            wrong = dataclasses.replace(MACHINE, client_secret="guess")
            with pytest.raises(ServerError) as caught:
                await greet(config(port, tmp_path / "b", wrong))
            assert "guess" not in str(caught.value)
            with pytest.raises(ServerError, match="access_denied"):
                await greet(
                    config(port, tmp_path / "c", OAuthSettings()),
                    dataclasses.replace(QUICK, open_address=refuse),
                )
            with pytest.raises(ServerError, match="401"):
                await greet(config(port, tmp_path / "d", None))
            with pytest.raises(ServerError, match="client_id"):
                await greet(config(port, tmp_path / "e", dataclasses.replace(MACHINE, client_id="")))

    run(main())


def test_the_callback_ignores_what_is_no_answer() -> None:
    async def main() -> dict[str, str]:
        callback = LoopbackCallback()
        await callback.start()
        assert callback._server is not None
        port: Any = callback._server.sockets[0].getsockname()[1]
        waiting = asyncio.create_task(callback.wait())
        await fetch(f"http://127.0.0.1:{port}/favicon.ico")
        assert not waiting.done()
        await fetch(f"http://127.0.0.1:{port}/callback?code=1&state=2")
        return await waiting

    assert run(main()) == {"code": "1", "state": "2"}
