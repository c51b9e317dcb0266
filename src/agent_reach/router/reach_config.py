"""A `Reach` from `reach.yaml`: the section `reach`, resolved and checked, and a backend that fits the catalog's source."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent_reach.catalog.catalog import Catalog
from agent_reach.config.project import load_project
from agent_reach.config.settings import EnvironmentGrants, ProjectConfig
from agent_reach.errors import ConfigError
from agent_reach.records.tool import Tool
from agent_reach.text.tokens import nearest_names

if TYPE_CHECKING:
    from agent_reach.router.reach import Reach

LAYER = ("pins", "allow", "deny", "embedder", "segmenter", "limit", "execution", "normalize")
"""Settings that a reach layer has wherever it is made."""
KNOWN = (*LAYER, "environment", "history", "half_life_days")
"""Those of a project, which also knows environments and a trace store."""


def reach_of_project(path: str | Path, environment: Mapping[str, str]) -> Reach:
    """The reach layer of a project file; raises `ConfigError` with the place for what it cannot use."""
    from agent_reach.router.reach import Reach

    project = load_project(path, environment)
    settings = dict(project.reach)
    where = f"{project.source}: reach"
    refuse_unknown(settings, KNOWN, where)
    if not project.catalog:
        raise ConfigError("no catalog is named", where=project.source, next_step="write catalog: FILE")
    catalog = Catalog.load(project.catalog, overlay=project.overlay or None, environment=environment)
    store = _store(project)
    return Reach(
        catalog,
        history=_history(settings, store),
        permissions=_permissions(project, settings.get("environment"), where),
        backend=_backend(project, catalog, environment),
        store=store,
        **layer_options(settings, where),
    )


def layer_options(settings: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Arguments of `Reach` from settings in file form (those of `LAYER`); raises `ConfigError` with the place."""
    return {
        "embedder": _embedder(settings.get("embedder"), where),
        "segmenter": _segmenter(settings.get("segmenter"), where),
        "pins": _texts(settings, "pins", where),
        "allow": _texts(settings, "allow", where),
        "deny": _texts(settings, "deny", where),
        "limit": tool_count(settings, "limit", where),
        "execution": _options(
            "agent_reach.router.execute_records", "ExecutionPolicy", settings, "execution", where
        ),
        "normalize_options": _options(
            "agent_reach.router.normalize", "NormalizeOptions", settings, "normalize", where
        ),
    }


def tool_count(settings: Mapping[str, Any], key: str, where: str) -> int | None:
    """A number of tools, at least one, or None where the key is absent."""
    value = settings.get(key)
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
        raise ConfigError(
            f"{value!r} is no number of tools", where=f"{where}.{key}", next_step=f"write {key}: 8"
        )
    return value


def refuse_unknown(settings: Mapping[str, Any], known: tuple[str, ...], where: str) -> None:
    """Raise `ConfigError` for a key that is not known, with the nearest that is."""
    for key in settings:
        if key not in known:
            near = nearest_names(key, known, limit=1)
            hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(known)}"
            raise ConfigError(f"unknown key {key!r}", where=where, next_step=hint)


def missing_needs(tool: Tool, grants: EnvironmentGrants) -> str:
    """What a tool needs and the environment does not grant, as one text; empty when nothing is missing."""
    from agent_reach.catalog.needs import missing_needs as missing

    return ", ".join(f"{kind}: {name}" for kind, name in missing(tool.needs, grants))


def _permissions(project: ProjectConfig, name: Any, where: str) -> Any:
    if name is None:
        return None
    grants = project.environments.get(str(name))
    if grants is None:
        raise ConfigError(
            f"no environment is named {name!r}",
            where=f"{where}.environment",
            next_step=f"known: {', '.join(project.environments) or 'none'}",
        )
    return lambda tool: missing_needs(tool, grants)


def _texts(settings: Mapping[str, Any], key: str, where: str) -> tuple[str, ...]:
    value = settings.get(key, ())
    items = (value,) if isinstance(value, str) else value
    if not isinstance(items, (list, tuple)) or not all(isinstance(item, str) for item in items):
        raise ConfigError(
            "expected a list of names", where=f"{where}.{key}", next_step=f"write {key}: [name]"
        )
    return tuple(items)


def _embedder(value: Any, where: str) -> Any:
    if not isinstance(value, Mapping):
        return value or None
    from agent_reach.embed.endpoint import EndpointEmbedder

    try:
        return EndpointEmbedder(**value)
    except TypeError as error:
        raise ConfigError(
            f"an embedder endpoint cannot be made of this: {error}",
            where=f"{where}.embedder",
            next_step="write embedder: encoder, or {base_url: ..., model: ..., api_key: ${KEY}}",
        ) from error


def _segmenter(value: Any, where: str) -> Any:
    """The segmenter of that name; it is made here, so that a wrong one is told with its place."""
    if value is None or value == "":
        return None
    from agent_reach.text.segmenting import SEGMENTERS, as_segmenter

    if not isinstance(value, str):
        raise ConfigError(
            f"{value!r} is no name of a segmenter",
            where=f"{where}.segmenter",
            next_step=f"write segmenter: {next(iter(SEGMENTERS))}, or leave it out",
        )
    try:
        return as_segmenter(value)
    except ConfigError as error:
        raise ConfigError(error.message, where=f"{where}.segmenter", next_step=error.next_step) from error


def _history(settings: Mapping[str, Any], store: Any) -> Any:
    if not settings.get("history") or store is None:
        return None
    from agent_reach.router.history import History
    from agent_reach.traces.store.base import TraceFilter

    history = History(half_life_days=float(settings.get("half_life_days", 30.0)))
    newest = list(store.iterate(TraceFilter(status="ok", limit=history.limit)))
    history.add_traces(reversed(newest))
    return history


def _store(project: ProjectConfig) -> Any:
    from agent_reach.traces.store.base import TraceStore

    return TraceStore.of_project(project) if project.reach.get("history") else None


def _options(module: str, kind: str, settings: Mapping[str, Any], key: str, where: str) -> Any:
    """An options record from a mapping with its field names; None where the section is absent."""
    from importlib import import_module

    values = settings.get(key)
    if values is None:
        return None
    record = getattr(import_module(module), kind)
    known = {field.name for field in fields(record)}
    if not isinstance(values, Mapping) or set(values) - known:
        wrong = (
            ", ".join(sorted(map(str, set(values) - known))) if isinstance(values, Mapping) else repr(values)
        )
        raise ConfigError(
            f"unknown: {wrong}", where=f"{where}.{key}", next_step=f"known: {', '.join(sorted(known))}"
        )
    return record(
        **{name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
    )


def _backend(project: ProjectConfig, catalog: Catalog, environment: Mapping[str, str]) -> Any:
    """What executes the catalog's tools, by the kind of its source; None where the source holds definitions only."""
    kinds = {source.kind for source in catalog.provenance.sources}
    if "mcp" in kinds:
        return _mcp_backend(project, environment)
    if "python" in kinds:
        from agent_reach.backends.python import PythonBackend
        from agent_reach.catalog.sources.python import python_tools

        return PythonBackend(python_tools(project.catalog)[1])
    if "openapi" in kinds:
        from agent_reach.backends.http import HttpBackend

        return HttpBackend.of_catalog(catalog)
    return None


def _mcp_backend(project: ProjectConfig, environment: Mapping[str, str]) -> Any:
    from agent_reach.backends.mcp import McpBackend
    from agent_reach.catalog.schema import output_problems
    from agent_reach.config.documents import read_document
    from agent_reach.wire.servers import parse_servers

    source = project.catalog
    document = (
        source
        if isinstance(source, Mapping)
        else read_document(Path(str(source)), what="mcpServers file").value
    )
    return McpBackend(parse_servers(document, environment, str(project.source)), validator=output_problems)
