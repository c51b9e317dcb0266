"""Where a command takes its tool list from: the argument, else the project's `reach.yaml`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from agent_reach.errors import ConfigError, InputError

if TYPE_CHECKING:
    from agent_reach.catalog.catalog import Catalog
    from agent_reach.config.settings import ProjectConfig


def find_project_config(config: str | None = None) -> ProjectConfig | None:
    """The project named by `--config`, else the nearest `reach.yaml` upwards; None outside any project."""
    from agent_reach.config.project import find_project, load_project

    path = Path(config) if config else find_project()
    return load_project(path, os.environ) if path is not None else None


def refuse_no_catalog(project: ProjectConfig) -> None:
    """Raise `ConfigError` for a project file that names no tools."""
    if not project.catalog:
        raise ConfigError(
            "the project file names no catalog",
            where=project.source,
            next_step="add `catalog: mcp.json` to it, or name a tool list on the command line",
        )


def load_catalog_from(
    source: str | None, *, project: ProjectConfig | None, overlay: str | None = None, timeout: float = 30.0
) -> Catalog:
    """The catalog of a source given on the command line, else of the project; the project's overlay lies over its own."""
    from agent_reach.catalog.catalog import Catalog

    if source is not None:
        return Catalog.load(source, overlay=overlay, environment=os.environ, timeout=timeout)
    if project is None:
        raise InputError(
            "no tool list is given and there is no project here",
            next_step="name a file (`agent-reach lint mcp.json`), or run `agent-reach init`",
        )
    refuse_no_catalog(project)
    chosen = overlay or project.overlay or None
    return Catalog.load(project.catalog, overlay=chosen, environment=os.environ, timeout=timeout)
