"""The servers of an `mcpServers` file, read as other clients read it.

Accepted around the entries: `mcpServers`, `servers` (an editor's form), `mcp.servers`, `context_servers`. Variables
(`${NAME}`, `${env:NAME}`, `${NAME:-default}`) come from the mapping that is passed in. A bad entry becomes a server
that carries its problem, so that the others still load. Nothing is started here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from agent_reach.errors import ConfigError, ServerError
from agent_reach.records.finding import Finding
from agent_reach.records.message import Message
from agent_reach.wire.entries import EntryReader

TransportKind = Literal["stdio", "http", "sse", "auto"]

_INHERITED = (
    "HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER", "LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR",
    "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy",
    "SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE",
    "APPDATA", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "PATHEXT", "SYSTEMDRIVE", "SYSTEMROOT", "TEMP", "USERNAME",
    "USERPROFILE",
)  # fmt: skip
INHERITED_NAMES = frozenset(_INHERITED)
"""Names of the variables that every server gets from this process."""
_KINDS: Mapping[str, TransportKind] = {
    "stdio": "stdio",
    "local": "stdio",
    "http": "http",
    "streamable-http": "http",
    "streamable_http": "http",
    "streamablehttp": "http",
    "streamable": "http",
    "remote": "auto",
    "sse": "sse",
}
_CONTAINERS = (("mcpServers",), ("servers",), ("mcp", "servers"), ("mcp", "mcpServers"), ("context_servers",))


@dataclass(frozen=True, slots=True, kw_only=True)
class OAuthSettings:
    """How to get a token for a server: `client_credentials` needs `client_id` and `client_secret`;
    `authorization_code` may register itself where the server allows it."""

    grant: Literal["client_credentials", "authorization_code"] = "authorization_code"
    client_id: str = ""
    client_secret: str = field(default="", repr=False)
    scope: str = ""
    issuer: str = ""
    redirect_port: int = 0
    client_metadata_url: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerConfig:
    """One server, ready to be started.

    `env` is the whole environment of its process; `headers` go with every HTTP request; `transport` `auto` tries
    streamable HTTP and falls back to SSE; times are in seconds, None for the session's default. `findings` holding an
    error make the server unusable. `token_folder` is where OAuth tokens are kept (None: nowhere).
    """

    name: str
    transport: TransportKind = "stdio"
    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    cwd: str = ""
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    oauth: OAuthSettings | None = None
    call_timeout: float | None = None
    startup_timeout: float | None = None
    token_folder: str = ""
    where: str = ""
    findings: tuple[Finding, ...] = ()

    @property
    def usable(self) -> bool:
        """Whether the entry has no error."""
        return not any(finding.severity == "error" for finding in self.findings)

    @property
    def label(self) -> str:
        """The server and its file, for messages."""
        return f"{self.where}: {self.name}" if self.where else self.name

    def check(self) -> None:
        """Raise `ServerError` for an entry with an error."""
        for finding in self.findings:
            if finding.severity == "error":
                raise ServerError(
                    finding.message.en, where=self.label, next_step=finding.fix.en if finding.fix else ""
                )


def parse_servers(document: Any, environment: Mapping[str, str], where: str = "") -> tuple[ServerConfig, ...]:
    """The servers of a parsed file in written order, without disabled ones.

    `environment` resolves variables and gives the few entries every server inherits (PATH, HOME, language, proxy).
    Raises `ConfigError` if no table of servers is in the document.
    """
    entries = _entries(document, where)
    return tuple(
        _server(str(name), entry, environment, where)
        for name, entry in entries.items()
        if not (
            isinstance(entry, Mapping) and (entry.get("disabled") is True or entry.get("enabled") is False)
        )
    )


def token_folder(environment: Mapping[str, str]) -> str:
    """Where tokens are kept: a folder of the person's own, never of the project; empty if no home is known."""
    if environment.get("AGENT_REACH_TOKENS"):
        return environment["AGENT_REACH_TOKENS"]
    base = environment.get("XDG_DATA_HOME") or environment.get("LOCALAPPDATA")
    if base:
        return str(Path(base) / "agent-reach" / "tokens")
    home = environment.get("HOME") or environment.get("USERPROFILE")
    return str(Path(home) / ".local" / "share" / "agent-reach" / "tokens") if home else ""


def inherited_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """The few variables that every server gets: enough to run, no keys."""
    return {name: environment[name] for name in _INHERITED if name in environment}


def _entries(document: Any, where: str) -> Mapping[str, Any]:
    if isinstance(document, Mapping):
        for path in _CONTAINERS:
            found: Any = document
            for part in path:
                found = found.get(part) if isinstance(found, Mapping) else None
            if isinstance(found, Mapping):
                return found
        looks_bare = document and all(
            isinstance(entry, Mapping) and ("command" in entry or "url" in entry)
            for entry in document.values()
        )
        if looks_bare:
            return document
    raise ConfigError(
        "no `mcpServers` table is in this file",
        where=where,
        next_step='write {"mcpServers": {"name": {"command": "...", "args": [...]}}}',
    )


def _server(name: str, entry: Any, environment: Mapping[str, str], where: str) -> ServerConfig:
    reader = EntryReader(name, environment, where)
    if not isinstance(entry, Mapping):
        reader.complain(
            "server_entry_type",
            f"the entry must be a mapping, not {type(entry).__name__}",
            f"该条目必须是键值表，而不是 {type(entry).__name__}",
        )
        return ServerConfig(name=name, where=where, findings=tuple(reader.findings))
    command_value, args_value = entry.get("command"), entry.get("args")
    if isinstance(command_value, Mapping):  # one editor nests path, args and env under `command`
        nested: Mapping[str, Any] = command_value
        entry = {**entry, "env": nested.get("env", entry.get("env"))}
        command_value, args_value = nested.get("path"), nested.get("args")
    elif isinstance(command_value, list):
        more = args_value if isinstance(args_value, list) else []
        command_value, args_value = (command_value or [""])[0], [*command_value[1:], *more]
    url_value = next(
        (entry[key] for key in ("url", "serverUrl", "httpUrl", "endpoint") if entry.get(key)), None
    )
    transport = _transport(reader, entry, command_value, url_value)
    env = {**inherited_environment(environment), **reader.table(entry.get("env"), "env")}
    command = reader.text(command_value, "command") if transport == "stdio" else ""
    return ServerConfig(
        name=name,
        transport=transport,
        command=_home(command, environment),
        args=reader.texts(args_value, "args") if transport == "stdio" else (),
        env=env,
        cwd=_home(reader.text(entry.get("cwd"), "cwd"), environment),
        url=reader.text(url_value, "url") if transport != "stdio" else "",
        headers=reader.table(entry.get("headers"), "headers"),
        oauth=_oauth(reader, entry),
        call_timeout=reader.seconds(_first(entry, "timeout", "tool_timeout_sec", "call_timeout"), "timeout"),
        startup_timeout=reader.seconds(
            _first(entry, "startup_timeout", "startup_timeout_sec", "initTimeout"), "startup_timeout"
        ),
        token_folder=token_folder(environment),
        where=where,
        findings=tuple(reader.findings),
    )


def _transport(reader: EntryReader, entry: Mapping[str, Any], command: Any, url: Any) -> TransportKind:
    written = entry.get("type", entry.get("transport", entry.get("transportType")))
    kind = _KINDS.get(str(written).lower()) if written is not None else None
    if written is not None and kind is None:
        reader.complain(
            "unknown_transport",
            f"the transport {written!r} is not known",
            f"不认识传输方式 {written!r}",
            fix=Message("write stdio, http or sse", "写 stdio、http 或 sse"),
        )
    if kind is None:
        kind = "stdio" if command or not url else _guess(entry, str(url))
    if kind == "stdio" and not command:
        reader.complain("no_command", "neither `command` nor `url` is given", "既没有 `command` 也没有 `url`")
    if kind != "stdio" and not str(url or "").startswith(("http://", "https://", "${")):
        reader.complain("no_url", f"{url!r} is no http or https address", f"{url!r} 不是 http 或 https 地址")
    return kind


def _guess(entry: Mapping[str, Any], url: str) -> TransportKind:
    if "httpUrl" in entry:
        return "http"
    return "sse" if url.split("?")[0].rstrip("/").endswith("/sse") else "auto"


def _oauth(reader: EntryReader, entry: Mapping[str, Any]) -> OAuthSettings | None:
    value = entry.get("oauth", entry.get("auth"))
    if value is None or value is False:
        return None
    if not isinstance(value, Mapping):
        return OAuthSettings()
    texts = {
        key: reader.text(_first(value, key, *aliases), f"oauth.{key}")
        for key, *aliases in (
            ("client_id", "clientId"),
            ("client_secret", "clientSecret"),
            ("scope", "scopes"),
            ("issuer",),
            ("client_metadata_url", "clientMetadataUrl"),
        )
        if not isinstance(_first(value, key, *aliases), list)
    }
    scopes = _first(value, "scope", "scopes")
    if isinstance(scopes, list):
        texts["scope"] = " ".join(str(scope) for scope in scopes)
    grant = str(_first(value, "grant", "grant_type", "grantType") or "")
    if grant not in ("client_credentials", "authorization_code"):
        grant = "client_credentials" if texts.get("client_secret") else "authorization_code"
    port = _first(value, "redirect_port", "redirectPort", "callbackPort")
    return OAuthSettings(
        grant=grant,  # type: ignore[arg-type]
        redirect_port=port if isinstance(port, int) else 0,
        **texts,
    )


def _first(entry: Mapping[str, Any], *keys: str) -> Any:
    return next((entry[key] for key in keys if entry.get(key) is not None), None)


def _home(text: str, environment: Mapping[str, str]) -> str:
    home = environment.get("HOME") or environment.get("USERPROFILE")
    return home + text[1:] if home and (text == "~" or text.startswith("~/")) else text
