"""One door for all sources: what a source is, and which reader it goes to.

Told apart by shape, never by trial: a mapping by its keys, a path by its suffix and content, a name by whether it can
be a module. A source that cannot be read at all raises `CatalogError`; a bad part of one is a finding.
"""

from __future__ import annotations

import re
import types
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent_reach.catalog.bounded import DuplicateKeyError, parse_json
from agent_reach.catalog.catalog import Catalog, SourceInfo
from agent_reach.catalog.dialect import RepairTypes
from agent_reach.catalog.gather import Gatherer
from agent_reach.errors import CatalogError

if TYPE_CHECKING:
    from agent_reach.catalog.overlay import Overlay

_MODULE = re.compile(r"^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*(:[A-Za-z_]\w*)?$")
_FORMS = (
    "a tool list ({'tools': [...]}), a list of tools, an mcpServers file, an OpenAPI 3 document, a snapshot,"
    " or a Python module with @tool functions"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadOptions:
    """How a source is loaded (see `Catalog.load`)."""

    server: str | None = None
    environment: Mapping[str, str] | None = None
    timeout: float = 30.0
    strict: bool = False
    repair_types: RepairTypes = "auto"
    where: str = ""


def load_catalog(
    source: Any, options: LoadOptions, overlay: Overlay | str | Path | Mapping[str, Any] | None = None
) -> Catalog:
    """The catalog in a source, with the overlay laid over it."""
    if isinstance(source, Catalog):
        catalog = source
    else:
        gatherer = Gatherer(options.repair_types)
        ready = gather(source, options, gatherer)
        catalog = ready if ready is not None else gatherer.catalog()
    if overlay is not None:
        catalog = catalog.with_overlay(overlay)
    if options.strict:
        refuse_errors(catalog)
    return catalog


def refuse_errors(catalog: Catalog) -> None:
    """Raise `CatalogError` if anything of the catalog is quarantined or an error."""
    bad = [finding for finding in catalog.findings if finding.severity == "error"]
    bad.extend(item.reason for item in catalog.quarantined if item.reason not in bad)
    if bad:
        shown = "; ".join(f"{finding.subject}: {finding.message.en}" for finding in bad[:5])
        more = f"; and {len(bad) - 5} more" if len(bad) > 5 else ""
        raise CatalogError(
            f"{len(bad)} problem{'s' if len(bad) != 1 else ''}: {shown}{more}",
            next_step="mend the definitions, or load without strict",
        )


def gather(source: Any, options: LoadOptions, gatherer: Gatherer) -> Catalog | None:
    """Read a source into the gatherer; a snapshot comes back as a finished catalog."""
    if isinstance(source, (list, tuple)):
        gather_list(list(source), options, gatherer, kind="functions")
        return None
    if isinstance(source, Mapping):
        return gather_document(source, options, gatherer)
    if isinstance(source, Path):
        return gather_path(source, options, gatherer)
    if isinstance(source, str):
        return _gather_text(source, options, gatherer)
    if isinstance(source, types.ModuleType) or callable(source) or hasattr(source, "args_schema"):
        gather_list([source], options, gatherer, kind="python")
        return None
    raise CatalogError(f"{type(source).__name__} is no source of tools", next_step=f"give {_FORMS}")


def _gather_text(source: str, options: LoadOptions, gatherer: Gatherer) -> Catalog | None:
    if source.startswith(("http://", "https://")):
        from agent_reach.catalog.sources.openapi import gather_address

        gather_address(source, options, gatherer)
        return None
    if source.lstrip().startswith(("{", "[")):
        return _gather_value(parse_text(source, options.where or "text"), options, gatherer)
    path = Path(source)
    try:
        present = path.exists()
    except (OSError, ValueError) as error:  # too long for a name, or holding what no name may hold
        shown = source if len(source) <= 100 else f"{source[:97]}..."
        raise CatalogError(
            f"this can be no path: {getattr(error, 'strerror', None) or error}",
            where=repr(shown),
            next_step=f"give {_FORMS}",
        ) from error
    if present or path.suffix in (".json", ".jsonl", ".yaml", ".yml", ".py"):
        return gather_path(path, options, gatherer)
    if _MODULE.match(source):
        from agent_reach.catalog.sources.python import gather_module

        gather_module(source, options, gatherer)
        return None
    raise CatalogError("no such file", where=source, next_step=f"give {_FORMS}")


def parse_text(text: str, where: str) -> Any:
    """The JSON value of a text; raises `CatalogError` with the place."""
    try:
        return parse_json(text)
    except DuplicateKeyError as error:
        raise CatalogError(
            str(error),
            where=f"{where}:{error.lineno}" if error.lineno else where,
            next_step="leave one of the two",
        ) from error
    except ValueError as error:
        line = getattr(error, "lineno", None)
        raise CatalogError(
            f"this is no JSON: {error}",
            where=f"{where}:{line}" if line else where,
            next_step=f"give {_FORMS}",
        ) from error


def read_text(path: Path) -> str:
    """The text of a file; raises `CatalogError`."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError as error:
        raise CatalogError("no such file", where=str(path), next_step=f"give {_FORMS}") from error
    except UnicodeDecodeError as error:
        raise CatalogError("this is no UTF-8 text", where=str(path), next_step=f"give {_FORMS}") from error
    except (OSError, ValueError) as error:
        said = getattr(error, "strerror", None) or error
        raise CatalogError(f"cannot be read: {said}", where=str(path)) from error


def gather_path(path: Path, options: LoadOptions, gatherer: Gatherer) -> Catalog | None:
    """Read a file by its suffix, or every tool list of a folder (each file its own server)."""
    if path.is_dir():
        _gather_folder(path, options, gatherer)
        return None
    if path.suffix == ".py":
        from agent_reach.catalog.sources.python import gather_file

        gather_file(path, options, gatherer)
        return None
    placed = _placed(options, str(path))
    text = read_text(path)
    if path.suffix == ".jsonl":
        lines = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
        entries = [parse_text(line, f"{path}:{number}") for number, line in lines]
        gather_list(entries, placed, gatherer, kind="functions")
        return None
    if path.suffix in (".yaml", ".yml"):
        from agent_reach.config.documents import parse_yaml

        return _gather_value(parse_yaml(text, str(path), error=CatalogError).value, placed, gatherer)
    return _gather_value(parse_text(text, str(path)), placed, gatherer)


def _placed(options: LoadOptions, where: str, server: str | None = None) -> LoadOptions:
    return LoadOptions(
        server=options.server if server is None else server,
        environment=options.environment,
        timeout=options.timeout,
        strict=options.strict,
        repair_types=options.repair_types,
        where=where,
    )


def _gather_folder(path: Path, options: LoadOptions, gatherer: Gatherer) -> None:
    if (path / "__init__.py").exists():
        from agent_reach.catalog.sources.python import gather_file

        gather_file(path / "__init__.py", options, gatherer)
        return
    files = sorted(file for file in path.iterdir() if file.suffix in (".json", ".jsonl", ".yaml", ".yml"))
    if not files:
        raise CatalogError("the folder holds no tool list", where=str(path), next_step=f"give {_FORMS}")
    for file in files:
        server = options.server if options.server is not None else file.stem
        ready = gather_path(file, _placed(options, str(file), server), gatherer)
        if ready is not None:
            _take_over(ready, gatherer)


def _take_over(catalog: Catalog, gatherer: Gatherer) -> None:
    for tool in catalog.tools:
        gatherer.add_tool(tool)
    gatherer.quarantined.extend(catalog.quarantined)
    gatherer.findings.extend(catalog.findings)
    gatherer.sources.extend(catalog.provenance.sources)


def _gather_value(value: Any, options: LoadOptions, gatherer: Gatherer) -> Catalog | None:
    if isinstance(value, list):
        gather_list(value, options, gatherer, kind="functions")
        return None
    if isinstance(value, Mapping):
        return gather_document(value, options, gatherer)
    raise CatalogError(
        f"{type(value).__name__} is no source of tools", where=options.where, next_step=f"give {_FORMS}"
    )


# -- mappings ----------------------------------------------------------------------------------------------


def gather_document(document: Mapping[str, Any], options: LoadOptions, gatherer: Gatherer) -> Catalog | None:
    """Read a mapping by its keys."""
    if "snapshot_version" in document:
        from agent_reach.catalog.snapshot import load_snapshot

        return load_snapshot(document, where=options.where)
    if _is_servers_document(document):
        from agent_reach.catalog.sources.mcp import gather_servers

        gather_servers(document, options, gatherer)
        return None
    if "openapi" in document or "swagger" in document:
        from agent_reach.catalog.sources.openapi import gather_openapi

        gather_openapi(document, options, gatherer)
        return None
    if isinstance(document.get("result"), Mapping) and isinstance(document["result"].get("tools"), list):
        return gather_document(
            {**document["result"], "server": document.get("server", "")}, options, gatherer
        )
    if isinstance(document.get("tools"), list):
        _gather_tools_list(document, options, gatherer)
        return None
    if "tools" in document:
        _gather_tools_table(document["tools"], options, gatherer)
        return None
    for key in ("functions", "functionDeclarations", "function_declarations"):
        if isinstance(document.get(key), list):
            gather_list(document[key], options, gatherer, kind="functions")
            return None
    if "name" in document or isinstance(document.get("function"), Mapping):
        gather_list([document], options, gatherer, kind="functions")
        return None
    return _gather_named(document, options, gatherer)


def _is_servers_document(document: Mapping[str, Any]) -> bool:
    """True for the forms in which other clients keep their servers."""
    nested = document.get("mcp")
    tables = [document.get("mcpServers"), document.get("context_servers"), document.get("servers"), document]
    if isinstance(nested, Mapping):
        tables.extend((nested.get("servers"), nested.get("mcpServers")))
    return isinstance(document.get("mcpServers"), Mapping) or any(_is_server_table(table) for table in tables)


def _is_server_table(value: Any) -> bool:
    return (
        isinstance(value, Mapping)
        and bool(value)
        and all(
            isinstance(item, Mapping) and ("command" in item or "url" in item) and "name" not in item
            for item in value.values()
        )
    )


def _gather_tools_list(document: Mapping[str, Any], options: LoadOptions, gatherer: Gatherer) -> None:
    tools = document["tools"]
    server = options.server
    if server is None:
        named = document.get("server") or document.get("name") or ""
        server = named if isinstance(named, str) else ""
    protocol = _is_protocol(tools)
    gather_list(
        tools, _placed(options, options.where, server), gatherer, kind="tools_list", protocol=protocol
    )


def _gather_tools_table(tools: Any, options: LoadOptions, gatherer: Gatherer) -> None:
    """`tools` as a table of definitions by name; anything else is refused, an empty table too, for it is no list."""
    if (
        not isinstance(tools, Mapping)
        or not tools
        or not all(isinstance(item, Mapping) for item in tools.values())
    ):
        found = "an empty mapping" if isinstance(tools, Mapping) and not tools else type(tools).__name__
        raise CatalogError(
            f"`tools` must be a list of definitions, not {found}",
            where=options.where,
            next_step='write {"tools": [{"name": ..., "description": ..., "inputSchema": ...}]}',
        )
    named = [{"name": str(name), **item} for name, item in tools.items()]
    gather_list(named, options, gatherer, kind="functions")


def _is_protocol(tools: list[Any]) -> bool:
    """True if a `{"tools": [...]}` document is an answer of the protocol rather than a request to a model."""
    return not any(
        isinstance(tool, Mapping)
        and any(
            key in tool
            for key in ("function", "parameters", "input_schema", "args_schema", "functionDeclarations")
        )
        for tool in tools
    )


def _gather_named(document: Mapping[str, Any], options: LoadOptions, gatherer: Gatherer) -> Catalog | None:
    """A mapping by names: of servers, of functions, or of tool definitions."""
    table = document.get("servers") if isinstance(document.get("servers"), Mapping) else document
    assert isinstance(table, Mapping)
    values = list(table.values())
    if values and all(isinstance(value, list) or _has_tools(value) for value in values):
        for name, value in table.items():
            whole = {"tools": value} if isinstance(value, list) else {**value, "server": str(name)}
            ready = gather_document(whole, _placed(options, options.where, str(name)), gatherer)
            if ready is not None:
                _take_over(ready, gatherer)
        return None
    if values and all(callable(value) for value in values):
        from agent_reach.catalog.sources.python import gather_functions

        gather_functions(values, options, gatherer, names=[str(name) for name in table])
        return None
    if values and all(isinstance(value, Mapping) for value in values):
        gather_list(
            [{"name": str(name), **value} for name, value in table.items()],
            options,
            gatherer,
            kind="functions",
        )
        return None
    keys = ", ".join(map(repr, list(document)[:8]))
    raise CatalogError(
        f"no tools are in here; the keys are {keys}"
        if keys
        else "no tools are in here: the mapping is empty",
        where=options.where,
        next_step=f"give {_FORMS}",
    )


def _has_tools(value: Any) -> bool:
    return isinstance(value, Mapping) and isinstance(value.get("tools"), list)


# -- lists -------------------------------------------------------------------------------------------------


def gather_list(
    entries: list[Any], options: LoadOptions, gatherer: Gatherer, *, kind: str, protocol: bool = False
) -> None:
    """Read a list of definitions, functions, modules and tools, mixed as they come."""
    if entries and all(isinstance(entry, (str, Path)) for entry in entries):
        for entry in entries:
            ready = gather(entry, options, gatherer)
            if ready is not None:
                _take_over(ready, gatherer)
        return
    server = options.server or ""
    before = len(gatherer.tools)
    plain: list[Any] = []

    def settle() -> None:
        if plain:
            from agent_reach.catalog.sources.python import gather_functions

            gather_functions(list(plain), options, gatherer)
            plain.clear()

    for index, entry in enumerate(entries):
        if isinstance(entry, Mapping):
            settle()
            for item in _unwrapped(entry):
                gatherer.add_entry(item, index, server=server, protocol=protocol, source=options.where)
        elif _is_python(entry):
            plain.append(entry)
        else:
            settle()
            gatherer.add_entry(entry, index, server=server, protocol=protocol, source=options.where)
    settle()
    gatherer.source(
        SourceInfo(kind=kind, location=options.where, server=server, tools=len(gatherer.tools) - before)
    )


def _unwrapped(entry: Mapping[str, Any]) -> list[Any]:
    """The declarations inside a Gemini tool, else the entry itself."""
    for key in ("functionDeclarations", "function_declarations"):
        if isinstance(entry.get(key), list):
            return list(entry[key])
    return [entry]


def _is_python(entry: Any) -> bool:
    from agent_reach.records.tool import Tool

    if isinstance(entry, (Tool, str, int, float, list, tuple)) or entry is None:
        return False
    return isinstance(entry, types.ModuleType) or callable(entry) or hasattr(entry, "args_schema")
