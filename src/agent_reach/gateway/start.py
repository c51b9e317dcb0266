"""A gateway from a project file, an `mcpServers` file, or any other source of tools.

Servers are only named here; they start when somebody asks for them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent_reach.catalog.catalog import Catalog
from agent_reach.catalog.overlay import Overlay, load_overlay
from agent_reach.config.settings import ProjectConfig
from agent_reach.errors import ConfigError
from agent_reach.gateway.gateway import Gateway
from agent_reach.gateway.servers import Servers
from agent_reach.gateway.settings import GatewaySettings
from agent_reach.wire.servers import ServerConfig, parse_servers
from agent_reach.wire.session import SessionOptions

if TYPE_CHECKING:
    from agent_reach.backends.base import Backend
    from agent_reach.gateway.shared_history import SharedHistory
    from agent_reach.traces.store.base import TraceStore


def build_gateway(
    project: ProjectConfig,
    settings: GatewaySettings,
    environment: Mapping[str, str],
    *,
    transport: str = "stdio",
) -> Gateway:
    """The gateway of a project; raises `ConfigError` where it names no tools."""
    if not project.catalog:
        raise ConfigError(
            "no tools are named", where=project.source, next_step="write `catalog: mcp.json` in reach.yaml"
        )
    overlay = load_overlay(project.overlay) if project.overlay else None
    configs, static, other = sources(project.catalog, overlay, environment)
    held: list[Gateway] = []
    servers = Servers(
        configs,
        SessionOptions(max_total=settings.limits.total_seconds, call_timeout=settings.limits.call_seconds),
        overlay=overlay,
        static=static,
        cache=settings.cache,
        variant=transport,
        capabilities=lambda: held[0].announced,
    )
    store = _store(project, settings, configs)
    gateway = Gateway(
        settings,
        servers,
        store=store,
        other=other,
        environments=project.environments,
        history=_history(project, settings, store),
        **_layer(project),
    )
    held.append(gateway)
    return gateway


def sources(
    source: Any, overlay: Overlay | None, environment: Mapping[str, str]
) -> tuple[tuple[ServerConfig, ...], Catalog | None, Backend | None]:
    """The servers that a catalog source names, or its tools and what executes them."""
    document, where = _document(source)
    if document is not None and _names_servers(document):
        return parse_servers(document, environment, where), None, None
    catalog = Catalog.load(source, overlay=overlay, environment=environment)
    kinds = {one.kind for one in catalog.provenance.sources}
    if "python" in kinds:
        from agent_reach.backends.python import PythonBackend
        from agent_reach.catalog.sources.python import python_tools

        return (), catalog, PythonBackend(python_tools(source)[1])
    if "openapi" in kinds:
        from agent_reach.backends.http import HttpBackend

        return (), catalog, HttpBackend.of_catalog(catalog)
    raise ConfigError(
        "these tools are definitions only; nothing is there to execute their calls",
        where=where or str(source),
        next_step="name an mcpServers file, an OpenAPI file or a Python module",
    )


def _document(source: Any) -> tuple[Any, str]:
    if isinstance(source, Mapping):
        return source, ""
    path = Path(str(source))
    if path.suffix.lower() not in (".json", ".yaml", ".yml") or not path.is_file():
        return None, str(source)
    from agent_reach.config.documents import read_document

    return read_document(path, what="tool source").value, str(path)


def _names_servers(document: Any) -> bool:
    if not isinstance(document, Mapping):
        return False
    if any(key in document for key in ("mcpServers", "servers", "mcp", "context_servers")):
        return "openapi" not in document
    entries = list(document.values())
    return bool(entries) and all(
        isinstance(entry, Mapping) and ("command" in entry or "url" in entry) for entry in entries
    )


def _store(
    project: ProjectConfig, settings: GatewaySettings, configs: Iterable[ServerConfig]
) -> TraceStore | None:
    """The trace store, writing by the project's rules; what servers and clients were given as secrets is known to it."""
    if not settings.store:
        return None
    from agent_reach.traces.store.base import TraceStore
    from agent_reach.wire.secrets import given_secrets

    known = {secret for config in configs for secret in given_secrets(config, only_named=True)}
    known.update(rule.token for rule in settings.clients)
    return TraceStore.of_project(project, url=settings.store, durable=settings.durable, known=known)


def _history(
    project: ProjectConfig, settings: GatewaySettings, store: TraceStore | None
) -> SharedHistory | None:
    """Past requests of the store, where the project wants them."""
    if store is None or not project.reach.get("history"):
        return None
    from agent_reach.gateway.shared_history import SharedHistory

    half_life = float(project.reach.get("half_life_days", 30.0))
    return SharedHistory(store, half_life_days=half_life, seconds=settings.history_seconds)


def _layer(project: ProjectConfig) -> dict[str, Any]:
    """Search and normalisation of the project's reach layer; raises `ConfigError` for what it cannot use."""
    if not project.reach:
        return {}
    from agent_reach.router.reach_config import KNOWN, layer_options, refuse_unknown

    where = f"{project.source}: reach"
    refuse_unknown(project.reach, KNOWN, where)
    options = layer_options(project.reach, where)
    searching = {key: options[key] for key in ("embedder", "segmenter") if options.get(key) is not None}
    return {"reach_options": searching, "normalize_options": options["normalize_options"]}
