"""The `gateway` part of `reach.yaml`, checked and resolved.

Only records and their reader: nothing is opened or started here. What a setting does is told where it is used.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, cast

from agent_reach.config.documents import Document
from agent_reach.config.fields import Section
from agent_reach.config.problems import Problems
from agent_reach.config.settings import ProjectConfig
from agent_reach.errors import ConfigError

Mode = Literal["search", "top", "all"]
MODES: tuple[Mode, ...] = ("search", "top", "all")
LOOPBACK = ("127.0.0.1", "localhost", "::1")
_SYNONYMS = {
    "pin": "pins",
    "snapshot": "lock",
    "bind": "host",
    "token": "auth",
    "tokens": "auth",
    "profile": "profiles",
    "limit": "limits",
    "origin": "origins",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientRule:
    """What one client may do: `token` names it (empty: whoever comes without one), `allow` and `deny` are shell patterns over
    keys and names, `per_minute` bounds its calls (None: the gateway's own limit). `environment` is what it acts in (empty:
    the gateway's own); `scopes` are granted to it in place of that environment's (None: no difference)."""

    name: str = ""
    token: str = field(default="", repr=False)
    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    per_minute: int | None = None
    environment: str = ""
    scopes: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OAuthRule:
    """The gateway as an OAuth resource server: tokens of `issuer` for `resource` (our public address), checked against the
    keys at `jwks`; `scopes` are asked of every token. With `token_scopes` the scopes of a token are those that it grants to the
    tools it calls."""

    issuer: str = ""
    jwks: str = ""
    resource: str = ""
    scopes: tuple[str, ...] = ()
    token_scopes: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """A fixed list for one endpoint: the `count` tools that fit `text` best, and `pins`."""

    name: str
    text: str = ""
    count: int = 8
    pins: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bounds: bytes of a request and of a result (None: whole), calls of a client per minute (None: free), calls at a time
    (in all, and to one server), seconds of a call, identical failing rounds of a client (0: free)."""

    request_bytes: int = 4 * 1024 * 1024
    result_bytes: int | None = None
    per_minute: int | None = None
    concurrency: int = 256
    per_server: int = 64
    call_seconds: float = 60.0
    total_seconds: float = 300.0
    failing_rounds: int = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class GatewaySettings:
    """Everything the gateway needs to know beside the servers and the overlay.

    `lock` is the path of a snapshot that pins the catalog (empty: nothing is withheld); `cache` a folder for tool lists
    (empty: none); `store` the address of the trace store (empty: no traces); `history_seconds` how often a search looks for past
    requests of other gateways; `forward_tokens` names the servers that are given the bearer token of the calling client.
    """

    mode: Mode = "search"
    host: str = "127.0.0.1"
    port: int = 8848
    stateless: bool = False
    pins: tuple[str, ...] = ()
    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    environment: str = ""
    count: int = 6
    page: int = 200
    normalize: bool = True
    notes: bool = True
    announce_found: bool = False
    profiles: Mapping[str, Profile] = field(default_factory=dict)
    clients: tuple[ClientRule, ...] = ()
    oauth: OAuthRule | None = None
    hosts: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    lock: str = ""
    cache: str = ""
    store: str = ""
    durable: bool = False
    history_seconds: float = 30.0
    limits: Limits = field(default_factory=Limits)
    bridge: tuple[str, ...] = ("sampling", "elicitation", "roots")
    forward_tokens: tuple[str, ...] = ()
    source: str = ""

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach the address."""
        return self.host in LOOPBACK

    @property
    def is_guarded(self) -> bool:
        """Whether callers have to say who they are."""
        return self.oauth is not None or any(rule.token for rule in self.clients)


def gateway_settings(
    project: ProjectConfig, environment: Mapping[str, str] | None = None, /, **given: Any
) -> GatewaySettings:
    """The settings of a project, with those in `given` (None: not given) laid over them; raises `ConfigError` with every
    mistake."""
    place = f"{project.source}: gateway" if project.source else "gateway"
    problems = Problems(ConfigError, place)
    document = Document(value=project.gateway, source=place)
    section = Section(
        document,
        {**project.gateway, **{key: value for key, value in given.items() if value is not None}},
        problems=problems,
        environment=environment or {},
        synonyms=_SYNONYMS,
    )
    settings = _read(section, project)
    section.finish()
    known = ", ".join(project.environments) or "none"
    for name, key in (
        (settings.environment, "environment"),
        *((one.environment, "auth") for one in settings.clients),
    ):
        if name and name not in project.environments:
            section.refuse(key, f"no environment is named {name!r}", f"known: {known}")
    if not settings.is_loopback and not settings.is_guarded:
        section.refuse(
            "host",
            f"{settings.host!r} can be reached from other machines, and nobody is asked for a token",
            "add `auth: {tokens: [{name: ..., token: ${NAME}}]}` or `auth: {oauth: {...}}`, or bind to 127.0.0.1",
        )
    if settings.mode == "top" and not settings.profiles and not settings.pins:
        section.refuse(
            "mode", "top shows profiles and pins, and there are none", "add `profiles: {name: text}`"
        )
    problems.raise_if_any()
    return settings


def _read(section: Section, project: ProjectConfig) -> GatewaySettings:
    folder = Path(project.folder)
    clients, oauth = _auth(section)
    return GatewaySettings(
        mode=cast(Mode, section.choice("mode", MODES, "search")),
        host=section.text("host", "127.0.0.1"),
        port=section.whole("port", 8848, minimum=0),
        stateless=section.flag("stateless", False),
        pins=section.texts("pins"),
        allow=section.texts("allow"),
        deny=section.texts("deny"),
        environment=section.text("environment") or str(project.reach.get("environment") or ""),
        count=section.whole("count", 6, minimum=1),
        page=section.whole("page", 200, minimum=1),
        normalize=section.flag("normalize", True),
        notes=section.flag("notes", True),
        announce_found=section.flag("announce_found", False),
        profiles=_profiles(section),
        clients=clients,
        oauth=oauth,
        hosts=section.texts("hosts"),
        origins=section.texts("origins"),
        lock=_place(section, "lock", folder, "catalog.lock.json"),
        cache=_place(section, "cache", folder, ".agent-reach/gateway", default=True),
        store=project.store if section.flag("traces", True) else "",
        durable=section.flag("durable", False),
        history_seconds=section.number("history_seconds", 30.0, minimum=0),
        limits=_limits(section),
        bridge=_bridge(section),
        forward_tokens=section.texts("forward_tokens"),
        source=project.source,
    )


def _place(section: Section, key: str, folder: Path, usual: str, *, default: bool = False) -> str:
    """A path, true for the usual one, false for none."""
    value = section.raw(key, default)
    if isinstance(value, bool):
        return str(folder / usual) if value else ""
    text = section.text(key)
    return str(folder / Path(text).expanduser()) if text else ""


def _profiles(section: Section) -> dict[str, Profile]:
    found = {}
    inner = section.section("profiles")
    for name, value in inner.values.items():
        if not str(name).replace("-", "").replace("_", "").isalnum():
            inner.refuse(name, "must be letters, digits, - and _", "it becomes the address /mcp/NAME")
        one = inner.child(name, {"text": value} if isinstance(value, str) else value)
        found[str(name)] = Profile(
            name=str(name),
            text=one.text("text"),
            count=one.whole("count", 8, minimum=1),
            pins=one.texts("pins"),
        )
        if not found[str(name)].text and not found[str(name)].pins:
            one.refuse("text", "is missing, and there are no pins", "say what the endpoint is for")
        one.finish()
    return found


def _auth(section: Section) -> tuple[tuple[ClientRule, ...], OAuthRule | None]:
    inner = section.section("auth")
    rules = []
    for one in inner.sections("tokens"):
        rules.append(
            ClientRule(
                name=one.text("name", required=True),
                token=one.text("token", required=True),
                allow=one.texts("allow"),
                deny=one.texts("deny"),
                per_minute=one.whole("per_minute", None, minimum=1, allow_null=True),
                environment=one.text("environment"),
                scopes=one.texts("scopes") if one.has("scopes") else None,
            )
        )
        if rules[-1].name in [rule.name for rule in rules[:-1]]:
            one.refuse("name", f"{rules[-1].name!r} stands twice", "give each client a name of its own")
        one.finish()
    oauth = None
    if inner.has("oauth"):
        part = inner.section("oauth")
        oauth = OAuthRule(
            issuer=part.text("issuer", required=True),
            jwks=part.text("jwks", required=True),
            resource=part.text("resource", required=True),
            scopes=part.texts("scopes"),
            token_scopes=part.flag("token_scopes", False),
        )
        part.finish()
    inner.finish()
    return tuple(rules), oauth


def _limits(section: Section) -> Limits:
    inner = section.section("limits")
    usual = Limits()
    limits = Limits(
        request_bytes=inner.whole("request_bytes", usual.request_bytes, minimum=1024),
        result_bytes=inner.whole("result_bytes", None, minimum=256, allow_null=True),
        per_minute=inner.whole("per_minute", None, minimum=1, allow_null=True),
        concurrency=inner.whole("concurrency", usual.concurrency, minimum=1),
        per_server=inner.whole("per_server", usual.per_server, minimum=1),
        call_seconds=inner.number("call_seconds", usual.call_seconds, above=0),
        total_seconds=inner.number("total_seconds", usual.total_seconds, above=0),
        failing_rounds=inner.whole("failing_rounds", usual.failing_rounds, minimum=0),
    )
    inner.finish()
    return limits


def _bridge(section: Section) -> tuple[str, ...]:
    usual = GatewaySettings().bridge
    value = section.raw("bridge", True)
    if isinstance(value, bool):
        return usual if value else ()
    names = section.texts("bridge")
    for index, name in enumerate(names):
        if name not in usual:
            section.refuse("bridge", f"{name!r} is none of {', '.join(usual)}", "", index)
    return names
