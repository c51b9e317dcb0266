"""A catalog frozen in a file: canonical, hashed, with its sources, time and commit.

A snapshot loads back into the same catalog (same hash, same findings) without any of its sources. It holds definitions
as the sources gave them, and what was made of them only where that differs.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from agent_reach.catalog.catalog import Catalog, Provenance, QuarantinedTool, SourceInfo
from agent_reach.catalog.definitions import read_definition
from agent_reach.catalog.findings import make_finding
from agent_reach.catalog.identity import tool_hash
from agent_reach.config.whole_file import write_whole_file
from agent_reach.errors import CatalogError
from agent_reach.records.codec import from_json, to_json
from agent_reach.records.finding import Finding
from agent_reach.records.tool import Tool

SNAPSHOT_VERSION = 1

_DERIVED = ("title", "description", "input_schema", "output_schema", "annotations")
_DEFAULTS: dict[str, Any] = {name: to_json(getattr(Tool(name="x"), name)) for name in _DERIVED}


def snapshot_document(catalog: Catalog) -> dict[str, Any]:
    """The catalog as a JSON document (see the schema in `docs/catalog.md`)."""
    provenance = catalog.provenance
    return {
        "snapshot_version": SNAPSHOT_VERSION,
        "hash": catalog.hash,
        "tool_count": len(catalog.tools),
        "created_at": provenance.created_at,
        "git_commit": provenance.git_commit,
        "sources": [to_json(source) for source in provenance.sources],
        "tools": [_tool_document(tool) for tool in catalog.tools],
        "quarantined": [to_json(item) for item in catalog.quarantined],
        "findings": [to_json(finding) for finding in catalog.findings],
    }


def _tool_document(tool: Tool) -> dict[str, Any]:
    document: dict[str, Any] = {key: value for key, value in to_json(tool).items() if key not in _DERIVED}
    document["hash"] = tool_hash(tool)
    told = _told_by(tool.original)
    for name in _DERIVED:
        value = to_json(getattr(tool, name))
        if value != told.get(name, _DEFAULTS[name]):
            document[name] = value
    return document


def _told_by(original: Mapping[str, Any]) -> dict[str, Any]:
    """What a definition says by itself, in the names of a `Tool`; parts it does not say are left out."""
    definition = read_definition(original) if original else None
    if definition is None:
        return {}
    parts = {
        "title": definition.title,
        "description": definition.description,
        "input_schema": definition.input_schema,
        "output_schema": definition.output_schema,
        "annotations": dict(definition.annotations),
    }
    return {name: value for name, value in parts.items() if value not in (None, "", {})}


def write_snapshot(catalog: Catalog, path: str | Path) -> None:
    """Write the snapshot of a catalog, whole or not at all."""
    text = json.dumps(snapshot_document(catalog), ensure_ascii=False, indent=1, allow_nan=False) + "\n"
    write_whole_file(path, [text], errors="surrogatepass")


def load_snapshot(source: str | Path | Mapping[str, Any], *, where: str = "") -> Catalog:
    """The catalog in a snapshot; one whose content no longer fits its hash carries the finding `snapshot_edited`."""
    if isinstance(source, (str, Path)):
        from agent_reach.catalog.load import parse_text

        where = str(source)
        try:
            text = Path(source).read_text(encoding="utf-8", errors="surrogatepass")
        except OSError as error:
            raise CatalogError(f"cannot be read: {error.strerror}", where=where) from error
        source = parse_text(text, where)
    if not isinstance(source, Mapping) or "snapshot_version" not in source:
        raise CatalogError(
            "this is no snapshot", where=where, next_step="write one with `agent-reach snapshot`"
        )
    version = source["snapshot_version"]
    if version != SNAPSHOT_VERSION:
        raise CatalogError(
            f"snapshot version {version!r} is not known (this is {SNAPSHOT_VERSION})",
            where=where,
            next_step="write it again with `agent-reach snapshot`",
        )
    tools = source.get("tools")
    if not isinstance(tools, list):
        raise CatalogError("the snapshot has no list of tools", where=where)
    place = where or "snapshot"
    catalog = Catalog(
        [_read_tool(item, f"{place}: tools[{index}]") for index, item in enumerate(tools)],
        quarantined=[
            from_json(QuarantinedTool, item, where=f"{place}: quarantined")
            for item in source.get("quarantined") or ()
        ],
        findings=[
            from_json(Finding, item, where=f"{place}: findings") for item in source.get("findings") or ()
        ],
        provenance=Provenance(
            sources=tuple(
                from_json(SourceInfo, item, where=f"{place}: sources") for item in source.get("sources") or ()
            ),
            git_commit=str(source.get("git_commit") or ""),
            created_at=source.get("created_at"),
        ),
    )
    if source.get("hash") and source["hash"] != catalog.hash:
        finding = make_finding("snapshot_edited", source=where, written=source["hash"], found=catalog.hash)
        catalog = with_findings(catalog, (finding,))
    return catalog


def with_findings(catalog: Catalog, findings: tuple[Finding, ...]) -> Catalog:
    """The same catalog with more findings."""
    return Catalog(
        catalog.tools,
        quarantined=catalog.quarantined,
        findings=(*catalog.findings, *findings),
        provenance=catalog.provenance,
        overlay=catalog.overlay,
    )


def _read_tool(item: Any, where: str) -> Tool:
    if not isinstance(item, Mapping):
        raise CatalogError("a tool is no mapping", where=where)
    told = _told_by(item.get("original") or {})
    return from_json(
        Tool, {**told, **{key: value for key, value in item.items() if key != "hash"}}, where=where
    )


def stamped(catalog: Catalog, *, created_at: float | None, git_commit: str = "") -> Catalog:
    """The catalog with time (seconds since the epoch) and commit in its provenance."""
    provenance = replace(
        catalog.provenance,
        created_at=created_at,
        git_commit=git_commit or catalog.provenance.git_commit,
    )
    return Catalog(
        catalog.tools,
        quarantined=catalog.quarantined,
        findings=catalog.findings,
        provenance=provenance,
        overlay=catalog.overlay,
    )


def git_commit(folder: str | Path) -> str:
    """The commit that a folder's repository stands at, with `-dirty` behind it if tracked files changed; empty outside of
    one."""
    command = ["git", "-C", str(folder), "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    try:
        result = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return result.stdout.strip() if result.returncode == 0 else ""
