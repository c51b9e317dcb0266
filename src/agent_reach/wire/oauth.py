"""Tokens for servers behind OAuth: got with the `mcp` package's flows, kept in a folder of the person's own.

Client credentials need nobody; the authorization code asks a person once and is then refreshed. One file per server
address holds tokens, their expiry, the registered client and the addresses to refresh at, readable by its owner alone
(0600, in a folder of 0700). Without a folder tokens live as long as the session.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import logging
import os
import tempfile
import time
import urllib.parse
import warnings
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from agent_reach.errors import ServerError
from agent_reach.version import __version__
from agent_reach.wire.servers import OAuthSettings, ServerConfig

_PATIENCE = 300.0
_EARLY = 30.0
_PAGE = "<!doctype html><meta charset=utf-8><title>Agent-Reach</title><p>Done. You can close this page. / 已完成，可以关闭此页。"


class TokenFile:
    """What is kept for one server address; the storage that the `mcp` package asks for."""

    def __init__(self, folder: str, url: str) -> None:
        self._path: Path | None = None
        if folder:
            digest = hashlib.sha256(url.encode()).hexdigest()[:16]
            host = urllib.parse.urlsplit(url).hostname or "server"
            self._path = Path(folder) / f"{host}-{digest}.json"
        self._kept: dict[str, Any] = self._read()
        self.metadata: Callable[[], dict[str, Any]] = dict

    @property
    def path(self) -> Path | None:
        """The file, None if nothing is written."""
        return self._path

    @property
    def expires_at(self) -> float | None:
        """When the kept access token expires, in seconds since the epoch; None if unknown."""
        value = self._kept.get("expires_at")
        return float(value) if isinstance(value, (int, float)) else None

    def kept(self, key: str) -> Any:
        """One entry of the file."""
        return self._kept.get(key)

    async def get_tokens(self) -> Any:
        """The kept tokens."""
        from mcp.shared.auth import OAuthToken

        return self._model(OAuthToken, "tokens")

    async def set_tokens(self, tokens: Any) -> None:
        """Keep tokens, and where to refresh them."""
        self._kept["tokens"] = tokens.model_dump(mode="json", exclude_none=True)
        self._kept["expires_at"] = time.time() + tokens.expires_in - _EARLY if tokens.expires_in else None
        self._kept.update(self.metadata())
        self._write()

    async def get_client_info(self) -> Any:
        """The client as the server registered it."""
        from mcp.shared.auth import OAuthClientInformationFull

        return self._model(OAuthClientInformationFull, "client")

    async def set_client_info(self, client_info: Any) -> None:
        """Keep the registered client."""
        self._kept["client"] = client_info.model_dump(mode="json", exclude_none=True)
        self._write()

    def _model(self, kind: Any, key: str) -> Any:
        value = self._kept.get(key)
        if value is None:
            return None
        with contextlib.suppress(ValueError):
            return kind.model_validate(value)
        return None

    def _read(self) -> dict[str, Any]:
        if self._path is None:
            return {}
        with contextlib.suppress(OSError, ValueError):
            value = json.loads(self._path.read_text(encoding="utf-8"))
            return value if isinstance(value, dict) else {}
        return {}

    def _write(self) -> None:
        if self._path is None:
            return
        folder = self._path.parent
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle, name = tempfile.mkstemp(dir=folder, prefix=".token-")  # 0600 from its first moment
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump(self._kept, file)
            os.replace(name, self._path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(name)
            raise


class LoopbackCallback:
    """Receives the answer of an authorization server on 127.0.0.1, once."""

    def __init__(self, port: int = 0) -> None:
        self._port = port
        self._server: asyncio.Server | None = None
        self._answer: asyncio.Future[dict[str, str]] | None = None

    async def start(self) -> None:
        """Listen; a used port is an error that names the setting."""
        self._answer = asyncio.get_running_loop().create_future()
        try:
            self._server = await asyncio.start_server(self._serve, "127.0.0.1", self._port)
        except OSError as error:
            raise ServerError(
                f"port {self._port} for the answer of the authorization server is taken",
                next_step="set another `redirect_port` under `oauth`",
            ) from error

    async def wait(self) -> dict[str, str]:
        """The parameters of the answer; raises `ServerError` after five minutes or on a refusal."""
        if self._answer is None:
            await self.start()
        assert self._answer is not None
        try:
            async with asyncio.timeout(_PATIENCE):
                found = await self._answer
        except TimeoutError as error:
            raise ServerError("nobody allowed access within five minutes") from error
        finally:
            if self._server is not None:
                self._server.close()
            self._server = None
        if "error" in found:
            raise ServerError(f"access was refused: {found.get('error_description') or found['error']}")
        return found

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            line = (await reader.readline()).decode("latin-1").split(" ")
            query = (
                dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(line[1]).query)) if len(line) > 1 else {}
            )
            body = _PAGE.encode()
            head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
            writer.write(head.encode() + body)
            await writer.drain()
            if ("code" in query or "error" in query) and self._answer is not None and not self._answer.done():
                self._answer.set_result(query)
        finally:
            writer.close()


def oauth_provider(config: ServerConfig, open_address: Callable[[str], Awaitable[None]] | None = None) -> Any:
    """The HTTP authentication for a server: None where neither its entry asks for OAuth nor a person can be asked."""
    _quiet()
    settings = config.oauth
    if settings is None:
        if open_address is None or any(name.lower() == "authorization" for name in config.headers):
            return None
        settings = OAuthSettings()
    storage = TokenFile(config.token_folder, config.url)
    if settings.grant == "client_credentials":
        return _client_credentials(config, settings, storage)
    return _authorization_code(config, settings, storage, open_address)


def _client_credentials(config: ServerConfig, settings: OAuthSettings, storage: TokenFile) -> Any:
    from mcp.client.auth.extensions.client_credentials import ClientCredentialsOAuthProvider

    if not settings.client_id or not settings.client_secret:
        raise ServerError(
            "`oauth` with client credentials needs `client_id` and `client_secret`",
            where=config.label,
            next_step='write them as "${NAME}" and set the variables',
        )

    class Provider(ClientCredentialsOAuthProvider):
        async def _initialize(self) -> None:
            await super()._initialize()
            _restore(self.context, storage)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an issuer is asked for, and not everybody knows theirs
        provider = Provider(
            server_url=config.url,
            storage=storage,
            client_id=settings.client_id,
            client_secret=settings.client_secret,
            scope=settings.scope or None,
            issuer=settings.issuer or None,
        )
    storage.metadata = lambda: _metadata(provider.context)
    return provider


def _authorization_code(
    config: ServerConfig,
    settings: OAuthSettings,
    storage: TokenFile,
    open_address: Callable[[str], Awaitable[None]] | None,
) -> Any:
    from mcp.client.auth import OAuthClientProvider
    from mcp.shared.auth import AuthorizationCodeResult, OAuthClientInformationFull, OAuthClientMetadata
    from pydantic import AnyUrl

    port = settings.redirect_port or _kept_port(storage) or _free_port()
    address = AnyUrl(f"http://127.0.0.1:{port}/callback")
    callback = LoopbackCallback(port)

    async def show(url: str) -> None:
        if open_address is None:
            raise ServerError(
                "the server asks a person to allow access, and nobody can be asked here",
                where=config.label,
                next_step="run `agent-reach check` on a terminal once; the token is kept",
            )
        await callback.start()
        await open_address(url)

    async def answer() -> AuthorizationCodeResult:
        found = await callback.wait()
        return AuthorizationCodeResult(code=found["code"], state=found.get("state"), iss=found.get("iss"))

    class Provider(OAuthClientProvider):
        async def _initialize(self) -> None:
            await super()._initialize()
            _restore(self.context, storage)
            if self.context.client_info is None and settings.client_id:
                method = "client_secret_post" if settings.client_secret else "none"
                self.context.client_info = OAuthClientInformationFull(
                    client_id=settings.client_id,
                    client_secret=settings.client_secret or None,
                    redirect_uris=[address],
                    token_endpoint_auth_method=method,
                )

    provider = Provider(
        server_url=config.url,
        client_metadata=OAuthClientMetadata(
            client_name="Agent-Reach",
            software_version=__version__,
            redirect_uris=[address],
            scope=settings.scope or None,
        ),
        storage=storage,
        redirect_handler=show,
        callback_handler=answer,
        client_metadata_url=settings.client_metadata_url or None,
    )
    storage.metadata = lambda: _metadata(provider.context)
    return provider


def _metadata(context: Any) -> dict[str, Any]:
    """Where tokens come from, kept so that a later process can refresh without asking anybody."""
    found: dict[str, Any] = {}
    if context.oauth_metadata is not None:
        found["authorization_server"] = context.oauth_metadata.model_dump(mode="json", exclude_none=True)
    if context.protected_resource_metadata is not None:
        found["resource"] = context.protected_resource_metadata.model_dump(mode="json", exclude_none=True)
    if context.auth_server_url:
        found["auth_server_url"] = context.auth_server_url
    return found


def _restore(context: Any, storage: TokenFile) -> None:
    """Give a new flow what an earlier one learnt: without the expiry it would take an old token for a good one."""
    from mcp.shared.auth import OAuthMetadata, ProtectedResourceMetadata

    if context.current_tokens is not None:
        context.token_expiry_time = storage.expires_at
    with contextlib.suppress(ValueError):
        if storage.kept("authorization_server") and context.oauth_metadata is None:
            context.oauth_metadata = OAuthMetadata.model_validate(storage.kept("authorization_server"))
        if storage.kept("resource") and context.protected_resource_metadata is None:
            context.protected_resource_metadata = ProtectedResourceMetadata.model_validate(
                storage.kept("resource")
            )
    context.auth_server_url = context.auth_server_url or storage.kept("auth_server_url")


def _kept_port(storage: TokenFile) -> int:
    """The port of the address that was registered: the authorization server accepts no other."""
    client = storage.kept("client")
    addresses = client.get("redirect_uris") if isinstance(client, dict) else None
    if not addresses:
        return 0
    return urllib.parse.urlsplit(str(addresses[0])).port or 0


def _free_port() -> int:
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _quiet() -> None:
    """Keep the package's log lines from the terminal of somebody who set up no logging; errors are told by us."""
    for name in ("mcp", "client"):
        logger = logging.getLogger(name)
        if not logger.handlers:
            logger.addHandler(logging.NullHandler())
