"""The guard at the HTTP door: Host and Origin, who is calling, how much is sent; before anything is read.

Bearer tokens of the settings are compared in constant time; tokens of an OAuth issuer are checked by signature, issuer,
audience, time and scope. Answers to the refused hold no detail that helps guessing.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlsplit

from agent_reach.gateway.door import SCOPE_RULE, SCOPE_TOKEN
from agent_reach.gateway.metrics import Metrics
from agent_reach.gateway.settings import LOOPBACK, ClientRule, GatewaySettings, OAuthRule

KEYS_SECONDS = 300.0
"""How long an issuer's keys are kept."""
_ALGORITHMS = ("RS256", "RS384", "RS512", "ES256", "ES384", "PS256", "EdDSA")


@dataclass(frozen=True, slots=True)
class Refused:
    """Why a request is refused: HTTP status, a word for the client, further headers."""

    status: int
    error: str
    headers: tuple[tuple[bytes, bytes], ...] = ()


@dataclass(slots=True)
class Keys:
    """The public keys of an issuer, fetched when first needed and when an unknown one appears."""

    address: str
    _keys: dict[str, Any] = field(default_factory=dict)
    _fetched: float = float("-inf")
    _gate: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def key(self, number: str) -> Any:
        """The key of that id; None where the issuer has none."""
        async with self._gate:
            age = time.monotonic() - self._fetched
            if age > KEYS_SECONDS or (number not in self._keys and age > 5):
                await self._fetch()
        return self._keys.get(number)

    async def _fetch(self) -> None:
        import httpx2
        import jwt

        self._fetched = time.monotonic()
        try:
            async with httpx2.AsyncClient(timeout=10) as client:
                document = (await client.get(self.address)).raise_for_status().json()
            keys = jwt.PyJWKSet.from_dict(document)
        except (httpx2.HTTPError, jwt.PyJWTError, ValueError):
            return  # the keys that are known still hold
        self._keys = {str(key.key_id): key for key in keys.keys}


class Guard:
    """An ASGI application that lets through what may come in, with the client's rule in the request's state."""

    def __init__(
        self, app: Any, settings: GatewaySettings, metrics: Metrics, open_paths: frozenset[str]
    ) -> None:
        self._app = app
        self._settings = settings
        self._metrics = metrics
        self._open_paths = open_paths
        self._keys = Keys(settings.oauth.jwks) if settings.oauth is not None else None
        self._anybody = next((rule for rule in settings.clients if not rule.token), ClientRule())

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Check one request and pass it on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = {key.decode("latin-1").lower(): value.decode("latin-1") for key, value in scope["headers"]}
        refused = self._misplaced(headers)
        if refused is None and scope["path"] not in self._open_paths:
            found = await self._who(headers)
            if isinstance(found, Refused):
                refused = found
            else:
                scope.setdefault("state", {})
                scope["state"][SCOPE_RULE], scope["state"][SCOPE_TOKEN] = found
                if found[1]:
                    scope["user"] = _user(found[0], found[1])
        if refused is None:
            await self._app(scope, receive, send)
            return
        self._metrics.refused[f"http_{refused.status}"] += 1
        await _answer(refused, send)

    def _misplaced(self, headers: Mapping[str, str]) -> Refused | None:
        """A request that a web page, or a name that was made to point here, has sent."""
        settings = self._settings
        if not _names_us(headers.get("host", ""), settings):
            return Refused(421, "this host is not served here")
        origin = headers.get("origin")
        if origin is None:
            return None
        if origin in settings.origins or (settings.is_loopback and _host_of(origin) in LOOPBACK):
            return None
        return Refused(403, "this origin is not allowed")

    async def _who(self, headers: Mapping[str, str]) -> tuple[ClientRule, str] | Refused:
        """The rule of the client and its token."""
        settings = self._settings
        if not settings.is_guarded:
            return self._anybody, ""
        scheme, _, token = headers.get("authorization", "").partition(" ")
        token = token.strip()
        if scheme.lower() != "bearer" or not token:
            return self._unauthorized("invalid_request" if scheme else "")
        known = None
        for rule in settings.clients:
            if rule.token and hmac.compare_digest(rule.token.encode(), token.encode()):
                known = rule
        if known is not None:
            return known, token
        if settings.oauth is None or self._keys is None:
            return self._unauthorized("invalid_token")
        claims = await _claims(token, settings.oauth, self._keys)
        if claims is None:
            return self._unauthorized("invalid_token")
        missing = [one for one in settings.oauth.scopes if one not in _scopes(claims)]
        if missing:
            return Refused(403, "insufficient_scope", (self._challenge("insufficient_scope"),))
        return self._rule_of(claims), token

    def _rule_of(self, claims: Mapping[str, Any]) -> ClientRule:
        """The rule that names the token's client or subject, else that of anybody, under the subject's own name; with the
        token's scopes where these are what it grants."""
        names = [str(claims[key]) for key in ("client_id", "azp", "sub") if claims.get(key)]
        for rule in self._settings.clients:
            if rule.name in names:
                break
        else:
            rule = replace(self._anybody, name=names[-1] if names else "oauth", token="")
        oauth = self._settings.oauth
        if oauth is not None and oauth.token_scopes:
            return replace(rule, scopes=tuple(sorted(_scopes(claims))))
        return rule

    def _unauthorized(self, error: str) -> Refused:
        return Refused(401, error or "a bearer token is needed", (self._challenge(error),))

    def _challenge(self, error: str) -> tuple[bytes, bytes]:
        parts = [f'error="{error}"'] if error else []
        oauth = self._settings.oauth
        if oauth is not None:
            parts.append(f'resource_metadata="{metadata_address(oauth.resource)}"')
            if oauth.scopes:
                parts.append(f'scope="{" ".join(oauth.scopes)}"')
        return b"www-authenticate", ("Bearer " + ", ".join(parts)).strip().encode()


def metadata_address(resource: str) -> str:
    """Where a client finds what our tokens have to be like."""
    parts = urlsplit(resource)
    return f"{parts.scheme}://{parts.netloc}{metadata_path(resource)}"


def metadata_path(resource: str) -> str:
    """The path of that address."""
    path = urlsplit(resource).path.rstrip("/")
    return f"/.well-known/oauth-protected-resource{path}"


def metadata_document(rule: OAuthRule) -> dict[str, Any]:
    """What our tokens have to be like (RFC 9728)."""
    document: dict[str, Any] = {
        "resource": rule.resource,
        "authorization_servers": [rule.issuer],
        "bearer_methods_supported": ["header"],
    }
    if rule.scopes:
        document["scopes_supported"] = list(rule.scopes)
    return document


async def _claims(token: str, rule: OAuthRule, keys: Keys) -> Mapping[str, Any] | None:
    """The claims of a token that is signed by the issuer, for us, and in force; None otherwise."""
    import jwt

    try:
        number = jwt.get_unverified_header(token).get("kid")
        key = await keys.key(str(number))
        if key is None:
            return None
        claims: Mapping[str, Any] = jwt.decode(
            token,
            key=key.key,
            algorithms=list(_ALGORITHMS),
            audience=rule.resource,
            issuer=rule.issuer,
            options={"require": ["exp", "iss", "aud"]},
        )
    except (jwt.PyJWTError, ValueError, TypeError):
        return None
    return claims


def _scopes(claims: Mapping[str, Any]) -> set[str]:
    value = claims.get("scope", claims.get("scp", ""))
    return set(value) if isinstance(value, list) else set(str(value).split())


def _host_of(address: str) -> str:
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""


def _names_us(written: str, settings: GatewaySettings) -> bool:
    """Whether a Host header names this gateway; bound to every address and without `hosts`, a guarded one takes any name."""
    host = _host_of("//" + written)
    if host in (*settings.hosts, settings.host, *LOOPBACK) or written in settings.hosts:
        return True
    return settings.host in ("0.0.0.0", "::") and not settings.hosts


def _user(rule: ClientRule, token: str) -> Any:
    """The package's form of a client, by which it ties sessions to those who opened them."""
    from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
    from mcp.server.auth.provider import AccessToken

    return AuthenticatedUser(AccessToken(token=token, client_id=rule.name or "anybody", scopes=[]))


async def _answer(refused: Refused, send: Any) -> None:
    body = json.dumps({"error": refused.error}).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        *refused.headers,
    ]
    await send({"type": "http.response.start", "status": refused.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
